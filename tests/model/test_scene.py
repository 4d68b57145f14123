"""Scenes as text."""

from __future__ import annotations

from solvent.model.scene import Cell, Grid, Pieces, Prose, board, gauge, scene_text


def test_a_gauge_is_filled_as_far_as_its_value_goes() -> None:
    assert gauge(3, 12, 4) == "█░░░  3/12"
    assert gauge(12, 12, 4) == "████ 12/12"
    assert gauge(14, 12, 4) == "████ 14/12"
    assert gauge(-3, 12, 4) == "░░░░ -3/12"
    assert gauge(6, 12) == "█" * 12 + "░" * 12 + "  6/12"


def test_a_cell_of_a_board_is_in_brackets() -> None:
    assert board(["S.", "#G"], 2) == " S  .\n[#] G"
    assert board(["S.", "#G"], 3) == " S  .\n # [G]"
    assert board(["S.", "#G"], -1) == " S  .\n #  G"


def test_a_scene_is_written_part_by_part() -> None:
    rows = ((Cell("", "wall"), Cell("A•")), (Cell(), Cell("", "goal")))
    many = Pieces("dice", "dice", (Cell("6"),) * 50)
    parts = (Grid(rows, (1, 1), below=("1", "2")), Prose("Title", ("Text.",)))
    assert scene_text(parts) == " #   A•\n .  [G ]\n 1  2\nTitle\nText."
    assert scene_text((many,)) == f"dice:{' 6' * 40} …"
