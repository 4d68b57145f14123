"""A book opened by name, read in an environment, played in a terminal, and on its page."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from commands import said
from gamebooks import changed, small

from solvent import make_game
from solvent.exact import SolvedTable, solve
from solvent.games.gamebook.library import open_book
from solvent.games.gamebook.loader import BookError, parse_book
from solvent.games.gamebook.report import gamebook_sections, layout, reading, state_sections
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TabularPolicy, compile_game
from solvent.report.solved import game_task

TEXT = changed(
    ("endurance: {initial: 1d6 + 6, max: 14", "endurance: {initial: 1d2 + 4, max: 6"),
    ("gold: {initial: 6, max: 20}", "gold: {initial: 3, max: 4}"),
    ("luck: {initial: 7", "luck: {initial: 4"),
    ("endurance: 9}, {name: Shadow", "endurance: 5}, {name: Shadow"),
)
"""The example book with a weaker hero and a weaker miller: eleven thousand states."""


def small_mill() -> Gamebook:
    return Gamebook(parse_book(TEXT.encode()))


def test_the_parameters_make_the_game_again(tmp_path: Path) -> None:
    path = tmp_path / "Small.YAML"
    path.write_text(TEXT, encoding="utf-8")
    game = make_game("gamebook", book=str(path))
    again = make_game(game.info.name, **dict(game.info.parameters))
    assert compile_game(again).model_hash == compile_game(game).model_hash


def test_what_is_no_book_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"book is 'The Mill'; allowed are .*paths of files"):
        open_book("The Mill")
    with pytest.raises(FileNotFoundError):
        open_book(str(tmp_path / "none.yaml"))
    path = tmp_path / "empty.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(BookError, match=r"empty\.json:1: error"):
        open_book(str(path))


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("solvent.games.gamebook.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs yaml: pip install 'solvent\[books\]'"):
        open_book()


def test_the_reader_sees_what_the_solver_forgets() -> None:
    game = small_mill()
    reader = game.for_reader()
    table = compile_game(game)
    rng = np.random.default_rng(0)
    forgotten = 0
    for _ in range(50):
        [first, *_] = reader.initial()
        state = first.state
        while not reader.is_terminal(state):
            known = game.from_reader(state)
            assert known in table.index
            assert None not in state.values
            forgotten += known.values.count(None)
            [actions] = reader.legal_actions(state)
            assert game.legal_actions(known) == (actions,)
            action = int(rng.choice(actions))
            outcomes = reader.transition(state, (action,))
            # Both games agree on what follows, with its rewards, once the rest is forgotten.
            merged: dict[tuple[object, object], Fraction] = {}
            for outcome in outcomes:
                key = game.from_reader(outcome.state), outcome.reward
                merged[key] = merged.get(key, Fraction(0)) + outcome.probability
            theirs = {(o.state, o.reward): o.probability for o in game.transition(known, (action,))}
            assert merged == theirs
            state = outcomes[int(rng.integers(len(outcomes)))].state
        assert game.from_reader(state) in table.index
    assert forgotten > 0


GAME = small_mill()


def test_the_command_takes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT, encoding="utf-8")
    for line in (["book", str(path)], ["gamebook", "--book", str(path)]):
        shown = said("play", *line, "--seed", "3", input="0\nq\n")
        assert "A pedlar sits by the road" in shown


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


def test_the_map_of_a_book_tells_what_is_optimal_only_where_that_is_asked_for() -> None:
    solved = solve(make_game("gamebook"))
    state = solved.game.initial()[0].state
    [book_map] = state_sections(solved, state, True)
    assert 'data-section="1"' in book_map.html
    assert state_sections(solved, state, False) == []
