"""Fighting Fantasy combat as a part of a book.

The rules are those of :mod:`solvent.games.fighting_fantasy.rules`, whose functions give the odds:
draws are conditioned out and do not count as rounds, and LUCK is tested after a round is won or
lost and before its damage. Where there is no LUCK in the book, rounds between decisions are one
distribution.
"""

from __future__ import annotations

from fractions import Fraction

from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    decided_round,
    luck_succeeds,
    round_probabilities,
)
from solvent.games.gamebook.book import Book, Fight
from solvent.games.gamebook.combat import Combat, Constants, FightState, Moments
from solvent.games.gamebook.combat_description import FightingFantasy
from solvent.games.gamebook.effects import ONE
from solvent.games.gamebook.expressions import Range, bounds
from solvent.games.gamebook.page import Local, Values
from solvent.games.gamebook.rounds import Blow


class FightingFantasyCombat(Combat):
    """A fight by the rules of Fighting Fantasy.

    Its constants: the hero's SKILL with bonuses, and whether there is an escape.
    """

    def __init__(self, fight: Fight, book: Book) -> None:
        super().__init__(fight, book)
        described = book.used_in(fight)
        assert isinstance(described, FightingFantasy)
        self._damage = described.damage
        self._has_luck = described.luck is not None

    def constants(self, values: Values) -> Constants:
        """The SKILL, and whether there is an escape."""
        skill = self._skill_of(values) + sum(size(values) for _, size in self._bonuses)
        return skill, int(bool(self._allowed(values)))

    @property
    def constant_bounds(self) -> tuple[Range, ...]:
        """The ends of SKILL with all bonuses, and of a truth value."""
        parts = [self._skill, *(bonus.amount for bonus, _ in self._bonuses)]
        ends = [bounds(part, self._ranges) for part in parts]
        return (sum(low for low, _ in ends), sum(high for _, high in ends)), (0, 1)

    def is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether there is an escape, and enough rounds have been fought."""
        return bool(constants[1]) and rounds >= self._escape_after

    def blows(self, enemy: int, rounds: int, constants: Constants) -> list[Blow]:
        """A round won, or lost."""
        won, _, lost = round_probabilities(constants[0] - self.fight.enemies[enemy].skill)
        # Both are multiples of 1/1296; what is missing to 1 are draws.
        return [
            Blow(int(won * 1296), self._damage.won, 0),
            Blow(int(lost * 1296), 0, self._damage.lost),
        ]

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """Fight on or escape; after a round, keep its damage or test LUCK while any is left."""
        if moment.step in ("won", "lost"):
            return (KEEP, TEST) if moment.hero[1] else (KEEP,)
        return super().actions(moment)

    def after(self, moment: FightState, action: int) -> Moments:
        """The moments that follow an action, or ``"begin"``."""
        if moment.step in ("won", "lost") and moment.hero[0] > 0:
            return self._decided(moment.step == "won", moment.local, moment.hero, action)
        return super().after(moment, action)

    def _round(self, local: Local, hero: Local) -> Moments:
        """Fight a round that is not drawn, or all until the next decision if there is no LUCK."""
        if not self._has_luck:
            return super()._round(local, hero)
        difference = local[3] - self.fight.enemies[local[0]].skill
        return {FightState(s, local, hero): p for s, p in decided_round(difference).items()}

    def _decided(self, won: bool, local: Local, hero: Local, action: int) -> Moments:
        """Deal the damage of a round, and fight on until the next decision."""
        enemy, stamina, rounds, *constants = local
        health, luck = hero
        damage = self._damage
        cases = [(ONE, damage.won if won else damage.lost, luck)]
        if action == TEST:
            q = luck_succeeds(luck)
            lucky = damage.won_lucky if won else damage.lost_lucky
            unlucky = damage.won_unlucky if won else damage.lost_unlucky
            cases = [(q, lucky, luck - 1), (1 - q, unlucky, luck - 1)]
        rounds = min(rounds + 1, self._escape_after)
        result: Moments = {}
        for probability, points, luck_left in cases:
            hurt = (health if won else max(health - points, 0), luck_left)
            left = stamina - points if won else stamina
            if hurt[0] == 0:
                following = {FightState("defeat", (), hurt): ONE}
            elif left > 0:
                following = self._before_round((enemy, left, rounds, *constants), hurt)
            elif enemy + 1 == len(self._healths):
                following = {FightState("victory", (), hurt): ONE}
            else:
                fresh = (enemy + 1, self._healths[enemy + 1], rounds, *constants)
                following = self._before_round(fresh, hurt)
            if probability:
                for moment, p in following.items():
                    result[moment] = result.get(moment, Fraction(0)) + probability * p
        return result
