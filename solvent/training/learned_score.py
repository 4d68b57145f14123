"""Scores of what was learned. They never cost a training: where no value is proved they are NaN.

A network can come to play so nearly the same that the best answer waits for its blunders, a million
moves if need be. The longer it waits, the wider is the bracket of what it gets
(:mod:`solvent.exact.certificate`). Or play that is paid need not end, and has no value.
"""

from __future__ import annotations

import numpy as np

from solvent.exact import CertificateError, ImproperGameError, Score, Solution, score
from solvent.exact.response import response_values
from solvent.exact.scoring import LEARNED
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats


def learned_score(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    *,
    illegal: Floats | None = None,
) -> Score:
    """The score of a learned policy; if it cannot be proved, all but the optimum is NaN.

    Args:
        game: As for :func:`solvent.exact.score`, like what follows.
        policy: See there.
        solution: See there.
        illegal: See there.
    """
    try:
        return score(game, policy, solution, illegal=illegal, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        unknown = float("nan")
        sign = 1 if policy.player == 0 else -1
        return Score(
            value=unknown,
            optimum=sign * solution.value,
            optimality_gap=unknown,
            exploitability=unknown if game.info.players == 2 else None,
            normalized=unknown,
            illegal_mass=unknown,
            worst_start_gap=unknown,
            worst_start=game.states[int(np.flatnonzero(game.initial)[0])],
        )


def learned_exploitability(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """The exploitability of a learned policy; NaN if it cannot be proved.

    It takes a fraction of the time of a score, which tells more.

    Args:
        game: A game for two.
        policy: Either player's.
        solution: Of `game`.
    """
    try:
        value = game.at_start(response_values(game, policy, tolerance=LEARNED))
    except (CertificateError, ImproperGameError):
        return float("nan")
    return (1 - 2 * policy.player) * (solution.value - value)
