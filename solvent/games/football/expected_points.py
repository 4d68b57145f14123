"""Expected points: the value of having the ball, as the values with which a drive ends.

Values are points, those of the team in possession less those of the other one, that are still to
come. They belong to a chart and a ruleset. Those of the shipped charts with the usual rules are in
a file beside the chart; for others ``solvent chart points CHART --out FILE`` makes one, which is
JSON::

    {
        "format": "solvent-expected-points",
        "version": 1,
        "chart": "standard",
        "chart_hash": "…",
        "ruleset_hash": "…",
        "kickoff": 0.9,
        "free_kick": 1.7,
        "first_down": […],
        "other": null
    }

Where each side plays from a chart of its own, a drive ends with the values of two charts: its own
side's, and the other side's. Then ``"other"`` is a mapping of the same keys for the other side,
format and version apart. The value of a kickoff is the same in both.
"""

import json
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path

from solvent.games.football.chart import Chart
from solvent.games.football.ruleset import Ruleset
from solvent.model.files import parse_json, read_file
from solvent.model.parameters import brief, is_number, shown

# Bytes of a file that is read.
_LARGEST_FILE = 50_000_000

FORMAT = {"format": "solvent-expected-points", "version": 1}


# The way to expected points that fit, for messages.
_HOW_TO_MAKE = (
    "make a file of them with `solvent chart points CHART --out FILE`, with the game's own "
    "--ruleset and --other-chart, and give it with --expected-points FILE, in Python "
    "expected_points='FILE'"
)


class ExpectedPointsError(ValueError):
    """Expected points that cannot be, or are for another chart or ruleset."""


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

    Raises:
        ValueError: If a value is not a finite number, or those of the other side do not go with
            these.
    """

    chart: str
    chart_hash: str
    ruleset_hash: str
    first_down: tuple[float, ...] = field(repr=False)
    kickoff: float
    free_kick: float
    other: "ExpectedPoints | None" = None

    def __post_init__(self) -> None:
        for name in ("chart", "chart_hash", "ruleset_hash"):
            if not isinstance(text := getattr(self, name), str):
                raise ValueError(f"{name} is {shown(text)}; expected a text")
        if not isinstance(self.first_down, (list, tuple)):
            raise ValueError(f"first_down is {shown(self.first_down)}; expected a list of numbers")
        object.__setattr__(self, "first_down", tuple(self.first_down))
        numbers = {f"first_down[{at}]": value for at, value in enumerate(self.first_down)}
        numbers |= {"kickoff": self.kickoff, "free_kick": self.free_kick}
        for name, value in numbers.items():
            if not is_number(value):
                raise ValueError(f"{name} is {shown(value)}; expected a finite number")
        if (other := self.other) is not None and (
            other.other is not None
            or (self.ruleset_hash, self.kickoff) != (other.ruleset_hash, other.kickoff)
        ):
            raise ValueError(
                "the other side's expected points do not go with these; both have one ruleset_hash "
                "and one kickoff, and only one names the other"
            )

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
        wanted = {
            f"the chart {chart.name!r}": (self.chart_hash, chart.hash),
            "the ruleset": (self.ruleset_hash, ruleset.hash),
        }
        if other_chart is not None:
            hashes = self.other_side.chart_hash, other_chart.hash
            wanted[f"the other side's chart {other_chart.name!r}"] = hashes
        for what, (ours, theirs) in wanted.items():
            if ours != theirs:
                named = self.chart + (f" against {self.other.chart}" if self.other else "")
                raise ExpectedPointsError(
                    f"expected points of {named!r} are not for {what}: made for {ours[:12]}, this "
                    f"is {theirs[:12]}; {_HOW_TO_MAKE}"
                )
        lines = ruleset.field - 1
        for count in (len(self.first_down), len(self.other_side.first_down)):
            if count != lines:
                raise ExpectedPointsError(f"first_down has {count} values; expected {lines}")

    def json_text(self) -> str:
        """The file's text."""
        content = {**FORMAT, **asdict(self)}
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read_expected_points(path: str | Path) -> ExpectedPoints:
    """Read a file.

    Raises:
        ExpectedPointsError: If it is not one of expected points.
        OSError: If there is no such file, it cannot be read, or it is too large.
    """
    return parse_expected_points(read_file(path, _LARGEST_FILE), str(path))


def parse_expected_points(content: bytes, file: str) -> ExpectedPoints:
    """Read the bytes of a file; `file` names it in messages.

    Raises:
        ExpectedPointsError: If they are not expected points.
    """
    try:
        table = parse_json(content)
        found = {name: table.pop(name, None) for name in FORMAT}
        if found != FORMAT:
            raise ValueError(f"it begins with {shown(found)}; expected {FORMAT}")
        for side in (table, table.get("other") or {}):
            side.pop("situations", None)  # Earlier versions could hold more values.
        if table.get("other"):
            table["other"] = ExpectedPoints(**table["other"])
        return ExpectedPoints(**table)
    except (AttributeError, TypeError, ValueError) as error:
        raise ExpectedPointsError(f"{file}: not expected points; {brief(str(error))}") from error


def shipped_expected_points(
    chart: Chart, ruleset: Ruleset, other_chart: Chart | None = None
) -> ExpectedPoints:
    """The expected points that are shipped with a chart.

    Args:
        chart: Chart that they must fit.
        ruleset: Ruleset that they must fit.
        other_chart: Chart of the other side; those of two charts are never shipped.

    Raises:
        ExpectedPointsError: If there are none for this chart and ruleset.
    """
    against = ""
    if other_chart is not None and other_chart.hash != chart.hash:
        against = f" against chart {other_chart.name!r}"
    for file in (resources.files("solvent.games.football") / "charts").iterdir():
        if file.name.endswith(".json") and not against:
            points = parse_expected_points(file.read_bytes(), file.name)
            if (points.chart_hash, points.ruleset_hash) == (chart.hash, ruleset.hash):
                return points
    raise ExpectedPointsError(
        f"no expected points are shipped for chart {chart.name!r}{against} with these rules; "
        f"{_HOW_TO_MAKE}"
    )
