"""Football without a clock in the terminal: what is told, what calls are, and the chart."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

from solvent.games.football.chart_files import as_chart
from solvent.games.football.play import FootballCalls, chart_text
from solvent.games.football.position import Position
from solvent.games.football.rules import FootballStrategy
from solvent.games.football_clock.play import session_of
from solvent.play.prompt import Choices

GAME = FootballStrategy(chart="standard")


def test_the_gain_told_is_the_way_of_the_ball() -> None:
    state = Position("call", 0, 2, 6, 40)
    gains = 0
    for play, defence in product(range(20), range(10)):
        for outcome in GAME.transition(state, (play, defence)):
            told = GAME.tell(state, (play, defence), outcome, random.Random(1))
            after: Position = outcome.state
            gain = re.match(r"(?:(Gain|Long gain|Loss) of (\d+)|(No gain))", told)
            if gain and after.phase == "call":
                yards = int(gain[2] or 0) * (-1 if gain[1] == "Loss" else 1)
                assert after.to_goal == 40 - yards
                assert ("first down" in told) == (after.down == 1)
                gains += 1
            if told.startswith("Incomplete"):
                assert after == Position("call", 0, 3, 6, 40)
            if told.startswith(("Interception", "Fumble")):
                assert after.phase == "over"
            assert (after.phase == "choice") == (" or " in told)
    assert gains > 50


def test_calls_have_words() -> None:
    chart = as_chart("standard")
    assert re.match(r"run: \d+ yards on average", GAME.explain(0, 0))
    # Computed here from the chart's own cells.
    cells = [cell[0][1] for cell in chart.cells[19]]
    gains = [result.yards for result in cells if result.kind == "gain"]
    lost = sum(result.kind == "incomplete" for result in cells)
    words = GAME.explain(19, 0)
    assert words.startswith(f"pass: {sum(gains) / len(gains):.0f} yards on average, ")
    assert f"{10 * lost}% incomplete" in words
    assert re.match(r"runs gain -?[\d.]+ yards on average, passes -?[\d.]+$", GAME.explain(0, 1))
    for player, names in enumerate(GAME.info.actions):
        assert all(GAME.explain(action, player) for action in range(len(names)))


@pytest.mark.parametrize("name", ["standard", "aerial", "dice"])
def test_the_chart_fits_the_terminal_and_is_whole(name: str) -> None:
    chart = as_chart(name)
    lines = "\n".join(chart_text(chart)).splitlines()
    assert max(map(len, lines)) <= 79
    letters = "".join(re.findall(r"\b[A-Z]\b", "".join(ln for ln in lines if ln[:3] == "   ")))
    assert letters == chart.letters
    rows = [line.split() for line in lines if re.match(r" *\d+ ", line)]
    shown = [cell for number in range(1, 1 + chart.plays) for row in rows
             if row[0] == str(number) for cell in row[1:]]  # fmt: skip
    codes = [max(cell, key=lambda entry: entry[0]) for row in chart.cells for cell in row]
    assert [cell.rstrip("+") for cell in shown] == [result.code for _, result in codes]


def test_calls_are_chosen_by_their_own_numbers_and_letters() -> None:
    assert session_of(GAME) is FootballCalls
    kicks = {20: "quick kick", 21: "field goal"}
    names = {number - 1: str(number) for number in range(1, 21)} | kicks
    choices = Choices(names, {action + 1: action for action in names})
    assert choices.listed() == "1-20, 21 quick kick, 22 field goal"
    for answer, action in {"3": 2, "20": 19, "21": 20, "quick": 20, "f": 21}.items():
        assert choices.meant(answer) == [action]
    letters = Choices({23: "A", 24: "B", 25: "C", 26: "E"}, {1: 23, 2: 24, 3: 25, 4: 26})
    assert letters.listed() == "A-C, E"
    for answer, action in {"a": 23, "2": 24, "e": 26}.items():
        assert letters.meant(answer) == [action]
