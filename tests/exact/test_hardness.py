"""Measures of hardness: by hand in two rooms, and by enumeration in random small problems."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from random_games import RandomGame, pure_policies

import solvent
from solvent.benchmark.suites import find_suite
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import ImproperGameError, policy_value, solve
from solvent.exact.hardness import measure_hardness
from solvent.games import Corridor
from solvent.model import GymnasiumTable, TabularGame, TabularPolicy, compile_game, from_arrays
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


def least_moves(game: TabularGame, target: int) -> Any:
    """[S] least expected moves to a state, at a cost of 1 each; an end leads to the start."""
    live, row, mask = ~game.terminal, game.outcome_row, game.mask[0]
    chance = np.zeros((*mask.shape, game.n_states))
    np.add.at(chance, (game.row_state[row], game.row_action[0][row], game.next_state),
              game.probability)  # fmt: skip
    begun = 1 - chance[live][:, :, live].sum(axis=2, keepdims=True)
    onward = chance[live][:, :, live] + begun * game.initial[live]
    costs = np.where(mask[live], -1.0, -inf)
    moves = from_arrays(onward, costs, terminal=[target], actions_first=False)
    return -solve(moves).values[: len(costs)]


def horizon(game: TabularGame, optimum: float) -> int:
    """The smallest k for which all deterministic policies greedy for Q_k are optimal."""
    values, q = policy_value(game, TabularPolicy.uniform(game)), np.full(game.mask[0].shape, -inf)
    for k in range(1, 1000):
        q[game.row_state, game.row_action[0]] = game.expectation(values)
        greedy = (q >= q.max(axis=1, keepdims=True) - 1e-9) | game.terminal[:, None]
        kept = [p for p in pure_policies(game, 0) if (greedy | (p.probabilities == 0)).all()]
        if all(game.at_start(policy_value(game, p)) > optimum - 1e-9 for p in kept):
            return k
        values = np.where(game.terminal, 0, q.max(axis=1))
    raise AssertionError("no horizon found")


def test_random_problems_by_enumeration() -> None:
    horizons = set()
    for seed in range(12):
        game = compile_game(RandomGame(seed, "single", cyclic=True, size=4))
        found = measure_hardness(game, solve(game))
        constants = [TabularPolicy.constant(game, action) for action in range(3)]
        best, uniform, constant = (
            max(game.at_start(policy_value(game, policy)) for policy in policies)
            for policies in (pure_policies(game, 0), [TabularPolicy.uniform(game)], constants)
        )
        distances = [least_moves(game, target) for target in range(game.n_states - 1)]
        by_enumeration = {
            "value": best,
            "gap_uniform": best - uniform,
            "gap_constant": best - constant,
            "diameter": max(d.max() for d in distances),
            "reach": max(game.initial[~game.terminal] @ d for d in distances),
            "effective_horizon": horizon(game, best),
        }
        measured = {name: getattr(found, name) for name in by_enumeration}
        assert measured == pytest.approx(by_enumeration), seed
        horizons.add(found.effective_horizon)
    assert len(horizons) >= 2


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
