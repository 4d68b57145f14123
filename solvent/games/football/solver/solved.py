"""Solved football as the toolkit knows it: a solved game, and strategies as policies on a table.

The solver knows situations, [S] of :mod:`solvent.games.football.packed`, and *strategies* over the
calls in each of them. A table (:class:`~solvent.model.TabularGame`) has states: situations of
either team, choices that wait in them, kicks. A :class:`FootballTable` translates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import Self, cast
from weakref import WeakKeyDictionary

import numpy as np

from solvent.exact import CertificateError, ImproperGameError
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FORMS, FootballStrategy
from solvent.games.football.situation import OFFENCE, Position, number_of
from solvent.games.football.solver.backup import (
    Strategies,
    against_defence,
    against_offence,
    backup_of,
)
from solvent.games.football.solver.points import DriveSolution, solve_drive, solve_points
from solvent.games.football_clock.forms import football_strategy
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints

# Points by which a given value of the kickoff may differ from the endless game's.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class SolvedFootball(DriveSolution):
    """A :class:`solvent.exact.SolvedGame`: values and mixed strategies of all situations.

    Where a penalty and the play have the same value, its policies take the play; where both
    kickoffs have, the ordinary one.

    Attributes:
        game: A drive, or the game until the next score with both sides on one chart.
        rules: Chart and ruleset of the game, as arrays.
        after: The values with which a drive ends.
        value: The value to player 0 at the start.
        lower: A proved lower bound of `value`.
        upper: A proved upper bound of `value`.
    """

    game: FootballStrategy
    rules: PackedRules
    after: ExpectedPoints
    value: float
    lower: float
    upper: float

    method = "Newton's method on the matrix games of all situations"

    def value_of(self, state: Position) -> float:
        """The value of a state, to player 0."""
        if state.phase == "over":
            return 0.0
        if state.phase == "call":
            value = float(self.values[self.rules.index(state.situation)])
            return value if state.offence == 0 else -value
        best = (max, min)[self.game.who_decides(state)]
        return best(self._options(state).values())

    def action_values(self, state: Position, player: int) -> Mapping[int, float]:
        """Return the value to player 0 of each legal action of a player, by action."""
        if state.phase != "call":
            if player == self.game.who_decides(state):
                return self._options(state)
            return {self.game.legal_actions(state)[player][0]: self.value_of(state)}
        sign = 1 if state.offence == 0 else -1
        return {a: sign * value for a, value in self._at(self.calls, state, player).items()}

    def policy(self, state: Position, player: int) -> Mapping[int, float]:
        """The probability of every legal action in an optimal strategy of a player."""
        legal = self.game.legal_actions(state)[player]
        if len(legal) == 1:
            return {legal[0]: 1.0}
        if state.phase == "call":
            return self._at(self.strategies[:2], state, player)
        values = self._options(state)
        # Of equal values the first is taken: the play, or the ordinary kickoff.
        order = legal[::-1] if state.phase == "choice" else legal
        taken = (max, min)[player](order, key=values.__getitem__)
        return {action: float(action == taken) for action in legal}

    def _options(self, state: Position) -> dict[int, float]:
        """The value to player 0 of what is chosen where at most one player chooses, by action."""
        decides = self.game.who_decides(state)
        return {
            joint[decides]: sum(
                float(after.probability) * (float(after.reward) + self.value_of(after.state))
                for after in self.game.transition(state, joint)
            )
            for joint in product(*self.game.legal_actions(state))
        }

    def _at(
        self, of_sides: tuple[Floats, Floats], state: Position, player: int
    ) -> dict[int, float]:
        """The entries of a player's legal calls, from [S, A] of the offence and [S, m]."""
        legal = self.game.legal_actions(state)[player]
        attacks = player == state.offence
        row = of_sides[not attacks][self.rules.index(state.situation)]
        return dict(zip(legal, (row[list(legal)] if attacks else row).tolist(), strict=True))

    def following(self, state: Position | None = None) -> Floats:
        """[U] the values of successors to the offence, the same in all states."""
        return backup_of(self.rules).following(self.view)

    @cached_property
    def calls(self) -> tuple[Floats, Floats]:
        """The values of all calls against the other side's optimal strategy, to the offence.

        [S, A] of the offence's actions, NaN where illegal; [S, m] of the defence's calls.
        """
        backup = backup_of(self.rules)
        payoffs = backup.payoffs(backup.results(self.view)[0])
        offence = against_defence(payoffs, self.strategies.defence)
        return (
            np.where(self.rules.legal, offence, np.nan),
            against_offence(payoffs, self.strategies.offence),
        )

    @property
    def kick(self) -> int:
        """The better kickoff for the side that kicks: 0, or 1 for an onside kick."""
        if self.game.form == "drive":
            return 0
        onside = self.game.actions[1].kick + 1
        return int(self.policy(Position("kickoff", offence=1), 1)[onside])


def solve_football(game: Game) -> SolvedFootball | None:
    """Solve a drive, or the game until the next score; None for what only the general solver can.

    That is the game until the next score with a chart for each side or with a value of the kickoff
    that is not the endless game's, and what cannot be proved to end, as with a play that for
    certain is a penalty at the offence's own goal line.

    Args:
        game: The rules; None for those of another game, too.
    """
    if not isinstance(game, FootballStrategy):
        return None
    if game.form == "points" and game.two_charts:
        return None
    rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
    found: DriveSolution
    try:
        if game.form == "drive":
            after = game.loaded_points
            found = solve_drive(rules, after)
            starts, chances = starts_of(game, rules)
            value, error = (float(chances @ of[starts]) for of in (found.values, found.error))
        else:
            found = points = solve_points(rules)
            after = points.expected_points(rules)
            value, error = after.kickoff, (points.upper - points.lower) / 2
            miss = abs(value - game.kickoff)
            if miss > _SAME:
                return None
            # Right where a score costs as much, the kickoff's value moves no more than that does.
            error = 2 * error + miss if miss else error
    except (ImproperGameError, CertificateError):
        return None
    own = {field.name: getattr(found, field.name) for field in fields(DriveSolution)}
    return SolvedFootball(
        **own,
        game=game,
        rules=rules,
        after=after,
        value=value,
        lower=value - error,
        upper=value + error,
    )


def starts_of(game: FootballStrategy, rules: PackedRules) -> tuple[Ints, Floats]:
    """The numbers of the situations in which a drive may start, and their chances."""
    outcomes = game.initial()
    starts = [rules.index(outcome.state.situation) for outcome in outcomes]
    return np.array(starts), np.array([float(outcome.probability) for outcome in outcomes])


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
    def of(cls, game: TabularGame, strategy: FootballStrategy) -> Self:
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
        for states, columns, part in self.parts(strategies, player):
            probabilities[np.ix_(states, columns)] = part[self.situation[states]]
        chosen = self.choices_of(player)
        penalty = strategies.choices[self.situation[chosen], self.choice[chosen]]
        probabilities[chosen, actions.choice] = penalty
        probabilities[chosen, actions.choice + 1] = 1 - penalty
        kicks = np.flatnonzero(self.kickoff & (self.offence == player))
        if len(kicks):  # A drive has no such action.
            probabilities[kicks, actions.kick + kick] = 1.0
        waits = ~self.game.terminal & ~probabilities.any(axis=1)
        probabilities[waits, 0] = 1.0
        return TabularPolicy.of(self.game, probabilities, player=player, name=name)

    @cached_property
    def optimal(self) -> tuple[TabularPolicy, TabularPolicy] | None:
        """Both players' equilibrium policies; None where football's own solver does not apply."""
        solved = solve_football(self.strategy)
        if solved is None:
            return None
        kick, own = solved.kick, solved.strategies
        first, second = (self.policy(own, p, name="optimal", kick=kick) for p in (0, 1))
        return first, second

    def parts(self, strategies: Strategies, player: int) -> Iterator[tuple[Ints, Ints, Floats]]:
        """The states in which a player calls, its columns there, and its strategies: by side."""
        calls, mine = (self.situation >= 0) & (self.choice < 0), self.offence == player
        defence = self.strategy.actions[player].defence
        for states, first, part in (
            (calls & mine, 0, strategies.offence),
            (calls & ~mine, defence, strategies.defence),
        ):
            if states.any():
                yield np.flatnonzero(states), first + np.arange(part.shape[1]), part

    def choices_of(self, player: int) -> Ints:
        """The states in which a player takes a penalty or the play."""
        on_offence = np.append(self.rules.arrays.chooser, -1)[self.choice] == OFFENCE
        takes = on_offence == (self.offence == player)
        return np.flatnonzero((self.choice >= 0) & takes)


_tables: WeakKeyDictionary[TabularGame, FootballTable] = WeakKeyDictionary()


def football_table(game: TabularGame) -> FootballTable | None:
    """The translation for a table of Football Strategy whose parameters say what it is.

    Returns:
        None for a table of another game, of two charts until the next score, or one made from a
        chart or a ruleset that its parameters do not name; for that there is
        :meth:`FootballTable.of`.
    """
    if game not in _tables:
        parameters = dict(game.info.parameters)
        if game.info.name != "football-strategy" or parameters["form"] not in FORMS:
            return None
        try:
            strategy = football_strategy(**parameters)
        except (ValueError, OSError, CertificateError):
            return None
        assert isinstance(strategy, FootballStrategy)
        two = strategy.form == "points" and strategy.two_charts
        if strategy.info != game.info or two:
            return None
        _tables[game] = FootballTable.of(game, strategy)
    return _tables[game]
