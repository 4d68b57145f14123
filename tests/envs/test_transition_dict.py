"""The model as Gymnasium's toy-text environments publish it."""

from __future__ import annotations

import numpy as np
import pytest
from random_tables import random_table

from solvent.envs import TabularEnv
from solvent.exact import solve
from solvent.games import FightingFantasy, Pig
from solvent.model import GymnasiumTable, TabularPolicy, against, compile_game

COMBAT = FightingFantasy(stamina=5, opponent_stamina=4, luck=2)


def test_it_has_the_shape_of_toy_text() -> None:
    env = TabularEnv(COMBAT)
    game = env.game
    assert len(env.P) == game.n_states == len(list(env.P))
    for state in env.P:
        assert list(env.P[state]) == [0, 1]
        for branches in env.P[state].values():
            assert sum(p for p, *_ in branches) == pytest.approx(1, abs=1e-15)
            for probability, target, reward, over in branches:
                kinds = tuple(map(type, (probability, target, reward, over)))
                assert kinds == (float, int, float, bool)
                assert over == game.terminal[target]


def test_an_ended_play_stays_where_it_is() -> None:
    env = TabularEnv(COMBAT)
    for state in np.flatnonzero(env.game.terminal).tolist():
        assert env.P[state] == {action: [(1.0, state, 0.0, True)] for action in (0, 1)}


def test_an_illegal_action_has_the_branches_of_the_one_that_is_played() -> None:
    env = TabularEnv(COMBAT)
    game = env.game
    illegal = np.flatnonzero(~game.mask[0][:, 1] & ~game.terminal)
    assert len(illegal)
    for state in illegal.tolist():
        assert env.P[state][1] == env.P[state][0]


def test_a_state_that_there_is_not() -> None:
    P = TabularEnv(COMBAT).P
    assert -1 not in P
    with pytest.raises(KeyError):
        P[len(P)]


def test_textbook_value_iteration_on_it_finds_the_solvers_value() -> None:
    env = TabularEnv(COMBAT)
    values = np.zeros(len(env.P))
    while True:
        new = np.array(
            [
                max(
                    sum(
                        p * (reward + (0 if over else values[t])) for p, t, reward, over in branches
                    )
                    for branches in env.P[state].values()
                )
                for state in env.P
            ]
        )
        if (new == values).all():
            break
        values = new
    assert env.initial_state_distrib @ values == pytest.approx(solve(env.game).value, abs=1e-12)


def test_read_back_as_a_game_it_has_the_same_value() -> None:
    pig = compile_game(Pig(target=8))
    folded = against(pig, TabularPolicy.uniform(pig, player=1))
    for game in (compile_game(COMBAT), folded, random_table(3)):
        env = TabularEnv(game, observation="index")
        again = compile_game(GymnasiumTable.from_env(env, "again"))
        assert solve(again).value == pytest.approx(solve(game).value, abs=1e-6)


def test_player_1_reads_the_negative_rewards() -> None:
    game = random_table(4, player=1)
    env = TabularEnv(game, player=1, observation="index")
    rewards = {r for s in env.P for a in env.P[s] for _, _, r, _ in env.P[s][a] if r}
    positive = game.outcome_reward[game.probability > 0]
    assert rewards == set((-positive).tolist())
