"""Opening books by name and by path, and what a reader is shown of a page."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from gamebooks import MILL
from small_mill import TEXT, small_mill

from solvent import make_game
from solvent.games.gamebook.library import open_book
from solvent.games.gamebook.values import BookError
from solvent.model import compile_game


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
        open_book(str(MILL))


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
