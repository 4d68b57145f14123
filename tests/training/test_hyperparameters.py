"""The tuned files are what rl-baselines3-zoo reads, and every learner takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch
import yaml

import solvent
from solvent.envs import VectorEnv
from solvent.model import TabularGame
from solvent.registration import register_envs
from solvent.training import SELF_PLAY_ALGORITHMS, NativeVecEnv, hyperparameters
from solvent.training.hyperparameters import EXPLORING, prepare, tuned

DEFAULT = Path(hyperparameters.__file__).with_name("default.yml")
GAMES = Path(solvent.__file__).parent / "games"
FILES = sorted(GAMES.glob("**/hyperparameters/*.yml"))


def entries(file: Path) -> dict[str, dict[str, Any]]:
    """What a file says of each environment to everybody."""
    content: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text())
    return {key: value for key, value in content.items() if key != EXPLORING}


def exploring(file: Path) -> dict[str, float]:
    """The share of exploring starts that it has by environment."""
    found: dict[str, float] = yaml.safe_load(file.read_text()).get(EXPLORING, {})
    return found


def test_every_file_is_found_by_the_spec_of_its_game() -> None:
    """The settings of an environment are those of the file in its game's folder."""
    assert FILES
    register_envs()
    assert tuned("ppo", "somebody/Else-v0") == tuned("ppo", None)
    for file in FILES:
        assert exploring(file).keys() <= entries(file).keys()
        for env_id, settings in entries(file).items():
            assert gym.spec(env_id).id == env_id
            found = tuned(file.stem, env_id)
            share = found.pop(EXPLORING, None)
            assert found == settings
            assert share == exploring(file).get(env_id)


def test_no_entry_stands_twice() -> None:
    """Of two, YAML would silently take the last."""
    for file in (*FILES, DEFAULT):
        document = yaml.compose(file.read_text())
        for entry in (document, *(values for _, values in document.value)):
            keys = [key.value for key, _ in entry.value]
            assert len(keys) == len(set(keys)), file


@pytest.mark.parametrize("name", SELF_PLAY_ALGORITHMS)
def test_every_learner_can_be_made_from_every_entry(name: str, small: TabularGame) -> None:
    algorithm = SELF_PLAY_ALGORITHMS[name]
    own = [file for file in FILES if file.stem == algorithm.hyperparameters]
    for env_id in (None, *(env_id for file in own for env_id in entries(file))):
        check_entry(name, env_id, small)


def check_entry(name: str, env_id: str | None, small: TabularGame) -> None:
    algorithm = SELF_PLAY_ALGORITHMS[name]
    raw = tuned(algorithm.hyperparameters, env_id)
    setup = prepare(raw, algorithm.model)
    env = NativeVecEnv(
        VectorEnv(small, setup.n_envs, observation="onehot", autoreset_mode="SameStep")
    )
    kwargs: dict[str, Any] = setup.arguments | (
        {"buffer_size": 1000} if "buffer_size" in setup.arguments else {}
    )
    model = algorithm.model(setup.policy, env, device="cpu", **kwargs)
    # As rl-baselines3-zoo means it: lin_x is x times the progress that remains. Mirror descent has
    # a schedule of its own, which leaves a tenth.
    rate = str(raw["learning_rate"])
    start, left = float(rate.removeprefix("lin_")), 0.0 if rate.startswith("lin_") else 0.1
    assert (left > 0) == (name == "mirror_descent")
    for remaining in (1.0, 0.25, 0.0):
        expected = start * (left + (1 - left) * remaining)
        assert model.lr_schedule(remaining) == pytest.approx(expected)
    assert setup.n_timesteps == int(raw["n_timesteps"])
    assert model.n_envs == raw["n_envs"]


def test_rl_zoo_reads_them_itself() -> None:
    manager = pytest.importorskip("rl_zoo3.exp_manager", exc_type=ImportError)
    for file in FILES:
        for raw in entries(file).values():
            assert EXPLORING not in raw
            if isinstance(text := raw.get("policy_kwargs"), str):
                # rl-baselines3-zoo evaluates it as Python; here it is only read.
                meant = eval(text, {"nn": torch.nn})
                assert (
                    prepare(raw, SELF_PLAY_ALGORITHMS[file.stem].model).arguments["policy_kwargs"]
                    == meant
                )
            ready = manager.ExperimentManager._preprocess_schedules(dict(raw))
            if isinstance(raw["learning_rate"], str):
                assert ready["learning_rate"](0.5) == float(raw["learning_rate"][4:]) / 2


def test_wrong_hyperparameters_are_named() -> None:
    for raw, message in (
        ({"n_step": 5}, "is 'n_step'; .*Did you mean 'n_steps'"),
        ({"learning_rate": "exp_3"}, "learning_rate is 'exp_3'; allowed are"),
        ({"clip_range": "lin_x"}, "clip_range is 'lin_x'; allowed are"),
        ({"policy_kwargs": "dict(a=open('x'))"}, "policy_kwargs is"),
        ({"policy_kwargs": "dict(a=nn.Module)"}, "policy_kwargs is"),
        ({"policy_kwargs": "[1"}, "policy_kwargs is"),
        ({"n_envs": 0}, "n_envs is 0"),
    ):
        with pytest.raises(ValueError, match=message):
            prepare({"n_timesteps": 1, **raw}, SELF_PLAY_ALGORITHMS["ppo"].model)
    with pytest.raises(ValueError, match="lack n_timesteps"):
        prepare({"n_envs": 4}, SELF_PLAY_ALGORITHMS["ppo"].model)


def test_python_in_the_file_is_read_like_a_literal() -> None:
    text = "dict(activation_fn=nn.ReLU, net_arch=dict(pi=[32], vf=[64, 64]), ortho_init=False)"
    read = prepare({"n_timesteps": 1, "policy_kwargs": text}, SELF_PLAY_ALGORITHMS["ppo"].model)
    assert read.arguments["policy_kwargs"] == eval(text, {"nn": torch.nn})
