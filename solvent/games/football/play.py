"""Football in the terminal: calls by their numbers and letters, and the chart to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from solvent.games.football.chart import Cell, Chart, cell_text
from solvent.games.football.rules import FootballStrategy
from solvent.play import Session

LEGEND = """\
Yards, with o out of bounds; inc incomplete; fum, int lost; off, def a penalty
(f: first down; /: or the play); long a long gain; + or something else."""


def chart_text(chart: Chart, width: int = 79) -> list[str]:
    """The chart's plays against its defences, in as many blocks of columns as the width needs.

    Of a cell with several results the likeliest is shown, with a plus sign.

    Args:
        chart: The chart.
        width: Width of the lines, in characters.
    """
    texts = [[short_text(cell) for cell in row] for row in chart.cells]
    wide = [max(len(row[d]) for row in texts) for d in range(chart.defences)]
    for number in range(1, chart.defences + 1):
        # As many columns in each block as in the others.
        size = -(-chart.defences // number)
        blocks = [range(chart.defences)[at : at + size] for at in range(0, chart.defences, size)]
        if all(3 + sum(wide[d] + 1 for d in block) <= width for block in blocks):
            break
    lines = []
    for block in blocks:
        for name, row in (("", chart.letters), *((str(n), row) for n, row in enumerate(texts, 1))):
            cells = (f" {row[d]:>{wide[d]}}" for d in block)
            lines.append(f"{name:>3}{''.join(cells)}")
    return [*lines, LEGEND]


def short_text(cell: Cell) -> str:
    """A cell in a few characters.

    Args:
        cell: The cell; of several results the likeliest is shown, with a plus sign.
    """
    likeliest = max(cell, key=lambda entry: entry[0])
    return cell_text(cell) if len(cell) == 1 else f"{likeliest[1].code}+"


class FootballCalls(Session):
    """A session in which both sides call from a chart."""

    def chart(self, state: Any) -> Chart:
        """Return the chart from which the side that has the ball plays."""
        assert isinstance(self.game, FootballStrategy)
        return self.game.charts[state.offence]

    def acting(self, state: Any) -> tuple[int, ...]:
        """The players who decide something: nobody has a free kick of another kind."""
        if state.phase == "call":
            return (0, 1)
        return () if state.phase == "free kick" else (self.decides(state),)

    def decides(self, state: Any) -> int:
        """The only player who decides, in any phase but ``"call"``."""
        assert isinstance(self.game, FootballStrategy)
        return self.game.who_chooses(state) if state.phase == "choice" else int(state.offence)

    def numbers(self, state: Any, names: Mapping[int, str]) -> Mapping[int, int]:
        """Number plays by their own numbers, then the kicks; other choices from 1."""
        if state.phase == "call" and state.offence == self.player:
            return {action + 1: action for action in names}
        return dict(enumerate(names, 1))

    def role(self, state: Any) -> str:
        """Return the person's role at a question."""
        if state.phase != "call":
            return "you: "
        return "you (offence): " if state.offence == self.player else "you (defence): "

    def commands(self) -> Mapping[str, tuple[str, Callable[[Any], Sequence[str]]]]:
        """Offer the chart to look at."""
        return {"chart": ("what comes of every call", self._show_chart)}

    def _show_chart(self, state: Any) -> list[str]:
        return chart_text(self.chart(state))
