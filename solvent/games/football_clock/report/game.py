"""A game between two optimal players, play by play, with its value after each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.transcript import Line, table_of, transcript
from solvent.report.colours import ALGORITHMS
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section

SEED = 1
"""Seed of the dice and of the actions drawn."""


def transcript_section(solution: TimedSolution) -> Section:
    """The course of a game as a line, and its plays as a table."""
    lines = transcript(solution, (solution.policy, solution.policy), seed=SEED)
    head, *rows = table_of(solution.game, lines)
    html = (
        "<p>Two optimal players, dice and actions drawn with a fixed seed. After every play stands "
        "the value of the game to player 0. Neither errs, so that all that changes it is luck: "
        "of the dice, and of who called what.</p>"
        f'<div class="panels"><figure>{course(solution, lines).drawn()}</figure></div>'
        f"{table_html(head, rows)}"
    )
    return Section("A game, play by play", html)


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The plays of a game, folded up."""
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        '<details><summary>every play</summary><div class="scroll"><table class="transcript">'
        f"<thead><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr></thead>"
        f"<tbody>{body}</tbody></table></div></details>"
    )


def course(solution: TimedSolution, lines: tuple[Line, ...]) -> Panel:
    """The value of the game to player 0 from play to play."""
    values = [solution.value, *(line.value for line in lines)]
    for_points = solution.layout.for_points
    low, high = (min(*values, -7.0), max(*values, 7.0)) if for_points else (0.0, 1.0)
    quantity = "points of player 0" if for_points else "chance that player 0 wins"
    panel = Panel(
        "a game, play by play", quantity, Axis(0.0, float(len(lines))), Axis(low, high), "plays"
    )
    panel.level(0.0 if for_points else 0.5, "", "baseline")
    xs = [float(x) for x in range(len(values))]
    panel.line(xs, values, ALGORITHMS[0], quantity, dashed=False)
    return panel
