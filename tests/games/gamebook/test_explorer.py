"""A page of a gamebook as the explorer shows it."""

from __future__ import annotations

from solvent import make_game
from solvent.exact import solve
from solvent.games.gamebook.report import state_sections
from solvent.model.game import words
from solvent.model.scene import Gauge


def test_a_page_has_its_text_and_its_place_on_the_map() -> None:
    solved = solve(make_game("gamebook"))
    game = solved.game
    state = game.initial()[0].state
    state = game.transition(state, (0,))[0].state
    text, *gauges = words(game).scene(state)
    assert text.title == "1. The bridge"
    assert text.paragraphs[0].startswith("The beck has taken the bridge at Hollin, and at nine")
    assert [cell.action for cell in text.options] == list(game.legal_actions(state)[0])
    assert gauges[0] == Gauge("stamina", 4, 4)
    [book_map] = state_sections(solved, state, True)
    assert '[data-section="1"]' in book_map.html
    assert 'data-section="1"' in book_map.html.partition("</style>")[2]
    # The colours of the map tell what is optimal.
    assert state_sections(solved, state, False) == []
