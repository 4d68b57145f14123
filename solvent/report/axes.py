"""Axes of charts: where a number stands, and which numbers are written."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`.

    Attributes:
        low: The number at its beginning.
        high: The number at its end.
        logarithmic: Whether equal steps are equal ratios; then `low` must be positive.
    """

    low: float
    high: float
    logarithmic: bool = False

    def share(self, number: float) -> float:
        """How far along the axis a number stands, within 0..1; outside it, at the nearer end."""
        if self.logarithmic:
            number = max(number, self.low)
            part = math.log(number / self.low) / math.log(self.high / self.low)
        else:
            part = (number - self.low) / (self.high - self.low)
        return min(max(part, 0.0), 1.0)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers along the axis: powers of ten, or some `about` equal steps."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.log10(self.high) + 1e-9
            return [10.0**power for power in range(first, math.floor(last) + 1)]
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((m * power for m in (1, 2, 5, 10)), key=lambda step: abs(step - rough))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def decades(numbers: list[float], *, least: float) -> Axis:
    """A logarithmic axis of whole decades around the numbers, none below `least`."""
    positive = [max(number, least) for number in numbers if number > 0] or [least]
    low = math.floor(math.log10(min(positive)) + 1e-9)
    high = math.ceil(math.log10(max(positive)) - 1e-9)
    return Axis(10.0**low, 10.0 ** max(high, low + 1), logarithmic=True)
