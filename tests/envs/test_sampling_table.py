"""The sampler's arrays say the same as the game's table."""

from __future__ import annotations

import gc
import weakref
from bisect import bisect_right
from dataclasses import replace

import numpy as np
import pytest
from random_tables import random_table

from solvent.envs.random_stream import DRAWS
from solvent.envs.sampling_table import sampling_table
from solvent.games import FightingFantasy, Pig
from solvent.model import TabularGame, TabularPolicy, against, compile_game, legal_action_table

SEEDS = range(20)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_action_has_the_outcomes_of_the_row_that_it_plays(seed: int, player: int) -> None:
    game = random_table(seed, player)
    table = sampling_table(game, player, "index")
    played = legal_action_table(game.mask[player])
    sign = 1 if player == 0 else -1
    for state in np.flatnonzero(~game.terminal):
        for action in range(played.shape[1]):
            joint = [0, 0]
            joint[player] = int(played[state, action])
            row = game.row(int(state), (joint[0], joint[1]))
            theirs = slice(game.outcome_start[row], game.outcome_start[row + 1])
            positive = game.probability[theirs] > 0

            first, last = table.span[state, action].tolist()
            assert (first < 0) == (not game.mask[player][state, action])
            ours = slice(max(first, ~first), last + 1)
            assert (table.next_state[ours] == game.next_state[theirs][positive]).all()
            assert (table.probability[ours] == game.probability[theirs][positive]).all()
            assert (table.reward[ours] == sign * game.outcome_reward[theirs][positive]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_thresholds_cut_the_draws_in_proportion_to_the_probabilities(seed: int) -> None:
    table = sampling_table(random_table(seed), 0, "index")
    spans = {(max(f, ~f), last) for f, last in table.span.reshape(-1, 2).tolist()}
    for first, last in spans:
        threshold = table.threshold[first : last + 1]
        assert threshold[-1] == DRAWS
        shares = np.diff(threshold, prepend=0)
        assert (shares > 0).all()
        np.testing.assert_allclose(
            shares / DRAWS, table.probability[first : last + 1], rtol=0, atol=3e-16 * len(shares)
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_where_play_has_ended_every_action_leads_to_the_start(seed: int) -> None:
    game = random_table(seed)
    table = sampling_table(game, 0, "index")
    starts = slice(table.start, len(table.threshold))
    assert (table.span[game.terminal] == [table.start, len(table.threshold) - 1]).all()
    assert (table.next_state[starts] == np.flatnonzero(game.initial)).all()
    assert (table.probability[starts] == game.initial[game.initial > 0]).all()
    assert (table.reward[starts] == 0).all()
    assert (table.mask[game.terminal] == 1).all()


def test_the_guide_never_points_beyond_the_outcome_that_a_draw_picks() -> None:
    game = compile_game(FightingFantasy(stamina=(1, 5), luck={0: 0.5, 1: 0.25, 3: 0.125, 2: 1e-9}))
    table = sampling_table(game, 0, "index")
    shift = (DRAWS // len(table.guide)).bit_length() - 1
    edges = table.threshold[table.start :]
    rng = np.random.default_rng(0)
    draws = np.concatenate((edges[:-1], edges - 1, rng.integers(0, DRAWS, 1000)))
    for draw in draws.tolist():
        picked = bisect_right(table.threshold, draw, table.start)
        assert table.start <= table.guide[draw >> shift] <= picked


@pytest.mark.parametrize(
    "game",
    [*map(random_table, SEEDS), compile_game(FightingFantasy(stamina=(1, 5), luck=(0, 3)))],
    ids=lambda game: game.info.name,
)
def test_packed_cells_lead_where_the_spans_do_at_every_edge(game: TabularGame) -> None:
    table = sampling_table(game, 0, "index")
    packed = table.packed
    longest = np.bincount(game.outcome_row[game.probability > 0]).max()
    assert packed.guided == (len(table.threshold) - table.start > max(longest, 4))
    for cell, (first, last) in zip(
        packed.cell.ravel().tolist(), table.span.reshape(-1, 2).tolist(), strict=True
    ):
        assert cell >> 31 & 1 == (first < 0)
        cut, places = cell >> 32 & (1 << 27) - 1, 1 << (cell >> 59)
        if packed.guided and max(first, ~first) == table.start:
            assert cut == 0
            continue
        assert cut > 0
        assert places <= 1 << packed.depth
        edges = table.threshold[max(first, ~first) : last + 1]
        for draw in {0, *(edges[:-1] - 1).tolist(), *edges[:-1].tolist(), DRAWS - 1}:
            outcome = bisect_right(table.threshold, draw, max(first, ~first), last)
            place = bisect_right(packed.threshold, draw, cut, cut + places) - cut
            target = int(packed.to[(cell & (1 << 31) - 1) + place])
            assert packed.reward[target >> packed.shift] == table.reward[outcome]
            state = (target & (1 << packed.shift) - 1) >> 1
            assert state == table.next_state[outcome]
            assert target & 1 == table.terminal[state]


def test_equal_distributions_share_their_thresholds() -> None:
    game = compile_game(FightingFantasy(skill_difference=(-3, 3), luck=(0, 2)))
    table = sampling_table(game, 0, "index")
    spans = [slice(max(f, ~f), last + 1) for f, last in table.span.reshape(-1, 2).tolist()]
    different = {tuple(table.probability[s].tolist()) for s in spans if s.start < table.start}
    # Each fills 4 places, behind one that belongs to none.
    assert len(table.packed.threshold) == 1 + 4 * len(different) < len(spans) / 10
    assert table.packed.to.dtype == np.uint32


def test_a_table_is_built_once_and_dropped_with_its_game() -> None:
    game = random_table(0)
    assert sampling_table(game, 0, "index") is sampling_table(game, 0, "index")
    assert sampling_table(game, 0, "index") is not sampling_table(game, 0, "vector")
    watch = weakref.ref(sampling_table(game, 0, "vector"))
    del game
    gc.collect()
    assert watch() is None


def test_a_player_with_an_opponent_who_chooses_is_refused() -> None:
    pig = compile_game(Pig(target=5))
    for player in (0, 1):
        with pytest.raises(ValueError, match=f"player {1 - player} of pig has a choice in state"):
            sampling_table(pig, player, "vector")
        folded = against(pig, TabularPolicy.uniform(pig, player=1 - player))
        assert sampling_table(folded, player, "vector").mask.shape == (pig.n_states, 2)


@pytest.mark.parametrize(
    ("player", "observation", "message"),
    [
        (2, "index", "player is 2; allowed are whole numbers from 0 to 1"),
        (0, "pixels", "observation is 'pixels'; allowed are index, onehot, vector"),
        (0, "vector", "has no observations for player 0; observation='index' needs none"),
    ],
)
def test_bad_arguments(player: int, observation: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sampling_table(replace(random_table(1), observation=()), player, observation)


def test_a_game_that_may_begin_at_its_end_is_refused() -> None:
    game = random_table(1)
    initial = np.where(game.terminal, 1.0, 0.0) / game.terminal.sum()
    with pytest.raises(ValueError, match="where the episode has ended"):
        sampling_table(replace(game, initial=initial), 0, "index")
