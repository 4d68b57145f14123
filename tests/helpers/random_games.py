"""Small random games with exact probabilities, and their values by brute force."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from solvent.model import GameInfo, Outcome, TabularGame, TabularPolicy

KINDS = ("single", "opponent", "alternating", "simultaneous")


INFO = GameInfo(
    name="random",
    players=2,
    actions=(("a", "b", "c"),) * 2,
    acyclic=False,
    reward_range=(-np.inf, np.inf),
    sources=("random",),
    observation_labels=("state",),
)


@dataclass(frozen=True)
class RandomGame:
    """States 0..size-1 and an end; an outcome leads onwards, or with cycles anywhere.

    With cycles every row ends play with probability at least 1/5, so all policies are proper.
    """

    seed: int
    kind: str
    cyclic: bool
    size: int = 5

    @property
    def info(self) -> GameInfo:
        return INFO

    @cached_property
    def rows(self) -> dict[tuple[int, int, int], tuple[Outcome, ...]]:
        rng = np.random.default_rng(self.seed)
        rows = {}
        for s in range(self.size):
            for joint in product(*self.legal_actions(s)):
                low = 0 if self.cyclic else s + 1
                targets = [int(t) for t in rng.integers(low, self.size + 1, size=2)]
                weights = [1, *(int(w) for w in rng.integers(1, 3, size=2))]
                merged: dict[tuple[int, int], Fraction] = {}
                for target, weight in zip([self.size, *targets], weights, strict=True):
                    key = target, int(rng.integers(-3, 4))
                    merged[key] = merged.get(key, Fraction(0)) + Fraction(weight, sum(weights))
                rows[s, *joint] = tuple(Outcome(p, t, r) for (t, r), p in merged.items())
        return rows

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1, 3), 0), Outcome(Fraction(2, 3), 1))

    def legal_actions(self, state: int) -> tuple[tuple[int, ...], ...]:
        some, one = (0, 1, 2)[: 2 + state % 2], (0,)
        return {
            "single": (some, one),
            "opponent": (one, some),
            "alternating": (some, one) if state % 2 else (one, some),
            "simultaneous": (some, some[:2]),
        }[self.kind]

    def transition(self, state: int, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        return self.rows[state, *joint_action]  # type: ignore[index]

    def is_terminal(self, state: int) -> bool:
        return state == self.size

    def observe(self, state: int, player: int) -> Any:
        return np.array([state / self.size], np.float32)

    def draw(self, state: int) -> str:
        return str(state)


def pure_policies(game: TabularGame, player: int) -> list[TabularPolicy]:
    choices = [np.flatnonzero(m) if m.any() else [0] for m in game.mask[player]]
    return [
        TabularPolicy.deterministic(game, np.array(actions), player=player)
        for actions in product(*choices)
    ]
