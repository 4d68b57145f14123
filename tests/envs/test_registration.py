"""The registered environments: names, specs, parameters and thresholds."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from reduced_football import reduced_points
from timed_football import CHART, CLOCK, RULES

from solvent import make_game, policy_value, solve
from solvent.envs import VectorEnv
from solvent.envs.registration import ENVIRONMENTS, compiled_game, samples_table
from solvent.exact import state_visitation
from solvent.games.football.chart import csv_text
from solvent.games.football.ruleset import Ruleset
from solvent.games.greed.kernel import solve_greed
from solvent.model import TabularPolicy
from solvent.registration import register_envs

register_envs()
UNTABLED = [name for name in ENVIRONMENTS if not samples_table(name)]
NAMES = [name for name in ENVIRONMENTS if name not in UNTABLED]
LARGE = ("solvent/NinthTide-v0", "solvent/FootballStrategy-v0", "solvent/FootballAgent-v0")
FOR_ONE = [n for n in NAMES if ENVIRONMENTS[n].opponent is None and n not in LARGE]


def test_the_threshold_of_greed_is_the_value_of_its_own_solver() -> None:
    assert gym.spec("solvent/Greed-v0").reward_threshold == pytest.approx(
        solve_greed(100, 6).value, abs=1e-12
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] if n in (*LARGE, "solvent/Greed-v0") else [])
        for n in NAMES
    ],
)
def test_the_optimum_is_stored_with_the_model_that_it_is_of(name: str) -> None:
    entry = ENVIRONMENTS[name]
    assert compiled_game(entry.game, entry.parameters)[1].model_hash == entry.model_hash


def test_nothing_cuts_episodes_short_and_registering_again_changes_nothing() -> None:
    before = {name: gym.spec(name) for name in NAMES}
    assert {spec.max_episode_steps for spec in before.values()} == {None}
    assert not any(spec.nondeterministic for spec in before.values())
    agents = dict(pettingzoo.aec_registry)
    register_envs()
    assert all(gym.spec(name) is spec for name, spec in before.items())
    assert dict(pettingzoo.aec_registry) == agents


def test_a_spec_survives_json() -> None:
    for name, parameter in (
        ("FFCombat", {"damage": "three"}),
        ("FFCombatRandom", {"damage": "three"}),
        ("FootballDrive", {"start": [10, 20], "field": 20}),
    ):
        env = gym.make(f"solvent/{name}-v0", **parameter, observation="index", render_mode="ansi")
        again = gym.make(EnvSpec.from_json(env.spec.to_json()))
        assert again.spec == env.spec
        assert env.reset(seed=3)[0] == again.reset(seed=3)[0]
        assert env.unwrapped.game.model_hash == again.unwrapped.game.model_hash


def test_a_spec_of_a_vector_environment_survives_json() -> None:
    envs = gym.make_vec("solvent/FFCombat-v0", num_envs=3, luck=2, autoreset_mode="SameStep")
    again = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()))
    assert again.num_envs == 3
    assert again.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert (again.reset(seed=1)[0] == envs.reset(seed=1)[0]).all()
    for name in FOR_ONE:
        native = gym.make_vec(name, num_envs=4)
        assert type(native.unwrapped) is VectorEnv
        assert native.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


# By id, parameters with which the table or the sampler is small.
SMALL: dict[str, dict[str, Any]] = {
    "solvent/Blackjack-v0": {},
    "solvent/CarRental-v0": {"capacity": 3},
    "solvent/DynaMaze-v0": {},
    "solvent/Blotto-v0": {},
    "solvent/EquipmentReplacement-v0": {},
    "solvent/FamilyActions-v0": {"rooms": 3},
    "solvent/FamilyGap-v0": {"rooms": 3},
    "solvent/FamilyHorizon-v0": {"rooms": 3},
    "solvent/FamilyNoise-v0": {"rooms": 3},
    "solvent/FamilySparse-v0": {"rooms": 3},
    "solvent/FFCombat-v0": {"stamina": 4},
    "solvent/FFCombatRandom-v0": {"stamina": [2, 4], "opponent_stamina": 4},
    "solvent/FootballStrategy-v0": {"opponent": "uniform", "to_goal": 4},
    "solvent/FootballAgent-v0": {"opponent": "uniform", "to_goal": 4},
    "solvent/FootballDrive-v0": {"start": 20, "field": 20},
    "solvent/Gamebook-v0": {},
    "solvent/Gambler-v0": {"goal": 10},
    "solvent/Gridworld-v0": {},
    "solvent/Goofspiel-v0": {"cards": 3},
    "solvent/GoofspielSmall-v0": {"cards": 3},
    "solvent/Greed-v0": {"limit": 8, "opponent": "uniform"},
    "solvent/GreedSmall-v0": {"limit": 8, "opponent": "uniform"},
    "solvent/Inventory-v0": {},
    "solvent/Nim-v0": {"heaps": [1, 2]},
    "solvent/NimMisere-v0": {"heaps": [1, 2]},
    "solvent/NinthTide-v0": {"book": "red-lamp"},
    "solvent/Pig-v0": {"target": 6},
    "solvent/Racetrack-v0": {"track": "bend"},
    "solvent/RacetrackBend-v0": {},
    "solvent/RandomWalk-v0": {},
    "solvent/RandomWalk19-v0": {},
    "solvent/WindyGridworld-v0": {"moves": "king"},
    "solvent/RockPaperScissors-v0": {},
    "solvent/Soccer-v0": {},
    "solvent/TicTacToe-v0": {"opponent": "uniform"},
    "solvent/FootballTwoMinutes-v0": {"clock": CLOCK, "to_goal": 5},
    "solvent/FootballHalf-v0": {"clock": CLOCK},
    "solvent/FootballSecondHalf-v0": {"clock": CLOCK},
    "solvent/FootballGame-v0": {"clock": CLOCK},
    "solvent/Yahtzee-v0": {"boxes": "aces,chance,yahtzee"},
}


@pytest.fixture(scope="module")
def football(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Parameters of a football on a short field."""
    folder: Path = tmp_path_factory.mktemp("football")
    chart, points = folder / "chart.csv", folder / "points.json"
    chart.write_text(csv_text(CHART), encoding="utf-8")
    points.write_text(reduced_points(CHART, Ruleset.of(RULES)).json_text(), encoding="utf-8")
    return {"chart": str(chart), "ruleset": RULES, "expected_points": str(points)}


def through_pickle(what: Any) -> Any:
    """As subprocess vector environments send it; nothing from outside is unpickled."""
    return pickle.loads(pickle.dumps(what))  # noqa: S301


def continued(env: Any, actions: list[Any]) -> list[Any]:
    """What follows some actions, and a reset."""
    steps = [env.step(action)[:4] for action in actions]
    return [np.asarray(part).tolist() for step in steps for part in step] + [
        np.asarray(env.reset()[0]).tolist()
    ]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_that_was_pickled_plays_on(name: str, football: dict[str, Any]) -> None:
    parameters = dict(SMALL[name])
    if ENVIRONMENTS[name].game == "football-strategy":
        without = "expected_points" if name in UNTABLED else ""
        parameters |= {key: value for key, value in football.items() if key != without}
    env = gym.make(name, **parameters)
    env.reset(seed=3)
    twin = through_pickle(env)
    assert type(twin.unwrapped) is type(env.unwrapped)
    assert continued(twin, [0]) == continued(env, [0])
    many = gym.make_vec(name, num_envs=2, **parameters)
    many.reset(seed=3)
    twins = through_pickle(many)
    actions = [np.zeros(2, np.int64)] * 5
    assert continued(twins, actions) == continued(many, actions)


def test_equal_parameters_in_another_form_share_one_table() -> None:
    envs = [gym.make("solvent/FFCombatRandom-v0").unwrapped for _ in range(100)]
    assert len({(id(env.game), id(env.episode.table)) for env in envs}) == 1
    made = [
        gym.make("solvent/FFCombat-v0", stamina=stamina).unwrapped for stamina in ((3, 5), [3, 5])
    ]
    assert made[0].game is made[1].game
    by_luck = [gym.make("solvent/FFCombat-v0", luck=luck).unwrapped for luck in (3, np.int64(3))]
    assert by_luck[0].game is by_luck[1].game
    info = make_game("pig", target=np.int64(8), discount=np.float32(0.5)).info
    assert json.dumps(info.parameters)
    named = gym.make("solvent/FFCombat-v0", opponent="hell-demon").unwrapped
    assert named.game.states[0].difference == -2
    weighted = gym.make("solvent/FFCombat-v0", luck={"3": 1, "4": 2}).unwrapped
    assert {
        s.luck for s, p in zip(weighted.game.states, weighted.game.initial, strict=True) if p
    } == {3, 4}


def test_the_id_with_the_module_registers_by_itself() -> None:
    code = (
        "import gymnasium as gym\n"
        "env = gym.make('solvent:solvent/FFCombat-v0')\n"
        "envs = gym.make_vec('solvent:solvent/FFCombat-v0', num_envs=2)\n"
        "print(env.reset(seed=0)[0].shape, envs.reset(seed=0)[0].shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "(5,) (2, 5)"


# The table of all environments: its figures are the registered optima and what is computed

PAGE = (Path(__file__).parents[2] / "docs" / "environment-table.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| \[`(solvent/\S+)`\]\S+ \| (−?\d+\.\d{6,}) \| ([\d,]+) "
    r"\| (−?[\d.]+) \| ([\d.]+) \| ([\d.]+|–) \|$",
    PAGE,
    re.MULTILINE,
)
FIGURES = [(name, states, steps, best, mean) for name, _, states, mean, steps, best in ROWS]
TAKES_LONG = {
    "solvent/FootballAgent-v0",
    "solvent/FootballStrategy-v0",
    "solvent/Greed-v0",
    "solvent/NinthTide-v0",
    "solvent/Racetrack-v0",
}


def test_the_optima_are_the_reward_thresholds() -> None:
    register_envs()
    rows = {name: optimum for name, optimum, *_ in ROWS}
    assert rows.keys() == {*filter(samples_table, ENVIRONMENTS)}
    for name, optimum in rows.items():
        assert float(optimum.replace("−", "-")) == pytest.approx(
            gym.spec(name).reward_threshold, abs=5e-10
        )


def figures(name: str) -> tuple[int, float, float, float | None, float | None]:
    """States, expected return and steps of uniform play, and both of optimal play or None."""
    env = gym.make(name).unwrapped
    game, others = env.game, ()
    seen = env.episode.table.observation[: game.n_states]
    # The end of a discount looks like a state in which episodes begin.
    different = game.n_states - (game.info.discount != 1)
    assert len(np.unique(seen, axis=0)) == different, "two states look alike"
    best = None
    if not env.opponents:
        best = solve(game).policies[0]
    else:
        [others] = env.opponents
        if ENVIRONMENTS[name].opponent == "optimal":
            # Who sits opposite the other seat.
            [[best]] = gym.make(name, seat=1).unwrapped.opponents
    found: list[float | None] = []
    for policy in (TabularPolicy.uniform(game), best):
        if policy is None:
            found += [None, None]
        else:
            found.append(game.at_start(policy_value(game, policy, *others)))
            found.append(float(state_visitation(game, policy, *others)[game.on_turn(0)].sum()))
    return game.n_states, *found


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row[0], marks=[pytest.mark.slow] if row[0] in TAKES_LONG else [])
        for row in FIGURES
    ],
)
def test_the_figures_are_what_is_computed(row: tuple[str, ...]) -> None:
    name, *shown = row
    states, returned, steps, optimum, optimal = figures(name)
    assert shown == [
        f"{states:,}",
        f"{steps:.2f}",
        "–" if optimal is None else f"{optimal:.2f}",
        # A mean that is 0 has either sign.
        f"{round(returned, 4) + 0:.4f}".replace("-", "−"),
    ]
    if optimum is not None:
        assert optimum == pytest.approx(gym.spec(name).reward_threshold, abs=1e-9)
