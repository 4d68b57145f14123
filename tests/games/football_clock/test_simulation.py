"""The compiled plays of football with a clock against the rules, state by state."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from timed_football import SMALL, TINY_FORMS, tiny

from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.model import compile_game

SIMULATED = (*TINY_FORMS, ("full", {"half": 15, "stops": [], "chart": SMALL, "timeouts": 1}))
"""The last has two halves and time-outs like the one before, which is the largest."""

FORMS = [
    pytest.param(n, marks=[pytest.mark.slow] if n == len(TINY_FORMS) - 1 else [])
    for n in range(len(SIMULATED))
]


@cache
def sampler(number: int) -> TimedFootballSampler:
    form, parameters = SIMULATED[number]
    return TimedFootballSampler(tiny(form, **parameters))


@cache
def live_states(number: int) -> tuple[Any, ...]:
    game = sampler(number).rules
    return tuple(s for s in compile_game(game).states if not game.is_terminal(s))


@pytest.mark.parametrize("number", FORMS)
def test_observations_and_legal_actions_are_those_of_the_rules(number: int) -> None:
    made, states = sampler(number), live_states(number)
    plays = made.plays(len(states))
    for i, state in enumerate(states):
        made.write(plays.records, i, state)
        assert plays.state(i) == state
    everyone = np.arange(len(states))
    for player in (0, 1):
        who = np.full(len(states), player)
        seen = np.stack([made.rules.observe(state, player) for state in states])
        np.testing.assert_array_equal(plays.observe(everyone, who), seen)
        legal = np.zeros((len(states), plays.n_actions), np.int8)
        for i, state in enumerate(states):
            legal[i, list(made.rules.legal_actions(state)[player])] = 1
        np.testing.assert_array_equal(plays.legal(everyone, who), legal)
        np.testing.assert_array_equal(plays.acts(everyone, who), legal.sum(axis=1) > 1)


@pytest.mark.parametrize("number", FORMS)
def test_one_hot_observations_say_the_same(number: int) -> None:
    made, states = sampler(number), live_states(number)[:500]
    plays = made.plays(len(states), "onehot")
    for i, state in enumerate(states):
        made.write(plays.records, i, state)
    everyone, first = np.arange(len(states)), np.zeros(len(states), np.int64)
    entries = plays.observe(everyone, first, "vector")
    seen = plays.observe(everyone, first)
    assert set(np.unique(seen)) == {0, 1}
    varying = made.most > made.least
    assert (seen.sum(axis=1) == varying.sum()).all()
    assert len(np.unique(seen, axis=0)) == len(np.unique(entries[:, varying], axis=0))


def outcomes(
    made: TimedFootballSampler, state: Any, joint_action: tuple[int, int], streams: np.ndarray
) -> list[tuple[Any, float]]:
    """Where copies of a state go, each with its own stream, and what player 0 is paid."""
    n = len(streams)
    plays = made.plays(n)
    for i in range(n):
        made.write(plays.records, i, state)
    plays.arrays["stream"][:] = streams
    paid = np.zeros(n)
    first, second = (np.full(n, action) for action in joint_action)
    plays.move(np.arange(n), first, second, paid)
    return [(plays.state(i), paid.item(i)) for i in range(n)]


@pytest.mark.parametrize("number", FORMS)
def test_every_move_leads_where_the_rules_lead_and_as_often(number: int) -> None:
    made, states = sampler(number), live_states(number)
    rng = np.random.default_rng(number)
    tested = 0
    for k in rng.choice(len(states), 60, replace=False).tolist():
        legal = made.rules.legal_actions(states[k])
        joint = (int(rng.choice(legal[0])), int(rng.choice(legal[1])))
        expected: dict[Any, float] = {}
        for outcome in made.rules.transition(states[k], joint):
            key = (outcome.state, float(outcome.reward))
            expected[key] = expected.get(key, 0.0) + float(outcome.probability)
        n = 400 if len(expected) > 1 else 2
        streams = rng.integers(1, 2**64, n, dtype=np.uint64)
        counts = dict.fromkeys(expected, 0)
        for key in outcomes(made, states[k], joint, streams):
            counts[key] += 1  # What the rules do not know is a KeyError.
        if len(expected) > 1:
            tested += 1
            often = np.array(list(expected.values())) * n
            assert chisquare(list(counts.values()), often).pvalue > 1e-5, (states[k], joint)
    assert tested > 2


@pytest.mark.parametrize(("form", "timeouts"), [("full", 3), ("half", 0)])
def test_whole_games_are_played_by_the_rules(form: str, timeouts: int) -> None:
    game = TimedFootball(form=form, timeouts=timeouts)
    made = TimedFootballSampler(game)
    plays = made.plays(1)
    rng = np.random.default_rng(1)
    plays.arrays["stream"][:] = 7
    only, seen = np.zeros(1, np.int64), set()
    plays.begin(only)
    assert plays.state(0) in [outcome.state for outcome in game.initial()]
    while not game.is_terminal(before := plays.state(0)):
        legal = game.legal_actions(before)
        joint = (int(rng.choice(legal[0])), int(rng.choice(legal[1])))
        paid = np.zeros(1)
        plays.move(only, np.array(joint[:1]), np.array(joint[1:]), paid)
        after = (plays.state(0), paid.item())
        assert after in [(o.state, float(o.reward)) for o in game.transition(before, joint)]
        seen.add(before.phase)
    assert "call" in seen
    assert ("time-out" in seen) == (timeouts > 0)
