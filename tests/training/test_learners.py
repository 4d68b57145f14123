"""Learners do what those of Stable-Baselines3 do, with settings that rl-baselines3-zoo reads."""

import csv
import json
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
import yaml
from refusals import assert_refused
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from side_by_side import assert_equal
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import nn

import solvent
from solvent.benchmark.run_folder import STARTS, saw_solution
from solvent.envs import Env, VectorEnv
from solvent.exact import Score
from solvent.games import FightingFantasy
from solvent.model import TabularGame, one_hot
from solvent.training import (
    SELF_PLAY_ALGORITHMS,
    Evaluation,
    NativeVecEnv,
    SelfPlayEvaluation,
    extract,
    read_curve,
    train,
)
from solvent.training.algorithms import EXPLORING, prepare, tuned
from solvent.training.callback import CurveCallback
from solvent.training.kinds import OneSeat, SelfPlay, WithTable
from solvent.training.learners import DistinctMaskablePPO, DistinctPPO

# Learners and the environment's adapter do what those of Stable-Baselines3 do, with masks


def test_training_never_plays_an_illegal_action(small: TabularGame, make_model: Any) -> None:
    settings: dict[str, Any] = {"illegal": "raise", "exploration_final_eps": 0.5}
    make_model("masked_dqn", small, **settings).learn(1000)
    assert_refused((
        (lambda: make_model("dqn", small, **settings).learn(4000), "not legal"),
        (lambda: make_model("masked_dqn", small, n_steps=3), "n_steps is 3"),
    ))  # fmt: skip


def test_the_buffer_keeps_the_masks_of_the_states_that_follow(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("masked_dqn", small, buffer_size=400)
    model.learn(1000)
    buffer = model.replay_buffer
    assert buffer.full
    rows = one_hot(small).observation[0]
    state_of = {row.tobytes(): s for s, row in enumerate(rows)}
    going_on = np.argwhere(buffer.dones == 0)
    assert len(going_on) > 100
    for t, i in going_on.tolist():
        state = state_of[buffer.next_observations[t, i].tobytes()]
        np.testing.assert_array_equal(buffer.next_masks[t, i], small.mask[0][state])


def test_values_of_illegal_actions_do_not_leak_into_targets(
    small: TabularGame, make_model: Any
) -> None:
    # Testing luck is worth a fortune to this target network, but only where it is forbidden
    # does that show: there the mask has to hide it.
    forced = ~small.mask[0][:, 1] & ~small.terminal
    seen = one_hot(small).observation[0][forced]
    results = []
    for fortune in (0.0, 1e6):
        model = make_model("masked_dqn", small, learning_rate=1e-2)
        model.learn(64)
        with torch.no_grad():
            model.q_net_target.q_net[-1].bias[1] += fortune
        buffer, n = model.replay_buffer, model.replay_buffer.n_envs
        told, nothing = [{"action_mask": np.array([True, False])}] * n, np.zeros(n)
        for k in range(buffer.buffer_size // 1000):
            rows = seen[np.arange(k * n, (k + 1) * n) % len(seen)]
            buffer.add(rows, rows, nothing, nothing, nothing, told)
        buffer.dones[: 64 // n] = 1
        model.set_random_seed(0)
        model.train(gradient_steps=5, batch_size=32)
        results.append(model.q_net(torch.as_tensor(seen)).detach().numpy())
    np.testing.assert_array_equal(results[0], results[1])


def learned(kind: type[BaseAlgorithm], game: TabularGame, updates: int, **changes: Any) -> Any:
    """A learner after some updates, of which the learning rate would fall to 0 after ten."""
    env = VectorEnv(game, 32, observation="onehot", autoreset_mode="SameStep")
    arguments: dict[str, Any] = {
        "n_steps": 16, "batch_size": 128, "n_epochs": 4, "gamma": 1.0, "gae_lambda": 0.6,
        "ent_coef": 0.03, "learning_rate": 0.01, "seed": 3, "device": "cpu",
    }  # fmt: skip
    model = kind("MlpPolicy", NativeVecEnv(env), **arguments | changes)  # type: ignore[arg-type]
    model.set_logger(Logger(None, []))
    model.learn(updates * 32 * 16, log_interval=None)  # type: ignore[arg-type]
    return model


def weights(model: BaseAlgorithm) -> torch.Tensor:
    return torch.cat([weight.detach().ravel() for weight in model.policy.parameters()])


@pytest.mark.parametrize(
    ("plain", "distinct", "policy_kwargs"),
    [
        (PPO, DistinctPPO,
         {"activation_fn": nn.ELU, "optimizer_kwargs": {"weight_decay": 0.1}}),
        (MaskablePPO, DistinctMaskablePPO, {"activation_fn": nn.Tanh}),
    ],
)  # fmt: skip
def test_updates_and_saved_networks_are_those_of_stable_baselines(
    small: TabularGame, plain: Any, distinct: Any, policy_kwargs: dict[str, Any], tmp_path: Path
) -> None:
    kwargs = {"policy_kwargs": policy_kwargs}
    before = weights(learned(plain, small, 0, **kwargs))
    expected, found = (learned(kind, small, 3, **kwargs) for kind in (plain, distinct))
    assert found._is_plain()
    assert extract(found, small).sampled.name == plain.__name__
    moved = (weights(expected) - before).norm()
    assert moved > 1
    assert (weights(found) - weights(expected)).norm() < 1e-5 * moved
    found.save(tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as file:
        data = file.read("data").decode()
    assert "solvent" not in data
    assert json.loads(data)["policy_class"]["__module__"] == found.policy_class.__module__
    loaded = plain.load(tmp_path / "model.zip", device="cpu")
    assert type(loaded) is plain
    assert torch.equal(weights(loaded), weights(found))


def test_the_figures_are_those_of_stable_baselines(small: TabularGame) -> None:
    # Of one epoch, since they are means over the last one; some ratios leave the clip range.
    once = {"n_epochs": 1, "clip_range": 0.02}
    theirs, ours = (
        learned(kind, small, 1, **once).logger.name_to_value for kind in (PPO, DistinctPPO)
    )
    assert theirs["train/clip_fraction"] > 0.1
    same = [name for name in theirs if name.startswith("train/") and name != "train/loss"]
    assert len(same) == 9
    for name in same:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-4, abs=1e-6), name


def test_what_is_not_plain_is_left_to_stable_baselines(small: TabularGame) -> None:
    for unusual in ({"clip_range_vf": 0.1}, {"target_kl": 0.001}):
        expected, found = (learned(kind, small, 2, **unusual) for kind in (PPO, DistinctPPO))
        assert not found._is_plain()
        assert torch.equal(weights(found), weights(expected)), unusual


def test_it_equals_the_vector_environment_of_stable_baselines3(small: TabularGame) -> None:
    ours = NativeVecEnv(VectorEnv(small, 6, observation="onehot", autoreset_mode="SameStep"))
    theirs = DummyVecEnv([lambda: Env(small, observation="onehot") for _ in range(6)])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    for venv in (ours, theirs):
        venv.seed(3)
    assert_equal(ours.reset(), theirs.reset())
    random = np.random.default_rng(0)
    ended = 0
    for _ in range(300):
        actions = random.integers(0, 2, 6)
        shown, expected = stepped(ours, actions), stepped(theirs, actions)
        assert_equal(shown, expected)
        ended += shown[2].sum()
    assert ended > 100


def stepped(venv: VecEnv, actions: Any) -> tuple[Any, ...]:
    """What a step shows, the masks after it, and the last observations of episodes that ended."""
    *told, infos = venv.step(actions)
    last = [info.get("terminal_observation") for info in infos]
    assert [one is not None for one in last] == told[2].tolist()
    cut = [info.get("TimeLimit.truncated", False) for info in infos]
    return *told, get_action_masks(venv), last, cut


# Tuned settings are what rl-baselines3-zoo reads, and no learner is given the solution unasked


DEFAULT = Path(solvent.training.__file__).parent / "hyperparameters" / "default.yml"
GAMES = Path(solvent.__file__).parent / "games"
FILES = sorted(GAMES.glob("**/hyperparameters/*.yml"))


def entries(file: Path) -> dict[str, dict[str, Any]]:
    """What a file says of each environment to everybody."""
    content: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text())
    return {key: value for key, value in content.items() if key != EXPLORING}


def test_every_file_is_found_has_no_entry_twice_and_asks_for_no_solution() -> None:
    """The settings of an environment are those of the file in its game's folder.

    A file may name a share of exploring starts; how they are drawn, only a caller can say.
    """
    assert FILES
    assert tuned("ppo", "somebody/Else-v0") == tuned("ppo", None)
    for file in (*FILES, DEFAULT):
        # Of two entries, YAML would silently take the last.
        document = yaml.compose(file.read_text())
        for entry in (document, *(values for _, values in document.value)):
            keys = [key.value for key, _ in entry.value]
            assert len(keys) == len(set(keys)), file
        shares = yaml.safe_load(file.read_text()).get(EXPLORING, {})
        assert all(isinstance(share, float) for share in shares.values()), file
        assert shares.keys() <= entries(file).keys()
        for env_id, settings in entries(file).items():
            solution = {"start_weights", "stakes", "env_kwargs", "opponent", EXPLORING}
            assert solution.isdisjoint(settings), (file, env_id)
            if file != DEFAULT:
                assert gym.spec(env_id).id == env_id
                found = tuned(file.stem, env_id)
                assert found.pop(EXPLORING, None) == shares.get(env_id)
                assert found == settings


@pytest.mark.parametrize("name", SELF_PLAY_ALGORITHMS)
def test_every_learner_can_be_made_from_every_entry(name: str, small: TabularGame) -> None:
    algorithm = SELF_PLAY_ALGORITHMS[name]
    own = [file for file in FILES if file.stem == algorithm.hyperparameters]
    for env_id in (None, *(env_id for file in own for env_id in entries(file))):
        raw = tuned(algorithm.hyperparameters, env_id)
        setup = prepare(raw, algorithm.model)
        env = VectorEnv(small, setup.n_envs, observation="onehot", autoreset_mode="SameStep")
        kwargs: dict[str, Any] = dict(setup.arguments)
        if "buffer_size" in kwargs:
            kwargs["buffer_size"] = 1000
        model = algorithm.model(setup.policy, NativeVecEnv(env), device="cpu", **kwargs)
        # As rl-baselines3-zoo means it: lin_x is x times the progress that remains. Mirror descent
        # has a schedule of its own, which leaves a tenth.
        rate = str(raw["learning_rate"])
        start, left = float(rate.removeprefix("lin_")), 0.0 if rate.startswith("lin_") else 0.1
        assert (left > 0) == (name == "mirror_descent")
        assert model.lr_schedule(0.25) == pytest.approx(start * (left + (1 - left) * 0.25))
        assert (setup.n_timesteps, model.n_envs) == (int(raw["n_timesteps"]), raw["n_envs"])


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
    rows = (
        ({"n_step": 5}, "is 'n_step'; .*Did you mean 'n_steps'"),
        ({"n_timesteps": 0}, "n_timesteps is 0; allowed are numbers from 1 to"),
        ({"n_timesteps": "many"}, "n_timesteps is 'many'; allowed are numbers from 1 to"),
        ({"learning_rate": "exp_3"}, "learning_rate is 'exp_3'; allowed are"),
        ({"clip_range": "lin_x"}, "clip_range is 'lin_x'; allowed are"),
        ({"policy_kwargs": "dict(a=open('x'))"}, "policy_kwargs is"),
        ({"policy_kwargs": "dict(a=nn.Module)"}, "policy_kwargs is"),
        ({"policy_kwargs": "[1"}, "policy_kwargs is"),
        ({"n_envs": 0}, "n_envs is 0"),
    )
    assert_refused(rows, lambda raw: prepare({"n_timesteps": 1, **raw}, PPO))


# Algorithms, tuned environments and parameters with which these are small.
TUNED: list[tuple[str, str, dict[str, Any]]] = [
    ("ppo", "solvent/FFCombat-v0", {"stamina": 4, "opponent_stamina": 6, "luck": 3}),
    # With exploring starts by itself.
    ("ppo", "solvent/FootballDrive-v0", {"start": 20, "field": 20}),
    ("dqn", "solvent/Greed-v0", {"limit": 5, "sides": 2, "opponent": "uniform"}),
    ("mirror_descent", "solvent/RockPaperScissors-v0", {}),
]

FEW: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 8, "n_steps": 8, "batch_size": 32},
    "dqn": {"n_envs": 8, "learning_starts": 16, "batch_size": 16, "buffer_size": 500},
    "mirror_descent": {"n_envs": 16, "n_steps": 4, "batch_size": 32},
}

RESULT = Score(
    value=0.0, optimum=0.0, optimality_gap=0.0, exploitability=None, normalized=0.0,
    illegal_mass=0.0, worst_start_gap=0.0, worst_start="not measured",
)  # fmt: skip


class Unmeasured(CurveCallback):
    """A curve whose figures are all 0."""

    kind: ClassVar[type[Any]] = Evaluation
    section = "exact"

    def _measure(self) -> dict[str, Any]:
        names = self.kind.__dataclass_fields__.keys() - {"timesteps", "seconds"}
        return dict.fromkeys(names, 0.0)


class UnmeasuredPair(Unmeasured):
    kind = SelfPlayEvaluation


@pytest.fixture
def unsolvable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be solved, and no solution is kept; what only measures is left out."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the solution was asked for")

    monkeypatch.setattr("solvent.exact.solver._solve", refuse)
    monkeypatch.setattr("solvent.exact.solver.kept", refuse)
    monkeypatch.setattr(WithTable, "score", lambda *_: RESULT)
    for kind, curve in ((OneSeat, Unmeasured), (SelfPlay, UnmeasuredPair)):
        monkeypatch.setattr(kind, "make_curve", lambda self, curve=curve, **own: curve(**own))


@pytest.mark.usefixtures("unsolvable")
def test_only_starts_by_importance_need_the_solution(tmp_path: Path) -> None:
    """The fixture above notices whoever asks."""
    for file, env_id, kwargs in TUNED:
        folder = tmp_path / env_id
        asked: dict[str, Any] = {
            "timesteps": 128, "env_kwargs": kwargs, "hyperparameters": FEW[file],
            "evaluations": 1, "progress": False,
        }  # fmt: skip
        result = train(env_id, file, self_play=file == "mirror_descent", folder=folder, **asked)
        assert result.saw == (), env_id
        assert json.loads((folder / "run.json").read_text())["saw"] == [], env_id
        if file == "ppo":
            asked |= {"exploring_starts": 0.5, "start_weights": "importance"}
            with pytest.raises(AssertionError, match="the solution was asked for"):
                train(env_id, file, folder=tmp_path / "importance" / env_id, **asked)


def test_what_was_asked_for_is_on_record(tmp_path: Path) -> None:
    """In the record, the curve and the result; a folder of other starts is refused."""
    game = FightingFantasy(stamina=4, opponent_stamina=6, luck=3)
    few: dict[str, Any] = {
        "timesteps": 64, "hyperparameters": FEW["ppo"], "evaluations": 1, "progress": False,
        "exploring_starts": 0.5,
    }  # fmt: skip
    for weights, saw in (("uniform", ()), ("importance", (STARTS,))):
        few |= {"folder": tmp_path / weights, "start_weights": weights}
        result = train(game, **few)
        record = json.loads((tmp_path / weights / "run.json").read_text())
        assert result.saw == tuple(record["saw"]) == saw
        assert saw_solution(record["request"]) is bool(saw)
        told = list(csv.DictReader((tmp_path / weights / "curve.csv").read_text().splitlines()))
        assert [row.get("saw_solution") for row in told] == ["1" if saw else None] * 2
        assert read_curve(tmp_path / weights / "curve.csv") == result.curve
    others = ({"start_weights": "uniform"}, {"exploring_starts": 0.25})
    assert_refused(
        ((other, "holds another training") for other in others),
        lambda other: train(game, **few | other),
    )
