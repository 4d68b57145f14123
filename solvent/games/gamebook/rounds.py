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
        rounds: How many have been fought; no more are counted than make a difference.
        enemy: Which enemy is fought, from 0; as many as there are when all have fallen.
        wounds: What this enemy has lost.
        loss: What the hero has lost.
    """

    rounds: int
    enemy: int
    wounds: int
    loss: int


class Blow(NamedTuple):
    """One possible result of a round; None kills."""

    weight: int
    enemy: int | None
    hero: int | None


MOST_ENDURANCE = 5_000
"""Of hero and enemies together, where rounds are fought without a decision."""


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
        start: How the fight stands.
        enemies: The endurance of each.
        most_rounds: Rounds are counted up to this.
        most_loss: With which any hero has fallen.
        blows: What a round can cost, by the enemy and by the rounds fought before it.
        pauses: Whether the player has a decision.

    Returns:
        The probability of each way in which the fight can stand then.

    Raises:
        TooManyStatesError: If there is so much endurance that it would take very long.
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
    """The blows that change something; equal ones together."""
    weights: dict[tuple[int | None, int | None], int] = {}
    for weight, enemy, hero in row:
        if not again or enemy != 0 or hero != 0:
            weights[enemy, hero] = weights.get((enemy, hero), 0) + weight
    return [Blow(weight, enemy, hero) for (enemy, hero), weight in weights.items() if weight]


def enough_loss(health: int, most: int) -> int:
    """A loss with which a hero has fallen, the same for heroes of similar health.

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
