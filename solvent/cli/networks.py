"""``solvent train`` and ``solvent score`` where a game is too large for a table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from solvent.cli.errors import interruptible
from solvent.cli.printing import facts
from solvent.envs.registration import SIMULATED
from solvent.games import TimedFootball, make_game
from solvent.model.parameters import check_choice

if TYPE_CHECKING:
    from solvent.exact.kernels.timed_football.policies import SheetPolicy

OF_THE_ENVIRONMENT = ("opponent", "solution", "seat", "observation", "illegal", "render_mode")
"""Parameters of an environment that are not its game's."""


def train_network(
    environment: str,
    algorithm: str,
    seed: int,
    timesteps: int | None,
    out: Path,
    parameters: dict[str, Any],
    *,
    resume: bool,
) -> None:
    """Train a network, and print how it did in its last plays of training."""
    from solvent.training.simulated import train_simulated

    with interruptible(f"checkpoints are kept in {out}; the same command goes on from the last"):
        result = train_simulated(
            environment,
            algorithm,
            seed=seed,
            timesteps=timesteps,
            folder=out,
            env_kwargs=parameters,
            resume=resume,
        )
    last = result.curve[-1]
    Console().print(
        facts(
            {
                "trained": f"{result.algorithm}, seed {result.seed}, {result.timesteps:,} steps, "
                f"{result.cpu_seconds:.1f} CPU seconds",
                "last plays": f"{last.mean:.4f} on average of {last.plays:,.0f}, exploring",
                "files": str(result.folder),
                "next": f"solvent score {result.folder / 'network.npz'}",
            }
        )
    )


def score_network(file: Path, solution: Path | None, *, mode: bool, as_json: bool) -> None:
    """Score a network exactly, against the optimal player, the paper's agent and a best answer.

    Raises:
        ValueError: If the file does not say on which game it was trained, or that needs a solution.
        StoreError: If a file is missing, damaged or of another kind.
    """
    from solvent.baselines.network import load_network
    from solvent.baselines.timed_football_scores import SCORED_AGAINST, network_sheets
    from solvent.exact import read_metadata

    request = read_metadata(file).get("metadata", {}).get("request", {})
    game = _game_of(file, request)
    player = load_network(file)
    if mode:
        player = replace(player, rule="mode", name=f"{player.name} (mode)")
    policy = network_sheets(game, player)
    _score(game, policy, player.name, SCORED_AGAINST, solution, as_json=as_json)


def score_known(name: str, solution: Path | None, *, as_json: bool) -> None:
    """Score a player of football with a clock that is known by name, in the game of a solution.

    The score of the optimal player is a check of the solution: what the best answer leaves it is
    the value, but for the proved error.

    Raises:
        ValueError: If there is neither a file nor a player of that name, or no solution is given.
        StoreError: If the solution is missing, damaged or not finished.
    """
    from solvent.baselines.timed_football_scores import SCORED_AGAINST, sheets_named
    from solvent.exact.kernels.timed_football.solution import TimedSolution

    check_choice(name, "what is scored, unless it is a file,", SCORED_AGAINST)
    if solution is None:
        raise ValueError(
            f"{name} plays football with a clock; give the solution of the game that it is to be "
            f"scored in with --solution DIR"
        )
    opened = TimedSolution.open(solution)
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
    from solvent.baselines.timed_football_scores import score_timed
    from solvent.cli.timed_football import sheet_bar
    from solvent.exact.kernels.timed_football.solution import layout_for

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


def _game_of(file: Path, request: dict[str, Any]) -> TimedFootball:
    """The game on which a network was trained."""
    name = request.get("environment")
    if name is None:
        raise ValueError(f"{file}: does not say on which game it was trained")
    entry = SIMULATED[check_choice(name, f"environment in {file}", SIMULATED)]
    own = {k: v for k, v in request["env_kwargs"].items() if k not in OF_THE_ENVIRONMENT}
    game = make_game(entry.game, **{**entry.parameters, **own})
    assert isinstance(game, TimedFootball)
    return game
