"""What `solvent book solve` says of a solved book."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from typing import Any

from solvent.exact import BestPlay, Stake
from solvent.games.gamebook.machine import Gamebook

LONGEST_FRACTION = 2000
"""Digits of a fraction that is printed whole."""


def report(game: Gamebook, play: BestPlay, most: int) -> str:
    """The value, how best play ends, and the decisions with the largest stakes.

    Args:
        game: The book.
        play: Best play of it.
        most: How many decisions to list.
    """
    book = game.book
    lines = [
        f"{book.title}: {len(play.table.states):,} states",
        f"{value_name(game)}: {_number(play.value)}",
    ]
    ends = _ends(play)
    for name, ending in book.endings.items():
        here = {section: p for (which, section), p in ends.items() if which == name}
        lines.append(f"{float(sum(here.values())):.4f}  {name} (score {ending.score})")
        lines += [f"    {float(p):.4f}  section {section}" for section, p in here.items()]
    stakes = _stakes(play, most)
    if stakes:
        lines.append("Decisions with the largest stakes (visits x loss by the second best choice):")
    for stake in stakes:
        place, visits = game.place(stake.group), float(stake.visits)
        choices = [
            f"{game.story.label(stake.group, action)} {float(taken) / visits:.0%}"
            for action, taken in stake.actions
        ]
        lines.append(
            f"{float(stake.worth):.4f}  {place}, visited {visits:.4f} times: {', '.join(choices)}"
        )
    return "\n".join(lines)


def report_json(game: Gamebook, play: BestPlay, most: int) -> str:
    """The same for programs; numbers are floats, exact ones also texts such as ``"2/3"``."""
    return json.dumps(
        {
            "title": game.book.title,
            "digest": game.book.digest,
            "states": len(play.table.states),
            **_json_number("value", play.value),
            "ends": [
                {
                    "ending": ending,
                    "section": section,
                    **_json_number("probability", p),
                }
                for (ending, section), p in _ends(play).items()
            ],
            "decisions": [
                {
                    "section": stake.group.section,
                    "step": stake.group.step,
                    "stake": float(stake.worth),
                    "visits": float(stake.visits),
                    "choices": {
                        game.story.label(stake.group, action): float(taken / stake.visits)
                        for action, taken in stake.actions
                    },
                }
                for stake in _stakes(play, most)
            ],
        },
        indent=2,
    )


def value_name(game: Gamebook) -> str:
    """What the value of a book is: a probability if the only scores are 0 and 1."""
    scores = {ending.score for ending in game.book.endings.values()}
    return "Winning probability" if scores <= {0, 1} else "Expected score"


def _ends(play: BestPlay) -> dict[tuple[str, int], Any]:
    """The probability of each ending in each section, the likeliest first."""
    found: dict[tuple[str, int], Any] = defaultdict(int)
    for page, p in play.ends():
        found[page.ending, page.section] += p
    return dict(sorted(found.items(), key=lambda end: -end[1]))


def _stakes(play: BestPlay, most: int) -> list[Stake]:
    """Decisions at one place of the book are alike, whatever the hero is and carries."""
    return play.stakes(lambda page: page.decision, most)


def _number(value: Fraction | float) -> str:
    text = repr(float(value))
    return f"{text} [{_fraction(value)}]" if isinstance(value, Fraction) else text


def _fraction(value: Fraction) -> str:
    # A digit is worth more than three bits.
    if value.denominator.bit_length() > LONGEST_FRACTION * 3:
        return f"a fraction with a denominator of {value.denominator.bit_length()} bits"
    return f"{value.numerator} / {value.denominator}"


def _json_number(name: str, value: Fraction | float) -> dict[str, Any]:
    exact = {f"{name}_exact": _fraction(value)} if isinstance(value, Fraction) else {}
    return {name: float(value), **exact}
