"""``solvent play football``: the solution that the opponent plays by, opened or made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solvent.cli.layered import SolveOptions
from solvent.games.football.rules import FORMS
from solvent.games.football_clock.commands import solution_of
from solvent.games.football_clock.forms import football_strategy
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.solution import TimedSolution, layout_for
from solvent.model import Game
from solvent.model.parameters import as_options

SOLVED_TO_PLAY = 150_000_000
"""A form of more states is not solved when somebody wants to play; that takes too long."""


def opened_solution(folder: Path, parameters: Mapping[str, Any]) -> TimedSolution:
    """The solution in a folder, with the start that is asked for.

    Args:
        folder: That holds the solution.
        parameters: Of the game; what is left out is as it is solved.

    Raises:
        ValueError: If a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another game.
    """
    solution = TimedSolution.open(folder)
    solved = {**dict(solution.game.info.parameters), "chart": solution.game.loaded_chart}
    asked = {**solved, **parameters}
    form = asked["form"]
    # Asked first, since such a form would refuse the clock of the solution, which nobody wrote.
    if form in FORMS or not isinstance(game := football_strategy(**asked), TimedFootball):
        raise ValueError(f"--solution is for football with a clock, not for form {form!r}")
    return TimedSolution.open(folder, game)


def made_solution(game: Game) -> TimedSolution | None:
    """The solution of a form with a clock, solved now and in memory; None for one without.

    Args:
        game: The rules.

    Raises:
        ValueError: If that would take too long, or too much memory.
    """
    if not isinstance(game, TimedFootball):
        return None
    layout = layout_for(game)
    if layout.states > SOLVED_TO_PLAY:
        options = as_options(dict(game.info.parameters))
        raise ValueError(
            f"form {game.form!r} has {layout.states:,} states, which takes a while; solve it with "
            f"`solvent solve football-strategy {options} --out DIR`, then play it or report it "
            f"with --solution DIR and the same parameters"
        )
    return solution_of(game, layout, SolveOptions())[0]
