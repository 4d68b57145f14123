"""Measures of hardness: by hand in two rooms, and by enumeration in random small problems."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import solvent
from solvent.benchmark.suites import find_suite
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import ImproperGameError, solve
from solvent.exact.hardness import measure_hardness
from solvent.games import Corridor
from solvent.model import GymnasiumTable, compile_game, from_arrays
from solvent.model.registry import game_of


def test_two_rooms_by_hand() -> None:
    # The clock stops a move with probability 1/8. Values: V(1) = 1, V(0) = 7/8, and a wrong door
    # leads to 7/8 V(0) = 49/64 from both. Uniform play: u(1) = 72/95, u(0) = 56/95.
    found = solvent.hardness(Corridor(rooms=2, doors=2))
    assert (found.states, found.decisions, found.effective_horizon) == (2, 2, 1)
    by_hand = {
        "value": 7 / 8,
        "gap_uniform": 7 / 8 - 56 / 95,
        "gap_constant": 7 / 8,
        # d* = (1, 7/8), d_u = (256, 112) / 95.
        "length_optimal": 15 / 8,
        "length_uniform": 368 / 95,
        "concentrability": 23 / 15,
        "mean_concentrability": 8 / 15 * 23 / 30 + 7 / 15 * 23 / 15,
        "ties": 0,
        # Stopped, one begins again in room 0.
        "diameter": 8 / 7,
        "reach": 8 / 7,
    }
    assert {name: getattr(found, name) for name in by_hand} == pytest.approx(by_hand)
    # Room 0 has 8/15 of the visits and the smaller gap.
    gaps = dict(found.action_gaps)
    assert gaps == pytest.approx({q: 7 / 64 if q <= 0.5 else 15 / 64 for q in gaps})


def random_problem(seed: int, states: int, actions: int) -> tuple[Any, Any, Any]:
    """Chances of next states, [S, A, S+1] with the end last, rewards [S, A, S+1], and a game."""
    dice = np.random.default_rng(seed)
    chance = dice.random((states, actions, states + 1)) ** 3
    # Few next states, so that some are hard to come to; the end is always possible.
    chance *= dice.random(chance.shape) < 0.5
    chance[:, :, -1] += 0.05
    chance = np.round(chance / chance.sum(axis=2, keepdims=True), 6)
    chance[:, :, -1] += 1 - chance.sum(axis=2)
    reward = dice.integers(-1, 3, chance.shape) * (dice.random(chance.shape) < 0.3)
    table = {
        s: {
            a: [
                (p, s2 % states, float(reward[s, a, s2]), s2 == states)
                for s2, p in enumerate(chance[s, a].tolist())
                if p > 0
            ]
            for a in range(actions)
        }
        for s in range(states)
    }
    return chance, reward, GymnasiumTable(table, [0.5, 0.5, *[0.0] * (states - 2)])


def values_of(chance: Any, reward: Any, policy: Any) -> Any:
    """[S] the values of a policy [S, A], by a dense linear system."""
    inner = np.einsum("sa,sat->st", policy, chance)
    paid = np.einsum("sa,sat,sat->s", policy, chance, reward)
    return np.linalg.solve(np.eye(len(chance)) - inner[:, :-1], paid)


def deterministic(states: int, actions: int) -> Any:
    """All deterministic policies, [S, A] each."""
    for chosen in product(range(actions), repeat=states):
        yield np.eye(actions)[list(chosen)]


def least_moves(chance: Any, start: Any, target: int) -> Any:
    """[S] least expected moves to a state, by the enumeration of all policies; an end restarts."""
    states = len(chance)
    onward = chance[:, :, :-1] + chance[:, :, -1:] * start
    best = np.full(states, inf)
    for policy in deterministic(states, chance.shape[1]):
        inner = np.einsum("sa,sat->st", policy, onward)
        inner[:, target] = 0.0
        inner[target] = 0.0
        if np.abs(np.linalg.eigvals(inner)).max() < 1 - 1e-12:
            best = np.minimum(best, np.linalg.solve(np.eye(states) - inner, np.ones(states)))
    best[target] = 0.0
    return best


def horizon(chance: Any, reward: Any, start: Any, optimum: float) -> int:
    """The smallest k for which all deterministic policies greedy for Q_k are optimal."""
    states, actions = chance.shape[:2]
    values = values_of(chance, reward, np.full((states, actions), 1 / actions))
    for k in range(1, 1000):
        q = np.einsum("sat,sat->sa", chance, reward + np.append(values, 0.0))
        greedy = q >= q.max(axis=1, keepdims=True) - 1e-9
        kept = [p for p in deterministic(states, actions) if (greedy | (p == 0)).all()]
        if all(start @ values_of(chance, reward, p) > optimum - 1e-9 for p in kept):
            return k
        values = q.max(axis=1)
    raise AssertionError("no horizon found")


def test_random_problems_by_enumeration() -> None:
    horizons = []
    for seed in range(12):
        states, actions = 4, 2 + seed % 2
        chance, reward, game = random_problem(seed, states, actions)
        table = compile_game(game)
        start = np.array(game.start)
        if {s.number for s in table.states if not s.over} != set(range(states)):
            continue
        found = measure_hardness(table, solve(table))
        constants = (np.tile(one, (states, 1)) for one in np.eye(actions))
        best, uniform, constant = (
            max(start @ values_of(chance, reward, p) for p in policies)
            for policies in (
                deterministic(states, actions),
                [np.full((states, actions), 1 / actions)],
                constants,
            )
        )
        distances = [least_moves(chance, start, target) for target in range(states)]
        by_enumeration = {
            "value": best,
            "gap_uniform": best - uniform,
            "gap_constant": best - constant,
            "diameter": max(d.max() for d in distances),
            "reach": max(start @ d for d in distances),
            "effective_horizon": horizon(chance, reward, start, best),
        }
        measured = {name: getattr(found, name) for name in by_enumeration}
        assert measured == pytest.approx(by_enumeration), seed
        horizons.append(found.effective_horizon)
    assert len(horizons) >= 8
    assert len(set(horizons)) >= 2


def test_a_bait_asks_for_foresight_that_grows_with_the_corridor() -> None:
    for rooms, horizon in ((8, 2), (16, 4), (32, 11)):
        corridor = Corridor(rooms=rooms, doors=2, bait=0.3)
        assert solvent.hardness(corridor).effective_horizon == horizon


def test_ties_constants_without_a_value_and_what_is_too_large_for_a_diameter() -> None:
    lake = solvent.hardness("FrozenLake-v1", largest=100)
    assert (lake.diameter, lake.reach) == (None, None)
    # From the state beside the hole every way is as good; such visits are 14 of 46.
    assert lake.ties == pytest.approx(14 / 46)
    cliff = solvent.hardness("CliffWalking-v1")
    assert (cliff.gap_constant, cliff.diameter) == (inf, 14)
    again = json.loads(json.dumps(lake.to_dict()))
    assert again["action_gaps"]["0.5"] == pytest.approx(dict(lake.action_gaps)[0.5])
    assert re.search(r"(?ms)^value +0$.*^effective horizon ", repr(replace(lake, value=-0.0)))


def test_a_policy_that_may_stay_for_ever_is_optimal_only_where_nothing_can_be_won() -> None:
    """Waiting costs nothing, so its action value is the goal's; but who always waits gets 0."""
    for goal, horizon in ((1, None), (0, 1)):
        table = from_arrays(
            [np.eye(2), [[0, 1], [0, 1]]],
            [[0, goal], [0, 0]],
            start=[1, 0],
            terminal=[1],
            actions_first=True,
        )
        assert solvent.hardness(table).effective_horizon == horizon


def test_if_every_episode_begins_at_its_end_nothing_is_visited() -> None:
    table = from_arrays([np.eye(2)], [0, 0], start=[0, 1], terminal=[1])
    assert solvent.hardness(replace(table, next_state=np.array([1]))).concentrability == 0
    # If some do, play restarts until it begins: then one move leads to the other state.
    moves = np.eye(3)[[[1], [2], [2]]]
    half = from_arrays(moves, np.zeros((3, 1)), start=[0.5, 0, 0.5], terminal=[2])
    assert solvent.hardness(half).reach == pytest.approx(1)


def test_an_environment_brings_the_opponent_and_a_game_for_two_has_none() -> None:
    env = gym.make("solvent/GreedSmall-v0", limit=4, seat=1, opponent="uniform")
    found = solvent.hardness(env)
    assert found.value == pytest.approx(solvent.score(env, lambda seen: [0] * len(seen)).optimum)
    assert found.gap_uniform > 0
    assert 0 < found.decisions < found.states
    with pytest.raises(ValueError, match="second player who chooses"):
        solvent.hardness("tic-tac-toe")


def test_a_policy_that_never_ends_is_no_uniform_play() -> None:
    # Up leads back to the start for ever, unless the other action ends the episode.
    up, stop = (1.0, 1, 0.0, False), (1.0, 0, 1.0, True)
    with pytest.raises(ImproperGameError):
        solvent.hardness(GymnasiumTable({0: {0: [up], 1: [stop]}, 1: {0: [up]}}, [1.0, 0.0]))


PAGE = Path(__file__).parents[2] / "docs" / "ladder.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| `[\w/-]+-v\d`.* / ", line)
]


def task_of(row: list[str]) -> tuple[str, str]:
    """The environment of a row, and its arguments as JSON."""
    name, *words = re.findall(r"`([^`]+)`", row[0])
    arguments = (word.split("=") for word in words)
    return name, json.dumps({key: json.loads(value) for key, value in arguments})


SLOW = ("Taxi", "FFCombatRandom", "FourRooms", "FootballDrive", "CarRental", "DoorKey", "Bend")


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=row[0].replace("`", ""),
            marks=[pytest.mark.slow] if any(word in row[0] for word in SLOW) else [],
        )
        for row in ROWS
    ],
)
def test_the_ladder_of_the_page(row: list[str]) -> None:
    _, stop, *shown = row
    name, words = task_of(row)
    arguments = json.loads(words)
    if name.startswith("MiniGrid"):
        pytest.importorskip("minigrid")
    in_turns = name.startswith("solvent/")
    game = gym.make(name, **arguments) if in_turns else solvent.make_game(name, **arguments)
    found = solvent.hardness(game)
    many = found.concentrability >= 100
    assert shown == [
        f"{found.states:,}",
        f"{found.length_optimal:.1f} / {found.length_uniform:.1f}",
        f"{found.gap_uniform:.3f}",
        f"{found.gap_constant:.3f}",
        f"{dict(found.action_gaps)[0.5]:.4f}",
        str(found.effective_horizon),
        f"{found.concentrability:,.0f}" if many else f"{found.concentrability:.1f}",
        "–" if found.reach is None else f"{found.reach:,.1f}",
    ]
    if "/" in stop:
        rules = game_of(game)
        [(_, start, _)] = rules.initial()
        after = rules.transition(start, (0,))
        assert sum(o.probability for o in after if rules.is_terminal(o.state)) == Fraction(stop)
    assert (stop == "discount") == ("discount" in arguments)


def test_the_ladder_has_all_families_and_the_whole_core() -> None:
    assert len(ROWS) >= 15
    tasks = {task_of(row) for row in ROWS}
    families = {name for name in ENVIRONMENTS if "Family" in name}
    assert len(families) == 5
    assert families <= {name for name, _ in tasks}
    core = {
        (task.environment, json.dumps(dict(task.env_kwargs))) for task in find_suite("core").tasks
    }
    assert core <= tasks
    # Neither uniform play nor a constant policy is optimal in a task of the core.
    of_core = [row for row in ROWS if task_of(row) in core]
    assert all(min(float(row[4]), float(row[5])) > 0.01 for row in of_core)
