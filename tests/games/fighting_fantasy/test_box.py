"""All combats of a box at once: equal to the rules in Fractions and to the generic solver."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvent.exact import solve, solve_linear_program
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.kernel import CombatBox, solve_box
from solvent.games.fighting_fantasy.kernel_rational import RationalBox, solve_box_exact
from solvent.games.fighting_fantasy.rules import Combat, Damage, decided_round
from solvent.model import compile_game

THREE = Damage(won_lucky=3)


@pytest.fixture(scope="module")
def box() -> CombatBox:
    return solve_box()


@pytest.fixture(scope="module")
def rational() -> RationalBox:
    return solve_box_exact()


def test_rational_box_equals_the_rules_in_fractions(rational: RationalBox) -> None:
    game = FightingFantasy()

    @cache
    def value(state: Combat) -> Fraction:
        if game.is_terminal(state):
            return Fraction(0)
        return max(
            sum(o.probability * (o.reward + value(o.state)) for o in game.transition(state, (a,)))
            for a in game.legal_actions(state)[0]
        )

    for i, difference in enumerate(rational.differences):
        start = decided_round(difference).items()
        for hero, opponent, luck in np.ndindex(8, 8, 7):
            at = (hero + 1, opponent + 1, luck)
            expected = sum(p * value(Combat(difference, *at, outcome)) for outcome, p in start)
            assert rational.value[i, *at] == expected
        value.cache_clear()


def test_float_box_equals_the_rational_box_in_values_and_in_every_decision(
    box: CombatBox, rational: RationalBox
) -> None:
    # 157,248 points; on 72,184 decisions keeping and testing are exactly equally good.
    assert box.strategy[:, 1:, 1:].size == 157_248
    assert rational.tied.sum() == 72_184
    assert (box.strategy == rational.strategy).all()
    exact = rational.value.astype(float)
    np.testing.assert_allclose(box.value, exact, rtol=0, atol=2e-15)
    # Small chances, of victory and of defeat, are accurate in themselves.
    np.testing.assert_allclose(box.value, exact, rtol=1e-13)
    defeat = (1 - rational.value).astype(float)
    np.testing.assert_allclose(box.defeat, defeat, rtol=1e-13)


@settings(max_examples=25, deadline=None)
@given(
    difference=st.integers(-20, 20),
    damage=st.builds(
        Damage,
        won=st.integers(1, 4),
        won_lucky=st.integers(0, 6),
        won_unlucky=st.integers(0, 3),
        lost=st.integers(1, 4),
        lost_lucky=st.integers(0, 3),
        lost_unlucky=st.integers(0, 6),
    ),
    stamina_above=st.integers(0, 4),
    luck_above=st.integers(-1, 4),
    weights=st.tuples(*[st.fractions(0, 3, max_denominator=7)] * 2),
    rounds=st.none() | st.tuples(*[st.integers(0, 50)] * 2).filter(any),
)
def test_boxes_are_equal_for_any_damage_rounds_and_objective(
    difference: int,
    damage: Damage,
    stamina_above: int,
    luck_above: int,
    weights: tuple[Fraction, Fraction],
    rounds: tuple[int, int] | None,
) -> None:
    arguments: Any = (7, 6, 5, [difference] if rounds is None else None, damage)
    objective: dict[str, Any] = {
        "stamina_above": stamina_above,
        "luck_above": luck_above,
        "stamina_weight": weights[0],
        "luck_weight": weights[1],
    }
    if rounds is not None:
        whole = sum(rounds) + 1
        objective["round_probabilities"] = [
            Fraction(rounds[0], whole), Fraction(1, whole), Fraction(rounds[1], whole)
        ]  # fmt: skip
    floats = solve_box(*arguments, **objective)
    exact = solve_box_exact(*arguments, **objective)
    assert (floats.strategy == exact.strategy).all()
    np.testing.assert_allclose(floats.value, exact.value.astype(float), rtol=2e-15, atol=2e-15)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"skill_difference": -4, "stamina": 9, "opponent_stamina": 14, "luck": 12},
        {"skill_difference": [-10, 10], "stamina": 6, "opponent_stamina": 5, "luck": 7},
        {"stamina": 10, "opponent_stamina": 11, "luck": 8, "damage": THREE},
        {"stamina": 10, "opponent_stamina": 9, "luck": 6, "stamina_above": 4},
        {"stamina": 10, "opponent_stamina": 9, "luck": 9, "luck_above": 5},
        {"stamina": 9, "opponent_stamina": 9, "luck": 7, "stamina_weight": 0.1, "luck_above": 2},
        {"round_probabilities": ["1/5", "2/5", "2/5"], "luck_weight": "1/3"},
    ],
)
def test_box_equals_the_generic_solver_state_by_state(parameters: dict[str, Any]) -> None:
    game = FightingFantasy(**parameters)
    table = compile_game(game)
    solution = solve(table)
    differences, staminas, opponents, lucks = game._starts
    box = solve_box(
        max(staminas), max(opponents), max(lucks),
        None if game.round_probabilities else differences, game._damage,
        stamina_above=game.stamina_above, luck_above=game.luck_above,
        stamina_weight=game.stamina_weight, luck_weight=game.luck_weight,
        round_probabilities=game.round_probabilities,
    )  # fmt: skip
    live = np.flatnonzero(~table.terminal)
    states: list[Any] = [table.states[s] for s in live]
    at = np.array(
        [(box.differences.index(s.difference), s.hero, s.opponent, s.luck, s.round == "lost")
         for s in states]
    )  # fmt: skip
    expected = box.round_values[tuple(at.T)]
    np.testing.assert_allclose(solution.values[live], expected, rtol=0, atol=1e-13)
    rows = box.action_values[tuple(at.T)][table.mask[0][live]]
    np.testing.assert_allclose(solution.action_values, rows, rtol=0, atol=1e-13)


def test_linear_program_agrees() -> None:
    table = compile_game(FightingFantasy(stamina=8, opponent_stamina=8, luck=6))
    program = solve_linear_program(table)
    np.testing.assert_allclose(program.values, solve(table).values, rtol=0, atol=1e-9)
    assert program.primal == pytest.approx(program.dual, abs=1e-9)


def test_more_skill_stamina_or_luck_never_hurts(box: CombatBox) -> None:
    value = box.value[:, 1:, 1:, :]
    rounding = 1e-14
    for axis, sign in enumerate((1, 1, -1, 1)):
        assert (sign * np.diff(value, axis=axis) >= -rounding).all()


def test_without_luck_one_side_wins_as_often_as_the_other_loses(rational: RationalBox) -> None:
    value = rational.value[:, 1:, 1:, 0]
    assert (value + value[::-1].swapaxes(1, 2) == 1).all()


def test_odd_stamina_is_worth_the_next_even_one_without_luck(rational: RationalBox) -> None:
    value = rational.value[:, 1:, 1:, 0]
    assert (value[:, 0::2] == value[:, 1::2]).all()
    assert (value[:, :, 0::2] == value[:, :, 1::2]).all()


def test_an_objective_costs_victories(box: CombatBox) -> None:
    previous = box
    for stamina_above in (3, 8, 24):
        harder = solve_box(stamina_above=stamina_above)
        assert (harder.value <= previous.value + 1e-14).all()
        assert (harder.value < previous.value - 1e-6).any()
        previous = harder
    assert not previous.value.any()


def test_value_is_the_mean_over_rounds(box: CombatBox) -> None:
    chances = np.array([[float(decided_round(d).get(r, 0)) for r in ("won", "lost")]
                        for d in box.differences])  # fmt: skip
    mean = (box.round_values * chances[:, None, None, None, :]).sum(axis=-1)[:, 1:, 1:]
    np.testing.assert_allclose(box.value[:, 1:, 1:], mean, rtol=0, atol=1e-15)
    best = np.nanmax(box.action_values[:, 1:, 1:], axis=-1)
    np.testing.assert_allclose(box.round_values[:, 1:, 1:], best, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "exakt"}, "rule is 'exakt'; allowed are exact, paper. Did you mean 'exact'"),
        ({"max_stamina": 0}, "max_stamina is 0"),
        ({"max_luck": 1.5}, "max_luck is 1.5"),
        ({"differences": [21]}, "difference is 21; allowed are whole numbers from -20 to 20"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_box(**arguments)
