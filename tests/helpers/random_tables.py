"""Small random tables of every shape, for tests that compare two samplers of one table."""

from typing import Any

import numpy as np

from solvent.model import GameInfo, TabularGame, TabularPolicy


def legal_actions_played(mask: np.ndarray) -> np.ndarray:
    """[S, A] the action played when one is chosen: itself if legal, else the lowest legal; -1."""
    lowest = np.where(mask.any(axis=1), mask.argmax(axis=1), -1)
    return np.where(mask, np.arange(mask.shape[1]), lowest[:, None])


def predicted(model: Any, game: TabularGame, seen: np.ndarray, *, masked: bool) -> TabularPolicy:
    """What `predict` answers in each state, played as the environment plays it.

    Args:
        model: A model of Stable-Baselines3.
        game: Of it.
        seen: [S, D] what the model is shown in each state.
        masked: Whether it is told the legal actions.
    """
    played = legal_actions_played(game.mask[0])
    actions = np.zeros(game.n_states, np.int64)
    for s in np.flatnonzero(~game.terminal).tolist():
        kwargs = {"action_masks": game.mask[0][s]} if masked else {}
        actions[s] = played[s, int(model.predict(seen[s], deterministic=True, **kwargs)[0])]
    return TabularPolicy.deterministic(game, actions)


def put(array: Any, place: Any, value: Any) -> Any:
    """A copy of an array with other values in some places."""
    copy = np.array(array)
    copy[place] = value
    return copy


def random_table(seed: int, player: int = 0) -> TabularGame:
    """A table of up to 9 states in which `player` alone chooses.

    Rows have from 1 to 9 outcomes, with zero probabilities among them, and play goes in cycles.
    """
    rng = np.random.default_rng(seed)
    n_states, n_actions = int(rng.integers(3, 10)), int(rng.integers(1, 5))
    terminal = np.arange(n_states) >= n_states - int(rng.integers(1, 3))
    mask = rng.random((n_states, n_actions)) < 0.6
    mask[np.arange(n_states), rng.integers(0, n_actions, n_states)] = True
    mask[terminal] = False
    rows = mask.sum(axis=1)
    lengths = rng.integers(1, 10, rows.sum())
    probability = np.concatenate([_distribution(rng, n) for n in lengths])
    initial = np.zeros(n_states)
    initial[~terminal] = _distribution(rng, int((~terminal).sum()))
    other = ~terminal[:, None]
    return TabularGame(
        info=GameInfo(
            name=f"random-{seed}",
            players=2,
            actions=(tuple("abcde"),) * 2,
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=("random",),
        ),
        states=tuple(range(n_states)),
        row_start=np.concatenate(([0], np.cumsum(rows))),
        outcome_start=np.concatenate(([0], np.cumsum(lengths))),
        next_state=rng.integers(0, n_states, lengths.sum()),
        probability=probability,
        outcome_reward=rng.normal(size=lengths.sum()),
        mask=(mask, other) if player == 0 else (other, mask),
        initial=initial,
        observation=(rng.uniform(-1, 1, (n_states, 3)).astype(np.float32),) * 2,
    )


def _distribution(rng: np.random.Generator, n: int) -> np.ndarray:
    weights = rng.random(n) * (rng.random(n) < 0.8)
    weights[rng.integers(n)] += 0.1
    return weights / weights.sum()
