"""Greed in the terminal: the dice that are told are those of the score."""

from __future__ import annotations

import random
import re

import pytest

from solvent.games.greed.rules import Greed, Position


def joint(player: int, dice: int) -> tuple[int, int]:
    return (dice, 0) if player == 0 else (0, dice)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("phase", ["play", "last"])
def test_the_dice_told_are_the_change_of_the_score(player: int, phase: str) -> None:
    game = Greed(limit=12, sides=4)
    scores = (7, 3) if player == 0 else (3, 7)
    state = Position(player, scores, phase)
    busts = 0
    for count in (1, 2):
        for outcome in game.transition(state, joint(player, count)):
            for seed in range(5):
                told = game.tell(state, joint(player, count), outcome, random.Random(seed))
                dice, total, rest = re.fullmatch(
                    r"\d+ di(?:e|ce): ([\d ]+) = (\d+)(.*)", told
                ).groups()
                faces = [int(face) for face in dice.split()]
                assert len(faces) == count
                assert sum(faces) == int(total)
                assert all(1 <= face <= 4 for face in faces)
                after = outcome.state.scores[player]
                if after > game.limit:
                    assert 7 + sum(faces) > game.limit
                    assert rest == f"; {7 + sum(faces)} is above 12, bust."
                    busts += 1
                else:
                    assert (7 + sum(faces), rest) == (after, ".")
    assert busts


def test_of_very_many_dice_the_sum_is_told_and_of_a_stand_nothing() -> None:
    game, state = Greed(limit=500, sides=6), Position(0, (0, 0), "play")
    for action, branch, said in (((100, 0), 250, "100 dice = 350."), ((0, 0), 0, "")):
        outcome = game.transition(state, action)[branch]
        assert game.tell(state, action, outcome, random.Random(1)) == said
