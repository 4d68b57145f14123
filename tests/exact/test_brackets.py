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
    mirrored,
    mixed_rows,
    random_rows,
    table_of,
    truth,
)
from refusals import assert_refused

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    certificate,
    chain,
    exploitability,
    mdp,
    policy_value,
    solve,
)
from solvent.exact.certificate import bracket
from solvent.model import TabularPolicy, compile_game


def judge(rows: list[list[Row]], player: int) -> str:
    """Solve a table for one player and hold the answer against the truth."""
    try:
        solution = solve(table_of(rows if player == 0 else mirrored(rows), player=player))
    except (CertificateError, ImproperGameError) as error:
        # From some state nothing ends, or never to end is best.
        every = [truth(rows, s) for s in range(len(rows))]
        if any(found.infinite or found.endless or found.value is None for found in every):
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


every_kind = pytest.mark.parametrize("kind", KINDS)
of_many_seeds = pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 3060), marks=pytest.mark.slow)], ids=repr
)


def check_kind(kind: str, seeds: range) -> None:
    verdicts = Counter(
        judge(random_rows(seed, kind), player) for seed in seeds for player in (0, 1)
    )
    wanting = sum(count for name, count in verdicts.items() if "in want" in name)
    assert wanting <= IN_WANT[kind] * verdicts.total() / 100 + 2, verdicts
    assert verdicts["proved"] > 0.2 * verdicts.total(), verdicts


@every_kind
@of_many_seeds
def test_no_bracket_excludes_the_truth(kind: str, seeds: range) -> None:
    check_kind(kind, seeds)


@every_kind
@pytest.mark.parametrize(
    "seeds", [range(60, 70), pytest.param(range(70, 90), marks=pytest.mark.slow)], ids=repr
)
def test_nor_does_one_around_what_iteration_finds(
    kind: str, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if these games were large: sweeps and a Krylov method instead of elimination."""
    monkeypatch.setattr(chain, "ELIMINATED", 0)
    monkeypatch.setattr(mdp, "APPROACHED", 0)
    monkeypatch.setattr(certificate, "SMALL", 0)
    check_kind(kind, seeds)


@every_kind
@of_many_seeds
def test_both_players_policies_secure_the_bounds(kind: str, seeds: range) -> None:
    """The bounds of a game of turns are what the two policies secure, in rational arithmetic."""
    proved = 0
    for seed in seeds:
        rows = random_rows(seed, kind)
        owners = [(seed >> s) % 2 for s in range(len(rows))]
        try:
            solution = solve(table_of(rows, owners=owners))
        except (CertificateError, ImproperGameError):
            continue
        proved += 1
        # What each is sure of against every policy of the other, to that other player.
        first, second = (mixed_rows(rows, owners, policy) for policy in solution.policies)
        low, high = truth(mirrored(first)), truth(second)
        assert not low.infinite
        assert not high.infinite
        assert Fraction(solution.lower) <= -low.value, (seed, solution)
        assert Fraction(solution.upper) >= high.value, (seed, solution)
    assert proved >= len(seeds) / 5


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
            # Whoever goes round gains 5e-14 each time.
            "a little for ever",
            [
                [[(1.0, 1, sign * 1.0)], [(1.0, END, 0.0)]],
                [[(1.0, 0, sign * (5e-14 - 1.0))], [(1.0, END, 0.0)]],
            ],
            {"player": player},
            ImproperGameError,
            f"player {player} does best by never ending",
        )
        for player, sign in enumerate((1, -1))
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
    assert_refused(
        (
            (table_of(rows), tolerance, rf"wider than 1\.0e-{digits}; a larger tolerance=")
            for rows, tolerance, digits in bets
        ),
        lambda game, tolerance: solve(game, tolerance=tolerance),
        CertificateError,
    )


def ring(*rewards: float) -> list[list[Row]]:
    """States round which play goes for some rewards; in the first it can end."""
    on: list[list[Row]] = [
        [[(1.0, (s + 1) % len(rewards), reward)]] for s, reward in enumerate(rewards)
    ]
    return [[*on[0], [(1.0, END, 0.0)]], *on[1:]]


def test_a_loop_whose_rewards_cancel_but_for_rounding_is_not_exempt() -> None:
    """In floats 0.1 + 0.2 - 0.3 is 5.6e-17, so this loop gains for ever."""
    assert Fraction(0.1) + Fraction(0.2) - Fraction(0.3) > 0
    with pytest.raises(CertificateError):
        solve(table_of(ring(0.1, 0.2, -0.3)))
    assert solve(table_of(ring(0.125, 0.25, -0.375))).values[:3].tolist() == [0, -0.125, -0.375]


def forked(pay: float, end: float, back: float = 0.0) -> list[list[Row]]:
    """One of two ways pays on the way; at the end of both the other player may go back or end."""
    later: list[list[Row]] = [[[(1.0, 0, back)], [(1.0, END, end)]]] * 2
    return [[[(1.0, 1, pay)], [(1.0, 2, 0.0)]], *later]


def upwind(top: int = 2500) -> list[list[Row]]:
    """Steps against the wind to a prize of 1; aside from any of them there is as much."""
    up: list[list[Row]] = [
        [[(0.75, max(s - 1, 0), 0.0), (0.25, s + 1, 0.0)], [(1.0, top + 1, 0.0)]]
        for s in range(top)
    ]
    up.append([[(0.75, top - 1, 0.0), (0.25, END, 1.0)], [(1.0, top + 1, 0.0)]])
    return [*up, [[(1.0, top + 2, 8.0)]], [[(1.0, END, -7.0)]]]


RARE: list[list[Row]] = [
    [[(1 - 2.0**-52, 1, -1.0), (2.0**-52, END, 0.0)]],
    [[(1.0, 0, -1.0)], [(1.0, 0, -1.5)]],
]
LAZY: Row = [(1 - 2.0**-39, 0, -(2.0**-15)), (2.0**-40, 0, -(2.0**-10)), (2.0**-40, END, 0.0)]
# Rows, who chooses in each state, the value, and how wide the bracket may be.
PROVED: dict[str, tuple[list[list[Row]], list[int], Any, float]] = {
    "eighths cancel in floats": (ring(0.125, 0.25, -0.375), [0, 0, 0], 0, 1e-14),
    "play that hardly ends keeps its digits": (RARE, [0, 0], truth(RARE).value, 1e-13 * 2.0**54),
    # v0 = max(1, v1), v1 = min(1 + v0 / 2, 5).
    "both choose": (
        [
            [[(1.0, 1, 0.0)], [(1.0, END, 1.0)]],
            [[(0.5, 0, 2.0), (0.5, END, 0.0)], [(1.0, END, 5.0)]],
        ],
        [0, 1],
        2,
        1e-13,
    ),
    # Player 0 ends at once; going back instead would let player 1 go round for ever with a gain.
    # Newton's method begins with going back half of the time, and what it leaves may be just that.
    "strategies from which player 1 never ends are no reason to refuse": (
        [
            [[(1.0, 1, 1.0)], LAZY, [(1.0, 1, -(2.0**-13))]],
            [[(1.0, 0, 0.0)], [(1.0, END, 0.5)]],
        ],
        [1, 0],
        -(2.0**25) - 2.0**-10 + 2.0**-14,
        1e-5,
    ),
    "rows that gain as much and hardly ever end are no reason to refuse": (
        upwind(),
        [0] * 2503,
        1,
        1e-8,
    ),
    # From 0 the shortest way out leads through 1, where the opponent gains by going back.
    "a way out that the opponent can block is not insisted on": (
        forked(-1.0, 0.0),
        [0, 1, 0],
        0,
        1e-12,
    ),
    # After one of two moves that are worth 1 the opponent need never pay.
    "a tie in which the opponent can wait for ever is avoided": (
        forked(0.0, 1.0),
        [0, 1, 0],
        1,
        1e-12,
    ),
    # Walking on is worth 0.9e-13 a step, below what the solver tells apart, and costs nothing.
    "steps too small to be taken widen the bracket": (
        [
            [[(1.0, END, i * 0.9e-13)], [(1.0, min(i + 1, 40), 0.0)], [(1.0, max(i - 1, 0), 0.0)]]
            for i in range(41)
        ],
        [0] * 41,
        40 * 0.9e-13,
        1e-11,
    ),
    # Waiting costs 1 and ends with probability 1e-200; going ends at once, and comes later.
    "a way out by hardly any luck is not where the search begins": (
        [[[(1.0, 1, -1.0), (1e-200, END, -1.0)], [(1.0, END, -3.0)]], [[(1.0, 0, 0.0)]]],
        [0, 0],
        -3,
        1e-12,
    ),
    # The shortest way out asks for luck of 1e-200 twice, which makes 0 of its probability; the
    # likeliest takes a move more, and is certain.
    "nor is one whose probability is no float": (
        [
            [[(1.0, 0, -1.0), (1e-200, 1, -1.0)], [(1.0, 2, -1.0)]],
            [[(1.0, 0, -1.0), (1e-200, 4, -1.0)]],
            [[(1.0, 3, -1.0)], [(1.0, 0, -1.0)]],
            [[(1.0, 5, -1.0)], [(1.0, 0, -1.0)]],
            *([[(1.0, END, -1.0)], [(1.0, 0, -1.0)]] for _ in range(2)),
        ],
        [0] * 6,
        -4,
        1e-12,
    ),
    # Of these loops, in which rewards can cancel for ever, either player could end the first.
    "both players end at the same": (
        [[[(1.0, 1, 1.0)], [(1.0, END, 0.0)]], [[(1.0, 0, -1.0)], [(1.0, END, -1.0)]]],
        [0, 1],
        0,
        1e-12,
    ),
    "only player 0 goes round, and player 1 may stop at its turn": (
        [
            [[(1.0, 1, 1.0)], [(1.0, END, 0.0)]],
            [[(1.0, 0, -1.0)], [(1.0, 2, 0.0)]],
            [[(1.0, 0, 0.0)], [(1.0, END, 5.0)]],
        ],
        [0, 0, 1],
        6,
        1e-12,
    ),
    "player 1 alone can leave a fair bet": (
        [
            [[(1.0, 1, 0.0)], [(1.0, END, 7.0)]],
            [[(0.5, 1, 1.0), (0.5, 1, -1.0)], [(1.0, 0, 2.0)], [(1.0, END, 4.0)]],
        ],
        [0, 1],
        7,
        1e-12,
    ),
}


def test_a_game_and_its_mirror_image_are_proved_to_have_their_value() -> None:
    for name, (rows, owners, value, width) in PROVED.items():
        exchanged = mirrored(rows), [1 - owner for owner in owners]
        for sign, (own_rows, own) in ((1, (rows, owners)), (-1, exchanged)):
            solution = solve(table_of(own_rows, owners=own))
            truly = sign * Fraction(value)
            assert Fraction(solution.lower) <= truly <= Fraction(solution.upper), (name, solution)
            assert solution.upper - solution.lower < width, (name, solution)


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
            noise = off * rng.random(game.n_states) * ~game.terminal
            lower, upper = bracket(game, solution.values + noise, solution.policies)
        except (CertificateError, ImproperGameError):
            continue
        checked += 1
        value = truth(rows).value
        assert value is not None
        assert Fraction(lower) <= (value if player == 0 else -value) <= Fraction(upper)
    assert checked > 40


def test_rows_of_a_policy_that_lack_a_billionth_of_1_are_taken_as_shares() -> None:
    """A policy may sum to 1 within rounding; against a loop left once in 2^40 that would matter."""
    rows: list[list[Row]] = [[[(1 - 2.0**-40, 0, 0.0), (2.0**-40, END, 1.0)], [(1.0, 0, 0.0)]]]
    game = table_of(rows)
    short = TabularPolicy.of(game, np.array([[0.5, 0.5 - 9e-10], [0.0, 0.0]]))
    assert policy_value(game, short)[0] == pytest.approx(1, abs=1e-12)


def test_values_that_are_all_wrong_by_the_same_are_held_against_the_end() -> None:
    """Some solve the equations of optimality but for one: that the end is worth nothing."""
    alone: list[list[Row]] = [[[(1.0, END, 1.0)], [(1.0, END, 0.5)]]]
    for rows, owners, value, _ in (PROVED["both choose"], (alone, [0], 1, 0.0)):
        game = table_of(rows, owners=owners)
        solution = solve(game)
        for wrong in (solution.values * 7, solution.values + 7):
            lower, upper = bracket(game, wrong, solution.policies)
            assert value - 1e-12 < lower <= value <= upper < value + 1e-12
    with pytest.raises(CertificateError, match="not a finite number"):
        bracket(game, solution.values * np.nan, solution.policies)


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
