"""A page of a gamebook as the explorer shows it."""

from __future__ import annotations

import re

from solvent import make_game
from solvent.exact import solve
from solvent.games.gamebook.report import state_sections


def test_a_page_has_its_text_and_its_place_on_the_map() -> None:
    solved = solve(make_game("gamebook"))
    game = solved.game
    state = game.initial()[0].state
    state = game.transition(state, (0,))[0].state
    text, book_map = state_sections(solved, state, True)
    assert text.title == "1. The bridge"
    assert "<p>The beck has taken the bridge at Hollin, and at nine" in text.html
    assert re.search(r"<pre[^>]*>stamina", text.html)
    assert '[data-section="1"]' in book_map.html
    assert 'data-section="1"' in book_map.html.partition("</style>")[2]
    # The colours of the map tell what is optimal.
    assert [one.title for one in state_sections(solved, state, False)] == ["1. The bridge"]
