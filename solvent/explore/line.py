"""A line of play: a state and the moves from it, with the cost and the luck of each move.

The address of a page determines the board: a line, the part of it that is shown, and the person's
side. A loaded policy and the games played so far are not part of the address.

In an address a line is its moves, separated by commas, such as ``3:17,0``. A move is the action of
each player, separated by dots, and after a colon the number of the outcome, in the order in which
the rules list the outcomes of the joint action. The number is left out if only one outcome is
possible. Anybody can replay the line from this.

**Luck and skill.** A player's expectation is the sum of the rewards so far and the value of the
state. A move changes it by three parts. If the player's action was not optimal, the player loses
its cost, V*(s) - Q*(s, a), against the other's optimal strategy. If the other player's action was
not optimal, the player gains its cost. The rest is luck: dice, and the actions drawn from mixed
strategies. The mean of luck is 0 for every action if only one player chooses, and if both choose at
once it is 0 if either strategy is optimal. The parts sum to the result, up to rounding.

**Accuracy** is one number for the skill of a player: 1 - (sum of costs) / (sum of stakes), where
the stake of a decision is the cost of its worst action. It is 100% for optimal play and 0% if the
worst action is chosen every time; decisions that matter little count little.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode

from solvent.exact import SolvedGame
from solvent.explore.decision import who_acts
from solvent.model import Game, JointAction, Outcome, ValueScale
from solvent.model.game import Words, deciders, words
from solvent.model.parameters import check_integer, shown
from solvent.model.text import action_names
from solvent.play.session import valued

Query = Mapping[str, str]
"""The part of an address after its question mark."""

NUMBER = re.compile("[0-9]{1,9}")
"""The number of an action or an outcome."""

# The parameters that are carried over from one address of the board to the next.
_KEPT = ("game", "s", "line", "at", "me", "hide", "panel", "quiz", "queue")

QUIZZES = ("drill", "mistakes")
"""Kinds of quizzes: positions drawn at random, and the positions of one's own mistakes."""

# Largest number of moves of a line.
_MOST_PLIES = 5000

# Number of consecutive moves without a choice after which a game counts as never ending.
_MOST_FORCED = 10_000


@dataclass(frozen=True, slots=True)
class Ply:
    """A move with its outcome.

    Attributes:
        state: The state before the move, as a reader sees it.
        joint: The action of each player.
        outcome: The number of the outcome in the list of the rules.
        after: The state after the move.
        words: The move in words.
        story: Description of the chance event; empty if there is none.
        costs: The cost of each player's action, 0 where it was optimal or the only one.
        stakes: The cost of each player's worst action.
        luck: The part of the change that is luck, to player 0.
        total: Rewards so far and the value of what follows, to player 0.
    """

    state: Any
    joint: JointAction
    outcome: int | None
    after: Any
    words: str
    story: str
    costs: tuple[float, float]
    stakes: tuple[float, float]
    luck: float
    total: float

    @property
    def text(self) -> str:
        """The move as it is written in an address."""
        acted = ".".join(map(str, self.joint))
        return acted if self.outcome is None else f"{acted}:{self.outcome}"


@dataclass(frozen=True, slots=True)
class Account:
    """Luck and skill of one player over one line or several.

    Attributes:
        decisions: The number of choices between actions that are not equally good.
        cost: The sum of costs.
        stake: The sum of stakes.
        gift: The sum of the other player's costs.
        luck: The sum of luck.
        start: Expected result at the start.
        result: Final result, or the one expected now.
    """

    decisions: int = 0
    cost: float = 0.0
    stake: float = 0.0
    gift: float = 0.0
    luck: float = 0.0
    start: float = 0.0
    result: float = 0.0

    @property
    def accuracy(self) -> float:
        """The accuracy, as the module defines it; 1 if nothing was at stake."""
        return 1.0 - self.cost / self.stake if self.stake else 1.0

    def __add__(self, other: Self) -> Self:
        """Return the account of both together."""
        return type(self)(
            *(getattr(self, n) + getattr(other, n) for n in self.__dataclass_fields__)
        )


@dataclass(frozen=True, eq=False)
class Line:
    """A line of play.

    Attributes:
        solved: The game with its optimum.
        start: The first state, as a reader sees it.
        plies: The moves.
    """

    solved: SolvedGame
    start: Any
    plies: tuple[Ply, ...] = ()

    @cached_property
    def game(self) -> Game:
        """The game as a reader sees it."""
        rules = self.solved.game
        return rules.for_reader() if isinstance(rules, Words) else rules

    @property
    def state(self) -> Any:
        """The state after the last move, as a reader sees it."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def text(self) -> str:
        """The moves as they are written in an address."""
        return ",".join(ply.text for ply in self.plies)

    @property
    def over(self) -> bool:
        """Return whether the episode has ended."""
        return bool(self.game.is_terminal(self.state))

    @property
    def totals(self) -> list[float]:
        """Rewards so far and the value of what follows, to player 0, before and after each move."""
        return [self.value(self.start), *(ply.total for ply in self.plies)]

    @property
    def total(self) -> float:
        """Rewards so far and the value of what follows, to player 0."""
        return self.plies[-1].total if self.plies else self.value(self.start)

    def solved_state(self, state: Any) -> Any:
        """The state of the solution for one that a reader sees."""
        return words(self.solved.game).from_reader(state)

    def value(self, state: Any) -> float:
        """The value of a state to player 0; 0 if the episode has ended there."""
        if self.game.is_terminal(state):
            return 0.0
        return self.solved.value_of(self.solved_state(state))

    def upto(self, count: int) -> Self:
        """Return the first moves of the line."""
        return self if count >= len(self.plies) else replace(self, plies=self.plies[:count])

    def choosing(self) -> tuple[int, ...]:
        """The players who have a choice now; nobody at the end."""
        return deciders(self.game, self.state)

    def moved(self, joint: JointAction, outcome: int | None, dice: random.Random | None) -> Self:
        """Return the line with one move more.

        Args:
            joint: The action of each player.
            outcome: The number of the outcome; one is drawn if left out.
            dice: Draws the outcome; if left out, only one may be possible.

        Raises:
            ValueError: If an action or an outcome is not allowed here.
        """
        number = f"move {len(self.plies) + 1}"
        if self.over:
            raise ValueError(f"{number}: the episode is over")
        if len(self.plies) >= _MOST_PLIES:
            raise ValueError(f"a line has at most {_MOST_PLIES} moves here")
        state = self.state
        legal = self.game.legal_actions(state)
        if len(joint) != len(legal) or any(
            a not in own for a, own in zip(joint, legal, strict=True)
        ):
            names = [action_names(self.game, state, p).items() for p in range(len(legal))]
            listed = [", ".join(f"{a} ({name})" for a, name in [*own][:12]) for own in names]
            raise ValueError(
                f"{number} is {'.'.join(map(str, joint))}; allowed are {' with '.join(listed)}"
            )
        outcomes = self.game.transition(state, joint)
        if outcome is None and dice is not None:
            weights = [float(one.probability) for one in outcomes]
            [outcome] = dice.choices(range(len(outcomes)), weights)
        elif outcome is None and len(outcomes) > 1:
            raise ValueError(
                f"{number} names no outcome; write a colon and its number, from 0 to "
                f"{len(outcomes) - 1}"
            )
        outcome = outcome or 0
        if not 0 <= outcome < len(outcomes):
            raise ValueError(
                f"{number} has outcome {outcome}; allowed are 0 to {len(outcomes) - 1}"
            )
        ply = self._ply(joint, outcome if len(outcomes) > 1 else None, outcomes[outcome])
        return replace(self, plies=(*self.plies, ply))

    def read(self, text: str, dice: random.Random | None = None, me: int | None = None) -> Self:
        """Return the line with one move more, which is written as in an address.

        Args:
            text: The number of each player's action with dots between them, or the number or the
                name of the action of the only player who chooses; after a colon the number of the
                outcome, if several are possible.
            dice: Draws the outcome if the text has none, and an optimal action of the other player
                if the text has one action and both players choose. If left out, nothing is drawn.
            me: The player whose action the text has if both choose; the first if left out.

        Raises:
            ValueError: If the move is not allowed here.
        """
        acted, colon, outcome = text.rpartition(":")
        if not (colon and NUMBER.fullmatch(outcome)):
            acted, outcome = text, ""
        choosing = () if self.over else self.choosing() or (0,)
        if dice is not None and choosing:
            choosing = (me,) if me in choosing else choosing[:1]
        numbers = acted.split(".")
        if not all(map(NUMBER.fullmatch, numbers)):
            names = {} if len(choosing) != 1 else action_names(self.game, self.state, choosing[0])
            numbers = [str(a) for a, name in names.items() if name.lower() == acted.lower()]
            if not numbers:
                listed = ", ".join(names.values()) or "numbers such as 3, 3:17 and 3.0:17"
                raise ValueError(
                    f"move {len(self.plies) + 1} is {shown(text)}; allowed are {listed}"
                )
        joint = tuple(map(int, numbers))
        if len(joint) == 1 == len(choosing):
            joint = self.drawn({choosing[0]: joint[0]}, dice)
        return self.moved(joint, int(outcome) if outcome else None, dice)

    def _ply(self, joint: JointAction, outcome: int | None, found: Outcome) -> Ply:
        # The story of the dice is the same whenever the line is played again.
        teller = random.Random(f"{len(self.plies)} {joint} {outcome}")
        state, before = self.state, self.total
        total = before - self.value(state) + float(found.reward) + self.value(found.state)
        costs, stakes, told = [0.0, 0.0], [0.0, 0.0], []
        acting = who_acts(self.game, state)
        for player, action in enumerate(joint):
            names = action_names(self.game, state, player)
            if player in acting:
                told.append(names[action])
            if len(names) == 1:
                continue
            own = valued(self.solved, self.solved_state(state), player, names)
            [costs[player]] = (one.cost for one in own if one.number == action)
            stakes[player] = max(one.cost for one in own)
        return Ply(
            state,
            joint,
            outcome,
            found.state,
            " / ".join(told),
            words(self.game).tell(state, joint, found, teller),
            (costs[0], costs[1]),
            (stakes[0], stakes[1]),
            total - before + costs[0] - costs[1],
            total,
        )

    def forced(self, dice: random.Random, player: int | None = None) -> Self:
        """Return the line continued up to the person's next choice.

        Args:
            dice: Draws outcomes, and actions of the other player's optimal strategy.
            player: The person's side; None if a person chooses for both.

        Raises:
            ValueError: If it does not end.
        """
        line = self
        if max(map(len, self.game.info.actions)) == 1:
            return line  # No player ever has a choice, and each move is a click.
        for _ in range(_MOST_FORCED):
            choosing = line.choosing()
            if line.over or (choosing if player is None else player in choosing):
                return line
            line = line.moved(line.drawn({}, dice), None, dice)
        raise ValueError("the game goes on without a choice and does not end")

    def drawn(self, given: Mapping[int, int], dice: random.Random | None) -> JointAction:
        """Return a joint action: that of some players, and of the others an optimal one is drawn.

        Args:
            given: The actions of some players.
            dice: Draws the others; not needed if no other player has a choice.
        """
        joint = []
        for player, own in enumerate(self.game.legal_actions(self.state)):
            action = given.get(player, own[0])
            if player not in given and len(own) > 1:
                assert dice is not None
                strategy = self.solved.policy(self.solved_state(self.state), player)
                [action] = dice.choices(list(strategy), list(strategy.values()))
            joint.append(action)
        return tuple(joint)

    def account(self, player: int) -> Account:
        """Luck and skill of a player over the line."""
        sign = 1 if player == 0 else -1
        scale = ValueScale(self.game.info, player)
        totals = self.totals
        return Account(
            sum(ply.stakes[player] > 0 for ply in self.plies),
            sum(ply.costs[player] for ply in self.plies),
            sum(ply.stakes[player] for ply in self.plies),
            sum(ply.costs[1 - player] for ply in self.plies),
            sign * sum(ply.luck for ply in self.plies),
            scale.of(totals[0]),
            scale.of(totals[-1]),
        )


def costliest(line: Line, player: int | None, most: int) -> list[int]:
    """Return the moves that cost most, by their numbers from 0, the costliest first.

    Args:
        line: The line.
        player: The player whose moves are meant; None for both.
        most: The largest number of moves to return.
    """
    players: Sequence[int] = (0, 1) if player is None else (player,)
    cost = {n: sum(ply.costs[p] for p in players) for n, ply in enumerate(line.plies)}
    return sorted((n for n in cost if cost[n] > 0), key=lambda n: -cost[n])[:most]


def link(page: str, **query: Any) -> str:
    """Return the address of a page on the server.

    Args:
        page: The word for the page.
        query: The parts of the query; those that are None or empty are left out.
    """
    said = {name: value for name, value in query.items() if value is not None and value != ""}
    return f"/{page}?{urlencode(said, safe=',:.')}" if said else f"/{page}"


@dataclass(frozen=True, eq=False)
class View:
    """A view of the board.

    Attributes:
        query: The query of the address.
        line: The whole line.
        at: The number of moves that are shown.
        me: The person's side; None if a person chooses for both.
    """

    query: Query
    line: Line
    at: int
    me: int | None

    @cached_property
    def here(self) -> Line:
        """The line as far as it is shown."""
        return self.line.upto(self.at)

    @property
    def quiz(self) -> str:
        """The way in which the person is asked for the best action; empty if not at all."""
        return self.query.get("quiz", "")

    @property
    def hidden(self) -> bool:
        """Return whether values are hidden: on request while playing, and before an answer."""
        if self.quiz:
            return "answer" not in self.query
        return self.query.get("hide") == "1" and not self.here.over

    def address(self, **changes: Any) -> str:
        """Return the address of the same view with changes.

        Args:
            changes: Parts of the query; None leaves a part out.
        """
        return link("board", **{**{name: self.query.get(name) for name in _KEPT}, **changes})


def number(query: Query, name: str, default: int, low: int, high: int) -> int:
    """Return a whole number of an address.

    Raises:
        ValueError: If it is none, or out of range.
    """
    text = query.get(name, "").strip()
    if not text:
        return default
    whole = re.fullmatch("-?[0-9]{1,15}", text.replace("−", "-"))
    return check_integer(int(whole[0]) if whole else text, name, low, high)


def one_of(query: Query, name: str, allowed: Iterable[int]) -> int | None:
    """Return a number of an address that has to be one of several; None if it is left out.

    Raises:
        ValueError: If it is another.
    """
    text = query.get(name, "").strip()
    if not text:
        return None
    numbers = {str(one): one for one in allowed}
    if text not in numbers:
        listed = ", ".join(list(numbers)[:20])
        raise ValueError(f"{name} is {shown(text)}; allowed are {listed}")
    return numbers[text]
