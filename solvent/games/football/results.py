"""Results: what one cell of a football chart can hold, and the text codes it is written in.

======================  ============================  ==========================================
kind                    code                          meaning
======================  ============================  ==========================================
``gain``                ``5`` ``-3`` ``12o``          yards, ``o``: ending out of bounds
``incomplete``          ``inc``                       a pass that nobody caught
``fumble``              ``fum`` ``fum-2`` ``fum6``    lost at the line plus the yards
``interception``        ``int15`` ``int15r10``        caught at the line plus the yards,
                                                      returned (``r``) towards the offence
``offence-penalty``     ``off5``                      yards against the offence, down repeated
``defence-penalty``     ``def5`` ``def15f``           yards against the defence, down repeated
                                                      unless they make the line to gain; ``f``:
                                                      an automatic first down
``choice``              ``off10/7`` ``def5/12``       a penalty and the play it was called on:
                                                      the offended team takes either
``long-gain``           ``long``                      yards drawn from the ruleset's table
``punt``                ``punt40`` ``punt40r8``       kicked so far from the line, returned so far
``fumbled-punt``        ``punt40fum``                 kicked so far, dropped, kept by the kickers
``blocked-punt``        ``block``                     blocked; the ruleset says where it lies
======================  ============================  ==========================================

Codes may be read in any case and with a plus sign (``+5``); :attr:`Result.code` is the canonical
form, and ``parse_result(result.code) == result`` for every result.

What a result *does* in a situation is the business of the rules; nothing here knows of downs.
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass

from solvent.model.parameters import check_choice, check_integer

LONGEST = 99
"""No gain, loss, return, penalty or kick is longer than the field between the goal lines."""

PENALTIES = frozenset({"offence-penalty", "defence-penalty"})
KICKS = frozenset({"punt", "fumbled-punt", "blocked-punt"})

_LEAST_YARDS = {
    "gain": -LONGEST,
    "incomplete": 0,
    "fumble": -LONGEST,
    "interception": -LONGEST,
    "offence-penalty": 1,
    "defence-penalty": 1,
    "choice": 0,
    "long-gain": 0,
    "punt": 1,
    "fumbled-punt": 1,
    "blocked-punt": 0,
}
_WITHOUT_YARDS = frozenset({"incomplete", "choice", "long-gain", "blocked-punt"})

KINDS = tuple(_LEAST_YARDS)
"""The kinds of results, in the order of the table above."""

_CODE = re.compile(
    r"""
      (?P<gain>[+-]?\d{1,4}) (?P<out>o)?
    | (?P<incomplete>inc)
    | fum (?P<fumble>[+-]?\d{1,4})?
    | int (?P<interception>[+-]?\d{1,4}) (r (?P<interception_return>\d{1,4}))?
    | off (?P<offence>\d{1,4})
    | def (?P<defence>\d{1,4}) (?P<first_down>f)?
    | (?P<long>long)
    | punt (?P<punt>\d{1,4}) (r (?P<punt_return>\d{1,4}) | (?P<dropped>fum))?
    | (?P<block>block)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

EXAMPLES = "5, -3, 12o, inc, fum, fum6, int15r10, off5, def15f, off10/7, long, punt40r8, block"
"""One code of each form, for messages."""


@dataclass(frozen=True, order=True)
class Result:
    """One result of a call, hashable and ordered; its ``repr`` round-trips.

    Args:
        kind: One of :data:`KINDS`.
        yards: Gained from the line of scrimmage (negative: lost), or where the ball changed
            hands, or the length of a penalty or kick; 0 for kinds that have none.
        out_of_bounds: Whether a gain ended out of bounds.
        return_yards: Yards that an interception or punt was returned.
        first_down: Whether a penalty on the defence is an automatic first down.
        options: The options of a choice: the penalty and the play, in this order.

    Raises:
        ValueError: If the kind is unknown, a number is out of its range, or a field is given to a
            kind that has no use for it.
    """

    kind: str
    yards: int = 0
    out_of_bounds: bool = False
    return_yards: int = 0
    first_down: bool = False
    options: tuple[Result, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        kind = check_choice(self.kind, "kind of result", KINDS)
        most = 0 if kind in _WITHOUT_YARDS else LONGEST
        check_integer(self.yards, f"yards of {kind}", _LEAST_YARDS[kind], most)
        returnable = kind in ("interception", "punt")
        check_integer(self.return_yards, f"return of {kind}", 0, LONGEST if returnable else 0)
        if self.out_of_bounds and kind != "gain":
            raise ValueError(f"only a gain ends out of bounds, not a result of kind {kind!r}")
        if self.first_down and kind != "defence-penalty":
            raise ValueError(f"only a defence-penalty gives a first down, not {kind!r}")
        if kind == "choice":
            self._check_options()
        elif self.options:
            raise ValueError(f"only a choice has options, not a result of kind {kind!r}")

    def _check_options(self) -> None:
        kinds = tuple(option.kind for option in self.options)
        if len(kinds) != 2 or kinds[0] not in PENALTIES or kinds[1] in {*PENALTIES, "choice"}:
            raise ValueError(f"a choice is a penalty and a play, in this order; got {kinds}")

    @property
    def code(self) -> str:
        """The canonical text code."""
        match self.kind:
            case "gain":
                return f"{self.yards}{'o' if self.out_of_bounds else ''}"
            case "incomplete":
                return "inc"
            case "fumble":
                return f"fum{self.yards or ''}"
            case "interception":
                return f"int{self.yards}{self._return_code}"
            case "offence-penalty":
                return f"off{self.yards}"
            case "defence-penalty":
                return f"def{self.yards}{'f' if self.first_down else ''}"
            case "long-gain":
                return "long"
            case "punt":
                return f"punt{self.yards}{self._return_code}"
            case "fumbled-punt":
                return f"punt{self.yards}fum"
            case "blocked-punt":
                return "block"
        return "/".join(option.code for option in self.options)

    @property
    def _return_code(self) -> str:
        return f"r{self.return_yards}" if self.return_yards else ""


def parse_result(text: str) -> Result:
    """Read one text code (see the module).

    Raises:
        ValueError: If the text is not a code, or its numbers are out of range.
    """
    code = text.strip()
    if code.count("/") == 1:
        penalty, play = code.split("/")
        return Result("choice", options=(parse_result(penalty), parse_result(play)))
    match = _CODE.fullmatch(code)
    if match is None:
        shown = reprlib.repr(code)
        raise ValueError(f"{shown} is not a result; results look like {EXAMPLES}")
    found = {name: value for name, value in match.groupdict().items() if value is not None}
    match found:
        case {"gain": yards}:
            return Result("gain", int(yards), out_of_bounds="out" in found)
        case {"incomplete": _}:
            return Result("incomplete")
        case {"interception": yards}:
            back = int(found.get("interception_return", 0))
            return Result("interception", int(yards), return_yards=back)
        case {"offence": yards}:
            return Result("offence-penalty", int(yards))
        case {"defence": yards}:
            return Result("defence-penalty", int(yards), first_down="first_down" in found)
        case {"long": _}:
            return Result("long-gain")
        case {"punt": yards, "dropped": _}:
            return Result("fumbled-punt", int(yards))
        case {"punt": yards}:
            return Result("punt", int(yards), return_yards=int(found.get("punt_return", 0)))
        case {"block": _}:
            return Result("blocked-punt")
    return Result("fumble", int(found.get("fumble", 0)))
