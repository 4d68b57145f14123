"""Exact scores of players of football with a clock.

A player is scored as a policy on layers (:mod:`solvent.games.football_clock.policies`):
what it gets against others, and against the best response to it, from the start of the game and as
either player. Values are points, or the chance of winning and half of that of a tie.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from solvent.baselines.network import NetworkPlayer, load_network
from solvent.cli.layered import layer_bar
from solvent.envs.registration import ENVIRONMENTS, without_table
from solvent.exact import read_request
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import Local, solve_layers
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.games.football_clock.agent import AgentLayers
from solvent.games.football_clock.evaluation import PairEvaluation, PairLayers
from solvent.games.football_clock.layout import FormLayout, Layer, layout_for
from solvent.games.football_clock.network import NetworkLayers
from solvent.games.football_clock.optimal import OptimalLayers
from solvent.games.football_clock.players import solution_of
from solvent.games.football_clock.policies import LayerPolicy
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import TimedSolution
from solvent.model.parameters import check_choice
from solvent.model.registry import make_game

OF_THE_ENVIRONMENT = ("opponent", "solution", "seat", "observation", "illegal", "render_mode")
"""Parameters of an environment that are not its game's."""

SCORED_AGAINST = ("optimal", "paper-agent")
"""Players that are known by name, with a policy on layers."""

OnBegun = Callable[[LayerStore], AbstractContextManager[Callable[[Layer], None]]]
"""Is given the layers when rating them begins; what it yields is told of each that is done."""

BEST_RESPONSE = "best answer"


@dataclass(frozen=True, eq=False)
class TimedScore:
    """The score of a player.

    Attributes:
        name: Name of the player.
        against: Its value against each opponent, by name; among them :data:`BEST_RESPONSE`.
    """

    name: str
    against: dict[str, PairEvaluation]

    @property
    def exploitability(self) -> float:
        """By how much the best response beats it: half the sum of what it gains in either seat.

        A player that takes both seats, each half of the time, of a game in which the payoffs of
        both sum to a constant, has half of it for certain if it plays optimally.
        """
        return self.even - self.against[BEST_RESPONSE].average

    even: float = 0.5
    """An optimal player's average value over both seats: half of a win, or no points."""

    bounds: Mapping[str, float] = field(default_factory=dict)
    """Proved bounds of the score: a description in words, and the number within which it holds."""


def score_timed(
    game: TimedFootball,
    policy: LayerPolicy,
    name: str = "player",
    *,
    opponents: Iterable[str] = SCORED_AGAINST,
    solution: str | Path | None = None,
    threads: int = 2,
    out: str | Path | None = None,
    begun: OnBegun | None = None,
) -> TimedScore:
    """Score a policy exactly: against opponents, and against the best response to it.

    The best response is computed from the policy alone. The optimal opponent plays by the values of
    a solution; if those are rounded, it is not quite optimal, and what it gives away at most is
    said in the score's `bounds`.

    Args:
        game: The game, with its start.
        policy: The policy to score.
        name: Name of the policy.
        opponents: Opponents among :data:`SCORED_AGAINST`.
        solution: The folder of the game's solution, which the optimal opponent needs but in a
            small form.
        threads: Number of threads that work on a layer.
        out: A folder for what is scored so far; a score that was begun there goes on. In memory if
            None.
        begun: See :data:`OnBegun`.

    Raises:
        ValueError: If an opponent is unknown, or has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else, such as another score.
    """
    layout = layout_for(game)
    [begin] = game.initial()
    # Solved on the spot for an optimal player; what is solved once is not solved again.
    met: dict[str, LayerPolicy | None] = {
        one: layers_named(one, game, layout, solution) for one in opponents
    }
    met[BEST_RESPONSE] = None
    pairs = {one: (policy, other) for one, other in met.items()}
    by_values = [one for one in (policy, *met.values()) if isinstance(one, OptimalLayers)]
    solved = solution_of(game, solution) if by_values else None
    layers = PairLayers(layout, begin.state, pairs, _identity(name, policy, solved))
    with ExitStack() as stack:
        store = LayerStore(layers, "start")
        if out is not None:
            store = stack.enter_context(LayerFolder.create(out, layers, "start"))
        if not store.finished:
            tell = None if begun is None else stack.enter_context(begun(store))

            def on_layer(layer: Layer, record: LayerRecord) -> None:
                if tell is not None:
                    tell(layer)

            solve_layers(layers, store, workers=Local(threads), on_layer=on_layer)
        against = layers.results(store)
        bounds = {} if solved is None else _bounds(solved, store)
    return TimedScore(name, against, even=0.0 if game.for_points else 0.5, bounds=bounds)


def score_player(
    game: TimedFootball, player: NetworkPlayer | str, solution: Path | None, out: Path | None
) -> TimedScore:
    """Score a player against those known by name and a best response, with progress.

    Args:
        game: The game, with its start.
        player: A network, or the name of a player.
        solution: The folder of the game's solution, which a small form does not need.
        out: A folder for what is scored so far, or None.

    Raises:
        ValueError: If there is no player of that name, or it has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else than this score.
    """
    if isinstance(player, str):
        name, policy = player, layers_named(player, game, layout_for(game), solution)
        opponents = [] if player == "optimal" else ["optimal"]
    else:
        name, policy = player.name, network_layers(game, player)
        opponents = list(SCORED_AGAINST)
    return score_timed(
        game,
        policy,
        name,
        opponents=opponents,
        solution=solution,
        threads=os.cpu_count() or 1,
        out=out,
        begun=lambda store: layer_bar(store.game, store.missing, "scoring"),
    )


def _identity(
    name: str, policy: LayerPolicy, solved: TimedSolution | None
) -> dict[str, str | dict[str, float | str]]:
    """Return the data that a score depends on besides the game."""
    what = hashlib.sha256(repr(name).encode())
    if isinstance(policy, NetworkLayers):
        player = policy.player
        own = player.rule, player.masked, player.observation, player.network.activation
        what.update(repr(own).encode())
        for array in (*player.network.weights, *player.network.biases):
            what.update(repr(array.shape).encode() + array.astype("<f4").tobytes())
    elif isinstance(policy, AgentLayers):
        what.update(repr((policy.constants, policy.management)).encode())
    identity: dict[str, str | dict[str, float | str]] = {"scored": what.hexdigest()}
    if solved is not None:
        store = solved.store
        identity["solution"] = {"value": solved.value, "gap": store.largest_gap, "keep": store.keep}
    return identity


def _bounds(solved: TimedSolution, store: LayerStore) -> dict[str, float]:
    """Return the losses of an optimal player that plays by rounded values.

    In each layer it solves games whose entries are off by an error of those that it reads, and so
    loses twice that beside what is lost later.
    """
    if solved.store.keep == "all":
        return {}
    known, errors = solved.store, solved.errors
    lost: dict[Layer, float] = {}
    for layer in store.game.layers:
        reads = store.game.reads(layer)
        later = max((lost[at] for at in reads), default=0.0)
        off = max((errors[at] + known.rounded_off(at) for at in reads), default=0.0)
        own = store.record(layer).largest_gap + store.game.rounding(layer, known.largest)
        lost[layer] = later + 2 * off + own
    [opening] = store.game.opening
    return {"the optimal player gives away at most": lost[opening]}


def layers_named(
    name: str, game: TimedFootball, layout: FormLayout, solution: str | Path | None = None
) -> LayerPolicy:
    """A player by name, as a policy on layers.

    Raises:
        ValueError: If the name is unknown, or the optimal player needs a solution.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    check_choice(name, f"opponent of {game.info.name}", SCORED_AGAINST)
    if name == "paper-agent":
        return AgentLayers(layout)
    return OptimalLayers(layout, solution_of(game, solution).values)


def trained_on(file: str | Path) -> TimedFootball | None:
    """The game on which a saved network was trained, or None if the file does not say it.

    Raises:
        ValueError: If it names an environment that there is not.
        StoreError: If the file is missing or damaged.
    """
    request = read_request(file)
    name = request["environment"]
    if not name:
        return None
    entry = ENVIRONMENTS[check_choice(name, f"environment in {file}", without_table())]
    own = {k: v for k, v in request["env_kwargs"].items() if k not in OF_THE_ENVIRONMENT}
    game = make_game(entry.game, **{**entry.parameters, **own})
    assert isinstance(game, TimedFootball)
    return game


def network_layers(game: TimedFootball, player: NetworkPlayer | str | Path) -> NetworkLayers:
    """A network, or the file of one, as a policy on layers.

    Args:
        game: The game that it plays.
        player: The network. Its file may say on which game it was trained; that has to be `game`.

    Raises:
        ValueError: If it was trained for another game.
        StoreError: If the file is missing, damaged or of another kind.
    """
    if not isinstance(player, NetworkPlayer):
        trained = trained_on(player)
        if trained is not None:
            game.info.check_same(trained.info, str(player))
        player = load_network(player)
    return NetworkLayers(layout_for(game), TimedFootballSampler(game), player)
