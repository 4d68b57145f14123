"""The solver of games given by choices and scores: by hand, brute force, arrays and kernels."""

import re
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import RandomGame
from tree_checks import (
    assert_tree_equals_table,
    dice_choices,
    dice_score,
    failing_choices,
    solve_as_tree,
)

from solvent.exact import CycleError, solve_tree
from solvent.exact.expectimax import Reached
from solvent.games import FightingFantasy, Greed, Pig
from solvent.games.fighting_fantasy.rules import Combat
from solvent.model.context import with_modifier

HALF = Fraction(1, 2)
START = (3, 1)
COMBAT = FightingFantasy(skill_difference=-1, stamina=5, opponent_stamina=6, luck=4)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_die_thrown_up_to_three_times(workers: int) -> None:
    # Worth with one throw left 7/2, with two 17/4 (keep 4, 5 and 6), with three 14/3 (5 and 6).
    solution = solve_tree(dice_choices, dice_score, START, workers=workers)
    assert solution.value == Fraction(14, 3)
    assert solve_tree(dice_choices, dice_score, START, exact=False).value == pytest.approx(14 / 3)
    assert [solution.value_of((left, 1)) for left in (1, 2, 3)] == [
        Fraction(7, 2),
        Fraction(17, 4),
        Fraction(14, 3),
    ]
    assert [solution.node((2, face)).choice for face in (4, 5)] == ["throw again", "keep"]
    assert len(solution) == 6 + 6 + 6 + 1
    # 5 or 6 at once; else 4, 5 or 6; else anything.
    assert dict(solution.final_states()) == {
        (0, 6): Fraction(1, 6) + Fraction(4, 6) * (Fraction(1, 6) + HALF / 6),
        (0, 5): Fraction(1, 6) + Fraction(4, 6) * (Fraction(1, 6) + HALF / 6),
        (0, 4): Fraction(4, 6) * (Fraction(1, 6) + HALF / 6),
        **{(0, face): Fraction(4, 6) * HALF / 6 for face in (1, 2, 3)},
    }


@given(st.integers(0, 10_000))
def test_random_games_for_two_against_the_definition(seed: int) -> None:
    game = RandomGame(seed, "alternating", cyclic=False, size=6)

    @cache
    def value(state: int) -> Fraction:
        if game.is_terminal(state):
            return Fraction(0)
        found = [
            sum(o.probability * (o.reward + value(o.state)) for o in game.transition(state, joint))
            for joint in product(*game.legal_actions(state))
        ]
        return Fraction((min, max)[state % 2](found))

    solution = solve_as_tree(game)
    assert solution.value == sum(o.probability * value(o.state) for o in game.initial())
    ends = solution.final_states()
    assert sum(p for _, p in ends) == 1
    assert sum(p * at.collected for at, p in ends) == solution.value
    for at, node in solution.nodes.items():
        assert at.state is None or node.value == value(at.state) + at.collected
        if node.choice is not None:
            assert dict(node.choices)[node.choice] == node.value
            assert sum(p * solution.value_of(to) for to, p in node.outcomes) == node.value
    for decision in solution.decisions(3):
        second = dict(solution.node(decision.state).choices)[decision.second]
        assert decision.loss == abs(solution.value_of(decision.state) - second) > 0
        assert decision.visits == solution.visits()[decision.state]


@pytest.mark.parametrize(
    "game",
    [
        COMBAT,
        with_modifier(COMBAT, "luck", -0.15),
        Greed(limit=12, sides=4),
        RandomGame(1, "single", cyclic=False),
        RandomGame(2, "alternating", cyclic=False),
    ],
    ids=lambda game: game.info.name,
)  # fmt: skip
def test_acyclic_games_have_the_values_of_the_array_solver(game: Any) -> None:
    assert_tree_equals_table(game)


# Values before a round, found by a program in whole numbers that shared no code with the solver.
COMBATS = {
    (5, 6, 4): Fraction(286276359526875, 1032188877029888),
    (5, 4, 4): Fraction(863397911475, 1785793904896),
    (3, 6, 4): Fraction(273196432125, 1785793904896),
    (5, 2, 3): Fraction(1169999055, 1544804416),
    (1, 2, 1): Fraction(435, 1156),
}


def test_combats_have_the_exact_values_of_another_program() -> None:
    tree = solve_as_tree(COMBAT)
    assert tree.value == COMBATS[5, 6, 4]
    chance = COMBAT.next_round(-1)
    for statistics in list(COMBATS)[1:]:
        won, lost = (
            tree.value_of(Reached(Combat(-1, *statistics, result))) for result in ("won", "lost")
        )
        assert chance["won"] * won + chance["lost"] * lost == COMBATS[statistics]


def test_pig_is_refused_and_a_loop_of_it_named() -> None:
    with pytest.raises(CycleError, match="play can return to a state") as caught:
        solve_as_tree(Pig(target=10))
    first, _, last = caught.value.cycle  # Both players throw a 1.
    assert first == last
    assert str(caught.value).count("-- roll -->") == 2


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_loop_is_named_as_a_path(length: int) -> None:
    def choices(s: int) -> list[Any]:
        return [("stop", [(-1, 1)]), ("on", [((s + 1) % length, HALF), (-1, HALF)])]

    with pytest.raises(CycleError) as caught:
        solve_tree(choices, lambda s: 0 if s < 0 else None, 0)
    assert sorted(set(caught.value.cycle)) == list(range(length))
    assert len(caught.value.cycle) == length + 1
    assert f"  {caught.value.cycle[0]} -- on -->\n" in str(caught.value)


@pytest.mark.parametrize("exact", [True, False])
def test_play_may_be_far_longer_than_the_stack_is_deep(exact: bool) -> None:
    length = 5_000
    solution = solve_tree(
        lambda s: [("on", [(s + 1, 1)]), ("stop", [(-1, 1)])],
        lambda s: 1 if s == length else 0 if s < 0 else None,
        0,
        exact=exact,
    )
    assert (solution.value, len(solution)) == (1, length + 2)
    assert solution.final_states() == [(length, 1)]


def test_states_met_again_are_solved_once() -> None:
    calls: list[int] = []

    def choices(s: int) -> list[Any]:
        calls.append(s)
        return [("one", [(s + 1, 1)]), ("two", [(s + 1, HALF), (s + 2, HALF)])]

    # Going on by one throughout ends at 40, and stepping over it at the end may reach 41.
    assert solve_tree(choices, lambda s: s if s >= 40 else None, 0).value == Fraction(81, 2)
    assert sorted(calls) == list(range(40))


def test_the_first_of_equal_choices_is_taken_and_outcomes_merge_or_are_left_out() -> None:
    quarter = Fraction(1, 4)
    choices = [
        ("left", [("won", HALF), ("lost", HALF)]),
        ("right", [("won", quarter), ("lost", HALF), ("won", quarter), ("hell", 0)]),
    ]
    solution = solve_tree(lambda _: choices, {"won": 1, "lost": 0}.get, "fork")
    node = solution.node("fork")
    assert (node.choice, node.choices) == ("left", (("left", HALF), ("right", HALF)))
    assert solution.decisions() == []
    with pytest.raises(KeyError, match="hell"):
        solution.value_of("hell")


@pytest.mark.parametrize(
    ("error", "choices", "message"),
    [
        (ValueError, lambda s: [], "state 'start' has neither a score nor choices"),
        (ValueError, lambda s: [("on", [])], "choice 'on' of state 'start': the probabilities sum"),
        (
            ValueError,
            lambda s: [("on", [("a", HALF), ("b", Fraction(1, 3))])],
            "choice 'on' of state 'start': the probabilities sum to 5/6, not to 1",
        ),
        (ValueError, lambda s: [("on", [("a", 1 / 3)] * 3)], "write thirds as Fraction(1, 3)"),
        (
            ValueError,
            lambda s: [("on", [("a", 2), ("b", -1)])],
            "choice 'on' of state 'start': the probability of 'b' is negative",
        ),
        (ValueError, lambda s: [("on", [("a", "x")])], "'x', which is not a rational number"),
        (
            TypeError,
            lambda s: [("on", [([1, 2], 1)])],
            "choice 'on' of state 'start': state [1, 2] cannot be hashed",
        ),
    ],
)
def test_faults_of_the_rules_name_the_state(
    error: type[Exception], choices: Any, message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        solve_tree(choices, {}.get, "start")


def test_an_error_inside_the_rules_says_in_which_state() -> None:
    with pytest.raises(RuntimeError, match="no dice at hand") as caught:
        solve_tree(failing_choices, dice_score, START)
    assert caught.value.__notes__ == [f"in the choices of state (1, {6})"]


def test_rules_that_cannot_be_sent_are_refused_by_several_processes() -> None:
    with pytest.raises(ValueError, match="define choices, score and player at the top of a module"):
        solve_tree(lambda s: dice_choices(s), dice_score, START, workers=2)
