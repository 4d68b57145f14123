"""Games of two in PettingZoo: the rules behind them, registration, and checks of football."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from golden_streams import DRIVE
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test
from random_games import RandomGame
from two_players import OneShot

from solvent.envs import pettingzoo_games
from solvent.envs.pettingzoo_env import AGENTS, TabularAECEnv, TabularParallelEnv
from solvent.games import Greed, Pig
from solvent.registration import register_envs

register_envs()

# What PettingZoo says of every observation with a mask in it that is not in its own list.
ABOUT_DICTIONARIES = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}

SHORT_FIELD = {**DRIVE, "to_goal": [1, 7]}


def make_greed(**arguments: Any) -> Any:
    return pettingzoo.make("aec", "solvent/greed", limit=20, sides=4, **arguments)


def make_simultaneous(**arguments: Any) -> TabularParallelEnv:
    return TabularParallelEnv(RandomGame(4, "simultaneous", cyclic=True), **arguments)


def whole_plays(env: Any, seed: int, plays: int) -> list[Any]:
    """Everything that an environment says in some plays, of which only the first has a seed."""
    log: list[Any] = []
    for agent in env.possible_agents:
        env.action_space(agent).seed(seed)
    for play in range(plays):
        env.reset(seed=seed if play == 0 else None)
        for agent in env.agent_iter():
            told = env.last()
            log.append((agent, *copy.deepcopy(told)))
            ended = told[2] or told[3]
            env.step(None if ended else env.action_space(agent).sample())
    return log


@pytest.mark.parametrize("rules", [Greed(20, 4), Pig(12), Pig(6, signed=True)])
def test_a_play_follows_the_rules(rules: Any) -> None:
    env = TabularAECEnv(rules)
    rng = np.random.default_rng(0)
    low, high = rules.info.reward_range
    for seed in range(30):
        env.reset(seed=seed)
        returns = dict.fromkeys(AGENTS, 0.0)
        for agent in env.agent_iter():
            seen, _, over, truncated, _ = env.last()
            assert type(over) is bool
            assert truncated is False
            state = env.state_of_rules
            for player, one in enumerate(AGENTS):
                observed = env.observe(one)
                assert (observed["observation"] == rules.observe(state, player)).all()
                assert env.observation_space(one).contains(observed)
                mask = observed["action_mask"]
                assert not over or mask.all()
                if not over and one != agent:
                    assert not mask.any()
            if over:
                env.step(None)
                continue
            player = rules.turn(state)
            assert agent == AGENTS[player]
            legal = rules.legal_actions(state)[player]
            assert np.flatnonzero(seen["action_mask"]).tolist() == list(legal)
            action = int(rng.integers(env.action_space(agent).n))
            played = action if action in legal else legal[0]
            joint = (played, 0) if player == 0 else (0, played)
            env.step(action)
            assert env.infos[agent]["illegal_action"] is (action not in legal)
            outcomes = {(o.state, o.reward) for o in rules.transition(state, joint)}
            assert (env.state_of_rules, env.rewards["player_0"]) in outcomes
            for one in AGENTS:
                returns[one] += env.rewards[one]
        assert env.agents == []
        assert sum(returns.values()) == low + high
        assert all(low <= paid <= high for paid in returns.values())


def test_both_agents_are_told_what_the_end_has_paid() -> None:
    env = make_greed()
    seen = set()
    for seed in range(40):
        env.reset(seed=seed)
        last = {}
        for agent in env.agent_iter():
            observation, reward, over, _, _ = env.last()
            if over:
                last[agent] = reward
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(observation["action_mask"]))
        seen.add((last["player_0"], last["player_1"]))
    assert {(1.0, 0.0), (0.0, 1.0)} <= seen <= {(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)}


def test_both_act_at_once() -> None:
    rules = OneShot()
    env = TabularParallelEnv(rules, observation="index")
    env.reset(seed=0)
    seen, rewards, over, truncated, infos = env.step({"player_0": 2, "player_1": 3})
    # Action 2 of player 0 is illegal, so its lowest one is played.
    assert env.game.states[seen["player_0"]["observation"]] == (0, 3)
    assert rewards == {"player_0": -3.0, "player_1": 3.0}
    assert over == {"player_0": True, "player_1": True}
    assert truncated == {"player_0": False, "player_1": False}
    assert [infos[agent]["illegal_action"] for agent in AGENTS] == [True, False]
    assert env.agents == []
    with pytest.raises(ResetNeeded):
        env.step({"player_0": 0, "player_1": 0})


def test_bad_input() -> None:
    env = TabularAECEnv(Greed(5, 2), illegal="raise")
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    for action in (-1, 99, 0.5, None):
        with pytest.raises(ValueError, match="allowed are whole numbers from 0"):
            env.step(action)
    strict = TabularAECEnv(Pig(5), illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 1 is not legal in state .*legal are \[0\]"):
        strict.step(1)
    both = make_simultaneous()
    both.reset(seed=0)
    with pytest.raises(ValueError, match="actions are for player_0; needed is one for each"):
        both.step({"player_0": 0})
    with pytest.raises(ValueError, match="the players of random act at the same time"):
        TabularAECEnv(RandomGame(4, "simultaneous", cyclic=True))
    with pytest.raises(ValueError, match="the players of pig take turns; TabularAECEnv plays that"):
        TabularParallelEnv(Pig(5))
    with pytest.raises(ValueError, match="mask is 'observation'; allowed are info, obs"):
        TabularAECEnv(Pig(5), mask="observation")


def test_an_unknown_argument_is_a_type_error_in_python_s_words() -> None:
    for make in (
        lambda **a: gym.make("solvent/GreedSmall-v0", **a),
        lambda **a: gym.make_vec("solvent/GreedSmall-v0", num_envs=2, **a),
        lambda **a: pettingzoo.make("aec", "solvent/greed", **a),
        pettingzoo_games.greed.env,
        pettingzoo_games.greed.raw_env,
    ):
        with pytest.raises(TypeError, match=r"greed got an unexpected .* Did you mean 'limit'"):
            make(limits=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'; allowed are"):
        pettingzoo_games.football_strategy.parallel_env(frameskip=1)


@pytest.mark.parametrize("make", [make_greed, make_simultaneous])
def test_the_mask_is_in_one_place(make: Any) -> None:
    in_obs, in_info = make(), make(mask="info")
    rng = np.random.default_rng(0)
    for seed in range(5):
        for env in (in_obs, in_info):
            env.reset(seed=seed)
        if isinstance(in_obs, TabularParallelEnv):
            told = [env.reset(seed=seed) for env in (in_obs, in_info)]
        while in_obs.agents:
            if isinstance(in_obs, TabularParallelEnv):
                both = told
            else:
                both = [
                    ({a: env.observe(a) for a in AGENTS}, env.infos) for env in (in_obs, in_info)
                ]
            for agent in in_obs.agents:
                (seen, info), (plain, full) = ((s[agent], i[agent]) for s, i in both)
                assert "action_mask" not in info
                assert (seen["observation"] == plain).all()
                assert (seen["action_mask"] == full["action_mask"]).all()
                assert full["action_mask"].dtype == np.int8
                assert in_obs.observation_space(agent).contains(seen)
                assert in_info.observation_space(agent).contains(plain)
            if isinstance(in_obs, TabularParallelEnv):
                actions = {a: int(rng.integers(in_obs.action_space(a).n)) for a in AGENTS}
                steps = [env.step(actions) for env in (in_obs, in_info)]
                told = [(step[0], step[-1]) for step in steps]
                assert steps[0][1:3] == steps[1][1:3]
            else:
                agent = in_obs.agent_selection
                over = in_obs.terminations[agent]
                action = None if over else int(rng.integers(in_obs.action_space(agent).n))
                for env in (in_obs, in_info):
                    env.step(action)
                assert in_obs.rewards == in_info.rewards
        assert in_info.agents == []


def test_the_wrapper_reports_calls_out_of_order() -> None:
    env = make_greed()
    with pytest.raises(AttributeError, match="before reset"):
        env.agent_selection  # noqa: B018
    raw = pettingzoo_games.greed.raw_env(limit=5)
    assert type(raw) is TabularAECEnv


def test_games_are_modules_too() -> None:
    assert {"football_strategy", "goofspiel", "greed", "pig"} <= set(dir(pettingzoo_games))
    module = pettingzoo_games.greed.env(limit=20, sides=4)
    assert data_equivalence(whole_plays(module, 3, 2), whole_plays(make_greed(), 3, 2), exact=True)
    assert pettingzoo_games.pig.raw_env().game.info.parameters[0] == ("target", 20)
    with pytest.raises(AttributeError, match="no attribute 'chess'"):
        pettingzoo_games.chess  # noqa: B018


def test_import_registers_and_registering_again_changes_nothing() -> None:
    before = dict(pettingzoo.aec_registry)
    register_envs()
    assert dict(pettingzoo.aec_registry) == before
    code = (
        "import solvent, pettingzoo\n"
        "env = pettingzoo.make('aec', 'solvent/greed', limit=3, sides=2)\n"
        "env.reset(seed=0)\n"
        "print(env.agent_selection, str(env))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "player_0 greed_v0"


def test_pictures_and_copies() -> None:
    rules = Greed(20, 4)
    env = TabularAECEnv(rules, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == rules.draw(rules.initial()[0].state)
    painted = TabularAECEnv(rules, render_mode="rgb_array")
    painted.reset(seed=0)
    assert painted.render().std() > 0
    painted.close()
    twin = copy.deepcopy(env)
    assert twin.game is env.game
    for _ in range(3):
        for one in (env, twin):
            one.step(2)
        assert twin.state_of_rules == env.state_of_rules


def test_football_passes_the_parallel_and_the_aec_checks() -> None:
    env = pettingzoo.make("parallel", "solvent/football-strategy", **SHORT_FIELD)
    parallel_api_test(env, num_cycles=200)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(pettingzoo_games.football_strategy.env(**SHORT_FIELD), num_cycles=200)
    # Offence and defence have different actions, and so masks of different lengths.
    of_roles = {f"Agents have different {kind} space sizes" for kind in ("observation", "action")}
    assert {str(warning.message) for warning in caught} <= ABOUT_DICTIONARIES | of_roles


def test_a_seed_decides_a_whole_drive_of_football() -> None:
    def drive(seed: int) -> list[Any]:
        # On this chart calls leave hardly anything to chance, so the start is drawn.
        env = pettingzoo_games.football_strategy.parallel_env(**SHORT_FIELD)
        seen = [env.reset(seed=seed)]
        rng = np.random.default_rng(0)
        while env.agents:
            calls = {
                agent: int(rng.choice(np.flatnonzero(seen[-1][0][agent]["action_mask"])))
                for agent in env.agents
            }
            seen.append(env.step(calls))
        return seen

    assert data_equivalence(drive(5), drive(5), exact=True)
    assert any(not data_equivalence(drive(5), drive(seed), exact=True) for seed in (6, 7, 8))
