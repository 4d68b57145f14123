"""Football with a clock, against the optimal player of a solution."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from solvent.games.football.calls import call_sheet
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.solver.call_sheet import action_values, optimal_mix
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.story import roll_play
from solvent.model import JointAction, Outcome
from solvent.model.parameters import shown
from solvent.play.table import Record, Table, Worth, match_name


def play_football(
    solution: TimedSolution,
    *,
    player: int = 0,
    seed: int | None = None,
    hints: bool = True,
    input: Callable[[str], str] = input,
    output: Callable[[str], object] = print,
) -> Record:
    """Let a person play one game.

    After every play it is said what the person's position is worth; at the end, where it was lost.

    Args:
        solution: Of the game, which is also the opponent's.
        player: The person's side, 0 or 1.
        seed: Of the dice; other dice each time if left out.
        hints: Whether to say what positions are worth, and to answer ``?`` with what calls are.
        input: Asks a question and returns the answer; raises EOFError at the end of the input.
        output: Shows a text.

    Returns:
        The decisions with their costs. A play left by ``q``, the end of the input or Ctrl-C has
        no result.

    Raises:
        ValueError: If there is no such player.
    """
    if player not in (0, 1):
        raise ValueError(f"player is {shown(player)}; allowed are 0 and 1")
    table = _FootballTable(
        solution, player, random.Random(seed), hints=hints, ask=input, show=output
    )
    return table.play()


class _FootballTable(Table):
    """Knows the game by the values of a solution, and tells what happens on the field."""

    def __init__(
        self,
        solution: TimedSolution,
        player: int,
        dice: random.Random,
        *,
        hints: bool,
        ask: Callable[[str], str],
        show: Callable[[str], object],
    ) -> None:
        self.solution, self.rules = solution, solution.game
        worth = Worth(not solution.game.for_points, player)
        super().__init__(solution.game, player, worth, dice, hints=hints, ask=ask, show=show)
        self.points = [0, 0]
        # Both are asked for several times in a state.
        self._mix = lru_cache(4)(lambda state, side: optimal_mix(solution, state, side))
        self._values = lru_cache(4)(lambda state: action_values(solution, state, player))

    def play(self) -> Record:
        """From a start to the end, or until the person leaves."""
        if self.worth.is_chance:
            self.show("A tie counts as half a win.")
        return super().play()

    def value(self, state: TimedPosition) -> float:
        return self.solution.value_of(state)

    def action_values(self, state: TimedPosition) -> Mapping[int, float]:
        return {action: self.worth.of(value) for action, value in self._values(state).items()}

    def opponents_mix(self, state: TimedPosition) -> Mapping[int, float]:
        mix: Mapping[int, float] = self._mix(state, 1 - self.player)
        return mix

    def deciding(self, state: TimedPosition) -> tuple[int, ...]:
        if state.phase == "call":
            return (0, 1)
        return () if state.phase == "free kick" else (self.rules.who_decides(state),)

    def labels(self, state: TimedPosition, legal: Sequence[int]) -> Mapping[int, str]:
        return {action: self.rules.actions.names[action] for action in legal}

    def menu(self, state: TimedPosition, names: Mapping[int, str]) -> str:
        sheet = call_sheet(self.rules.loaded_chart, self.rules.actions, list(names))
        if state.phase != "call":
            return f"you: {sheet}"
        return f"you ({'offence' if state.offence == self.player else 'defence'}): {sheet}"

    def match(self, answer: str, names: Mapping[int, str]) -> int | None:
        """By name only: plays are named by numbers that are not those of the actions."""
        return match_name(answer, names)

    def remark(self, state: TimedPosition, action: int) -> str:
        share = self._mix(state, self.player).get(action, 0.0)
        return f"  {100 * share:.1f}% of the mix" if 0 < share < 1 else ""

    def follow(self, state: TimedPosition, joint: JointAction) -> Outcome:
        played = roll_play(self.rules, state, joint, self.dice)
        if played.words:
            self.show(f"{played.words[0].upper()}{played.words[1:]}.")
        if played.points:
            self.points[0 if played.points > 0 else 1] += abs(played.points)
            self.show(f"The score is {self.points[0]} to {self.points[1]}.")
        following: TimedPosition = played.outcome.state
        if self.hints and not self.rules.is_terminal(following):
            before, after = (
                self.worth.of(self.value(position) + paid)
                for position, paid in ((state, 0.0), (following, float(played.outcome.reward)))
            )
            unit = "Your chance of winning" if self.worth.is_chance else "Your points to come"
            to_come = self.worth.of(self.value(following))
            self.show(f"{unit}: {self.worth.text(to_come)} ({self.worth.signed(after - before)}).")
        return played.outcome
