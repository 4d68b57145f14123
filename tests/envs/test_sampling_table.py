"""The sampler's arrays say the same as the game's table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_games import RandomGame
from random_tables import random_table
from scipy import stats

from solvent.envs.sampling import (
    DRAWS,
    RandomStream,
    first_state,
    outcome_table,
    place_of,
    table_for_one,
    table_for_two,
)
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import TabularGame, TabularPolicy, against, compile_game

FOR_TWO = {
    "greed": compile_game(Greed(8, 3)),
    "pig": compile_game(Pig(7)),
    "simultaneous": compile_game(RandomGame(1, "simultaneous", cyclic=True)),
    "alternating": compile_game(RandomGame(2, "alternating", cyclic=False)),
}
MANY_STARTS = compile_game(FightingFantasy(stamina=(1, 5), luck={0: 0.5, 1: 0.25, 3: 1e-9}))
GAMES = [*FOR_TWO.values(), *map(random_table, range(10)), MANY_STARTS]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.info.name)
def test_rows_have_their_outcomes_and_probabilities(game: TabularGame) -> None:
    table, starts = outcome_table(game), np.flatnonzero(game.initial)
    assert len(table.row) == game.n_rows + 1
    first = [*game.outcome_start.tolist(), len(game.probability) + len(starts)]
    state = np.concatenate((game.next_state, starts))
    probability = np.concatenate((game.probability, game.initial[starts]))
    reward = np.concatenate((game.outcome_reward, np.zeros(len(starts))))
    for packed, begin, end in zip(table.row.tolist(), first, first[1:], strict=False):
        entry, cut, places = place_of(packed)
        assert end - begin <= places
        assert cut > 0
        for k in range(end - begin):
            assert table.outcome(entry + k) == (state[begin + k], reward[begin + k])
            assert table.to.item(entry + k) & 1 == game.terminal[state[begin + k]]
        edges = table.threshold[cut : cut + places]
        # No draw reaches the places that are left over.
        assert (edges[end - begin - 1 :] == DRAWS).all()
        shares = np.diff(edges[: end - begin], prepend=0)
        wanted = probability[begin:end]
        assert ((shares > 0) == (wanted > 0)).all()
        np.testing.assert_allclose(shares / DRAWS, wanted, rtol=0, atol=3e-16 * len(shares))


def test_games_that_do_not_fit_are_refused() -> None:
    greed, pig = FOR_TWO["greed"], FOR_TWO["pig"]
    wider = np.concatenate((greed.mask[1], np.zeros((greed.n_states, 1), bool)), axis=1)
    uneven = replace(greed, mask=(greed.mask[0], wider))
    table_for_two(uneven, (1,), "vector")
    begun_over = replace(greed, initial=greed.terminal / greed.terminal.sum())
    blind = replace(random_table(1), observation=())
    for refused, message in (
        (lambda: table_for_two(MANY_STARTS, (0,), "vector"), r"game for one; it has no opponents"),
        (lambda: table_for_two(uneven, (0, 1), "vector"), "greed have 5 and 6 actions; one learn"),
        (lambda: outcome_table(begun_over), r"greed may begin in .*, where the episode has ended"),
        (lambda: table_for_one(pig, 0, "vector"), "player 1 of pig has a choice in state"),
        (lambda: table_for_one(pig, 1, "vector"), "player 0 of pig has a choice in state"),
        (lambda: table_for_one(blind, 2, "index"), "player is 2; allowed are whole numbers from 0"),
        (lambda: table_for_one(blind, 0, "pixels"), "observation is 'pixels'; allowed are index"),
        (lambda: table_for_one(blind, 0, "vector"), "has no observations for player 0; obs"),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
    for player in (0, 1):
        folded = against(pig, TabularPolicy.uniform(pig, player=1 - player))
        assert table_for_one(folded, player, "vector").mask.shape == (pig.n_states, 2)


# The stream: the recursion, its full period, its uniformity, and its compiled twin


def test_the_first_states_from_1() -> None:
    # By hand: 1 -> 1 + 2^13 -> that xor 2^6 -> that xor itself times 2^17.
    stream = RandomStream(1)
    assert stream.draw() == 1082269761 >> 11
    assert stream.state == (2**13 + 2**6 + 1) ^ ((2**13 + 2**6 + 1) << 17) == 1082269761


def test_draws_are_uniform_across_neighbouring_seeds() -> None:
    streams = [RandomStream(first_state(np.random.default_rng(seed))) for seed in range(8000)]
    for _ in range(3):
        cells = np.array([stream.draw() * 50 // DRAWS for stream in streams])
        assert stats.chisquare(np.bincount(cells, minlength=50)).pvalue > 1e-3
        pairs = cells[:-1] // 5 * 10 + cells[1:] // 5
        assert stats.chisquare(np.bincount(pairs, minlength=100)).pvalue > 1e-3
