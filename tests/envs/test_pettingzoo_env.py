"""Games of two in PettingZoo: observations and pay, registration, and checks of football."""

from typing import Any

import gymnasium as gym
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from random_games import RandomGame
from refusals import assert_refused

from solvent.envs import pettingzoo_games
from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
from solvent.envs.registration import ENVIRONMENTS, samples_table
from solvent.games import Pig

AT_ONCE = RandomGame(4, "simultaneous", cyclic=True)


def make_greed(**arguments: Any) -> Any:
    return pettingzoo.make("aec", "solvent/greed", limit=20, sides=4, **arguments)


def test_bad_input() -> None:
    env, both = TabularAECEnv(Pig(5), illegal="raise"), TabularParallelEnv(AT_ONCE)
    begin = (
        (lambda: env.step(0), "reset"),
        (lambda: both.step({"player_0": 0, "player_1": 0}), "reset"),
    )
    assert_refused(begin, error=ResetNeeded)
    env.reset(seed=0)
    both.reset(seed=0)
    words = "allowed are whole numbers from 0"
    assert_refused([
        *((lambda action=action: env.step(action), words) for action in (-1, 99, 0.5, None)),
        (lambda: env.step(1), r"action 1 is not legal in state .*legal are \[0\]"),
        (lambda: both.step({"player_0": 0}), "actions are for player_0; expected is one for each"),
        (lambda: TabularAECEnv(AT_ONCE), "the players of random act at the same time"),
        (lambda: TabularParallelEnv(Pig(5)), "players of pig take turns; TabularAECEnv plays"),
        (lambda: TabularAECEnv(Pig(5), mask="observation"), "mask is 'observation'; allowed are"),
    ])  # fmt: skip
    near = r"greed got an unexpected .* Did you mean 'limit'"
    rows: tuple[tuple[Any, str], ...] = (
        (lambda **a: gym.make("solvent/GreedSmall-v0", **a), near),
        (lambda **a: gym.make_vec("solvent/GreedSmall-v0", num_envs=2, **a), near),
        (make_greed, near),
        (pettingzoo_games.greed.env, near),
        (pettingzoo_games.greed.raw_env, near),
        (
            pettingzoo_games.football_strategy.parallel_env,
            "unexpected keyword argument 'limits'; allowed are",
        ),
    )
    assert_refused(rows, lambda make: make(limits=3), TypeError)


def test_games_are_modules_too() -> None:
    assert {"football_strategy", "goofspiel", "greed", "pig"} <= set(dir(pettingzoo_games))
    envs = [pettingzoo_games.greed.env(limit=20, sides=4), make_greed()]
    for env in envs:
        env.reset(seed=3)
    assert data_equivalence(*(env.last() for env in envs), exact=True)
    assert len({env.unwrapped.game.model_hash for env in envs}) == 1
    raw = pettingzoo_games.pig.raw_env()
    assert type(raw) is TabularAECEnv
    assert raw.game.info.parameters[0] == ("target", 20)
    rows = (
        # The wrapper reports calls out of order.
        (make_greed(), "agent_selection", "before reset"),
        (pettingzoo_games, "chess", "no attribute 'chess'"),
    )
    assert_refused(rows, getattr, AttributeError)


# Environments of football with a clock, which has no table


@pytest.mark.filterwarnings("ignore")  # Unused features of gymnasium's own.
@pytest.mark.parametrize("name", [n for n in ENVIRONMENTS if not samples_table(n)])
def test_gymnasiums_checks_pass(name: str) -> None:
    env = gym.make(name, render_mode="ansi")
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert env.render()


def test_bad_arguments_of_a_simulator() -> None:
    rows: tuple[tuple[dict[str, Any], str], ...] = (
        ({"opponent": "optimall"}, "opponent of football-strategy is 'optimall'.*'optimal'"),
        ({"opponent": {}}, "opponent is empty"),
        ({"opponent": "no/such.npz"}, r"no/such\.npz: cannot be read"),
        ({"opponent": "optimal"}, "too many to be solved on the spot"),
        ({"observation": "index"}, "observation is 'index'; allowed are onehot, vector"),
        ({"margin": 3}, "margin is 3; form 'half' begins at 0"),
        ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
        ({"timeout": 2}, "Did you mean 'timeouts'"),
        ({"opponent": {"uniform": 0.0}}, r"weights is .* positive number"),
    )
    for make in (gym.make, gym.make_vec):
        assert_refused(rows, lambda given, make=make: make("solvent/FootballHalf-v0", **given))
