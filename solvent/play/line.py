"""A line of play: a state and the moves from it, with the cost and the luck of each move.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from solvent.exact import SolvedGame
from solvent.model import Game, JointAction, Outcome, ValueScale
from solvent.model.game import Alternating, Words, deciders, words
from solvent.model.parameters import shown
from solvent.model.text import action_names

NUMBER = re.compile("[0-9]{1,9}")
"""The number of an action or an outcome."""

# Largest number of moves of a line that is written, and of moves in a row without a choice.
_MOST_PLIES = 5000

NEGLIGIBLE = 1e-9
"""A cost below this is rounding, and the action is one of the best."""


@dataclass(frozen=True, slots=True)
class ActionValue:
    """An action of a player.

    Attributes:
        number: The number of the action.
        name: The name of the action, in words.
        value: The value of the action, to the player who chooses.
        cost: The loss compared with the best action, at least 0.
        chance: The probability of the action in the optimal strategy.
    """

    number: int
    name: str
    value: float
    cost: float
    chance: float


def valued(
    solved: SolvedGame, state: Any, player: int, names: Mapping[int, str] | None = None
) -> tuple[ActionValue, ...]:
    """Return the legal actions of a player with their values.

    Args:
        solved: The game.
        state: A state of the solution, in which the episode has not ended.
        player: The player.
        names: The names of the actions; those of the game if left out.
    """
    scale = ValueScale(solved.game.info, player)
    names = names or action_names(solved.game, state, player)
    found = {a: scale.of(value) for a, value in solved.action_values(state, player).items()}
    strategy = solved.policy(state, player)
    best = max(found.values())
    return tuple(
        ActionValue(
            action,
            names[action],
            value,
            best - value if best - value >= NEGLIGIBLE else 0.0,
            strategy.get(action, 0.0),
        )
        for action, value in found.items()
    )


def roll(outcomes: Sequence[Outcome], dice: random.Random) -> Outcome:
    """Draw one of several outcomes by its probability.

    Args:
        outcomes: The outcomes.
        dice: The source of randomness.
    """
    [outcome] = dice.choices(outcomes, [float(one.probability) for one in outcomes])
    return outcome


def who_acts(game: Game, state: Any) -> tuple[int, ...]:
    """Return the players with a choice in a state; if nobody has one, the one on turn or player 0.

    Args:
        game: The rules.
        state: A state in which the episode has not ended.
    """
    alone = game.turn(state) if isinstance(game, Alternating) else 0
    return deciders(game, state) or (alone,)


def for_reader(game: Game) -> Game:
    """Return a game as a reader sees it, which may show more than the states that are solved.

    Args:
        game: The rules.
    """
    return game.for_reader() if isinstance(game, Words) else game


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
        best: The name of each player's best action, that of the action taken if it is as good;
            empty where the player had no choice.
        luck: The part of the change that is luck, to player 0.
        reward: The sum of rewards so far, to player 0.
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
    best: tuple[str, str]
    luck: float
    reward: float
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
        seed: A seed of the stories that are told of chance.
    """

    solved: SolvedGame
    start: Any
    plies: tuple[Ply, ...] = ()
    seed: int = 0

    @cached_property
    def game(self) -> Game:
        """The game as a reader sees it."""
        return for_reader(self.solved.game)

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
    def reward(self) -> float:
        """The sum of rewards so far, to player 0."""
        return self.plies[-1].reward if self.plies else 0.0

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
            joint: The action of each player, which must be legal.
            outcome: The number of the outcome; one is drawn if left out.
            dice: Draws the outcome; if left out, only one may be possible.

        Raises:
            ValueError: If there is no such outcome, or it is left open.
        """
        outcomes = self.game.transition(self.state, joint)
        if outcome is None and dice is not None:
            weights = [float(one.probability) for one in outcomes]
            [outcome] = dice.choices(range(len(outcomes)), weights)
        if outcome is None and len(outcomes) == 1:
            outcome = 0
        if outcome is None or outcome >= len(outcomes):
            raise ValueError(
                f"move {len(self.plies) + 1} needs the number of its outcome after a colon, from 0 "
                f"to {len(outcomes) - 1}"
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
        move = f"move {len(self.plies) + 1}"
        if self.over:
            raise ValueError(f"{move}: the episode is over")
        if len(self.plies) >= _MOST_PLIES:
            raise ValueError(f"a line has at most {_MOST_PLIES} moves here")
        acted, colon, outcome = text.rpartition(":")
        if not (colon and NUMBER.fullmatch(outcome)):
            acted, outcome = text, ""
        choosing = self.choosing() or (0,)
        if dice is not None:
            choosing = (me,) if me in choosing else choosing[:1]
        legal = self.game.legal_actions(self.state)
        named = [action_names(self.game, self.state, player) for player in range(len(legal))]
        numbers = acted.split(".")
        if not all(map(NUMBER.fullmatch, numbers)):
            names = named[choosing[0]] if len(choosing) == 1 else {}
            numbers = [str(a) for a, name in names.items() if name.lower() == acted.lower()]
        joint = tuple(map(int, numbers))
        if len(joint) == 1 == len(choosing):
            joint = self.drawn({choosing[0]: joint[0]}, dice)
        if len(joint) != len(legal) or any(
            a not in own for a, own in zip(joint, legal, strict=True)
        ):
            listed = [
                ", ".join(f"{a} ({name})" for a, name in [*own.items()][:12]) for own in named
            ]
            raise ValueError(f"{move} is {shown(text)}; allowed are {' with '.join(listed)}")
        return self.moved(joint, int(outcome) if outcome else None, dice)

    def _ply(self, joint: JointAction, outcome: int | None, found: Outcome) -> Ply:
        # The story of the dice is the same whenever the line is played again.
        teller = random.Random(f"{self.seed} {len(self.plies)} {joint} {outcome}")
        state = self.state
        reward = self.reward + float(found.reward)
        total = reward + self.value(found.state)
        costs, stakes, best, told = [0.0, 0.0], [0.0, 0.0], ["", ""], []
        acting = who_acts(self.game, state)
        for player, action in enumerate(joint):
            names = action_names(self.game, state, player)
            if player in acting:
                told.append(names[action])
            if len(names) == 1:
                continue
            own = valued(self.solved, self.solved_state(state), player, names)
            [taken] = (one for one in own if one.number == action)
            costs[player], stakes[player] = taken.cost, max(one.cost for one in own)
            best[player] = min((taken, *own), key=lambda one: one.cost).name
        return Ply(
            state,
            joint,
            outcome,
            found.state,
            " / ".join(told),
            words(self.game).tell(state, joint, found, teller),
            (costs[0], costs[1]),
            (stakes[0], stakes[1]),
            (best[0], best[1]),
            total - self.total + costs[0] - costs[1],
            reward,
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
        for _ in range(_MOST_PLIES):
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
