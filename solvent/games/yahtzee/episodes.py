"""Episodes of Yahtzee that are sampled without a table, from the arrays of the rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Batch, BatchSimulator
from solvent.envs.kernels import advance, draw_of
from solvent.games.yahtzee.arrays import Int32s, RuleArrays, rules_arrays
from solvent.games.yahtzee.layers import YahtzeeLayers
from solvent.games.yahtzee.rules import LARGEST_POINTS, OVER, Turn, Yahtzee
from solvent.games.yahtzee.turn_kernel import end_of, fill
from solvent.model.arrays import Bools, Ints
from solvent.model.compiled import njit
from solvent.model.parameters import check_choice, check_integer

OBSERVATIONS = ("vector", "onehot")

# Forms with at most this many states are sampled from a table.
_TABLE_STATES = 20_000


class EpisodeStates(NamedTuple):
    """The states of n episodes, arrays [n].

    Attributes:
        filled: Bit mask of the filled boxes.
        upper: Points of the upper section.
        bonus: Whether another Yahtzee has a bonus.
        hand: Number of the roll on the table, or 0.
        rolls: Number of rolls left in the turn.
    """

    filled: Int32s
    upper: Int32s
    bonus: Int32s
    hand: Int32s
    rolls: Int32s


def width(rules: RuleArrays, onehot: bool) -> int:
    """Return the number of entries of an observation.

    Args:
        rules: The form.
        onehot: Whether the observation consists of indicators only.
    """
    boxes, dice = len(rules.plain), rules.dice.shape[1] * len(rules.match)
    upper = rules.bonus_at + 1 if onehot else boxes + 1
    return int(dice + rules.rolls + 1 + boxes + upper + 1)


@njit(inline="always")
def legal(rules: RuleArrays, filled: int, hand: int, rolls: int, mask: NDArray[np.int8]) -> None:
    """Write the legal actions of a state; all actions once all boxes are filled.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        hand: Number of the roll on the table, or 0.
        rolls: Number of rolls left.
        mask: [A], filled.
    """
    keeps, boxes = rules.kept.shape[1], len(rules.plain)
    for m in range(keeps):
        mask[m] = 1 if rolls > 0 and rules.kept[hand, m] >= 0 else 0
    for b in range(boxes):
        mask[keeps + b] = 1 if end_of(rules, filled, 0, b, hand) >= 0 else 0
    if filled == (1 << boxes) - 1:
        mask[:] = 1


@njit(nogil=True)
def look(
    rules: RuleArrays,
    at: EpisodeStates,
    chosen: NDArray[np.int64],
    onehot: bool,
    seen: NDArray[np.float32],
    mask: NDArray[np.int8],
) -> None:
    """Write the observations and the legal actions of some episodes.

    Args:
        rules: The form.
        at: [n] the states.
        chosen: [k] indices of episodes.
        onehot: Whether observations consist of indicators only.
        seen: [k, D], filled.
        mask: [k, A], filled.
    """
    faces, boxes = len(rules.match), len(rules.plain)
    dice = rules.dice.shape[1]
    seen[:] = 0.0
    for e, i in enumerate(chosen):
        filled, hand = at.filled[i], at.hand[i]
        legal(rules, filled, hand, at.rolls[i], mask[e])
        if hand >= rules.base:
            for die in range(dice):
                seen[e, die * faces + rules.dice[hand, die] - 1] = 1.0
        place = dice * faces
        seen[e, place + at.rolls[i]] = 1.0
        place += rules.rolls + 1
        for b in range(boxes):
            seen[e, place + b] = 0.0 if filled >> b & 1 else 1.0
        place += boxes
        if onehot:
            seen[e, place + at.upper[i]] = 1.0
        else:
            for b in range(boxes):
                scored = max(end_of(rules, filled, 0, b, hand), 0)
                seen[e, place + b] = scored / LARGEST_POINTS
            seen[e, place + boxes] = at.upper[i] / max(rules.bonus_at, 1)
        seen[e, seen.shape[1] - 1] = at.bonus[i]


@njit(nogil=True)
def begin(
    rules: RuleArrays,
    at: EpisodeStates,
    stream: NDArray[np.uint64],
    over: NDArray[np.bool_],
    chosen: NDArray[np.int64],
) -> None:
    """Begin episodes. Each draws a random number, as the start of a table does.

    Args:
        rules: The form.
        at: [n] the states, changed.
        stream: [n] random numbers, changed.
        over: [n] whether the end has been reported, changed.
        chosen: [k] indices of episodes.
    """
    for i in chosen:
        stream[i] = advance(stream[i])
        at.filled[i], at.upper[i], at.bonus[i] = 0, 0, 0
        at.hand[i], at.rolls[i] = 0, rules.rolls
        over[i] = False


@njit(nogil=True)
def step(
    rules: RuleArrays,
    at: EpisodeStates,
    stream: NDArray[np.uint64],
    over: NDArray[np.bool_],
    actions: NDArray[np.int64],
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
) -> None:
    """Take an action in each episode, or restart the episode if it has ended.

    Args:
        rules: The form.
        at: [n] the states, changed.
        stream: [n] random numbers, changed.
        over: [n] whether the end has been reported, changed.
        actions: [n] within 0..A-1.
        reward: [n], filled.
        terminated: [n], filled.
        illegal: [n], filled: whether the lowest legal action was taken instead.
    """
    keeps, boxes = rules.kept.shape[1], len(rules.plain)
    mask = np.empty(keeps + boxes, np.int8)
    for i in range(len(actions)):
        reward[i], terminated[i], illegal[i] = 0.0, False, False
        if over[i]:
            begin(rules, at, stream, over, np.full(1, i))
            continue
        filled, hand, action = at.filled[i], at.hand[i], actions[i]
        legal(rules, filled, hand, at.rolls[i], mask)
        if not mask[action]:
            illegal[i] = True
            action = mask.argmax()
        stream[i] = advance(stream[i])
        if action < keeps:
            keep = rules.kept[hand, action]
            first, last = rules.first[keep], rules.first[keep + 1]
            drawn = np.searchsorted(rules.threshold[first:last], draw_of(stream[i]), side="right")
            at.hand[i] = rules.way[first + drawn]
            at.rolls[i] -= 1
            continue
        box, bonus = action - keeps, at.bonus[i]
        end = end_of(rules, filled, bonus, box, hand)
        reward[i], at.upper[i], at.bonus[i] = fill(rules, at.upper[i], bonus, box, end)
        at.filled[i] = filled | 1 << box
        at.hand[i], at.rolls[i] = 0, rules.rolls
        if at.filled[i] == (1 << boxes) - 1:
            at.upper[i], at.bonus[i], at.rolls[i] = 0, 0, 0
            over[i] = terminated[i] = True


class YahtzeeEpisodes(BatchSimulator):
    """A batch of running episodes of a form of Yahtzee.

    Args:
        game: The rules.
        n: Number of episodes.
        observation: ``"vector"`` as in the rules, or ``"onehot"``, in which indicators replace
            the fractions, one for every number of points in the upper section.
    """

    rules: Yahtzee

    def __init__(self, game: Yahtzee, n: int, observation: str = "vector") -> None:
        self.num_envs = check_integer(n, "num_envs", 1, 2**31 - 1)
        self.game, self.rules = None, game
        self._onehot = check_choice(observation, "observation", OBSERVATIONS) == "onehot"
        self._rules = rules_arrays(game)
        self.shared = (self._rules,)
        entries = width(self._rules, self._onehot)
        self.observation_space = spaces.Box(0.0, 1.0, (entries,), np.float32)
        self.n_actions = len(game.info.actions[0])
        self.arrays = {name: np.zeros(n, np.int32) for name in EpisodeStates._fields}
        self._at = EpisodeStates(**self.arrays)
        self._stream, self._over = np.zeros(n, np.uint64), np.ones(n, bool)
        self.arrays |= {"stream": self._stream, "over": self._over}
        self._everyone = np.arange(n)

    def begin(self, chosen: Ints) -> None:
        begin(self._rules, self._at, self._stream, self._over, chosen)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> None:
        told = reward, terminated, illegal
        step(self._rules, self._at, self._stream, self._over, actions, *told)
        look(self._rules, self._at, self._everyone, self._onehot, observation, mask)

    def look(self, chosen: Ints | None = None) -> tuple[Batch, Batch]:
        chosen = self._everyone if chosen is None else chosen
        seen = np.empty((len(chosen), width(self._rules, self._onehot)), np.float32)
        mask = np.empty((len(chosen), self.n_actions), np.int8)
        look(self._rules, self._at, chosen, self._onehot, seen, mask)
        return seen, mask

    def over(self) -> Bools:
        return self._over

    def state(self, i: int) -> Turn:
        filled, upper, bonus, hand, rolls = (array.item(i) for array in self._at)
        left = tuple(box for b, box in enumerate(self.rules.scorecard) if not filled >> b & 1)
        dice = tuple(self._rules.dice[hand].tolist()) if hand else ()
        return Turn(dice, rolls, left, upper, bool(bonus)) if left else OVER

    def index_ranges(self) -> dict[str, range]:
        rules = self._rules
        counts = 1 << len(rules.plain), rules.bonus_at + 1, 2, len(rules.dice), rules.rolls + 1
        return dict(zip(EpisodeStates._fields, map(range, counts), strict=True))

    def check_values(self, saved: Mapping[str, Batch]) -> None:
        super().check_values(saved)
        hand, first = saved["hand"], self._rules.base
        if ((hand > 0) & (hand < first)).any():
            raise ValueError(
                f"saved hand has {hand[hand > 0].min()}; allowed are 0 and the rolls from {first}"
            )


@dataclass(frozen=True)
class YahtzeeSampler:
    """A sampler of episodes of a form of Yahtzee.

    Args:
        rules: The game.
    """

    rules: Yahtzee

    def simulation(self, n: int, observation: str = "vector") -> YahtzeeEpisodes:
        """Return episodes that have not begun; arguments as for :class:`YahtzeeEpisodes`."""
        return YahtzeeEpisodes(self.rules, n, observation)


def sampler_of(game: Yahtzee) -> YahtzeeSampler | None:
    """Return the sampler of a form of Yahtzee; None if it is small enough for a table."""
    layers = YahtzeeLayers(game)
    rules = layers.rules
    states = layers.n_states * (1 + rules.rolls * (len(rules.dice) - rules.base))
    return YahtzeeSampler(game) if states > _TABLE_STATES else None
