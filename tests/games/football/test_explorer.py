"""A position of football as the explorer shows it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from solvent import make_game
from solvent.exact import SolvedGame, solve
from solvent.games.football.explorer import state_sections
from solvent.games.football.position import Position
from solvent.games.football.report import fourth_downs


@cache
def drive() -> SolvedGame:
    return solve(make_game("football-strategy"))


@pytest.mark.parametrize(("to_go", "to_goal"), [(1, 40), (10, 80), (3, 3), (8, 65)])
def test_the_ways_of_the_last_down_are_worth_what_the_map_says(to_go: int, to_goal: int) -> None:
    state = Position("call", 0, 4, to_go, to_goal)
    sections = {one.title: one.html for one in state_sections(drive(), state, True)}
    shown = dict(
        re.findall(
            r'row">([^<]+)</th><td class="n"><data value="([^"]+)"', sections["The 4th down"]
        )
    )
    values = fourth_downs(drive()).values[:, 100 - to_goal - 1, to_go - 1]
    normal = max(float(shown["go for it"]), float(shown["quick kick"]))
    assert normal == pytest.approx(values[0], abs=1e-9)
    assert float(shown["punt formation"]) == pytest.approx(values[1], abs=1e-9)
    if "field goal" in shown:
        assert float(shown["field goal"]) == pytest.approx(values[2], abs=1e-9)
    best = max(map(float, shown.values()))
    assert best == pytest.approx(drive().value_of(state), abs=1e-9)


def test_who_plays_is_not_told_what_is_optimal() -> None:
    for down in (1, 4):
        state = Position("call", 0, down, 5, 50)
        told = " ".join(one.html for one in state_sections(drive(), state, False))
        assert "%" not in told
        assert "<data" not in told
        assert "played" not in told
        assert "%" in " ".join(one.html for one in state_sections(drive(), state, True))


def test_both_call_sheets_are_the_optimal_strategies() -> None:
    state = Position("call", 0, 2, 7, 60)
    chart = next(
        one.html for one in state_sections(drive(), state, True) if one.title == "The chart"
    )
    mine = re.findall(r'row">([^<]+)</th><th class="n dim">([\d.]*)%?<', chart)
    strategy = drive().policy(state, 0)
    expected = [f"{100 * strategy[n]:.1f}" if strategy[n] else "" for n in range(20)]
    assert [share for _, share in mine[:20]] == expected
    heads = chart.partition("</thead>")[0].rpartition("<tr>")[2]
    theirs = re.findall(r'<th class="n dim">([\d.]*)%?<', heads)
    other = drive().policy(state, 1).values()
    assert theirs == [f"{100 * chance:.1f}" if chance else "" for chance in other]


@pytest.mark.parametrize(
    "state",
    [
        Position("call", 0, 0, 10, 80),
        Position("call", 0, 5, 10, 80),
        Position("call", 0, 1, 0, 80),
        Position("call", 0, 1, 90, 80),
        Position("call", 0, 1, 10, 100),
        Position("call", 0, 1, 10, -20),
        Position("call", 0, 1, 10, 80, punting=True),
    ],
)
def test_what_is_no_situation_has_no_value(state: Position) -> None:
    with pytest.raises(ValueError, match="is no situation"):
        drive().value_of(state)
