"""Results-table combat: a digit each round, and a table that says what both sides lose.

The player decides only whether to escape, and only where an escape is open. Rounds that change
nothing and are not counted any more are drawn again, so that no state comes twice.

**Order of things.** The enemy's loss is multiplied by `dealt`, the hero's by `suffered`; then what
is added is lost besides, in every round. If hero and enemy would fall in the same round, the hero
falls. What is dealt beyond an enemy's endurance is lost; the next one is fresh. An escape with a
parting blow is a last round in which only the hero loses. In the rounds in which the hero is
invulnerable the hero loses nothing of all this, and is not killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from solvent.games.gamebook.book import Book, Fight
from solvent.games.gamebook.combat import Combat, Constants, FightState, Moments
from solvent.games.gamebook.combat_description import Column, ResultsTable
from solvent.games.gamebook.expressions import Range, bounds, compiled, evaluate, names
from solvent.games.gamebook.page import Local, Values
from solvent.games.gamebook.rounds import Blow


class ResultsTableCombat(Combat):
    """A fight by a table of results.

    Its constants: what losses of the enemy and of the hero are multiplied by; whether there is an
    escape; the hero's skill in each period between changes, 0 in those that are over; and as far as
    fields decide it, what the enemy and the hero lose besides, and whether the hero is
    invulnerable, 0 when that is over.
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
        """The numbers that the fields decide when the fight begins."""
        dealt, suffered, *besides = (part(values) for part in self._computed)
        skill = self._skill_of(values)
        sizes = [(bonus, size(values)) for bonus, size in self._bonuses]
        skills = [skill + sum(s for b, s in sizes if b.counts_in(start)) for start in self._periods]
        escape = int(bool(self._allowed(values)))
        return (dealt, suffered, escape, *skills, *besides)

    @property
    def constant_bounds(self) -> tuple[Range, ...]:
        """The ends of each constant; those of skill include 0."""

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
        """The results of the digits; killed is killed."""
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
        """The column of the round that follows so many."""
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
