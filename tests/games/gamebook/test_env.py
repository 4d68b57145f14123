"""The environment of a gamebook, and observations that are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from small_mill import TEXT, small_mill

from solvent.envs import SeatEnv, TabularEnv, TextObservation
from solvent.games import Pig
from solvent.model import TabularPolicy, compile_game
from solvent.registration import register_envs

register_envs()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("books") / "small.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return str(file)


def test_a_text_is_what_the_rules_draw() -> None:
    game = small_mill()
    env = TextObservation(TabularEnv(game))
    text, info = env.reset(seed=2)
    rng = np.random.default_rng(2)
    over, pages = False, set()
    while not over:
        assert text == game.draw(env.unwrapped.state)
        assert env.observation_space.contains(text)
        pages.add(text)
        text, _, over, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
    assert len(pages) > 5
    assert "A pedlar sits by the road" in "".join(pages)


def test_an_environment_that_is_read_survives_its_spec(path: str) -> None:
    env = TextObservation(gym.make("solvent/Gamebook-v0", book=path), max_length=9000)
    again: gym.Env[Any, Any] = gym.make(env.spec)
    assert again.observation_space == env.observation_space
    assert again.reset(seed=5)[0] == env.reset(seed=5)[0]


def test_any_game_can_be_read_but_not_a_table_alone() -> None:
    table = compile_game(Pig(target=8))
    seat = SeatEnv(Pig(target=8), TabularPolicy.uniform(table, player=1))
    assert "8" in TextObservation(seat).reset(seed=1)[0]
    with pytest.raises(ValueError, match="has no rules that could draw"):
        TextObservation(TabularEnv(compile_game(small_mill())))
    with pytest.raises(ValueError, match="has no rules that could draw"):
        TextObservation(gym.make("CartPole-v1"))
