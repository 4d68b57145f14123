"""``solvent score``: score policies and networks, also in games too large for a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import typer
from rich.console import Console

from solvent import exact
from solvent.baselines import all_baselines, make_baseline
from solvent.baselines.network import NetworkPlayer, load_network
from solvent.cli.groups import interruptible
from solvent.cli.parameters import (
    game_of_request,
    game_of_training,
    has_table,
    open_solution,
    read_game,
)
from solvent.cli.printing import game_text, score_json, show_score
from solvent.cli.terminal import facts, solving
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.game import words
from solvent.model.parameters import brief, check_choice, shown
from solvent.model.registry import load, spec_of
from solvent.model.text import precise
from solvent.model.transforms import DiscountedGame, discounted_policy

SCORED = "the policy to score, which is not a file,"
"""Subject of the error message about an unknown name."""


class SeatValues(Protocol):
    """The exact values of a player against an opponent: as player 0, as player 1, and on average.

    All values are from this player's point of view.
    """

    first: float
    second: float
    average: float


class OnePlayerScore(Protocol):
    """The score of a policy in a one-player game without a table.

    Attributes:
        name: The name of the policy.
        value: The value of the policy.
        optimum: The value of the game.
        bounds: Proved error bounds, by their descriptions.
    """

    name: str
    value: float
    optimum: float
    bounds: Mapping[str, float]


class PlayerScore(Protocol):
    """The score of a player of a two-player game without a table.

    Attributes:
        name: The name of the player.
        against: The player's values by opponent; one opponent is a best response to the player.
        exploitability: The loss against a best response.
        bounds: Proved error bounds, by their descriptions.
    """

    name: str
    against: Mapping[str, SeatValues]
    exploitability: float
    bounds: Mapping[str, float]


@dataclass(frozen=True)
class Zip:
    """Options for reading a network of Stable-Baselines3.

    Attributes:
        trust: Whether the file is trusted; opening it runs code that it contains.
        algorithm: The algorithm that trained it.
        observation: Observation type of its inputs; None to infer it from the network.
        normalization: File of the VecNormalize statistics, if it was trained with them.
    """

    trust: bool
    algorithm: str
    observation: str | None
    normalization: Path | None


def score_named(
    what: Path,
    game: str | None,
    words: Sequence[str],
    network: Zip,
    *,
    solution: Path | None,
    out: Path | None,
    mode: bool,
    top: int,
    tolerance: float,
    as_json: bool,
) -> None:
    """Score a policy by its file or its name, and print the score.

    Args:
        what: File of a policy, a network or a ``.zip`` of Stable-Baselines3; or the name of a
            baseline or a player.
        game: The name of its game; None if the file or the solution records it.
        words: The parameters of the game.
        network: The options for reading a ``.zip``.
        solution: The folder of a solution, for a game without a table.
        out: The folder for partial results, for a game without a table.
        mode: Whether to score the greedy policy.
        top: The number of losing states to show.
        tolerance: The error bound to prove, relative to the largest payoff.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is no such policy or game, they do not fit together, or an option
            belongs to another kind of game.
        StoreError: If a file is missing, damaged, or made for another game.
    """
    is_zip = what.suffix == ".zip"
    is_name = not what.suffix and not what.exists()
    by_solution = is_name and solution is not None
    rules = None if game is None or by_solution else read_game(game, words)
    if is_name and (rules is None or not has_table(rules) or scored_alone(rules)):
        _score_known(str(what), solution, rules, (game, words), out, as_json=as_json)
        return
    kind = "policy" if is_zip or is_name else exact.read_header(what)["kind"]
    if kind == "network":
        _score_network(what, solution, rules, out, mode=mode, as_json=as_json)
        return
    if kind != "policy":
        raise ValueError(f"{what}: holds a {brief(kind)}, not a policy")
    if out is not None:
        raise ValueError("--out is for games that are solved layer by layer")
    if rules is None and is_zip:
        raise ValueError(f"{what}: a .zip does not record its game; name the game after it")
    rules = game_of_training(what) if rules is None else rules
    with solving(rules.info.name) as progress:
        table = cached_table(rules, progress=progress)
        illegal = None
        if is_zip:
            policy, illegal = _network_policy(what, rules, table, network, mode=mode)
        else:
            named = make_baseline(str(what), table, what=SCORED) if is_name else None
            policy = named or _policy_in(what, rules, table)
            policy = policy.mode() if mode else policy
        optimum = exact.cached_solution(table, progress=progress)
        result = exact.score(table, policy, optimum, illegal=illegal, tolerance=tolerance)
        try:
            location = exact.locate_gap(table, policy, optimum, tolerance=tolerance)
        except exact.ImproperGameError:
            location = None
    if as_json:
        typer.echo(score_json(table, policy, optimum, result, location, top))
    else:
        show_score(Console(emoji=False), table, policy, optimum, result, location, top, rules)


def _policy_in(file: Path, rules: Game, table: TabularGame) -> TabularPolicy:
    """Load a policy; for a discounted game also one that was made for the undiscounted game."""
    if isinstance(rules, DiscountedGame):
        plain = cached_table(rules.game)
        if exact.read_header(file).get("model_hash") == plain.model_hash:
            return discounted_policy(exact.load_policy(file, plain), table)
    return exact.load_policy(file, table)


def _network_policy(
    file: Path, rules: Game, table: TabularGame, network: Zip, *, mode: bool
) -> tuple[TabularPolicy, Any]:
    """The policy of a network, and the probability that it gave to illegal actions."""
    if not network.trust:
        raise ValueError(
            f"{file}: loading a .zip runs code that is in it; say --trust if you trust its author"
        )
    observation = _checked_request(file, rules, table, network)
    from solvent.training import Normalization, extract, load_model

    statistics = network.normalization
    both = extract(
        load_model(file, network.algorithm, trust=True),
        table,
        observation=observation,
        normalization=None if statistics is None else Normalization.load(statistics),
    )
    return (both.mode, both.illegal_mode) if mode else (both.sampled, both.illegal)


def _checked_request(file: Path, rules: Game, table: TabularGame, network: Zip) -> str | None:
    """Return the observation type of a network, or None if it is not known.

    Raises:
        ValueError: If the record of its training, in the same folder, has another game, algorithm
            or observation type.
    """
    from solvent.benchmark.run_folder import request_beside

    request = request_beside(file)
    if request is None:
        return network.observation
    trained = game_of_request(request)
    if trained is not None:
        rules.info.check_same(trained.info, str(file))
    elif request.get("model_hash") != table.model_hash:
        raise ValueError(
            f"{file}: was trained on the model {request.get('model_hash')!s:.12}, but this "
            f"{rules.info.name} is the model {table.model_hash[:12]}"
        )
    observed: str | None = request["env_kwargs"].get("observation", network.observation)
    for option, had, has in (
        ("algorithm", request.get("algorithm", network.algorithm), network.algorithm),
        ("observation", observed, network.observation or observed),
    ):
        if had != has:
            raise ValueError(
                f"{file}: was trained with {option} {had!r:.60}; say --{option} {had!s:.60}"
            )
    return observed


def _score_network(
    file: Path,
    solution: Path | None,
    asked: Game | None,
    out: Path | None,
    *,
    mode: bool,
    as_json: bool,
) -> None:
    """Score a network against its game's named players and against a best response."""
    request = exact.read_request(file)
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


def _score_known(
    name: str,
    solution: Path | None,
    rules: Game | None,
    asked: tuple[str | None, Sequence[str]],
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Score one of a game's named players.

    Scoring the optimal player checks the solution: against a best response its value must equal the
    value of the game, up to the proved error.
    """
    known: dict[str, float] = {}
    if solution is not None:
        solved = open_solution(solution, *asked)
        rules = solved.game
        known = {"value": solved.value, "proved to within": solved.upper - solved.value}
    if rules is None or not scored_alone(rules):
        check_choice(name, SCORED, all_baselines())
    if rules is None or (solution is None and not scored_alone(rules)):
        raise ValueError(
            f"{name!r} is not a file; to score a baseline, give its game after it or --solution DIR"
        )
    _score(rules, name, solution, out, known, as_json=as_json)


def scored_alone(game: Game) -> bool:
    """Return whether a one-player game can score its policies without a table."""
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
    """Score a player, and print the score with the numbers in `known`."""
    spec = spec_of(game)
    if spec is None or spec.scorer is None:
        raise ValueError(f"{game.info.name} does not say how to score a player without a table")
    kept = "the partial score is lost; with --out DIR it is kept, and the same command resumes it"
    if out is not None:
        kept = f"the partial score is kept in {out}; the same command resumes it"
    with interruptible(kept):
        found = load(spec.scorer)(game, player, solution, out)
    numbers, rows = (_alone if game.info.players == 1 else _for_two)(game, found, known)
    if as_json:
        typer.echo(json.dumps({"name": found.name, **numbers}, indent=2))
    else:
        Console(emoji=False).print(facts(rows))


def _for_two(
    game: Game, score: PlayerScore, known: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the score of a player of a two-player game, as numbers and as text."""
    lost, proved = score.exploitability, {**known, **score.bounds}
    sides = [words(game).player_name(player) for player in (0, 1)]
    against = {name: [v.first, v.second, v.average] for name, v in score.against.items()}
    said = {
        f"against {opponent}": f"{precise(value.average)}  (as {sides[0]} {precise(value.first)}, "
        f"as {sides[1]} {precise(value.second)})"
        for opponent, value in score.against.items()
    }
    rows = {"player": score.name, **said, "exploitability": precise(lost), **_rounded(proved)}
    return {"against": against, "exploitability": lost, **proved}, rows


def _alone(
    game: Game, score: OnePlayerScore, known: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the score of a policy of a one-player game, as numbers and as text."""
    gap = score.optimum - score.value
    numbers = {"value": score.value, "optimum": score.optimum, "gap": gap}
    said = {name: precise(number) for name, number in numbers.items()}
    rows = {"policy": score.name, "game": game_text(game.info), **said, **_rounded(score.bounds)}
    return {**numbers, **score.bounds}, rows


def _rounded(numbers: Mapping[str, float]) -> dict[str, str]:
    return {name: f"{number:.9g}" for name, number in numbers.items()}
