"""Strategies by situation and policies by state are the same play."""

from __future__ import annotations

import numpy as np
import pytest
from reduced_football import CHART, reduced

from solvent.exact import best_response
from solvent.games import Pig
from solvent.games.football.position import Position
from solvent.games.football.solver import best_response_drive
from solvent.games.football.solver.table import FootballTable, football_table
from solvent.model import TabularGame, TabularPolicy, compile_game


def table(form: str) -> FootballTable:
    strategy = reduced(form)
    return FootballTable.of(compile_game(strategy), strategy)


def random_policy(game: TabularGame, player: int) -> TabularPolicy:
    weight = np.random.default_rng(player).random(game.mask[player].shape) * game.mask[player]
    total = np.where(game.terminal, 1.0, weight.sum(axis=1))
    return TabularPolicy.of(game, weight / total[:, None], player=player)


@pytest.mark.parametrize("form", ["drive", "points"])
@pytest.mark.parametrize("player", [0, 1])
def test_strategies_made_of_a_policy_make_the_policy(form: str, player: int) -> None:
    football = table(form)
    policy = random_policy(football.game, player)
    again = football.policy(football.strategies(policy), player)
    states = np.array([state.phase != "kickoff" for state in football.game.states])
    np.testing.assert_allclose(
        again.probabilities[states], policy.probabilities[states], atol=1e-15
    )


def test_a_policy_that_kicks_off_does_it_as_told() -> None:
    football = table("points")
    uniform = football.strategies(TabularPolicy.uniform(football.game, player=1))
    kickoff = football.game.states.index(Position("kickoff", 1))
    for kick in (0, 1):
        policy = football.policy(uniform, 1, kick=kick)
        column = football.strategy.actions[1].kick + kick
        assert policy.probabilities[kickoff, column] == 1


@pytest.mark.parametrize("player", [0, 1])
def test_the_kernel_answers_strategies_as_the_general_solver_answers_the_policy(
    player: int,
) -> None:
    football = table("drive")
    policy = random_policy(football.game, player)
    strategies = football.strategies(policy)
    side = "offence_strategy" if player == 0 else "defence_strategy"
    answered = best_response_drive(
        football.rules,
        football.strategy.loaded_points,
        choices=strategies.choices,
        **{side: strategies[player]},
    )
    start = football.situation[int(np.argmax(football.game.initial))]
    value = best_response(football.game, policy).value
    assert answered.values[start] == pytest.approx(value, abs=1e-9)


def test_what_the_table_has_no_state_for_is_uniform() -> None:
    football = table("drive")
    strategies = football.strategies(random_policy(football.game, 0))
    assert (strategies.defence == 1 / CHART.defences).all()


def test_other_tables_are_refused() -> None:
    for game in (compile_game(Pig(5)), compile_game(reduced("play"))):
        with pytest.raises(ValueError, match="no table of Football Strategy's drive or points"):
            football_table(game)


def test_a_chart_that_the_parameters_do_not_name_is_refused() -> None:
    with pytest.raises((ValueError, OSError), match="reduced"):
        football_table(table("drive").game)
