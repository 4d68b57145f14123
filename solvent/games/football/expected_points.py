"""Expected points: what having the ball is worth, as the values with which a drive ends.

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
        "situations": null
    }
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from solvent.games.football.chart import Chart
from solvent.games.football.ruleset import Ruleset
from solvent.model.files import open_file, parse_json
from solvent.model.parameters import as_options, is_number, shown

LARGEST_FILE = 50_000_000
"""Bytes of a file that is read."""

FOLDER = resources.files("solvent.games.football") / "charts"


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
        situations: [S] The value of every situation, in the order of
            :mod:`solvent.games.football.packed`; None if only first downs are known.

    Raises:
        ExpectedPointsError: If a value is not a finite number.
    """

    chart: str
    chart_hash: str
    ruleset_hash: str
    first_down: tuple[float, ...] = field(repr=False)
    kickoff: float
    free_kick: float
    situations: tuple[float, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check that all values are numbers."""
        for name in ("first_down", "situations", "kickoff", "free_kick"):
            value = getattr(self, name)
            values = value if isinstance(value, tuple) else () if value is None else (value,)
            for number in values:
                if type(number) is not float or not isfinite(number):
                    raise ExpectedPointsError(
                        f"{name} of the expected points has the value {shown(number)}; allowed are "
                        f"finite decimal numbers"
                    )

    def check_is_for(self, chart: Chart, ruleset: Ruleset) -> None:
        """Raise unless these are for a chart and a ruleset.

        Raises:
            ExpectedPointsError: If a hash differs, or there are more or fewer values than
                situations.
        """
        for what, ours, theirs in (
            (f"the chart {chart.name!r}", self.chart_hash, chart.hash),
            ("the ruleset", self.ruleset_hash, ruleset.hash),
        ):
            if ours != theirs:
                raise ExpectedPointsError(
                    f"expected points of {self.chart!r} are not for {what}: made for "
                    f"{ours[:12]}, this is {theirs[:12]}; {how_to_make(ruleset)}"
                )
        lines = ruleset.field * (ruleset.field - 1) // 2
        for name, values, count in (
            ("first_down", self.first_down, ruleset.field - 1),
            ("situations", self.situations, (ruleset.downs + 1) * lines),
        ):
            if values is not None and len(values) != count:
                raise ExpectedPointsError(f"{name} has {len(values)} values; expected {count}")

    def json_text(self) -> str:
        """The file's text."""
        content = {
            "format": "solvent-expected-points",
            "version": 1,
            "chart": self.chart,
            "chart_hash": self.chart_hash,
            "ruleset_hash": self.ruleset_hash,
            "kickoff": self.kickoff,
            "free_kick": self.free_kick,
            "first_down": self.first_down,
            "situations": self.situations,
        }
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read_expected_points(path: str | Path) -> ExpectedPoints:
    """Read a file.

    Raises:
        ExpectedPointsError: If it is not one of expected points.
        OSError: If there is no such file, or it cannot be read.
    """
    path = Path(path)
    with open_file(path) as file:
        content = file.read(LARGEST_FILE + 1)
    return parse_expected_points(content, str(path))


def parse_expected_points(content: bytes, file: str) -> ExpectedPoints:
    """Read the bytes of a file; `file` names it in messages.

    Raises:
        ExpectedPointsError: If they are not expected points.
    """
    if len(content) > LARGEST_FILE:
        raise ExpectedPointsError(f"{file}: larger than {LARGEST_FILE} bytes")
    try:
        table = parse_json(content)
    except ValueError as error:
        raise ExpectedPointsError(f"{file}: not JSON ({error})") from error
    if not isinstance(table, dict) or table.get("format") != "solvent-expected-points":
        raise ExpectedPointsError(
            f'{file}: not expected points; they say "format": "solvent-expected-points"'
        )
    if table.get("version") != 1:
        raise ExpectedPointsError(
            f"{file}: version {shown(table.get('version'))}; this program reads version 1"
        )
    names = set(ExpectedPoints.__dataclass_fields__)
    found = set(table) - {"format", "version"}
    if found != names:
        raise ExpectedPointsError(
            f"{file}: keys missing or unknown: {', '.join(map(shown, sorted(found ^ names)))}"
        )
    for name in ("chart", "chart_hash", "ruleset_hash"):
        if not isinstance(table[name], str):
            raise ExpectedPointsError(f"{file}: {name!r} is {shown(table[name])}; it must be text")
    for name in ("first_down", "situations"):
        if not isinstance(table[name], list) and not (name == "situations" and not table[name]):
            raise ExpectedPointsError(f"{file}: {name!r} must be a list of numbers")
    numbers = {name: _floats(table[name]) for name in ("first_down", "situations", *_SINGLE)}
    try:
        return ExpectedPoints(
            **{name: table[name] for name in ("chart", "chart_hash", "ruleset_hash")}, **numbers
        )
    except ExpectedPointsError as error:
        raise ExpectedPointsError(f"{file}: {error}") from error


_SINGLE = ("kickoff", "free_kick")


def _floats(value: Any) -> Any:
    """Whole numbers as floats, also in a list; anything else as it is."""
    if isinstance(value, list):
        return tuple(float(n) if is_number(n) else n for n in value)
    return float(value) if is_number(value) else value


def how_to_make(ruleset: Ruleset, *, situations: bool = False) -> str:
    """How to make expected points that fit, for messages.

    Args:
        ruleset: To which they have to belong.
        situations: Whether those of all situations are needed.
    """
    options = as_options({"ruleset": ruleset.parameters} if ruleset.parameters else {})
    words = ["solvent chart points CHART", options, "--situations" * situations, "--out FILE"]
    return (
        f"make a file of them with `{' '.join(filter(None, words))}` and give it with "
        f"--expected-points FILE, in Python expected_points='FILE'"
    )


def shipped_expected_points(
    chart: Chart, ruleset: Ruleset, *, situations: bool = False
) -> ExpectedPoints:
    """The expected points that are shipped with a chart.

    Args:
        chart: Whose.
        ruleset: To which they have to belong.
        situations: Whether those of all situations are needed, which are never shipped.

    Raises:
        ExpectedPointsError: If there are none for this chart and ruleset.
    """
    for file in FOLDER.iterdir():
        if file.name.endswith(".json"):
            points = parse_expected_points(file.read_bytes(), file.name)
            if (points.chart_hash, points.ruleset_hash) == (chart.hash, ruleset.hash):
                return points
    raise ExpectedPointsError(
        f"no expected points are shipped for chart {chart.name!r} with these rules; "
        f"{how_to_make(ruleset, situations=situations)}"
    )
