"""Masked DQN chooses legal actions and bootstraps from legal actions, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from solvent.model import TabularGame, one_hot
from solvent.training.masked_dqn import MaskedReplayBuffer


def test_training_never_plays_an_illegal_action(small: TabularGame, make_model: Any) -> None:
    model = make_model("masked_dqn", small, illegal="raise", exploration_final_eps=0.5)
    model.learn(4000)
    plain = make_model("dqn", small, illegal="raise", exploration_final_eps=0.5)
    with pytest.raises(ValueError, match="not legal"):
        plain.learn(4000)
    with pytest.raises(ValueError, match="n_steps is 3"):
        make_model("masked_dqn", small, n_steps=3)


def test_predict_obeys_the_mask(small: TabularGame, make_model: Any) -> None:
    model = make_model("masked_dqn", small)
    live = ~small.terminal
    seen, mask = one_hot(small).observation[0][live], small.mask[0][live]
    with torch.no_grad():
        model.q_net.q_net[-1].bias[1] += 100
    free, _ = model.predict(seen, deterministic=True)
    assert (free == 1).all()
    for deterministic in (True, False):
        model.exploration_rate = 0.7
        actions, _ = model.predict(seen, deterministic=deterministic, action_masks=mask)
        assert mask[np.arange(len(mask)), actions].all()
    single, _ = model.predict(seen[0], deterministic=True, action_masks=mask[0])
    assert single == actions[0] or mask[0, single]


def test_the_buffer_keeps_the_masks_of_the_states_that_follow(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("masked_dqn", small, buffer_size=400)
    model.learn(1000)
    buffer = model.replay_buffer
    assert isinstance(buffer, MaskedReplayBuffer)
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
        n = model.replay_buffer.n_envs
        for k in range(model.replay_buffer.buffer_size // 1000):
            pick = np.arange(k * n, (k + 1) * n) % len(seen)
            model.replay_buffer.add(
                seen[pick],
                seen[pick],
                np.zeros(n),
                np.zeros(n),
                np.zeros(n),
                [{"action_mask": np.array([True, False])}] * n,
            )
        model.replay_buffer.dones[: 64 // n] = 1
        model.set_random_seed(0)
        model.train(gradient_steps=5, batch_size=32)
        results.append(model.q_net(torch.as_tensor(seen)).detach().numpy())
    np.testing.assert_array_equal(results[0], results[1])
