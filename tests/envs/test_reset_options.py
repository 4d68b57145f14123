"""Options that a ``reset`` does not know are refused by every environment, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_games import RandomGame
from timed_football import tiny

from solvent.envs import SeatEnv, SeatVectorEnv, TabularEnv, TabularVectorEnv, VectorEnv
from solvent.envs.both_seats import BothSeats
from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
from solvent.envs.simulation import Uniform
from solvent.games import FightingFantasy, Pig
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.model import TabularPolicy, compile_game

PIG = compile_game(Pig(target=4))
UNIFORM = [TabularPolicy.uniform(PIG, player=1)]
ALONE = compile_game(FightingFantasy(stamina=4, opponent_stamina=4, luck=3))
SAMPLER = TimedFootballSampler(tiny("second-half", timeouts=0))

MAKERS: dict[str, Callable[[], Any]] = {
    "single": lambda: TabularEnv(ALONE),
    "seat": lambda: SeatEnv(PIG, UNIFORM),
    "simulated": lambda: SeatEnv(SAMPLER, [Uniform()]),
    "aec": lambda: TabularAECEnv(PIG),
    "parallel": lambda: TabularParallelEnv(RandomGame(4, "simultaneous", cyclic=True)),
    "simulated parallel": lambda: TabularParallelEnv(SAMPLER),
    "vector": lambda: TabularVectorEnv(ALONE, 2),
    "both seats, vector": lambda: VectorEnv(BothSeats(PIG, 2)),
    "seat vector": lambda: SeatVectorEnv(PIG, UNIFORM, 2),
    "simulated vector": lambda: SeatVectorEnv(SAMPLER, [Uniform()], 2),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_an_unknown_option_is_refused_and_changes_nothing(kind: str) -> None:
    env, other = MAKERS[kind](), MAKERS[kind]()
    known = "reset_mask" if "vector" in kind else "none"
    for each in (env, other):
        each.reset(seed=3, options=None)
        each.reset(options={})
    with pytest.raises(ValueError, match=f"^options has 'start'; allowed are: {known}$"):
        env.reset(seed=4, options={"start": 7})
    with pytest.raises(ValueError, match=r"^options is \['start'\]; allowed is a mapping"):
        env.reset(options=["start"])
    # The stream of random numbers goes on as if nothing had been asked for.
    for _ in range(3):
        assert repr(env.reset()) == repr(other.reset())
        if kind == "aec":
            assert repr(env.observe("player_0")) == repr(other.observe("player_0"))


def test_a_mask_beside_an_unknown_option_is_refused() -> None:
    env = TabularVectorEnv(ALONE, 2)
    with pytest.raises(ValueError, match="options has 'mask'; allowed are: reset_mask"):
        env.reset(options={"reset_mask": np.ones(2, bool), "mask": np.ones(2, bool)})


def test_environments_of_training_refuse_them_too() -> None:
    pytest.importorskip("torch")
    from solvent.training.vec_env import NativeVecEnv

    venv = NativeVecEnv(TabularVectorEnv(ALONE, 2, autoreset_mode="SameStep"))
    venv.set_options({"start": 1})
    with pytest.raises(ValueError, match="options has 'start'; allowed are: none"):
        venv.reset()
