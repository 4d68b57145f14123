"""Best responses of the football kernels, against the generic solver and at the equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reduced_football import RULES, random_chart, reduced

from solvent.exact import ImproperGameError, best_response
from solvent.games.football.chart import Chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver import (
    best_response_drive,
    best_response_points,
    solve_points,
)
from solvent.games.football.solver.responses import Strategies
from solvent.games.football.solver.situation_chain import SituationChain, settle
from solvent.games.football.solver.table import FootballTable
from solvent.model import compile_game
from solvent.model.arrays import Bools, Floats

RULESET = Ruleset.read(RULES)
SEEDS = (0, 1, 2, 6, 13, 20)


def rules_of(chart: Chart) -> PackedRules:
    return pack_rules(chart, RULESET)


def random_strategies(rules: PackedRules, seed: int) -> Strategies:
    random = np.random.default_rng(seed)
    every = np.ones((rules.n_situations, rules.chart.defences), bool)
    choices = int((rules.option[:, 0] >= 0).sum())
    return Strategies(
        _weighted(random, rules.legal),
        _weighted(random, every),
        random.random((rules.n_situations, choices)),
    )


def _weighted(random: np.random.Generator, legal: Bools) -> Floats:
    weights = legal * random.random(legal.shape)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_response_in_a_drive_is_the_generic_one(seed: int, player: int) -> None:
    game = reduced("drive", random_chart(seed), to_goal=[1, 8])
    rules = rules_of(game.loaded_chart)
    strategies = random_strategies(rules, seed)
    side = (
        {"offence_strategy": strategies.offence}
        if player == 0
        else {"defence_strategy": strategies.defence}
    )
    found = best_response_drive(rules, game.loaded_points, choices=strategies.choices, **side)

    table = compile_game(game)
    generic = best_response(table, FootballTable.of(table, game).policy(strategies, player))
    compared = 0
    for state, value in zip(table.states, generic.values, strict=True):
        if state.phase == "call" and not state.choice:
            index = rules.index(Situation(*state.situation))
            assert found.values[index] == pytest.approx(value, abs=1e-8)
            assert 0 < found.error[index] < 1e-8
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("seed", SEEDS)
def test_a_response_until_the_next_score_is_the_generic_one(seed: int) -> None:
    chart = random_chart(seed)
    rules = rules_of(chart)
    points = solve_points(rules).expected_points(rules)
    strategies = random_strategies(rules, seed)
    found = best_response_points(
        rules,
        points,
        offence_strategy=strategies.offence,
        defence_strategy=strategies.defence,
        choices=strategies.choices,
    )
    game = FootballStrategy(chart, "points", RULESET, kickoff_value=points.kickoff)
    table = compile_game(game)
    # Player 1, who kicks off, keeps to the strategies; then player 0 does, and kicks to its answer.
    translated = FootballTable.of(table, game)
    for kick in (0, 1):
        receiving = best_response(table, translated.policy(strategies, 1, kick=kick)).value
        assert receiving >= found.receiving - 1e-8
    assert min(
        best_response(table, translated.policy(strategies, 1, kick=kick)).value for kick in (0, 1)
    ) == pytest.approx(found.receiving, abs=1e-8)
    assert -best_response(table, translated.policy(strategies, 0)).value == pytest.approx(
        found.kicking, abs=1e-8
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_gained_against_the_equilibrium(seed: int) -> None:
    rules = rules_of(random_chart(seed))
    solution = solve_points(rules)
    points = solution.expected_points(rules)
    attack = best_response_drive(rules, points, defence_strategy=solution.defence_strategy)
    defend = best_response_drive(rules, points, offence_strategy=solution.offence_strategy)
    assert attack.values == pytest.approx(solution.values, abs=1e-8)
    assert defend.values == pytest.approx(solution.values, abs=1e-8)
    both = best_response_points(
        rules,
        points,
        offence_strategy=solution.offence_strategy,
        defence_strategy=solution.defence_strategy,
    )
    assert both.attacking == pytest.approx(solution.values, abs=1e-8)
    assert both.defending == pytest.approx(-solution.values, abs=1e-8)
    assert both.receiving == pytest.approx(solution.kickoff_value, abs=1e-8)
    assert both.kicking == pytest.approx(-solution.kickoff_value, abs=1e-8)


def test_a_predictable_defence_that_fouls_at_its_goal_can_be_kept_there_for_ever() -> None:
    chart = Chart.from_codes("fouls", [["off1"], ["1"]], ["punt4"], ["punt6"])
    rules = rules_of(chart)
    certain = np.ones((rules.n_situations, 1))
    with pytest.raises(ImproperGameError, match="play need not end"):
        best_response_drive(rules, reduced("drive", chart).loaded_points, defence_strategy=certain)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give one of the two"),
        ({"offence_strategy": np.zeros((3, 3))}, r"offence_strategy has shape \(3, 3\)"),
        ({"defence_strategy": "half"}, "defence_strategy of situation 0 is no distribution"),
        ({"defence_strategy": "one", "choices": np.full((1, 1), 0.5)}, "choices has shape"),
    ],
)
def test_strategies_that_are_none_are_refused(given: dict[str, Any], message: str) -> None:
    game = reduced("drive", random_chart(0))
    rules = rules_of(game.loaded_chart)
    whole = np.full((rules.n_situations, 3), 1 / 3)
    named = {"half": whole / 2, "one": whole}
    given = {
        name: named[strategy] if isinstance(strategy, str) else strategy
        for name, strategy in given.items()
    }
    with pytest.raises(ValueError, match=message):
        best_response_drive(rules, game.loaded_points, **given)


def test_a_long_chain_settles_at_its_value() -> None:
    # From place 0 one goes on to 1 nearly always and then back; the rest of the time 3 is paid.
    on = 1 - 1e-4
    chain = SituationChain(
        place=np.array([0, 1]),
        start=np.array([0, 1, 2]),
        target=np.array([1, 0]),
        weight=np.array([on, on]),
        constant=np.array([3 * (1 - on), 1 - on]),
    )
    view = np.zeros((4, 2))
    assert settle(chain, view, False, 1e-13, 20_000) <= 1e-13
    expected = np.linalg.solve([[1, -on], [-on, 1]], chain.constant)
    assert view[:2, 0] == pytest.approx(expected, rel=1e-9)


def test_an_endless_chain_does_not_settle() -> None:
    chain = SituationChain(
        np.array([0]), np.array([0, 1]), np.array([0]), np.array([1.0]), np.array([1.0])
    )
    assert settle(chain, np.zeros((2, 2)), False, 0.5, 20_000) > 0.5
