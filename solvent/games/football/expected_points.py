"""Expected points: the value of having the ball, as the values with which a drive ends.

Values are points, those of the team in possession less those of the other one, that are still to
come. They belong to a chart and a ruleset. Those of the shipped charts with the usual rules are in
a JSON file beside the chart. All others are solved when a game is made by name
(:func:`solvent.games.football_strategy`), and kept in the cache.

Where each side plays from a chart of its own, a drive ends with the values of two charts: its own
side's, and the other side's. The value of a kickoff is the same in both.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Self

from solvent.games.football.chart import Chart
from solvent.games.football.ruleset import Ruleset


class ExpectedPointsError(ValueError):
    """Expected points that are missing, or are for another chart or ruleset."""


@dataclass(frozen=True)
class ExpectedPoints:
    """Values of having the ball (see the module).

    Args:
        chart: The chart's name.
        chart_hash: :attr:`Chart.hash` of the chart that they belong to.
        ruleset_hash: :attr:`Ruleset.hash` of the ruleset.
        first_down: [field - 1] The value of a first down by yards to the goal, from 1 on.
        kickoff: The value of receiving a kickoff.
        free_kick: The value of receiving the free kick after a safety.
        other: Expected points of the other side, if it has a chart of its own.
    """

    chart: str
    chart_hash: str
    ruleset_hash: str
    first_down: tuple[float, ...] = field(repr=False)
    kickoff: float
    free_kick: float
    other: "ExpectedPoints | None" = None

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """Return expected points from their fields as JSON has them."""
        other = table["other"] and cls.of(table["other"])
        return cls(**{**table, "first_down": tuple(table["first_down"]), "other": other})

    @property
    def other_side(self) -> "ExpectedPoints":
        """The values where the other side has the ball; the same ones if both share a chart."""
        return self if self.other is None else self.other

    def check_is_for(
        self, chart: Chart, ruleset: Ruleset, other_chart: Chart | None = None
    ) -> None:
        """Raise unless these are for a chart and a ruleset.

        Args:
            chart: Chart of the side whose drives end with these values.
            ruleset: The numbers in the rules.
            other_chart: Chart of the other side; any if left out.

        Raises:
            ExpectedPointsError: If a hash differs, or there are more or fewer values than lines.
        """
        for points, own in ((self, chart), (self.other_side, other_chart)):
            found = points.chart_hash, points.ruleset_hash, len(points.first_down)
            if own is not None and found != (own.hash, ruleset.hash, ruleset.field - 1):
                raise ExpectedPointsError(
                    f"expected points of chart {points.chart!r} are not for chart {own.name!r} "
                    f"with these rules; leave them out, and make_game solves those that are"
                )


def shipped_expected_points(chart: Chart, ruleset: Ruleset) -> ExpectedPoints | None:
    """Return the expected points that are shipped with a chart; None if there are none.

    Args:
        chart: Chart that they must fit.
        ruleset: Ruleset that they must fit.
    """
    for file in (resources.files("solvent.games.football") / "charts").iterdir():
        if file.name.endswith(".json"):
            points = ExpectedPoints.of(json.loads(file.read_bytes()))
            if (points.chart_hash, points.ruleset_hash) == (chart.hash, ruleset.hash):
                return points
    return None
