"""What the page says of a gamebook: its map, its endings, and the decisions that matter."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from gamebooks import small
from small_mill import small_mill

from solvent.exact import SolvedTable, locate_gap, policy_value, solve
from solvent.games.gamebook.report import gamebook_sections, losses
from solvent.games.gamebook.report_map import layout, reading
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.report.solved import ScoredAgent, SolvedTask, game_task

FORK = Gamebook(
    small(
        """\
  1:
    choices:
      - {label: Left., goto: 2}
      - {label: Right <b>., goto: 3}
  2:
    do: [{lose: {gold: 1}}]
    chances:
      - {probability: 1/4, goto: 3}
      - {probability: 3/4, text: A stair., goto: 4}
  3:
    text: Here.
    choices:
      - {label: Wait., ending: lost}
      - {label: Run., goto: 4}
  4:
    roll:
      dice: digit
      results:
        ..5: {ending: won}
        6..: {ending: lost}
  """
    )
)
"""Best play is worth 0.6 wherever it goes; uniform play loses in section 3 only."""


@pytest.fixture(scope="module")
def mill() -> SolvedTask:
    return game_task(cast(SolvedTable, solve(small_mill())))


def test_a_reading_is_what_one_calculates_by_hand() -> None:
    table = compile_game(FORK)
    uniform = TabularPolicy.uniform(table)
    found = reading(FORK, table, uniform, solve(table).values)
    # Section 3: half of all plays go there at once, and a quarter of the others.
    assert found.reached == pytest.approx({1: 1, 2: 0.5, 3: 0.625, 4: 0.375 + 0.3125})
    assert found.value == pytest.approx(dict.fromkeys((1, 2, 3, 4), 0.6))
    assert found.endings == pytest.approx({"won": 0.4125, "lost": 0.5875})


def test_sections_that_are_not_reached_have_no_worth() -> None:
    table = compile_game(FORK)
    solution = solve(table)
    right = table.mask[0][:, 1].astype(int)
    found = reading(FORK, table, TabularPolicy.deterministic(table, right), solution.values)
    assert found.reached[2] == 0
    assert found.value[2] != found.value[2]


def test_the_endings_of_a_policy_give_its_value(mill: SolvedTask) -> None:
    game, table = cast(Gamebook, mill.game), mill.table
    scores = {name: float(ending.score) for name, ending in game.book.endings.items()}
    for policy in (mill.solution.policies[0], TabularPolicy.uniform(table)):
        found = reading(game, table, policy, mill.solution.values)
        assert sum(found.endings.values()) == pytest.approx(1)
        value = sum(scores[name] * p for name, p in found.endings.items())
        assert value == pytest.approx(table.at_start(policy_value(table, policy)))
        assert found.reached[1] == pytest.approx(1)
        assert max(found.reached.values()) <= 1 + 1e-12
        assert found.value[1] <= 1


def test_the_losses_are_the_gap(mill: SolvedTask) -> None:
    game, table, best = cast(Gamebook, mill.game), mill.table, mill.solution.policies[0]
    uniform = TabularPolicy.uniform(table)
    location = locate_gap(table, uniform, mill.solution)
    found = losses(game, table, uniform, best, location, most=1000)
    assert sum(loss.lost for loss in found) == pytest.approx(location.gap)
    assert sum(loss.share for loss in found) == pytest.approx(1)
    assert [loss.lost for loss in found] == sorted((loss.lost for loss in found), reverse=True)
    places = [loss.place for loss in found]
    assert len(set(places)) == len(places)
    [sleep] = [loss for loss in found if loss.place == "section 2"]
    assert "Sleep in the hay" in sleep.chosen


def test_losses_name_what_is_chosen_and_what_is_best() -> None:
    table = compile_game(FORK)
    solution = solve(table)
    uniform = TabularPolicy.uniform(table)
    location = locate_gap(table, uniform, solution)
    [loss] = losses(FORK, table, uniform, solution.policies[0], location)
    assert (loss.place, loss.chosen, loss.best) == ("section 3", "Wait 50%, Run 50%", "Run")
    assert loss.lost == pytest.approx(0.625 * 0.3)
    assert loss.share == pytest.approx(1)


@pytest.mark.parametrize("game", [FORK, small_mill()])
def test_every_line_of_the_map_leads_to_the_right(game: Gamebook) -> None:
    place = layout(game.book)
    assert place.keys() == game.book.sections.keys()
    assert len(set(place.values())) == len(place)
    for number in place:
        for target in game.book.targets[number]:
            assert place[number][0] < place[target][0]


def test_the_page_of_a_book_has_its_sections_and_no_markup_of_its_labels() -> None:
    solved = game_task(cast(SolvedTable, solve(FORK)))
    html = "".join(section.html for section in gamebook_sections(solved))
    assert sorted(re.findall(r'data-section="(\d+)"', html)) == ["1", "2", "3", "4"]
    numbered = re.findall(
        r'cx="([\d.]+)"[^>]*data-section="(\d+)".*?x="([\d.]+)"[^>]*>(\d+)<', html
    )
    assert len(numbered) == 4
    assert all(dot == text and n == shown for dot, n, text, shown in numbered)
    assert "<b>" not in html
    assert re.search(r"<td>uniform</td><td class=\"n\">0\.4125</td>", html)
    assert re.search(r"<td>section 3</td><td>Run</td>", html)
    assert "Decisions at which agents lose" not in [s.title for s in gamebook_sections(solved)]


def test_the_decisions_at_which_agents_lose(mill: SolvedTask) -> None:
    solved = with_agent(mill, TabularPolicy.uniform(mill.table).mode())
    sections = {section.title: section.html for section in gamebook_sections(solved)}
    html = sections["Decisions at which agents lose"]
    shares = [float(share) for share in re.findall(r"([\d.]+)%</td></tr>", html)]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert "<td>somebody</td>" in sections["How episodes end"]


def with_agent(solved: SolvedTask, policy: TabularPolicy) -> SolvedTask:
    table: TabularGame = solved.table
    location = locate_gap(table, policy, solved.solution)
    agent: Any = SimpleNamespace(name="somebody", mode_gap=location.gap)
    item = ScoredAgent(agent, (), (policy,), (location,))
    return SolvedTask(solved.task, solved.game, table, solved.solution, (item,))
