"""Scores of players of football with a clock: kept in a folder, and against rounded solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from timed_football import SMALL, tiny

from solvent.baselines.network import Network, NetworkPlayer
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.exact.store import StoreError
from solvent.games.football_clock.evaluation import (
    BEST_RESPONSE,
    TimedScore,
    score_timed,
)
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import Layer, layout_for
from solvent.games.football_clock.optimal import OptimalLayers
from solvent.games.football_clock.players import (
    network_layers,
)
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import TimedSolution


def network(game: TimedFootball, seed: int = 0, rule: str = "sampled") -> NetworkPlayer:
    """A network that was not trained."""
    plays = TimedFootballSampler(game).plays(1, "vector")
    seen = plays.observe(np.zeros(1, np.int64), np.zeros(1, np.int64))
    rng = np.random.default_rng(seed)
    sizes = [seen.shape[1], 8, 8, plays.n_actions]
    weights = [rng.normal(size=size).astype(np.float32) for size in pairwise(sizes)]
    biases = [rng.normal(size=size).astype(np.float32) for size in sizes[1:]]
    return NetworkPlayer(Network(tuple(weights), tuple(biases), "tanh"), rule, True, "vector")


def numbers(score: TimedScore) -> dict[str, tuple[float, float]]:
    """What it gets, as player 0 and as player 1."""
    return {name: (value.first, value.second) for name, value in score.against.items()}


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("second-half", timeouts=1, half=30, chart=SMALL)


def test_a_score_goes_on_where_it_was_interrupted(game: TimedFootball, tmp_path: Path) -> None:
    policy = network_layers(game, network(game))
    whole = score_timed(game, policy)
    seen: list[Layer] = []

    @contextmanager
    def begun(store: LayerStore) -> Iterator[Callable[[Layer], None]]:
        def tell(layer: Layer) -> None:
            seen.append(layer)
            if len(seen) == 3:
                raise KeyboardInterrupt

        yield tell

    with pytest.raises(KeyboardInterrupt):
        score_timed(game, policy, out=tmp_path, begun=begun)
    again = score_timed(game, policy, out=tmp_path, begun=begun)
    assert len(seen) == len(set(seen)) == len(layout_for(game).layers)
    assert numbers(again) == numbers(whole)
    finished = score_timed(game, policy, out=tmp_path, begun=begun)
    assert numbers(finished) == numbers(whole)
    assert len(seen) == len(layout_for(game).layers)
    other = network_layers(game, network(game, seed=1))
    with pytest.raises(StoreError, match="scored"):
        score_timed(game, other, out=tmp_path)


def test_what_a_rounded_solution_gives_away_is_bounded(game: TimedFootball, tmp_path: Path) -> None:
    layers = FootballLayers.of(game)
    with LayerFolder.create(tmp_path, layers, "compact") as store:
        solve_layers(layers, store)
    solution = TimedSolution.open(tmp_path, game)
    optimal = OptimalLayers(layers.layout, solution.values)
    score = score_timed(game, optimal, opponents=(), solution=tmp_path)
    [bound] = score.bounds.values()
    assert 1e-5 < bound < 1e-2
    answered = score.against[BEST_RESPONSE]
    for gets, value in ((answered.first, solution.value), (answered.second, 1 - solution.value)):
        assert value - bound <= gets <= value + solution.error
    assert score_timed(game, optimal, opponents=()).bounds == {}


@pytest.mark.parametrize("rule", ["sampled", "mode"])
def test_the_first_of_two_is_chosen_as_among_many(game: TimedFootball, rule: str) -> None:
    player = network(game, rule=rule)
    outputs = np.random.default_rng(3).normal(size=(50, 2), scale=9).astype(np.float32)
    outputs[0] = 1.5
    expected = player.choose(outputs, np.ones(outputs.shape, bool))[:, 0]
    np.testing.assert_allclose(player.first_of_two(outputs), expected, atol=1e-15)
