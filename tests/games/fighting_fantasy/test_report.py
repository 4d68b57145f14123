"""The maps of combat: colours are exact values, digits the strategies, frames the mistakes."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent import make_game
from solvent.benchmark.records import read_bench
from solvent.exact import solve
from solvent.games.fighting_fantasy.report import ABSENT
from solvent.games.fighting_fantasy.rules import TEST, Combat
from solvent.model import compile_game
from solvent.report.page import render
from solvent.report.solved import SolvedTask, solve_task

COSTLY, TIED = 8, 4


@pytest.fixture(scope="module")
def solved(results: Path) -> SolvedTask:
    return solve_task(read_bench(results).tasks[0], results)


@pytest.fixture(scope="module")
def data(results: Path) -> Any:
    [text] = re.findall(
        r'<div class="strategy-maps">.*?<script type="application/json">(.*?)</script>',
        render(results),
        re.DOTALL,
    )
    return json.loads(text)


def cells(data: Any, which: Any) -> tuple[Any, Any]:
    """Values (NaN where there is none) and codes, [difference, luck, hero, opponent]."""
    shares = np.frombuffer(base64.b64decode(which["values"]), "<u2").reshape(data["shape"])
    codes = np.array([int(c, 16) for c in which["codes"]]).reshape(data["shape"])
    return np.where(shares == ABSENT, np.nan, shares / (ABSENT - 1)), codes


def test_every_cell_is_the_value_of_a_combat_that_starts_there(data: Any) -> None:
    values, _ = cells(data, data["optimal"])
    assert data["differences"] == [-1, 0, 1]
    present = np.argwhere(~np.isnan(values))
    assert len(present) > 100
    for d, luck, hero, opponent in present[::7]:
        game = make_game(
            "ff-combat",
            skill_difference=data["differences"][d],
            luck=int(luck),
            stamina=int(hero) + 1,
            opponent_stamina=int(opponent) + 1,
        )
        assert values[d, luck, hero, opponent] == pytest.approx(
            solve(compile_game(game)).value, abs=1e-5
        )


def test_codes_are_the_choices_of_the_policies(data: Any, solved: SolvedTask) -> None:
    table = solved.table
    policies = [(data["optimal"], solved.solution.policies[0])]
    policies += [(a, b.policies[0]) for a, b in zip(data["learned"], solved.agents, strict=True)]
    for which, policy in policies:
        values, codes = cells(data, which)
        for d, luck, hero, opponent in np.argwhere(~np.isnan(values)):
            tests = {}
            for result in ("won", "lost"):
                state = Combat(data["differences"][d], hero + 1, opponent + 1, luck, result)
                tests[result] = policy.probabilities[table.index[state], TEST] == 1
            expected = {(True, True): 1, (False, True): 2, (True, False): 3}.get(
                (tests["won"], tests["lost"]), 0
            )
            assert codes[d, luck, hero, opponent] & 3 == expected
