"""Boards and fields that are written as text."""

from solvent.games.fighting_fantasy.rules import Combat, FightingFantasy
from solvent.model import Cell
from solvent.model.game import deciders
from solvent.model.scene import grid, pitch


def test_a_board_has_a_square_for_each_letter() -> None:
    board = grid(["S.", "#x"], (1, 1), {"S": Cell("here")})
    shown = [[(cell.text, cell.kind) for cell in row] for row in board.rows]
    assert shown == [[("here", ""), ("", "")], [("", "wall"), ("x", "")]]
    assert board.here == (1, 1)


def test_a_field_marks_the_ball_and_the_line_to_gain() -> None:
    edge, middle, again, numbers = pitch(20, 7, 13)
    assert (edge, middle, again) == ("▒▒▒·····|¦···▒▒▒", "▒▒▒···●·|¦···▒▒▒", edge)
    assert numbers.split() == ["10"]
    assert pitch(10, None, 10) == ("▒▒▒·····▒▒▒",) * 3


def test_a_player_with_two_actions_has_a_choice() -> None:
    assert deciders(FightingFantasy(luck=3), Combat(0, 6, 5, 3, "won")) == (0,)
    assert deciders(FightingFantasy(luck=3), Combat(0, 6, 5, 0, "won")) == ()
