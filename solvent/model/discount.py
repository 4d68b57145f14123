"""Discounting: rewards that count the less the later they come.

With a *discount* g, a number above 0 and below 1, the reward of move t counts g^t, t = 0, 1, 2 and
so on (Sutton and Barto 2018, *Reinforcement Learning*, section 3.3). All else here is undiscounted,
and stays so: the discounted game is made into one that is not. After each move, its reward
collected, the episode goes on with probability g and ends otherwise. Move t is then made with
probability g^t, so that the mean of the sum of rewards is the discounted value (Puterman 1994,
*Markov Decision Processes*, section 5.3). So it is under every policy, in games for one and for
two, and for everything that samples, solves or scores games.

The end that the discount brings is a state of its own, :data:`DISCOUNT_END`, the last one of the
table, also where the game has ends of its own: who has reached the goal has not been stopped on the
way, and visits, labels and drawings tell the two apart. All other states keep their places. A move
that ends the game by its rules needs no chance to go on, and none is drawn.

A game in which play never ends has an end for certain now, whatever the players do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from solvent.model.game import (
    WINS,
    WINS_OR_TIES,
    Alternating,
    Game,
    GameInfo,
    JointAction,
    ModifiedGame,
    Outcome,
)
from solvent.model.parameters import check_discount, shown
from solvent.model.scene import Prose, Scene
from solvent.model.tabular import TabularGame, TabularPolicy

PARAMETER = "discount"
"""The name of the discount among the parameters of a game."""

UNIT = "discounted "
"""The prefix of the unit of a discounted game."""


@dataclass(frozen=True, slots=True)
class DiscountEnd:
    """The state in which an episode ends because it was not to go on.

    It looks like a state in which episodes begin: nobody acts in it, and what networks are shown
    elsewhere stays as it is.
    """


DISCOUNT_END = DiscountEnd()
"""The only one of its class."""


@overload
def discounted(game: TabularGame, discount: Any) -> TabularGame: ...


@overload
def discounted(game: Game, discount: Any) -> Game: ...


def discounted(game: TabularGame | Game, discount: Any) -> TabularGame | Game:
    """The game in which later rewards count less, as one that ends at random.

    Args:
        game: The rules, or their table.
        discount: Factor by which a reward shrinks with every move before it, a number above 0 and
            up to 1, such as 0.9 or ``"9/10"``. With 1 the game is as it was.

    Returns:
        Of a table of S states one of S + 1, of which :data:`DISCOUNT_END` is the last; of rules
        other rules. ``info.parameters`` has the discount, and the unit says that values are
        discounted.

    Raises:
        ValueError: If the discount is no such number, or the game is a discounted one already.
    """
    chance = check_discount(discount)
    if chance == 1:
        return game
    if game.info.discount != 1:
        raise ValueError(
            f"discount is {shown(discount)}, but {game.info.name} is discounted by "
            f"{game.info.discount} already"
        )
    if isinstance(game, TabularGame):
        return _discounted_table(game, chance)
    return (_InTurns if isinstance(game, Alternating) else DiscountedGame)(game, chance)


def undiscounted(game: TabularGame) -> TabularGame:
    """The game of which a table is the discounted one, up to rounding; itself if it is none.

    Args:
        game: A game that :func:`discounted` made of a table.
    """
    discount = game.info.discount
    if discount == 1:
        return game
    end = game.n_states - 1
    kept = game.next_state != end
    goes_on = kept & ~game.terminal[game.next_state]
    before = np.concatenate(([0], np.cumsum(kept)))
    chance = np.where(goes_on, game.probability / float(discount), game.probability)
    info = replace(
        game.info,
        parameters=tuple(pair for pair in game.info.parameters if pair[0] != PARAMETER),
        unit=game.info.unit.removeprefix(UNIT),
        discount=Fraction(1),
    )
    return TabularGame(
        info=info,
        states=tuple(game.states[:-1]),
        row_start=game.row_start[:-1],
        outcome_start=before[game.outcome_start],
        next_state=game.next_state[kept],
        probability=chance[kept],
        outcome_reward=game.outcome_reward[kept],
        mask=(game.mask[0][:-1], game.mask[1][:-1]),
        initial=game.initial[:-1],
        observation=tuple(seen[:-1] for seen in game.observation),
        turn=None if game.turn is None else game.turn[:-1],
    )


def discounted_policy(policy: TabularPolicy, game: TabularGame) -> TabularPolicy:
    """A policy of a game without a discount as one of the discounted game.

    Args:
        policy: Policy for the table without the discount.
        game: The game that :func:`discounted` made of that table.

    Raises:
        ValueError: If the tables do not have the same states and actions.
    """
    probabilities = _with_end(policy.probabilities, 0.0)
    return TabularPolicy.of(game, probabilities, player=policy.player, name=policy.name)


def _discounted_info(info: GameInfo, discount: Fraction) -> GameInfo:
    """The description of the discounted game."""
    plain = float(discount)
    stated: float | str = plain if Fraction(str(plain)) == discount else str(discount)
    # Who is stopped on the way has collected what no whole episode may come to, unless all that
    # is ever paid is a victory.
    is_won = info.unit in (WINS, WINS_OR_TIES)
    return replace(
        info,
        parameters=(*info.parameters, (PARAMETER, stated)),
        unit=f"{UNIT}{info.unit}" if info.unit else "",
        discount=discount,
        reward_range=info.reward_range if is_won else (-np.inf, np.inf),
    )


def _discounted_table(game: TabularGame, discount: Fraction) -> TabularGame:
    """The table of the discounted game; ends of a row with equal rewards are one outcome."""
    goes_on = ~game.terminal[game.next_state]
    end, start = game.n_states, int(np.argmax(game.initial > 0))
    # Both are rounded once, from what is meant.
    stays, stops = float(discount), float(1 - discount)
    row, reward = game.outcome_row[goes_on], game.outcome_reward[goes_on]
    order = np.lexsort((reward, row))
    row, reward = row[order], reward[order]
    differs = (np.diff(row) > 0) | (np.diff(reward) > 0)
    first = np.flatnonzero(np.concatenate(([True], differs))[: len(row)])
    stopped = np.add.reduceat(stops * game.probability[goes_on][order], first)
    # Behind the other outcomes of their rows.
    places = game.outcome_start[row[first] + 1]
    added = np.bincount(row[first], minlength=game.n_rows)
    return TabularGame(
        info=_discounted_info(game.info, discount),
        states=(*game.states, DISCOUNT_END),
        row_start=np.append(game.row_start, game.n_rows),
        outcome_start=game.outcome_start + np.concatenate(([0], np.cumsum(added))),
        next_state=np.insert(game.next_state, places, end),
        probability=np.insert(
            np.where(goes_on, stays * game.probability, game.probability), places, stopped
        ),
        outcome_reward=np.insert(game.outcome_reward, places, reward[first]),
        mask=(_with_end(game.mask[0], False), _with_end(game.mask[1], False)),
        initial=np.append(game.initial, 0.0),
        observation=tuple(_with_end(seen, seen[start]) for seen in game.observation),
        turn=None if game.turn is None else np.append(game.turn, game.turn[start]),
    )


def _with_end(rows: NDArray[Any], end: Any) -> NDArray[Any]:
    """Rows of all states, [S, D], with one more."""
    return np.concatenate((rows, np.full((1, rows.shape[1]), end, rows.dtype)))


@dataclass(frozen=True)
class DiscountedGame(ModifiedGame):
    """The rules of a discounted game; :func:`discounted` makes them.

    Attributes:
        game: The rules without a discount.
        discount: The probability with which an episode goes on after each move.
    """

    game: Game
    discount: Fraction

    @cached_property
    def info(self) -> GameInfo:
        """The game's info, with the discount among its parameters."""
        return _discounted_info(self.game.info, self.discount)

    def table_from(self, table: TabularGame) -> TabularGame:
        """The table, from that of the game."""
        return discounted(table, self.discount)

    @property
    def start(self) -> Any:
        """The state like which the end of the discount looks."""
        return self.game.initial()[0].state

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The outcomes of the game, and after them the ends, by their rewards."""
        outcomes = []
        stopped: dict[Any, Fraction] = {}
        for outcome in self.game.transition(state, joint_action):
            if not self.game.is_terminal(outcome.state):
                left = stopped.get(outcome.reward, Fraction(0))
                stopped[outcome.reward] = left + outcome.probability * (1 - self.discount)
                outcome = outcome._replace(probability=outcome.probability * self.discount)
            outcomes.append(outcome)
        ends = (Outcome(stopped[reward], DISCOUNT_END, reward) for reward in sorted(stopped))
        return (*outcomes, *ends)

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode has ended, by the rules or by the discount."""
        return state == DISCOUNT_END or self.game.is_terminal(state)

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Delegate to the game."""
        return self.game.observe(self.start if state == DISCOUNT_END else state, player)

    def draw(self, state: Any) -> str:
        """Draw the state as the game does; describe the end of the discount in a sentence."""
        if state == DISCOUNT_END:
            return f"The episode has ended: it goes on with probability {self._shown} only."
        return self.game.draw(state)

    @property
    def _shown(self) -> Any:
        return dict(self.info.parameters)[PARAMETER]

    # In words as the game; the end of the discount has no place on a board.

    def place(self, state: Any) -> str:
        if state != DISCOUNT_END:
            return super().place(state)
        return "the end" if super().place(self.start) else ""

    def coordinates(self, state: Any) -> Mapping[str, Any]:
        return super().coordinates(self.start if state == DISCOUNT_END else state)

    def scene(self, state: Any) -> Scene:
        return (Prose("", (self.draw(state),)),) if state == DISCOUNT_END else super().scene(state)

    def labels(self, state: Any) -> Mapping[int, str]:
        return {} if state == DISCOUNT_END else super().labels(state)

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        if outcome.state == DISCOUNT_END:
            return ""  # The drawing of the end says it.
        if state is not None and not self.game.is_terminal(outcome.state):
            outcome = outcome._replace(probability=outcome.probability / self.discount)
        return super().tell(state, joint_action, outcome, dice)

    def from_reader(self, state: Any) -> Any:
        return state if state == DISCOUNT_END else super().from_reader(state)


class _InTurns(DiscountedGame):
    """The rules of a discounted game in which players take turns."""

    def turn(self, state: Any) -> int:
        """Delegate to the game."""
        assert isinstance(self.game, Alternating)
        return self.game.turn(self.start if state == DISCOUNT_END else state)
