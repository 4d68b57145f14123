"""Tables and policies: compiled from rules, folded, restricted, encoded, made legal."""

import doctest
import gc
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from random_games import RandomGame
from random_tables import legal_actions_played, put
from refusals import assert_refused
from two_players import random_policy

from solvent.exact import best_response, policy_value, solve
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    Expansion,
    GameInfo,
    Outcome,
    Rules,
    TabularPolicy,
    VectorizedGame,
    against,
    check_game,
    compile_game,
    from_arrays,
    merged,
    one_hot,
    project,
    reachable,
    transforms,
    walk,
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
    start, illegal = (
        int(np.argmax(pig.initial)),
        "action 1 of player 0 is not legal .* legal are .0.",
    )
    assert_refused([(start, (1, 0), illegal)], pig.row)


def test_who_is_on_turn_acts_and_without_turns_everybody_does(pig: Any) -> None:
    both = compile_game(RandomGame(3, "simultaneous", cyclic=False))
    for player in (0, 1):
        owned = np.array([state.player == player for state in pig.states]) & ~pig.terminal
        assert pig.on_turn(player).tolist() == owned.tolist()
        assert both.on_turn(player).tolist() == (~both.terminal).tolist()


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


def test_arrays_in_the_shapes_of_other_packages_are_solved_to_their_published_values() -> None:
    """QuantEcon's introduction to DiscreteDP, and the forest of mdptoolbox."""
    rewards, chances = [[5, 10], [-1, -np.inf]], [[[0.5, 0.5], [0, 1]], [[0, 1], [0.5, 0.5]]]
    solved = solve(from_arrays(chances, rewards, discount=0.95, actions_first=False))
    np.testing.assert_allclose(solved.values[:2], [-60 / 7, -20], rtol=1e-9)
    forest = np.array([[[0.1, 0.9, 0], [0.1, 0, 0.9], [0.1, 0, 0.9]], [[1, 0, 0]] * 3])
    felled = np.array([[0, 0], [0, 1], [4, 2]])
    by_target = np.broadcast_to(felled.T[:, :, None], forest.shape)
    for P, R in ((forest, felled), (forest, by_target), (forest.transpose(1, 0, 2), felled)):
        solved = solve(from_arrays(P, R, discount="0.9"))
        np.testing.assert_allclose(solved.values[:3], [26.244, 29.484, 33.484], rtol=1e-9)
    ended = from_arrays(forest, felled, start=[1, 0, 0], terminal=[2])
    assert (ended.terminal.tolist(), ended.initial.tolist()) == ([False, False, True], [1, 0, 0])
    assert ended.observation[0][:3].tolist() == [[0], [0.5], [1]]
    over = from_arrays(np.ones((1, 1, 1)), [0], terminal=[0], actions_first=True)
    assert solve(over).value == 0
    assert doctest.testmod(transforms).failed == 0


def test_the_value_of_an_action_is_its_reward_and_the_value_after_it() -> None:
    P, R = np.array([[[0.25, 0.75], [0, 1]], [[1, 0], [0.5, 0.5]]]), np.array([[1.0, 2], [3, 4]])
    table, values = from_arrays(P, R, actions_first=False), np.array([10.0, 20])
    np.testing.assert_allclose(table.expectation(values), (R + P @ values).ravel())
    np.testing.assert_allclose(table.expectation(values, rewarded=False), (P @ values).ravel())
    assert table.info.observation_labels == ("state",)


def test_arrays_that_do_not_fit_are_refused() -> None:
    cube, flat, R = np.full((2, 2, 2), 0.5), np.full((2, 3, 3), 1 / 3), np.zeros(3)
    sparse = [scipy.sparse.csr_array(action) for action in flat]
    ends = r"terminal is .*; .* indices of states, from 0 to 2"
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (cube, np.zeros((2, 2)), {}, r"\(2, 2, 2\); pass actions_first="),
        (flat[0], R, {}, r"P has shape \(3, 3\); expected \[A, S, S\]"),
        (flat, R[:2], {"actions_first": False}, r"\(2, 3, 3\); expected \[S, A, S\]$"),
        (flat.transpose(1, 0, 2), R, {"actions_first": True}, r"expected \[A, S, S\]$"),
        (flat, np.zeros((2, 3)), {}, r"R has shape \(2, 3\); expected \[3\], \[3, 2\] or"),
        (flat / 2, R, {}, "arrays: state 0, action .0, 0.: probabilities sum to 0.5, not 1"),
        (sparse, R, {}, "P and R have to be arrays of numbers, dense ones"),
        *((flat, R, {"terminal": terminal}, ends) for terminal in ([3], [1.0], 2)),
    ]
    assert_refused(refused, lambda P, rewards, how: from_arrays(P, rewards, **how))


@pytest.mark.parametrize("kind", ["alternating", "simultaneous"])
@pytest.mark.parametrize("player", [0, 1])
def test_outcomes_of_a_folded_row_are_those_of_the_rows_it_was_made_of(
    kind: str, player: int
) -> None:
    """In their order: what is stored under the folded game's hash is the same everywhere."""
    table = compile_game(RandomGame(3, kind, cyclic=True, size=60))
    policy, other = random_policy(table, player, 1), 1 - player
    folded = against(table, policy)
    assert (folded.action_count[player] <= 1).all()
    assert (folded.mask[other] == table.mask[other]).all()
    assert np.array_equal(folded.turn, table.turn)
    for k in range(folded.n_rows):
        s, action = int(folded.row_state[k]), int(folded.row_action[other][k])
        merged = [
            (table.next_state[i], table.outcome_reward[i], share * table.probability[i])
            for row in range(table.row_start[s], table.row_start[s + 1])
            if table.row_action[other][row] == action
            if (share := policy.probabilities[s, table.row_action[player][row]]) > 0
            for i in range(table.outcome_start[row], table.outcome_start[row + 1])
        ]
        span = slice(folded.outcome_start[k], folded.outcome_start[k + 1])
        columns = (folded.next_state, folded.outcome_reward, folded.probability)
        found = np.column_stack([column[span] for column in columns])
        np.testing.assert_allclose(found, merged, rtol=0, atol=1e-15)


def test_reachable_states_keep_their_meaning() -> None:
    wide = compile_game(FightingFantasy(stamina=[1, 5], opponent_stamina=[1, 5], luck=[0, 3]))
    start = wide.index[next(s for s in wide.states if s.hero == 5 and s.round == "won")]
    initial = np.zeros(wide.n_states)
    initial[start] = 1
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


def test_players_who_see_as_much_share_the_inputs_and_others_have_their_own(pig: Any) -> None:
    def seen(*values: tuple[float, ...]) -> np.ndarray:
        column = [np.resize(np.array(v, np.float32), pig.n_states) for v in values]
        return np.column_stack(column)

    first, second = one_hot(replace(pig, observation=(seen((0, 1)), seen((1, 2))))).observation
    # One input each for 0, 1 and 2, to both.
    assert first[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert second[:2].tolist() == [[0, 1, 0], [0, 0, 1]]
    both = one_hot(replace(pig, observation=(seen((0, 1), (5,)), seen((1, 2)))))
    assert [o.shape[1] for o in both.observation] == [2, 2]
    # Who sees nothing that changes has one input, which says nothing.
    blind, _ = one_hot(replace(pig, observation=(seen((3,)), seen((3,))))).observation
    assert (blind == np.ones((pig.n_states, 1))).all()
    assert {o.dtype for o in (first, second, blind)} == {np.dtype(np.float32)}


masks = hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 5)))


@given(masks, st.integers(0, 2**32 - 1))
def test_projection_is_what_an_environment_plays(mask: Any, seed: int) -> None:
    chosen = np.random.default_rng(seed).dirichlet(np.ones(mask.shape[1]), size=len(mask))
    played = legal_actions_played(mask)
    expected = np.zeros(mask.shape)
    for s, a in np.ndindex(mask.shape):
        if played[s, a] >= 0:
            expected[s, played[s, a]] += chosen[s, a]
    projected = project(chosen, mask)
    np.testing.assert_allclose(projected, expected, atol=1e-12)
    assert (projected[~mask] == 0).all()
    np.testing.assert_allclose(projected.sum(axis=1), mask.any(axis=1), atol=1e-12)


NO_POLICIES: list[tuple[Any, str]] = [
    (lambda p: p[:, :1], r"has shape \(\d+, 1\); player 0 of pig needs \(\d+, 2\)$"),
    (lambda p: np.where(p > 0, np.nan, p), r"has an entry that is .* not a number in .*nan"),
    (lambda p: p * 0.9, r"does not sum to 1 in state Turn\(.*\): \[0.9, 0.0\]"),
    (lambda p: np.roll(p, 1, axis=1), r"gives weight to an illegal action in state Turn"),
    (lambda p: p - 0.5, "has an entry that is negative or not a number in state Turn"),
]
NO_ACTIONS: list[tuple[Any, str]] = [
    (lambda a: a - 1, "takes action -1 in state"),
    (
        lambda a: np.arange(len(a)) + 1,
        r"takes action 2 in state Turn\(player=1, scores=\(0, 0\), total=0\); there are 2$",
    ),
    (
        lambda a: a.astype(float),
        r"has actions of shape \(\d+,\) and type float64; expected \d\d+ whole numbers$",
    ),
    (
        lambda a: a[:3],
        r"has actions of shape \(3,\) and type int64; expected \d\d+ whole numbers$",
    ),
]


def test_a_wrong_policy_is_refused(pig: Any) -> None:
    actions = np.zeros(pig.n_states, np.int64)
    chances = TabularPolicy.deterministic(pig, actions).probabilities
    # One that was not made by these is refused where it is used.
    made = TabularPolicy.of(pig, chances, name="mine")
    calls: tuple[tuple[Any, list[tuple[Any, str]]], ...] = (
        (lambda change: TabularPolicy.of(pig, change(chances), name="mine"), NO_POLICIES),
        (lambda change: TabularPolicy.deterministic(pig, change(actions), name="mine"), NO_ACTIONS),
        (
            lambda change: policy_value(pig, replace(made, probabilities=change(chances))),
            [*NO_POLICIES, (lambda p: p.tolist(), r"has the probabilities \[\[")],
        ),
    )
    for call, rows in calls:
        assert_refused(((change, f"^policy 'mine' {message}") for change, message in rows), call)


@pytest.mark.parametrize("total", [1 - 9e-10, 1 + 9e-10])
def test_what_a_sum_lacks_of_1_is_shared_out(pig: Any, total: float) -> None:
    chances = TabularPolicy.uniform(pig).probabilities
    policy = TabularPolicy.of(pig, chances * total)
    assert (policy.probabilities == chances * total).all()
    live = ~pig.terminal
    assert np.abs(policy.normalized()[live].sum(axis=1) - 1).max() < 1e-15
    assert (policy.normalized()[~live] == 0).all()


def test_a_constant_policy_takes_the_lowest_legal_action_where_its_own_is_illegal(pig: Any) -> None:
    for player in (0, 1):
        mask = pig.mask[player]
        found = TabularPolicy.constant(pig, 1, player=player)
        assert (found.probabilities[mask[:, 1], 1] == 1).all()
        assert (found.probabilities[~mask[:, 1] & mask[:, 0], 0] == 1).all()
        assert (found.player, found.name) == (player, "constant")
    whole = TabularPolicy.of(pig, TabularPolicy.constant(pig, 1).probabilities.astype(int))
    assert (whole.player, whole.probabilities.dtype) == (0, found.probabilities.dtype)
    wrong = ((2, 0, "action is 2; allowed are"), (1, -1, "player is -1; allowed are"))
    assert_refused(wrong, lambda action, player: TabularPolicy.constant(pig, action, player=player))


def test_an_observation_is_the_state_in_units_of_its_scale() -> None:
    rules = Rules()
    rules.scale = (4, 10)
    assert rules.observe((1, 5), 0).tolist() == [0.25, 0.5]


def test_the_mode_of_a_policy_takes_the_most_probable_action(pig: Any) -> None:
    policy, live = random_policy(pig, 0, 2), ~pig.terminal
    chances, mode = policy.probabilities, policy.mode()
    taken = mode.probabilities.argmax(axis=1)
    assert (mode.probabilities[live] == np.eye(chances.shape[1])[taken][live]).all()
    assert (chances[np.arange(len(taken)), taken] == chances.max(axis=1))[live].all()
    assert (TabularPolicy.uniform(pig).mode().probabilities[live].argmax(axis=1) == 0).all()
    # Somewhere it is not the first that is possible.
    assert (mode.probabilities[:, 1] > 0)[chances[:, 0] > 0].any()
    assert (mode.player, mode.name) == (policy.player, f"{policy.name} (mode)")


STATE = r"state Turn\(player=\d, scores=\(0, 0\), total=\d\)"
NO_TABLES: list[tuple[str, Any, str]] = [
    ("row_start", lambda x: x[:-1], r"row_start has shape {s}; expected {s1}$"),
    ("row_start", lambda x: x.astype(float), "row_start is float64; expected whole numbers$"),
    ("row_start", lambda x: put(x, 0, 1), "row_start does not ascend from 0$"),
    ("row_start", lambda x: put(x, 1, -1), "row_start does not ascend from 0$"),
    (
        "row_start",
        lambda x: put(x, -1, 7),
        "row_start ends at 7 and outcome_start at {N}; expected {K} rows and {N} outcomes$",
    ),
    ("outcome_start", lambda x: x.astype(float), "outcome_start is float64; expected whole"),
    ("outcome_start", lambda x: put(x, 1, 9), "outcome_start does not ascend from 0$"),
    (
        "outcome_start",
        lambda x: put(x, -1, 7),
        "row_start ends at {K} and outcome_start at 7; expected {K} rows and {N} outcomes$",
    ),
    ("next_state", lambda x: x.astype(float), "next_state is float64; expected whole numbers$"),
    ("next_state", lambda x: put(x, 5, -1), r"next_state leaves 0\.\.{last}, the indices of the"),
    ("next_state", lambda x: put(x, -1, x.max() + 1), r"next_state leaves 0\.\.{last}, the ind"),
    ("probability", lambda x: x[1:], "probability has shape {n_1}; expected {n}$"),
    ("probability", lambda x: put(x, 5, np.nan), ".*probability is nan"),
    ("probability", lambda x: -x, r"(pig: )?{state}, action \(0, 0\): a probability is -0.25"),
    ("probability", lambda x: x / 2, r"pig: {state}, action \(0, 0\): .* sum to 0.5, not 1"),
    ("probability", lambda x: x * 1.001, ".*probabilities sum to 1.00"),
    ("outcome_reward", lambda x: x[:, None], "outcome_reward has shape {n1}; expected {n}$"),
    (
        "outcome_reward",
        lambda x: put(x, 5, np.nan),
        r"(pig: )?{state}, action \(0, 0\): a reward is nan; allowed are finite",
    ),
    ("outcome_reward", lambda x: put(x, 5, -np.inf), ".*reward is -inf"),
    ("initial", lambda x: x[1:], "initial has shape {s_1}; expected {s}$"),
    ("initial", lambda x: x / 2, ".*probabilities of the start .* sum to 0.5"),
    ("initial", lambda x: x * 1.001, ".*probabilities of the start"),
    ("initial", lambda x: put(x, slice(2), (2.0, -1.0)), ".*probabilities of the start"),
    ("initial", lambda x: x * np.nan, ".*probabilities of the start"),
    ("mask", lambda x: (x[0][1:], x[1]), r"mask\[0\] has shape {s_1}; expected {s}$"),
    ("mask", lambda x: (x[0], x[1][1:]), r"mask\[1\] has shape {s_1}; expected {s}$"),
    ("observation", lambda x: (x[0], x[1][1:]), r"observation\[1\] has shape {s_1}; expected {s}$"),
    ("turn", lambda x: x[1:], r"turn has shape {s_1}; expected {s}$"),
    (
        "mask",
        lambda x: (x[0], put(x[1], 1, False)),
        r"state Turn\(player=1, scores=\(0, 0\), total=0\): rows and masks do not agree$",
    ),
]


def test_arrays_that_do_not_fit_are_refused_by_name_and_shape(pig: Any) -> None:
    s, n = pig.n_states, len(pig.next_state)
    shapes = {"s": (s,), "s1": (s + 1,), "s_1": (s - 1,), "n": (n,), "n_1": (n - 1,), "n1": (n, 1)}
    told = {name: re.escape(str(shape)) for name, shape in shapes.items()}
    told |= {"N": str(n), "K": str(pig.n_rows), "last": str(s - 1), "state": STATE}
    assert_refused(
        ((field, change, "^" + message.format(**told)) for field, change, message in NO_TABLES),
        lambda field, change: replace(pig, **{field: change(getattr(pig, field))}),
    )


class OwnTable(Pig):
    def tabulate(self) -> Any:
        return [1, 2]


def test_tables_that_are_none_or_too_large_are_refused(pig: Any) -> None:
    class Wide(Ring):
        sizes = (2**20, 2**20)

    rules, most = Pig(target=8, sides=4), pig.n_states
    assert compile_game(rules, reference=True, max_states=most).n_states == most
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (Wide(), {}, r"^ring: sizes is \(1048576, 1048576\); allowed"),
        (OwnTable(3), {}, r"^tabulate\(\) of pig returned list$"),
        (
            rules,
            {"reference": True, "max_states": most - 1},
            f"^pig has more than {most - 1} states; ",
        ),
    ]
    assert_refused(refused, lambda game, how: compile_game(game, **how), (ValueError, TypeError))


def test_what_cannot_happen_is_no_outcome(pig: Any) -> None:
    """A table with outcomes of probability 0 is the table without them, hash and all."""
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


def test_a_small_table_of_narrow_types_is_solved_alike(pig: Any) -> None:
    narrow = replace(
        pig,
        next_state=pig.next_state.astype(np.int32),
        outcome_reward=pig.outcome_reward.astype(np.float32),
    )
    wide, same = solve(pig), solve(narrow)
    assert same.value == wide.value
    assert reachable(narrow).n_states == pig.n_states
    answer = best_response(narrow, TabularPolicy.uniform(narrow, player=1))
    assert answer.value == best_response(pig, TabularPolicy.uniform(pig, player=1)).value


# Compiling rules: block by block, exactly, and from rules that are written for arrays


INFO = GameInfo(
    name="line",
    players=1,
    actions=(("go",),),
    acyclic=True,
    reward_range=(-9, 9),
    sources=("a test",),
    observation_labels=("place",),
)


@dataclass(frozen=True)
class Line:
    """A walk over whole numbers in which the branches of each state are given."""

    branches: dict[int, Any]
    legal: Any = ([0],)
    info = INFO

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), 0),)

    def is_terminal(self, state: int) -> bool:
        return state >= 0 and state not in self.branches

    def legal_actions(self, state: int) -> Any:
        return self.legal

    def transition(self, state: int, joint_action: Any) -> Any:
        return self.branches[state]

    def observe(self, state: int, player: int) -> Any:
        return np.array([state], np.float32)

    def draw(self, state: int) -> str:
        return str(state)


@st.composite
def distributions(draw: Any) -> tuple[Outcome, ...]:
    largest = draw(st.sampled_from([3, 12, 10**6, 2**40, 10**30]))
    weights = draw(st.lists(st.integers(1, largest), min_size=1, max_size=6))
    ends = st.sampled_from([9, 8, 7])
    rewards = st.sampled_from([0, 1, Fraction(1, 3), -2])
    return tuple(Outcome(Fraction(w, sum(weights)), draw(ends), draw(rewards)) for w in weights)


@given(st.lists(distributions(), min_size=1, max_size=5), st.sampled_from([1, 2, 2048]))
def test_probabilities_are_the_floats_nearest_to_the_merged_rationals(
    rows: list[tuple[Outcome, ...]], block: int
) -> None:
    """At every size of numerators and denominators, and however states fall into blocks."""
    onward = {s: (*(o._replace(probability=o.probability / 2) for o in row),
                  Outcome(Fraction(1, 2), s + 1 if s + 1 < len(rows) else 6))
              for s, row in enumerate(rows)}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "BLOCK", block)
        patch.setattr(walk, "CHUNK", 2 * block)
        table = compile_game(Line(onward))
    for s, row in onward.items():
        k = table.row_start[table.index[s]]
        span = slice(table.outcome_start[k], table.outcome_start[k + 1])
        found = zip(
            table.probability[span].tolist(),
            [table.states[t] for t in table.next_state[span]],
            table.outcome_reward[span].tolist(),
            strict=True,
        )
        assert list(found) == [(float(p), t, float(r)) for p, t, r in merged(row)]


TINY = Fraction(1, 10**30)
HALF = Fraction(1, 2)
WRONG: list[tuple[Any, str]] = [
    ((Outcome(HALF, 2), Outcome(Fraction(1, 3), 3)), "probabilities sum to 5/6, not 1, at {}"),
    ((Outcome(HALF, 2), Outcome(HALF + TINY, 3)), "probabilities sum to 10+1/10+, not 1, at {}"),
    ((Outcome(Fraction(2), 2),), "probabilities sum to 2, not 1, at {}"),
    ((Outcome(Fraction(2**70), 2),), f"probabilities sum to {2**70}, not 1, at {{}}"),
    ((Outcome(Fraction(3, 2), 2), Outcome(-HALF, 3)), "a probability is -1/2 at {}"),
    ((Outcome(Fraction(1), 2), Outcome(Fraction(0), 3)), "a probability is 0 at {}"),
    ((), "probabilities sum to 0, not 1, at {}"),
    # A state that the rules do not know, in place of an outcome.
    ((Outcome(HALF, -1),), "probabilities sum to 1/2, not 1, at {}"),
    ((Outcome(0.5, 2), Outcome(0.4, 3)), "probabilities sum to 9/10, not 1, at {}"),
]  # fmt: skip


def test_a_wrong_distribution_is_named_by_state_and_action() -> None:
    assert_refused(
        (
            (branches, "^line: " + message.format(r"state 1, action \(0,\)"))
            for branches, message in WRONG
        ),
        lambda branches: compile_game(Line({0: (Outcome(Fraction(1), 1),), 1: branches})),
    )
    assert gc.isenabled()


def test_legal_actions_that_are_not_ascending_are_refused() -> None:
    """The rows of a state follow its actions in ascending order: others would change places."""

    class Odd(Line):
        info = replace(INFO, actions=(("go", "stay"),))

    class Stuck(Ring):
        def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
            return super().expand(states, joint_action)._replace(legal=False)

    wrong: Any = (((1, 0),), ((-1, 0),), ((0, 2),), ((0, 0),), ((),))
    assert_refused(
        (
            (legal, re.escape(f"state 0: legal actions are {legal};"))
            for legal in (*wrong, (0, 1), (0,), [0, 1], [[1, 0]], None)
        ),
        lambda legal: compile_game(Odd({0: (Outcome(Fraction(1), 1),)}, legal)),
    )
    stuck = r"state Place\(place=3, player=0\) has no legal action"
    assert_refused([(Stuck(), stuck)], compile_game)


def test_a_float_is_the_decimal_that_it_prints() -> None:
    tenths: Any = tuple(Outcome(0.1, place) for place in range(1, 11))
    assert compile_game(Line({0: tenths})).probability.tolist() == [0.1] * 10


class Place(NamedTuple):
    """A counter's place on a ring, and whose turn it is."""

    place: int
    player: int


class Ring(VectorizedGame):
    """Players push a counter round a ring by turns; whoever reaches the top wins what it shows."""

    state_type, sizes, total = Place, (7, 2), 4
    info = replace(
        INFO,
        name="ring",
        players=2,
        actions=(("push", "pull"), ("push", "pull")),
        acyclic=False,
        reward_range=(-np.inf, np.inf),
        observation_labels=("place", "player"),
    )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1, 3), Place(3, 0)), Outcome(Fraction(2, 3), Place(2, 1)))

    def turn(self, states: Any) -> Any:
        return states.player

    def terminal(self, states: Any) -> Any:
        return states.place == 6

    def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
        first, second = joint_action
        # The player who is not on turn can only push.
        legal = np.where(states.player == 0, second == 0, first == 0)
        pulls = (first + second) > 0
        onward = np.clip(
            states.place[:, None] + np.array([1, 2, 1] if not pulls else [-1, 1, 6]), 0, 6
        )
        after = Place(onward, 1 - states.player[:, None])
        rewards = np.where(onward == 6, 1 - 2 * states.player[:, None], 0)
        return Expansion(legal, [2, 1, 1], after, rewards)  # fmt: skip


def test_rules_for_arrays_are_the_rules_for_states() -> None:
    """With branches that are listed twice, a random start, turns and two players."""
    game = Ring()
    table, walked = compile_game(game), compile_game(game, reference=True)
    check_game(game)
    assert (table.model_hash, tuple(table.states)) == (walked.model_hash, walked.states)
    assert table.states[0] == Place(3, 0)
    assert walked.turn is not None
    assert np.array_equal(table.turn, walked.turn)
    assert game.draw(table.states[0]) == "place 3, player 0"
    assert solve(game).value == pytest.approx(solve(walked).value, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [2, 1, 2]}, r"state Place\(place=3, player=0\): weights sum to 5, not to tot"),
        ({"weights": [6, -1, -1]}, r"state Place\(place=3, player=0\): a weight is negative"),
        ({"weights": [0.5, 0.25, 0.25]}, "weights and states are not whole numbers"),
        ({"weights": [4]}, "a next state is out of range"),
        ({"weights": [2, 1, 1, 0]}, r"could not be broadcast|shape mismatch"),
        ({"states": Place(*[np.zeros((2, 3), int)] * 2)[:1]}, "1 fields; expected .* and 2"),
        ({"legal": np.ones(5, bool)}, "expected .2. and .2, B."),
    ],
)
def test_wrong_arrays_of_rules_are_refused(changes: dict[str, Any], message: str) -> None:
    class Wrong(Ring):
        def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
            expansion = super().expand(states, joint_action)
            if "out of range" in message:
                return expansion._replace(states=Place(np.full((len(states.place), 3), 7), 1))
            return expansion._replace(**changes)

    with pytest.raises(ValueError, match=rf"^ring: action \(0, 0\).*({message})"):
        compile_game(Wrong())
