"""Combat in the terminal: the dice that are told agree with the states."""

from __future__ import annotations

import random
import re

import pytest

from solvent.games.fighting_fantasy.rules import KEEP, TEST, Combat, FightingFantasy

GAME = FightingFantasy(skill_difference=[-2, 2], stamina=9, opponent_stamina=9, luck=7)


def check_attacks(lines: list[str], after: Combat) -> None:
    """The last attack is the round that follows, all before it are drawn."""
    for number, line in enumerate(lines, 1):
        own, own_sum, other, other_sum = re.match(
            r"Attack: you ([\d+]+) = (\d+), opponent ([\d+]+) = (\d+)", line
        ).groups()
        for numbers, total, more in (
            (own, own_sum, max(after.difference, 0)),
            (other, other_sum, max(-after.difference, 0)),
        ):
            first, second, *skill = map(int, numbers.split("+"))
            assert skill == ([more] if more else [])
            assert {first, second} <= set(range(1, 7))
            assert first + second + more == int(total)
        if number < len(lines):
            assert int(own_sum) == int(other_sum)
            assert line.endswith("a draw.")
        else:
            assert (int(own_sum) > int(other_sum)) == (after.round == "won")
            assert own_sum != other_sum


@pytest.mark.parametrize("action", [KEEP, TEST])
@pytest.mark.parametrize("result", ["won", "lost"])
def test_the_dice_told_lead_to_the_state_that_follows(result: str, action: int) -> None:
    damage = {"won": (2, 4, 1), "lost": (2, 1, 3)}[result]
    for difference in (-2, 0, 1):
        for hero, opponent in ((9, 9), (1, 1), (3, 3)):
            state = Combat(difference, hero, opponent, 5, result)
            for outcome in GAME.transition(state, (action,)):
                after: Combat = outcome.state
                for seed in range(4):
                    story = GAME.tell(state, (action,), outcome, random.Random(seed))
                    first, *attacks = story.split("\n")
                    lost = state.opponent - after.opponent + state.hero - after.hero
                    assert f" {lost} STAMINA." in first
                    assert ("The opponent loses" in first) == (result == "won")
                    points = damage[0]
                    if action == TEST:
                        one, other, verdict = re.match(
                            r"Test: (\d)\+(\d) = \d+, LUCK 5: (\w+)\. ", first
                        ).groups()
                        assert (int(one) + int(other) <= 5) == (verdict == "lucky")
                        points = damage[1 if verdict == "lucky" else 2]
                    assert lost == min(points, opponent if result == "won" else hero)
                    assert bool(attacks) == (after.round != "over")
                    check_attacks(attacks, after)


def test_the_first_round_is_told_too() -> None:
    for outcome in GAME.initial():
        check_attacks(GAME.tell(None, (), outcome, random.Random(3)).split("\n"), outcome.state)
