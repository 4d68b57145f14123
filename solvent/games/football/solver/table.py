"""The same policies twice: by state of a table, and by situation as the solver has them.

The solver knows situations, [S] of :mod:`solvent.games.football.packed`, and *strategies* over the
calls in each of them. A table (:class:`~solvent.model.TabularGame`) has states: situations of
either team, choices that wait in them, kicks. A :class:`FootballTable` translates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np

from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.position import Position
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import OFFENCE, number_of
from solvent.games.football.solver.backup import Strategies, backup_of
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class FootballTable:
    """A table of a drive or of the game until the next score, and what its states are.

    Attributes:
        game: The table.
        strategy: The game it was made from.
        rules: The rules as arrays.
        offence: [N] the player on offence in each of the table's N states.
        situation: [N] the number of the situation, -1 where there is none.
        choice: [N] the number of the choice that waits, as a column of `Strategies.choices`, else
            -1.
        kickoff: [N] whether a kickoff is to be chosen.
    """

    game: TabularGame
    strategy: FootballStrategy
    rules: PackedRules
    offence: Ints
    situation: Ints
    choice: Ints
    kickoff: Bools

    @classmethod
    def of(cls, game: TabularGame, strategy: FootballStrategy) -> FootballTable:
        """The translation for the table of a game; with the ball both sides play from one chart."""
        assert strategy.form != "points" or not strategy.two_charts
        rules = pack_rules(strategy.loaded_chart, strategy.loaded_ruleset)
        states = cast(Sequence[Position], game.states)
        number = {code: c for c, code in enumerate(strategy.choices)}
        offence, down, to_go, to_goal, punting, choice = np.array(
            [(s.offence, *s.situation, number.get(s.choice, -1)) for s in states], np.int64
        ).T
        situation = number_of(strategy.loaded_ruleset, down - 1 + punting, to_go, to_goal)
        return cls(
            game=game,
            strategy=strategy,
            rules=rules,
            offence=offence,
            situation=np.where(down > 0, situation, -1),
            choice=choice,
            kickoff=np.array([s.phase == "kickoff" for s in states]),
        )

    def policy(
        self, strategies: Strategies, player: int = 0, *, name: str = "policy", kick: int = 0
    ) -> TabularPolicy:
        """Strategies as a player's policy.

        Args:
            strategies: The player's strategies on offence, on defence and in choices; parts that a
                drive does not use are not read.
            player: 0 or 1.
            name: The policy's.
            kick: The kickoff it chooses, 0 or 1 for an onside kick.

        Raises:
            ValueError: If a strategy is no distribution over legal actions.
        """
        actions = self.strategy.actions[player]
        probabilities = np.zeros(self.game.mask[player].shape)
        for states, columns, part in self._parts(strategies, player):
            probabilities[np.ix_(states, columns)] = part[self.situation[states]]
        chosen = self._choices_of(player)
        penalty = strategies.choices[self.situation[chosen], self.choice[chosen]]
        probabilities[chosen, actions.choice] = penalty
        probabilities[chosen, actions.choice + 1] = 1 - penalty
        kicks = np.flatnonzero(self.kickoff & (self.offence == player))
        if len(kicks):  # A drive has no such action.
            probabilities[kicks, actions.kick + kick] = 1.0
        waits = ~self.game.terminal & ~probabilities.any(axis=1)
        probabilities[waits, 0] = 1.0
        return TabularPolicy.of(self.game, probabilities, player=player, name=name)

    def strategies(self, policy: TabularPolicy) -> Strategies:
        """A policy as strategies; where the table has no state, uniform, and no penalty taken."""
        found = backup_of(self.rules).uniform
        found.choices[:] = 0.0
        for states, columns, part in self._parts(found, policy.player):
            part[self.situation[states]] = policy.probabilities[np.ix_(states, columns)]
        chosen = self._choices_of(policy.player)
        taken = policy.probabilities[chosen, self.strategy.actions[policy.player].choice]
        found.choices[self.situation[chosen], self.choice[chosen]] = taken
        return found

    def _parts(self, strategies: Strategies, player: int) -> Iterator[tuple[Ints, Ints, Floats]]:
        """The states in which a player calls, its columns there, and its strategies: by side."""
        calls, mine = (self.situation >= 0) & (self.choice < 0), self.offence == player
        defence = self.strategy.actions[player].defence
        for states, first, part in (
            (calls & mine, 0, strategies.offence),
            (calls & ~mine, defence, strategies.defence),
        ):
            if states.any():
                yield np.flatnonzero(states), first + np.arange(part.shape[1]), part

    def _choices_of(self, player: int) -> Ints:
        """The states in which a player takes a penalty or the play."""
        on_offence = np.append(self.rules.arrays.chooser, -1)[self.choice] == OFFENCE
        takes = on_offence == (self.offence == player)
        return np.flatnonzero((self.choice >= 0) & takes)


_tables: WeakKeyDictionary[TabularGame, FootballTable] = WeakKeyDictionary()


def football_table(game: TabularGame) -> FootballTable | None:
    """The translation for a table of Football Strategy whose parameters say what it is.

    Returns:
        None for a table of another game, of a single play or of two charts until the next score, or
        one made from a chart or a ruleset that its parameters do not name; for that there is
        :meth:`FootballTable.of`.
    """
    if game not in _tables:
        parameters = dict(game.info.parameters)
        if game.info.name != "football-strategy" or parameters["form"] not in ("drive", "points"):
            return None
        try:
            strategy = FootballStrategy(**parameters)
        except (ValueError, OSError):
            return None
        two = strategy.form == "points" and strategy.two_charts
        if strategy.info != game.info or two:
            return None
        _tables[game] = FootballTable.of(game, strategy)
    return _tables[game]
