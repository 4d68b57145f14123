"""What the page says that the published agent gives away is what evaluations from there say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import timed_football
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.situation import first_down_at
from solvent.games.football_clock.agent import AgentLayers, AgentPlayer
from solvent.games.football_clock.evaluation import PairEvaluation, evaluate
from solvent.games.football_clock.optimal import OptimalLayers
from solvent.games.football_clock.players import strategy_of
from solvent.games.football_clock.report import (
    BEST_RESPONSE,
    OPTIMAL,
    AgentScores,
    LastHalf,
    cost_of_strategy,
    paper_agent_sections,
    rate_agent,
    seats_of,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import TimedSolution
from solvent.report.page import render

AGENT_TITLES = ["What the published agent gives away", "A game of the published agent"]


def solved(game: TimedFootball) -> TimedSolution:
    return TimedSolution.of(game)


@pytest.fixture(scope="module")
def second_half() -> TimedSolution:
    return solved(timed_football.tiny("second-half", timeouts=1))


@pytest.fixture(scope="module")
def half() -> TimedSolution:
    return solved(timed_football.tiny("half", timeouts=1))


@pytest.fixture(scope="module")
def full() -> TimedSolution:
    return solved(timed_football.tiny("full", timed_football.SMALL, half=30))


@pytest.fixture(scope="module")
def scores(second_half: TimedSolution) -> AgentScores:
    return rate_agent(second_half)


def evaluated(solution: TimedSolution, start: TimedPosition, opponent: int) -> PairEvaluation:
    """What the agent gets from a position."""
    layout = solution.layout
    other = OptimalLayers(layout, solution.values) if opponent == OPTIMAL else None
    return evaluate(layout, start, AgentLayers(layout), other)


@pytest.mark.parametrize("name", ["second_half", "half", "full"])
def test_the_table_has_the_evaluations_of_the_start(
    name: str, request: pytest.FixtureRequest
) -> None:
    solution: TimedSolution = request.getfixturevalue(name)
    rated = rate_agent(solution)
    seats = seats_of(solution, rated)
    assert [*seats] == ["receives the kickoff", "kicks off"]
    found = np.array([*seats.values()])
    against = [evaluated(solution, solution.start, n) for n in (OPTIMAL, BEST_RESPONSE)]
    total = 0 if solution.layout.for_points else 1
    assert found[:, 0] == pytest.approx([solution.value, total - solution.value], abs=1e-12)
    assert found[0, 1:] == pytest.approx([each.first for each in against], abs=1e-12)
    assert found[1, 1:] == pytest.approx([each.second for each in against], abs=1e-12)
    assert (found[:, 0] > found[:, 1] + 1e-3).all()
    assert (found[:, 1] > found[:, 2] - 1e-12).all()
    assert (found[:, 1] > found[:, 2] + 1e-3).any()
    page = render(solution, sections=paper_agent_sections(solution, rated))
    titles = ("A game, play by play", *AGENT_TITLES)
    places = [page.index(title) for title in titles]
    assert places == sorted(places)
    assert f'data-value="{seats["kicks off"][2]}"' in page


def test_a_cell_is_the_value_less_what_the_agent_gets_there(
    second_half: TimedSolution, scores: AgentScores
) -> None:
    half, rules = LastHalf(second_half), second_half.layout.rules.ruleset
    situation = first_down_at(rules, half.standard)
    for ticks, lead in ((3, 0), (3, -3), (2, 1), (1, -2)):
        for offence in (0, 1):
            # The agent is player 0; the lead is its own.
            at = TimedPosition("call", 2, ticks, lead, (1, 1), offence=offence)
            at = at._replace(**situation._asdict())
            cell = offence, ticks - 1, lead + half.lead
            assert scores.possible[cell] == pytest.approx(second_half.value_of(at), abs=1e-12)
            for opponent in (OPTIMAL, BEST_RESPONSE):
                gets = evaluated(second_half, at, opponent).first
                assert scores.by_time[opponent][cell] == pytest.approx(gets, abs=1e-12)


@pytest.mark.parametrize(
    ("form", "clock"),
    [("half", {"timeouts": 1}), ("second-half", {"timeouts": 1}), ("full", {})],
)
def test_costs_are_on_average_what_the_evaluation_says(form: str, clock: dict[str, int]) -> None:
    """Over all games, a position's cost times how often it comes up adds to what is given away."""
    game = timed_football.tiny(form, timed_football.SMALL, half=30, **clock)
    solution = solved(game)
    player = AgentPlayer(AgentLayers(solution.layout))
    agent = strategy_of(TimedFootballSampler(game), player)

    @cache
    def expected(position: TimedPosition) -> tuple[float, float]:
        """The agent's reward from here on, and the costs that it will have."""
        if game.is_terminal(position):
            return 0.0, 0.0
        mine = agent(position, 0)
        reward, cost = 0.0, cost_of_strategy(solution, position, 0, mine)
        for action, share in mine.items():
            for answer, other in solution.policy(position, 1).items():
                for outcome in game.transition(position, (action, answer)):
                    chance = share * other * float(outcome.probability)
                    later = expected(outcome.state)
                    reward += chance * (float(outcome.reward) + later[0])
                    cost += chance * later[1]
        return reward, cost

    reward, cost = expected(solution.start)
    assert reward == pytest.approx(solution.value - cost, abs=1e-9)
    gets = evaluated(solution, solution.start, OPTIMAL).first
    assert reward == pytest.approx(gets, abs=1e-9)
    assert cost > 1e-3


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--game", "greed", "--limit", "9"], "--paper-agent is not for greed"),
        (
            ["--game", "football-strategy", "--form", "drive", "--chart", "dice"],
            "is not for football-strategy with these parameters",
        ),
        (["--in", "results"], "'--paper-agent' belongs to a game; --in DIR takes no parameters"),
    ],
)
def test_the_flag_is_for_football_with_a_clock(
    words: list[str], error: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", *words, "--paper-agent", "--out", str(page)])
    assert result.exit_code == 2
    assert error in result.stderr
    assert not page.exists()
