"""The algebra of modifiers, the printed examples, and the rounding of exact probabilities."""

import json
import re
from dataclasses import replace
from decimal import getcontext, localcontext
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any

import numpy as np
import pytest
from doc_pages import check_claims
from hypothesis import given
from hypothesis import strategies as st
from random_games import RandomGame

import solvent  # noqa: F401 (registers the environments)
from solvent.exact import score, solve
from solvent.games import FightingFantasy, Pig
from solvent.games.fighting_fantasy.rules import TEST, Combat, luck_succeeds
from solvent.model import (
    Outcome,
    TabularGame,
    TabularPolicy,
    compile_game,
    make_game,
    parametrize_with_game_checks,
)
from solvent.model.context import (
    DENOMINATOR,
    C,
    Check,
    GameInContext,
    modified,
    modified_exactly,
    modifier_between,
    resolve_at_targets,
    with_modifier,
)

# OSDL, "Resolving Actions": in percent, by modifier and base probability 0, 25, 50, 75 and 100.
PRINTED = {
    -30: ("0.0", "8.63", "22.0", "45.9", "100."),
    -20: ("0.0", "12.5", "30.1", "56.4", "100."),
    -10: ("0.0", "17.9", "39.6", "66.3", "100."),
    0: ("0.0", "25.0", "50.0", "75.0", "100."),
    10: ("0.0", "33.6", "60.3", "82.0", "100."),
    20: ("0.0", "43.5", "69.8", "87.4", "100."),
    30: ("0.0", "54.0", "77.9", "91.3", "100."),
}
CELLS = [
    (modifier, base, printed)
    for modifier, row in PRINTED.items()
    for base, printed in zip((0, 25, 50, 75, 100), row, strict=True)
]

chances = st.floats(0.001, 0.999)
sizes = st.floats(-1, 1)
rationals = st.fractions(0, 1, max_denominator=1000)
percents = st.integers(-100, 100).map(lambda n: Fraction(n, 100))


@pytest.mark.parametrize(("modifier", "base", "printed"), CELLS)
def test_the_printed_table_is_cut_off_after_its_last_digit(
    modifier: int, base: int, printed: str
) -> None:
    unit = 10 ** len(printed.partition(".")[2])
    for p in (
        modified(base / 100, modifier / 100),
        modified_exactly(Fraction(base, 100), Fraction(modifier, 100)),
    ):
        assert floor(Fraction(p) * 100 * unit) == Fraction(printed) * unit


def misrounded() -> list[float]:
    """The entries of the printed table that rounding would print otherwise."""
    cells = [
        (modified(base / 100, modifier / 100) * 100, printed) for modifier, base, printed in CELLS
    ]
    return [p for p, printed in cells if round(p, len(printed.partition(".")[2])) != float(printed)]


def test_the_ninja_climbs_wounded_at_night_in_the_rain() -> None:
    ninja = Check("climbing", "0.8", (("wounded", -0.35), ("night", 0.1))).given(("rain", -0.05))
    assert ninja.probability == modified_exactly("4/5", "-3/10")
    assert ninja.explain() == "80% climbing; wounded -35%, night +10%, rain -5%: 53.15%"


def test_the_page_judges_every_claim_of_the_source() -> None:
    def percent(value: float) -> str:
        return f"{100 * value:.2f}%"

    def change(base: float, modifier: float) -> str:
        return f"{100 * (modified(base, modifier) - base):+.2f}"

    changes = ", ".join(
        f"{change(base, 0.3)} and {change(base, -0.3)}{' points' * (base == 0.25)} at {base:.0%}"
        for base in (0.25, 0.5, 0.75)
    )
    orders = [modified(modified(0.6, m), 0.35 - m) for m in (0.2, 0.15, 0.35)]
    near = ", ".join(f"+{m:.0%}: {percent(modified(0.5, m))}" for m in (0.1, 0.2, 0.3))
    inverted, meant = 1 / (1 + np.exp(-0.6)), modifier_between(0.5, 0.6)
    check_claims(
        "checks.md",
        {
            "a table of 7 modifiers and 5 bases": (
                f"all {len(CELLS)} entries with c = {float(C)}, {len(misrounded())} of which round "
                "to another last digit"
            ),
            "the comment on the formula, p·exp(x) / (1 + p·(exp(x) - 1))": (
                f"50% and +10%: {percent(modified(0.5, 0.1 / float(C)))}; with c = {float(C)}, "
                f"{percent(modified(0.5, 0.1))}"
            ),
            "an increase by m equals the decrease by -m": f"+30%: {changes}",
            "+20% and +15% in either order, or +35%, make 86.7% of 60%": ", ".join(
                percent(order) for order in orders
            ),
            "at 50% a modifier m makes about 50% + m": near,
            "m = 1 / (1 + exp(-p_new))": (
                f"60%: {percent(inverted)}; meant is logit(p_new) / c, {percent(meant)}"
            ),
            "the ninja climbs in about 53%": percent(modified(0.8, -0.3)),
            "r = p counts as a success": (
                f"a draw of 0 {'succeeds in' if modified_exactly(0, 0.1) else 'fails'} a check"
                " of 0% here"
            ),
        },
    )


@given(chances, sizes, sizes)
def test_modifiers_add_in_either_order(p: float, first: float, second: float) -> None:
    together = modified(p, first + second)
    assert modified(modified(p, first), second) == pytest.approx(together, abs=1e-12)
    assert modified(modified(p, second), first) == pytest.approx(together, abs=1e-12)


@given(chances, chances)
def test_one_modifier_leads_from_any_probability_to_any_other(p: float, p_new: float) -> None:
    assert modified(p, modifier_between(p, p_new)) == pytest.approx(p_new, abs=1e-12)
    assert modifier_between(p, p_new) == -modifier_between(p_new, p)


@given(rationals, percents)
def test_in_exact_arithmetic_the_symmetry_is_an_equality(p: Fraction, modifier: Fraction) -> None:
    assert modified_exactly(p, -modifier) == 1 - modified_exactly(1 - p, modifier)


@given(rationals, percents)
def test_exact_and_float_agree_within_the_rounding(p: Fraction, modifier: Fraction) -> None:
    exact = modified_exactly(p, modifier)
    assert abs(float(exact) - modified(p, modifier)) <= 0.5 / DENOMINATOR + 1e-15
    assert exact == p or DENOMINATOR % exact.denominator == 0


@pytest.mark.parametrize(
    ("p", "modifier", "expected"),
    # From 60-digit decimals by another formula, p e^x / (1 + p (e^x - 1)), rounded half up.
    [
        ("4/5", "-3/10", 531531690),
        ("1/3", "1/7", 476730027),
        ("1/1000", "1", 62575947),
        # What is certain stays so.
        *((p, m, int(p) * DENOMINATOR) for p in ("0", "1") for m in ("-50", "-1", "0", "1", "50")),
    ],
)
def test_exact_values_are_these_on_every_machine(p: str, modifier: str, expected: int) -> None:
    assert modified_exactly(p, modifier) == Fraction(expected, DENOMINATOR)


def test_exact_values_do_not_depend_on_floats_or_on_the_callers_decimals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a platform's exponential was asked")

    monkeypatch.setattr(np, "exp", forbidden)
    monkeypatch.setattr("math.exp", forbidden)
    with localcontext() as context:
        context.prec = 3
        assert modified_exactly(Fraction(31, 101), "0.07") == Fraction(372_733_445, DENOMINATOR)
        assert getcontext().prec == 3


def test_a_hard_case_is_decided_with_more_digits() -> None:
    # Half-way between two multiples and moved by some 10^-68: the first digits cannot tell where.
    half_way, tiny = Fraction(3, 2 * DENOMINATOR), Fraction(1, 10**60)
    assert modified_exactly(half_way, tiny) == Fraction(2, DENOMINATOR)
    assert modified_exactly(half_way, -tiny) == Fraction(1, DENOMINATOR)


def about_half(state: Any, joint_action: tuple[int, ...], outcome: Outcome) -> bool | None:
    return True if outcome.state.round == "won" else None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: modified(1.1, 0), "p is 1.1; a probability is within 0..1"),
        (lambda: modified([0.5, float("nan")], 0), "a probability is within"),
        (lambda: modified(0.5, float("inf")), "modifier is inf; allowed are finite"),
        (lambda: modified_exactly("half", 0), "p is 'half'; allowed are numbers from 0 to 1"),
        (lambda: modified_exactly(0.5, 101), "modifier is 101; allowed are numbers from -100"),
        (lambda: modified_exactly(0.5, 0.1, c=-1), "c is -1; allowed are numbers from 0 to 100"),
        (lambda: modified_exactly(0.5, 0.1, denominator=1), "denominator is 1; allowed are"),
        (lambda: modifier_between(0, 0.5), "p is 0; allowed are numbers strictly between"),
        (lambda: modifier_between(0.5, 1.0), "p_new is 1.0; allowed are numbers strictly"),
        (lambda: Check("jump", 0.8).needs_roll(float("nan")), "threshold is nan; allowed are"),
        (lambda: Check("jump", 80), "base of 'jump' is 80; allowed are numbers from 0 to 1"),
        (lambda: Check("jump", 0.8, (("fog", "thick"),)), "modifier 'fog' is 'thick'"),
        (lambda: with_modifier(SMALL, "luck", 101), "modifier is 101; allowed are"),
        (
            lambda: make_game("ff-combat", modifiers={"lukc": 0.1}),
            "check of ff-combat is 'lukc'; allowed are luck. Did you mean 'luck'",
        ),
        (
            lambda: compile_game(with_modifier(SMALL, "half", 0.1, success=about_half)),
            "the check 'half' of ff-combat is about some outcomes",
        ),
    ],
)
def test_errors_name_the_value_and_what_is_allowed(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()  # type: ignore[operator]


TENTH, SHOT = Fraction(1, 10), Fraction(1, 50)

# A probability of success, its modifiers, the threshold, what failure and success matter, and
# whether the die is rolled.
ROLLED: list[tuple[Any, Any, Any, dict[str, Any], bool]] = [
    (1 - TENTH, (), Fraction(1, 100), {"failure": TENTH}, False),
    (1 - TENTH, (), Fraction(1, 100), {"failure": Fraction(11, 100)}, True),
    (1, (), 0, {"failure": 1000}, False),
    (0, (), 2, {"failure": 2}, False),
    (0.5, (), 1, {"failure": 3}, True),
    (SHOT, (), 1 - SHOT - Fraction(1, 10**9), {}, True),
    (SHOT, (), 1 - SHOT, {}, False),
    (SHOT, (), 1, {"success": 51}, True),
    (SHOT, (), 1, {"success": 50}, False),
    # The probability is that in context: walking becomes worth a roll on ice.
    ("0.999", (), 0.01, {}, False),
    ("0.999", (("ice", "-0.6"),), 0.01, {}, True),
]


def test_a_check_is_rolled_if_probability_times_importance_is_greater_than_the_threshold() -> None:
    for base, modifiers, threshold, importance, rolled in ROLLED:
        check = Check("it", base, modifiers)
        assert check.needs_roll(threshold, **importance) is rolled, (base, threshold, importance)


@given(rationals, percents, percents)
def test_escaping_succeeds_exactly_as_often_as_the_action_fails(
    p: Fraction, first: Fraction, second: Fraction
) -> None:
    action = Check("a blow", p, (("dark", first), ("wounded", second)))
    escape = action.target_side()
    assert escape.probability == 1 - action.probability
    assert replace(escape.target_side(), name="a blow") == action
    assert escape.name == "escaping a blow"


def test_a_target_escapes_in_its_best_way_or_as_the_action_implies() -> None:
    blow = Check("a blow", "0.6", (("dark", "-0.1"),))
    parry, dodge = Check("parrying", "0.2"), Check("dodging", "0.4", (("tired", "-0.05"),))
    checks = resolve_at_targets(blow, {"none": [], "both": [parry, dodge], "worse": [parry]})
    assert list(checks) == ["none", "both", "worse"]
    assert checks["none"] == blow.target_side()
    # What hampers the blow helps the target, whatever the target does.
    assert checks["both"] == dodge.given(("dark", "0.1"))
    # A rule of the target's own replaces the default even where that would be better.
    assert checks["worse"] == parry.given(("dark", "0.1"))
    assert checks["worse"].probability < checks["none"].probability


# The difficulty dial: the rules it makes, and known optima along it


SMALL = FightingFantasy(stamina=5, opponent_stamina=6, luck=7)


def rolls_a_one(state: Any, joint_action: tuple[int, ...], outcome: Outcome) -> bool | None:
    """Pig's disaster as a check of one's own: the die passes, with nothing scored."""
    if joint_action[state.player] != 0:
        return None
    return bool(outcome.state.scores == state.scores and outcome.state.total == 0)


HARDER_PIG = with_modifier(Pig(target=4), "one", -0.2, success=rolls_a_one)


@parametrize_with_game_checks(
    [with_modifier(SMALL, "luck", -0.3), with_modifier(SMALL, "luck", "3/10"), HARDER_PIG]
)
def test_a_game_in_context_is_a_game(game: GameInContext, check: Any) -> None:
    check(game)


@pytest.mark.parametrize("luck", range(1, 8))
@pytest.mark.parametrize("result", ["won", "lost"])
def test_a_test_of_luck_succeeds_with_the_modified_probability(luck: int, result: str) -> None:
    game = with_modifier(SMALL, "luck", -0.15)
    outcomes = game.transition(Combat(0, 5, 6, luck, result), (TEST,))
    after = {"won": ("opponent", 2), "lost": ("hero", 4)}[result]
    held = sum(o.probability for o in outcomes if getattr(o.state, after[0]) == after[1])
    assert held == modified_exactly(luck_succeeds(luck), -0.15)


def test_what_follows_success_and_failure_keeps_its_proportions() -> None:
    plain = RandomGame(1, "single", cyclic=False)
    game = with_modifier(plain, "no gain", 0.2, success=lambda s, a, o: o.reward <= 0)
    unequal = 0
    for state in range(plain.size):
        before, after = plain.transition(state, (0, 0)), game.transition(state, (0, 0))
        assert [(o.state, o.reward) for o in before] == [(o.state, o.reward) for o in after]
        assert sum(o.probability for o in after) == 1
        for held in (True, False):
            own = [n for n, outcome in enumerate(before) if (outcome.reward <= 0) is held]
            assert len({after[n].probability / before[n].probability for n in own}) <= 1
            unequal += len({before[n].probability for n in own}) > 1
    assert unequal


def test_modifiers_of_one_check_add_before_anything_is_rounded() -> None:
    twice = with_modifier(with_modifier(SMALL, "luck", -0.1), "luck", -0.2)
    assert twice == with_modifier(SMALL, "luck", -0.3)
    back = with_modifier(twice, "luck", 0.3)
    assert compile_game(back).model_hash == compile_game(SMALL, reference=True).model_hash


def test_the_model_hash_and_the_parameters_know_the_modifier() -> None:
    games = [make_game("ff-combat", modifiers={"luck": m}) for m in (-0.15, 0, 0.15)]
    assert len({compile_game(game).model_hash for game in games}) == 3
    parameters = json.loads(json.dumps(dict(games[0].info.parameters)))
    assert parameters["modifiers"] == {"luck": "-3/20"}
    again = make_game("ff-combat", modifiers=parameters["modifiers"])
    assert compile_game(again).model_hash == compile_game(games[0]).model_hash


@cache
def combat(percent: int) -> TabularGame:
    return compile_game(make_game("ff-combat", modifiers={"luck": Fraction(percent, 100)}))


# Percent: the optimum there, and the gap of the policy that is optimal at 0.
KNOWN = {
    -30: (0.593770400, 0.036381276),
    -15: (0.658914481, 0.008692529),
    0: (0.737292603, 0.0),
    15: (0.809011819, 0.004150790),
    30: (0.856611619, 0.007843747),
}


def test_known_optima_and_gaps_along_the_dial() -> None:
    optimal = solve(combat(0)).policies[0]
    for percent, (optimum, gap) in KNOWN.items():
        game = combat(percent)
        result = score(game, TabularPolicy.of(game, optimal.probabilities))
        assert result.optimum == pytest.approx(optimum, abs=1e-9)
        assert result.optimality_gap == pytest.approx(gap, abs=1e-9)
