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
from dataclasses import dataclass

from solvent.model.parameters import check_choice, check_integer, shown

LONGEST = 99
"""No gain, loss, return, penalty or kick is longer than the field between the goal lines."""

PENALTIES = frozenset({"offence-penalty", "defence-penalty"})
KICKS = frozenset({"punt", "fumbled-punt", "blocked-punt"})

_KINDS: dict[str, tuple[str, int, int]] = {
    "gain": ("", -LONGEST, LONGEST),
    "incomplete": ("inc", 0, 0),
    "fumble": ("fum", -LONGEST, LONGEST),
    "interception": ("int", -LONGEST, LONGEST),
    "offence-penalty": ("off", 1, LONGEST),
    "defence-penalty": ("def", 1, LONGEST),
    "choice": ("/", 0, 0),
    "long-gain": ("long", 0, 0),
    "punt": ("punt", 1, LONGEST),
    "blocked-punt": ("block", 0, 0),
    "fumbled-punt": ("punt", 1, LONGEST),
}
"""The word of each kind's code, and the least and the most yards."""

KINDS = tuple(_KINDS)
"""The kinds of results."""

_BY_WORD = {word: kind for kind, (word, _, _) in reversed(_KINDS.items())}

_EXTRAS = {
    "out_of_bounds": ("gain",),
    "return_yards": ("interception", "punt"),
    "first_down": ("defence-penalty",),
    "options": ("choice",),
}
"""The kinds that have use for a field."""

_CODE = re.compile(
    r"(?P<word>inc|fum|int|off|def|long|punt|block)?(?P<yards>[+-]?\d{1,4})?"
    r"((?P<out>o)|(?P<first_down>f)|(?P<dropped>fum)|r(?P<back>\d{1,4}))?",
    re.IGNORECASE | re.ASCII,
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
        _, low, high = _KINDS[check_choice(self.kind, "kind of result", KINDS)]
        check_integer(self.yards, f"yards of {self.kind}", low, high)
        check_integer(self.return_yards, f"return of {self.kind}", 0, LONGEST)
        for name, kinds in _EXTRAS.items():
            if getattr(self, name) and self.kind not in kinds:
                raise ValueError(f"{name} is for {' and '.join(kinds)}, not for {self.kind!r}")
        if self.kind == "choice":
            kinds = tuple(option.kind for option in self.options)
            if len(kinds) != 2 or kinds[0] not in PENALTIES or kinds[1] in {*PENALTIES, "choice"}:
                raise ValueError(f"a choice is a penalty and a play, in this order; got {kinds}")

    @property
    def code(self) -> str:
        """The canonical text code."""
        if self.options:
            return "/".join(option.code for option in self.options)
        word, low, high = _KINDS[self.kind]
        yards = self.yards if low < high else ""
        back = f"r{self.return_yards}" if self.return_yards else ""
        tail = "o" * self.out_of_bounds + "f" * self.first_down + back
        if self.kind == "fumble":
            yards = yards or ""
        elif self.kind == "fumbled-punt":
            tail = "fum"
        return f"{word}{yards}{tail}"


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
    kind = _BY_WORD[(match["word"] or "").lower()] if match else ""
    if match and kind == "punt" and match["dropped"]:
        kind = "fumbled-punt"
    elif match and match["dropped"]:
        kind = ""
    wants_yards = kind in KINDS and _KINDS[kind][1] < _KINDS[kind][2]
    if not match or not kind or (wants_yards != bool(match["yards"]) and kind != "fumble"):
        raise ValueError(f"{shown(code)} is not a result; results look like {EXAMPLES}")
    return Result(
        kind,
        int(match["yards"] or 0),
        out_of_bounds=match["out"] is not None,
        return_yards=int(match["back"] or 0),
        first_down=match["first_down"] is not None,
    )
