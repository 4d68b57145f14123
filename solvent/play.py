"""Play a game in the terminal, with the optimum at hand.

At every decision a person may ask what each action is worth. At the end every decision is priced:
in state s, with V* and Q* the exact values of the game that the opponent's policy leaves, action a
cost V*(s) - Q*(s, a). What the person got is then

    result  =  V*(start)  -  the cost of all decisions  +  chance,

so that bad luck and bad choices are told apart. The first state of the play is taken as the start.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from solvent.exact import Solution, solve
from solvent.model import (
    Game,
    JointAction,
    Outcome,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
)

NEGLIGIBLE = 1e-9
"""A cost below this is rounding, and the action is one of the best."""

MOST_LISTED = 20
"""Of more decisions than this, the review lists only those that cost something."""


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


def play(
    game: Game,
    *,
    player: int = 0,
    opponent: TabularPolicy | None = None,
    seed: int | None = None,
    hints: bool = True,
    input: Callable[[str], str] = input,
    output: Callable[[str], object] = print,
) -> Record:
    """Let a person play one game.

    Args:
        game: The rules.
        player: The person's side, 0 or 1, in a game for two.
        opponent: Policy of the other side; the optimal one if left out.
        seed: Of the dice; other dice each time if left out.
        hints: Whether ``?`` is answered with the exact worth of every action.
        input: Asks a question and returns the answer; raises EOFError at the end of the input.
        output: Shows a text.

    Returns:
        The decisions with their costs. A play left by ``q``, the end of the input or Ctrl-C has
        no result.

    Raises:
        ValueError: If there is no such player, or the policy is not the opponent's in this game.
    """
    if player not in range(game.info.players):
        allowed = " and ".join(str(p) for p in range(game.info.players))
        raise ValueError(f"player is {player!r}; allowed in {game.info.name} are {allowed}")
    table = _Table(game, player, opponent, random.Random(seed), hints, ask=input, show=output)
    return table.play()


class _Table:
    """The person, the opponent and the dice at one table."""

    def __init__(
        self,
        game: Game,
        player: int,
        opponent: TabularPolicy | None,
        dice: random.Random,
        hints: bool,
        *,
        ask: Callable[[str], str],
        show: Callable[[str], object],
    ) -> None:
        self.player, self.dice = player, dice
        self.hints, self.ask, self.show = hints, ask, show
        self.has_labels = hasattr(game, "labels")
        self.game: Game = game.for_reader() if hasattr(game, "for_reader") else game
        self.solved_state: Callable[[Any], Any] = getattr(game, "from_reader", lambda state: state)
        self.opponent: TabularPolicy | None = None
        self.model = compile_game(game)
        if game.info.players == 2:
            self.opponent = opponent or solve(self.model).policies[1 - player]
            if self.opponent.player == player:
                raise ValueError(
                    f"policy {self.opponent.name!r} is for player {player}, which is you"
                )
            self.model = against(self.model, self.opponent)
        elif opponent is not None:
            raise ValueError(f"{game.info.name} is a game for one; it has no opponent")
        self.solution: Solution = solve(self.model)
        self.worth = _Worth(self.model, player)

    def play(self) -> Record:
        """From a start to the end, or until the person leaves."""
        state = self._roll(self.game.initial()).state
        start = self.solution.values[self._index(state)]
        record = Record(self.worth.of(float(start)))
        advice = "? for advice, " if self.hints else ""
        self.show(f"{self.game.info.name}: choose by number or name, {advice}q to leave.")
        if self.opponent is not None:
            self.show(f"You are player {self.player}.")
        reward = 0.0
        try:
            while not self.game.is_terminal(state):
                self.show("")
                self.show(self.game.draw(state))
                joint = self._choose(state, record)
                outcome = self._roll(self.game.transition(state, joint))
                reward += float(outcome.reward)
                state = outcome.state
        except (EOFError, KeyboardInterrupt, _LeaveError):
            self.show("")
            self.show("You leave the game.")
        else:
            self.show("")
            self.show(self.game.draw(state))
            record.result = self.worth.of(reward)
        for line in self._review(record):
            self.show(line)
        return record

    def _names(self, state: Any, legal: Sequence[int]) -> Mapping[int, str]:
        """The person's actions in words, which are its own words in each state of some games."""
        if self.has_labels:
            labels: Mapping[int, str] = self.game.labels(state)  # type: ignore[attr-defined]
            return {action: labels[action].rstrip(".") for action in legal}
        return {action: self.game.info.actions[self.player][action] for action in legal}

    def _choose(self, state: Any, record: Record) -> JointAction:
        """The person's action and the opponent's."""
        legal = self.game.legal_actions(state)
        mine = self._names(state, legal[self.player])
        turn = getattr(self.game, "turn", None)
        waiting = turn is not None and turn(state) != self.player
        if len(mine) > 1:
            action = self._ask(state, mine)
            record.decisions.append(self._price(state, mine, action))
        else:
            [action] = mine
            if not waiting and not self.has_labels:
                self.show(f"There is no choice: {mine[action]}.")
        if self.opponent is None:
            return (action,)
        other = 1 - self.player
        theirs = legal[other]
        weights = self.opponent.probabilities[self._index(state)][list(theirs)]
        [reply] = self.dice.choices(theirs, weights.tolist())
        if waiting or turn is None:
            self.show(f"Player {other} chooses: {self.game.info.actions[other][reply]}.")
        return (action, reply) if self.player == 0 else (reply, action)

    def _ask(self, state: Any, names: Mapping[int, str]) -> int:
        """Ask until the answer is one of the legal actions."""
        # A game with words of its own has written them below the state.
        menu = "" if self.has_labels else "   ".join(f"{a} {name}" for a, name in names.items())
        while True:
            answer = self.ask(f"{menu} > ".lstrip()).strip().lower()
            chosen = self._match(answer, names)
            if chosen is not None:
                return chosen
            if answer in ("q", "quit"):
                raise _LeaveError
            if answer == "?" and self.hints:
                for line in self._advice(state, names):
                    self.show(line)
            elif answer == "?":
                self.show("There is no advice in this game.")
            else:
                self.show(f"{answer!r} is not one of: {', '.join(names.values())}.")

    def _match(self, answer: str, names: Mapping[int, str]) -> int | None:
        """The action meant by its number, its name, or the beginning of one name only."""
        if answer.isdecimal():
            return int(answer) if int(answer) in names else None
        if answer in (exact := {name.lower(): a for a, name in names.items()}):
            return exact[answer]
        begin = [a for name, a in exact.items() if answer and name.startswith(answer)]
        return begin[0] if len(begin) == 1 else None

    def _advice(self, state: Any, names: Mapping[int, str]) -> list[str]:
        """The worth of every action, the best ones marked."""
        prices = [self._price(state, names, action) for action in names]
        width = max(len(price.action) for price in prices)
        return [
            "With the best play afterwards:",
            *(
                f"  {price.action:{width}}  {self.worth.text(self._action_value(state, action))}"
                f"{'  (best)' if price.action == price.best else ''}"
                for action, price in zip(names, prices, strict=True)
            ),
        ]

    def _price(self, state: Any, names: Mapping[int, str], action: int) -> Decision:
        """What an action costs compared with the best one."""
        values = {a: self._action_value(state, a) for a in names}
        best = max(values, key=lambda a: values[a])
        cost = values[best] - values[action]
        if cost < NEGLIGIBLE:
            return Decision(state, names[action], names[action], 0.0)
        return Decision(state, names[action], names[best], cost)

    def _review(self, record: Record) -> list[str]:
        """Every decision with its cost, and where the result came from."""
        lines = [""]
        place = getattr(self.game, "place", None)
        few = len(record.decisions) <= MOST_LISTED
        for number, decision in enumerate(record.decisions, 1):
            verdict = "was best"
            if decision.cost > 0:
                verdict = f"cost {self.worth.difference(decision.cost)}; {decision.best} was better"
            elif not few:
                continue
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

    def _index(self, state: Any) -> int:
        return self.model.index[self.solved_state(state)]

    def _action_value(self, state: Any, action: int) -> float:
        joint = (action, 0) if self.player == 0 else (0, action)
        row = self.model.row(self._index(state), joint)
        return self.worth.of(float(self.solution.action_values[row]))

    def _roll(self, outcomes: Sequence[Outcome]) -> Outcome:
        [outcome] = self.dice.choices(outcomes, [float(o.probability) for o in outcomes])
        return outcome


class _LeaveError(Exception):
    """The person has had enough."""


class _Worth:
    """How a person reads a value: as a chance of winning where it is one, else as points."""

    def __init__(self, game: TabularGame, player: int) -> None:
        self.is_chance = game.win_or_lose
        self.player = player

    def of(self, value: float) -> float:
        """A value to player 0 as it looks to the person."""
        if self.player == 0:
            return value
        return 1 - value if self.is_chance else -value

    def text(self, value: float) -> str:
        return f"{100 * value:.2f}%" if self.is_chance else f"{value:.4f}"

    def signed(self, change: float) -> str:
        return f"{100 * change:+.2f}%" if self.is_chance else f"{change:+.4f}"

    def difference(self, cost: float) -> str:
        return f"{100 * cost:.2f}% of a win" if self.is_chance else f"{cost:.4f} points"
