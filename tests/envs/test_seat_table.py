"""The table of a seat says what the game says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_games import RandomGame
from two_players import random_policy

from solvent.envs.opponents import opponent_pool
from solvent.envs.random_stream import DRAWS
from solvent.envs.seat_table import LEARNER, NOBODY, OPPONENT, SeatTable, place_of, seat_table
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import TabularGame, compile_game, one_hot

GAMES = {
    "greed": compile_game(Greed(8, 3)),
    "pig": compile_game(Pig(7)),
    "simultaneous": compile_game(RandomGame(1, "simultaneous", cyclic=True)),
    "alternating": compile_game(RandomGame(2, "alternating", cyclic=False)),
}


def row_of(table: SeatTable, at: int, own_rank: int, other_rank: int) -> int:
    first, own, other, *_ = table.node[at].tolist()
    return first + own_rank * own + other_rank * other


@pytest.mark.parametrize("name", GAMES)
def test_every_joint_action_leads_to_its_row(name: str) -> None:
    game = GAMES[name]
    table = seat_table(game, (0, 1), "index")
    for view, seat in enumerate(table.seats):
        for state in np.flatnonzero(~game.terminal).tolist():
            at = view * game.n_states + state
            for action in range(table.mask.shape[1]):
                legal = bool(game.mask[seat][state, action])
                rank = int(table.rank[at, action])
                assert (rank >= 0) is legal is bool(table.mask[at, action])
                if not legal:
                    continue
                others = np.flatnonzero(game.mask[1 - seat][state]).tolist()
                assert table.node[at, 4] == len(others)
                for number, other in enumerate(others):
                    joint = (action, other) if seat == 0 else (other, action)
                    assert row_of(table, at, rank, number) == game.row(state, joint)


@pytest.mark.parametrize("name", GAMES)
def test_rows_have_their_outcomes_and_probabilities(name: str) -> None:
    game = GAMES[name]
    table = seat_table(game, (1,), "index")
    for row, packed in enumerate(table.row.tolist()):
        entry, cut, places = place_of(packed)
        first = int(game.outcome_start[row])
        count = int(game.outcome_start[row + 1]) - first
        for k in range(count):
            meant = game.next_state.item(first + k), game.outcome_reward.item(first + k)
            assert table.outcome(entry + k) == meant
        assert count <= places
        # No draw reaches the places that are left over.
        assert (table.threshold[cut + count - 1 : cut + places] == DRAWS).all()
        threshold = table.threshold[cut : cut + count]
        np.testing.assert_allclose(
            np.diff(threshold, prepend=0) / DRAWS,
            game.probability[first : first + count],
            rtol=0,
            atol=1e-15,
        )
        assert threshold[-1] == DRAWS


def test_equal_distributions_and_equal_certain_outcomes_are_stored_once() -> None:
    game = compile_game(Greed(40, 6))
    table = seat_table(game, (0,), "vector")
    assert len(table.threshold) < len(game.next_state) / 50
    length = np.diff(game.outcome_start)
    certain = game.outcome_start[:-1][length == 1]
    ways = set(zip(game.next_state[certain], game.outcome_reward[certain], strict=True))
    assert len(table.to) == len(ways) + length[length > 1].sum() < len(game.next_state)
    both = seat_table(game, (0, 1), "vector")
    assert both.threshold is table.threshold
    assert seat_table(game, (0, 1), "vector") is both


@pytest.mark.parametrize("name", ["greed", "pig"])
def test_who_is_to_act_in_turns(name: str) -> None:
    game = GAMES[name]
    table = seat_table(game, (0, 1), "index")
    actor = table.node[:, 5].reshape(2, -1)
    for view in (0, 1):
        assert ((actor[view] == NOBODY) == game.terminal).all()
        assert ((actor[view] == LEARNER) == game.on_turn(view)).all()
        assert ((actor[view] == OPPONENT) == game.on_turn(1 - view)).all()


def test_who_is_to_act_at_once() -> None:
    game = GAMES["simultaneous"]
    actor = seat_table(game, (1,), "index").node[:, 5]
    assert (actor == np.where(game.terminal, NOBODY, LEARNER)).all()


@pytest.mark.parametrize(
    ("game", "bonus"),
    [(Greed(3, 2), 1.0), (Pig(3), 1.0), (Pig(3, signed=True), 0.0)],
)
def test_what_a_play_pays_lies_in_one_range_from_either_seat(
    game: Greed | Pig, bonus: float
) -> None:
    table = seat_table(compile_game(game), (0, 1), "vector")
    assert table.sign.tolist() == [1, -1]
    assert table.bonus.tolist() == [0, bonus]


def test_masks_and_observations_are_those_of_the_seat() -> None:
    game = GAMES["greed"]
    both = seat_table(game, (0, 1), "vector")
    for seat in (0, 1):
        one = seat_table(game, (seat,), "vector")
        part = slice(seat * game.n_states, (seat + 1) * game.n_states)
        assert (one.observation == game.observation[seat]).all()
        assert (both.observation[part] == one.observation).all()
        assert (one.mask == (game.mask[seat] | game.terminal[:, None])).all()
        assert (both.mask[part] == one.mask).all()


def test_players_share_the_encoding_of_equal_observations() -> None:
    game = GAMES["greed"]
    only_0_sees_this = game.observation[0].copy()
    only_0_sees_this[0, 1] = 0.123
    skewed = replace(game, observation=(only_0_sees_this, game.observation[1]))
    first, second = one_hot(skewed).observation
    assert first.shape == second.shape
    values = [np.unique(np.concatenate(skewed.observation)[:, column]) for column in range(5)]
    for encoded, seen in ((first, skewed.observation[0]), (second, skewed.observation[1])):
        meant = np.concatenate([seen[:, [c]] == values[c] for c in range(5)], axis=1)
        assert (encoded == meant).all()


@pytest.mark.parametrize("name", GAMES)
def test_a_pool_holds_the_probabilities_of_its_policies(name: str) -> None:
    game = GAMES[name]
    table = seat_table(game, (0, 1), "index")
    policies = [tuple(random_policy(game, p, 10 * k + p) for p in (0, 1)) for k in range(3)]
    pool = opponent_pool(game, table, policies, [1, 2, 5])
    np.testing.assert_allclose(pool.weight / DRAWS, [1 / 8, 3 / 8, 1], rtol=0, atol=1e-15)
    assert pool.policy.shape == (3, table.choices)
    for k, pair in enumerate(policies):
        for view, seat in enumerate(table.seats):
            other = 1 - seat
            for state in np.flatnonzero(~game.terminal).tolist():
                _, _, _, first, count, _ = table.node[view * game.n_states + state].tolist()
                chance = np.diff(pool.policy[k, first : first + count], prepend=0) / DRAWS
                wanted = pair[other].probabilities[state, game.mask[other][state]]
                np.testing.assert_allclose(chance, wanted, rtol=0, atol=1e-15)
                assert (chance[wanted == 0] == 0).all()


def uneven(game: TabularGame) -> TabularGame:
    wider = np.concatenate((game.mask[1], np.zeros((game.n_states, 1), bool)), axis=1)
    return replace(game, mask=(game.mask[0], wider))


def test_games_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"ff-combat is a game for one; .*TabularEnv plays it"):
        seat_table(compile_game(FightingFantasy(stamina=2)), (0,), "vector")
    with pytest.raises(ValueError, match="seats of greed have 5 and 6 actions; one learner"):
        seat_table(uneven(GAMES["greed"]), (0, 1), "vector")
    seat_table(uneven(GAMES["greed"]), (1,), "vector")
    ends = GAMES["greed"].terminal
    begun_over = replace(GAMES["greed"], initial=ends / ends.sum())
    with pytest.raises(ValueError, match=r"greed may begin in .*, where the episode has ended"):
        seat_table(begun_over, (0,), "vector")
