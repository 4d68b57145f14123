"""Numbers as a reader sees them."""

from __future__ import annotations

import math

ROUNDING = 1e-12
"""What is smaller is rounding, and written and drawn as 0."""

UNBOUNDED = "unbounded"
"""What is said of a gap of a policy that never ends, at a cost for ever."""

NEVER_ENDS = "play need not end"
"""Why it is."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def exact(value: float) -> str:
    """A value, with six decimals; what is not known is a dash."""
    if math.isnan(value):
        return "–"
    return _signed(f"{value:z.6f}")


def precise(value: float, rounding: float = ROUNDING) -> str:
    """A value or a gap, with nine significant digits; what is not known is a dash.

    Args:
        value: The number.
        rounding: What is smaller is 0.
    """
    if value == math.inf:
        return UNBOUNDED
    if math.isnan(value):
        return "–"
    return "0" if abs(value) < rounding else _signed(f"{value:z.9g}")


def interval(lower: float, upper: float) -> str:
    """What is proved of a value, with all its digits."""
    return _signed(f"[{lower:z.15g}, {upper:z.15g}]")


def brief(value: float) -> str:
    """A value beside others that bound it, with four decimals; what is not known is a dash."""
    if math.isnan(value):
        return "–"
    return _signed(f"{value:z.4f}")


def small(value: float) -> str:
    """A gap, with three significant digits; what is below :data:`ROUNDING` is 0."""
    if value == math.inf:
        return UNBOUNDED
    if not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    digits, exponent = f"{value:.2e}".split("e")  # after rounding: of 0.9999 it is 0
    power = int(exponent)
    if power >= -4:
        return f"{value:.{max(2 - power, 0)}f}"
    return f"{digits}×{_power_of_ten(power)}"


def whole(value: float) -> str:
    """A whole number, with narrow spaces between its thousands."""
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def tick(value: float) -> str:
    """A number beside an axis, such as 250k, 1.5M, 0.01 or 10⁻⁵."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    if 0 < abs(value) < 2e-3:
        digits, power = f"{value:.2e}".split("e")
        times = f"{float(digits):g}"
        return f"{times}×{_power_of_ten(int(power))}".removeprefix("1×").replace("-", "−")
    return f"{value:.6g}"


def _signed(text: str) -> str:
    return text.replace("-", "−").replace("inf", "∞")


def _power_of_ten(power: int) -> str:
    return f"10{str(power).translate(_RAISED)}"
