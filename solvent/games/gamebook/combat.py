"""Fights: the moments at which the player decides, and the moments that follow each action.

The rounds between two decisions are one distribution. The hero's loss in them is counted from 0, so
that one calculation serves all heroes: a hero has fallen if the loss is at least the health that
was left. Probabilities are integers over a common power, which is exact without fractions. Both
kinds of combat have these rules in common: enemies are fought one after the other; an escape is
offered before a round, once it is open; and a hero whose health is 0 has lost, even if the enemy
falls in the same round.

**Fighting Fantasy.** The functions of :mod:`solvent.games.fighting_fantasy.rules` give the
probabilities. Drawn rounds are conditioned out and do not count as rounds. LUCK is tested after a
round is won or lost and before its damage. If the book has no LUCK, the rounds between decisions
are one distribution.

**Results table.** A digit is drawn each round. Its row and the column of the difference of skill
give the losses of both sides. The enemy's loss is multiplied by `dealt` and the hero's by
`suffered`; then the added losses are added, in every round. Damage beyond an enemy's endurance does
not carry over to the next enemy. An escape with a parting blow is a last round in which only the
hero loses. In rounds in which the hero is invulnerable, the hero loses nothing and is not killed.
Rounds that change nothing and need no longer be counted are drawn again, so that no state occurs
twice.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from math import inf, lcm
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    decided,
    round_probabilities,
)
from solvent.games.gamebook.book import Book, Fight
from solvent.games.gamebook.effects import ONE
from solvent.games.gamebook.expressions import (
    Expression,
    Range,
    add,
    bounds,
    compiled,
    gathered,
    names,
    total,
)
from solvent.games.gamebook.hero import FightingFantasyEntry, Losses, holds
from solvent.games.gamebook.page import Local, Values
from solvent.model import TooManyStatesError

# Largest endurance of hero and enemies together in rounds without a decision.
_MOST_ENDURANCE = 5_000

# The actions when an escape is open. The first also keeps the damage when LUCK may be tested.
_FIGHT_ON, _ESCAPE = 0, 1

Constants: TypeAlias = tuple[int, ...]
"""The numbers of a fight that are computed when it begins."""


class Standing(NamedTuple):
    """The state of a fight before a round.

    Attributes:
        rounds: Number of rounds fought, counted only as long as it makes a difference.
        enemy: Index of the enemy, from 0; the number of enemies when all have fallen.
        wounds: Health that this enemy has lost.
        loss: Health that the hero has lost.
    """

    rounds: int
    enemy: int
    wounds: int
    loss: int


class FightState(NamedTuple):
    """A moment of a fight.

    Attributes:
        step: ``"begin"``; a decision: ``"escape"`` or, after a round, ``"won"`` or ``"lost"``; or
            the result: ``"victory"``, ``"defeat"`` or ``"escaped"``.
        local: The enemy, its remaining health, the rounds fought (as long as that matters), and
            the constants; empty once the fight is over.
        values: The values of the fields.
    """

    step: str
    local: Local
    values: Values


Moments: TypeAlias = dict[FightState, Fraction]


class FightRules:
    """A fight of a book.

    In Fighting Fantasy its constants are the hero's SKILL with bonuses in each period between
    changes, and whether there is an escape. With a results table they are the factors of the
    enemy's and of the hero's losses; whether there is an escape; the hero's skill in each period;
    and, if they depend on fields, the additional losses of the enemy and of the hero, and whether
    the hero is invulnerable. A constant that is no longer needed is 0.

    Args:
        fight: The fight.
        book: The book.

    Attributes:
        bounds: The smallest and largest value of each local number.
    """

    def __init__(self, fight: Fight, book: Book) -> None:
        self.fight = fight
        self._rules = rules = book.used_in(fight)
        self._spent = [book.position[name] for name in book.spent_in(fight)]
        self._healths = [enemy.health for enemy in fight.enemies]
        self._most_health = book.ranges[rules.health][1]
        self._escape_after = fight.escape.after if fight.escape else 0
        safe = fight.invulnerable
        counting = [*fight.bonuses, *([] if safe is None else [safe])]
        ends_after = {counted.rounds[1] or 0 for counted in counting}
        self._periods = sorted({1, *(c.first for c in counting), *(n + 1 for n in ends_after)})
        self._most_rounds = max(self._escape_after, self._periods[-1] - 1)
        # Each constant with the number of rounds after which it is no longer needed.
        skills: list[tuple[Expression, float]] = [
            (
                total((rules.skill, *(b.amount for b in fight.bonuses if b.counts_in(start)))),
                end - 1,
            )
            for start, end in zip(self._periods, [*self._periods[1:], inf], strict=True)
        ]
        escape = holds(fight.escape.when) if fight.escape else 0
        factors = (fight.dealt, fight.suffered, fight.added.enemy, fight.added.hero)
        changes: list[tuple[Expression, float]] = [
            *((part, inf) for part in factors),
            (holds(safe.when), safe.rounds[1] or inf) if safe else (0, inf),
        ]
        if isinstance(rules, FightingFantasyEntry):
            parts, always = [*skills, (escape, inf)], 0
            self._first_skill, self._is_allowed = 0, len(skills)
        else:
            parts, always = [*changes[:2], (escape, inf), *skills], 2
            self._first_skill, self._is_allowed = 3, 2
        # Numbers that depend on no field are not part of a state.
        parts += [change for change in changes[always:] if names(change[0])]
        self._changes: list[Callable[[Constants], int]] = [
            itemgetter(parts.index(change)) if change in parts else compiled(change[0], {})
            for change in changes
        ]
        self._needed_until = [until for _, until in parts]
        self._constants = [compiled(part, book.position) for part, _ in parts]
        ends = [bounds(part, book.ranges) for part, _ in parts]
        self.bounds: tuple[Range, ...] = (
            (0, len(self._healths) - 1),
            (1, max(self._healths)),
            (0, self._most_rounds),
            *((min(low, 0), max(high, 0)) for low, high in ends),
        )
        self._odds = cache(self._fight_on)

    def begin(self, values: Values) -> Local:
        """Return the local numbers when the fight begins."""
        return (0, self._healths[0], 0, *(int(part(values)) for part in self._constants))

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """Return the actions at a moment: fight on and escape, or keep the damage and test LUCK."""
        if moment.step in ("won", "lost"):
            return (KEEP, TEST) if moment.values[self._spent[1]] else (KEEP,)
        return (_FIGHT_ON, _ESCAPE) if moment.step == "escape" else (_FIGHT_ON,)

    def after(self, moment: FightState, action: int) -> Moments:
        """Return the distribution of moments after an action, or after ``"begin"``."""
        step, local, values = moment
        if self._health(values) <= 0:
            return {FightState("defeat", (), values): ONE}
        if step == "begin":
            return self._before_round(local, values)
        if step in ("won", "lost"):
            return self._decided(step == "won", local, values, action)
        return self._escaped(local, values) if action == _ESCAPE else self._round(local, values)

    def _health(self, values: Values) -> int:
        """Return the hero's health, which is part of every moment of the fight."""
        return values[self._spent[0]] or 0

    def _left(self, values: Values, *numbers: int) -> Values:
        """Return values with a new health, and with a new LUCK if two numbers are given."""
        found = list(values)
        for place, number in zip(self._spent, numbers, strict=False):
            found[place] = number
        return tuple(found)

    def _is_open(self, rounds: int, constants: Constants) -> bool:
        """Return whether the hero may escape after a number of rounds."""
        return bool(constants[self._is_allowed]) and rounds >= self._escape_after

    def _before_round(self, local: Local, values: Values) -> Moments:
        if self._is_open(local[2], local[3:]):
            return {FightState("escape", local, values): ONE}
        return self._round(local, values)

    def _escaped(self, local: Local, values: Values) -> Moments:
        assert self.fight.escape is not None
        if not self.fight.escape.parting:
            return {FightState("escaped", (), values): ONE}
        enemy, _, rounds, *constants = local
        losses = self._losses(enemy, rounds, tuple(constants))
        result: Moments = {}
        for (_, hurt), weight in losses.items():
            left = 0 if hurt is None else max(self._health(values) - hurt, 0)
            after = FightState("escaped" if left else "defeat", (), self._left(values, left))
            add(result, after, Fraction(weight, losses.total()))
        return result

    def _round(self, local: Local, values: Values) -> Moments:
        """Fight until the next decision; with LUCK, that is after one round that is not a draw."""
        enemy, left, rounds, *numbers = local
        constants = tuple(numbers)
        if len(self._spent) > 1:
            odds = decided(round_probabilities(self._difference(enemy, rounds, constants)))
            return {FightState(step, local, values): p for step, p in odds.items()}
        start = Standing(rounds, enemy, self._healths[enemy] - left, 0)
        # A loss at which the hero has fallen, the same for heroes of similar health.
        enough = min(self._most_health, 1 << (self._health(values) - 1).bit_length())
        found = self._odds(start, constants, enough).items()
        return gathered((self._moment(after, constants, values), p) for after, p in found)

    def _decided(self, won: bool, local: Local, values: Values, action: int) -> Moments:
        """Deal the damage of a round, and fight until the next decision."""
        assert isinstance(self._rules, FightingFantasyEntry)
        enemy, left, rounds, *constants = local
        health, luck = self._health(values), values[self._spent[1]] or 0
        start = Standing(rounds, enemy, self._healths[enemy] - left, 0)
        cases = self._rules.damage.cases(won=won, test=action == TEST, luck=luck)
        result: Moments = {}
        for probability, points, luck_left in filter(itemgetter(0), cases):
            losses = self._changed((points, 0) if won else (0, points), rounds, tuple(constants))
            standing = self._struck(start, losses, health)
            now = self._left(values, health, luck_left)
            moment = self._moment(standing, tuple(constants), now)
            following = {moment: ONE}
            if moment.step == "escape":
                following = self._before_round(moment.local, moment.values)
            for moment, p in following.items():
                add(result, moment, probability * p)
        return result

    def _moment(self, standing: Standing, constants: Constants, values: Values) -> FightState:
        """Return the moment of a standing: a result, or before a round."""
        health = max(self._health(values) - standing.loss, 0)
        left = self._left(values, health)
        if not health:
            return FightState("defeat", (), left)
        if standing.enemy == len(self._healths):
            return FightState("victory", (), left)
        # Numbers that are no longer needed become 0.
        needed = zip(constants, self._needed_until, strict=True)
        later = (number * (standing.rounds < until) for number, until in needed)
        remaining = self._healths[standing.enemy] - standing.wounds
        return FightState("escape", (standing.enemy, remaining, standing.rounds, *later), left)

    def _difference(self, enemy: int, rounds: int, constants: Constants) -> int:
        """Return the difference of skill in the round after a number of rounds."""
        period = max(i for i, start in enumerate(self._periods) if start <= rounds + 1)
        return constants[self._first_skill + period] - self.fight.enemies[enemy].skill

    def _losses(self, enemy: int, rounds: int, constants: Constants) -> Counter[Losses]:
        """Return the possible losses in the round after a number of rounds, with their weights."""
        difference = self._difference(enemy, rounds, constants)
        if not isinstance(self._rules, FightingFantasyEntry):
            results = self._rules.table.results(difference)
            return Counter(self._changed(losses, rounds, constants) for losses in results)
        won, _, lost = round_probabilities(difference)
        damage = self._rules.damage
        # Both are multiples of 1/1296; what is missing to 1 are draws.
        weights = {
            self._changed((damage.won, 0), rounds, constants): int(won * 1296),
            self._changed((0, damage.lost), rounds, constants): int(lost * 1296),
        }
        return +Counter(weights)

    def _changed(self, losses: Losses, rounds: int, constants: Constants) -> Losses:
        """Return losses with factors and additions, which leave kills as they are."""
        changes = (change(constants) for change in self._changes)
        dealt, suffered, enemy_more, hero_more, is_safe = changes
        enemy, hero = losses
        safe = self.fight.invulnerable
        if is_safe and safe is not None and safe.counts_in(rounds + 1):
            hero, hero_more = 0, 0
        return (
            None if enemy is None else enemy * dealt + enemy_more,
            None if hero is None else hero * suffered + hero_more,
        )

    def _struck(self, now: Standing, losses: Losses, most_loss: int) -> Standing:
        """Return the standing after a round."""
        enemy, hero = losses
        health = self._healths[now.enemy]
        loss = most_loss if hero is None else min(now.loss + hero, most_loss)
        wounds = health if enemy is None else now.wounds + enemy
        rounds, falls = min(now.rounds + 1, self._most_rounds), wounds >= health
        return Standing(rounds, now.enemy + falls, 0 if falls else wounds, loss)

    def _fight_on(
        self, start: Standing, constants: Constants, most_loss: int
    ) -> dict[Standing, Fraction]:
        """Fight until every enemy or the hero has fallen, or an escape is open; at least once.

        A round in which nobody loses anything and that is no longer counted is fought again.

        Args:
            start: The standing at the start.
            constants: The constants of the fight.
            most_loss: Loss with which the hero has fallen.

        Raises:
            TooManyStatesError: If the endurance exceeds ``_MOST_ENDURANCE``.
        """
        last, most_rounds = len(self._healths), self._most_rounds
        left = sum(self._healths[start.enemy :]) - start.wounds
        if left + most_loss > _MOST_ENDURANCE:
            message = f"a fight with {left + most_loss} points of endurance is too long"
            cure = f"allowed are {_MOST_ENDURANCE} without a decision"
            raise TooManyStatesError(f"{message}; {cure}")
        table: dict[tuple[int, int], Counter[Losses]] = {}
        for enemy in range(start.enemy, last):
            for rounds in range(start.rounds, most_rounds + 1):
                table[enemy, rounds] = self._losses(enemy, rounds, constants)
            del table[enemy, most_rounds][0, 0]
        base = lcm(*(row.total() for row in table.values()))
        whole = base ** (most_rounds - start.rounds + left + most_loss - start.loss)
        # Every round raises a standing in the order of tuples, so the least is complete.
        mass = {start: whole}
        queue = [start]
        done: dict[Standing, Fraction] = {}
        while queue:
            now = heappop(queue)
            weight = mass.pop(now)
            over = now.enemy == last or now.loss == most_loss
            if over or (now != start and self._is_open(now.rounds, constants)):
                done[now] = Fraction(weight, whole)
                continue
            row = table[now.enemy, now.rounds]
            # A standing is reached in fewer rounds than the power has factors, so this has no rest.
            share = weight // row.total()
            for losses, times in row.items():
                after = self._struck(now, losses, most_loss)
                if after not in mass:
                    mass[after] = 0
                    heappush(queue, after)
                mass[after] += share * times
        return done
