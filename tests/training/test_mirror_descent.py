"""Mirror descent with a critic of both actions: its targets, and that it finds mixed policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from interruptions import Interrupted, stop_at
from reduced_football import reduced

from solvent.envs import VectorEnv
from solvent.envs.batches import BothSeats
from solvent.envs.sampling import observations
from solvent.exact import exploitability
from solvent.games import Nim
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import MirrorDescent, TrainingResult, load_model, train
from solvent.training.environments import NativeVecEnv, with_roles
from solvent.training.extract import extract_seats
from solvent.training.mirror_descent import JointTransitions

STEPS = 8_192
NO_FLOOR = {"floor": 0.0, "better_floor": 0.0}
SETTINGS = {"n_envs": 512, "n_steps": 4, "batch_size": 64, "step_size": 0.5}


@pytest.fixture(scope="module")
def football() -> TabularGame:
    return compile_game(reduced())


def start(game: TabularGame, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments: dict[str, Any] = {
        "timesteps": STEPS,
        "evaluations": 2,
        "refresh": 1024,
        "exploring_starts": 0.5,
        "hyperparameters": SETTINGS,
        "progress": False,
    }
    arguments |= {"self_play": True, "seed": 1, **kwargs}
    return train(game, "mirror_descent", folder=folder, **arguments)


@pytest.fixture(scope="module")
def trained(football: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return start(football, tmp_path_factory.mktemp("football"))


def made(game: TabularGame, **kwargs: Any) -> MirrorDescent:
    """A learner that has learned nothing, of some game with roles."""
    env = VectorEnv(BothSeats(with_roles(game), 64, "onehot"), autoreset_mode="SameStep")
    return MirrorDescent("MlpPolicy", NativeVecEnv(env), seed=0, device="cpu", **kwargs)


def at_start(
    learner: MirrorDescent, game: TabularGame, action: tuple[int, int] = (0, 0), reward: float = 0.0
) -> JointTransitions:
    """One play that ends with a pair of actions in the first state, as the learner is now."""
    game = with_roles(game)
    state = np.flatnonzero(game.initial)
    seen, legal = (
        torch.as_tensor(np.stack(arrays))
        for arrays in (
            [observations(game, seat, "onehot")[state] for seat in (0, 1)],
            [mask[state] for mask in game.mask],
        )
    )
    with torch.no_grad():
        first, second = (learner.policy.log_policy(seen[k], legal[k], k) for k in (0, 1))
    return JointTransitions(
        seen,
        legal,
        torch.tensor([[a] for a in action]),
        torch.tensor([reward]),
        torch.tensor([True]),
        (first, second),
        seen,
        (first, second),
    )


def test_a_step_raises_actions_by_their_values_against_the_other(
    football: TabularGame,
) -> None:
    learner = made(football, step_size=0.7, lookahead=0.0, **NO_FLOOR, temperature=0.2)
    transitions = at_start(learner, football)
    x, y = (log_policy.exp().numpy()[0] for log_policy in transitions.log_policy)
    values = np.random.default_rng(4).normal(size=(len(x), len(y))).astype(np.float32)
    for seat, policy, action_values in ((0, x, values @ y), (1, y, -(x @ values))):
        raised = np.where(policy > 0, policy * np.exp(0.7 * action_values), 0.0)
        raised = raised ** (1 / (1 + 0.7 * 0.2))
        target = learner._target(transitions, seat, torch.as_tensor(values)[None]).numpy()[0]
        np.testing.assert_allclose(target, raised / raised.sum(), atol=1e-6)


def test_with_lookahead_it_answers_where_the_other_is_about_to_go(football: TabularGame) -> None:
    settings = {"step_size": 0.7, "temperature": 1e-6, **NO_FLOOR}
    ahead, plain = (made(football, lookahead=size, **settings) for size in (1e3, 0.0))
    transitions = at_start(ahead, football)
    first, second = transitions.log_policy
    values = torch.randn(
        1, first.shape[1], second.shape[1], generator=torch.Generator().manual_seed(4)
    )
    # After a step that long the other does what is best for it, and nothing else.
    costs = (first.exp() @ values[0]).masked_fill(second.exp() == 0, torch.inf)
    best = torch.zeros_like(second).scatter_(1, costs.argmin(dim=1, keepdim=True), 1.0)
    then = transitions._replace(log_policy=(first, best.log()))
    torch.testing.assert_close(
        ahead._target(transitions, 0, values), plain._target(then, 0, values)
    )
    assert not torch.allclose(
        ahead._target(transitions, 0, values), plain._target(transitions, 0, values)
    )


def test_what_would_do_better_has_a_higher_floor(football: TabularGame) -> None:
    floors = {"floor": 1e-5, "better_floor": 0.02}
    learner = made(football, step_size=0.01, lookahead=0.0, temperature=1e-6, **floors)
    transitions = at_start(learner, football)
    first, second = transitions.log_policy
    values = torch.zeros(1, first.shape[1], second.shape[1])
    values[0, 1:] = -0.5
    values[0, [1, 3]] = torch.tensor([0.5, 1.0])[:, None]
    # Almost all of seat 0's play is its action 0; 1 and 3 do better, all others worse.
    [legal] = first.exp() > 0
    assert legal[:4].all()
    rare = torch.where(legal, 1e-8, 0.0)
    rare[0] = 1 - 1e-8 * (legal.sum() - 1)
    [target] = learner._target(
        transitions._replace(log_policy=(rare[None].log(), second)), 0, values
    )
    np.testing.assert_allclose((target / target[0])[1:4], [0.02, 1e-5, 0.02], rtol=1e-3)
    np.testing.assert_allclose((target / target[0])[legal][4:], 1e-5, rtol=1e-3)
    assert not target[~legal].any()


def test_the_critic_learns_what_a_pair_of_actions_pays_and_nothing_after_the_end(
    football: TabularGame,
) -> None:
    learner = made(football, learning_rate=0.01)
    role = football.mask[0].shape[1]
    transitions = at_start(learner, football, (1, role + 2), -1.75)
    for _ in range(200):
        learner._fit_critic(transitions)
    values = learner.policy.joint_values(transitions.seen[0])[0]
    first, second = learner.policy.seat_actions
    assert values[first.index(1), second.index(role + 2)].item() == pytest.approx(-1.75, abs=0.01)


def uniform_exploitability(game: TabularGame) -> float:
    return sum(exploitability(game, TabularPolicy.uniform(game, player=p)) for p in (0, 1)) / 2


def test_it_learns_both_seats_where_players_take_turns(tmp_path: Path) -> None:
    game = compile_game(Nim([1, 2, 2]))
    few = {"n_envs": 256, "n_steps": 4, "batch_size": 64}
    found = start(game, tmp_path, timesteps=32_768, refresh=2048, hyperparameters=few)
    assert found.exploitability < 0.5 * uniform_exploitability(game)


def test_self_play_becomes_harder_to_exploit(
    trained: TrainingResult, football: TabularGame
) -> None:
    assert trained.average_exploitability < 0.8 * uniform_exploitability(football)
    # Seats have networks of their own, which a file keeps.
    model = load_model(trained.folder / "model.zip", "mirror_descent", trust=True)
    for found, kept in zip(extract_seats(model, football), trained.policies, strict=True):
        np.testing.assert_array_equal(found.sampled.probabilities, kept.probabilities)


def test_interrupted_it_ends_as_uninterrupted(
    trained: TrainingResult, football: TabularGame, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        start(football, tmp_path, progress=stop_at(STEPS // 2))
    parts = start(football, tmp_path)
    for a, b in zip(
        trained.policies + trained.averages, parts.policies + parts.averages, strict=True
    ):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
    assert [replace(p, seconds=0) for p in trained.curve] == [
        replace(p, seconds=0) for p in parts.curve
    ]


def test_what_it_cannot_learn_with_is_refused(football: TabularGame, tmp_path: Path) -> None:
    floors = "allowed are 0 <= floor <= better_floor < 1"
    for refused, message in (
        (lambda: made(football, floor=0.02, better_floor=0.01), floors),
        (lambda: made(football, learning_rate=lambda remaining: remaining), "allowed are numbers"),
        (lambda: start(football, tmp_path / "pool", snapshots=2),
         "both seats of the same episodes; allowed is self-play with"),
        (lambda: train("solvent/FFCombat-v0", "mirror_descent", folder=tmp_path / "one"),
         "algorithm is 'mirror_descent'; allowed are a2c, dqn, maskable_ppo, masked_dqn, ppo"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            refused()
