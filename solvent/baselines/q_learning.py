"""Tabular Q-learning, the learner that a network has to be compared with.

C. J. C. H. Watkins and P. Dayan, "Q-learning", Machine Learning 8, 1992. Plays are sampled from the
game's own table. After action a in state s, with reward r and next state s',

    Q(s, a)  <-  Q(s, a) + alpha * (r + max Q(s', .) - Q(s, a)),     alpha = 1 / n(s, a)^0.8,

n(s, a) being how often a has been tried in s. The exponent is within (1/2, 1], where the
iteration converges, and below 1, where it does so polynomially fast (E. Even-Dar and Y. Mansour,
"Learning rates for Q-learning", JMLR 5, 2003). Behaviour is epsilon-greedy. There is no discount.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer

STEP_SIZE_EXPONENT = 0.8
EPSILON = 0.3


def q_learning(
    game: TabularGame, player: int = 0, *, steps: int = 10_000_000, seed: int = 0
) -> TabularPolicy:
    """Learn from so many sampled moves and return the greedy policy.

    Args:
        game: A game in which only `player` ever has a choice.
        player: Who learns, 0 or 1.
        steps: Number of moves, at least 1.
        seed: Equal seeds give equal policies.

    Raises:
        ValueError: If the other player has a choice, or `steps` is out of range.
    """
    check_integer(steps, "steps", 1, 10**12)
    if (game.action_count[1 - player] > 1).any():
        raise ValueError(
            f"q-learning is for one player who learns, but player {1 - player} has a choice in "
            f"{game.info.name}; fold a policy for that player into the game with "
            f"solvent.model.against"
        )
    q = _learn(
        game.row_start,
        game.outcome_start,
        game.next_state.astype(np.int64, copy=False),
        game.probability,
        (game.outcome_reward if player == 0 else -game.outcome_reward).astype(np.float64),
        game.terminal,
        np.cumsum(game.initial),
        np.random.default_rng(seed),
        steps,
    )
    # Q by action, so that argmax takes the lowest of equal ones.
    table = np.full(game.mask[player].shape, -np.inf)
    table[game.row_state, game.row_action[player]] = q
    return TabularPolicy.deterministic(game, table.argmax(axis=1), player=player, name="q-learning")


@njit(cache=True)
def _learn(
    row_start: Ints,
    outcome_start: Ints,
    next_state: Ints,
    probability: Floats,
    outcome_reward: Floats,
    terminal: Bools,
    cumulative_start: Floats,
    random: np.random.Generator,
    steps: int,
) -> Floats:
    """Action values [K] after so many moves."""
    q = np.zeros(len(outcome_start) - 1)
    tried = np.zeros(len(q), np.int64)
    state = -1
    for _ in range(steps):
        if state < 0 or terminal[state]:
            draw = random.random() * cumulative_start[-1]
            state = np.searchsorted(cumulative_start, draw, side="right")
        first, last = row_start[state], row_start[state + 1]
        if random.random() < EPSILON:
            row = first + np.int64(random.random() * (last - first))
        else:
            row = first + np.argmax(q[first:last])

        draw = random.random()
        outcome = outcome_start[row]
        while draw >= probability[outcome] and outcome < outcome_start[row + 1] - 1:
            draw -= probability[outcome]
            outcome += 1
        following = next_state[outcome]

        target = outcome_reward[outcome]
        if not terminal[following]:
            target += q[row_start[following] : row_start[following + 1]].max()
        tried[row] += 1
        q[row] += (target - q[row]) / tried[row] ** STEP_SIZE_EXPONENT
        state = following
    return q
