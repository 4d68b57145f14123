"""The solver against brute force on random games, outside solvers, and published values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import random_games
from example_counts import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from linear_program import least_excessive

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    best_response,
    exploitability,
    nash_conv,
    policy_value,
    score,
    solve,
)
from solvent.games import FightingFantasy, Pig
from solvent.model import GameInfo, GymnasiumTable, Outcome, TabularPolicy, compile_game

games = st.builds(
    random_games.RandomGame,
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(random_games.KINDS),
    cyclic=st.booleans(),
)


def start_value(game: Any, *policies: TabularPolicy) -> float:
    return float(game.initial @ policy_value(game, *policies))


@settings(max_examples=examples(25), deadline=None)
@given(games)
@example(random_games.RandomGame(seed=1713, kind="simultaneous", cyclic=True))
def test_the_value_lies_between_what_pure_policies_secure(game: Any) -> None:
    table = compile_game(game)
    solution = solve(table)
    assert solution.lower <= solution.value <= solution.upper
    first, second = (random_games.pure_policies(table, p) for p in (0, 1))
    # Where nobody mixes, the best pure policies are the answer; where both act at the same time
    # pure policies only bound it.
    mine = [[start_value(table, x, y) for y in second] for x in first]
    secured, conceded = max(map(min, mine)), min(map(max, zip(*mine, strict=True)))
    assert secured - 1e-9 <= solution.value <= conceded + 1e-9
    if game.kind != "simultaneous":
        assert solution.value == pytest.approx(secured, abs=1e-9)
        assert solution.value == pytest.approx(conceded, abs=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(games)
def test_neither_player_gains_by_leaving_the_solution(game: Any) -> None:
    table = compile_game(game)
    solution = solve(table)
    first, second = solution.policies
    assert start_value(table, first, second) == pytest.approx(solution.value, abs=1e-8)
    assert nash_conv(table, first, second) == pytest.approx(0, abs=1e-8)
    for policy in (first, second):
        assert exploitability(table, policy, solution) == pytest.approx(0, abs=1e-8)
    # The equation of optimality in every state.
    again = table.expectation(solution.values)
    np.testing.assert_allclose(again, solution.action_values, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(games, st.integers(0, 1000))
def test_a_policy_is_worth_at_most_the_optimum(game: Any, seed: int) -> None:
    table = compile_game(game)
    solution = solve(table)
    rng = np.random.default_rng(seed)
    for player in (0, 1):
        weights = rng.random(table.mask[player].shape) * table.mask[player]
        weights /= np.where(table.terminal, 1, weights.sum(axis=1))[:, None]
        policy = TabularPolicy.of(table, weights, player=player)
        answer = best_response(table, policy)
        loss = (solution.value - answer.value) * (1 if player == 0 else -1)
        assert loss >= -1e-9
        assert exploitability(table, policy, solution) == pytest.approx(loss, abs=1e-12)
        # Nothing does better against it than the best response.
        for other in random_games.pure_policies(table, 1 - player):
            pair = (policy, other) if player == 0 else (other, policy)
            worse = (start_value(table, *pair) - answer.value) * (1 if player == 0 else -1)
            assert worse >= -1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_linear_program_agrees(seed: int, cyclic: bool) -> None:
    table = compile_game(random_games.RandomGame(seed, "single", cyclic))
    np.testing.assert_allclose(least_excessive(table), solve(table).values, atol=1e-9)


# Values of other people's environments. State of each: the kernel is the environment's own P, the
# start its own distribution, undiscounted, without a time limit, over all policies.
TOY_TEXT = [
    # No time limit and no discount: 14/17, by solving the chain of the optimal policy by hand.
    ("FrozenLake-v1", {}, 14 / 17),
    # The optimum in expectation over starts; the 8.46 in Gymnasium's source is not attainable.
    ("Taxi-v4", {}, 7.93),
    # Thirteen steps around the cliff at -1 each.
    ("CliffWalking-v1", {}, -13.0),
]


@pytest.mark.parametrize(("name", "arguments", "value"), TOY_TEXT)
def test_gymnasiums_toy_text(name: str, arguments: dict[str, Any], value: float) -> None:
    env = gym.make(name, **arguments)
    table = compile_game(GymnasiumTable.from_env(env))
    solution = solve(table)
    assert solution.value == pytest.approx(value, abs=1e-9)
    assert solution.upper - solution.lower < 1e-9


def test_pig_to_20_with_signed_payoffs() -> None:
    """Published among the values of OpenSpiel's pig: 0.231117099610."""
    table = compile_game(Pig(target=20, signed=True))
    solution = solve(table)
    assert solution.value == pytest.approx(0.231117099610, abs=1e-11)
    assert (1 + solution.value) / 2 == pytest.approx(solve(compile_game(Pig(target=20))).value)


def test_quantecon_agrees_on_frozen_lake() -> None:
    """DiscreteDP with a discount close to 1 tends to the undiscounted optimum."""
    quantecon = pytest.importorskip("quantecon")
    env = gym.make("FrozenLake-v1").unwrapped
    n, m = 16, 4
    reward, chance = np.zeros((n, m)), np.zeros((n, m, n))
    for s, a in np.ndindex(n, m):
        for p, t, r, _ in env.P[s][a]:
            reward[s, a] += p * r
            chance[s, a, t] += p
    outside = quantecon.markov.DiscreteDP(reward, chance, 1 - 1e-9)
    value = outside.solve(method="policy_iteration").v[0]
    ours = solve(compile_game(GymnasiumTable.from_env(gym.make("FrozenLake-v1"))))
    assert ours.value == pytest.approx(value, abs=1e-6)


class Graph:
    """A game given by its branches: per state and action a list of (probability, state, reward)."""

    def __init__(self, branches: dict[str, list[list[tuple[float, str, int]]]], player: int = 0):
        self.branches, self.player = branches, player
        widest = max(map(len, branches.values()))
        self.info = GameInfo(
            "graph", 2, (tuple("abc"[:widest]),) * 2, False, (-9, 9), ("test",), (), ("state",)
        )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), next(iter(self.branches))),)

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        mine = tuple(range(len(self.branches[state])))
        return (mine, (0,)) if self.player == 0 else ((0,), mine)

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        chosen = self.branches[state][joint_action[self.player]]
        return tuple(Outcome(Fraction(p).limit_denominator(), t, r) for p, t, r in chosen)

    def is_terminal(self, state: str) -> bool:
        return state not in self.branches

    def observe(self, state: str, player: int) -> Any:
        return np.array([0], np.float32)

    def draw(self, state: str) -> str:
        return state


HALVES = [(0.5, "trap", 0), (0.5, "end", 1)]
IMPROPER: list[tuple[Graph, str]] = [
    (Graph({"start": [HALVES], "trap": [[(1, "trap", 0)]]}), "from state 'trap' no end"),
    (Graph({"start": [HALVES[::-1]], "trap": [[(1, "trap", 0)]]}), "from state 'trap' no end"),
    (Graph({"a": [[(1, "b", 1)], [(1, "end", 0)]], "b": [[(1, "a", 0)]]}), "never ending"),
    (Graph({"a": [[(1, "b", -1)], [(1, "end", 0)]], "b": [[(1, "a", 0)]]}, 1), "never ending"),
    # Every end costs 1 and waiting costs nothing: no proper policy is best.
    (Graph({"wait": [[(1, "wait", 0)], [(1, "end", -1)]]}), "'wait' it is best never to end"),
]


def test_games_without_a_proper_optimum_are_named() -> None:
    for game, message in IMPROPER:
        with pytest.raises(ImproperGameError, match=message):
            solve(compile_game(game))


def test_an_action_may_be_the_only_one_and_not_the_first() -> None:
    class LastOnly(Graph):
        def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
            return ((len(self.branches[state]) - 1,), (0,))

    table = compile_game(LastOnly({"a": [[(1, "end", 0)], [(1, "end", 1)]]}))
    solution = solve(table)
    assert solution.value == 1
    assert solution.method == "backward induction"
    assert solution.policies[0].probabilities.tolist() == [[0, 1], [0, 0]]


def test_play_that_is_over_before_it_begins_is_worth_nothing() -> None:
    table = compile_game(Graph({"a": [[(1, "end", 1)]]}))
    solution = solve(replace(table, initial=table.initial[::-1]))
    assert (solution.value, solution.lower, solution.upper) == (0, 0, 0)


Alternating = dict[str, tuple[int, list[list[tuple[float, str, int]]]]]


class TwoSided(Graph):
    """A game in which each state says whose turn it is."""

    def __init__(self, states: Alternating):
        super().__init__({name: branches for name, (_, branches) in states.items()})
        self.owner = {name: owner for name, (owner, _) in states.items()}

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        mine = tuple(range(len(self.branches[state])))
        return (mine, (0,)) if self.owner[state] == 0 else ((0,), mine)

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        self.player = self.owner[state]
        return super().transition(state, joint_action)


@pytest.mark.parametrize("player", [0, 1])
def test_a_way_out_that_the_opponent_can_block_is_not_insisted_on(player: int) -> None:
    """From a the shortest way out leads through b, where the opponent gains by going back."""
    sign = 1 - 2 * player
    game = TwoSided(
        {
            "a": (player, [[(1, "b", -sign)], [(1, "c", 0)]]),
            "b": (1 - player, [[(1, "a", 0)], [(1, "end", 0)]]),
            "c": (player, [[(1, "a", 0)], [(1, "end", 0)]]),
        }
    )
    solution = solve(compile_game(game))
    assert solution.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_a_tie_in_which_the_opponent_can_wait_for_ever_is_avoided(player: int) -> None:
    """Both of a's moves are worth 1, but after one of them the opponent need never pay."""
    sign = 1 - 2 * player
    game = TwoSided(
        {
            "a": (player, [[(1, "b", 0)], [(1, "c", 0)]]),
            "b": (1 - player, [[(1, "a", 0)], [(1, "end", sign)]]),
            "c": (player, [[(1, "a", 0)], [(1, "end", sign)]]),
        }
    )
    solution = solve(compile_game(game))
    assert solution.value == pytest.approx(sign)
    assert solution.policies[player].probabilities[0].tolist() == [0, 1]


def test_steps_too_small_to_be_taken_widen_the_bracket() -> None:
    """Walking on is worth 0.9e-13 a step, below what the solver tells apart, and costs nothing."""
    last = 40
    names = [f"s{i:02d}" for i in range(last + 1)]
    walk: dict[str, list[list[tuple[float, str, int]]]] = {
        name: [[(1, "end", i)], [(1, names[min(i + 1, last)], 0)], [(1, names[max(i - 1, 0)], 0)]]
        for i, name in enumerate(names)
    }
    table = compile_game(Graph(walk))
    table = replace(table, outcome_reward=table.outcome_reward * 0.9e-13)
    solution = solve(table)
    truth = last * 0.9e-13
    assert solution.lower <= truth <= solution.upper


def test_a_game_without_an_optimal_policy_is_refused() -> None:
    """Everett's recursive games: hide or run; 1 can be approached, but not attained.

    A policy that hides long enough comes as near as floats can tell, and then play so rarely ends
    that the bracket stays open.
    """

    class HideOrRun(Graph):
        def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
            return ((0, 1), (0, 1))

        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            if joint_action == (0, 0):
                return (Outcome(Fraction(1), state),)
            return (Outcome(Fraction(1), "end", int(joint_action != (1, 1))),)

    with pytest.raises(CertificateError, match="is wider than"):
        solve(compile_game(HideOrRun({"hide": [[], []]})))


def test_an_end_that_one_minus_staying_cannot_see_counts() -> None:
    """1 - 1e-17 is 1 in floats; the ways out are told from nothing all the same."""
    table = compile_game(Graph({"a": [[(0.5, "a", 0), (0.25, "end", 1), (0.25, "end", 0)]]}))
    table = replace(table, probability=np.array([1.0, 1e-17, 1e-17]))
    solution = solve(table)
    assert solution.value == pytest.approx(0.5, abs=1e-15)
    assert solution.upper - solution.lower < 1e-14
    assert policy_value(table, TabularPolicy.uniform(table))[0] == pytest.approx(0.5, abs=1e-15)


def test_a_way_out_by_hardly_any_luck_is_not_where_the_search_begins() -> None:
    """Waiting costs 1 and ends with probability 1e-200; going ends at once, and comes later."""
    branches = {
        "a": [[(0.5, "b", -1), (0.5, "end", -1)], [(1, "end", -3)]],
        "b": [[(1, "a", 0)]],
    }
    table = compile_game(Graph(branches))
    luck = table.probability.copy()
    luck[:2] = 1.0, 1e-200
    assert table.states[table.next_state[1]] == "end"
    assert solve(replace(table, probability=luck)).value == -3


def test_alone_a_policy_has_no_worst_opponent_and_keeps_its_rarest_actions() -> None:
    table = compile_game(Graph({"a": [[(1, "b", 0)], [(1, "end", 1)]], "b": [[(1, "a", 0)]]}))
    rare = np.where(table.mask[0], [1 - 1e-13, 1e-13], 0.0)
    rare[table.action_count[0] == 1, 0] = 1.0
    policy = TabularPolicy.of(table, np.where(table.mask[0], rare, 0.0))
    gap = exploitability(table, policy)
    assert gap == score(table, policy).optimality_gap
    # It ends at last, and is paid, as far as floats can tell.
    assert abs(gap) < 0.01


def test_a_larger_tolerance_reaches_the_brackets_of_both_players() -> None:
    table = compile_game(Pig(target=10))
    for game in (table, compile_game(FightingFantasy(stamina=4, opponent_stamina=4))):
        with pytest.raises(CertificateError, match=r"wider than .*tolerance= accepts it"):
            solve(game, tolerance=1e-300)
    for tolerance in (0, 1):
        assert solve(table, tolerance=tolerance).value == pytest.approx(
            solve(table).value, rel=1e-13
        )


def test_a_wrong_value_does_not_get_a_bracket() -> None:
    """The certificate does not trust the solver: values that are off widen it at once."""
    from solvent.exact.certificate import bracket

    table = compile_game(FightingFantasy(stamina=6, opponent_stamina=6, luck=4))
    solution = solve(table)
    lower, upper = bracket(table, solution.values, solution.policies)
    assert upper - lower < 1e-12
    uniform = TabularPolicy.uniform(table)
    worse, upper = bracket(table, solution.values, (uniform, solution.policies[1]))
    assert worse < solution.value - 0.01
    assert upper >= solution.value
    _, wide = bracket(table, solution.values * 0.9, solution.policies)
    assert wide >= solution.value, "an upper bound must hold whatever values it starts from"


def test_policies_of_the_wrong_player_or_game_are_refused() -> None:
    pig = compile_game(Pig(target=5))
    first, second = (TabularPolicy.uniform(pig, player=player) for player in (0, 1))
    other = TabularPolicy.uniform(compile_game(Pig(target=6)))
    for policies, message in (
        ([first], "player 1 has a choice"),
        ([first, first], "2 policies were given for player"),
        ([other, second], "was made for the model"),
    ):
        with pytest.raises(ValueError, match=message):
            policy_value(pig, *policies)
