"""No bracket excludes the truth, whatever magnitudes meet: random games in rational arithmetic.

The tables' floats are dyadic, so the truth is a Fraction found by brute force over all policies
(:mod:`rational_tables`). Where nothing can be proved the solver says so; how often it may is part
of the tests.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from random_games import KINDS as RANDOM_KINDS
from random_games import RandomGame
from rational_tables import (
    END,
    KINDS,
    Row,
    Truth,
    mirrored,
    mixed_rows,
    random_rows,
    table_of,
    truth,
)

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    Solution,
    certificate,
    chain,
    exploitability,
    mdp,
    policy_value,
    solve,
)
from solvent.exact.certificate import bracket
from solvent.model import TabularGame, TabularPolicy, compile_game


def has_no_value(found: Truth) -> bool:
    """Whether from some state nothing ends, or never to end is best."""
    return found.infinite or found.endless or found.value is None


def judge(rows: list[list[Row]], player: int) -> str:
    """Solve a table for one player and hold the answer against the truth."""
    game = table_of(rows if player == 0 else mirrored(rows), player=player)
    try:
        solution = solve(game)
    except (CertificateError, ImproperGameError) as error:
        if any(has_no_value(truth(rows, s)) for s in range(len(rows))):
            return "rightly refused"
        return f"refused in want: {type(error).__name__}"
    found = truth(rows)
    assert found.value is not None, "nothing ends, and it was solved"
    assert not found.infinite, f"the truth is infinite; proved was {solution}"
    value = found.value if player == 0 else -found.value
    assert Fraction(solution.lower) <= value <= Fraction(solution.upper), (float(value), solution)
    return "proved"


# Of each kind, how many of a hundred games may be refused although they have a value. With exits
# of 2^-52 rewards of 3 that cancel on the average leave values that hang on their last digits. And
# a loop whose rewards cancel on the average of its ways, but not on each of them, is not exempt.
IN_WANT = {"ordinary": 0.2, "rewards": 0, "exits": 3, "loops": 0, "zeros": 1, "everything": 1}


def check_kind(kind: str, seeds: range) -> Counter[str]:
    verdicts = Counter(
        judge(random_rows(seed, kind), player) for seed in seeds for player in (0, 1)
    )
    wanting = sum(count for name, count in verdicts.items() if "in want" in name)
    assert wanting <= IN_WANT[kind] * verdicts.total() / 100 + 2, verdicts
    assert verdicts["proved"] > 0.2 * verdicts.total(), verdicts
    return verdicts


@pytest.mark.parametrize("kind", KINDS)
def test_no_bracket_excludes_the_truth(kind: str) -> None:
    check_kind(kind, range(60))


@pytest.mark.parametrize("kind", KINDS)
def test_nor_does_one_around_what_iteration_finds(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if these games were large: sweeps and a Krylov method instead of elimination."""
    monkeypatch.setattr(chain, "ELIMINATED", 0)
    monkeypatch.setattr(mdp, "APPROACHED", 0)
    monkeypatch.setattr(certificate, "SMALL", 0)
    check_kind(kind, range(60, 90))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_bracket_of_thousands_excludes_the_truth(kind: str) -> None:
    print(kind, dict(check_kind(kind, range(60, 3060))))


def secured(rows: list[list[Row]], owners: list[int], policy: TabularPolicy) -> Truth:
    """What a policy is sure of against every policy of the other, to that other player."""
    left = mixed_rows(rows, owners, policy)
    return truth(mirrored(left) if policy.player == 0 else left)


def check_two_players(kind: str, seeds: range) -> Counter[str]:
    """The bounds of a game of turns are what the two policies secure, in rational arithmetic."""
    verdicts: Counter[str] = Counter()
    for seed in seeds:
        rows = random_rows(seed, kind)
        owners = [(seed >> s) % 2 for s in range(len(rows))]
        try:
            solution = solve(table_of(rows, owners=owners))
        except (CertificateError, ImproperGameError):
            verdicts["refused"] += 1
            continue
        verdicts["proved"] += 1
        low, high = (secured(rows, owners, policy) for policy in solution.policies)
        assert not low.infinite
        assert not high.infinite
        assert Fraction(solution.lower) <= -low.value, (seed, solution)
        assert Fraction(solution.upper) >= high.value, (seed, solution)
    return verdicts


@pytest.mark.parametrize("kind", KINDS)
def test_both_players_policies_secure_the_bounds(kind: str) -> None:
    assert check_two_players(kind, range(60))["proved"] >= 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_both_players_policies_secure_the_bounds_of_thousands(kind: str) -> None:
    print(kind, dict(check_two_players(kind, range(60, 3060))))


def solved(rows: list[list[Row]]) -> Solution:
    return solve(table_of(rows))


def little_by_little(sign: int) -> list[list[Row]]:
    """Whoever goes round gains 5e-14 each time."""
    return [
        [[(1.0, 1, sign * 1.0)], [(1.0, END, 0.0)]],
        [[(1.0, 0, sign * (5e-14 - 1.0))], [(1.0, END, 0.0)]],
    ]


EITHER = (CertificateError, ImproperGameError)
HALVES: Row = [(0.5, 1, 0.0), (0.5, END, 1.0)]
TRAP: list[Row] = [[(1.0, 1, 0.0)]]
NO_VALUE: list[tuple[str, list[list[Row]], dict[str, Any], Any, str]] = [
    *(
        ("a trap half of the time", [[row], TRAP], {}, ImproperGameError, "from state 1 no end")
        for row in (HALVES, HALVES[::-1])
    ),
    *(
        (
            "going round for a gain",
            [[[(1.0, 1, gain)], [(1.0, END, 0.0)]], [[(1.0, 0, 0.0)]]],
            {"player": player},
            ImproperGameError,
            "never ending",
        )
        for player, gain in enumerate((1.0, -1.0))
    ),
    (
        # Every end costs 1 and waiting costs nothing: no proper policy is best.
        "waiting for nothing where every end costs",
        [[[(1.0, 0, 0.0)], [(1.0, END, -1.0)]]],
        {},
        ImproperGameError,
        "0 it is best never to end",
    ),
    *(
        (
            "a small gain for ever beside what a large exit pays",
            [[[(1.0, 0, gain)], [(1.0, END, 2e9)]]],
            {},
            ImproperGameError,
            "never ending",
        )
        for gain in (1e-4, 1e-8)
    ),
    *(
        (
            # Round a ring of two states floats as large as the exit cannot hold the smaller gain;
            # what matters is that nothing is proved.
            "a small gain round a ring",
            [[[(1.0, 1, gain)], [(1.0, END, 2e9)]], [[(1.0, 0, 0.0)]]],
            {},
            EITHER,
            "",
        )
        for gain in (1e-4, 1e-8)
    ),
    *(
        (
            "what cannot be reached does not hide that never ending is best",
            [[[(1.0, 0, 0.0)], [(1.0, END, -2.0)]], [[(1.0, END, elsewhere)]]],
            {},
            ImproperGameError,
            "best never to end",
        )
        for elsewhere in (1.0, 3.5e9)
    ),
    (
        "an unfair bet",
        [[[(0.5, 0, 1.0), (0.5, 0, -1.0 + 2.0**-40)], [(1.0, END, 1.0)]]],
        {},
        ImproperGameError,
        "",
    ),
    *(
        ("a gain too small for floats", [[loop, [(1.0, END, 5.0)]]], {}, EITHER, "")
        for loop in (
            [(1.0, 0, 0.0), (1e-200, 0, 1e-200)],
            [(0.5, 0, 5e-324), (0.5, 0, 0.0)],
        )
    ),
    *(
        (
            "a little for ever",
            little_by_little(1 - 2 * player),
            {"player": player},
            ImproperGameError,
            f"player {player} does best by never ending",
        )
        for player in (0, 1)
    ),
    (
        # Where player 1 does best by never ending nothing bounds from above, near as the other is.
        "a bound that is missing is looked for again",
        [[[(1.0, END, -3.0)], [(1.0, 0, 0.0)]], [[(1.0, 0, 3.0)], [(1.0, END, -1.0)]]],
        {"owners": [0, 1]},
        ImproperGameError,
        "never to end",
    ),
]


@pytest.mark.parametrize(
    ("rows", "whose", "error", "message"),
    [row[1:] for row in NO_VALUE],
    ids=[row[0] for row in NO_VALUE],
)
def test_where_never_to_end_is_best_there_is_no_value(
    rows: list[list[Row]], whose: dict[str, Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message or None):
        solve(table_of(rows, **whose))


def test_what_cannot_be_reached_does_not_widen_what_is_accepted() -> None:
    game = table_of([[[(1.0, END, 1.0)]], [[(1.0, END, 1e20)]]])
    blurred = replace(game, initial=np.array([1.0 - 1e-10, 0.0, 0.0]))
    with pytest.raises(CertificateError, match=r"wider than 1\.0e-11"):
        solve(blurred, tolerance=1e-11)
    assert solve(blurred, tolerance=1e-9).value == pytest.approx(1, abs=1e-9)


def test_a_tolerance_is_in_units_of_the_largest_value_or_reward() -> None:
    """A fair bet of a million is worth nothing, and no more exactly than its stakes allow."""
    bets: list[tuple[list[list[Row]], float, str]] = [
        ([[[(0.5, END, 1e6), (0.5, END, -1e6)]]], 1e-18, "12"),
        ([[[(0.5, END, 0.0), (0.5, 1, 0.0)]], [[(1.0, END, 1e6)]]], 1e-18, "12"),
        ([[[(0.5, END, 1e-6), (0.5, END, -1e-6)]]], 1e-30, "30"),
    ]
    for rows, tolerance, digits in bets:
        message = rf"wider than 1\.0e-{digits}; a larger tolerance="
        with pytest.raises(CertificateError, match=message):
            solve(table_of(rows), tolerance=tolerance)


def test_a_loop_whose_rewards_cancel_but_for_rounding_is_not_exempt() -> None:
    """In floats 0.1 + 0.2 - 0.3 is 5.6e-17, so this loop gains for ever."""
    tenths: list[list[Row]] = [
        [[(1.0, 1, 0.1)], [(1.0, END, 0.0)]],
        [[(1.0, 2, 0.2)]],
        [[(1.0, 0, -0.3)]],
    ]
    assert Fraction(0.1) + Fraction(0.2) - Fraction(0.3) > 0
    with pytest.raises(CertificateError):
        solved(tenths)
    eighths: list[list[Row]] = [
        [[(1.0, 1, 0.125)], [(1.0, END, 0.0)]],
        [[(1.0, 2, 0.25)]],
        [[(1.0, 0, -0.375)]],
    ]
    solution = solved(eighths)
    assert solution.values[:3].tolist() == [0.0, -0.125, -0.375]
    assert solution.upper - solution.lower < 1e-14


@pytest.mark.parametrize("step", [0.0, 0.25])
def test_a_loop_is_worth_what_its_best_state_is_whatever_values_are_given(step: float) -> None:
    """Between two states one can go for ever, `step` one way and back; one ends with more."""
    game = table_of([[[(1.0, 1, step)], [(1.0, END, 0.5)]], [[(1.0, 0, -step)], [(1.0, END, 1.0)]]])
    right = solve(game)
    assert right.values.tolist() == [1 + step, 1.0, 0.0]
    # Too little by as much as it takes to hide the better end, where going there is free.
    for lacking in (1e-11, 0.5) if step == 0 else (1e-11,):
        low, high = bracket(game, right.values - [lacking, 0.0, 0.0], right.policies)
        assert low <= 1 + step <= high < 1 + step + 1e-12


@pytest.mark.parametrize("off", [1e-7, -1e-7, 1e-2, 1.0])
@pytest.mark.parametrize("kind", ["ordinary", "rewards"])
def test_values_that_are_off_widen_the_bracket_and_never_move_it_past_the_truth(
    kind: str, off: float
) -> None:
    """Whatever values and policies are handed in, the bounds hold, and say how far off they are."""
    rng = np.random.default_rng(0)
    checked = 0
    for seed, player in product(range(40), (0, 1)):
        rows = random_rows(seed, kind)
        game = table_of(rows if player == 0 else mirrored(rows), player=player)
        try:
            solution = solve(game)
        except (CertificateError, ImproperGameError):
            continue
        value = truth(rows).value
        assert value is not None
        noise = off * rng.random(game.n_states) * ~game.terminal
        try:
            lower, upper = bracket(game, solution.values + noise, solution.policies)
        except (CertificateError, ImproperGameError):
            continue
        checked += 1
        assert Fraction(lower) <= (value if player == 0 else -value) <= Fraction(upper)
    assert checked > 40


def test_rows_of_a_policy_that_lack_a_billionth_of_1_are_taken_as_shares() -> None:
    """A policy may sum to 1 within rounding; against a loop left once in 2^40 that would matter."""
    rows: list[list[Row]] = [[[(1 - 2.0**-40, 0, 0.0), (2.0**-40, END, 1.0)], [(1.0, 0, 0.0)]]]
    game = table_of(rows)
    short = TabularPolicy.of(game, np.array([[0.5, 0.5 - 9e-10], [0.0, 0.0]]))
    assert policy_value(game, short)[0] == pytest.approx(1, abs=1e-12)


def test_play_that_hardly_ends_keeps_its_digits() -> None:
    """Two states that change places and end once in 2^52 moves, each move costing 1."""
    luck = 2.0**-52
    rows: list[list[Row]] = [
        [[(1 - luck, 1, -1.0), (luck, END, 0.0)]],
        [[(1.0, 0, -1.0)], [(1.0, 0, -1.5)]],
    ]
    solution = solved(rows)
    value = truth(rows).value
    assert value is not None
    assert Fraction(solution.lower) <= value <= Fraction(solution.upper)
    assert solution.upper - solution.lower < 1e-13 * float(-value)


def test_a_bracket_is_for_tables_only_that_agree_with_it() -> None:
    """A game for two whose players never choose at once is bounded from both sides."""
    rows: list[list[Row]] = [
        [[(1.0, 1, 0.0)], [(1.0, END, 1.0)]],
        [[(0.5, 0, 2.0), (0.5, END, 0.0)], [(1.0, END, 5.0)]],
    ]
    game: TabularGame = table_of(rows, owners=[0, 1])
    solution = solve(game)
    # v0 = max(1, v1), v1 = min(1 + v0 / 2, 5): 2.
    assert solution.value == pytest.approx(2, abs=1e-14)
    lower, upper = bracket(game, solution.values * 7, solution.policies)
    assert 2 - 1e-12 < lower <= 2 <= upper < 2 + 1e-12


def test_values_that_are_all_too_high_by_the_same_are_held_against_the_end() -> None:
    """They solve the equations of optimality but for one: that the end is worth nothing."""
    game = table_of([[[(1.0, END, 1.0)], [(1.0, END, 0.5)]]])
    solution = solve(game)
    lower, upper = bracket(game, solution.values + 7, solution.policies)
    assert lower <= 1 <= upper
    with pytest.raises(CertificateError, match="not a finite number"):
        bracket(game, solution.values * np.nan, solution.policies)


def test_strategies_from_which_player_1_never_ends_are_no_reason_to_refuse() -> None:
    """Player 0 ends at once; going back instead would let player 1 go round for ever with a gain.

    Newton's method begins with going back half of the time, and what it leaves may be just that.
    """
    lazy: Row = [(1 - 2.0**-39, 0, -(2.0**-15)), (2.0**-40, 0, -(2.0**-10)), (2.0**-40, END, 0.0)]
    rows: list[list[Row]] = [
        [[(1.0, 1, 1.0)], lazy, [(1.0, 1, -(2.0**-13))]],
        [[(1.0, 0, 0.0)], [(1.0, END, 0.5)]],
    ]
    assert solve(table_of(rows, owners=[1, 0])).value == pytest.approx(-(2.0**25), rel=1e-9)


def test_rows_that_gain_as_much_and_hardly_ever_end_are_no_reason_to_refuse() -> None:
    """Whoever walks up 2501 steps against the wind, or goes aside at once, gets the same in all."""
    top = 2500
    aside, last = top + 1, top + 2
    rows: list[list[Row]] = [
        [[(0.75, max(s - 1, 0), 0.0), (0.25, s + 1, 0.0)], [(1.0, aside, 0.0)]] for s in range(top)
    ]
    rows.append([[(0.75, top - 1, 0.0), (0.25, END, 1.0)], [(1.0, aside, 0.0)]])
    solution = solved([*rows, [[(1.0, last, 8.0)]], [[(1.0, END, -7.0)]]])
    assert solution.lower <= 1 <= solution.upper


# A bracket holds the value even where the numbers below it are wrong


def test_a_policy_that_errs_makes_the_bracket_wide_on_its_side() -> None:
    """As wide as what the policy loses, whatever the values are that come with it."""
    for seed, kind, cyclic in product(range(3), RANDOM_KINDS, (False, True)):
        table = compile_game(RandomGame(seed, kind, cyclic, size=4))
        right = solve(table)
        for player in (0, 1):
            policy = TabularPolicy.uniform(table, player=player)
            pair = tuple(policy if p == player else right.policies[p] for p in (0, 1))
            loses = exploitability(table, policy, right)
            assert loses > 0.01 or (table.action_count[player] <= 1).all()
            low, high = bracket(table, right.values, pair)
            sides = (loses, 0.0) if player == 0 else (0.0, loses)
            assert (right.value - low, high - right.value) == pytest.approx(sides, abs=1e-9)
            with suppress(CertificateError):
                low, high = bracket(table, policy_value(table, *pair), pair)
                assert low <= right.upper
                assert right.lower <= high


def test_a_policy_that_need_not_end_has_no_bracket_where_play_comes_to_that() -> None:
    """State 2 can be kept up for ever for nothing; state 1 leads there half the time."""
    game = table_of(
        [
            [[(1.0, END, 1.0)]],
            [[(0.5, 2, 0.0), (0.5, END, 1.0)]],
            [[(1.0, 2, 0.0)], [(1.0, END, 1.0)]],
        ]
    )
    right = solve(game)
    assert [policy.name for policy in right.policies] == ["optimal", "optimal"]
    keeping = TabularPolicy.deterministic(game, np.zeros(4, int))
    # From where play begins it is never met.
    low, high = bracket(game, right.values, (keeping, right.policies[1]))
    assert low <= 1 <= high
    assert high - low < 1e-12
    later = replace(game, initial=np.eye(4)[1])
    message = "^dyadic: play by this policy from state 1 need not end$"
    with pytest.raises(ImproperGameError, match=message):
        bracket(later, right.values, (replace(keeping, model_hash=later.model_hash),))  # type: ignore[arg-type]
