"""The report of `solvent book solve` on a solved book."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from solvent.exact import OptimalOccupancy
from solvent.games.gamebook.rules import Gamebook

LONGEST_FRACTION = 2000
"""Largest number of digits of a fraction that is printed in full."""

TOGETHER = "\N{NO-BREAK SPACE}"
"""The separator of a choice and its share, which stay on one line."""


def account(game: Gamebook, occupancy: OptimalOccupancy, most: int) -> dict[str, Any]:
    """Return the facts about a solved book, as JSON values.

    Numbers are floats; those that are known exactly are also texts such as ``"2 / 3"``.

    Args:
        game: The book. Final states are distinguished by the fields that it keeps.
        occupancy: Occupancy of an optimal policy of the book.
        most: Largest number of decisions to list.
    """
    return {
        "title": game.book.title,
        "digest": game.book.digest,
        "states": len(occupancy.table.states),
        **_number("value", occupancy.value),
        "ends": [
            {
                "ending": end.ending,
                "section": end.section,
                **({"fields": dict(zip(game.keep, end.values, strict=True))} if game.keep else {}),
                **_number("probability", p),
            }
            for end, p in occupancy.ends(game.final_state)
        ],
        "decisions": [
            {
                "section": decision.group.section,
                "step": decision.group.step,
                "place": game.place(decision.group),
                "stake": float(decision.importance),
                "visits": float(decision.visits),
                "choices": {
                    game.story.label(decision.group, action): float(taken / decision.visits)
                    for action, taken in decision.actions
                },
            }
            for decision in occupancy.decisions(lambda page: page.decision, most)
        ],
    }


def report(game: Gamebook, told: Mapping[str, Any]) -> str:
    """Return the value, the endings of optimal play, and the most important decisions.

    Args:
        game: The book.
        told: The :func:`account` of the book.
    """
    book = game.book
    exact = f" [{told['value_exact']}]" if "value_exact" in told else ""
    lines = [
        f"{book.title}: {told['states']:,} states",
        f"{value_name(game)}: {told['value']!r}{exact}",
    ]
    for name, ending in book.endings.items():
        here = [end for end in told["ends"] if end["ending"] == name]
        total = sum(end["probability"] for end in here)
        lines.append(f"{total:.4f}  {name} (score {ending.score})")
        lines += [f"    {end['probability']:.4f}  {_end_text(end)}" for end in here]
    if told["decisions"]:
        lines.append("Most important decisions (visits x loss by the second best choice):")
    for decision in told["decisions"]:
        choices = (f"{label}{TOGETHER}{p:.0%}" for label, p in decision["choices"].items())
        importance = f"{decision['stake']:.4f}  "
        wrapped = textwrap.fill(
            f"{decision['place']}, visited {decision['visits']:.4f} times: {', '.join(choices)}",
            80,
            initial_indent=importance,
            subsequent_indent=" " * len(importance),
            break_on_hyphens=False,
        )
        lines.append(wrapped.replace(TOGETHER, " "))
    return "\n".join(lines)


def value_name(game: Gamebook) -> str:
    """The name of a book's value: a probability if the only scores are 0 and 1."""
    scores = {ending.score for ending in game.book.endings.values()}
    return "Winning probability" if scores <= {0, 1} else "Expected score"


def _end_text(end: Mapping[str, Any]) -> str:
    """A final state in words, with its probability as a fraction where fields were asked for."""
    if "fields" not in end:
        return f"section {end['section']}"
    fields = ", ".join(f"{name} {value}" for name, value in end["fields"].items())
    exact = f" [{end['probability_exact']}]" if "probability_exact" in end else ""
    return f"section {end['section']}: {fields}{exact}"


def _number(name: str, value: Fraction | float) -> dict[str, Any]:
    if not isinstance(value, Fraction):
        return {name: float(value)}
    # A digit is worth more than three bits.
    bits = value.denominator.bit_length()
    exact = f"a fraction with a denominator of {bits} bits"
    if bits <= LONGEST_FRACTION * 3:
        exact = f"{value.numerator} / {value.denominator}"
    return {name: float(value), f"{name}_exact": exact}
