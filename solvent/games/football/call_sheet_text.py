"""Call sheets of football for a terminal and for programs."""

from __future__ import annotations

import json

from rich.columns import Columns
from rich.console import Console
from rich.table import Table

from solvent.games.football.chart import Chart
from solvent.games.football.report.sheets import Call, both_sides
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation, situation_text
from solvent.games.football.solver import CallSheet
from solvent.model.parameters import check_integer


def read_situation(
    ruleset: Ruleset, down: int, to_go: int | None, to_goal: int, *, punting: bool
) -> Situation:
    """A situation from its numbers; without yards to go, those of a first down.

    Raises:
        ValueError: If there is no such situation.
    """
    check_integer(down, "down", 1, ruleset.downs)
    check_integer(to_goal, "to_goal", 1, ruleset.field - 1)
    if to_go is None:
        to_go = min(ruleset.first_down, to_goal)
    check_integer(to_go, "to_go", 1, to_goal)
    if punting and down < ruleset.downs:
        raise ValueError(f"punting is for down {ruleset.downs} only; down is {down}")
    return Situation(down, to_go, to_goal, punting)


def show_sheet(console: Console, chart: Chart, ruleset: Ruleset, sheet: CallSheet) -> None:
    """The value, and both sides' calls side by side."""
    console.print(f"{situation_text(ruleset, sheet.situation)} on chart {chart.name}")
    console.print(f"[bold]{sheet.value:.6f}[/] points to the offence\n")
    offence, defence = both_sides(chart, sheet)
    console.print(
        Columns(
            [_table("offence", offence), _table("defence", defence)],
            padding=(0, 4),
        )
    )


def _table(side: str, calls: list[Call]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column(side)
    for name in ("probability", "points lost"):
        table.add_column(name, justify="right", no_wrap=True)
    for call in calls:
        style = None if call.chance > 0 else "dim"
        table.add_row(call.name, f"{100 * call.chance:.2f}%", f"{call.loss:.4f}", style=style)
    return table


def sheet_json(chart: Chart, sheet: CallSheet) -> str:
    """The same, with the matrix of payoffs: a row for each call of the offence."""
    offence, defence = both_sides(chart, sheet)
    return json.dumps(
        {
            "chart": chart.name,
            "situation": sheet.situation._asdict(),
            "value": sheet.value,
            "duality_gap": sheet.duality_gap,
            "offence": [call._asdict() for call in offence],
            "defence": [call._asdict() for call in defence],
            "payoff": sheet.payoff.tolist(),
        },
        indent=2,
    )
