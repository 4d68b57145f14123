"""Fights: the moments at which the player decides, and what follows each.

The rounds between two decisions are one distribution (:func:`fight_on`). What the hero has lost in
them is counted from 0 upwards, so that one calculation serves every hero: whoever has so much left
or less has fallen. Masses are whole numbers over a common power, exact without fractions. The two
kinds of combat share the order of things: enemy after enemy; an escape is offered before a
round once it is open; whoever has nothing left has lost, whatever the enemy lost.

**Fighting Fantasy.** The functions of :mod:`solvent.games.fighting_fantasy.rules` give the odds:
draws are conditioned out and do not count as rounds, and LUCK is tested after a round is won or
lost and before its damage. Where there is no LUCK in the book, rounds between decisions are one
distribution.

**Results table.** A digit is drawn each round, and the column for the difference of skill says what
both sides lose. The enemy's loss is multiplied by `dealt`, the hero's by `suffered`; then what is
added is lost besides, in every round. What is dealt beyond an enemy's endurance is lost; the next
one is fresh. An escape with a parting blow is a last round in which only the hero loses. In the
rounds in which the hero is invulnerable the hero loses nothing of all this, and is not killed.
Rounds that change nothing and are not counted any more are drawn again, so that no state comes
twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from math import lcm
from typing import NamedTuple, TypeAlias

from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    decided_round,
    round_probabilities,
)
from solvent.games.gamebook.book import Book, Fight
from solvent.games.gamebook.effects import ONE
from solvent.games.gamebook.expressions import Range, bounds, compiled, evaluate, names
from solvent.games.gamebook.hero import Column, FightingFantasy, ResultsTable
from solvent.games.gamebook.page import Local, Values
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


FIGHT_ON, ESCAPE = 0, 1
"""The actions when an escape is open. The first also keeps the damage when LUCK may be tested."""

Constants: TypeAlias = tuple[int, ...]
"""The numbers of a fight that are computed when it begins."""


class FightState(NamedTuple):
    """A moment of a fight.

    Attributes:
        step: ``"begin"``; a decision: ``"escape"`` or, after a round, ``"won"`` or ``"lost"``; or
            the result: ``"victory"``, ``"defeat"`` or ``"escaped"``.
        local: The enemy, its remaining health, the rounds fought (as far as that matters), and the
            constants; empty once the fight is over.
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
        hero: The indices of the fields that change in the fight, starting with the hero's health.
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
        """The smallest and largest value of each constant."""

    @abstractmethod
    def blows(self, enemy: int, rounds: int, constants: Constants) -> Sequence[Blow]:
        """Return the possible losses in the round after a number of rounds, against an enemy."""

    @abstractmethod
    def is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether the hero may escape after a number of rounds."""

    @property
    def bounds(self) -> tuple[Range, ...]:
        """The smallest and largest value of each local number."""
        rounds = (0, self._most_rounds)
        return (0, len(self._healths) - 1), (1, max(self._healths)), rounds, *self.constant_bounds

    def begin(self, values: Values) -> Local:
        """The local numbers when the fight begins."""
        return (0, self._healths[0], 0, *self.constants(values))

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """The actions at a moment."""
        return (FIGHT_ON, ESCAPE) if moment.step == "escape" else (FIGHT_ON,)

    def after(self, moment: FightState, action: int) -> Moments:
        """Return the distribution of moments after an action, or after ``"begin"``."""
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
        """Return the distribution of standings at the next decision, for a largest loss."""
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
        """Return the constants after a number of rounds, without those no longer needed."""
        return constants


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
        """Return the SKILL, and whether there is an escape."""
        skill = self._skill_of(values) + sum(size(values) for _, size in self._bonuses)
        return skill, int(bool(self._allowed(values)))

    @property
    def constant_bounds(self) -> tuple[Range, ...]:
        """The bounds of SKILL with all bonuses, and of a truth value."""
        parts = [self._skill, *(bonus.amount for bonus, _ in self._bonuses)]
        ends = [bounds(part, self._ranges) for part in parts]
        return (sum(low for low, _ in ends), sum(high for _, high in ends)), (0, 1)

    def is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether there is an escape, and enough rounds have been fought."""
        return bool(constants[1]) and rounds >= self._escape_after

    def blows(self, enemy: int, rounds: int, constants: Constants) -> list[Blow]:
        """Return the losses of a round won, and of a round lost."""
        won, _, lost = round_probabilities(constants[0] - self.fight.enemies[enemy].skill)
        # Both are multiples of 1/1296; what is missing to 1 are draws.
        return [
            Blow(int(won * 1296), self._damage.won, 0),
            Blow(int(lost * 1296), 0, self._damage.lost),
        ]

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """Return fighting on and escaping, or after a round keeping its damage and testing LUCK."""
        if moment.step in ("won", "lost"):
            return (KEEP, TEST) if moment.hero[1] else (KEEP,)
        return super().actions(moment)

    def after(self, moment: FightState, action: int) -> Moments:
        """Return the distribution of moments after an action, or after ``"begin"``."""
        if moment.step in ("won", "lost") and moment.hero[0] > 0:
            return self._decided(moment.step == "won", moment.local, moment.hero, action)
        return super().after(moment, action)

    def _round(self, local: Local, hero: Local) -> Moments:
        """Fight one decided round or, without LUCK, all rounds until the next decision."""
        if not self._has_luck:
            return super()._round(local, hero)
        difference = local[3] - self.fight.enemies[local[0]].skill
        return {FightState(s, local, hero): p for s, p in decided_round(difference).items()}

    def _decided(self, won: bool, local: Local, hero: Local, action: int) -> Moments:
        """Deal the damage of a round, and fight on until the next decision."""
        enemy, stamina, rounds, *constants = local
        health, luck = hero
        cases = self._damage.cases(won=won, test=action == TEST, luck=luck)
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


class ResultsTableCombat(Combat):
    """A fight by a table of results.

    Its constants: the factors of the losses of the enemy and of the hero; whether there is an
    escape; the hero's skill in each period between changes, 0 in past ones; and, as far as
    fields determine them, the additional losses of enemy and hero, and whether the hero is
    invulnerable, 0 once that has ended.
    """

    def __init__(self, fight: Fight, book: Book) -> None:
        super().__init__(fight, book)
        described = book.used_in(fight)
        assert isinstance(described, ResultsTable)
        self._columns = described.table.ascending
        safe = fight.invulnerable
        counting = fight.bonuses if safe is None else [*fight.bonuses, safe]
        starts = {1, *(counted.first for counted in counting)}
        starts |= {counted.last + 1 for counted in counting if counted.last is not None}
        self._periods = sorted(starts)
        self._most_rounds = max(self._escape_after, self._periods[-1] - 1)
        besides = (fight.added.enemy, fight.added.hero, 0 if safe is None else safe.holds)
        # What no field decides is no part of a state.
        self._fixed = [None if names(part) else evaluate(part, {}) for part in besides]
        self._decided = [part for part in besides if names(part)]
        computed = (fight.dealt, fight.suffered, *self._decided)
        self._computed = [compiled(part, book.position) for part in computed]

    def constants(self, values: Values) -> Constants:
        """Return the numbers that the fields determine when the fight begins."""
        dealt, suffered, *besides = (part(values) for part in self._computed)
        skill = self._skill_of(values)
        sizes = [(bonus, size(values)) for bonus, size in self._bonuses]
        skills = [skill + sum(s for b, s in sizes if b.counts_in(start)) for start in self._periods]
        escape = int(bool(self._allowed(values)))
        return (dealt, suffered, escape, *skills, *besides)

    @property
    def constant_bounds(self) -> tuple[Range, ...]:
        """The bounds of each constant; those of skill include 0."""

        def of(*parts: object) -> Iterator[Range]:
            return (bounds(part, self._ranges) for part in parts)  # type: ignore[arg-type]

        [(low, high)] = of(self._skill)
        for least, most in of(*(bonus.amount for bonus, _ in self._bonuses)):
            low, high = low + min(least, 0), high + max(most, 0)
        skills = [(min(low, 0), max(high, 0))] * len(self._periods)
        factors = of(self.fight.dealt, self.fight.suffered)
        return (*factors, (0, 1), *skills, *of(*self._decided))

    def is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether there is an escape, and enough rounds have been fought."""
        return bool(constants[2]) and rounds >= self._escape_after

    def blows(self, enemy: int, rounds: int, constants: Constants) -> list[Blow]:
        """Return the losses for each digit; factors and additions leave kills as they are."""
        dealt, suffered, _, *others = constants
        decided = iter(others[len(self._periods) :])
        enemy_besides, hero_besides, safe = (
            next(decided) if fixed is None else fixed for fixed in self._fixed
        )
        when = self.fight.invulnerable
        is_safe = safe and when is not None and when.counts_in(rounds + 1)
        blows = []
        for loss in self._column(enemy, rounds, others).losses:
            struck = None if loss.enemy is None else loss.enemy * dealt + enemy_besides
            hurt = None if loss.hero is None else loss.hero * suffered + hero_besides
            blows.append(Blow(1, struck, 0 if is_safe else hurt))
        return blows

    def _column(self, enemy: int, rounds: int, skills: list[int]) -> Column:
        """Return the column of the round after a number of rounds."""
        period = max(i for i, start in enumerate(self._periods) if start <= rounds + 1)
        difference = skills[period] - self.fight.enemies[enemy].skill
        return next(c for c in self._columns if c.high is None or difference <= c.high)

    def _later(self, constants: Constants, rounds: int) -> Constants:
        dealt, suffered, escape, *others = constants
        for i, end in enumerate(self._periods[1:]):
            if end <= rounds + 1:
                others[i] = 0
        safe = self.fight.invulnerable
        if self._fixed[-1] is None and safe is not None and safe.last is not None:
            others[-1] *= rounds < safe.last
        return (dealt, suffered, escape, *others)

    def _escaped(self, local: Local, hero: Local) -> Moments:
        assert self.fight.escape is not None
        if not self.fight.escape.parting:
            return super()._escaped(local, hero)
        enemy, _, rounds, *constants = local
        result: Moments = {}
        for _, _, hurt in self.blows(enemy, rounds, tuple(constants)):
            left = 0 if hurt is None else max(hero[0] - hurt, 0)
            following = FightState("escaped" if left else "defeat", (), (left,))
            result[following] = result.get(following, Fraction(0)) + Fraction(1, 10)
        return result
