"""The exact figures of a game's baselines."""

from __future__ import annotations

from collections.abc import Iterable

from solvent.baselines import baseline_policies
from solvent.exact import ImproperGameError, Solution, score
from solvent.exact.bench_records import BaselineRecord, figures
from solvent.model import TabularGame


def score_baselines(
    game: TabularGame, solution: Solution, names: Iterable[str] | None = None
) -> tuple[BaselineRecord, ...]:
    """Score baselines in all seats of a game.

    Args:
        game: The game.
        solution: Of `game`.
        names: Of the baselines; all that the game has and whose play ends, if left out.

    Raises:
        ImproperGameError: If the play of a baseline that is named need not end and costs.
    """
    seats = [baseline_policies(game, names, player=p) for p in range(game.info.players)]
    records = []
    for name in seats[0]:
        try:
            scores = [score(game, own[name], solution) for own in seats]
        except ImproperGameError:
            # It costs for ever, as running into a wall of CliffWalking: there is no finite gap.
            if names is not None:
                raise
        else:
            records.append(BaselineRecord(name, **figures(scores)))
    return tuple(records)
