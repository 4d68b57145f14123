"""A person, an opponent and the dice at one table: who is asked what, and what it cost."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from solvent.model import Game, JointAction, Outcome

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
    """What happened in one play.

    Attributes:
        start_value: V* at the first state, to the person.
        decisions: In order.
        result: What the person got in the end, or None if the play was left.
    """

    start_value: float = 0.0
    decisions: list[Decision] = field(default_factory=list)
    result: float | None = None

    @property
    def cost(self) -> float:
        """What all decisions together cost."""
        return sum(decision.cost for decision in self.decisions)


@dataclass(frozen=True)
class Worth:
    """How a person reads a value: as a chance of winning where it is one, else as points.

    Args:
        is_chance: Whether values are chances of winning.
        player: The person's side.
    """

    is_chance: bool
    player: int

    def of(self, value: float) -> float:
        """A value to player 0 as it looks to the person."""
        if self.player == 0:
            return value
        return 1 - value if self.is_chance else -value

    def text(self, value: float) -> str:
        """A value to the person."""
        return f"{100 * value:.2f}%" if self.is_chance else f"{value:.4f}"

    def signed(self, change: float) -> str:
        """A change, with its sign."""
        return f"{100 * change:+.2f}%" if self.is_chance else f"{change:+.4f}"

    def difference(self, cost: float) -> str:
        """A loss, with its unit."""
        return f"{100 * cost:.2f}% of a win" if self.is_chance else f"{cost:.4f} points"


class LeaveError(Exception):
    """The person has had enough."""


class Table(ABC):
    """One play of a game.

    Args:
        game: The rules by which it is played and drawn.
        player: The person's side.
        worth: How the person reads values.
        dice: Where chance and the opponent's mixes come from.
        hints: Whether ``?`` is answered.
        ask: Asks a question and returns the answer.
        show: Shows a text.
    """

    def __init__(
        self,
        game: Game,
        player: int,
        worth: Worth,
        dice: random.Random,
        *,
        hints: bool,
        ask: Callable[[str], str],
        show: Callable[[str], object],
    ) -> None:
        self.game, self.player, self.worth, self.dice = game, player, worth, dice
        self.hints, self.ask, self.show = hints, ask, show

    @abstractmethod
    def value(self, state: Any) -> float:
        """What is still to come is worth to player 0, if the person plays best from here."""

    @abstractmethod
    def action_values(self, state: Any) -> Mapping[int, float]:
        """What each action of the person is worth to player 0, with the best play afterwards."""

    @abstractmethod
    def opponents_mix(self, state: Any) -> Mapping[int, float]:
        """The probabilities of the opponent's actions."""

    @abstractmethod
    def deciding(self, state: Any) -> tuple[int, ...]:
        """The players who act, whether they have a choice or not."""

    @abstractmethod
    def labels(self, state: Any, legal: Sequence[int]) -> Mapping[int, str]:
        """The person's actions in words."""

    @abstractmethod
    def menu(self, state: Any, names: Mapping[int, str]) -> str:
        """What stands before the question; empty if the state's drawing says it."""

    def play(self) -> Record:
        """From a start to the end, or until the person leaves."""
        state = self.roll(self.game.initial()).state
        record = Record(self.worth.of(self.value(state)))
        advice = "? for advice, " if self.hints else ""
        self.show(f"{self.game.info.name}: choose by number or name, {advice}q to leave.")
        if self.game.info.players == 2:
            self.show(f"You are player {self.player}.")
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
            record.result = self.worth.of(reward)
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

    def match(self, answer: str, names: Mapping[int, str]) -> int | None:
        """The action meant by its number, its name, or the beginning of one name only."""
        if answer.isdecimal():
            return int(answer) if int(answer) in names else None
        return match_name(answer, names)

    def advice(self, state: Any, names: Mapping[int, str]) -> list[str]:
        """The worth of every action, the best ones marked."""
        prices = self._prices(state, names)
        width = max(map(len, names.values()))
        return [
            "With the best play afterwards:",
            *(
                f"  {names[action]:{width}}  {self.worth.text(value)}"
                f"{'  (best)' if decision.cost == 0 else ''}{self.remark(state, action)}"
                for action, (value, decision) in prices.items()
            ),
        ]

    def remark(self, state: Any, action: int) -> str:
        """What is added to a line of advice."""
        return ""

    def _choose(self, state: Any, record: Record) -> JointAction:
        """The person's action and the opponent's."""
        legal = self.game.legal_actions(state)
        deciding = self.deciding(state)
        action = legal[self.player][0]
        if len(legal[self.player]) > 1:
            names = self.labels(state, legal[self.player])
            action = self._ask(state, names)
            record.decisions.append(self._prices(state, names)[action][1])
        elif self.player in deciding:
            self.tell_no_choice(self.labels(state, legal[self.player])[action])
        if self.game.info.players == 1:
            return (action,)
        other = 1 - self.player
        reply = legal[other][0]
        if other in deciding:
            mix = self.opponents_mix(state)
            [reply] = self.dice.choices(list(mix), list(mix.values()))
            self.show(f"Player {other} chooses: {self.game.info.actions[other][reply]}.")
        return (action, reply) if self.player == 0 else (reply, action)

    def tell_no_choice(self, name: str) -> None:
        """Say what the person does for want of another action."""
        self.show(f"There is no choice: {name}.")

    def _ask(self, state: Any, names: Mapping[int, str]) -> int:
        """Ask until the answer is one of the legal actions."""
        menu = self.menu(state, names)
        while True:
            answer = self.ask(f"{menu} > ".lstrip()).strip().lower()
            # Before any name that begins so, such as that of the quick kick.
            if answer in ("q", "quit") and answer not in names.values():
                raise LeaveError
            chosen = self.match(answer, names)
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
        """What every action is worth to the person, and what it costs compared with the best."""
        values = {a: self.worth.of(value) for a, value in self.action_values(state).items()}
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
        place = getattr(self.game, "place", None)
        listed = list(enumerate(record.decisions, 1))
        if len(listed) > MOST_LISTED:
            dear = sorted(listed, key=lambda one: one[1].cost, reverse=True)[:MOST_LISTED]
            listed = sorted(one for one in dear if one[1].cost > 0)
        for number, decision in listed:
            verdict = "was best"
            if decision.cost > 0:
                verdict = f"cost {self.worth.difference(decision.cost)}; {decision.best} was better"
            where = f", {place(decision.state)}" if place is not None else ""
            lines.append(f"Decision {number}{where}: {decision.action} {verdict}.")
        total = self.worth.difference(record.cost) if record.cost else "nothing"
        count = len(record.decisions)
        lines.append(f"{count} decision{'' if count == 1 else 's'}, which cost {total} in all.")
        if record.result is not None:
            chance = record.result - record.start_value + record.cost
            lines.append(
                f"Optimum at the start {self.worth.text(record.start_value)}, your decisions "
                f"{self.worth.signed(-record.cost)}, chance {self.worth.signed(chance)}: "
                f"{self.worth.text(record.result)}."
            )
        return lines


def match_name(answer: str, names: Mapping[int, str]) -> int | None:
    """The action meant by its name, or by the beginning of one name only."""
    exact = {name.lower(): action for action, name in names.items()}
    if answer in exact:
        return exact[answer]
    begin = [action for name, action in exact.items() if answer and name.startswith(answer)]
    return begin[0] if len(begin) == 1 else None
