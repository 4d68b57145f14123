"""Yahtzee for one player: thirteen turns of up to three rolls, each for one box of a scorecard.

The official rules are those that come with the game (Hasbro; sections "How to play", "Scoring",
"Yahtzee bonus" and "Joker rules"). A turn is a roll of all dice, then up to two more of any of
them. Then one open box is filled, for good, with what the dice score in it.

**Upper section**, aces to sixes: the sum of the dice with that face. A bonus of 35 as soon as these
boxes hold 63.

**Lower section**: three and four of a kind, and chance, score the sum of all dice; a full house 25,
a small straight 30, a large straight 40, a Yahtzee 50; else 0.

**Another Yahtzee** after the Yahtzee box has been filled: 100 more if that box holds 50. It has to
go into another box as a *joker*. The published solutions disagree on the rule:

- ``"forced"``, the official rules: the upper box of its face. If that is filled, any lower box,
  where a full house and the straights count in full. If those are all filled, an upper box.
- ``"free"``, from T. Verhoeff, "Optimal Solitaire Yahtzee Strategies" (1999): any box. A full house
  and the straights count in full once the upper box of its face is filled.
- ``"none"``: any box, for what the dice score in it by themselves.

The game is smaller with fewer boxes, dice, faces or rolls; then it fits in a table.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import GameInfo, JointAction, Outcome, Rules
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.scene import Cell, Gauge, Pieces, Prose, Scene

UPPER = ("aces", "twos", "threes", "fours", "fives", "sixes")
"""The upper section; the n-th box is for the face n."""

YAHTZEE = "yahtzee"

LOWER = (
    "three-of-a-kind",
    "four-of-a-kind",
    "full-house",
    "small-straight",
    "large-straight",
    YAHTZEE,
    "chance",
)
"""The lower section."""

BOXES = (*UPPER, *LOWER)

# Stands for all boxes.
_ALL = "all"

JOKERS = ("forced", "free", "none")
"""The joker rules: how a Yahtzee scores once the box for it is filled."""

# Points of the boxes in which a joker counts in full though its dice do not fit.
_JOKER_POINTS: Mapping[str, int] = {"full-house": 25, "small-straight": 30, "large-straight": 40}

# The points of a Yahtzee, which are the most that a box can have.
_YAHTZEE_POINTS = LARGEST_POINTS = 50

BOUNDS: Mapping[str, tuple[int, int]] = {
    "dice": (2, 5),
    "faces": (2, 6),
    "rolls": (1, 3),
    "bonus_at": (0, 63),
    "upper_bonus": (0, 100),
    "yahtzee_bonus": (0, 100),
}
"""The least and the largest value of each parameter that is a number."""

KEEP_NONE = 0
"""The action that rolls all dice."""


class Turn(NamedTuple):
    """The state of a turn.

    Attributes:
        dice: Faces of the dice, in ascending order; empty before the first roll.
        rolls: Number of rolls left in this turn.
        open: The boxes that are not filled, in the order of the scorecard.
        upper: Points in the upper section, capped at the number that earns the bonus.
        bonus: Whether another Yahtzee earns a bonus: the box for it holds 50.
    """

    dice: tuple[int, ...]
    rolls: int
    open: tuple[str, ...]
    upper: int
    bonus: bool


OVER = Turn((), 0, (), 0, False)
"""All boxes are filled."""


def points(box: str, dice: Sequence[int]) -> int:
    """Return the points of dice in a box, without joker rules.

    Args:
        box: One of :data:`BOXES`.
        dice: Faces of the dice.
    """
    counts = Counter(dice)
    if box in UPPER:
        face = UPPER.index(box) + 1
        return face * counts[face]
    alike, in_a_row, total = sorted(counts.values()), _in_a_row(dice), sum(dice)
    lower = {
        "three-of-a-kind": total * (alike[-1] >= 3),
        "four-of-a-kind": total * (alike[-1] >= 4),
        "full-house": _JOKER_POINTS["full-house"] * (alike == [2, 3]),
        "small-straight": _JOKER_POINTS["small-straight"] * (in_a_row >= 4),
        "large-straight": _JOKER_POINTS["large-straight"] * (in_a_row >= 5),
        YAHTZEE: _YAHTZEE_POINTS * (len(alike) == 1),
        "chance": total,
    }
    return lower[box]


def _in_a_row(dice: Sequence[int]) -> int:
    """Return the length of the longest run of consecutive faces."""
    faces = set(dice)
    lengths = (n for n in range(len(faces), 0, -1) for f in faces if {*range(f, f + n)} <= faces)
    return next(lengths, 0)


@dataclass(frozen=True)
class Yahtzee(Rules):
    """Yahtzee for one: roll up to three times, then fill one of thirteen boxes.

    Args:
        boxes: Boxes of the scorecard, a list or a text with commas such as ``"aces,chance"``;
            ``"all"`` for the thirteen of the game.
        dice: Number of dice, within 2..5.
        faces: Number of faces of each die, within 2..6.
        rolls: Number of rolls in a turn, within 1..3.
        bonus_at: Points in the upper section that earn a bonus, within 0..63; 0 for no bonus.
        upper_bonus: Points of that bonus, within 0..100.
        yahtzee_bonus: Points of another Yahtzee, if the box for it holds 50, within 0..100.
        joker: Rule for a Yahtzee once the box for it is filled: ``"forced"``, ``"free"`` or
            ``"none"`` (see the module).
    """

    boxes: str | Sequence[str] = _ALL
    dice: int = 5
    faces: int = 6
    rolls: int = 3
    bonus_at: int = 63
    upper_bonus: int = 35
    yahtzee_bonus: int = 100
    joker: str = "forced"

    def __post_init__(self) -> None:
        """Check the parameters, and put the boxes in the order of the scorecard."""
        for name, (least, most) in BOUNDS.items():
            check_integer(getattr(self, name), name, least, most)
        check_choice(self.joker, "joker", JOKERS)
        object.__setattr__(self, "boxes", self._boxes())

    def _boxes(self) -> str:
        """Return the boxes as text, in the order of the scorecard.

        Raises:
            ValueError: If a box does not exist or is repeated, or there is none.
        """
        allowed = (*UPPER[: self.faces], *LOWER)
        if self.boxes == _ALL:
            return _ALL if self.faces == len(UPPER) else ",".join(allowed)
        names = self.boxes.split(",") if isinstance(self.boxes, str) else self.boxes
        if not isinstance(names, (list, tuple)) or not names:
            raise ValueError(
                f"boxes is {shown(self.boxes)}; allowed are {_ALL!r} and lists of at least one of "
                f"{', '.join(allowed)}"
            )
        for name in names:
            check_choice(name, "a box", allowed)
        if len(set(names)) < len(names):
            raise ValueError(f"boxes is {shown(self.boxes)}; allowed is every box once")
        chosen = [name for name in BOXES if name in names]
        return _ALL if len(chosen) == len(BOXES) else ",".join(chosen)

    @cached_property
    def scorecard(self) -> tuple[str, ...]:
        """Return the names of the boxes, in the order of the scorecard."""
        assert isinstance(self.boxes, str)
        return BOXES if self.boxes == _ALL else tuple(self.boxes.split(","))

    @cached_property
    def info(self) -> GameInfo:
        """Actions, sources and parameters."""
        return GameInfo(
            name="yahtzee",
            players=1,
            actions=((*map(self._keeping, range(self.keeps)), *self.scorecard),),
            acyclic=True,
            reward_range=(0.0, float(self.most)),
            sources=(
                "Hasbro, Yahtzee: official rules",
                "Verhoeff 1999, Optimal Solitaire Yahtzee Strategies",
                "Glenn 2006, An Optimal Strategy for Yahtzee, Loyola College CS-TR-0002",
            ),
            parameters=tuple((item.name, getattr(self, item.name)) for item in fields(self)),
            observation_labels=(
                *(
                    f"die {die + 1} shows {face}"
                    for die in range(self.dice)
                    for face in range(1, self.faces + 1)
                ),
                *(f"{rolls} rolls left" for rolls in range(self.rolls + 1)),
                *(f"{box} open" for box in self.scorecard),
                *(f"points for {box}" for box in self.scorecard),
                "upper section",
                "bonus for a Yahtzee",
            ),
            unit="points",
        )

    @property
    def keeps(self) -> int:
        """Return the number of actions that keep dice; those that fill boxes follow."""
        return (1 << self.dice) - 1

    def examples(self) -> list[Turn]:
        """Return states that include those with the largest drawings."""
        boxes, dice = self.scorecard, (self.faces,) * self.dice
        # The same dice as a joker, which may score more in the boxes that are left.
        left = tuple(box for box in boxes if box not in (YAHTZEE, UPPER[self.faces - 1]))
        cards = [(boxes, False), (boxes, True), (left or boxes, True)]
        return [Turn(dice, self.rolls - 1, open_, self.bonus_at, bonus) for open_, bonus in cards]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Return all actions, in the order in which a solution breaks ties.

        The boxes come first, then the actions that keep the most dice.
        """
        keeps = sorted(range(self.keeps), key=int.bit_count, reverse=True)
        return (*range(self.keeps, self.keeps + len(self.scorecard)), *keeps)

    @property
    def most(self) -> int:
        """Return an upper bound on the return: the best of every box, and all bonuses."""
        faces = range(1, self.faces + 1)
        best = {
            box: max(points(box, (face,) * self.dice) for face in faces) for box in self.scorecard
        }
        best |= {box: _JOKER_POINTS[box] for box in self.scorecard if box in _JOKER_POINTS}
        again = len(self.scorecard) - 1 if YAHTZEE in self.scorecard else 0
        return (
            sum(best.values())
            + self.upper_bonus * (self.bonus_at > 0)
            + (self.yahtzee_bonus * again)
        )

    def _keeping(self, action: int) -> str:
        """Return the name of an action that rolls dice."""
        kept = [str(die + 1) for die in range(self.dice) if action >> die & 1]
        return f"keep dice {' '.join(kept)}" if kept else "roll all dice"

    def initial(self) -> tuple[Outcome, ...]:
        """Return the empty scorecard before the first roll."""
        return (Outcome(Fraction(1), Turn((), self.rolls, self.scorecard, 0, False)),)

    def kept(self, state: Turn, action: int) -> tuple[int, ...]:
        """Return the dice that an action keeps.

        Args:
            state: A state with dice on the table.
            action: Bit mask of the kept dice: bit i is set if the i-th die is kept.
        """
        return tuple(die for i, die in enumerate(state.dice) if action >> i & 1)

    def legal_actions(self, state: Turn) -> tuple[tuple[int, ...], ...]:
        """Return the actions that roll dice again, if a roll is left, and those that fill a box.

        Of dice with equal faces the first are kept, so that no two actions are equivalent. Keeping
        all dice is not an action.
        """
        if not state.dice:
            return ((KEEP_NONE,),)
        rolls = range(self.keeps) if state.rolls else ()
        keeps = tuple(action for action in rolls if self._keeps_first(state.dice, action))
        boxes = tuple(self.keeps + self.scorecard.index(box) for box in self.scores(state))
        return ((*keeps, *boxes),)

    @staticmethod
    def _keeps_first(dice: Sequence[int], action: int) -> bool:
        """Return whether no die is kept after a rolled one with the same face."""
        return not any(
            dice[i] == dice[i + 1] and action >> i + 1 & 1 and not action >> i & 1
            for i in range(len(dice) - 1)
        )

    def is_joker(self, state: Turn) -> bool:
        """Return whether the dice are a joker: a Yahtzee after the box for it is filled."""
        filled = YAHTZEE in self.scorecard and YAHTZEE not in state.open
        return self.joker != "none" and filled and len(set(state.dice)) == 1

    def scores(self, state: Turn) -> Mapping[str, int]:
        """Return the boxes that may be filled with the dice, and the points of each.

        Args:
            state: A state with dice on the table.
        """
        plain = {box: points(box, state.dice) for box in state.open}
        if not self.is_joker(state):
            return plain
        match = UPPER[state.dice[0] - 1]
        jokers = {box: _JOKER_POINTS.get(box, plain[box]) for box in plain if box in LOWER}
        if self.joker == "free":
            return plain if match in plain else {**plain, **jokers}
        if match in plain:
            return {match: plain[match]}
        return jokers or plain

    def transition(self, state: Turn, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Roll the dice that are not kept, or fill a box."""
        [action] = joint_action
        if action < self.keeps:
            return self.rolled(state, self.kept(state, action))
        return (self._fill(state, self.scorecard[action - self.keeps]),)

    def rolled(self, state: Turn, kept: tuple[int, ...]) -> tuple[Outcome, ...]:
        """Return the outcomes of rolling the dice that are not kept.

        Args:
            state: The state before the roll.
            kept: The dice that stay on the table.
        """
        rolled = self.dice - len(kept)
        outcomes = []
        for new in combinations_with_replacement(range(1, self.faces + 1), rolled):
            ways = factorial(rolled) // prod(map(factorial, Counter(new).values()))
            after = state._replace(dice=tuple(sorted(kept + new)), rolls=state.rolls - 1)
            outcomes.append(Outcome(Fraction(ways, self.faces**rolled), after))
        return tuple(outcomes)

    def _fill(self, state: Turn, box: str) -> Outcome:
        scored = self.scores(state)[box]
        reward = scored
        if state.bonus and len(set(state.dice)) == 1:
            reward += self.yahtzee_bonus
        upper = state.upper
        if box in UPPER:
            upper = min(upper + scored, self.bonus_at)
            if state.upper < self.bonus_at == upper:
                reward += self.upper_bonus
        bonus = state.bonus or (box == YAHTZEE and scored > 0 and self.yahtzee_bonus > 0)
        left = tuple(other for other in state.open if other != box)
        after = Turn((), self.rolls, left, upper, bonus) if left else OVER
        return Outcome(Fraction(1), after, reward)

    def is_terminal(self, state: Turn) -> bool:
        """Return whether all boxes are filled."""
        return not state.open

    def observe(self, state: Turn, player: int) -> NDArray[np.float32]:
        """Return the face of each die, the rolls left, and the scorecard.

        Each open box also has the points that the dice would score in it, as a fraction of 50. The
        upper section is a fraction of the points that earn the bonus.
        """
        seen = np.zeros(len(self.info.observation_labels), np.float32)
        for die, face in enumerate(state.dice):
            seen[die * self.faces + face - 1] = 1
        at = self.dice * self.faces
        seen[at + state.rolls] = 1
        at += self.rolls + 1
        scores = self.scores(state) if state.dice else {}
        for k, box in enumerate(self.scorecard):
            seen[at + k] = box in state.open
            seen[at + len(self.scorecard) + k] = scores.get(box, 0) / LARGEST_POINTS
        seen[-2] = state.upper / max(self.bonus_at, 1)
        seen[-1] = state.bonus
        return seen

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of a turn's entries."""
        return {"": ("dice", "rolls left", "open boxes", "upper section", "bonus for a Yahtzee")}

    def labels(self, state: Turn) -> Mapping[int, str]:
        """Return the legal actions in words: the kept dice, or the box and its points."""
        if not state.dice:
            return {KEEP_NONE: "roll all dice"}
        words = {}
        for action in self.legal_actions(state)[0]:
            if action >= self.keeps:
                box = self.scorecard[action - self.keeps]
                scored = self.scores(state)[box]
                words[action] = f"{box}, {scored} point{'' if scored == 1 else 's'}"
            else:
                kept = self.kept(state, action)
                words[action] = f"keep {_faces(kept)}" if kept else "roll all dice"
        return words

    def scene(self, state: Turn) -> Scene:
        """Draw the dice and the scorecard; a click keeps a die or fills a box.

        Filled boxes are in parentheses.
        """
        if self.is_terminal(state):
            return (Prose("", ("All boxes are filled.",)),)
        free = self.legal_actions(state)[0]
        dice = tuple(Cell(str(face)) for face in state.dice)
        rolls = [action for action in free if state.dice and action < self.keeps]
        by_faces = {self.kept(state, action): action for action in rolls}
        keeps = {
            ",".join(map(str, kept)): by_faces[faces]
            for size in range(len(dice) + 1)
            for kept in combinations(range(len(dice)), size)
            if (faces := tuple(state.dice[n] for n in kept)) in by_faces
        }
        scores = self.scores(state) if state.dice else {}
        boxes: dict[str, list[Cell]] = {"upper section": [], "lower section": []}
        for number, box in enumerate(self.scorecard, self.keeps):
            kind = "" if box in state.open else "wall"
            text = f"({box})" if kind else f"{box} {scores.get(box, '')}".rstrip()
            section = boxes["upper section" if box in UPPER else "lower section"]
            section.append(Cell(text, kind, number if number in free else None, box))
        left = f"dice, {state.rolls} roll{'' if state.rolls == 1 else 's'} left"
        more = f"Another Yahtzee is {self.yahtzee_bonus} more."
        return (
            Pieces(left, "dice", dice or (Cell("?"),) * self.dice, keeps),
            *(Pieces(name, "boxes", tuple(cells)) for name, cells in boxes.items() if cells),
            Gauge("points for the bonus", state.upper, self.bonus_at),
            Prose("", (more,) if state.bonus else ()),
        )


def _faces(dice: Sequence[int]) -> str:
    return " ".join(map(str, dice))
