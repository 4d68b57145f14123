"""Players of football with a clock: in play, on layers, and in the generic solver's tables."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from timed_football import RULES, SMALL, tiny

from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.simulation import Player
from solvent.exact import nash_conv, policy_value
from solvent.exact.response import response_values
from solvent.games.football_clock.agent import AgentLayers, AgentPlayer, ClockManagement
from solvent.games.football_clock.evaluation import evaluate
from solvent.games.football_clock.layout import layout_for
from solvent.games.football_clock.players import (
    network_layers,
    optimal_player,
)
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.model import TabularGame, TabularPolicy, compile_game

QUICK: tuple[tuple[str, dict[str, Any]], ...] = (
    ("half", {"half": 30, "timeouts": 1}),
    ("second-half", {"half": 30}),
    ("second-half", {"half": 30, "timeouts": 1, "chart": SMALL, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL, "timeouts": 1}),
    # Its plays score more points than any usual one.
    ("half", {"half": 30, "rules": {**RULES, "touchdown": 20, "safety": 7}, "chart": SMALL}),
)
IDS = [f"{form} {parameters.get('timeouts', 0)}" for form, parameters in QUICK]


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


def network(number: int, *, masked: bool, rule: str, observation: str) -> NetworkPlayer:
    """A network with weights at random."""
    sampler, _ = made(number)
    rng = np.random.default_rng(3)
    widths = [*sampler.plays(1, observation).observation_space.shape, 12, 12]
    widths.append(len(sampler.rules.actions.names))
    shapes = pairwise(widths)
    weights = tuple((rng.normal(size=shape) / 2).astype(np.float32) for shape in shapes)
    biases = tuple(rng.normal(size=width).astype(np.float32) for width in widths[1:])
    return NetworkPlayer(Network(weights, biases, "relu"), rule, masked, observation)


@pytest.mark.parametrize(
    "number",
    [
        # The best response takes long where no one leads as yet.
        pytest.param(n, marks=pytest.mark.slow if name in ("half 1", "second-half 0") else [])
        for n, name in enumerate(IDS)
    ],
    ids=IDS,
)
def test_nobody_gains_against_the_optimal_player(number: int) -> None:
    sampler, table = made(number)
    player = optimal_player(sampler.rules)
    assert nash_conv(table, *tables_of(number, player)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("number", range(len(QUICK)), ids=IDS)
@pytest.mark.parametrize(
    ("masked", "rule", "observation"),
    [(True, "sampled", "onehot"), (False, "sampled", "vector"), (False, "mode", "onehot")],
)
def test_a_network_on_layers_is_worth_what_it_is_worth_in_a_table(
    number: int, masked: bool, rule: str, observation: str
) -> None:
    sampler, table = made(number)
    player = network(number, masked=masked, rule=rule, observation=observation)
    first, second = tables_of(number, player)
    [begin] = sampler.rules.initial()
    layout, layers = layout_for(sampler.rules), network_layers(sampler.rules, player)
    with_itself = evaluate(layout, begin.state, layers, layers).first
    assert with_itself == pytest.approx(
        table.at_start(policy_value(table, first, second)), abs=1e-6
    )
    answered = evaluate(layout, begin.state, layers, None).first
    assert answered == pytest.approx(table.at_start(response_values(table, first)), abs=1e-6)


@pytest.mark.parametrize("number", range(len(QUICK)), ids=IDS)
@pytest.mark.parametrize("threshold", [15, 300])
def test_the_agent_plays_as_it_is_scored(number: int, threshold: float) -> None:
    sampler, table = made(number)
    management = ClockManagement(threshold=threshold)
    player = AgentPlayer(AgentLayers(layout_for(sampler.rules), management=management))
    first, second = tables_of(number, player)
    [begin] = sampler.rules.initial()
    value = evaluate(layout_for(sampler.rules), begin.state, player.layers, player.layers).first
    assert value == pytest.approx(table.at_start(policy_value(table, first, second)), abs=1e-12)


def test_a_large_form_is_not_solved_on_the_spot() -> None:
    from solvent.games import TimedFootball

    with pytest.raises(ValueError, match=r"201,960,000 states.*--form second-half .*--out DIR"):
        optimal_player(TimedFootball(form="second-half", timeouts=0))
