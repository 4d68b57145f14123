"""Fights by results table, played in the plainest way: every sequence of digits one by one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Plain:
    """A fight as a reader would play it.

    Attributes:
        hero: The hero's endurance.
        skills: The hero's skill in each round, the last one for ever after.
        enemies: Skill and endurance of each.
        table: Highest difference of each column (None: no limit), and for each digit what the
            enemy and the hero lose, "K" for killed.
        dealt: What the enemy's losses are multiplied by.
        suffered: What the hero's losses are multiplied by.
        besides: What the enemy and the hero lose besides in each round.
        safe: Rounds, from 1, in which the hero loses nothing.
        escapes: Whether the hero leaves before a round, by the rounds fought, its endurance, the
            enemy's number and the enemy's endurance; None if there is no way out.
        parting: Whether leaving costs a last blow.
    """

    hero: int
    skills: tuple[int, ...]
    enemies: tuple[tuple[int, int], ...]
    table: tuple[tuple[int | None, tuple[tuple[int | str, int | str], ...]], ...]
    dealt: int = 1
    suffered: int = 1
    besides: tuple[int, int] = (0, 0)
    safe: Container[int] = ()
    escapes: Callable[[int, int, int, int], bool] | None = None
    parting: bool = False

    def outcomes(self) -> dict[tuple[str, int], Fraction]:
        """How the fight ends and with how much endurance, over all sequences of digits."""
        found: dict[tuple[str, int], Fraction] = {}
        for end, digits in self._play(self.hero, 0, 0, self.enemies[0][1], 0):
            found[end] = found.get(end, Fraction(0)) + Fraction(1, 10**digits)
        return found

    def _play(
        self, hero: int, rounds: int, number: int, left: int, digits: int
    ) -> Iterator[tuple[tuple[str, int], int]]:
        """Every end, each with how many digits were drawn."""
        leaving = self.escapes is not None and self.escapes(rounds, hero, number, left)
        if leaving and not self.parting:
            yield ("escaped", hero), digits
            return
        skill = self.skills[min(rounds, len(self.skills) - 1)]
        difference = skill - self.enemies[number][0]
        [row, *_] = [row for high, row in self.table if high is None or difference <= high]
        for enemy_loss, hero_loss in row:
            lost = hero if hero_loss == "K" else int(hero_loss) * self.suffered + self.besides[1]
            now = hero if rounds + 1 in self.safe else hero - lost
            if now <= 0:
                yield ("defeat", 0), digits + 1
            elif leaving:
                yield ("escaped", now), digits + 1
            else:
                more = self.besides[0]
                hit = left if enemy_loss == "K" else int(enemy_loss) * self.dealt + more
                if left > hit:
                    yield from self._play(now, rounds + 1, number, left - hit, digits + 1)
                elif number + 1 < len(self.enemies):
                    fresh = self.enemies[number + 1][1]
                    yield from self._play(now, rounds + 1, number + 1, fresh, digits + 1)
                else:
                    yield ("victory", now), digits + 1
