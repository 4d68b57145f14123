"""The exact figures of a game's baselines."""

from __future__ import annotations

from collections.abc import Iterable

from solvent.baselines import baseline_policies
from solvent.exact import Solution, score
from solvent.exact.bench_records import BaselineRecord, figures
from solvent.model import TabularGame


def score_baselines(
    game: TabularGame, solution: Solution, names: Iterable[str] | None = None
) -> tuple[BaselineRecord, ...]:
    """Score baselines in all seats of a game.

    Args:
        game: The game.
        solution: Of `game`.
        names: Of the baselines; all that the game has, if left out.
    """
    seats = [baseline_policies(game, names, player=p) for p in range(game.info.players)]
    return tuple(
        BaselineRecord(name, **figures([score(game, own[name], solution) for own in seats]))
        for name in seats[0]
    )
