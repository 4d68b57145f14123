"""What the page says of a gamebook: its map, its endings, and the decisions that matter."""

from __future__ import annotations

import re
from typing import cast

import pytest
from gamebooks import small
from small_mill import small_mill

from solvent.exact import SolvedTable, solve
from solvent.games.gamebook.report import gamebook_sections, layout, reading
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularPolicy, compile_game
from solvent.report.solved import game_task

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
