"""The single environments: they sample their tables, and keep Gymnasium's contracts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from random_games import RandomGame
from random_tables import random_table
from stable_baselines3.common.env_checker import check_env as check_sb3_env
from table_simulation import TableSampler
from two_players import OneShot, random_pool

from solvent.envs import (
    Env,
    MaskObservation,
    VectorEnv,
)
from solvent.envs.batch_simulator import Uniform
from solvent.envs.batches import BothSeats
from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
from solvent.exact import solve
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import (
    GymnasiumTable,
    TabularPolicy,
    against,
    compile_game,
    one_hot,
)

SMALL, RULES = FightingFantasy(stamina=(2, 4), opponent_stamina=5, luck=(0, 2)), Greed(12, 4)
COMBAT, GREED = compile_game(SMALL), compile_game(RULES)
POOL = random_pool(GREED, 3)
SAMPLER = TableSampler(RandomGame(4, "simultaneous", cyclic=True))
KINDS = ["vector", "onehot", "index"]


def seat_env(**arguments: Any) -> Env:
    return Env(GREED, POOL, **({"rules": RULES} | arguments))


def alone(**arguments: Any) -> Env:
    return Env(COMBAT, **({"rules": SMALL} | arguments))


both_forms = pytest.mark.parametrize("make", [alone, seat_env])


@pytest.mark.parametrize("observation", KINDS)
def test_the_checkers_have_nothing_to_say(observation: str) -> None:
    # Warnings are errors here, so this is the whole test.
    for env in (
        alone(observation=observation),
        *(seat_env(seat=seat, observation=observation) for seat in (0, 1, "random")),
    ):
        check_env(env, skip_render_check=True)
        check_sb3_env(env)


@both_forms
def test_observations_and_masks_are_those_of_the_rules(make: Callable[..., Any]) -> None:
    envs = [make(observation=kind) for kind in KINDS]
    table, rules = envs[0].game, envs[0].rules
    encoded = one_hot(table).observation
    for seed in range(30):
        told = [env.reset(seed=seed) for env in envs]
        over = False
        while not over:
            (vector, onehot, index), info = (t[0] for t in told), told[0][-1]
            state, player = envs[0].state, info.get("seat", 0)
            assert table.states[index] == state
            assert (vector == rules.observe(state, player)).all()
            assert (onehot == encoded[player][index]).all()
            assert vector.dtype == onehot.dtype == np.float32
            legal = range(envs[0].action_space.n)
            if not rules.is_terminal(state):
                legal = rules.legal_actions(state)[player]
            assert np.flatnonzero(info["action_mask"]).tolist() == list(legal)
            told = [env.step(1) for env in envs]
            over = told[0][2]


def test_a_new_pool_is_met_at_once() -> None:
    game = compile_game(OneShot())
    always = [
        TabularPolicy.deterministic(game, np.full(game.n_states, k), player=1) for k in range(4)
    ]
    env = Env(game, always[0], rules=OneShot())
    env.set_opponents(always[1])
    env.reset(seed=0)
    env.set_opponents(always[3])
    env.step(0)
    assert env.state == (0, 3)


@both_forms
def test_what_is_no_action_is_refused_and_changes_nothing(make: Callable[..., Any]) -> None:
    env, other = make(), make()
    for use in (lambda: env.step(0), env.action_masks, lambda: env.state):
        with pytest.raises(ResetNeeded, match="call reset"):
            use()
    env.reset(seed=0)
    other.reset(seed=0)
    for action in (30, -1, float("nan"), 0.0, None, "0", np.array([0, 1])):
        with pytest.raises(ValueError, match="allowed are whole numbers from 0 to") as error:
            env.step(action)
        assert "\n" not in str(error.value)
    for action in (0, np.int8(0), np.int64(0), np.array(0)):
        if not env.episode.over:
            assert data_equivalence(env.step(action), other.step(0), exact=True)
    while not env.episode.over:
        env.step(0)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)


BOTH: list[tuple[dict[str, Any], str]] = [
    ({"observation": "one-hot"}, "is 'one-hot'; allowed are index, onehot.* Did you mean 'onehot'"),
    ({"illegal": "punish"}, "illegal is 'punish'; allowed are raise, remap"),
    ({"render_mode": "svg"}, "render_mode is 'svg'; allowed are ansi, human, rgb_array"),
    ({"rules": None, "render_mode": "ansi"}, "a table cannot be drawn; pass its game as rules="),
]
OF_ONE: list[tuple[dict[str, Any], str]] = [
    ({"seat": 2}, "seat is 2; allowed are whole numbers from 0 to 1"),
    ({"seat": 1}, "player 0 of ff-combat has a choice in state"),
    ({"weights": [1]}, r"weights is \[1\], but there are no opponents"),
]
OF_A_SEAT: list[tuple[dict[str, Any], str]] = [
    ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
    ({"seat": True}, "seat is True; allowed are 0, 1 and 'random'"),
    ({"seat": "rand"}, "seat is 'rand'; allowed are random. Did you mean 'random'"),
    ({"weights": [1, 2]}, r"weights is \[1, 2\]; allowed is a positive number for each of 3"),
    ({"weights": [1, 2, 0]}, r"weights is \[1, 2, 0\]; allowed is a positive number"),
    ({"weights": [1, 2, float("nan")]}, "allowed is a positive number"),
    ({"opponents": []}, "opponents is empty; at least one"),
    ({"opponents": ["optimal"]}, "'o' is not a TabularPolicy"),
    ({"opponents": POOL[0][0]}, "to play for player 1, but has only 'random-0' of player 0"),
    (
        {"opponents": POOL[0][1], "seat": "random"},
        "opponent has to play for player 0, but has only 'random-1' of player 1",
    ),
    (
        {"opponents": TabularPolicy.uniform(compile_game(Greed(3, 2)), player=1)},
        "policy 'uniform' was made for the model",
    ),
    ({"game": COMBAT}, "ff-combat is a game for one"),
]


def test_bad_arguments() -> None:
    def seat(**given: Any) -> Env:
        game, opponents = given.pop("game", GREED), given.pop("opponents", POOL)
        return Env(game, opponents, **({"rules": RULES} | given))

    for make, rows in ((alone, BOTH + OF_ONE), (seat, BOTH + OF_A_SEAT)):
        for arguments, message in rows:
            with pytest.raises(ValueError, match=message) as error:
                make(**arguments)
            assert "\n" not in str(error.value)
            if arguments.keys() == {"opponents"}:
                env = seat_env()
                with pytest.raises(ValueError, match=message):
                    env.set_opponents(arguments["opponents"])
    for none in (alone(), VectorEnv(COMBAT, 2)):
        with pytest.raises(ValueError, match="the learner has no opponents to replace"):
            none.set_opponents(POOL[0])
    with pytest.raises(AttributeError, match=r"fold opponents in with against\(\)"):
        seat_env().P  # noqa: B018
    with pytest.raises(ValueError, match="a simulator has its own opponents"):
        VectorEnv(BothSeats(GREED, 2), 4, POOL)


MAKERS: dict[str, Callable[[], Any]] = {
    "single": alone,
    "seat": seat_env,
    "simulated": lambda: Env(SAMPLER, [Uniform()]),
    "aec": lambda: TabularAECEnv(GREED),
    "parallel": lambda: TabularParallelEnv(RandomGame(4, "simultaneous", cyclic=True)),
    "simulated parallel": lambda: TabularParallelEnv(SAMPLER),
    "vector": lambda: VectorEnv(COMBAT, 2),
    "both seats, vector": lambda: VectorEnv(BothSeats(GREED, 2)),
    "seat vector": lambda: VectorEnv(GREED, 2, POOL),
    "simulated vector": lambda: VectorEnv(SAMPLER, 2, [Uniform()]),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_an_unknown_option_is_refused_and_changes_nothing(kind: str) -> None:
    env, other = MAKERS[kind](), MAKERS[kind]()
    known = "reset_mask" if "vector" in kind else "none"
    for each in (env, other):
        each.reset(seed=3, options=None)
        each.reset(options={})
    with pytest.raises(ValueError, match=f"^options has 'start'; allowed are: {known}$"):
        env.reset(seed=4, options={"start": 7, "reset_mask": np.ones(2, bool)})
    with pytest.raises(ValueError, match=r"^options is \['start'\]; allowed is a mapping"):
        env.reset(options=["start"])
    # The stream of random numbers goes on as if nothing had been asked for.
    for _ in range(3):
        assert repr(env.reset()) == repr(other.reset())
        if kind == "aec":
            assert repr(env.observe("player_0")) == repr(other.observe("player_0"))


def test_an_environment_loads_neither_numba_nor_pygame() -> None:
    code = (
        "import sys\n"
        "from solvent.envs import Env\n"
        "from solvent.games import Pig, FightingFantasy\n"
        "Env(FightingFantasy()).reset(seed=1)\n"
        "print([m for m in ('numba', 'pygame', 'torch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_model_has_the_shape_of_toy_text() -> None:
    env = alone()
    game, P = env.game, env.P
    assert list(P) == list(range(game.n_states))
    for state in P:
        assert list(P[state]) == [0, 1]
        if game.terminal[state]:
            assert P[state] == {action: [(1.0, state, 0.0, True)] for action in (0, 1)}
        elif not game.mask[0][state, 1]:
            assert P[state][1] == P[state][0]
        for branch in P[state][0]:
            assert [*map(type, branch)] == [float, int, float, bool]
    with pytest.raises(KeyError):
        P[len(P)]


def test_the_model_read_back_as_a_game_has_the_same_value() -> None:
    pig = compile_game(Pig(target=8))
    folded = against(pig, TabularPolicy.uniform(pig, player=1))
    for game in (COMBAT, folded, random_table(3)):
        env = Env(game, observation="index")
        again = compile_game(GymnasiumTable.from_env(env, "again"))
        assert solve(again).value == pytest.approx(solve(game).value, abs=1e-6)


def test_the_mask_joins_the_observation_under_the_keys_that_a_tool_wants() -> None:
    plain, env = seat_env(), MaskObservation(seat_env(), observation="obs", mask="legal")
    for told, seen in ((plain.reset(seed=3), env.reset(seed=3)), (plain.step(0), env.step(0))):
        assert list(seen[0]) == ["obs", "legal"]
        assert env.observation_space.contains(seen[0])
        expected = {"obs": told[0], "legal": told[-1]["action_mask"]}, *told[1:]
        assert data_equivalence(seen, expected, exact=True)
    with pytest.raises(ValueError, match="observation and mask are both 'x'; allowed are diff"):
        MaskObservation(seat_env(), "x", "x")
    boxed = gym.Env()
    boxed.action_space = gym.spaces.Box(0, 1, (2,), np.float32)
    with pytest.raises(ValueError, match=r"actions are Box\(.*; allowed are discrete ones"):
        MaskObservation(boxed)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
def test_a_wrapped_environments_spec_makes_it_again() -> None:
    env = MaskObservation(gym.make("solvent/GreedSmall-v0"), mask="legal")
    check_env(env, skip_render_check=True)
    assert list(gym.make(env.spec).reset(seed=0)[0]) == ["observation", "legal"]
