"""The solution of a form: what the start is worth, and every other position.

In stores the chance of winning and half that of a tie stand less one half, which makes them
antisymmetric; here they are as one says them, between 0 and 1. Points are the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from solvent.exact.layered.folder import SheetFolder
from solvent.exact.layered.solve import proved_errors
from solvent.exact.layered.store import SheetStore
from solvent.games.football.packed import pack_rules
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.call_sheet import action_values, optimal_mix, to_other
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.model.arrays import Floats
from solvent.model.parameters import shown


class Place(NamedTuple):
    """Where a position's value stands.

    Attributes:
        sheet: Which sheet.
        row: In it: a situation, the kickoff or the free kick.
        column: In it: the lead of the side that has the ball or kicks.
        player: That side.
    """

    sheet: Sheet
    row: int
    column: int
    player: int


def layout_for(game: TimedFootball) -> Layout:
    """The layout of a game's states.

    Raises:
        ValueError: If the ruleset's probabilities have no common denominator below 2^53.
    """
    rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
    return Layout(rules, game.loaded_clock, game.form)


def place_of(layout: Layout, position: TimedPosition) -> Place:
    """Where the value of a call or a kick stands.

    Raises:
        ValueError: If the position has another phase: then its value is in no sheet.
    """
    side, half = position.offence, position.half
    timeouts = position.timeouts
    if position.phase == "call":
        row = layout.rules.index(position.situation)
    elif position.phase in ("kickoff", "free kick"):
        row = layout.kickoff_row + (position.phase == "free kick")
    else:
        raise ValueError(f"phase is {shown(position.phase)}; sheets hold calls and kicks only")
    return Place(
        sheet=layout.moment(half, position.ticks, timeouts[side], timeouts[1 - side]),
        row=row,
        column=layout.column(
            half,
            position.margin if side == 0 else -position.margin,
            receives=position.receiver == side,
        ),
        player=side,
    )


@dataclass(frozen=True, eq=False)
class TimedSolution:
    """A form of football with a clock, solved.

    Args:
        store: All its sheets, in memory or in a folder.
        game: The same form, with the start that is meant.

    Raises:
        ValueError: If a sheet is not solved.
    """

    store: SheetStore
    game: TimedFootball

    method = "backward induction layer by layer"

    def __post_init__(self) -> None:
        """Check that all is solved."""
        missing = next(self.store.missing, None)
        if missing is not None:
            raise ValueError(f"the solution is not complete: {missing} is not solved")

    @classmethod
    def open(
        cls, folder: str | Path, game: TimedFootball | None = None, *, verify: bool = False
    ) -> TimedSolution:
        """Open a solution in a folder.

        Args:
            folder: That holds it.
            game: What it has to be a solution of, with the start that is meant; whatever it is,
                from its usual start, unless given.
            verify: Whether to check all sheets now, not each when it is first read.

        Raises:
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        layout = None if game is None else layout_for(game)
        store = SheetFolder.open(folder, layout, verify=verify)
        if game is None:
            rules, clock = store.layout.rules, store.layout.clock
            game = TimedFootball(rules.chart, store.layout.form, rules.ruleset, clock)
        return cls(store, game)

    @property
    def layout(self) -> Layout:
        """How the states are laid out."""
        return self.store.layout

    @cached_property
    def start(self) -> TimedPosition:
        """With which the game begins."""
        [outcome] = self.game.initial()
        start: TimedPosition = outcome.state
        return start

    @cached_property
    def value(self) -> float:
        """The value of the start to player 0: points, or a win's chance and half of a tie's."""
        return self.value_of(self.start)

    @cached_property
    def error(self) -> float:
        """Proved bound of the error of `value`."""
        return self.errors[place_of(self.layout, self.start).sheet]

    @cached_property
    def errors(self) -> dict[Sheet, float]:
        """Proved bound of the error of the values of every sheet."""
        return proved_errors(self.store)

    @property
    def lower(self) -> float:
        """The value is no less."""
        return self.value - self.error

    @property
    def upper(self) -> float:
        """The value is no more."""
        return self.value + self.error

    @property
    def largest_gap(self) -> float:
        """The largest duality gap of all matrix games."""
        return self.store.largest_gap

    def values(self, sheet: Sheet) -> Floats:
        """[S + 2, C] the values of a sheet as they are stored: chances less one half, or points."""
        return self.store.read(sheet)

    def value_of(self, position: TimedPosition) -> float:
        """What is still to come is worth to player 0, whatever the phase.

        That is the chance of winning with half that of a tie; or the points from now on. It is 0
        when the game is over, and its reward is paid.
        """
        if position.phase == "over":
            return 0.0
        if position.phase not in ("choice", "time-out"):
            place = place_of(self.layout, position)
            value = float(self.values(place.sheet)[place.row, place.column])
            value = value if place.player == 0 else 0.0 - value
            return value if self.layout.for_points else 0.5 + value
        legal = self.game.legal_actions(position)
        chooser = 0 if len(legal[0]) > 1 else 1
        best = max if chooser == 0 else min
        other = legal[1 - chooser][0]
        return best(
            self._expected(position, (action, other) if chooser == 0 else (other, action))
            for action in legal[chooser]
        )

    def action_values(self, state: TimedPosition, player: int) -> Mapping[int, float]:
        """What each legal action of a player leads to against optimal play of the other.

        Args:
            state: In which play goes on.
            player: 0 or 1.

        Returns:
            Values to player 0, by action.
        """
        own = action_values(self, state, player)
        return own if player == 0 else {action: to_other(self, own[action]) for action in own}

    def policy(self, state: TimedPosition, player: int) -> Mapping[int, float]:
        """An optimal strategy of a player in a position.

        Of decisions that are equally good it takes the plain one: no time-out, the ordinary
        kickoff.

        Args:
            state: In which play goes on.
            player: 0 or 1.

        Returns:
            The probability of every legal action.
        """
        chances = optimal_mix(self, state, player)
        legal = self.game.legal_actions(state)[player]
        return {action: chances.get(action, 0.0) for action in legal}

    def _expected(self, position: TimedPosition, actions: tuple[int, int]) -> float:
        return sum(
            float(outcome.probability) * (float(outcome.reward) + self.value_of(outcome.state))
            for outcome in self.game.transition(position, actions)
        )
