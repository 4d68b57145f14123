"""Two games that fit on a page: a die that you may roll again, and Nim."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from solvent.model import GameInfo, Outcome
from solvent.model.registry import Environment, GameSpec

KEEP, ROLL = 0, 1


class Die(NamedTuple):
    """The face of the die (0 after you keep it) and the number of rolls left."""

    face: int
    left: int


class ThreeRolls:
    """Roll a die up to three times, stop whenever you like, and score the last roll."""

    info = GameInfo(
        name="three-rolls",
        players=1,
        actions=(("keep", "roll"),),
        acyclic=True,
        reward_range=(1, 6),
        unit="points",
        sources=("A textbook example of optimal stopping",),
        observation_labels=("face", "rolls left"),
    )

    def initial(self):
        return tuple(Outcome(Fraction(1, 6), Die(face, 2)) for face in range(1, 7))

    def is_terminal(self, state):
        return state.face == 0

    def legal_actions(self, state):
        return ((KEEP, ROLL) if state.left else (KEEP,),)

    def transition(self, state, joint_action):
        if joint_action == (KEEP,):
            return (Outcome(Fraction(1), Die(0, 0), reward=state.face),)
        return tuple(Outcome(Fraction(1, 6), Die(face, state.left - 1)) for face in range(1, 7))

    def observe(self, state, player):
        return np.array([state.face / 6, state.left / 2], np.float32)

    def draw(self, state):
        return f"face {state.face}, {state.left} rolls left"


class Heaps(NamedTuple):
    """The number of objects in each heap, and the player whose turn it is."""

    heaps: tuple[int, ...]
    player: int


class Nim:
    """Take any number of objects from one heap; whoever takes the last one wins.

    Args:
        heaps: Number of objects in each heap, 1 to 7.
    """

    def __init__(self, heaps=(1, 2, 2)):
        if not all(isinstance(heap, int) and 1 <= heap <= 7 for heap in heaps):
            raise ValueError(f"heaps is {heaps!r}; allowed are whole numbers from 1 to 7")
        self.heaps = tuple(heaps)
        self.takes = [(i, n) for i, most in enumerate(heaps) for n in range(1, most + 1)]
        names = tuple(f"take {n} from heap {i + 1}" for i, n in self.takes)
        self.info = GameInfo(
            name="parlour-nim",
            players=2,
            actions=(names, names),
            acyclic=True,
            reward_range=(-1, 1),
            sources=("C. L. Bouton 1901, Nim, a game with a complete mathematical theory",),
            parameters=(("heaps", list(self.heaps)),),
            observation_labels=(*(f"heap {i + 1}" for i in range(len(heaps))), "my turn"),
        )

    def initial(self):
        return (Outcome(Fraction(1), Heaps(self.heaps, 0)),)

    def turn(self, state):
        return state.player

    def is_terminal(self, state):
        return not any(state.heaps)

    def legal_actions(self, state):
        mine = tuple(k for k, (i, n) in enumerate(self.takes) if n <= state.heaps[i])
        return (mine, (0,)) if state.player == 0 else ((0,), mine)

    def transition(self, state, joint_action):
        i, n = self.takes[joint_action[state.player]]
        heaps = (*state.heaps[:i], state.heaps[i] - n, *state.heaps[i + 1 :])
        winner = 0 if any(heaps) else (1, -1)[state.player]
        return (Outcome(Fraction(1), Heaps(heaps, 1 - state.player), winner),)

    def observe(self, state, player):
        return np.array([*(h / 7 for h in state.heaps), state.player == player], np.float32)

    def draw(self, state):
        return f"heaps {' '.join(map(str, state.heaps))}, player {state.player} takes"


THREE_ROLLS = GameSpec(
    name="three-rolls",
    make="parlour_games:ThreeRolls",
    rules="Roll a die up to three times. Stop whenever you like: the last roll is your score.",
    environments={"parlour/ThreeRolls-v0": Environment(optimum=14 / 3)},
)

NIM = GameSpec(
    name="parlour-nim",
    make="parlour_games:Nim",
    environments={"parlour/Nim-v0": Environment(opponent="uniform")},
    pettingzoo={},
)
