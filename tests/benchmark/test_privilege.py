"""Whether a learner saw the solution is computed from the record of its run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from solvent.benchmark.privilege import OPPONENT, STARTS, saw_solution, seen_of_solution

GOLDEN = Path(__file__).parents[1] / "golden"
GREED: dict[str, Any] = {"environment": "solvent/Greed-v0", "env_kwargs": {}, "stakes": 0.0}


def test_what_was_seen_is_read_off_the_record() -> None:
    """Rows of settings, among them those of version 0.1, which named no weights."""
    rows: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({}, ()),
        ({"stakes": 0.0}, ()),
        ({"stakes": 0.5}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "importance"}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "uniform"}, ()),
        ({"stakes": 0.5, "start_weights": "of a later version"}, (STARTS,)),
        (GREED, (OPPONENT,)),
        (GREED | {"env_kwargs": {"opponent": "uniform"}}, ()),
        (GREED | {"env_kwargs": {"opponent": {"uniform": 1, "optimal": 1}}}, (OPPONENT,)),
        (GREED | {"env_kwargs": {"opponent": ["optimal"]}}, ()),
        (GREED | {"stakes": 0.5}, (STARTS, OPPONENT)),
        ({"environment": "solvent/Greed-v0", "env_kwargs": {}, "exploring": 0.1}, ()),
        ({"environment": "solvent/FootballHalf-v0", "env_kwargs": {"opponent": "self-play"}}, ()),
        ({"environment": "somebody/Else-v0", "env_kwargs": {"opponent": None}}, ()),
    ]
    for settings, seen in rows:
        assert seen_of_solution(settings) == seen, settings
        assert saw_solution(settings) is bool(seen)


def test_records_of_version_0_1_are_read() -> None:
    for path in GOLDEN.rglob("run.json"):
        request = json.loads(path.read_text())["request"]
        assert not saw_solution(request), path
        if "stakes" in request:
            assert saw_solution(request | {"stakes": 0.25}), path
