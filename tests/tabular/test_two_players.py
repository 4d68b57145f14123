"""Learning in games for two: as the theorems say, and step by step as the compiled twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from tabular_runs import ROCK_PAPER_SCISSORS, after, random_table

from solvent.baselines.q_learning import MinimaxQ, QLearning
from solvent.baselines.stage_games import (
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageGames,
)
from solvent.model import TabularGame
from solvent.tabular import (
    Estimate,
    curves,
    fictitious_play,
    matrix_game,
    measure,
    minimax_q,
    mirror_descent,
    q_learning,
    regret_matching,
    regret_matching_plus,
    replicator_dynamics,
)

Learn = Callable[..., Iterator[Estimate]]
MATRICES = [np.random.default_rng(seed).integers(-3, 4, (4, 3)).astype(float) for seed in range(3)]
UNEVEN = np.array([[0.5, 0.3, 0.2], [0, 0, 0]]), np.array([[0.2, 0.3, 0.5], [0, 0, 0]])
"""Policies with which rock, paper, scissors does not begin in its equilibrium."""


def strategies(estimate: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Both players' in a matrix game."""
    assert isinstance(estimate.pi, tuple)
    return estimate.pi[0][0], estimate.pi[1][0]


@pytest.mark.parametrize("learn", [regret_matching, regret_matching_plus])
def test_regret_falls_with_the_root_of_time(learn: Learn) -> None:
    """The regret of each player is at most range * sqrt(actions * T), by Blackwell's theorem."""
    for payoffs in [*MATRICES, ROCK_PAPER_SCISSORS]:
        m, n = payoffs.shape
        exploit = measure(matrix_game(payoffs), "exploitability")
        for t, estimate in enumerate(islice(learn(payoffs), 400), 1):
            if t in (25, 100, 400):
                bound = np.ptp(payoffs) * (np.sqrt(m) + np.sqrt(n)) / 2 / np.sqrt(t)
                assert exploit(estimate) <= bound


def test_fictitious_play_converges() -> None:
    """Robinson (1951): whatever the matrix, though slowly."""
    for payoffs in [*MATRICES, ROCK_PAPER_SCISSORS]:
        exploit = measure(matrix_game(payoffs), "exploitability")
        for t, estimate in enumerate(islice(fictitious_play(payoffs), 1600), 1):
            if t in (100, 400, 1600):
                assert exploit(estimate) <= 2 * np.ptp(payoffs) / np.sqrt(t)


def test_the_plus_is_faster() -> None:
    drawn = curves(
        ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5]),
        {
            "plain": lambda rng: regret_matching(ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5])),
            "plus": lambda rng: regret_matching_plus(ROCK_PAPER_SCISSORS + np.diag([0, 0, 0.5])),
        },
        "exploitability",
        until=1000,
        points=10,
        along="rounds",
    ).means
    assert drawn["plus"][-1] < drawn["plain"][-1] / 4


def test_replicators_circle_round_the_equilibrium() -> None:
    """The product of all shares is kept, so that no orbit comes nearer; its average does."""
    run = replicator_dynamics(ROCK_PAPER_SCISSORS, h=0.05, start=UNEVEN)
    orbit = [strategies(estimate) for estimate in islice(run, 4000)]
    kept = [np.log(x).sum() + np.log(y).sum() for x, y in orbit]
    assert np.ptp(kept) < 1e-5
    away = [np.abs(x - 1 / 3).max() + np.abs(y - 1 / 3).max() for x, y in orbit]
    assert min(away) > 0.15
    average = np.mean([x for x, _ in orbit], axis=0)
    assert average == pytest.approx([1 / 3] * 3, abs=0.02)
    # It comes back to where it began.
    first = np.concatenate([pi[0] for pi in UNEVEN])
    distances = [np.abs(np.concatenate(pair) - first).max() for pair in orbit]
    assert max(distances) > 0.2
    assert min(distances[1000:]) < 0.1


def test_mirror_descent_needs_a_magnet() -> None:
    """Without, it spirals outwards; with one that weakens it comes to the equilibrium."""
    exploit = measure(matrix_game(ROCK_PAPER_SCISSORS), "exploitability")
    first = exploit(Estimate(pi=UNEVEN))
    free, held = (
        exploit(
            after(
                mirror_descent(
                    ROCK_PAPER_SCISSORS, step=0.4, start=UNEVEN, temperature=temperature
                ),
                2000,
            )
        )
        for temperature in (0.0, lambda t: 1 / t)
    )
    assert free > first / 2
    assert held < first / 10


TWINS: dict[str, tuple[Callable[[TabularGame], Iterator[Estimate]], Callable[..., StageGames]]] = {
    "fictitious play": (fictitious_play, FictitiousPlay),
    "regret matching": (regret_matching, lambda game: RegretMatching(game, plus=False)),
    "regret matching+": (regret_matching_plus, RegretMatching),
    "mirror descent": (mirror_descent, MirrorDescentSweeps),
}
GAMES = {
    "matrix": matrix_game(np.random.default_rng(0).normal(size=(4, 3))),  # no ties
    "taking turns": random_table(2, "alternating", cyclic=False),
    "in cycles": random_table(1, "simultaneous"),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", TWINS)
def test_sweeps_are_those_of_the_compiled_twin(name: str, game: str) -> None:
    read, compiled = TWINS[name]
    fast = compiled(GAMES[game])
    for estimate in islice(read(GAMES[game]), 30):
        fast.learn(1)
        assert isinstance(estimate.pi, tuple)
        np.testing.assert_allclose(estimate.V, fast.values, atol=1e-9)
        for player in (0, 1):
            np.testing.assert_allclose(
                estimate.pi[player], fast.policy(player).probabilities, atol=1e-9
            )


class Move(NamedTuple):
    """One move of a compiled learner: what was done and what followed."""

    state: int
    ranks: tuple[int, int]
    reward: float
    following: int


def told_apart(game: TabularGame) -> TabularGame:
    """The game with rewards that state, action and next state decide, so that a move tells them."""
    rewards = (7 * game.outcome_row + 3 * game.next_state) % 5 - 2.0
    return replace(game, outcome_reward=rewards)


def moves_of(learner: Any, game: TabularGame, moves: int) -> list[Move]:
    """What a compiled learner does, read off its counts."""
    made = []
    for _ in range(moves):
        before = learner._tried.copy()
        learner.learn(1)
        [row] = np.flatnonzero(learner._tried != before)
        state, following = int(game.row_state[row]), int(learner._state)
        here = slice(*game.outcome_start[row : row + 2])
        outcome = here.start + int((game.next_state[here] == following).argmax())
        rank = divmod(int(row - game.row_start[state]), int(game.action_count[1][state]))
        made.append(Move(state, rank, float(game.outcome_reward[outcome]), following))
    return made


class Replayed(gym.Env[Any, Any]):
    """An environment in which what has been happens again."""

    def __init__(self, game: TabularGame, moves: list[Move]) -> None:
        self.game, self.moves, self.at = game, moves, 0
        self.observation_space = spaces.Discrete(game.n_states)
        self.action_space = spaces.Discrete(game.mask[0].shape[1])

    def reset(self, **options: Any) -> tuple[int, dict[str, Any]]:
        return self.moves[self.at].state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        move = self.moves[self.at]
        assert action == np.flatnonzero(self.game.mask[0][move.state])[move.ranks[0]]
        self.at += 1
        return move.following, move.reward, bool(self.game.terminal[move.following]), False, {}


class Chosen:
    """Random numbers with which uniform draws are what has been."""

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = iter(numbers)

    def integers(self, *limits: int) -> int:
        return 0

    def random(self) -> float:
        return next(self.numbers)


def middle(chances: Any, index: int) -> float:
    """The number in [0, 1) in the middle of those that draw an index."""
    return float(chances[:index].sum() + chances[index] / 2)


def whole_episodes(game: TabularGame, moves: list[Move]) -> tuple[list[Move], int]:
    """The moves up to the last end of an episode, and how many episodes they are."""
    ends = [n for n, move in enumerate(moves) if game.terminal[move.following]]
    return moves[: ends[-1] + 1], len(ends)


def test_q_learning_learns_from_the_same_moves_what_its_twin_does() -> None:
    game = told_apart(random_table(4))
    fast = QLearning(game, seed=3)
    moves, episodes = whole_episodes(game, moves_of(fast, game, 400))
    assert episodes > 100
    again = QLearning(game, seed=3)
    again.learn(len(moves))
    counts = game.action_count[0]
    chosen = Chosen([(move.ranks[0] + 0.5) / counts[move.state] for move in moves])
    # All actions are drawn uniformly: Q-learning learns the same from whatever acts.
    run = q_learning(
        Replayed(game, moves),
        alpha=lambda n: n**-0.8,
        epsilon=1.0,
        rng=chosen,  # type: ignore[arg-type]
    )
    Q = after(run, episodes).Q
    assert Q is not None
    np.testing.assert_allclose(Q[game.row_state, game.row_action[0]], again._q, atol=1e-12)


def test_minimax_q_learns_from_the_same_moves_what_its_twin_does() -> None:
    game = told_apart(random_table(2, "simultaneous"))
    moves, episodes = whole_episodes(game, moves_of(MinimaxQ(game, seed=1), game, 150))
    assert episodes > 30
    again = MinimaxQ(game, seed=1)
    again.learn(len(moves))
    numbers, begins = [], True
    for state, ranks, _, following in moves:
        if begins:
            numbers.append(middle(game.initial, state))
        numbers += [(r + 0.5) / game.action_count[k][state] for k, r in enumerate(ranks)]
        row = game.row_start[state] + ranks[0] * game.action_count[1][state] + ranks[1]
        here = slice(*game.outcome_start[row : row + 2])
        at = (game.next_state[here] == following).argmax()
        numbers.append(middle(game.probability[here], at))
        begins = bool(game.terminal[following])
    run = minimax_q(game, alpha=lambda n: n**-0.8, explore=1.0, rng=Chosen(numbers))  # type: ignore[arg-type]
    np.testing.assert_allclose(after(run, episodes).V, again.values, atol=1e-8)
