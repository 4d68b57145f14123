"""Rounds of a fight that are fought without a decision, as one distribution.

Each round both sides lose something by chance. What the hero has lost is counted from 0 upwards,
so that one calculation serves every hero: whoever has so much left or less has fallen. Masses are
whole numbers over a common power, which keeps them exact without fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm
from typing import NamedTuple

from solvent.model import TooManyStatesError


class Standing(NamedTuple):
    """The state of a fight before a round.

    Attributes:
        rounds: Number of rounds fought, counted only as far as it makes a difference.
        enemy: Index of the enemy, from 0; the number of enemies when all have fallen.
        wounds: Loss of this enemy.
        loss: Loss of the hero.
    """

    rounds: int
    enemy: int
    wounds: int
    loss: int


class Blow(NamedTuple):
    """One possible result of a round; a loss of None kills."""

    weight: int
    enemy: int | None
    hero: int | None


MOST_ENDURANCE = 5_000
"""Largest endurance of hero and enemies together in rounds without a decision."""


def fight_on(
    start: Standing,
    enemies: Sequence[int],
    most_rounds: int,
    most_loss: int,
    blows: Callable[[int, int], Sequence[Blow]],
    pauses: Callable[[Standing], bool],
) -> dict[Standing, Fraction]:
    """Fight until every enemy or the hero has fallen, or a decision comes up; at least once.

    A round in which nobody loses anything and that is no longer counted is fought again.

    Args:
        start: The standing at the start.
        enemies: The endurance of each enemy.
        most_rounds: Largest number of rounds that is counted.
        most_loss: Loss with which any hero has fallen.
        blows: Possible losses of a round, by the enemy and by the rounds fought before it.
        pauses: Whether the player has a decision.

    Returns:
        The probability of each standing after these rounds.

    Raises:
        TooManyStatesError: If the endurance exceeds :data:`MOST_ENDURANCE`.
    """
    left = sum(enemies[start.enemy :]) - start.wounds
    if left + most_loss > MOST_ENDURANCE:
        raise TooManyStatesError(
            f"a fight with {left + most_loss} points of endurance is too long; allowed are "
            f"{MOST_ENDURANCE} without a decision"
        )
    table = {
        (enemy, rounds): _without_draws(blows(enemy, rounds), rounds == most_rounds)
        for enemy in range(start.enemy, len(enemies))
        for rounds in range(start.rounds, most_rounds + 1)
    }
    base = lcm(*(sum(blow.weight for blow in row) for row in table.values()))
    whole = base ** (most_rounds - start.rounds + left + most_loss - start.loss)
    # Every round raises a standing in the order of tuples, so the least is complete.
    mass = {start: whole}
    queue = [start]
    done: dict[Standing, Fraction] = {}
    while queue:
        now = heappop(queue)
        weight = mass.pop(now)
        over = now.enemy == len(enemies) or now.loss == most_loss
        if over or (now != start and pauses(now)):
            done[now] = Fraction(weight, whole)
            continue
        row = table[now.enemy, now.rounds]
        # A standing is reached in fewer rounds than the power has factors, so this has no rest.
        share = weight // sum(blow.weight for blow in row)
        for blow in row:
            after = _struck(now, blow, enemies, most_rounds, most_loss)
            if after not in mass:
                mass[after] = 0
                heappush(queue, after)
            mass[after] += share * blow.weight
    return done


def _without_draws(row: Sequence[Blow], again: bool) -> list[Blow]:
    """Return the blows that change the standing, with equal ones combined."""
    weights: dict[tuple[int | None, int | None], int] = {}
    for weight, enemy, hero in row:
        if not again or enemy != 0 or hero != 0:
            weights[enemy, hero] = weights.get((enemy, hero), 0) + weight
    return [Blow(weight, enemy, hero) for (enemy, hero), weight in weights.items() if weight]


def enough_loss(health: int, most: int) -> int:
    """Return a loss with which a hero has fallen, equal for heroes of similar health.

    Args:
        health: The health of the hero.
        most: The largest health that a hero can have.
    """
    return min(most, 1 << (health - 1).bit_length())


def _struck(
    now: Standing, blow: Blow, enemies: Sequence[int], most_rounds: int, most_loss: int
) -> Standing:
    loss = most_loss if blow.hero is None else min(now.loss + blow.hero, most_loss)
    wounds = enemies[now.enemy] if blow.enemy is None else now.wounds + blow.enemy
    rounds = min(now.rounds + 1, most_rounds)
    if wounds >= enemies[now.enemy]:
        return Standing(rounds, now.enemy + 1, 0, loss)
    return Standing(rounds, now.enemy, wounds, loss)
