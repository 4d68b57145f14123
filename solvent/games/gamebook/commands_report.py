"""What `solvent book solve` says of a solved book."""

from __future__ import annotations

import json
import textwrap
from fractions import Fraction
from typing import Any

from solvent.exact import DecisionGroup, OptimalOccupancy
from solvent.games.gamebook.page import FinalState
from solvent.games.gamebook.rules import Gamebook

LONGEST_FRACTION = 2000
"""Digits of a fraction that is printed whole."""

TOGETHER = "\N{NO-BREAK SPACE}"
"""Between a choice and its share, which are not parted at the end of a line."""


def report(game: Gamebook, occupancy: OptimalOccupancy, most: int) -> str:
    """The value, how best play ends, and the most important decisions.

    How it ends is told by the fields that the game keeps, if there are any.

    Args:
        game: The book.
        occupancy: Best play of it.
        most: How many decisions to list.
    """
    book = game.book
    lines = [
        f"{book.title}: {len(occupancy.table.states):,} states",
        f"{value_name(game)}: {_number(occupancy.value)}",
    ]
    ends = occupancy.ends(game.final_state)
    for name, ending in book.endings.items():
        here = [(end, p) for end, p in ends if end.ending == name]
        lines.append(f"{float(sum(p for _, p in here)):.4f}  {name} (score {ending.score})")
        lines += [f"    {float(p):.4f}  {_end_text(game, end, p)}" for end, p in here]
    decisions = _decisions(occupancy, most)
    if decisions:
        lines.append("Most important decisions (visits x loss by the second best choice):")
    for decision in decisions:
        place, visits = game.place(decision.group), float(decision.visits)
        choices = [
            f"{game.story.label(decision.group, action)}{TOGETHER}{float(taken) / visits:.0%}"
            for action, taken in decision.actions
        ]
        told = f"{place}, visited {visits:.4f} times: {', '.join(choices)}"
        importance = f"{float(decision.importance):.4f}  "
        indent = " " * len(importance)
        wrapped = textwrap.fill(
            told, 80, initial_indent=importance, subsequent_indent=indent, break_on_hyphens=False
        )
        lines.append(wrapped.replace(TOGETHER, " "))
    return "\n".join(lines)


def report_json(game: Gamebook, occupancy: OptimalOccupancy, most: int) -> str:
    """The same for programs; numbers are floats, exact ones also texts such as ``"2/3"``."""
    return json.dumps(
        {
            "title": game.book.title,
            "digest": game.book.digest,
            "states": len(occupancy.table.states),
            **_json_number("value", occupancy.value),
            "ends": [
                {
                    "ending": end.ending,
                    "section": end.section,
                    **({"fields": _fields(game, end)} if game.keep else {}),
                    **_json_number("probability", p),
                }
                for end, p in occupancy.ends(game.final_state)
            ],
            "decisions": [
                {
                    "section": decision.group.section,
                    "step": decision.group.step,
                    "stake": float(decision.importance),
                    "visits": float(decision.visits),
                    "choices": {
                        game.story.label(decision.group, action): float(taken / decision.visits)
                        for action, taken in decision.actions
                    },
                }
                for decision in _decisions(occupancy, most)
            ],
        },
        indent=2,
    )


def value_name(game: Gamebook) -> str:
    """What the value of a book is: a probability if the only scores are 0 and 1."""
    scores = {ending.score for ending in game.book.endings.values()}
    return "Winning probability" if scores <= {0, 1} else "Expected score"


def _fields(game: Gamebook, end: FinalState) -> dict[str, int | None]:
    """The fields that were asked for, by name."""
    return dict(zip(game.keep, end.values, strict=True))


def _end_text(game: Gamebook, end: FinalState, probability: Fraction | float) -> str:
    """A final state in words, with its probability as a fraction where fields were asked for."""
    place = f"section {end.section}"
    if not game.keep:
        return place
    fields = ", ".join(f"{name} {value}" for name, value in _fields(game, end).items())
    exact = f" [{_fraction(probability)}]" if isinstance(probability, Fraction) else ""
    return f"{place}: {fields}{exact}"


def _decisions(occupancy: OptimalOccupancy, most: int) -> list[DecisionGroup]:
    """Decisions at one place of the book are alike, whatever the hero is and carries."""
    return occupancy.decisions(lambda page: page.decision, most)


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
