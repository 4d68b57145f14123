"""A person, an opponent and the dice: who is asked what, and what it cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from solvent.exact import SolvedGame
from solvent.model import Game, JointAction, Outcome, ValueScale
from solvent.model.game import Abridged, Alternating, Labelled, Placed

Strategy: TypeAlias = Callable[[Any], Mapping[int, float]]
"""From a state to the probability of every legal action."""

NEGLIGIBLE = 1e-9
"""A cost below this is rounding, and the action is one of the best."""

MOST_LISTED = 20
"""Of more decisions than this, the review lists only those that cost something, the dearest."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between at least two actions.

    Attributes:
        state: Where it was taken.
        action: The name of the action taken.
        best: The name of the best one (the lowest index on ties; `action` if that is as good).
        cost: V*(s) - Q*(s, a) to the person, at least 0.
    """

    state: Any
    action: str
    best: str
    cost: float


@dataclass(slots=True)
class Record:
    """What happened in one episode.

    Attributes:
        start_value: V* at the first state, to the person.
        decisions: In order.
        result: What the person got in the end, or None if the episode was left.
    """

    start_value: float = 0.0
    decisions: list[Decision] = field(default_factory=list)
    result: float | None = None

    @property
    def cost(self) -> float:
        """What all decisions together cost."""
        return sum(decision.cost for decision in self.decisions)


class LeaveError(Exception):
    """The person has had enough."""


class Session:
    """One episode of a game: a person, an opponent and the dice.

    Args:
        solved: The game that the person faces, with its optimum.
        player: The person's side.
        opponent: The other side's action probabilities in a state.
        dice: Where chance and the opponent's actions come from.
        hints: Whether ``?`` is answered.
        ask: Asks a question and returns the answer.
        show: Shows a text.
    """

    def __init__(
        self,
        solved: SolvedGame,
        player: int,
        opponent: Strategy,
        dice: random.Random,
        *,
        hints: bool,
        ask: Callable[[str], str],
        show: Callable[[str], object],
    ) -> None:
        rules = solved.game
        self.solved, self.player, self.opponent, self.dice = solved, player, opponent, dice
        self.hints, self.ask, self.show = hints, ask, show
        # What is shown may be more than the states that are solved.
        self.game: Game = rules.for_reader() if isinstance(rules, Abridged) else rules
        self.solved_state: Callable[[Any], Any] = (
            rules.from_reader if isinstance(rules, Abridged) else lambda state: state
        )
        self.scale = ValueScale(rules.info, player)

    def value(self, state: Any) -> float:
        """The value of a state to the person, who plays best from there."""
        return self.scale.of(self.solved.value_of(self.solved_state(state)))

    def acting(self, state: Any) -> tuple[int, ...]:
        """The players who act, whether they have a choice or not."""
        if isinstance(self.game, Alternating):
            return (self.game.turn(state),)
        return tuple(range(self.game.info.players))

    def names(self, state: Any, legal: Sequence[int]) -> Mapping[int, str]:
        """The person's actions in words, which some games have of their own for each state."""
        if isinstance(self.game, Labelled):
            labels = self.game.labels(state)
            return {action: labels[action].rstrip(".") for action in legal}
        return {action: self.game.info.actions[self.player][action] for action in legal}

    def menu(self, state: Any, names: Mapping[int, str]) -> str:
        """What stands before the question; empty if the state's drawing says it."""
        if isinstance(self.game, Labelled):
            return ""
        return "   ".join(f"{action} {name}" for action, name in names.items())

    def opening(self) -> list[str]:
        """What is said before the first state."""
        advice = "? for advice, " if self.hints else ""
        lines = [f"{self.game.info.name}: choose by number or name, {advice}q to leave."]
        return lines + [f"You are player {self.player}."] * (self.game.info.players == 2)

    def play(self) -> Record:
        """From a start to the end, or until the person leaves."""
        state = self.roll(self.game.initial()).state
        record = Record(self.value(state))
        for line in self.opening():
            self.show(line)
        reward = 0.0
        try:
            while not self.game.is_terminal(state):
                self.show("")
                self.show(self.game.draw(state))
                outcome = self.follow(state, self._choose(state, record))
                reward += float(outcome.reward)
                state = outcome.state
        except (EOFError, KeyboardInterrupt, LeaveError):
            self.show("")
            self.show("You leave the game.")
        else:
            self.show("")
            self.show(self.game.draw(state))
            record.result = self.scale.of(reward)
        for line in self._review(record):
            self.show(line)
        return record

    def follow(self, state: Any, joint: JointAction) -> Outcome:
        """What comes of both sides' actions."""
        return self.roll(self.game.transition(state, joint))

    def roll(self, outcomes: Sequence[Outcome]) -> Outcome:
        """One of several outcomes by its probability."""
        [outcome] = self.dice.choices(outcomes, [float(o.probability) for o in outcomes])
        return outcome

    def advice(self, state: Any, names: Mapping[int, str]) -> list[str]:
        """The value of every action, the best ones marked, and a mixed strategy."""
        prices = self._prices(state, names)
        strategy = self.solved.policy(self.solved_state(state), self.player)
        width = max(map(len, names.values()))
        lines = ["With the best play afterwards:"]
        for action, (value, decision) in prices.items():
            best = "  (best)" if decision.cost == 0 else ""
            share = strategy[action]
            mixed = f"  {100 * share:.1f}% of the mixed strategy" if 0 < share < 1 else ""
            lines.append(f"  {names[action]:{width}}  {self.scale.text(value)}{best}{mixed}")
        return lines

    def _choose(self, state: Any, record: Record) -> JointAction:
        """The person's action and the opponent's."""
        legal = self.game.legal_actions(state)
        acting = self.acting(state)
        action = legal[self.player][0]
        if len(legal[self.player]) > 1:
            names = self.names(state, legal[self.player])
            action = self._ask(state, names)
            record.decisions.append(self._prices(state, names)[action][1])
        elif self.player in acting and not isinstance(self.game, Labelled):
            name = self.game.info.actions[self.player][action]
            self.show(f"There is no choice: {name}.")
        if self.game.info.players == 1:
            return (action,)
        other = 1 - self.player
        reply = legal[other][0]
        if other in acting:
            chances = self.opponent(self.solved_state(state))
            [reply] = self.dice.choices(list(chances), list(chances.values()))
            self.show(f"Player {other} chooses: {self.game.info.actions[other][reply]}.")
        return (action, reply) if self.player == 0 else (reply, action)

    def _ask(self, state: Any, names: Mapping[int, str]) -> int:
        """Ask until the answer is one of the legal actions."""
        menu = self.menu(state, names)
        while True:
            answer = self.ask(f"{menu} > ".lstrip()).strip().lower()
            # Before any name that begins so, such as that of the quick kick.
            if answer in ("q", "quit") and answer not in names.values():
                raise LeaveError
            chosen = match(answer, names)
            if chosen is not None:
                return chosen
            if answer == "?" and self.hints:
                for line in self.advice(state, names):
                    self.show(line)
            elif answer == "?":
                self.show("There is no advice in this game.")
            else:
                self.show(f"{answer!r} is not one of: {', '.join(names.values())}.")

    def _prices(self, state: Any, names: Mapping[int, str]) -> dict[int, tuple[float, Decision]]:
        """The value of every action to the person, and what it costs compared with the best."""
        found = self.solved.action_values(self.solved_state(state), self.player)
        values = {action: self.scale.of(value) for action, value in found.items()}
        best = max(values, key=lambda action: values[action])
        prices = {}
        for action, value in values.items():
            cost = values[best] - value
            decision = Decision(state, names[action], names[best], cost)
            if cost < NEGLIGIBLE:
                decision = Decision(state, names[action], names[action], 0.0)
            prices[action] = (value, decision)
        return prices

    def _review(self, record: Record) -> list[str]:
        """The decisions with their costs, and where the result came from."""
        lines = [""]
        listed = list(enumerate(record.decisions, 1))
        if len(listed) > MOST_LISTED:
            dear = sorted(listed, key=lambda one: one[1].cost, reverse=True)[:MOST_LISTED]
            listed = sorted(one for one in dear if one[1].cost > 0)
        for number, decision in listed:
            verdict = "was best"
            if decision.cost > 0:
                verdict = f"cost {self.scale.difference(decision.cost)}; {decision.best} was better"
            where = f", {self.game.place(decision.state)}" if isinstance(self.game, Placed) else ""
            lines.append(f"Decision {number}{where}: {decision.action} {verdict}.")
        total = self.scale.difference(record.cost) if record.cost else "nothing"
        count = len(record.decisions)
        lines.append(f"{count} decision{'' if count == 1 else 's'}, which cost {total} in all.")
        if record.result is not None:
            chance = record.result - record.start_value + record.cost
            lines.append(
                f"Optimum at the start {self.scale.text(record.start_value)}, your decisions "
                f"{self.scale.signed(-record.cost)}, chance {self.scale.signed(chance)}: "
                f"{self.scale.text(record.result)}."
            )
        return lines


def match(answer: str, names: Mapping[int, str]) -> int | None:
    """The action meant by its name, its number, or the beginning of one name only.

    A number is a name where names are numbers, and that of an action elsewhere.
    """
    exact = {name.lower(): action for action, name in names.items()}
    if answer in exact:
        return exact[answer]
    if answer.isdecimal() and not any(name.isdecimal() for name in exact):
        return int(answer) if int(answer) in names else None
    begin = [action for name, action in exact.items() if answer and name.startswith(answer)]
    return begin[0] if len(begin) == 1 else None
