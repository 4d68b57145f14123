"""Football Strategy solved without a table of outcomes, in seconds and with proved bounds.

A chart and a ruleset come as :class:`~solvent.games.football.packed.PackedRules`. There are some
25,000 situations, each a matrix game of about 20 x 10 whose entries depend on all others.

=============================  ====================================================================
:func:`solve_points`           expected points of the endless game, both sides' optimal strategies
:func:`solve_two_charts`       the same where each side plays from a chart of its own
:func:`solve_drive`            one drive, ended with any expected points
:func:`call_sheet`             one call: payoffs, strategies, value
:func:`best_response_drive`    what one side's strategies concede in a drive
:func:`best_response_points`   what a player's strategies concede until the next score
=============================  ====================================================================

The parts, each a file: the values of results and calls (`values`), all matrix games at once
(`calls`), fixed strategies as a Markov chain (`situation_chain`), the iteration (`iteration`),
responses to fixed strategies (`responses`), and what bounds every error (`certificate`).
"""

from solvent.games.football.solver.calls import CallSheet, call_sheet
from solvent.games.football.solver.one_drive import DriveSolution, solve_drive
from solvent.games.football.solver.points import (
    PointsSolution,
    solve_points,
    solve_two_charts,
)
from solvent.games.football.solver.response import (
    DriveResponse,
    PointsResponse,
    best_response_drive,
    best_response_points,
)

__all__ = [
    "CallSheet",
    "DriveResponse",
    "DriveSolution",
    "PointsResponse",
    "PointsSolution",
    "best_response_drive",
    "best_response_points",
    "call_sheet",
    "solve_drive",
    "solve_points",
    "solve_two_charts",
]
