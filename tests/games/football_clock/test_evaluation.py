"""Values of players of football with a clock: on layers, in play and in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from timed_football import RULES, SMALL, tiny
from timed_policies import AlikeInRuns, LayersOfTable, evaluate, evaluate_pairs, random_policy

from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.batch_simulator import Player
from solvent.exact import best_response, nash_conv, policy_value
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import solve_layers
from solvent.exact.scoring import response_values
from solvent.games.football_clock.agent import AgentPlayer, ClockManagement
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import Layer
from solvent.games.football_clock.players import (
    BEST_RESPONSE,
    PlayerLayers,
    TimedScore,
    optimal_player,
    score_player,
)
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import OptimalPlayer, TimedSolution
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.model.arrays import Floats
from solvent.model.files import StoreError

FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("two-minutes", {"timeouts": 1, "chart": SMALL}),
    ("half", {"half": 30, "timeouts": 1}),
    ("half", {"half": 60, "stops": [30], "untimed_down": False}),
    ("second-half", {"half": 30, "timeouts": 1, "chart": SMALL, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL}),
)
NUMBERS = [
    # Every form once, but for the second half, which is a part of the whole game.
    pytest.param(
        number, id=f"{form}-{number}", marks=[pytest.mark.slow] if number in (2, 3) else []
    )
    for number, (form, _) in enumerate(FORMS)
]


@lru_cache(maxsize=1)
def tabulated(number: int) -> tuple[TimedFootball, TabularGame]:
    form, parameters = FORMS[number]
    football = tiny(form, **parameters)
    return football, compile_game(football)


@pytest.mark.parametrize("number", NUMBERS)
def test_two_random_policies(number: int) -> None:
    football, game = tabulated(number)
    layout, start = FootballLayers.of(football), football.initial()[0].state
    given = [[random_policy(game, player, seed) for player in (0, 1)] for seed in (1, 2)]
    of_x, of_y = (
        [LayersOfTable(football, game, policy, layout) for policy in seats] for seats in given
    )
    result = evaluate(layout, start, of_x[0], of_y[1])
    expected = game.at_start(policy_value(game, given[0][0], given[1][1]))
    assert result.first == pytest.approx(expected, abs=1e-12)
    result = evaluate(layout, start, of_x[1], of_y[0])
    expected = game.at_start(policy_value(game, given[1][0], given[0][1]))
    even = 0.0 if layout.for_points else 1.0
    assert result.second == pytest.approx(even - expected, abs=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_best_response_to_a_random_policy(number: int) -> None:
    football, game = tabulated(number)
    layout, start = FootballLayers.of(football), football.initial()[0].state
    for player in (0, 1):
        policy = random_policy(game, player, 3)
        given = LayersOfTable(football, game, policy, layout)
        expected = game.at_start(best_response(game, policy).values)
        result = evaluate(layout, start, given, None)
        even = 0.0 if layout.for_points else 1.0
        to_player_0 = result.first if player == 0 else even - result.second
        assert to_player_0 == pytest.approx(expected, abs=1e-12)
        swapped = evaluate(layout, start, None, given)
        other = swapped.second if player == 0 else swapped.first
        assert other == pytest.approx(even - to_player_0 if player == 0 else to_player_0, abs=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_optimal_player_gets_the_value(number: int) -> None:
    football, _ = tabulated(number)
    layout, start = FootballLayers.of(football), football.initial()[0].state
    solution = TimedSolution.of(football)
    optimal = OptimalPlayer(solution)
    layers: dict[Layer, Floats] = {}
    pairs = [(optimal, optimal)]
    [result] = evaluate_pairs(layout, start, pairs, on_layer=layers.__setitem__)
    assert result.first == pytest.approx(solution.value, abs=1e-12)
    for layer, values in layers.items():
        np.testing.assert_allclose(values[0], [solution.values(layer)] * 2, atol=1e-12)
    answered = evaluate(layout, start, optimal, None)
    assert answered.first == pytest.approx(solution.value, abs=1e-12)
    assert answered.second == pytest.approx(result.second, abs=1e-12)


def test_pairs_get_what_they_get_alone_and_a_policy_is_asked_once() -> None:
    football = tiny("second-half", timeouts=1, half=30, chart=SMALL)
    layout, start = FootballLayers.of(football), football.initial()[0].state
    x, y, z = (AlikeInRuns(layout, seed, 4, True) for seed in (1, 2, 3))
    pairs = [(x, y), (x, None), (z, x), (None, z)]
    alone = [evaluate(layout, start, *pair) for pair in pairs]
    x.asked.clear()
    together = evaluate_pairs(layout, start, pairs)
    assert [(one.first, one.second) for one in together] == [
        (one.first, one.second) for one in alone
    ]
    # The tiny field is one block.
    assert len(x.asked) == len(set(x.asked)) == len(layout.layers)


# Players in play, and as they are scored.

QUICK: tuple[tuple[str, dict[str, Any]], ...] = (
    ("half", {"half": 30, "timeouts": 1}),
    ("second-half", {"half": 30}),
    ("second-half", {"half": 30, "timeouts": 1, "chart": SMALL, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL}),
    # Its plays score more points than any usual one.
    ("half", {"half": 30, "rules": {**RULES, "touchdown": 20, "safety": 7}, "chart": SMALL}),
    ("full", {"half": 30, "chart": SMALL, "timeouts": 1}),
)
IDS = [f"{form} {parameters.get('timeouts', 0)}" for form, parameters in QUICK]
LONG = ("half 1", "second-half 0", "full 1")
NUMBERS = [
    pytest.param(n, marks=[pytest.mark.slow] * (name == "full 1")) for n, name in enumerate(IDS)
]


@cache
def made(number: int) -> tuple[TimedFootballSampler, TabularGame]:
    form, parameters = QUICK[number]
    sampler = TimedFootballSampler(tiny(form, **parameters))
    return sampler, compile_game(sampler.rules)


def tables_of(number: int, player: Player) -> tuple[TabularPolicy, TabularPolicy]:
    """What a player answers in every state, in both seats."""
    sampler, table = made(number)
    plays = sampler.plays(table.n_states)
    for i, state in enumerate(table.states):
        sampler.write(plays.records, i, state)
    everyone = np.arange(table.n_states)
    policies = []
    for seat in (0, 1):
        who = np.full(table.n_states, seat)
        acts = plays.acts(everyone, who)
        chances = np.zeros(table.mask[seat].shape)
        chances[acts] = player.mixes(plays, everyone[acts], who[acts])
        chances[~acts & ~table.terminal, 0] = 1.0
        policies.append(TabularPolicy.of(table, chances, player=seat, name=player.name))
    return policies[0], policies[1]


def network_of(
    sampler: TimedFootballSampler,
    seed: int = 3,
    *,
    masked: bool = True,
    rule: str = "sampled",
    observation: str = "vector",
) -> NetworkPlayer:
    """A network with weights at random."""
    rng = np.random.default_rng(seed)
    widths = [*sampler.plays(1, observation).observation_space.shape, 12, 12]
    widths.append(len(sampler.rules.actions.names))
    weights = tuple((rng.normal(size=shape) / 2).astype(np.float32) for shape in pairwise(widths))
    biases = tuple(rng.normal(size=width).astype(np.float32) for width in widths[1:])
    return NetworkPlayer(Network(weights, biases, "relu"), rule, masked, observation)


@pytest.mark.parametrize(
    "number",
    [
        # The best response takes long where no one leads as yet.
        pytest.param(n, marks=pytest.mark.slow if name in LONG else [])
        for n, name in enumerate(IDS)
    ],
    ids=IDS,
)
def test_nobody_gains_against_the_optimal_player(number: int) -> None:
    sampler, table = made(number)
    player = optimal_player(sampler.rules)
    assert nash_conv(table, *tables_of(number, player)) == pytest.approx(0, abs=1e-12)


KINDS = [(True, "sampled", "onehot"), (False, "sampled", "vector"), (False, "mode", "onehot")]
"""Whether a network is masked, how it chooses, and what it sees."""


@pytest.mark.parametrize("number", NUMBERS, ids=IDS)
def test_a_network_on_layers_is_worth_what_it_is_worth_in_a_table(number: int) -> None:
    sampler, table = made(number)
    masked, rule, observation = KINDS[number % len(KINDS)]
    player = network_of(sampler, masked=masked, rule=rule, observation=observation)
    first, second = tables_of(number, player)
    [begin] = sampler.rules.initial()
    layout, layers = FootballLayers.of(sampler.rules), PlayerLayers(sampler.rules, player)
    with_itself = evaluate(layout, begin.state, layers, layers).first
    assert with_itself == pytest.approx(
        table.at_start(policy_value(table, first, second)), abs=1e-6
    )
    answered = evaluate(layout, begin.state, layers, None).first
    assert answered == pytest.approx(table.at_start(response_values(table, first)), abs=1e-6)


@pytest.mark.parametrize("number", NUMBERS, ids=IDS)
def test_the_agent_plays_as_it_is_scored(number: int) -> None:
    sampler, table = made(number)
    management = ClockManagement(threshold=(15, 300)[number % 2])
    layout = FootballLayers.of(sampler.rules)
    player = AgentPlayer(layout, management=management)
    first, second = tables_of(number, player)
    [begin] = sampler.rules.initial()
    value = evaluate(layout, begin.state, player, player).first
    assert value == pytest.approx(table.at_start(policy_value(table, first, second)), abs=1e-12)


# Scores, kept in a folder and against rounded solutions.


def numbers(score: TimedScore) -> dict[str, tuple[float, float]]:
    """What it gets, as player 0 and as player 1."""
    return {name: (value.first, value.second) for name, value in score.against.items()}


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("second-half", timeouts=1, half=30, chart=SMALL)


def test_a_score_goes_on_where_it_was_interrupted(
    game: TimedFootball, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = network_of(TimedFootballSampler(game))
    whole = score_player(game, network)
    seen: list[Layer] = []

    @contextmanager
    def bar(*_: object) -> Iterator[Callable[[Layer], None]]:
        def tell(layer: Layer) -> None:
            seen.append(layer)
            if len(seen) == 3:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr("solvent.cli.layered.layer_bar", bar)
    with pytest.raises(KeyboardInterrupt):
        score_player(game, network, out=tmp_path)
    again = score_player(game, network, out=tmp_path)
    assert len(seen) == len(set(seen)) == len(FootballLayers.of(game).layers)
    assert numbers(again) == numbers(whole)
    finished = score_player(game, network, out=tmp_path)
    assert numbers(finished) == numbers(whole)
    assert len(seen) == len(FootballLayers.of(game).layers)
    other = network_of(TimedFootballSampler(game), seed=1)
    with pytest.raises(StoreError, match="scored"):
        score_player(game, other, out=tmp_path)


def test_what_a_rounded_solution_gives_away_is_bounded(game: TimedFootball, tmp_path: Path) -> None:
    layers = FootballLayers.of(game)
    with LayerFolder.create(tmp_path, layers, "compact") as store:
        solve_layers(layers, store)
    solution = TimedSolution.open(tmp_path, game)
    score = score_player(game, "optimal", tmp_path)
    [bound] = score.bounds.values()
    assert 1e-5 < bound < 1e-2
    answered = score.against[BEST_RESPONSE]
    for gets, value in ((answered.first, solution.value), (answered.second, 1 - solution.value)):
        assert value - bound <= gets <= value + solution.error
    assert score_player(game, "optimal").bounds == {}


def test_a_large_form_is_not_solved_on_the_spot() -> None:
    with pytest.raises(ValueError, match=r"201,960,000 states.*--form second-half .*--out DIR"):
        optimal_player(TimedFootball(form="second-half", timeouts=0))
