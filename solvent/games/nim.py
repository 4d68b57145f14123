"""Nim: take any number of objects from one heap, normal and misère.

The players take turns. Whoever takes the last object wins in normal play and loses in misère play.
C. L. Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3, 1901: the
player on turn loses in normal play if and only if the sizes of the heaps, written in binary and
added without carrying, give 0; in misère play it is the same while some heap has two objects or
more, and the opposite when none has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    Cell,
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Pieces,
    Prose,
    Rules,
    Scene,
    check_flag,
    check_integers,
)

MOST_HEAPS, LARGEST_HEAP = 6, 15

WAIT = 0
"""The action of the player who is not on turn."""


class Heaps(NamedTuple):
    """The number of objects in each heap, and the player on turn."""

    heaps: tuple[int, ...]
    player: int


@dataclass(frozen=True)
class Nim(Rules):
    """Nim with any heaps.

    Args:
        heaps: Number of objects in each heap at the start: 1 to 6 heaps of 1 to 15 objects.
        misere: Whether the player who takes the last object loses instead of winning.
    """

    heaps: Sequence[int] = (3, 4, 5)
    misere: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        heaps = check_integers(self.heaps, "heaps", 1, LARGEST_HEAP, (1, MOST_HEAPS))
        object.__setattr__(self, "heaps", heaps)
        check_flag(self.misere, "misere")

    @cached_property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """Return the heap and the number of objects of each action."""
        return tuple((k, n) for k, most in enumerate(self.heaps) for n in range(1, most + 1))

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        names = tuple(f"take {n} from heap {k + 1}" for k, n in self.moves)
        return GameInfo(
            name="nim",
            players=2,
            actions=(names, names),
            acyclic=True,
            reward_range=(-1.0, 1.0),
            sources=("Bouton 1901, Nim, a game with a complete mathematical theory",),
            parameters=(("heaps", list(self.heaps)), ("misere", self.misere)),
            observation_labels=(*(f"heap {k + 1}" for k in range(len(self.heaps))), "my turn"),
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the full heaps with player 0 on turn."""
        return (Outcome(Fraction(1), Heaps(tuple(self.heaps), 0)),)

    def turn(self, state: Heaps) -> int:
        """Return the player on turn."""
        return state.player

    def legal_actions(self, state: Heaps) -> tuple[tuple[int, ...], ...]:
        """Return taking 1 to all objects of a heap; the other player waits."""
        mine = tuple(a for a, (k, n) in enumerate(self.moves) if n <= state.heaps[k])
        return (mine, (WAIT,)) if state.player == 0 else ((WAIT,), mine)

    def transition(self, state: Heaps, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Take the objects; the last one decides the game."""
        k, n = self.moves[joint_action[state.player]]
        heaps = (*state.heaps[:k], state.heaps[k] - n, *state.heaps[k + 1 :])
        reward = 0
        if not any(heaps):
            winner = 1 - state.player if self.misere else state.player
            reward = (1, -1)[winner]
        return (Outcome(Fraction(1), Heaps(heaps, 1 - state.player), reward),)

    def is_terminal(self, state: Heaps) -> bool:
        """Return whether all heaps are empty."""
        return not any(state.heaps)

    def observe(self, state: Heaps, player: int) -> NDArray[np.float32]:
        """Return the heaps, as fractions of the largest possible, and whose turn it is."""
        shares = (heap / LARGEST_HEAP for heap in state.heaps)
        return np.array([*shares, state.player == player], np.float32)

    def scene(self, state: Heaps) -> Scene:
        """Draw the heaps; a click on an object takes it and those to its right."""
        free = () if self.is_terminal(state) else self.legal_actions(state)[state.player]
        names = self.info.actions[0]
        found = []
        for number, size in enumerate(state.heaps, 1):
            words = [f"take {size - at} from heap {number}" for at in range(size)]
            actions = [names.index(name) if name in names else None for name in words]
            cells = (
                Cell("", "first", action if action in free else None, name)
                for action, name in zip(actions, words, strict=True)
            )
            found.append(Pieces(f"heap {number}", "tokens", tuple(cells)))
        if not self.is_terminal(state):
            return tuple(found)
        winner = self.player_name(state.player if self.misere else 1 - state.player)
        return (*found, Prose("", (f"{winner} wins.",)))


SPEC = GameSpec(
    name="nim",
    make=Nim,
    rules=(
        "Take any number of objects from one heap, in turns. Taking the last one wins, or\n"
        "in misère play loses."
    ),
    environments={
        "solvent/Nim-v0": Environment(
            opponent="optimal",
            optimum=1.0,
            model_hash="60700d389af34272939f74a371d87744d48f20c5c2e841a8b490317e49cbc48a",
        ),
        "solvent/NimMisere-v0": Environment(
            parameters={"misere": True},
            opponent="optimal",
            optimum=1.0,
            model_hash="cf280b89e7a94867ea2c481cb44c72ec5a53538ce31e751a55da2ff5156a6c95",
        ),
    },
    pettingzoo={},
)
