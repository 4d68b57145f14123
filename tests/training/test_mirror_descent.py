"""Mirror descent with a critic of both actions: its targets, and that it finds mixed policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from reduced_football import reduced

from solvent.envs.observations import observations
from solvent.exact import exploitability
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import MirrorDescent, SelfPlayResult, load_model, train, train_self_play
from solvent.training.both_seats import BothSeatsVectorEnv
from solvent.training.mirror_descent import Plays
from solvent.training.progress import Moment
from solvent.training.roles import with_roles
from solvent.training.self_play_curve import extract_seats
from solvent.training.vec_env import NativeVecEnv

STEPS = 32_768
SETTINGS = {"n_envs": 512, "n_steps": 4, "batch_size": 64, "step_size": 0.5, "ent_coef": 0.1}


class Interrupted(Exception):  # noqa: N818
    pass


@pytest.fixture(scope="module")
def football() -> TabularGame:
    return compile_game(reduced())


def start(game: TabularGame, folder: Path, **kwargs: Any) -> SelfPlayResult:
    arguments: dict[str, Any] = {
        "timesteps": STEPS,
        "evaluations": 2,
        "refresh": 4096,
        "exploring": 0.5,
        "hyperparameters": SETTINGS,
        "progress": False,
    }
    return train_self_play(game, "mirror_descent", seed=1, folder=folder, **(arguments | kwargs))


@pytest.fixture(scope="module")
def trained(football: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> SelfPlayResult:
    return start(football, tmp_path_factory.mktemp("football"))


def made(game: TabularGame, **kwargs: Any) -> MirrorDescent:
    """A learner that has learned nothing, of some game with roles."""
    env = BothSeatsVectorEnv(with_roles(game), 64, observation="onehot")
    return MirrorDescent("MlpPolicy", NativeVecEnv(env), seed=0, device="cpu", **kwargs)


def at_start(game: TabularGame, action: tuple[int, int], reward: float) -> Plays:
    """One play that ends with a pair of actions in the first state."""
    game = with_roles(game)
    state = np.flatnonzero(game.initial)
    seen, legal = (
        torch.as_tensor(np.stack(arrays))
        for arrays in (
            [observations(game, seat, "onehot")[state] for seat in (0, 1)],
            [mask[state] for mask in game.mask],
        )
    )
    return Plays(
        seen,
        legal,
        torch.tensor([[a] for a in action]),
        torch.tensor([reward]),
        torch.tensor([True]),
        seen,
        legal,
    )


def test_a_step_raises_actions_by_what_they_are_worth_against_the_other(
    football: TabularGame,
) -> None:
    learner = made(football, step_size=0.7, ent_coef=0.2)
    plays = at_start(football, (0, 0), 0.0)
    x, y = (
        learner.policy.log_policy(plays.seen[k], plays.legal[k], k).exp().detach().numpy()[0]
        for k in (0, 1)
    )
    values = np.random.default_rng(4).normal(size=(len(x), len(y))).astype(np.float32)
    for seat, policy, worth in ((0, x, values @ y), (1, y, -(x @ values))):
        raised = np.where(policy > 0, policy * np.exp(0.7 * worth), 0.0)
        raised = raised ** (1 / (1 + 0.7 * 0.2))
        target = learner._target(plays, seat, torch.as_tensor(values)[None]).numpy()[0]
        np.testing.assert_allclose(target, raised / raised.sum(), atol=1e-6)


def test_the_critic_learns_what_a_pair_of_actions_pays_and_nothing_after_the_end(
    football: TabularGame,
) -> None:
    learner = made(football, learning_rate=0.01)
    role = football.mask[0].shape[1]
    plays = at_start(football, (1, role + 2), -1.75)
    for _ in range(200):
        learner._fit_critic(plays)
    values = learner.policy.joint_values(plays.seen[0])[0]
    first, second = learner.policy.seat_actions
    assert values[first.index(1), second.index(role + 2)].item() == pytest.approx(-1.75, abs=0.01)


def test_self_play_becomes_hard_to_exploit(trained: SelfPlayResult, football: TabularGame) -> None:
    uniform = [
        exploitability(football, TabularPolicy.uniform(football, player=seat)) for seat in (0, 1)
    ]
    assert trained.average_exploitability < 0.25 * sum(uniform) / 2


def test_interrupted_it_ends_as_uninterrupted(
    trained: SelfPlayResult, football: TabularGame, tmp_path: Path
) -> None:
    def stop(moment: Moment) -> None:
        if moment.evaluation is not None and moment.evaluation.timesteps >= STEPS // 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        start(football, tmp_path, progress=stop)
    parts = start(football, tmp_path)
    for a, b in zip(
        trained.policies + trained.averages, parts.policies + parts.averages, strict=True
    ):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
    assert [replace(p, seconds=0) for p in trained.curve] == [
        replace(p, seconds=0) for p in parts.curve
    ]


def test_a_saved_network_plays_the_same(trained: SelfPlayResult, football: TabularGame) -> None:
    model = load_model(trained.folder / "model.zip", "mirror_descent", trust=True)
    for loaded, kept in zip(extract_seats(model, football), trained.policies, strict=True):
        np.testing.assert_array_equal(loaded.sampled.probabilities, kept.probabilities)


def test_past_selves_are_refused(football: TabularGame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both seats of the same plays; allowed is self-play with"):
        start(football, tmp_path, past_selves=2)


def test_it_does_not_train_one_seat_alone(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError,
        match="algorithm is 'mirror_descent'; allowed are dqn, maskable_ppo, masked_dqn, ppo",
    ):
        train("solvent/FFCombat-v0", "mirror_descent", folder=tmp_path)
