"""Fighting Fantasy combat as a part of a book, enemy after enemy.

The rules are those of :mod:`solvent.games.fighting_fantasy.rules`, whose functions give the odds:
draws are conditioned out, and LUCK is tested after a round is won or lost and before its damage.
Where there is no LUCK in the book, rounds between decisions are one distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache

from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    decided_round,
    luck_succeeds,
    round_probabilities,
)
from solvent.games.gamebook.book import FightingFantasyFight
from solvent.games.gamebook.combat import (
    ESCAPE,
    FIGHT_ON,
    Blow,
    FightState,
    Local,
    Standing,
    enough_loss,
    fight_on,
)
from solvent.games.gamebook.effects import ONE, Values
from solvent.games.gamebook.expressions import bounds, compiled


class FightingFantasyCombat:
    """A fight by the rules of Fighting Fantasy.

    Its ``local`` numbers: the enemy, its STAMINA, the rounds fought (as far as that matters), the
    hero's SKILL with bonuses, and whether there is an escape.

    Args:
        fight: The fight.
        position: Where each field stands among the values.
        ranges: Least and largest value of each field.
    """

    def __init__(
        self,
        fight: FightingFantasyFight,
        position: Mapping[str, int],
        ranges: Mapping[str, tuple[int, int]],
    ) -> None:
        self.fight = fight
        names = (fight.stamina,) if fight.luck is None else (fight.stamina, fight.luck)
        self.hero = tuple(position[name] for name in names)
        self._staminas = [enemy.endurance for enemy in fight.enemies]
        self._most_health = ranges[fight.stamina][1]
        self._escape_after = fight.escape.after if fight.escape else 0
        self._skill = compiled(fight.skill, position)
        self._bonuses = [compiled(bonus.size, position) for bonus in fight.bonuses]
        self._allowed = compiled(fight.escape.condition, position) if fight.escape else None
        self._ranges = ranges
        self.odds = cache(self._odds)

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Least and largest of each of the local numbers."""
        parts = [self.fight.skill, *(bonus.size for bonus in self.fight.bonuses)]
        ends = [bounds(part, self._ranges) for part in parts]
        skill = sum(low for low, _ in ends), sum(high for _, high in ends)
        return (
            (0, len(self._staminas) - 1),
            (1, max(self._staminas)),
            (0, self._escape_after),
            skill,
            (0, 1),
        )

    def begin(self, values: Values) -> Local:
        """The local numbers when the fight begins."""
        skill = self._skill(values) + sum(size(values) for size in self._bonuses)
        escape = int(self._allowed is not None and bool(self._allowed(values)))
        return (0, self._staminas[0], 0, skill, escape)

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """Fight on or escape; after a round, keep its damage or test LUCK while any is left."""
        if moment.step == "escape":
            return (FIGHT_ON, ESCAPE)
        return (KEEP, TEST) if moment.step in ("won", "lost") and moment.hero[1] else (KEEP,)

    def after(self, moment: FightState, action: int) -> dict[FightState, Fraction]:
        """What follows a decision, or ``"begin"``."""
        step, local, hero = moment
        if hero[0] <= 0:
            return {FightState("defeat", (), hero): ONE}
        if step == "begin":
            return self._before_round(local, hero)
        if step == "escape":
            if action == ESCAPE:
                return {FightState("escaped", (), hero): ONE}
            return self._round(local, hero)
        return self._damage(step == "won", local, hero, action)

    def _is_open(self, rounds: int, escape: int) -> bool:
        return bool(escape) and rounds >= self._escape_after

    def _before_round(self, local: Local, hero: Local) -> dict[FightState, Fraction]:
        if self._is_open(local[2], local[4]):
            return {FightState("escape", local, hero): ONE}
        return self._round(local, hero)

    def _round(self, local: Local, hero: Local) -> dict[FightState, Fraction]:
        """Fight a round that is not drawn, or all until the next decision if there is no LUCK."""
        enemy, stamina, rounds, skill, escape = local
        if self.fight.luck is not None:
            difference = skill - self.fight.enemies[enemy].skill
            return {FightState(s, local, hero): p for s, p in decided_round(difference).items()}
        start = Standing(rounds, enemy, self._staminas[enemy] - stamina, 0)
        enough = enough_loss(hero[0], self._most_health)
        result: dict[FightState, Fraction] = {}
        for standing, p in self.odds(start, skill, escape, enough).items():
            following = self._moment(standing, skill, escape, hero[0])
            result[following] = result.get(following, Fraction(0)) + p
        return result

    def _damage(
        self, won: bool, local: Local, hero: Local, action: int
    ) -> dict[FightState, Fraction]:
        """Deal the damage of a round, and fight on until the next decision."""
        enemy, stamina, rounds, skill, escape = local
        health, luck = hero
        damage = self.fight.damage
        cases: Iterable[tuple[Fraction, int, int]]
        if action == KEEP:
            cases = [(ONE, damage.won if won else damage.lost, luck)]
        else:
            q = luck_succeeds(luck)
            lucky = damage.won_lucky if won else damage.lost_lucky
            unlucky = damage.won_unlucky if won else damage.lost_unlucky
            cases = [(q, lucky, luck - 1), (1 - q, unlucky, luck - 1)]
        rounds = min(rounds + 1, self._escape_after)
        result: dict[FightState, Fraction] = {}
        for probability, points, luck_left in cases:
            hurt = (health if won else max(health - points, 0), luck_left)
            left = stamina - points if won else stamina
            if hurt[0] == 0:
                following = {FightState("defeat", (), hurt): ONE}
            elif left > 0:
                following = self._before_round((enemy, left, rounds, skill, escape), hurt)
            elif enemy + 1 == len(self._staminas):
                following = {FightState("victory", (), hurt): ONE}
            else:
                fresh = (enemy + 1, self._staminas[enemy + 1], rounds, skill, escape)
                following = self._before_round(fresh, hurt)
            if probability:
                for moment, p in following.items():
                    result[moment] = result.get(moment, Fraction(0)) + probability * p
        return result

    def _odds(
        self, start: Standing, skill: int, escape: int, most_loss: int
    ) -> dict[Standing, Fraction]:
        """How it can stand at the next decision, for heroes who can lose no more."""

        def blows(enemy: int, rounds: int) -> list[Blow]:
            won, _, lost = round_probabilities(skill - self.fight.enemies[enemy].skill)
            # Both are multiples of 1/1296; what is missing to 1 are draws.
            return [
                Blow(int(won * 1296), self.fight.damage.won, 0),
                Blow(int(lost * 1296), 0, self.fight.damage.lost),
            ]

        return fight_on(
            start,
            self._staminas,
            self._escape_after,
            most_loss,
            blows,
            lambda standing: self._is_open(standing.rounds, escape),
        )

    def _moment(self, standing: Standing, skill: int, escape: int, health: int) -> FightState:
        if standing.loss >= health:
            return FightState("defeat", (), (0,))
        left = (health - standing.loss,)
        if standing.enemy == len(self._staminas):
            return FightState("victory", (), left)
        stamina = self._staminas[standing.enemy] - standing.wounds
        return FightState("escape", (standing.enemy, stamina, standing.rounds, skill, escape), left)
