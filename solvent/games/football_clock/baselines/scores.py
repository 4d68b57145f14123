"""Exact scores of players of football with a clock.

A player is scored as a policy on layers (:mod:`solvent.games.football_clock.solver.policies`):
what it gets against others, and against the best response to it, from the start of the game and as
either player. Values are points, or the chance of winning and half of that of a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from solvent.baselines.network import NetworkPlayer, load_network
from solvent.envs.registration import ENVIRONMENTS, without_table
from solvent.exact import read_request
from solvent.games import make_game
from solvent.games.football_clock.baselines.agent import AgentLayers
from solvent.games.football_clock.baselines.network import NetworkLayers
from solvent.games.football_clock.baselines.players import solution_of
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solver.evaluation import PairEvaluation, evaluate_pairs
from solvent.games.football_clock.solver.layout import FormLayout, Layer, layout_for
from solvent.games.football_clock.solver.optimal import OptimalLayers
from solvent.games.football_clock.solver.policies import LayerPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_choice

OF_THE_ENVIRONMENT = ("opponent", "solution", "seat", "observation", "illegal", "render_mode")
"""Parameters of an environment that are not its game's."""

SCORED_AGAINST = ("optimal", "paper-agent")
"""Players that are known by name, with a policy on layers."""

OnLayer = Callable[[Layer], None]
"""Is told of every layer that is done, against everyone."""

BEST_RESPONSE = "best answer"


@dataclass(frozen=True, eq=False)
class TimedScore:
    """What a player is worth.

    Attributes:
        name: Of the player.
        against: What it gets against each opponent, by name; among them :data:`BEST_RESPONSE`.
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
    """What an optimal player gets on average over both seats: half of a win, or no points."""


def score_timed(
    game: TimedFootball,
    policy: LayerPolicy,
    name: str = "player",
    *,
    opponents: Iterable[str] = SCORED_AGAINST,
    solution: str | Path | None = None,
    threads: int = 2,
    on_layer: OnLayer | None = None,
) -> TimedScore:
    """Score a policy exactly: against opponents, and against the best response to it.

    Args:
        game: Which, with its start.
        policy: What is scored.
        name: What to call it.
        opponents: Of :data:`SCORED_AGAINST`.
        solution: The folder of the game's solution, which the optimal opponent needs but in a
            small form.
        threads: How many work on a layer.
        on_layer: See :data:`OnLayer`.

    Raises:
        ValueError: If an opponent is unknown, or has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    layout = layout_for(game)
    [begin] = game.initial()
    met: dict[str, LayerPolicy | None] = {
        one: layers_named(one, game, layout, solution) for one in opponents
    }
    met[BEST_RESPONSE] = None

    def tell(layer: Layer, values: Sequence[Floats]) -> None:
        if on_layer is not None:
            on_layer(layer)

    pairs = [(policy, other) for other in met.values()]
    results = evaluate_pairs(layout, begin.state, pairs, threads=threads, on_layer=tell)
    against = dict(zip(met, results, strict=True))
    return TimedScore(name, against, even=0.0 if game.for_points else 0.5)


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
