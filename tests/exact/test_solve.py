"""The solver against brute force on random games, outside solvers, and published values."""

from dataclasses import replace
from itertools import groupby
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import random_games
from example_counts import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from layered_games import shop
from rational_tables import END, Row, table_of
from refusals import assert_refused
from two_players import random_policy

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    SolvedTable,
    best_response,
    compilation,
    decomposition,
    exploitability,
    nash_conv,
    policy_value,
    score,
    solve,
    solve_linear_program,
    with_table,
)
from solvent.exact.decomposition import optimum, solve_values
from solvent.exact.layered.solve import solve_in_memory
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    Progress,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    discounted,
    make_game,
    progress,
)

games = st.builds(
    random_games.RandomGame,
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(random_games.KINDS),
    cyclic=st.booleans(),
)


def start_value(game: Any, *policies: TabularPolicy) -> float:
    return float(game.initial @ policy_value(game, *policies))


def test_a_game_solved_in_its_own_way_tells_its_progress_and_has_its_tables_solution() -> None:
    told: list[Progress] = []
    solve(make_game("yahtzee", boxes="aces,chance", dice=2, faces=3), progress=told.append)
    assert told
    solved = solve(make_game("greed", limit=30, sides=4))
    assert not isinstance(solved, SolvedTable)
    tabled = with_table(solved)
    assert tabled is not None
    assert tabled.value == pytest.approx(solved.value, abs=1e-12)
    assert with_table(tabled) is tabled
    with pytest.raises(ValueError, match="'nowhere' is not a state of greed; a state looks like"):
        tabled.value_of("nowhere")


@settings(max_examples=examples(25))
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
        assert secured == pytest.approx(conceded, abs=1e-9)


@settings(max_examples=examples(60))
@given(games, st.integers(0, 1000))
def test_neither_player_gains_by_leaving_the_solution_nor_more_than_the_optimum(
    game: Any, seed: int
) -> None:
    table = compile_game(game)
    solution = solve(table)
    first, second = solution.policies
    assert start_value(table, first, second) == pytest.approx(solution.value, abs=1e-8)
    assert nash_conv(table, first, second) == pytest.approx(0, abs=1e-8)
    # The equation of optimality in every state.
    again = table.expectation(solution.values)
    np.testing.assert_allclose(again, solution.action_values, atol=1e-12)
    for player, sign in ((0, 1), (1, -1)):
        assert exploitability(table, solution.policies[player], solution) == pytest.approx(
            0, abs=1e-8
        )
        policy = random_policy(table, player, seed)
        answer = best_response(table, policy)
        loss = sign * (solution.value - answer.value)
        assert loss >= -1e-9
        assert exploitability(table, policy, solution) == pytest.approx(loss, abs=1e-12)
        # Nothing does better against it than the best response.
        for other in random_games.pure_policies(table, 1 - player):
            pair = (policy, other) if player == 0 else (other, policy)
            assert sign * (start_value(table, *pair) - answer.value) >= -1e-9


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.booleans())
def test_the_linear_program_agrees(seed: int, cyclic: bool) -> None:
    table = compile_game(random_games.RandomGame(seed, "single", cyclic))
    program = solve_linear_program(table)
    np.testing.assert_allclose(program.values, solve(table).values, atol=1e-9)
    assert program.primal == pytest.approx(program.dual, abs=1e-9)
    assert (program.occupation >= -1e-9).all()


def test_pig_to_20_with_signed_payoffs() -> None:
    """Published among the values of OpenSpiel's pig: 0.231117099610."""
    solution = solve(compile_game(Pig(target=20, signed=True)))
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
    assert solve(make_game("FrozenLake-v1")).value == pytest.approx(value, abs=1e-6)


def test_an_action_may_be_the_only_one_and_an_episode_over_before_it_begins() -> None:
    table = table_of([[[(1.0, END, 1.0)]]])
    second = np.array([[False, True], [False, False]])
    solution = solve(replace(table, mask=(second, table.mask[1])))
    assert (solution.value, solution.method) == (1, "backward induction")
    assert solution.policies[0].probabilities.tolist() == [[0, 1], [0, 0]]
    solution = solve(replace(table, initial=table.initial[::-1]))
    assert (solution.value, solution.lower, solution.upper) == (0, 0, 0)


def test_a_game_without_an_optimal_policy_is_refused() -> None:
    """Everett's recursive games: hide or run; 1 can be approached, but not attained.

    A policy that hides long enough comes as near as floats can tell, and then play so rarely ends
    that the bracket stays open.
    """

    ran: list[Row] = [[(1.0, END, 1.0)], [(1.0, END, 1.0)], [(1.0, END, 0.0)]]
    both = np.array([[True, True], [False, False]])
    with pytest.raises(CertificateError, match="is wider than"):
        solve(replace(table_of([[[(1.0, 0, 0.0)], *ran]]), mask=(both, both)))


def test_an_end_that_one_minus_staying_cannot_see_counts() -> None:
    """1 - 1e-17 is 1 in floats; the ways out are told from nothing all the same."""
    table = table_of([[[(1.0, 0, 0.0), (1e-17, END, 1.0), (1e-17, END, 0.0)]]])
    solution = solve(table)
    assert [solution.value, policy_value(table, TabularPolicy.uniform(table))[0]] == pytest.approx(
        [0.5, 0.5], abs=1e-15
    )
    assert solution.upper - solution.lower < 1e-14


def test_alone_a_policy_has_no_worst_opponent_and_keeps_its_rarest_actions() -> None:
    table = table_of([[[(1.0, 1, 0.0)], [(1.0, END, 1.0)]], [[(1.0, 0, 0.0)]]])
    policy = TabularPolicy.of(table, np.array([[1 - 1e-13, 1e-13], [1, 0], [0, 0]]))
    gap = exploitability(table, policy)
    assert gap == score(table, policy).optimality_gap
    # It ends at last, and is paid, as far as floats can tell.
    assert abs(gap) < 0.01


def test_a_larger_tolerance_reaches_the_brackets_of_both_players() -> None:
    table = compile_game(Pig(target=10))
    wide, wrong = (
        r"wider than .*tolerance= accepts it",
        "^tolerance is .*; allowed are numbers from 0",
    )
    combat = compile_game(FightingFantasy(stamina=4, opponent_stamina=4))
    assert_refused(
        [(game, wide) for game in (table, combat)],
        lambda game: solve(game, tolerance=1e-300),
        CertificateError,
    )
    assert_refused(
        [(tolerance, wrong) for tolerance in (np.nan, -1.0, "small")],
        lambda tolerance: solve(table, tolerance=tolerance),
    )
    for tolerance in (0, 1, np.float32(0.5)):
        assert solve(table, tolerance=tolerance).value == pytest.approx(
            solve(table).value, rel=1e-13
        )


def test_policies_of_the_wrong_player_or_game_are_refused() -> None:
    pig = compile_game(Pig(target=5))
    first, second = (TabularPolicy.uniform(pig, player=player) for player in (0, 1))
    other = TabularPolicy.uniform(compile_game(Pig(target=6)))
    rows: list[tuple[Any, ...]] = [
        (policy_value, (pig, first), "player 1 has a choice"),
        (policy_value, (pig, first, first), "2 policies were given for player"),
        (policy_value, (pig, other, second), "was made for the model"),
        (policy_value, ("pig", first, second), r"game is 'pig'; expected is its table"),
        (solve_linear_program, (pig,), "player 1 has a choice"),
    ]
    assert_refused(rows, lambda call, given: call(*given))


# Cycles that are solved together have the values that they have one by one

one_chooses = st.builds(
    random_games.RandomGame,
    seed=st.integers(0, 10_000),
    kind=st.sampled_from([kind for kind in random_games.KINDS if kind != "simultaneous"]),
    cyclic=st.just(True),
)


def both_ways(game: TabularGame, solve: Any) -> list[Any]:
    """What is found for games of few cycles, and for those of many; or the error."""
    found = []
    for many in (game.n_states + 1, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decomposition, "MANY", many)
            try:
                found.append(solve(game))
            except ImproperGameError as error:
                found.append(str(error))
    return found


def assert_alike(game: TabularGame) -> None:
    few, many = both_ways(game, optimum)
    if isinstance(few, str):
        assert few == many
        return
    np.testing.assert_allclose(many[0], few[0], rtol=1e-12, atol=1e-12)
    # Of several best actions where both players choose somewhere, Newton's method may take another:
    # either policy has the value against the other way's.
    for pair in ((few[1][0], many[1][1]), (many[1][0], few[1][1])):
        np.testing.assert_allclose(policy_value(game, *pair), few[0], rtol=1e-9, atol=1e-9)
    if not all((count > 1).any() for count in game.action_count):
        for policy, same in zip(many[1], few[1], strict=True):
            np.testing.assert_array_equal(policy.probabilities, same.probabilities)


@settings(max_examples=examples(20))
@given(one_chooses)
@example(random_games.RandomGame(1617, "alternating", cyclic=True))
def test_random_games(game: Any) -> None:
    assert_alike(compile_game(game))


@pytest.mark.parametrize("parameters", [{"target": 12}, {"target": 9, "signed": True}])
def test_pig_and_the_game_that_is_left_of_it(parameters: dict[str, Any]) -> None:
    table = compile_game(Pig(**parameters))
    assert_alike(table)
    for player in (0, 1):
        left = against(table, optimum(table)[1][player])
        assert_alike(left)
        assert_alike(against(table, TabularPolicy.uniform(table, player=player)))
        few, many = both_ways(left, solve_values)
        np.testing.assert_allclose(many, few, rtol=1e-12, atol=1e-12)


# Loops give the same numbers whether Python runs them or Numba compiles them


COMPILED = {
    "no cycles": ("ff-combat", {"stamina": 6, "opponent_stamina": 6, "luck": 4}, 1),
    "turns": ("pig", {"target": 4}, 1),
    "one cycle": ("FrozenLake-v1", {}, 1),
    "a discount": ("gridworld", {}, 1),
    "both at once": ("rock-paper-scissors", {}, 1),
}


@pytest.mark.parametrize("name", COMPILED)
def test_python_and_compiled_loops_agree_to_the_last_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, parameters, discount = COMPILED[name]
    table = compile_game(discounted(make_game(game, **parameters), discount))
    found = []
    for way in ("function", "compiled"):
        monkeypatch.setattr(
            compilation._Loop, "__call__", lambda self, *given, way=way: getattr(self, way)(*given)
        )
        with np.errstate(all="ignore"):
            solution = solve(table)
        arrays = (solution.values, *(policy.probabilities for policy in solution.policies))
        found.append((solution.lower, solution.upper, *(array.tobytes() for array in arrays)))
    assert found[0] == found[1]


# What `solve` tells while it works: phases in their order, rising to their totals


def assert_rises_to(moments: list[Progress], total: int) -> None:
    done = [moment.done for moment in moments]
    assert {moment.total for moment in moments} == {total}
    assert (done, done[0], done[-1]) == (sorted(done), 0, total)
    assert len(set(done)) > 3


def test_phases_are_told_in_their_order_and_rise_to_their_totals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    game, moments = Pig(target=6), list[Progress]()
    solve(game, progress=moments.append)
    phases = {what: list(told) for what, told in groupby(moments, lambda moment: moment.what)}
    assert list(phases) == ["compiling", "solving", "proving"]
    assert sum(map(len, phases.values())) == len(moments)
    states, compiled = compile_game(game).n_states, [m.done for m in phases["compiling"]]
    assert compiled == sorted(set(compiled))
    assert compiled[-1] <= states
    assert {m.total for m in phases["compiling"]} == {None}
    assert_rises_to(phases["solving"], states)
    # Either player's policy is folded into chance, and the other one's gain is bounded.
    assert_rises_to(phases["proving"], 4 * states)

    layers = shop()
    moments.clear()
    solve_in_memory(layers, progress=moments.append)
    assert {moment.what for moment in moments} == {"solving"}
    assert_rises_to(moments, sum(map(layers.states, layers.layers)))

    def stop(moment: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(game, progress=stop)
