"""``solvent solve --spot-check``: random states of a kept solution, solved again from the rules."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from solvent.cli.printing import solution_rows
from solvent.cli.progress import working
from solvent.cli.tables import facts
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayeredGame
from solvent.exact.layered.solution import LayeredSolution
from solvent.exact.layered.spot_check import CheckedState, spot_check
from solvent.model import Game
from solvent.model.game import Placed

NAMES = {
    "start": "the start",
    "sample": "random states of the kept samples",
    "layer": "random states of the layers",
}
"""What the kinds of states are called."""

SHARES = (0.1, 0.01, 0.001)
"""Shares of wrong states of which the probability to escape is said."""

MOST_SHOWN = 10
"""More states that disagree are counted, not shown."""


def show_spot_check(
    game: Game, layered: LayeredGame, folder: Path, count: int, *, as_json: bool
) -> None:
    """Solve random states of a solution again and print what was found.

    Args:
        game: The rules, with the start that is meant.
        layered: The same as its layers.
        folder: That holds the solution, or only its manifest.
        count: Number of states to draw.
        as_json: Whether to print JSON.

    Raises:
        StoreError: If the folder does not hold such a solution, or is damaged.
        typer.Exit: With code 1, if a state disagrees.
    """
    store = LayerFolder.open(folder, layered, manifest_only=True)
    with working(f"solving {count:,} states again"):
        checked = spot_check(store, count, secrets.token_hex(8))
    wrong = [state for state in checked if not state.agrees]
    if as_json:
        content = {
            "folder": str(folder),
            "states": len(checked),
            "wrong": len(wrong),
            "checked": [_json(layered, state) for state in checked],
        }
        typer.echo(json.dumps(content, indent=2))
    else:
        solution = LayeredSolution(store, game)
        Console(emoji=False).print(facts(_rows(solution, folder, checked)))
    if wrong:
        raise typer.Exit(1)


def _json(layered: LayeredGame, state: CheckedState) -> dict[str, Any]:
    return {
        "kind": state.kind,
        "layer": layered.name(state.place.layer),
        "at": state.place.at,
        "value": state.value,
        "again": state.again,
        "allowed": state.allowed,
        "agrees": state.agrees,
    }


def _rows(
    solution: LayeredSolution, folder: Path, checked: Sequence[CheckedState]
) -> dict[str, str]:
    """What was checked, what was found, and what would have escaped."""
    wrong = [state for state in checked if not state.agrees]
    groups = {name: [state for state in checked if state.kind == name] for name in NAMES}
    rows = {
        **solution_rows(solution),
        "folder": str(folder),
        "solved again": "from the rules and the recorded values of the successors\n"
        + "\n".join(_group(name, states) for name, states in groups.items() if states),
        "found": f"{len(wrong):,} DISAGREE" if wrong else f"all {len(checked):,} states agree",
    }
    for state in wrong[:MOST_SHOWN]:
        layer = solution.layered.name(state.place.layer)
        rows[f"{layer} {[*state.place.at]}"] = _difference(solution, state)
    drawn = max(len(groups[kind]) for kind in ("sample", "layer"))
    shares = [f"{(1 - share) ** drawn:.1%} if {share:.1%} of all are wrong" for share in SHARES]
    escapes = f"{drawn:,} random states miss an error with probability {', '.join(shares)}"
    return rows | {"escapes": escapes}


def _group(kind: str, states: Sequence[CheckedState]) -> str:
    """States of a kind in one line."""
    number = "" if kind == "start" else f"{len(states):,} "
    off, allowed = (
        max(getattr(state, name) for state in states) for name in ("difference", "allowed")
    )
    return f"{number}{NAMES[kind]}: off by at most {off:.1e}; rounding and gaps allow {allowed:.1e}"


def _difference(solution: LayeredSolution, state: CheckedState) -> str:
    """A state that disagrees, in words where the game has some."""
    rules = solution.layered.game
    where = f"{rules.place(state.state)}: " if isinstance(rules, Placed) else ""
    recorded, lower, upper = (f"{value:.15g}" for value in (state.value, *state.again))
    return f"{where}the recorded value is {recorded}; by the rules it is from {lower} to {upper}"
