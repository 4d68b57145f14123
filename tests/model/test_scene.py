"""Scenes as text."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import solvent
from solvent.games import FightingFantasy, Greed, Pig, TimedFootball
from solvent.model import WINS, WINS_OR_TIES, GymnasiumTable, ValueScale
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


# Values in the unit of a game


@pytest.mark.parametrize(
    ("game", "unit"),
    [
        (Pig(target=4), WINS),
        (Pig(target=4, signed=True), ""),
        (FightingFantasy(stamina=2, opponent_stamina=2, luck=0), WINS),
        (FightingFantasy(stamina=2, opponent_stamina=2, luck=0, stamina_weight=1), "points"),
        (Greed(limit=3, sides=2), WINS_OR_TIES),
        (TimedFootball(form="half"), "points"),
        (TimedFootball(form="full"), WINS_OR_TIES),
        (GymnasiumTable.from_env(gym.make("FrozenLake-v1")), WINS),
        (GymnasiumTable.from_env(gym.make("CliffWalking-v1")), ""),
    ],
    ids=lambda one: one.info.name if hasattr(one, "info") else one,
)
def test_the_unit_of_a_game(game: Any, unit: str) -> None:
    assert game.info.unit == unit


def test_what_one_side_wins_the_other_loses() -> None:
    won, paid = Greed(limit=3, sides=2).info, solvent.make_game("football-drive").info
    assert ValueScale(won, 1).of(0.25) == 0.75
    assert ValueScale(paid, 1).of(0.25) == -0.25
    assert ValueScale(won, 0).of(0.25) == ValueScale(paid, 0).of(0.25) == 0.25


def test_texts_carry_the_unit() -> None:
    won, paid = ValueScale(Pig().info), ValueScale(solvent.make_game("football-drive").info)
    assert (won.meaning, paid.meaning) == ("chance of winning", "points")
    assert (won.text(0.51384), won.signed(-0.004), won.difference(0.004)) == (
        "51.38%",
        "-0.40%",
        "0.40% of a win",
    )
    assert (paid.text(-0.94488), paid.signed(1), paid.difference(0.5)) == (
        "-0.9449",
        "+1.0000",
        "0.5000 points",
    )
