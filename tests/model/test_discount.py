"""Discounted games: what they are as rules and as tables, and their values by brute force."""

import json
import pickle
import random
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import KINDS, RandomGame
from rational_tables import random_rows, table_of
from refusals import assert_refused

from solvent.exact import policy_value, score, solve, state_visitation
from solvent.games import FightingFantasy, Greed, Pig, WindyGridworld
from solvent.games.pig.rules import Turn
from solvent.model import (
    DISCOUNT_END,
    Outcome,
    Prose,
    TabularGame,
    TabularPolicy,
    compile_game,
    discounted,
    make_game,
    one_hot,
    parametrize_with_game_checks,
    reachable,
)
from solvent.model.arrays import concatenated_ranges
from solvent.model.game import Alternating, words
from solvent.model.transforms import discounted_policy, undiscounted
from solvent.tabular import shapley_iteration

LAKE = make_game("FrozenLake-v1")


def by_linear_solve(game: TabularGame, policy: np.ndarray, discount: float) -> np.ndarray:
    """The discounted values of a policy in an undiscounted table for one: (I - g P) v = r."""
    n, row = game.n_states, game.outcome_row
    state, moves = game.row_state[row], np.zeros((game.n_states, game.n_states))
    weight = policy[state, game.row_action[0][row]] * game.probability
    np.add.at(moves, (state, game.next_state), weight)
    reward = np.bincount(state, weight * game.outcome_reward, n)
    return np.linalg.solve(np.eye(n) - discount * moves, reward)


@dataclass(frozen=True)
class Told(Pig):
    """Pig that has words for everything, and tells all that it is asked with."""

    def place(self, state: Any) -> str:
        return f"player {state.player} at {state.total}"

    def coordinates(self, state: Any) -> dict[str, int]:
        return {"row": state.player, "column": state.total}

    def labels(self, state: Any) -> dict[int, str]:
        return {0: f"roll at {state.total}"}

    def entry_names(self) -> dict[str, tuple[str, ...]]:
        return {"scores": ("mine", "yours")}

    def for_reader(self) -> Any:
        return replace(self, target=5)

    def from_reader(self, state: Any) -> Any:
        return state._replace(total=3)

    def tell(self, state: Any, joint_action: Any, outcome: Outcome, dice: random.Random) -> str:
        return repr((state, joint_action, outcome, dice.random()))


@parametrize_with_game_checks(
    [
        discounted(FightingFantasy(stamina=5, opponent_stamina=6, luck=7), 0.9),
        discounted(Pig(target=4), "2/3"),
        discounted(Greed(limit=12, sides=2), 0.5),
        discounted(LAKE, 0.99),
    ]
)
def test_a_discounted_game_is_a_game(game: Any, check: Any) -> None:
    check(game)


@pytest.mark.parametrize(
    "game",
    [FightingFantasy(stamina=4, opponent_stamina=4, luck=7), Pig(target=4), LAKE, Told(target=4)],
)
def test_a_discounted_game_has_what_the_game_has(game: Any) -> None:
    found = discounted(game, 0.9)
    assert isinstance(found, Alternating) == isinstance(game, Alternating)
    state = game.initial()[0].state
    after = game.transition(state, tuple(own[-1] for own in game.legal_actions(state)))[-1].state
    for method, args in (
        ("place", (state,)),
        ("coordinates", (state,)),
        ("coordinates", (after,)),
        ("labels", (state,)),
        ("scene", (state,)),
        ("entry_names", ()),
        ("explain", (0, 0)),
        ("player_name", (1,)),
        ("from_reader", (state,)),
    ):
        assert getattr(found, method)(*args) == getattr(words(game), method)(*args), method
    assert found.for_reader() == discounted(words(game).for_reader(), 0.9)
    assert discounted(game, 0.9) == found
    assert pickle.loads(pickle.dumps(found)).info == found.info  # noqa: S301


def test_what_leads_to_an_outcome_is_told_as_in_the_game() -> None:
    game, dice = Told(target=4), random.Random
    found = discounted(game, 0.9)
    [start] = game.initial()
    assert found.tell(None, (), start, dice(1)) == game.tell(None, (), start, dice(1))
    # To roll, to hold, and to win by holding.
    for state, joint in (
        (start.state, (0, 0)),
        (start.state, (1, 0)),
        (Turn(1, (0, 3), 1), (0, 1)),
    ):
        told = [found.tell(state, joint, o, dice(2)) for o in found.transition(state, joint)]
        plain = [game.tell(state, joint, o, dice(2)) for o in game.transition(state, joint)]
        # Nothing is told of the discount.
        assert told == [*plain, *[""] * (len(told) - len(plain))]


def test_the_end_of_the_discount_looks_like_a_start_and_is_said_in_a_sentence() -> None:
    sentence = "The episode has ended: it goes on with probability 0.9 only."
    for game, place in ((Pig(target=4), ""), (Told(target=4), "the end")):
        found, start = discounted(game, 0.9), game.initial()[0].state
        assert found.draw(DISCOUNT_END) == sentence
        assert found.scene(DISCOUNT_END) == (Prose("", (sentence,)),)
        assert (found.place(DISCOUNT_END), found.labels(DISCOUNT_END)) == (place, {})
        assert found.coordinates(DISCOUNT_END) == words(game).coordinates(start)
        assert found.from_reader(DISCOUNT_END) == DISCOUNT_END
        for player in range(game.info.players):
            seen = found.observe(DISCOUNT_END, player)
            assert seen.tolist() == game.observe(start, player).tolist()
    assert discounted(Pig(target=4), 0.9).turn(DISCOUNT_END) == 0


def test_the_table_of_the_rules_is_the_transformed_table() -> None:
    for game in (LAKE, WindyGridworld(), Pig(target=4), Greed(limit=12, sides=2)):
        ours = compile_game(discounted(game, 0.9))
        assert ours.model_hash == discounted(compile_game(game), 0.9).model_hash
        walked = compile_game(discounted(game, 0.9), reference=True)
        assert ours.info == walked.info
        assert set(ours.states) == set(walked.states)
        order = np.array([ours.index[state] for state in walked.states])
        turns = () if ours.turn is None else (ours.turn,)
        for mine, theirs in zip(
            (*ours.mask, *ours.observation, ours.initial, *turns),
            (*walked.mask, *walked.observation, walked.initial, walked.turn),
            strict=False,
        ):
            assert np.array_equal(mine[order], theirs)
        # Rows agree if their expectations of numbers drawn at random do.
        values = np.random.default_rng(0).normal(size=ours.n_states)
        rows = concatenated_ranges(ours.row_start[order], np.diff(ours.row_start)[order])
        found = ours.expectation(values)[rows]
        np.testing.assert_allclose(found, walked.expectation(values[order]), rtol=0, atol=1e-14)


def test_rewards_of_a_discounted_game_have_no_bound_unless_they_are_chances() -> None:
    assert discounted(Pig(target=4), 0.9).info.reward_range == Pig(target=4).info.reward_range
    chances = compile_game(LAKE)
    points = replace(chances, info=replace(chances.info, unit="points"))
    assert discounted(points, 0.9).info.reward_range == (-np.inf, np.inf)


def test_a_discount_is_taken_back_and_policies_follow() -> None:
    for plain in (compile_game(Pig(target=4)), compile_game(Greed(limit=12, sides=2))):
        table = discounted(plain, 0.9)
        back = undiscounted(table)
        assert (back.info, back.states) == (plain.info, plain.states)
        assert (back.next_state == plain.next_state).all()
        np.testing.assert_allclose(back.probability, plain.probability, rtol=0, atol=1e-15)
        policy = TabularPolicy.uniform(plain, player=1)
        moved = discounted_policy(policy, table)
        moved.check_is_for(table)
        assert (moved.name, moved.player) == (policy.name, 1)
        assert (moved.probabilities[:-1] == policy.probabilities).all()
        assert not moved.probabilities[-1].any()


def test_the_end_is_a_state_of_its_own_behind_all_others() -> None:
    plain = compile_game(LAKE)
    table = discounted(plain, 0.9)
    assert table.states == (*plain.states, DISCOUNT_END)
    # What networks see elsewhere stays, also one input for each value.
    assert (one_hot(table).observation[0][:-1] == one_hot(plain).observation[0]).all()
    assert reachable(table) is table
    assert json.loads(json.dumps(dict(table.info.parameters)))["discount"] == 0.9
    assert table.info.unit == "discounted wins"
    assert len({one.model_hash for one in (plain, table, discounted(plain, 0.8))}) == 3


def test_ends_with_one_reward_are_one_outcome_and_keep_their_rewards() -> None:
    table = discounted(table_of([[[(0.25, 0, 1.0), (0.25, 1, 2.0), (0.5, 2, 1.0)]]] * 3), 0.5)
    first = slice(0, table.outcome_start[1])
    assert table.next_state[first].tolist() == [0, 1, 2, 4, 4]
    assert table.probability[first].tolist() == [0.125, 0.125, 0.25, 0.375, 0.125]
    assert table.outcome_reward[first].tolist() == [1.0, 2.0, 1.0, 1.0, 2.0]


def test_other_numbers_are_no_discounts_and_a_game_is_discounted_once() -> None:
    wrong = (0, 1.01, -0.5, float("nan"), None, True, "a lot", "0", [0.9])
    for game in (LAKE, compile_game(LAKE)):
        refused: list[tuple[Any, ...]] = [
            *((game, x, "^discount is .*; allowed are numbers above 0 and") for x in wrong),
            (discounted(game, 0.9), 0.9, r"FrozenLake-v1 is discounted by (0\.9|9/10) already"),
        ]
        assert_refused(refused, discounted)
    rows: list[Any] = [("pig", 0.9, "game is 'pig'; expected rules or a table")]
    assert_refused(rows, discounted, TypeError)


def test_a_discount_that_no_float_is_stays_exact() -> None:
    for discount in (Fraction(2, 3), "2/3"):
        assert dict(discounted(LAKE, discount).info.parameters)["discount"] == "2/3"


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    discount=st.sampled_from([0.1, 0.5, 0.9, 0.999]),
)
def test_the_value_of_a_policy_is_its_discounted_return(seed: int, discount: float) -> None:
    plain = table_of(random_rows(seed, "loops", states=5))
    rng = np.random.default_rng(seed)
    weights = plain.mask[0] * (0.1 + rng.random(plain.mask[0].shape))
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    table = discounted(plain, discount)
    policy = TabularPolicy.of(table, np.vstack((chances, 0 * chances[:1])))
    found = policy_value(table, policy)
    true = by_linear_solve(plain, chances, discount)
    assert found[:-1] == pytest.approx(true, rel=1e-9, abs=1e-9)
    assert found[-1] == 0
    # A move is made with the probability that the episode has come so far.
    visits = state_visitation(table, policy)
    assert visits[~table.terminal].sum() <= 1 / (1 - discount) + 1e-6
    assert visits[table.terminal].sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("discount", [0.3, 0.7])
def test_the_optimum_is_that_of_value_iteration(kind: str, cyclic: bool, discount: float) -> None:
    table = discounted(compile_game(RandomGame(seed=3, kind=kind, cyclic=cyclic)), discount)
    found = solve(table)
    *_, last = shapley_iteration(table)
    assert found.values == pytest.approx(last.V, abs=1e-8)
    assert found.lower - 1e-8 <= table.at_start(last.V) <= found.upper + 1e-8
    for player in (0, 1):
        policy = replace(found.policies[player], model_hash=table.model_hash)
        assert score(table, policy, found).optimality_gap == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_the_optimum_of_a_game_without_end_is_the_best_policy_s(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = [int(rng.integers(1, 4)) for _ in range(4)]
    chances = [rng.dirichlet(np.ones(3), n) for n in shape]
    rows = [
        [[(float(p), int(rng.integers(4)), float(rng.normal())) for p in row] for row in chances[s]]
        for s in range(4)
    ]
    plain = table_of(rows)
    found = solve(discounted(plain, 0.95))
    best = max(
        float(by_linear_solve(plain, np.eye(3)[list(choice), : plain.mask[0].shape[1]], 0.95)[0])
        for choice in product(*map(range, shape))
    )
    assert found.value == pytest.approx(best, abs=1e-9)
    assert found.lower - 1e-9 <= best <= found.upper + 1e-9
