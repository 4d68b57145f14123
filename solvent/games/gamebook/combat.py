"""Fights: the moments at which the player decides, and what follows each.

The rounds between two decisions are one distribution (:mod:`solvent.games.gamebook.rounds`). The
two kinds of combat share the order of things: enemy after enemy; an escape is offered before a
round once it is open; whoever has nothing left has lost, whatever the enemy lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple, TypeAlias

from solvent.games.gamebook.book import Book, Fight
from solvent.games.gamebook.effects import ONE
from solvent.games.gamebook.expressions import Range, compiled
from solvent.games.gamebook.page import Local, Values
from solvent.games.gamebook.rounds import Blow, Standing, enough_loss, fight_on

FIGHT_ON, ESCAPE = 0, 1
"""The actions where an escape is open. The first also keeps the damage where LUCK may be tested."""

Constants: TypeAlias = tuple[int, ...]
"""The numbers of a fight that are computed when it begins."""


class FightState(NamedTuple):
    """A moment of a fight.

    Attributes:
        step: ``"begin"``; a decision: ``"escape"`` or, after a round, ``"won"`` or ``"lost"``; or
            how it is over: ``"victory"``, ``"defeat"`` or ``"escaped"``.
        local: The enemy, what it has left, the rounds fought (as far as that matters), and the
            constants; nothing once the fight is over.
        hero: The values of the fields that change in the fight.
    """

    step: str
    local: Local
    hero: tuple[int, ...]


Moments: TypeAlias = dict[FightState, Fraction]


class Combat(ABC):
    """A fight of a book.

    Args:
        fight: The fight.
        book: The book.

    Attributes:
        hero: The indices of the fields that change in the fight, what the hero lives on first.
    """

    def __init__(self, fight: Fight, book: Book) -> None:
        self.fight = fight
        described = book.used_in(fight)
        self.hero = tuple(book.position[name] for name in described.spent)
        self._ranges = book.ranges
        self._healths = [enemy.health for enemy in fight.enemies]
        self._most_health = book.ranges[described.spent[0]][1]
        self._escape_after = fight.escape.after if fight.escape else 0
        self._most_rounds = self._escape_after
        self._skill = described.skill
        self._skill_of = compiled(described.skill, book.position)
        self._bonuses = [(bonus, compiled(bonus.amount, book.position)) for bonus in fight.bonuses]
        self._allowed = compiled(fight.escape.when if fight.escape else 0, book.position)
        self.odds = cache(self._odds)

    @abstractmethod
    def constants(self, values: Values) -> Constants:
        """The constants of the fight when it begins."""

    @property
    @abstractmethod
    def constant_bounds(self) -> tuple[Range, ...]:
        """The least and largest of each of the constants."""

    @abstractmethod
    def blows(self, enemy: int, rounds: int, constants: Constants) -> Sequence[Blow]:
        """The possible losses in the round after so many, against an enemy."""

    @abstractmethod
    def is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether the hero may escape after so many rounds."""

    @property
    def bounds(self) -> tuple[Range, ...]:
        """The least and largest of each of the local numbers."""
        rounds = (0, self._most_rounds)
        return (0, len(self._healths) - 1), (1, max(self._healths)), rounds, *self.constant_bounds

    def begin(self, values: Values) -> Local:
        """The local numbers when the fight begins."""
        return (0, self._healths[0], 0, *self.constants(values))

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """The actions at a moment."""
        return (FIGHT_ON, ESCAPE) if moment.step == "escape" else (FIGHT_ON,)

    def after(self, moment: FightState, action: int) -> Moments:
        """The moments that follow an action, or ``"begin"``."""
        step, local, hero = moment
        if hero[0] <= 0:
            return {FightState("defeat", (), hero): ONE}
        if step == "begin":
            return self._before_round(local, hero)
        if action == ESCAPE:
            return self._escaped(local, hero)
        return self._round(local, hero)

    def _before_round(self, local: Local, hero: Local) -> Moments:
        if self.is_open(local[2], local[3:]):
            return {FightState("escape", local, hero): ONE}
        return self._round(local, hero)

    def _escaped(self, local: Local, hero: Local) -> Moments:
        return {FightState("escaped", (), hero): ONE}

    def _round(self, local: Local, hero: Local) -> Moments:
        """Fight on until the next decision."""
        enemy, left, rounds, *constants = local
        start = Standing(rounds, enemy, self._healths[enemy] - left, 0)
        enough = enough_loss(hero[0], self._most_health)
        found: Moments = {}
        for standing, p in self.odds(start, tuple(constants), enough).items():
            following = self._moment(standing, tuple(constants), hero[0])
            found[following] = found.get(following, Fraction(0)) + p
        return found

    def _odds(
        self, start: Standing, constants: Constants, most_loss: int
    ) -> dict[Standing, Fraction]:
        """The distribution of standings at the next decision, for heroes who can lose no more."""
        return fight_on(
            start,
            self._healths,
            self._most_rounds,
            most_loss,
            lambda enemy, rounds: self.blows(enemy, rounds, constants),
            lambda standing: self.is_open(standing.rounds, constants),
        )

    def _moment(self, standing: Standing, constants: Constants, health: int) -> FightState:
        if standing.loss >= health:
            return FightState("defeat", (), (0,))
        left = (health - standing.loss,)
        if standing.enemy == len(self._healths):
            return FightState("victory", (), left)
        local = (
            standing.enemy,
            self._healths[standing.enemy] - standing.wounds,
            standing.rounds,
            *self._later(constants, standing.rounds),
        )
        return FightState("escape", local, left)

    def _later(self, constants: Constants, rounds: int) -> Constants:
        """The constants after so many rounds, without those that matter no more."""
        return constants
