"""The live gridworld without a browser: the file, the rules that it exports, and its sizes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import refusal, said

from solvent import compile_game, make_game, solve
from solvent.explore import drawn_grid
from solvent.explore.explorer import SCRIPTS, live_grid_page, write_live_grid
from solvent.model import check_game

FOLDER = Path(drawn_grid.__file__).parent
MOST_LINES = 1160
MOST_BYTES = 100_000


def test_the_page_is_one_small_file(tmp_path: Path) -> None:
    file = write_live_grid(tmp_path / "live_grid.html")
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    # No address but that of the icon, which is empty.
    assert set(re.findall(r"""(?:src|href)=["']?([^"'\s>]+)""", text)) <= {"data:,"}
    assert not re.search(r"https?://|@import|\bimport\(|fetch\(", text)
    lines = sum(len((FOLDER / name).read_text().splitlines()) for name in SCRIPTS)
    assert lines <= MOST_LINES
    with pytest.raises(ValueError, match=r"grid\.txt"):
        write_live_grid(tmp_path / "grid.txt")
    assert 'nonce="abc"' in live_grid_page(nonce="abc")


def test_the_rules_that_it_exports_are_a_game() -> None:
    """The grid in the template is FrozenLake's."""
    check_game(drawn_grid.DrawnGrid())
    lake = solve(make_game("FrozenLake-v1"))
    assert solve(drawn_grid.DrawnGrid()).value == pytest.approx(lake.value, abs=1e-12)
    assert compile_game(drawn_grid.DrawnGrid()).n_states == 16


def test_an_exported_file_works_in_the_command(tmp_path: Path) -> None:
    file = tmp_path / "my_grid.py"
    file.write_text(Path(drawn_grid.__file__).read_text().replace("DISCOUNT = 1", "DISCOUNT = 0.9"))
    game = make_game(str(file))
    assert float(game.info.discount) == 0.9
    assert solve(game).value == pytest.approx(0.0688909, abs=1e-6)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    file = tmp_path / "grid.html"
    assert said("explore", "--live-grid", file).strip().endswith("written")
    assert file.read_text(encoding="utf-8") == live_grid_page()
    file.unlink()
    for words, named in (("greed", "greed"), ("--port 0", "--port"), ("--no-browser", "--browser")):
        assert f"drop {named}" in refusal("explore", *words.split(), "--live-grid", file)
        assert not file.exists()
