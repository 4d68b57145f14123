"""Football Strategy solved by its kernels, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvent.exact import ImproperGameError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import Situation
from solvent.games.football.solver import solve_drive, solve_points
from solvent.games.football.solver.call_values import CallValues, call_values
from solvent.games.football.solver.responses import Mixes
from solvent.games.football.solver.values import all_by_value, choices_by_value, tables_of
from solvent.model.arrays import Floats, Ints

SAME = 1e-6
"""Points by which a given value of the kickoff may differ from the endless game's."""


@dataclass(frozen=True, eq=False)
class SolvedFootball:
    """Values and mixes of all situations.

    Attributes:
        rules: Chart and ruleset.
        values: [S] to the side that has the ball.
        error: [S] proved bound of the error of `values`.
        offence_mix: [S, A].
        defence_mix: [S, m].
        view: [2(S+2)] what all is worth, as the kernels read it.
        after: The values with which a drive ends.
        kickoff_error: Proved bound of the error of the kickoff's value; 0 if it was given.
    """

    rules: PackedRules
    values: Floats
    error: Floats
    offence_mix: Floats
    defence_mix: Floats
    view: Floats
    after: ExpectedPoints
    kickoff_error: float

    @cached_property
    def calls(self) -> CallValues:
        """What every call is worth against the other side's mix."""
        return call_values(self.rules, self.view, self.offence_mix, self.defence_mix)

    @cached_property
    def mixes(self) -> Mixes:
        """What both sides do, penalties and plays being taken by value."""
        tables = tables_of(self.rules)
        choices = choices_by_value(tables, self.view, 1.0, all_by_value(tables))
        return Mixes(self.offence_mix, self.defence_mix, choices)

    def numbers(self, situations: list[Situation]) -> Ints:
        """The numbers of situations."""
        return np.array([self.rules.index(situation) for situation in situations])


def solve_football(game: FootballStrategy) -> SolvedFootball | None:
    """Solve a drive, or the game until the next score; None for what the kernels do not solve.

    They do not solve a single play, nor the game until the next score with a value of the kickoff
    that is not the endless game's, nor what they cannot prove to end, as with a play that for
    certain is a penalty at the offence's own goal line. The general solver does.

    Raises:
        CertificateError: If the values could not be proved.
        ValueError: If each side plays from a chart of its own until the next score.
    """
    if game.form == "play":
        return None
    if game.form == "points" and game.two_charts:
        raise ValueError(
            "the report on form 'points' is for both sides on one chart; with other_chart it shows "
            "form 'drive', one side's chart at a time, and `solvent chart points CHART "
            "--other-chart OTHER` prints the values of both"
        )
    rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
    try:
        if game.form == "drive":
            return _solve_drive(rules, game.loaded_points)
        found = _solve_points(rules)
    except ImproperGameError:
        return None
    return found if abs(found.after.kickoff - game.kickoff) <= SAME else None


def _solve_drive(rules: PackedRules, after: ExpectedPoints) -> SolvedFootball:
    found = solve_drive(rules, after)
    return SolvedFootball(
        rules=rules,
        values=found.values,
        error=found.error,
        offence_mix=found.offence_mix,
        defence_mix=found.defence_mix,
        view=found.view,
        after=after,
        kickoff_error=0.0,
    )


def _solve_points(rules: PackedRules) -> SolvedFootball:
    found = solve_points(rules)
    return SolvedFootball(
        rules=rules,
        values=found.values,
        error=found.error,
        offence_mix=found.offence_mix,
        defence_mix=found.defence_mix,
        view=found.view,
        after=found.expected_points(rules),
        kickoff_error=(found.upper - found.lower) / 2,
    )
