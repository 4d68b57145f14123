"""The exact figures of a game's baselines."""

from __future__ import annotations

from collections.abc import Iterable

from solvent.baselines import baseline_policies
from solvent.baselines.generic import remember_optimum
from solvent.benchmark.records import BaselineRecord, figures
from solvent.exact import Solution
from solvent.exact.scoring import comparable_score
from solvent.model import TabularGame


def score_baselines(
    game: TabularGame, solution: Solution, names: Iterable[str] | None = None
) -> tuple[BaselineRecord, ...]:
    """Score baselines in all seats of a game.

    Args:
        game: The game.
        solution: Of `game`.
        names: Of the baselines; all that the game has, if left out.

    Returns:
        A record each; of one whose play costs for ever, as running into a wall of CliffWalking,
        the value is minus infinity.
    """
    remember_optimum(game, solution)
    seats = [baseline_policies(game, names, player=p) for p in range(game.info.players)]
    # Every score is normalized by that of the uniform policy, which is therefore computed first.
    scores = {
        name: [comparable_score(game, own[name], solution) for own in seats]
        for name in sorted(seats[0], key=lambda name: name != "uniform")
    }
    return tuple(BaselineRecord(name, **figures(scores[name])) for name in seats[0])
