"""Playing football with a clock in the terminal, and transcripts of whole games."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from timed_football import CHART, RULES, tiny
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.chart_files import csv_text
from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.transcript import transcript, transcript_text
from solvent.play import Record, play


@cache
def solved(form: str, timeouts: int = 1, half: int = 120) -> TimedSolution:
    game = tiny(form, half=half, stops=[30], timeouts=timeouts)
    return TimedSolution.of(game)


class Session:
    """A play whose answers come from a function of what is asked and what was shown before."""

    def __init__(self, answer: Callable[[str, list[str]], str]) -> None:
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.answer = answer

    def input(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.answer(prompt, self.shown)

    def play(self, solution: TimedSolution, **arguments: Any) -> Record:
        return play(solution, input=self.input, output=self.shown.append, **arguments)

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def offered(prompt: str) -> list[str]:
    """The names of the calls that a prompt offers, such as ``1-4, quick kick``."""
    names: list[str] = []
    for part in prompt.partition(": ")[2].removesuffix(" > ").split(", "):
        part = re.sub(r"^\d+ ", "", part)
        first, dash, last = part.partition("-")
        if dash and len(first) == len(last) == 1:
            names += [chr(code) for code in range(ord(first), ord(last) + 1)]
        else:
            names.append(part)
    return names


def any_call(seed: int) -> Callable[[str, list[str]], str]:
    rng = random.Random(seed)
    return lambda prompt, shown: rng.choice(offered(prompt))


def best_call(prompt: str, shown: list[str]) -> str:
    """Ask for advice, then do the first that it says is best."""
    advice = [line for line in shown[-12:] if "(best)" in line]
    if not advice or not shown[-1].startswith("  "):
        return "?"
    return re.split(r" {2,}", advice[0].strip())[0]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("form", ["half", "second-half", "full"])
def test_every_decision_is_priced_and_the_review_adds_up(form: str, player: int) -> None:
    solution = solved(form, half=60) if form == "full" else solved(form)
    seen = 0
    for seed in range(6):
        session = Session(any_call(seed))
        record = session.play(solution, player=player, seed=seed)
        assert record.result is not None
        start = solution.value
        if player == 1:
            start = -start if form == "half" else 1 - start
        assert record.start_value == pytest.approx(start)
        assert all(decision.cost >= 0 for decision in record.decisions)
        chance = record.result - record.start_value + record.cost
        unit = f"{chance:+.4f}" if form == "half" else f"{100 * chance:+.2f}%"
        assert f"chance {unit}" in session.shown[-1]
        seen += sum(decision.cost > 0 for decision in record.decisions)
    assert seen > 3


@pytest.mark.parametrize("form", ["half", "second-half"])
def test_following_the_advice_costs_nothing(form: str) -> None:
    for seed in range(3):
        record = Session(best_call).play(solved(form), seed=seed)
        assert record.decisions
        assert record.cost == 0


def test_the_value_of_a_position_is_said_after_every_play() -> None:
    solution = solved("second-half")
    session = Session(any_call(1))
    session.play(solution, seed=2)
    chances = re.findall(
        r"^Your chance of winning: ([\d.]+)% \(([-+][\d.]+)%\)\.$", session.text, re.M
    )
    assert len(chances) > 2
    before = 100 * solution.value
    for chance, change in chances:
        assert float(chance) == pytest.approx(before + float(change), abs=0.02)
        before = float(chance)


# Transcripts.


def test_a_transcript_tells_a_whole_game_and_its_odds() -> None:
    solution = solved("full", half=60)
    optimal = solution.policy
    lines = transcript(solution, (optimal, optimal), seed=3)
    assert lines == transcript(solution, (optimal, optimal), seed=3)
    assert lines[0].position == solution.start
    assert lines[-1].value in (0, 0.5, 1)
    margin = lines[-1].score[0] - lines[-1].score[1]
    assert lines[-1].value == (margin > 0) + (margin == 0) / 2
    text = transcript_text(solution.game, lines)
    assert len(text.splitlines()) == len(lines) + 3
    for part in ("half 1", "half 2", "1 kicks off", "0 kicks off", " v "):
        assert part in text


# The command.


@pytest.fixture(scope="module")
def short_half(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A solution of a tiny half in a folder, and the words that describe its game."""
    folder = tmp_path_factory.mktemp("football")
    chart = folder / "tiny.csv"
    chart.write_text(csv_text(CHART), encoding="utf-8")
    clock = {"half": 60, "stops": [], "timeouts": 1}
    words = ["--chart", str(chart), "--ruleset", json.dumps(RULES), "--clock", json.dumps(clock)]
    out = folder / "half"
    result = run("solve", "football", *words, "--out", str(out))
    assert result.exit_code == 0, result.output
    return out, words


def run(*words: str, input: str | None = None) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="solvent", input=input)


def test_the_command_plays_by_a_solution_or_makes_one(
    short_half: tuple[Path, list[str]],
) -> None:
    folder, words = short_half
    answers = "1\nA\nkickoff\ntake the play\nno time-out\n" * 60
    opened = run("play", "football", "--solution", str(folder), "--seed", "3", input=answers)
    assert opened.exit_code == 0, opened.output
    assert "Optimum at the start" in opened.stdout
    made = run("play", "football", *words, "--seed", "3", input=answers)
    assert made.exit_code == 0, made.output
    assert made.stdout == opened.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["football", "--timeouts", "3"], "timeouts is 3, but clock has 1"),
        (["football", "--form", "drive"], "with a clock, not for form 'drive'"),
        (["football", "--form", "full"], "is a solution with form half, not full"),
        (["pig"], "is for games that are solved layer by layer, not for pig"),
        (["football", "--against", "uniform"], "--against is for games that fit in a table"),
    ],
)
def test_what_does_not_fit_the_solution_is_said(
    short_half: tuple[Path, list[str]], words: list[str], message: str
) -> None:
    result = run("play", *words, "--solution", str(short_half[0]))
    assert result.exit_code == 2
    assert message in result.output
