"""Results-table combat: a digit each round, and a table that says what both sides lose.

The player decides only whether to escape, and only where an escape is open; between decisions the
rounds are one distribution (:mod:`solvent.games.gamebook.combat`). Rounds that change nothing and
are not counted any more are drawn again, so that no state comes twice.

**Order of things.** If hero and enemy would fall in the same round, the hero falls. What is dealt
beyond an enemy's endurance is lost; the next one is fresh. An escape with a parting blow is a last
round in which only the hero loses. What the hero loses besides is lost in this round too, unless
it is one of those in which the hero is invulnerable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from solvent.games.gamebook.book import Column, ResultsTableFight
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
from solvent.games.gamebook.expressions import (
    FALSE,
    Expression,
    bounds,
    compiled,
    evaluate,
    names,
)

Odds: TypeAlias = dict[Standing, Fraction]


class ResultsTableCombat:
    """A fight by a table of results.

    Its ``local`` numbers: the enemy, its endurance, the rounds fought (as far as that matters),
    what losses of the enemy and of the hero are multiplied by, whether there is an escape, the
    hero's skill in each period between changes, 0 in those that are over; and as far as fields
    decide it, what the enemy and the hero lose besides, and whether the hero is invulnerable, 0
    when that is over.

    Args:
        fight: The fight.
        position: Where each field stands among the values.
        ranges: Least and largest value of each field.
    """

    def __init__(
        self,
        fight: ResultsTableFight,
        position: Mapping[str, int],
        ranges: Mapping[str, tuple[int, int]],
    ) -> None:
        self.fight = fight
        self.hero = (position[fight.endurance],)
        self._endurances = [enemy.endurance for enemy in fight.enemies]
        self._most_health = ranges[fight.endurance][1]
        self._escape_after = fight.escape.after if fight.escape else 0
        self._safe = fight.invulnerable
        counting = fight.bonuses if self._safe is None else (*fight.bonuses, self._safe)
        starts = {1, *(b.first for b in counting)}
        starts |= {b.last + 1 for b in counting if b.last is not None}
        self._periods = sorted(starts)
        self._most_rounds = max(self._escape_after, self._periods[-1] - 1)
        self._skill = compiled(fight.skill, position)
        self._bonuses = [(b, compiled(b.size, position)) for b in fight.bonuses]
        self._dealt = compiled(fight.dealt, position)
        self._suffered = compiled(fight.suffered, position)
        safe = FALSE if self._safe is None else self._safe.size
        self._besides = (fight.dealt_besides, fight.suffered_besides, safe)
        # What no field decides is no part of a state.
        self._fixed = [None if names(part) else evaluate(part, {}) for part in self._besides]
        self._decided = [compiled(part, position) for part in self._besides if names(part)]
        self._allowed = compiled(fight.escape.condition, position) if fight.escape else None
        self._ranges = ranges
        self.odds = cache(self._odds)

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Least and largest of each of the local numbers."""

        def of(expression: Expression) -> tuple[int, int]:
            return bounds(expression, self._ranges)

        low, high = of(self.fight.skill)
        for bonus in self.fight.bonuses:
            least, most = of(bonus.size)
            low, high = low + min(least, 0), high + max(most, 0)
        skill = (min(low, 0), max(high, 0))
        return (
            (0, len(self._endurances) - 1),
            (1, max(self._endurances)),
            (0, self._most_rounds),
            of(self.fight.dealt),
            of(self.fight.suffered),
            (0, 1),
            *(skill for _ in self._periods),
            *(of(part) for part in self._besides if names(part)),
        )

    def begin(self, values: Values) -> Local:
        """The local numbers when the fight begins."""
        skill = self._skill(values)
        sizes = [(bonus, size(values)) for bonus, size in self._bonuses]
        skills = [skill + sum(s for b, s in sizes if b.counts_in(start)) for start in self._periods]
        escape = int(self._allowed is not None and bool(self._allowed(values)))
        dealt, suffered = self._dealt(values), self._suffered(values)
        besides = [part(values) for part in self._decided]
        return (0, self._endurances[0], 0, dealt, suffered, escape, *skills, *besides)

    def actions(self, moment: FightState) -> tuple[int, ...]:
        """Fight on, or escape."""
        return (FIGHT_ON, ESCAPE) if moment.step == "escape" else (FIGHT_ON,)

    def after(self, moment: FightState, action: int) -> dict[FightState, Fraction]:
        """What follows a decision, or ``"begin"``."""
        [health] = moment.hero
        if health is None or health <= 0:
            return {FightState("defeat", (), (0,)): ONE}
        if moment.step == "begin" and self._is_open(moment.local[2], moment.local[5]):
            return {moment._replace(step="escape"): ONE}
        if action == ESCAPE:
            return self._escaped(moment.local, health)
        enemy, endurance, rounds, *constants = moment.local
        start = Standing(rounds, enemy, self._endurances[enemy] - endurance, 0)
        enough = enough_loss(health, self._most_health)
        result: dict[FightState, Fraction] = {}
        for standing, p in self.odds(start, tuple(constants), enough).items():
            following = self._moment(standing, constants, health)
            result[following] = result.get(following, Fraction(0)) + p
        return result

    def _is_open(self, rounds: int, escape: int) -> bool:
        return bool(escape) and rounds >= self._escape_after

    def _odds(self, start: Standing, constants: Local, most_loss: int) -> Odds:
        """How the fight can stand at the next decision, for heroes who can lose no more."""
        escape = constants[2]
        return fight_on(
            start,
            self._endurances,
            self._most_rounds,
            most_loss,
            lambda enemy, rounds: self._blows(enemy, rounds, constants),
            lambda standing: self._is_open(standing.rounds, escape),
        )

    def _blows(self, enemy: int, rounds: int, constants: Sequence[int]) -> list[Blow]:
        """What the round that follows so many costs, by its digit; killed is killed."""
        dealt, suffered, _, *others = constants
        decided = iter(others[len(self._periods) :])
        dealt_besides, suffered_besides, safe = (
            next(decided) if fixed is None else fixed for fixed in self._fixed
        )
        safe = safe and self._safe is not None and self._safe.counts_in(rounds + 1)
        blows = []
        for loss in self._column(enemy, rounds, others).losses:
            struck = None if loss.enemy is None else loss.enemy * dealt + dealt_besides
            hurt = None if loss.hero is None else loss.hero * suffered + suffered_besides
            blows.append(Blow(1, struck, 0 if safe else hurt))
        return blows

    def _column(self, enemy: int, rounds: int, skills: Sequence[int]) -> Column:
        """The column of the round that follows so many."""
        period = max(i for i, start in enumerate(self._periods) if start <= rounds + 1)
        difference = skills[period] - self.fight.enemies[enemy].skill
        for column in self.fight.columns:
            if column.high is None or difference <= column.high:
                return column
        raise AssertionError("the last column has no limit")

    def _moment(self, standing: Standing, constants: list[int], health: int) -> FightState:
        if standing.loss >= health:
            return FightState("defeat", (), (0,))
        left = (health - standing.loss,)
        if standing.enemy == len(self._endurances):
            return FightState("victory", (), left)
        dealt, suffered, escape, *others = constants
        for i, end in enumerate(self._periods[1:]):
            if end <= standing.rounds + 1:
                others[i] = 0
        safe = self._safe
        if self._fixed[-1] is None and safe is not None and safe.last is not None:
            others[-1] *= standing.rounds < safe.last
        endurance = self._endurances[standing.enemy] - standing.wounds
        local = (standing.enemy, endurance, standing.rounds, dealt, suffered, escape, *others)
        return FightState("escape", local, left)

    def _escaped(self, local: Local, health: int) -> dict[FightState, Fraction]:
        assert self.fight.escape is not None
        if not self.fight.escape.parting:
            return {FightState("escaped", (), (health,)): ONE}
        enemy, _, rounds, *constants = local
        result: dict[FightState, Fraction] = {}
        for _, _, hurt in self._blows(enemy, rounds, constants):
            left = 0 if hurt is None else max(health - hurt, 0)
            following = FightState("escaped" if left else "defeat", (), (left,))
            result[following] = result.get(following, Fraction(0)) + Fraction(1, 10)
        return result
