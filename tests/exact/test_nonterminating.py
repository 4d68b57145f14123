"""Best responses where the other player would rather never end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from extreme_tables import random_rows
from rational_tables import END, Row, mixed_rows, table_of, truth

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    best_response,
    exploitability,
    locate_gap,
    policy_value,
    score,
    solve,
)
from solvent.exact.scoring import comparable_score, cross_play_matrix, response_values
from solvent.model import TabularGame, TabularPolicy, against


def siege(
    day: float, night: float, toll: float = 0.0, *, ambush: bool = False, back: float = 1.0
) -> TabularGame:
    """Player 0 must attack at some time, and either attack may be the better one.

    In a state, player 0 attacks by day or by night and player 1 holds or opens. Held, play goes on
    in the other state, at the price `toll` to player 0, from the second state `back` times that.
    Opened, it ends: by day player 0 is paid `day`, by night `night`. In an ambush an attack by
    night ends play even if it is held, and pays `night`.
    """
    rows: list[list[Row]] = []
    for state, price in enumerate((toll, back * toll)):
        held: Row = [(1.0, 1 - state, -price)]
        opened: list[Row] = [[(1.0, END, day)], [(1.0, END, night)]]
        rows.append([held, opened[0], opened[1] if ambush else held, opened[1]])
    both = np.array([[True, True], [True, True], [False, False]])
    return replace(table_of(rows), mask=(both, both))


def by_day(game: TabularGame) -> tuple[TabularGame, TabularPolicy]:
    return game, TabularPolicy.deterministic(game, np.zeros(3, int), name="by day")


def test_to_hold_for_ever_is_worth_nothing_and_may_be_best() -> None:
    game, policy = by_day(siege(day=3, night=-1))
    answer = best_response(game, policy)
    assert answer.value == 0
    assert answer.lower <= 0 <= answer.upper
    assert (answer.values == 0).all()
    # Its policy does what its value says: it holds in both states.
    holding = answer.policies[1]
    live = ~game.terminal
    assert (holding.probabilities[live, 0] == 1).all()
    assert policy_value(game, policy, holding)[live] == pytest.approx([0, 0])
    assert len(answer.action_values) == 4


def test_holding_is_not_chosen_where_ending_is_better() -> None:
    game, policy = by_day(siege(day=-3, night=1))
    answer = best_response(game, policy)
    assert answer.value == -3
    assert (answer.policies[1].probabilities[~game.terminal, 1] == 1).all()


def test_endless_play_that_is_paid_has_no_value() -> None:
    game, policy = by_day(siege(day=3, night=-1, toll=1))
    for answered in (best_response, response_values):
        with pytest.raises(ImproperGameError):
            answered(game, policy)


def test_play_without_end_has_its_place_in_the_cross_play_matrix() -> None:
    for toll, back, held in ((1, 1, -np.inf), (0, 1, 0), (-1, 1, np.inf), (1, -1, np.nan)):
        game = siege(day=3, night=1, toll=toll, ambush=True, back=back)
        rows, columns = (
            [TabularPolicy.deterministic(game, np.full(3, n), player=p) for n in (0, 1)]
            for p in (0, 1)
        )
        found = cross_play_matrix(game, rows, columns)
        np.testing.assert_array_equal(found, [[held, 3], [1, 1]])


@pytest.mark.parametrize(("player", "toll"), [(0, 1), (1, -1)])
def test_a_policy_that_pays_for_ever_is_scored_among_others(player: int, toll: int) -> None:
    """By day player 0 can be held for ever, at a toll; held by day, player 1 can."""
    game = siege(day=3, night=1, toll=toll, ambush=True)
    solution = solve(game)
    policy = TabularPolicy.deterministic(game, np.full(3, 0), player=player)
    found = score(game, policy, solution)
    assert comparable_score(game, policy, solution).value == found.value
    assert exploitability(game, policy, solution) == np.inf
    assert (found.value, found.optimality_gap, found.exploitability) == (-np.inf, np.inf, np.inf)
    assert found.optimum == (1 - 2 * player) * solution.value
    other = TabularPolicy.deterministic(game, np.full(3, 1), player=player)
    assert comparable_score(game, other, solution) == score(game, other, solution)


def by_night(chance: float) -> tuple[TabularGame, TabularPolicy]:
    """An ambush, and a policy that attacks by night with some probability."""
    game = siege(day=3, night=1, ambush=True)
    chances = np.where(game.terminal, 0.0, [[1 - chance], [chance]])
    return game, TabularPolicy.of(game, chances.T)


@pytest.mark.parametrize(("chance", "value"), [(1e-90, 0), (1e-13, 0), (1e-6, 1), (0.5, 1)])
def test_nobody_waits_for_a_blunder_that_never_comes(chance: float, value: int) -> None:
    game, policy = by_night(chance)
    answer = best_response(game, policy, tolerance=1e-6)
    assert answer.value == pytest.approx(value, abs=1e-6)
    assert game.at_start(response_values(game, policy, tolerance=1e-6)) == answer.value
    # What it answers is a policy without what it takes for impossible, and it says so.
    np.testing.assert_allclose(policy_value(game, *answer.policies), answer.values, atol=1e-6)
    found = score(game, policy, illegal=np.where(game.terminal, 0.0, 0.3), tolerance=1e-6)
    assert found.optimality_gap == pytest.approx(1 - value, abs=1e-6)
    if value:
        assert found.illegal_mass == pytest.approx(0.3)
        location = locate_gap(game, policy, tolerance=1e-6)
        assert location.contribution.sum() == pytest.approx(location.gap, abs=1e-6)
    else:
        # What is visited for ever has no number of visits.
        assert np.isnan(found.illegal_mass)
        with pytest.raises(ImproperGameError, match="never ends"):
            locate_gap(game, policy)


def test_a_long_wait_is_as_exact_as_a_short_one() -> None:
    game, policy = by_night(1e-6)
    answer = best_response(game, policy)
    assert answer.value == pytest.approx(1, abs=1e-15)
    assert answer.upper - answer.lower < 1e-13
    assert exploitability(game, policy) == pytest.approx(0, abs=1e-13)


def test_a_game_that_both_could_end_is_still_refused_as_a_whole() -> None:
    with pytest.raises(ImproperGameError, match="from state 0 it is best never to end"):
        solve(siege(day=3, night=3))


@pytest.mark.parametrize("kind", ["ordinary", "loops"])
@pytest.mark.parametrize("player", [0, 1])
def test_best_responses_are_those_of_rational_arithmetic_endless_play_counted(
    kind: str, player: int
) -> None:
    """Over all pure answers to a pure policy; play that never ends without a reward is worth 0."""
    found = {"endless": 0, "ended": 0, "refused": 0}
    for seed in range(150):
        rows = random_rows(seed, kind)
        owners = [(seed >> s) % 2 for s in range(len(rows))]
        game = table_of(rows, owners=owners)
        choices = np.random.default_rng(seed).integers(0, [len(own) for own in rows])
        own = np.append(np.where(np.equal(owners, player), choices, 0), 0)
        policy = TabularPolicy.deterministic(game, own, player=player)
        left = mixed_rows(rows, owners, policy)
        sign = -1 if player == 0 else 1
        known = truth(
            [[[(p, t, sign * r) for p, t, r in row] for row in own] for own in left],
            on_the_way=True,
        )
        try:
            answer = best_response(game, policy)
        except (ImproperGameError, CertificateError):
            found["refused"] += 1
            continue
        assert not known.infinite
        assert known.value is not None
        assert answer.lower <= sign * known.value <= answer.upper
        assert answer.upper - answer.lower < 1e-9
        assert len(answer.action_values) == against(game, policy).n_rows
        assert answer.model_hash == game.model_hash
        # What it plays achieves what it says.
        for one in answer.policies:
            one.check_is_for(game)
        achieved = game.at_start(policy_value(game, *answer.policies))
        assert achieved == pytest.approx(answer.value, abs=1e-9)
        found["endless" if known.endless else "ended"] += 1
    # Of the loops whose rewards cancel, those that either player could leave are refused.
    assert found["ended"] > 40
    assert found["endless"] > (10 if kind == "loops" else -1)
