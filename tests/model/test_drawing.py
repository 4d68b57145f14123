"""Pieces of text with which games draw their states."""

from __future__ import annotations

from solvent.model.drawing import board, gauge


def test_a_gauge_is_filled_as_far_as_its_value_goes() -> None:
    assert gauge(3, 12, 4) == "█░░░  3/12"
    assert gauge(12, 12, 4) == "████ 12/12"
    assert gauge(14, 12, 4) == "████ 14/12"
    assert gauge(6, 12) == "█" * 12 + "░" * 12 + "  6/12"


def test_a_cell_of_a_board_is_in_brackets() -> None:
    assert board(["S.", "#G"], 2) == " S  .\n[#] G"
    assert board(["S.", "#G"], 3) == " S  .\n # [G]"
    assert board(["S.", "#G"], -1) == " S  .\n #  G"
