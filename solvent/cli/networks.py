"""``solvent score`` for networks, and for policies of games that are too large for a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import typer
from rich.console import Console

from solvent.baselines import all_baselines
from solvent.baselines.network import NetworkPlayer, load_network
from solvent.cli.errors import interruptible
from solvent.cli.parameters import game_of_request, open_solution, read_game
from solvent.cli.printing import game_text
from solvent.cli.tables import facts
from solvent.exact import read_request
from solvent.model import Game, TabularGame
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import load, spec_of
from solvent.report.numbers import precise


class SeatValues(Protocol):
    """What a player gets against an opponent, exactly."""

    first: float
    """As player 0."""
    second: float
    """As player 1."""
    average: float
    """Of both."""


class OnePlayerScore(Protocol):
    """The score of a policy in a game for one that has no table."""

    @property
    def name(self) -> str:
        """Of the policy."""
        ...

    @property
    def value(self) -> float:
        """What it gets."""
        ...

    @property
    def optimum(self) -> float:
        """The value of the game."""
        ...

    @property
    def bounds(self) -> Mapping[str, float]:
        """What is proved of it, in words, and to within which number."""
        ...


class PlayerScore(Protocol):
    """The score of a player of a game for two that has no table."""

    name: str
    against: Mapping[str, SeatValues]
    """By opponent; one of them is a best response to the player."""
    exploitability: float
    bounds: Mapping[str, float]
    """What is proved of it, in words, and to within which number."""


def check_request(
    file: Path, rules: Game, table: TabularGame, algorithm: str, observation: str | None
) -> str | None:
    """Refuse a network if the record of its training, beside it, asked for something else.

    Args:
        file: The network; without a record nothing is known.
        rules: The game in which it is to be scored.
        table: The same as arrays.
        algorithm: That it is loaded as.
        observation: That it is given; what the record says if left out.

    Returns:
        What it is given, or None if nothing says it.

    Raises:
        ValueError: If the training was on another game, by another algorithm, or showed other
            observations.
        StoreError: If the record is damaged.
    """
    from solvent.benchmark.run_folder import request_beside

    request = request_beside(file)
    if request is None:
        return observation
    trained = game_of_request(request)
    if trained is not None:
        rules.info.check_same(trained.info, str(file))
    elif request.get("model_hash") != table.model_hash:
        raise ValueError(
            f"{file}: was trained on the model {request.get('model_hash')!s:.12}, but this "
            f"{rules.info.name} is the model {table.model_hash[:12]}"
        )
    shown: str | None = request["env_kwargs"].get("observation", observation)
    for option, had, has in (
        ("algorithm", request.get("algorithm", algorithm), algorithm),
        ("observation", shown, shown if observation is None else observation),
    ):
        if had != has:
            raise ValueError(
                f"{file}: was trained with {option} {had!r:.60}; say --{option} {had!s:.60}"
            )
    return shown


def score_network(
    file: Path,
    solution: Path | None,
    asked: Game | None = None,
    *,
    mode: bool,
    out: Path | None = None,
    as_json: bool,
) -> None:
    """Score a network exactly, against players that its game knows and a best response.

    Args:
        file: The network.
        solution: The folder with the solution of its game.
        asked: The game that was named, if any; it has to be the network's.
        mode: Whether it takes its most probable actions.
        out: A folder for what is scored so far, or None.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If the file does not say on which game it was trained, that is not `asked`, or
            needs a solution.
        StoreError: If a file is missing, damaged or of another kind.
    """
    request = read_request(file)
    game = game_of_request(request)
    if game is None:
        raise ValueError(
            f"{file}: does not say on which game it was trained; its environment is "
            f"{shown(request['environment'])}"
        )
    if asked is not None:
        asked.info.check_same(game.info, str(file))
    player = load_network(file)
    if mode:
        player = replace(player, rule="mode", name=f"{player.name} (mode)")
    _score(game, player, solution, out, {}, as_json=as_json)


def score_known(
    name: str,
    solution: Path | None,
    asked: str | None = None,
    words: Sequence[str] = (),
    *,
    out: Path | None = None,
    as_json: bool,
) -> None:
    """Score a player that is known by name, in the game of a solution.

    The score of the optimal player is a check of the solution: its value against a best response
    is that of the game, but for the proved error.

    Args:
        name: Of the player.
        solution: The folder of the solution; a game for one may do without.
        asked: The name of the game, if it was written; it has to be the solution's.
        words: The parameters written after it.
        out: A folder for what is scored so far, or None.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is neither a file nor a player of that name, no solution is given, or
            `asked` is no game with such solutions.
        StoreError: If the solution is missing, damaged, not finished or of another game.
    """
    if solution is None:
        if asked is not None and scored_alone(game := read_game(asked, words)):
            _score(game, name, None, out, {}, as_json=as_json)
            return
        check_choice(name, "what is scored, unless it is a file,", all_baselines())
        raise ValueError(
            f"{name!r} is no file; for a baseline give the game after it, or --solution DIR"
        )
    solved = open_solution(solution, asked, words)
    if not scored_alone(solved.game):
        check_choice(name, "what is scored, unless it is a file,", all_baselines())
    known = {"value": solved.value, "proved to within": solved.upper - solved.value}
    _score(solved.game, name, solution, out, known, as_json=as_json)


def scored_alone(game: Game) -> bool:
    """Whether a game is for one, and says how to score its policies without a table."""
    spec = spec_of(game)
    return game.info.players == 1 and spec is not None and spec.scorer is not None


def _score(
    game: Game,
    player: NetworkPlayer | str,
    solution: Path | None,
    out: Path | None,
    known: Mapping[str, float],
    *,
    as_json: bool,
) -> None:
    """Score a player and print it, with what is known besides."""
    spec = spec_of(game)
    if spec is None or spec.scorer is None:
        raise ValueError(f"{game.info.name} does not say how to score a player without a table")
    kept = "nothing of the score is kept; with --out DIR the same command goes on where it was"
    if out is not None:
        kept = f"what is scored is kept in {out}; the same command goes on from there"
    with interruptible(kept):
        found = load(spec.scorer)(game, player, solution, out)
    if game.info.players == 1:
        _show_alone(game, found, as_json=as_json)
        return
    score: PlayerScore = found
    lost, proved = score.exploitability, {**known, **score.bounds}
    if as_json:
        against = {name: [v.first, v.second, v.average] for name, v in score.against.items()}
        numbers = {"name": score.name, "against": against, "exploitability": lost, **proved}
        typer.echo(json.dumps(numbers, indent=2))
        return
    said = {
        f"against {opponent}": f"{precise(value.average)}  (as player 0 {precise(value.first)}, "
        f"as player 1 {precise(value.second)})"
        for opponent, value in score.against.items()
    }
    rounded = {name: f"{number:.9g}" for name, number in proved.items()}
    rows = {"player": score.name, **said, "exploitability": precise(lost), **rounded}
    Console(emoji=False).print(facts(rows))


def _show_alone(game: Game, score: OnePlayerScore, *, as_json: bool) -> None:
    """Print the score of a policy in a game for one."""
    numbers = {
        "value": score.value,
        "optimum": score.optimum,
        "gap": score.optimum - score.value,
    }
    if as_json:
        typer.echo(json.dumps({"name": score.name, **numbers, **score.bounds}, indent=2))
        return
    rounded = {name: precise(number) for name, number in numbers.items()}
    rounded |= {name: f"{number:.9g}" for name, number in score.bounds.items()}
    rows = {"policy": score.name, "game": game_text(game.info), **rounded}
    Console(emoji=False).print(facts(rows))
