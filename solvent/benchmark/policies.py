"""The policies that an algorithm returns, as tables that can be scored.

For each learned seat, an algorithm may return

- a :class:`solvent.model.TabularPolicy`, or an array [S, A] of probabilities of actions;
- a function from a batch of observations [n, D] to probabilities [n, A] or actions [n]
  (:mod:`solvent.baselines.functions`). Its weight on illegal actions counts for the lowest
  legal one, as environments play it;
- a :class:`Learned`, if the greedy policy is not that of the most probable actions.

In self-play it returns a pair, seat 0 first, or one function for both seats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvent.baselines import baseline_policies
from solvent.baselines.functions import tabulated
from solvent.baselines.generic import remember_optimum
from solvent.benchmark.records import BaselineRecord, figures
from solvent.benchmark.task_game import TaskGame
from solvent.envs.spaces import observed
from solvent.exact import CertificateError, ImproperGameError, Score, Solution
from solvent.exact.nonterminating import costs_for_ever
from solvent.exact.response import response_values
from solvent.exact.scoring import LEARNED, comparable_score, without_value
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.arrays import Floats
from solvent.model.parameters import shown


@dataclass(frozen=True, eq=False)
class Learned:
    """A policy with its greedy policy.

    Attributes:
        sampled: The policy whose actions are drawn.
        mode: The greedy policy, which takes the most probable actions.
    """

    sampled: TabularPolicy
    mode: TabularPolicy


def learned_policies(
    game: TaskGame, returned: Any, *, name: str = "policy", observation: str = "vector"
) -> tuple[Learned, ...]:
    """Return the learned policies of each seat from the return value of an algorithm.

    Args:
        game: The game of the task.
        returned: The return value, in a form that the module allows.
        name: Name of the policies in tables and figures.
        observation: Observation type passed to functions.

    Raises:
        ValueError: If it is none of those allowed, or no policy for the game.
    """
    if len(game.seats) == 1:
        parts = [returned]
    elif callable(returned):
        parts = [returned, returned]
    elif isinstance(returned, (tuple, list)) and len(returned) == 2:
        parts = list(returned)
    else:
        raise ValueError(
            f"by self-play an algorithm returned {shown(returned)}; allowed are a pair of policies "
            f"and a function for both seats"
        )
    return tuple(
        _learned(game, part, seat, name, observation)
        for part, seat in zip(parts, game.seats, strict=True)
    )


def _learned(game: TaskGame, part: Any, seat: int, name: str, observation: str) -> Learned:
    """Return the policy of one seat. Support for further kinds of policies belongs here."""
    if isinstance(part, Learned):
        return Learned(_own(game, part.sampled, seat, name), _own(game, part.mode, seat, name))
    if isinstance(part, TabularPolicy):
        policy = _own(game, part, seat, name)
    elif callable(part):
        seen = observed(game.table, seat, observation)
        policy, _ = tabulated(game.table, part, seen, player=seat, name=name)
    elif isinstance(part, np.ndarray):
        policy = TabularPolicy.of(game.table, part, player=seat, name=name)
    else:
        raise ValueError(
            f"an algorithm returned {shown(part)}; allowed are a TabularPolicy, an array [S, A] "
            f"and a function of observations"
        )
    return Learned(policy, policy.mode())


def _own(game: TaskGame, policy: TabularPolicy, seat: int, name: str) -> TabularPolicy:
    """Return a policy for the game that is played, or for the table with the opponent folded in."""
    if policy.player != seat:
        raise ValueError(f"{policy.name} is a policy of player {policy.player}, not of {seat}")
    if policy.model_hash == game.played.model_hash:
        policy = replace(policy, model_hash=game.table.model_hash)
    policy.check_is_for(game.table)
    return replace(policy, name=name)


def recorded_score(
    table: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    *,
    illegal: Floats | None = None,
    tolerance: float = LEARNED,
) -> Score:
    """Return the score of a learned policy, which is never refused.

    If a policy never ends an episode, its value is minus infinity where that costs, and NaN where
    rewards cancel. Figures that could not be proved are NaN as well.

    Args:
        table: The table on which it is scored.
        policy: Policy of one seat.
        solution: Solution of `table`.
        illegal: [S] probability that the learner gave to illegal actions before they were made
            legal; none if left out.
        tolerance: Widest accepted bracket of a best response, in units of the largest payoff.

    Raises:
        ValueError: If the policy or the solution is for another game.
    """
    try:
        return comparable_score(table, policy, solution, illegal=illegal, tolerance=tolerance)
    except CertificateError:
        return without_value(table, policy, solution)


def learned_exploitability(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """Return the exploitability of a learned policy; NaN if it has none, or none can be proved.

    A policy can be so close to the optimum that a best response waits a million moves for a
    blunder, which widens the bracket of its value. A training does not fail for that.
    Infinite exploitability means that an episode goes on for ever at a cost. This takes a fraction
    of the time of a full score.

    Args:
        game: A game for two.
        policy: A policy of either player.
        solution: Solution of `game`.
    """
    try:
        value = game.at_start(response_values(game, policy, tolerance=LEARNED))
    except CertificateError:
        return math.nan
    except ImproperGameError:
        costly = costs_for_ever(against(game, policy), policy.player)
        return math.inf if costly[game.initial > 0].any() else math.nan
    return (1 - 2 * policy.player) * (solution.value - value)


def figures_of_run(
    game: TaskGame,
    policies: Sequence[Learned],
    score: Callable[..., Score] = recorded_score,
) -> dict[str, Any]:
    """Return the figures of a run, as :class:`solvent.benchmark.records.AgentRecord` names them.

    Args:
        game: The game of the task.
        policies: The policies of each learned seat, seat 0 first.
        score: Function from a table, a policy and a solution to a score.
    """
    sampled, greedy = (
        figures([score(game.table, getattr(one, kind), game.solution) for one in policies])
        for kind in ("sampled", "mode")
    )
    return sampled | {f"mode_{name}": figure for name, figure in greedy.items()}


def best_constant(game: TabularGame, solution: Solution, seats: Sequence[int]) -> BaselineRecord:
    """Score the best policy that takes the same action in every state.

    Where the action is not legal it counts for the lowest legal one, as environments play it.

    Args:
        game: The game.
        solution: Solution of `game`.
        seats: Seats to score it in, each by its own best action.
    """

    def score(player: int, action: int) -> Score:
        policy = TabularPolicy.constant(game, action, player=player)
        return recorded_score(game, policy, solution)

    best = []
    for player in seats:
        scores = (score(player, action) for action in range(game.mask[player].shape[1]))
        best.append(max(scores, key=lambda one: -math.inf if math.isnan(one.value) else one.value))
    return BaselineRecord("constant", **figures(best))


def score_baselines(
    game: TabularGame,
    solution: Solution,
    names: Iterable[str] | None = None,
    *,
    seats: Sequence[int] | None = None,
) -> tuple[BaselineRecord, ...]:
    """Score baselines in the seats of a game.

    Args:
        game: The game.
        solution: Solution of `game`.
        names: Names of the baselines. Default: all that the game has.
        seats: Seats to score baselines in. Default: all.

    Returns:
        A record of each. The value is minus infinity if a baseline incurs costs for ever, such as
        by running into a wall of CliffWalking, and NaN if nothing could be proved.
    """
    remember_optimum(game, solution)
    policies = [
        baseline_policies(game, names, player=p)
        for p in (range(game.info.players) if seats is None else seats)
    ]
    # Every score is normalized by that of the uniform policy, which is therefore computed first.
    scores = {
        name: [recorded_score(game, own[name], solution, tolerance=1e-9) for own in policies]
        for name in sorted(policies[0], key=lambda name: name != "uniform")
    }
    return tuple(BaselineRecord(name, **figures(scores[name])) for name in policies[0])
