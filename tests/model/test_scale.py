"""How values are read: as chances of winning where the game says that it is won or lost."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import solvent
from solvent.games import FightingFantasy, Greed, Pig, TimedFootball
from solvent.model import WINS, WINS_OR_TIES, GymnasiumTable, ValueScale


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
