"""Tables and policies: compiled from rules, folded, restricted, encoded, made legal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import (
    Outcome,
    TabularPolicy,
    TooManyStatesError,
    against,
    compile_game,
    legal_action_table,
    one_hot,
    project,
    reachable,
)


@pytest.fixture(scope="module")
def pig() -> Any:
    return compile_game(Pig(target=8, sides=4))


def test_a_row_is_a_state_and_a_legal_joint_action(pig: Any) -> None:
    game = Pig(target=8, sides=4)
    for s, state in enumerate(pig.states):
        rows = range(pig.row_start[s], pig.row_start[s + 1])
        if game.is_terminal(state):
            assert len(rows) == 0
            continue
        joint = [(a, b) for a in game.legal_actions(state)[0] for b in game.legal_actions(state)[1]]
        assert [tuple(int(x[k]) for x in pig.row_action) for k in rows] == joint
        assert [pig.row(s, pair) for pair in joint] == list(rows)
        for k, pair in zip(rows, joint, strict=True):
            outcomes = game.transition(state, pair)
            branch = slice(pig.outcome_start[k], pig.outcome_start[k + 1])
            assert [pig.states[i] for i in pig.next_state[branch]] == [o.state for o in outcomes]
            assert pig.reward[k] == pytest.approx(
                float(sum(o.probability * o.reward for o in outcomes))
            )


def test_an_illegal_action_has_no_row(pig: Any) -> None:
    start = int(np.argmax(pig.initial))
    with pytest.raises(ValueError, match=r"action 1 of player 0 is not legal .* legal are \[0\]"):
        pig.row(start, (1, 0))


def test_too_many_states_are_refused() -> None:
    with pytest.raises(TooManyStatesError, match="more than 10 states"):
        compile_game(Pig(target=8), max_states=10)


def test_the_hash_names_dynamics_and_start_but_not_observations() -> None:
    game = FightingFantasy(stamina=4, opponent_stamina=4, luck=3)
    table = compile_game(game)
    assert table.model_hash == compile_game(game).model_hash == one_hot(table).model_hash
    for other in (
        FightingFantasy(stamina=4, opponent_stamina=4, luck=3, damage="three"),
        FightingFantasy(stamina=4, opponent_stamina=4, luck=3, luck_above=1),
        FightingFantasy(stamina=[3, 4], opponent_stamina=4, luck=3),
    ):
        assert compile_game(other).model_hash != table.model_hash


def test_folding_a_player_averages_its_rows(pig: Any) -> None:
    rng = np.random.default_rng(1)
    weights = rng.random(pig.mask[1].shape) * pig.mask[1]
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    policy = TabularPolicy.of(pig, weights, player=1)
    folded = against(pig, policy)
    assert (folded.action_count[1] <= 1).all()
    assert (folded.mask[0] == pig.mask[0]).all()
    values = rng.random(pig.n_states)
    before, after = pig.expectation(values), folded.expectation(values)
    for s in range(pig.n_states):
        rows = before[pig.row_start[s] : pig.row_start[s + 1]]
        grid = rows.reshape(pig.action_count[0][s], pig.action_count[1][s])
        expected = grid @ weights[s][pig.mask[1][s]]
        got = after[folded.row_start[s] : folded.row_start[s + 1]]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


def test_folding_the_other_seat_keeps_the_first_players_choice(pig: Any) -> None:
    folded = against(pig, TabularPolicy.uniform(pig, player=0))
    assert (folded.action_count[0] <= 1).all()
    assert (folded.mask[1] == pig.mask[1]).all()
    sums = np.bincount(folded.outcome_row, folded.probability)
    np.testing.assert_allclose(sums, 1, atol=1e-15)


def test_reachable_states_keep_their_meaning() -> None:
    wide = compile_game(FightingFantasy(stamina=[1, 5], opponent_stamina=[1, 5], luck=[0, 3]))
    start = wide.index[next(s for s in wide.states if s.hero == 5 and s.round == "won")]
    initial = np.zeros(wide.n_states)
    initial[start] = 1
    from dataclasses import replace

    narrow = reachable(replace(wide, initial=initial))
    assert 0 < narrow.n_states < wide.n_states
    values = {state: hash(state) % 997 / 997 for state in wide.states}
    wide_q = wide.expectation(np.array([values[s] for s in wide.states]))
    narrow_q = narrow.expectation(np.array([values[s] for s in narrow.states]))
    for s, state in enumerate(narrow.states):
        t = wide.index[state]
        np.testing.assert_array_equal(
            narrow_q[narrow.row_start[s] : narrow.row_start[s + 1]],
            wide_q[wide.row_start[t] : wide.row_start[t + 1]],
        )


def test_one_hot_is_injective_and_binary() -> None:
    table = compile_game(FightingFantasy(stamina=4, opponent_stamina=5, luck=3))
    (encoded,) = one_hot(table).observation
    # hero 0-4, opponent 0-5, luck 0-3, three kinds of round; the difference never changes.
    assert encoded.shape == (table.n_states, 5 + 6 + 4 + 3)
    assert set(np.unique(encoded)) == {0.0, 1.0}
    assert (encoded.sum(axis=1) == 4).all()
    assert len(np.unique(encoded, axis=0)) == table.n_states


masks = hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 5)))


@given(masks, st.integers(0, 2**32 - 1))
def test_projection_is_what_an_environment_plays(mask: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chosen = rng.dirichlet(np.ones(mask.shape[1]), size=len(mask))
    played = legal_action_table(mask)
    expected = np.zeros(mask.shape)
    for s, a in np.ndindex(mask.shape):
        if played[s, a] >= 0:
            expected[s, played[s, a]] += chosen[s, a]
    projected = project(chosen, mask)
    np.testing.assert_allclose(projected, expected, atol=1e-12)
    assert (projected[~mask] == 0).all()
    np.testing.assert_allclose(projected.sum(axis=1), mask.any(axis=1), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[:, :1], "shape"),
        (lambda p: np.where(p > 0, np.nan, p), "not a number"),
        (lambda p: p * 0.9, "does not sum to 1"),
        (lambda p: np.roll(p, 1, axis=1), "illegal action"),
        (lambda p: p - 0.5, "negative"),
    ],
)
def test_a_wrong_policy_is_refused(pig: Any, change: Any, message: str) -> None:
    right = TabularPolicy.deterministic(pig, np.zeros(pig.n_states, np.int64)).probabilities
    with pytest.raises(ValueError, match=message):
        TabularPolicy.of(pig, change(right))


def test_the_mode_of_a_policy_takes_the_lowest_of_equal_actions(pig: Any) -> None:
    mode = TabularPolicy.uniform(pig).mode().probabilities
    live = ~pig.terminal
    assert (mode[live].argmax(axis=1) == 0).all()
    assert (mode[live].max(axis=1) == 1).all()


def test_the_mode_of_a_policy_takes_the_most_probable_action(pig: Any) -> None:
    rng = np.random.default_rng(2)
    chances = rng.random(pig.mask[0].shape) * pig.mask[0]
    chances /= np.where(pig.terminal, 1, chances.sum(axis=1))[:, None]
    policy = TabularPolicy.of(pig, chances)
    mode = policy.mode()
    for s in np.flatnonzero(~pig.terminal):
        [taken] = np.flatnonzero(mode.probabilities[s])
        assert mode.probabilities[s, taken] == 1
        assert chances[s, taken] == chances[s].max()
    # Somewhere it is not the first that is possible.
    assert (mode.probabilities[:, 1] > 0)[chances[:, 0] > 0].any()
    assert mode.player == policy.player


@pytest.mark.parametrize(
    ("game", "answer"),
    [
        (Pig(target=4), True),
        (FightingFantasy(stamina=2, opponent_stamina=2, luck=0), True),
        (Pig(target=4, signed=True), False),
        # A tie is worth one half to both.
        (Greed(limit=3, sides=2), False),
    ],
    ids=repr,
)
def test_a_value_is_a_probability_where_a_play_is_won_or_lost(game: Any, answer: bool) -> None:
    assert compile_game(game).win_or_lose is answer


def test_a_reward_of_1_on_every_move_makes_no_probability(pig: Any) -> None:
    from dataclasses import replace

    paid = replace(pig, info=replace(pig.info, reward_range=(0.0, 9.0)))
    assert pig.win_or_lose
    assert not paid.win_or_lose


def test_a_policy_knows_which_game_it_is_for(pig: Any) -> None:
    other = compile_game(Pig(target=7, sides=4))
    with pytest.raises(ValueError, match="was made for the model"):
        against(pig, TabularPolicy.uniform(other, player=1))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (lambda p: np.full(p.n_states, -1), "takes action -1 in state"),
        (lambda p: np.full(p.n_states, 2), "takes action 2 in state .* there are 2"),
        (lambda p: np.zeros(p.n_states), "whole numbers"),
        (lambda p: np.zeros(3, int), "whole numbers"),
    ],
)
def test_actions_that_do_not_exist_are_refused(pig: Any, actions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TabularPolicy.deterministic(pig, actions(pig))


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("next_state", lambda x: np.where(np.arange(len(x)) == 5, -1, x), "next_state leaves"),
        ("next_state", lambda x: x.astype(float), "expected whole numbers"),
        (
            "probability",
            lambda x: np.where(np.arange(len(x)) == 5, np.nan, x),
            "probability is nan",
        ),
        ("probability", lambda x: -x, r"state .*, action \(0, 0\): a probability is -0.25"),
        ("initial", lambda x: x[1:], "initial has shape"),
        ("row_start", lambda x: np.append(x[:-1], x[-1] + 1), "row_start ends at"),
        ("row_start", lambda x: np.where(np.arange(len(x)) == 1, -1, x), "row_start does not asc"),
        (
            "probability",
            lambda x: x / 2,
            r"pig: state Turn\(.*\), action \(0, 0\): probabilities sum to 0.5, not 1",
        ),
        ("probability", lambda x: x * 1.001, "probabilities sum to 1.00"),
        ("initial", lambda x: x / 2, "probabilities of the start .* sum to 0.5"),
        ("initial", lambda x: x * 1.001, "probabilities of the start"),
        ("initial", lambda x: np.append([2.0, -1.0], x[2:]), "probabilities of the start"),
        ("initial", lambda x: x * np.nan, "probabilities of the start"),
        (
            "outcome_reward",
            lambda x: np.where(np.arange(len(x)) == 5, np.nan, x),
            r"state Turn\(.*\), action \(0, 0\): a reward is nan; allowed are finite",
        ),
        (
            "outcome_reward",
            lambda x: np.where(np.arange(len(x)) == 5, -np.inf, x),
            "reward is -inf",
        ),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(
    pig: Any, field: str, change: Any, message: str
) -> None:
    from dataclasses import replace

    with pytest.raises(ValueError, match=message):
        replace(pig, **{field: change(getattr(pig, field))})


def test_what_cannot_happen_is_no_outcome(pig: Any) -> None:
    """A table with outcomes of probability 0 is the table without them, hash and all."""
    from dataclasses import replace

    # One more at the end of the first row, and one at the end of the last.
    place = np.array([pig.outcome_start[1], pig.outcome_start[-1]])
    padded = replace(
        pig,
        outcome_start=pig.outcome_start + np.searchsorted(place, pig.outcome_start, side="right"),
        next_state=np.insert(pig.next_state, place, 0),
        probability=np.insert(pig.probability, place, 0.0),
        outcome_reward=np.insert(pig.outcome_reward, place, 1e9),
    )
    for name in ("outcome_start", "next_state", "probability", "outcome_reward"):
        assert np.array_equal(getattr(padded, name), getattr(pig, name)), name
    assert padded.model_hash == pig.model_hash


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(-1, 2)])
def test_compiling_refuses_what_cannot_happen(probability: Fraction) -> None:
    class Impossible(Pig):
        def transition(self, state: Any, joint_action: Any) -> Any:
            after = super().transition(state, joint_action)
            return (*after, Outcome(probability, after[0].state), Outcome(-probability, state))

    message = r"pig: a probability is (0|-1/2) at state Turn\(.*\), action \(0, 0\)"
    with pytest.raises(ValueError, match=message):
        compile_game(Impossible(target=5), reference=True)


def test_a_small_table_of_narrow_types_is_solved_alike(pig: Any) -> None:
    from dataclasses import replace

    from solvent.exact import best_response, solve

    narrow = replace(
        pig,
        next_state=pig.next_state.astype(np.int32),
        outcome_reward=pig.outcome_reward.astype(np.float32),
    )
    wide, same = solve(pig), solve(narrow)
    assert same.value == wide.value
    assert reachable(narrow).n_states == pig.n_states
    policy = TabularPolicy.uniform(narrow, player=1)
    answer = best_response(narrow, policy)
    assert answer.value == best_response(pig, TabularPolicy.uniform(pig, player=1)).value
