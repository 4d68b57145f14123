"""``solvent train`` and ``solvent score`` where a game is too large for a table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from solvent.cli.errors import interruptible
from solvent.cli.parameters import game_of_request
from solvent.cli.printing import facts
from solvent.games import TimedFootball
from solvent.model import Game, TabularGame
from solvent.model.parameters import check_choice

if TYPE_CHECKING:
    from solvent.games.football_clock.solver.policies import SheetPolicy


def check_request(
    file: Path, rules: Game, table: TabularGame, algorithm: str, observation: str
) -> None:
    """Refuse a network if the record of its training, beside it, asked for something else.

    Args:
        file: The network; without a record nothing is known.
        rules: The game in which it is to be scored.
        table: The same as arrays.
        algorithm: That it is loaded as.
        observation: That it is given.

    Raises:
        ValueError: If the training was on another game, by another algorithm, or showed other
            observations.
        StoreError: If the record is damaged.
    """
    from solvent.training.run_folder import request_beside

    request = request_beside(file)
    if request is None:
        return
    trained = game_of_request(request)
    if trained is not None:
        rules.info.check_same(trained.info, str(file))
    elif request.get("model_hash") != table.model_hash:
        raise ValueError(
            f"{file}: was trained on the model {request.get('model_hash')!s:.12}, but this "
            f"{rules.info.name} is the model {table.model_hash[:12]}"
        )
    shown = request["env_kwargs"].get("observation", observation)
    for option, had, has in (
        ("algorithm", request.get("algorithm", algorithm), algorithm),
        ("observation", shown, observation),
    ):
        if had != has:
            raise ValueError(
                f"{file}: was trained with {option} {had!r:.60}; say --{option} {had!s:.60}"
            )


def score_network(
    file: Path, solution: Path | None, asked: Game | None = None, *, mode: bool, as_json: bool
) -> None:
    """Score a network exactly, against the optimal player, the paper's agent and a best answer.

    Args:
        file: The network.
        solution: The folder with the solution of its game.
        asked: The game that was named, if any; it has to be the network's.
        mode: Whether it takes its most probable actions.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If the file does not say on which game it was trained, that is not `asked`, or
            needs a solution.
        StoreError: If a file is missing, damaged or of another kind.
    """
    from solvent.baselines.network import load_network
    from solvent.games.football_clock.baselines.scores import (
        SCORED_AGAINST,
        network_sheets,
        trained_on,
    )

    game = trained_on(file)
    if game is None:
        raise ValueError(f"{file}: does not say on which game it was trained")
    if asked is not None:
        asked.info.check_same(game.info, str(file))
    player = load_network(file)
    if mode:
        player = replace(player, rule="mode", name=f"{player.name} (mode)")
    policy = network_sheets(game, player)
    _score(game, policy, player.name, SCORED_AGAINST, solution, as_json=as_json)


def score_known(
    name: str,
    solution: Path | None,
    asked: str | None = None,
    words: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Score a player of football with a clock that is known by name, in the game of a solution.

    The score of the optimal player is a check of the solution: what the best answer leaves it is
    the value, but for the proved error.

    Args:
        name: Of the player.
        solution: The folder of the solution.
        asked: The name of the game, if it was written; it has to be the solution's.
        words: The parameters written after it.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is neither a file nor a player of that name, no solution is given, or
            `asked` is no game with such solutions.
        StoreError: If the solution is missing, damaged, not finished or of another game.
    """
    from solvent.games.football_clock.baselines.scores import SCORED_AGAINST, sheets_named
    from solvent.games.football_clock.commands_play import opened_solution
    from solvent.games.football_clock.solver.solution import TimedSolution

    check_choice(name, "what is scored, unless it is a file,", SCORED_AGAINST)
    if solution is None:
        raise ValueError(
            f"{name} plays football with a clock; give the solution of the game that it is to be "
            f"scored in with --solution DIR"
        )
    if asked is None:
        opened = TimedSolution.open(solution)
    else:
        opened = opened_solution(asked, solution, words)
    policy = sheets_named(name, opened.game, opened.layout, solution)
    others = [] if name == "optimal" else ["optimal"]
    known = {"value": opened.value, "proved to within": opened.error}
    _score(opened.game, policy, name, others, solution, known, as_json=as_json)


def _score(
    game: TimedFootball,
    policy: SheetPolicy,
    name: str,
    opponents: Iterable[str],
    solution: Path | None,
    known: Mapping[str, float] | None = None,
    *,
    as_json: bool,
) -> None:
    """Score a policy and print it, with what is known besides."""
    from solvent.games.football_clock.baselines.scores import score_timed
    from solvent.games.football_clock.commands import sheet_bar
    from solvent.games.football_clock.solver.solution import layout_for

    known = known or {}
    layout = layout_for(game)
    with (
        interruptible("nothing of a score is kept"),
        sheet_bar(layout, layout.sheets, "scoring") as tell,
    ):
        score = score_timed(
            game,
            policy,
            name,
            opponents=opponents,
            solution=solution,
            threads=os.cpu_count() or 1,
            on_sheet=tell,
        )
    if as_json:
        against = {name: [v.first, v.second, v.average] for name, v in score.against.items()}
        report = {"name": score.name, "against": against, "exploitability": score.exploitability}
        typer.echo(json.dumps(report | dict(known), indent=2))
        return
    said = {
        f"against {opponent}": f"{value.average:.9g}  (as player 0 {value.first:.9g}, "
        f"as player 1 {value.second:.9g})"
        for opponent, value in score.against.items()
    }
    numbers = {"exploitability": score.exploitability, **known}
    Console().print(
        facts({"player": score.name, **said, **{key: f"{n:.9g}" for key, n in numbers.items()}})
    )
