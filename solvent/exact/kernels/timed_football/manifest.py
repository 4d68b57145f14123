"""What a folder of sheets says about itself, so that no one takes it for another game's solution.

The manifest holds everything that the values depend on, the chart and the ruleset included, and
nothing else: no time, no name of a machine. So two solves of the same game write the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from solvent.exact.kernels.timed_football.layout import Layout
from solvent.exact.store import StoreError
from solvent.games.football.chart_json import json_text, read_json
from solvent.games.football.clock import ClockRules
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset

KIND = "solvent football with a clock"
FORMAT = 1

DTYPE = "<f8"
"""Of the values on disk: 8 bytes, little-endian."""


def describe(layout: Layout) -> dict[str, Any]:
    """Everything that the values of a layout's sheets depend on, JSON-able."""
    chart, ruleset = layout.rules.chart, layout.rules.ruleset
    return {
        "kind": KIND,
        "format": FORMAT,
        "form": layout.form,
        "ticks": layout.most_ticks,
        "chart": {"name": chart.name, "hash": chart.hash, "table": json.loads(json_text(chart))},
        "ruleset": {"hash": ruleset.hash, "parameters": ruleset.parameters},
        "clock": _clock_numbers(layout.clock),
        "rows": layout.rows,
        "columns": {str(half): layout.columns(half) for half in layout.halves},
        "dtype": DTYPE,
    }


def _clock_numbers(clock: ClockRules) -> dict[str, Any]:
    numbers = {field.name: getattr(clock, field.name) for field in fields(clock)}
    return {**numbers, "stops": list(clock.stops)}


def check_kind(description: Any, folder: Path) -> None:
    """Raise unless a manifest is one that this version reads.

    Raises:
        StoreError: If it is not.
    """
    if not isinstance(description, Mapping) or description.get("kind") != KIND:
        raise StoreError(f"{folder}: manifest.json is not that of a solution of timed football")
    if description.get("format") != FORMAT:
        raise StoreError(
            f"{folder}: has format {description.get('format')!r}; this version reads format "
            f"{FORMAT}"
        )


def layout_of(description: Mapping[str, Any], folder: Path) -> Layout:
    """The layout that a manifest describes.

    Raises:
        StoreError: If it is damaged, or its parts do not agree.
    """
    try:
        chart = read_json(json.dumps(description["chart"]["table"]).encode(), str(folder))
        ruleset = Ruleset.read(description["ruleset"]["parameters"])
        clock = dict(description["clock"])
        clock["stops"] = tuple(clock["stops"])
        layout = Layout(
            pack_rules(chart, ruleset),
            ClockRules(**clock),
            description["form"],
            description["ticks"],
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StoreError(f"{folder}: manifest.json is damaged ({error})") from error
    check_same(description, layout, folder)
    return layout


def check_same(description: Mapping[str, Any], layout: Layout, folder: Path) -> None:
    """Raise unless a manifest is that of a layout; names of charts may differ.

    Raises:
        StoreError: If it is not; the message names what differs, in both.
    """
    wanted = describe(layout)
    differences = [*_differences(description, wanted)]
    if not differences:  # The sizes follow from the rest, unless the manifest was changed.
        differences = [
            f"{name} {description.get(name)}, not {wanted[name]}"
            for name in ("rows", "columns", "dtype")
            if description.get(name) != wanted[name]
        ]
    if differences:
        raise StoreError(f"{folder}: is a solution with {'; '.join(differences)}")


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What two manifests do not have in common."""
    for name in ("form", "ticks"):
        if found.get(name) != wanted[name]:
            yield f"{name} {found.get(name)}, not {wanted[name]}"
    charts = [_part(manifest, "chart") for manifest in (found, wanted)]
    if charts[0].get("hash") != charts[1]["hash"]:
        names = [f"{chart.get('name')!r} ({str(chart.get('hash'))[:12]})" for chart in charts]
        yield f"chart {names[0]}, not {names[1]}"
    ruleset, other = _part(found, "ruleset"), _part(wanted, "ruleset")
    if ruleset.get("hash") != other["hash"]:
        changes = _changes(
            _part(ruleset, "parameters"), _part(other, "parameters"), "as by default"
        )
        # The defaults themselves may have been others.
        yield from [*changes] or [f"ruleset {ruleset.get('hash')}, not {other['hash']}"]
    yield from _changes(_part(found, "clock"), _part(wanted, "clock"), "unknown")


def _changes(found: Mapping[str, Any], wanted: Mapping[str, Any], without: str) -> Iterator[str]:
    for name in sorted({*found, *wanted}):
        before, now = found.get(name, without), wanted.get(name, without)
        if before != now:
            yield f"{name} {before}, not {now}"


def _part(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping in a mapping; empty if there is none."""
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}
