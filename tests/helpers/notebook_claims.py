"""Sentences of the notebooks, compared with what their cells have computed.

Each function gets the names that a notebook's cells have left and the text around them. A number
that a sentence states is asserted to be the computed one, and to stand in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import solvent
from solvent.grading import find_exercise

Names = Mapping[str, Any]

POINTS = {
    "fight-policy": {0.02: 6, 1e-6: 10},
    "walk-values": {0.05: 6, 0.01: 9},
    "network-policy": {0.02: 6, 0.005: 9},
    "fight-action-values": {0.02: 6},
    "drive-policy": {0.5: 3, 0.1: 6, 0.01: 8, 1e-6: 10},
}
"""The points for a gap that a notebook states, by the exercise."""


def optimum(names: Names, text: str) -> None:
    solution = names["solution"]
    assert solution.lower <= solution.value <= solution.upper
    assert names["game"].info.acyclic  # No state is met twice.


def q_learning(names: Names, text: str) -> None:
    greedy = names["medians"]["greedy"]
    assert "17 steps instead of 13" in text
    assert (greedy["SARSA"][-1], greedy["Q-learning"][-1]) == (-17, -13)
    errors = names["errors"]
    assert errors.at[-1] == 4000
    assert all(numbers.shape[0] == 10 for numbers in errors.numbers.values())
    late, last = errors.at > 3000, errors.medians
    assert "with 0.5 the error stalls at about 0.24, with 0.3 at about 0.12" in text
    for name, level in (("0.5", 0.24), ("0.3", 0.12)):
        assert abs(np.mean(last[name][late]) - level) < 0.015
    assert "with 0.1 the error is 0.21 after 4,000 episodes" in text
    assert "hardly moves, and the error is 0.36" in text
    assert "settles: the error is 0.07, the lowest" in text
    for name, error in (("0.1", 0.21), ("1/n", 0.36), ("1/n^0.6", 0.07)):
        assert round(float(last[name][-1]), 2) == error
    # The way round the cliff with a row to spare: two steps up, along, and two down.
    safe = np.ones(48, int)
    safe[[36, 24]] = 0
    safe[[23, 35, 11]] = 2
    assert "The safe way round gets 6 points" in text
    safe[12:23], safe[12] = 1, 0
    safe[0:11] = 1
    assert solvent.grade("cliff-policy", safe).points == 6


def function_approximation(names: Names, text: str) -> None:
    for field, gap in (("luck", "0.004"), ("round", "0.086")):
        assert f"{names['scores'][f'does not see {field}'].optimality_gap:.3f}" == gap
        assert f"more than {gap}" in text


def gap_attribution(names: Names, text: str) -> None:
    where, states = names["where"], names["game"].states
    n = int(where.loss.argmax())
    assert (states[n].down, states[n].to_go) == (4, 1)
    assert f"up to {where.loss[n]:.2f} points, on fourth down with a yard to go" in text
    assert f"only once in {1 / where.visits[n]:,.0f} times" in text
    bars = np.bincount([s.to_goal for s in states], weights=where.contribution)
    assert f"stands at {bars.argmax()} yards" in text
    [first] = where.ranked(1)
    assert (states[first].to_goal, states[first].down, states[first].to_go) == (71, 4, 1)
    assert f"there one drive in {1 / where.visits[first]:.0f} comes to fourth down" in text
    assert f"the punt costs {where.loss[first]:.2f} points" in text


def two_players(names: Names, text: str) -> None:
    few, table = [*names["few"], "optimum"], np.array(names["table"])
    twelve, best = few.index(12), few.index("optimum")
    for row, column in ((twelve, 0), (best, 0), (twelve, best), (best, best)):
        assert f"{table[row, column]:.3f}" in text
    assert table[twelve, 0] > table[best, 0]
    assert table[twelve, best] < table[best, best]

    def points(exercise: str, policy: Any) -> tuple[float, float]:
        grade = solvent.grade(exercise, policy.probabilities)
        return grade.points, grade.gap

    assert "Of all numbers at which to hold, only 10 gets points, and just 3" in text
    held = {n: points("pig-policy", names["hold_at"](n, 0))[0] for n in names["numbers"]}
    assert held == dict.fromkeys(held, 0) | {10: 3}
    for policy, gap, got in (
        (names["solution"].policies[0], "0.032", 0),
        (names["hold_at"](10, 0), "0.018", 5),
    ):
        got_points, got_gap = points("pig-response", policy)
        assert (got_points, f"{got_gap:.3f}") == (got, gap)
        assert gap in text


def simultaneous_moves(names: Names, text: str) -> None:
    equilibrium, yards = names["equilibrium"], names["yards"]
    lines = equilibrium.row_strategy @ yards
    assert np.allclose(lines, equilibrium.value)
    offence, defence = names["football"].info.actions
    assert "one of twenty plays or a kick, the defence one of ten" in text
    assert [name.isdecimal() for name in offence].count(True) == 20
    assert [len(name) == 1 for name in defence].count(True) == 10
    assert "all 161,426 states" in text
    assert find_exercise("optimal-defence").subject.table.n_states == 161_426


def football_with_a_clock(names: Names, text: str) -> None:
    solved, start = names["solved"], names["start"]
    ahead = [
        solved.value_of(start._replace(ticks=ticks, margin=3, to_goal=50))
        for ticks in range(1, start.ticks + 1)
    ]
    assert "Who leads by three has won" in text
    assert min(ahead) > 1 - 1e-9
    agent = find_exercise("beat-the-agent").subject
    assert f"which gets {agent.solution.value:.2f} points from the first possession" in text
    value = find_exercise("optimal-defence").subject.solution.value
    assert f"optimal play of both sides gives {value:.2f}" in text


def own_game(names: Names, text: str) -> None:
    # The curve tells which faces to keep.
    roll, solved = names["roll"], names["solved"]
    for left in names["left"]:
        for face in names["faces"]:
            values = solved.action_values(names["Die"](face, left), 0)
            assert (face > roll[left - 1, 0]) == (values[0] > values[1])


def microscope(names: Names, text: str) -> None:
    assert "the gap is all of 0.513" in text
    assert round(names["solution"].value, 3) == 0.513
    ppo, dqn = (names["seen"][name] for name in ("ppo", "dqn"))
    for result in (ppo, dqn):
        assert result.readings[-1].greedy_value == 0
        assert result.parts.approximation == 0
    assert dqn.parts.exploration == dqn.parts.gap
    assert ppo.parts.exploration == 0
    assert "ends at a gap of 0.05" in text
    assert round(ppo.parts.exact_gap, 2) == 0.05
    cosines = names["cosines"]
    assert max(cosines(ppo)[1]) < 0.5
    assert min(cosines(ppo, "exact_advantages")[1]) > 0.8
    for name in ("exact_states", "unclipped", "no_entropy"):
        assert max(cosines(ppo, name)[1]) < 0.5
    assert cosines(names["better"])[1][-1] > 0.85
    first, last = dqn.readings[1], dqn.readings[-1]
    assert last.bellman_residual < 0.3 * first.bellman_residual
    assert last.value_error > 0.75 * first.value_error
    assert "claims about 0.14" in text
    assert round(last.bias, 2) == 0.14


CLAIMS: Mapping[str, Callable[[Names, str], None]] = {
    "01-what-is-an-optimum": optimum,
    "04-q-learning": q_learning,
    "05-function-approximation": function_approximation,
    "06-where-is-the-gap-lost": gap_attribution,
    "07-two-players": two_players,
    "08-simultaneous-moves": simultaneous_moves,
    "09-football-with-a-clock": football_with_a_clock,
    "10-write-your-own-game": own_game,
    "11-the-microscope": microscope,
}
"""By the notebook, where it states numbers."""
