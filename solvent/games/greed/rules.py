"""Greed, a dice game for two in which each roll may use any number of dice.

The rules are those of "A Guide to Optimization and Optimal Play in Greed" (Addis 2023). Both
players start at 0. The player on turn chooses a number of dice, rolls them and adds their sum to
the score. A score above the limit is a bust and loses at once. Rolling no dice, a *stand*, opens
the last turn: the other player moves once more (and may stand too), then the higher score wins
and equal scores are a tie.

**State.** ``(player, scores, phase)``: who is on turn, both scores, and whether the move is an
ordinary one (``"play"``), the last (``"last"``), or play has ended (``"over"``). A score of one
more than the limit stands for every bust. After the end nobody is on turn and `player` is 0.

**Payoffs.** To player 0: 1 for a victory, 1/2 for a tie, 0 for a defeat, so the value is player
0's winning chance with ties counted half, the source's *rating*. Player 1 receives the negative,
as in every game here; adding 1 gives player 1's rating.

**How many dice.** The source allows any number. With `room` points left below the limit, more
than N = ceil(2 room / (sides + 1)) dice are never better than N, and a roll may use at most N.
Proof: let p_n(t) be the chance that n dice sum to t. It is symmetric about n (sides + 1) / 2 and
unimodal, and p_{n+1}(t) is the mean of the `sides` values of p_n just below t. For
t <= n (sides + 1) / 2 the value p_n(t) is at least each of them, so p_{n+1}(t) <= p_n(t). All sums
up to `room` satisfy this when n >= N, and larger sums are a bust, so every sum that is of use is
at most as likely with n + 1 dice as with n. The game keeps its value.

**Errata of the source.** It sums ratings without the factor p_T(t) and without the cut-off at the
limit; "{0 if n=1 else 0}", the flag of the last turn, should read {1 if n=0 else 0}; the pmf of a
negative argument, which its last-turn formula asks for when the mover is ahead, is 0; and rolling
two dice at (2, 6) leads to the four states listed only if the dice have 2 sides, of which (6, 7)
is impossible and should be left out.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    WINS_OR_TIES,
    GameInfo,
    JointAction,
    Outcome,
    Rules,
    TabularGame,
    TooManyStatesError,
    dice_sum,
    probability_at_most,
)
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.dice import dice_showing, ways_to_sum
from solvent.model.parameters import check_integer
from solvent.model.scene import Cell, Gauge, Pieces, Prose, Scene

STAND = 0
"""The action of rolling no dice; action n rolls n."""

# The most dice that are listed one by one; of more, only the sum is shown.
_MOST_DICE_TOLD = 60

LARGEST_TABLE = 100_000_000
"""`tabulate` refuses to list more outcomes than this (some 2 GB)."""


# Ordinary play, the last turn, and the end.
_PHASES = ("play", "last", "over")


class Position(NamedTuple):
    """The player on turn, both scores, and the phase: ``"play"``, ``"last"`` or ``"over"``."""

    player: int
    scores: tuple[int, int]
    phase: str


Room = TypeVar("Room", int, Ints)


def most_dice(room: Room, sides: int) -> Room:
    """Return the largest number of dice that can be of use (see the module).

    Args:
        room: Points left below the limit, a number or an array of them.
        sides: Sides of each die.
    """
    return -(-2 * room // (sides + 1))


@dataclass(frozen=True)
class Greed(Rules):
    """Greed, dice for two: high scores win, those above the limit lose.

    Args:
        limit: Largest score that is not a bust, within 1..10000.
        sides: Sides of each die, within 1..10000.

    Raises:
        ValueError: If a parameter is not a whole number or out of its range.
    """

    limit: int = 100
    sides: int = 6

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.limit, "limit", 1, 10_000)
        check_integer(self.sides, "sides", 1, 10_000)

    start = Position(0, (0, 0), "play")

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        rolls = (f"roll {n}" for n in range(1, self.most_dice(0) + 1))
        return GameInfo(
            name="greed",
            players=2,
            actions=(("stand", *rolls),) * 2,
            acyclic=True,
            reward_range=(0.0, 1.0),
            sources=("Addis 2023, A Guide to Optimization and Optimal Play in Greed",),
            parameters=(("limit", self.limit), ("sides", self.sides)),
            observation_labels=("my turn", "my score", "other score", "last turn", "over"),
            unit=WINS_OR_TIES,
        )

    def most_dice(self, score: int) -> int:
        """Return the largest number of dice that can be of use at a score (see the module)."""
        return most_dice(self.limit - score, self.sides)

    def turn(self, state: Position) -> int:
        """Return the player on turn."""
        return state.player

    def legal_actions(self, state: Position) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of dice of the player on turn; the other player waits."""
        mine = tuple(range(self.most_dice(state.scores[state.player]) + 1))
        return (mine, (STAND,)) if state.player == 0 else ((STAND,), mine)

    def transition(self, state: Position, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Stand, or roll the dice: sums that stay within the limit ascending, then the bust."""
        dice = joint_action[state.player]
        if dice == STAND and state.phase == "play":
            return (Outcome(Fraction(1), Position(1 - state.player, state.scores, "last")),)
        score = state.scores[state.player]
        sums = dice_sum(dice, self.sides).items()
        reached = {score + total: p for total, p in sums if score + total <= self.limit}
        if bust := 1 - sum(reached.values(), Fraction(0)):
            reached[self.limit + 1] = bust
        return tuple(self._outcome(state, after, p) for after, p in reached.items())

    def _outcome(self, state: Position, score: int, probability: Fraction) -> Outcome:
        """Return the next position when the player on turn reaches a score."""
        other = state.scores[1 - state.player]
        scores = (score, other) if state.player == 0 else (other, score)
        if state.phase == "last" or score > self.limit:
            return Outcome(probability, Position(0, scores, "over"), self._payoff(scores))
        return Outcome(probability, Position(1 - state.player, scores, "play"))

    def _payoff(self, scores: tuple[int, int]) -> Fraction | int:
        """Return player 0's rating of final scores, of which at most one is a bust."""
        mine, other = (-1 if score > self.limit else score for score in scores)
        return Fraction(1, 2) if mine == other else int(mine > other)

    def is_terminal(self, state: Position) -> bool:
        """Return whether a player is bust or the last turn has been taken."""
        return state.phase == "over"

    def observe(self, state: Position, player: int) -> NDArray[np.float32]:
        """Return whose turn it is, both scores over limit + 1, and flags of the phase."""
        phase = _PHASES.index(state.phase)
        one = np.array([state.player]), np.array([state.scores]), np.array([phase])
        return np.asarray(_observations(*one, self.limit + 1)[player][0])

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of both scores."""
        return {"scores": tuple(f"score of {self.player_name(player)}" for player in (0, 1))}

    def scene(self, state: Position) -> Scene:
        """Draw both scores as bars, and the dice, with the odds of going bust, or the result.

        A click on a die rolls all up to it.
        """
        bars = tuple(
            Gauge(
                f"{self.player_name(player)}{', bust' * (score > self.limit)}",
                min(score, self.limit),
                self.limit,
                kind=("first", "second")[player],
            )
            for player, score in enumerate(state.scores)
        )
        if self.is_terminal(state):
            paid = self._payoff(state.scores)
            winner = f"{self.player_name(int(paid == 0))} wins."
            return (*bars, Prose("", (winner if paid in (0, 1) else "A tie.",)))
        most = self.most_dice(state.scores[state.player])
        dice = tuple(Cell(str(k), "", k, f"roll {k}") for k in range(1, most + 1))
        # A few numbers of dice, evenly spread, the largest among them.
        numbers = sorted({-(-most * part // 4) for part in range(1, 5)} - {0})
        room = self.limit - state.scores[state.player]
        safe = (float(probability_at_most(room, n, self.sides)) for n in numbers)
        odds = (f"{1 - p:.0%} with {n}" for n, p in zip(numbers, safe, strict=True))
        told = ["This is the last turn."] * (state.phase == "last")
        told += [f"Odds of a bust: {', '.join(odds)}."] * (most > 0)
        return (*bars, Pieces("dice to roll", "dice", dice), Prose("", tuple(told)))

    def explain(self, action: int, player: int) -> str:
        """Return a short description of an action."""
        if action == STAND:
            return "roll nothing; the other side has the last turn"
        return "their sum is added to your score"

    def tell(
        self,
        state: Position | None,
        joint_action: JointAction,
        outcome: Outcome,
        dice: random.Random,
    ) -> str:
        """Return the dice that were rolled, and their sum."""
        if state is None or joint_action[state.player] == STAND:
            return ""
        count, score = joint_action[state.player], state.scores[state.player]
        total = outcome.state.scores[state.player] - score
        if bust := score + total > self.limit:
            sums = range(max(total, count), count * self.sides + 1)
            [total] = dice.choices(sums, [ways_to_sum(t, count, self.sides) for t in sums])
        rolled = f"{count} dice" if count > 1 else "1 die"
        if count <= _MOST_DICE_TOLD:
            faces = dice_showing(total, count, self.sides, dice)
            rolled += ": " + " ".join(map(str, faces))
        end = f"; {score + total} is above {self.limit}, bust" if bust else ""
        return f"{rolled} = {total}{end}."

    def tabulate(self) -> TabularGame:
        """Return the arrays of the game (rows and outcomes as `transition` orders them).

        Raises:
            TooManyStatesError: If there are more outcomes than :data:`LARGEST_TABLE`.
        """
        return _tabulate(self)


def _tabulate(game: Greed) -> TabularGame:
    """Build the arrays block by block.

    A block holds the states that share phase, player on turn and that player's score: the same
    rolls are legal in them and have the same sums. Final scores are first numbered as pairs of any
    two scores, in the end as those pairs that occur.
    """
    top, size = game.limit + 1, game.limit + 2
    if not fits_a_table(game):
        raise TooManyStatesError(
            f"greed with limit {game.limit} and sides {game.sides} has more than {LARGEST_TABLE} "
            f"outcomes, too many for a table; solvent.games.greed.solver solves it without one"
        )
    templates = [_template(game, score) for score in range(top)]
    live, final = _live_positions(game), np.zeros((size, size), bool)
    index = np.where(live, np.cumsum(live).reshape(live.shape) - 1, -1)
    phase, player, mine, other = np.nonzero(live)
    reached = np.append(np.arange(top), -1)  # The last score is a bust.
    payoff = (np.sign(np.subtract.outer(reached, reached)) + 1) / 2
    # Narrow types, since there may be tens of millions.
    next_state: NDArray[Any] = np.empty(
        sum(len(templates[score][1]) for score in mine.tolist()), np.int32
    )
    reward: NDArray[Any] = np.empty(len(next_state), np.float32)
    probability, lengths, end = np.empty(len(next_state)), [], 0
    for last, mover, score in np.argwhere(live.any(axis=3)).tolist():
        outcomes, scores, chances = templates[score]
        opponents = np.flatnonzero(live[last, mover, score])
        both = (scores, opponents[:, None])[:: 1 - 2 * mover]
        over = (scores == top) | bool(last)
        onward = index[0, 1 - mover][np.ix_(opponents, np.minimum(scores, game.limit))]
        target = np.where(over, len(phase) + both[0] * size + both[1], onward)
        if not last:
            target[:, 0] = index[1, 1 - mover, opponents, score]
        final[both] |= over
        begin, end = end, end + target.size
        next_state[begin:end] = target.reshape(-1)
        reward[begin:end] = np.where(over, payoff[both], 0).reshape(-1)
        probability[begin:end] = np.tile(chances, len(opponents))
        lengths.append(np.tile(outcomes, len(opponents)))

    numbers: NDArray[Any] = np.append(np.arange(len(phase)), len(phase) - 1 + np.cumsum(final))
    numbers = numbers.astype(np.int32)
    ends = np.argwhere(final)
    scores = np.concatenate((np.where(player == 0, (mine, other), (other, mine)).T, ends))
    phases, turn = np.full((2, len(scores)), [[2], [0]])
    phases[: len(phase)], turn[: len(phase)] = phase, player
    row_count = np.zeros(len(scores), np.int64)
    row_count[: len(phase)] = np.array([len(outcomes) for outcomes, _, _ in templates])[mine]
    return TabularGame(
        info=game.info,
        states=tuple(
            Position(who, (first, second), _PHASES[p])
            for who, (first, second), p in zip(
                turn.tolist(), scores.tolist(), phases.tolist(), strict=True
            )
        ),
        row_start=np.append(0, np.cumsum(row_count)),
        outcome_start=np.append(0, np.cumsum(np.concatenate(lengths))),
        next_state=numbers[next_state],
        probability=probability,
        outcome_reward=reward,
        mask=_masks(row_count, turn),
        initial=(np.arange(len(scores)) == 0).astype(float),
        observation=_observations(turn, scores, phases, top),
        turn=turn,
    )


def _template(game: Greed, score: int) -> tuple[Ints, Ints, Floats]:
    """Return the rolls from a score: their numbers of outcomes, the new scores, their chances.

    Chances are the floats nearest to the rationals.
    """
    room = game.limit - score
    lengths: list[int] = []
    scores: list[int] = []
    probability: list[float] = []
    for dice in range(game.most_dice(score) + 1):
        exactly, more = _chances(dice, game.sides)
        safe = max(min(len(exactly), room - dice + 1), 0)
        bust = safe < len(exactly)
        scores += range(score + dice, score + dice + safe)
        probability += exactly[:safe]
        if bust:
            scores.append(game.limit + 1)
            probability.append(more[safe])
        lengths.append(safe + bust)
    return np.array(lengths), np.array(scores), np.array(probability)


def _live_positions(game: Greed) -> Bools:
    """Return which nonterminal positions can occur: [last, player, own score, other's score].

    Any score from 1 to the limit can be reached in one roll. When player 0 is on turn in
    ordinary play both have rolled equally often; when player 1 is, player 0 has rolled once more.
    """
    live = np.zeros((2, 2, game.limit + 1, game.limit + 1), bool)
    live[0, 0, 0, 0] = True
    live[0, 0, 1:, 1:] = True
    live[0, 1, 0, 1:] = True
    live[0, 1, 1:, 2:] = True
    live[1, 0], live[1, 1] = live[0, 1].T, live[0, 0].T
    return live


@cache
def _chances(dice: int, sides: int) -> tuple[list[float], list[float]]:
    """Return the chance of each sum, from the least on, and of that sum or more."""
    exactly = list(dice_sum(dice, sides).values())
    more = accumulate(reversed(exactly))
    return [float(p) for p in exactly], [float(p) for p in more][::-1]


def fits_a_table(game: Greed) -> bool:
    """Return whether the outcomes, slightly overcounted, number at most :data:`LARGEST_TABLE`."""

    def outcomes(room: int) -> int:
        dice = np.arange(most_dice(room, game.sides) + 1)
        sums = np.minimum(dice * game.sides, room) - dice + 1
        return int((np.maximum(sums, 0) + 1).sum())

    opponents = 4 * (game.limit + 1)
    return opponents * sum(map(outcomes, range(game.limit + 1))) <= LARGEST_TABLE


def _masks(row_count: Ints, turn: Ints) -> tuple[Bools, Bools]:
    """Return the legal actions of both players, [S, A]; a waiting player has the first."""
    actions = np.arange(row_count.max())
    legal = actions < row_count[:, None]
    waiting = (actions == STAND) & (row_count > 0)[:, None]
    first, second = (np.where((turn == player)[:, None], legal, waiting) for player in (0, 1))
    return first, second


def _observations(
    turn: Ints, scores: Ints, phases: Ints, top: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the observations of `Greed.observe`, for all states at once."""
    first, second = (
        np.stack(
            (
                (turn == player) & (phases < 2),
                scores[:, player] / top,
                scores[:, 1 - player] / top,
                phases == 1,
                phases == 2,
            ),
            axis=1,
        ).astype(np.float32)
        for player in (0, 1)
    )
    return first, second
