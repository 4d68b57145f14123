"""The exact figures of a game's baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from solvent.baselines import baseline_policies
from solvent.baselines.generic import remember_optimum
from solvent.benchmark.policies import recorded_score
from solvent.benchmark.records import BaselineRecord, figures
from solvent.exact import Solution
from solvent.model import TabularGame


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
        solution: Of `game`.
        names: Of the baselines; all that the game has, if left out.
        seats: In which a policy is looked for; all, if left out.

    Returns:
        A record each; of one whose play costs for ever, as running into a wall of CliffWalking,
        the value is minus infinity, and of one of which nothing could be proved it is NaN.
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
