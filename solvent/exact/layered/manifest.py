"""What a folder of sheets says about itself, so that no one takes it for another game's solution.

The manifest holds everything that the values depend on, the chart and the ruleset included, and
nothing else: no time, no name of a machine. So two solves of the same game write the same bytes.
Its last entry is the SHA-256 of all others, as JSON with sorted keys.

Format 1 had no such entry, and held of every sheet the bound of its error, which is not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from solvent.exact.store import StoreError
from solvent.games.football.chart_json import json_text, read_json
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.solver.layout import Layout
from solvent.model.parameters import shown

KIND = "solvent football with a clock"
FORMAT = 2
READ = (1, FORMAT)
"""The formats that can be read."""

MOST_BYTES = 64 << 20
"""A manifest is no larger, nor are the records so far; those of the largest form, with nine
time-outs, have some 20 MB."""

LONGEST = 200
"""Characters of a reason that are repeated in a message."""

KEYS = {"kind", "format", "form", "ticks", "chart", "ruleset", "clock", "rows", "columns", "dtype"}
"""What :func:`describe` says."""

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
        StoreError: If it is not, or was changed since it was written.
    """
    if not isinstance(description, Mapping) or description.get("kind") != KIND:
        raise StoreError(f"{folder}: manifest.json is not that of a solution of timed football")
    version = description.get("format")
    if type(version) is not int or version not in READ:
        raise StoreError(
            f"{folder}: has format {shown(version)}; this version reads formats "
            f"{' and '.join(map(str, READ))}"
        )
    wanted = KEYS | {"sheets"} | ({"sha256"} if version > 1 else set())
    different = sorted({*description} ^ wanted)
    if different:
        raise StoreError(
            f"{folder}: manifest.json is damaged (keys missing or unknown: "
            f"{', '.join(map(shown, different))})"
        )
    others = {name: part for name, part in description.items() if name != "sha256"}
    if version > 1 and description["sha256"] != checksum_of(others):
        raise StoreError(
            f"{folder}: the checksum of manifest.json does not match; it was changed or damaged"
        )


def checksum_of(content: Any) -> str:
    """The SHA-256 of JSON-able content, as text with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}..."
        raise StoreError(f"{folder}: manifest.json is damaged ({reason})") from error
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
            f"{name} {_plain(description.get(name))}, not {wanted[name]}"
            for name in ("rows", "columns", "dtype")
            if description.get(name) != wanted[name]
        ]
    if differences:
        raise StoreError(f"{folder}: is a solution with {'; '.join(differences)}")


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What two manifests do not have in common."""
    for name in ("form", "ticks"):
        if found.get(name) != wanted[name]:
            yield f"{name} {_plain(found.get(name))}, not {wanted[name]}"
    charts = [_part(manifest, "chart") for manifest in (found, wanted)]
    if charts[0].get("hash") != charts[1]["hash"]:
        names = [
            f"{shown(chart.get('name'))} ({_plain(chart.get('hash'))[:12]})" for chart in charts
        ]
        yield f"chart {names[0]}, not {names[1]}"
    ruleset, other = _part(found, "ruleset"), _part(wanted, "ruleset")
    if ruleset.get("hash") != other["hash"]:
        changes = _changes(
            _part(ruleset, "parameters"), _part(other, "parameters"), "as by default"
        )
        # The defaults themselves may have been others.
        yield from [*changes] or [f"ruleset {_plain(ruleset.get('hash'))}, not {other['hash']}"]
    yield from _changes(_part(found, "clock"), _part(wanted, "clock"), "unknown")


def _changes(found: Mapping[str, Any], wanted: Mapping[str, Any], without: str) -> Iterator[str]:
    for name in sorted({*found, *wanted}):
        before, now = found.get(name, without), wanted.get(name, without)
        if before != now:
            yield f"{_plain(name)} {_plain(before)}, not {_plain(now)}"


def _plain(value: Any) -> str:
    """A value as text, short if it is long or has more than a line."""
    text = str(value)
    return text if len(text) <= 64 and text.isprintable() else shown(value)


def _part(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping in a mapping; empty if there is none."""
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}
