"""Any Gymnasium toy-text environment as a game, read from its own transition dictionary ``P``.

``P[s][a]`` is a list of ``(probability, next_state, reward, terminated)``. FrozenLake, Taxi and
CliffWalking publish it; whatever has such a dictionary can be solved and scored like the suite's
own games. Nothing of Gymnasium is imported.

An optimum depends on the kernel, the start distribution, the discount, the horizon and the class
of policies. Here they are: the dictionary as given; the start as given; no discount; no time
limit (Gymnasium's wrapper adds one, which is not part of ``P``); all policies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import WINS, GameInfo, JointAction, Outcome

Transitions = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]


class Cell(NamedTuple):
    """A state of the dictionary, and whether the episode ended on entering it."""

    number: int
    over: bool


@dataclass(frozen=True, eq=False)
class GymnasiumTable:
    """A game read from ``P``.

    Args:
        transitions: The dictionary ``P``.
        start: Probability of each state at the start, one entry per state of ``P``.
        name: For tables and messages.

    Raises:
        ValueError: If the probabilities of a state and action do not sum to 1 within 1e-9, or
            one is negative or not a number, a next state is not in the dictionary, or the states
            are not numbered 0, 1, 2 and so on.
    """

    transitions: Transitions
    start: Sequence[float]
    name: str = "gymnasium-table"

    @classmethod
    def from_env(cls, env: Any, name: str | None = None) -> GymnasiumTable:
        """Read ``P`` and ``initial_state_distrib`` off a toy-text environment."""
        env = env.unwrapped
        for attribute in ("P", "initial_state_distrib"):
            if not hasattr(env, attribute):
                raise ValueError(f"{type(env).__name__} has no {attribute}; toy-text envs have it")
        spec = getattr(env, "spec", None)
        return cls(
            env.P, env.initial_state_distrib, name or (spec.id if spec else "gymnasium-table")
        )

    def __post_init__(self) -> None:
        """Check every branch, so that a wrong dictionary is refused before it is solved."""
        if len(self.start) != len(self.transitions):
            raise ValueError(
                f"start has {len(self.start)} entries for {len(self.transitions)} states"
            )
        if not self.transitions or set(self.transitions) != set(range(len(self.transitions))):
            raise ValueError(f"P has states {list(self.transitions)[:5]}...; expected 0, 1, 2, ...")
        _check_weights(self.start, "start")
        for state, actions in self.transitions.items():
            if not actions:
                raise ValueError(f"P[{state}] lists no action")
            for action, branches in actions.items():
                _check_weights([branch[0] for branch in branches], f"P[{state}][{action}]")
                total = sum(branch[0] for branch in branches)
                if abs(total - 1) > 1e-9:
                    raise ValueError(f"P[{state}][{action}] has probabilities that sum to {total}")
                for _, target, _, _ in branches:
                    if target not in self.transitions:
                        raise ValueError(f"P[{state}][{action}] leads to unknown state {target}")

    @cached_property
    def info(self) -> GameInfo:
        """Players and actions; the reward range is not known from the dictionary."""
        width = 1 + max(max(actions) for actions in self.transitions.values())
        return GameInfo(
            name=self.name,
            players=1,
            actions=(tuple(str(a) for a in range(width)),),
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=("the environment's own P",),
            observation_labels=("state", "over"),
            unit=WINS if self._is_won_or_lost else "",
        )

    @property
    def _is_won_or_lost(self) -> bool:
        """Whether all that is ever paid is 1 at the end, as for the goal of FrozenLake."""
        paid = {
            (float(reward), bool(over))
            for actions in self.transitions.values()
            for branches in actions.values()
            for _, _, reward, over in branches
            if reward
        }
        return paid == {(1.0, True)}

    def initial(self) -> tuple[Outcome, ...]:
        """The start distribution."""
        weights = _rationals(self.start)
        return tuple(Outcome(p, Cell(s, False)) for s, p in enumerate(weights) if p > 0)

    def legal_actions(self, state: Cell) -> tuple[tuple[int, ...], ...]:
        """Every action that the dictionary lists."""
        return (tuple(sorted(self.transitions[state.number])),)

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The listed branches, those to the same cell with the same reward merged."""
        branches = self.transitions[state.number][joint_action[0]]
        merged: dict[tuple[Cell, Fraction], Fraction] = {}
        weights = _rationals([branch[0] for branch in branches])
        for weight, (_, target, reward, over) in zip(weights, branches, strict=True):
            key = Cell(int(target), bool(over)), Fraction(str(float(reward)))
            merged[key] = merged.get(key, Fraction(0)) + weight
        return tuple(Outcome(p, cell, r) for (cell, r), p in merged.items() if p > 0)

    def is_terminal(self, state: Cell) -> bool:
        """Whether the branch that led here was marked as the end."""
        return state.over

    def observe(self, state: Cell, player: int) -> NDArray[np.float32]:
        """The state's number, scaled to [0, 1], and whether the episode is over."""
        return np.array(
            [state.number / max(len(self.transitions) - 1, 1), float(state.over)], np.float32
        )

    def draw(self, state: Cell) -> str:
        """The state's number."""
        return f"state {state.number}{' (over)' if state.over else ''}"


def _check_weights(weights: Sequence[float], name: str) -> None:
    if any(not 0 <= w < np.inf for w in weights) or not any(w > 0 for w in weights):
        raise ValueError(f"{name} has probabilities {list(weights)}; allowed are positive numbers")


def _rationals(weights: Sequence[float]) -> list[Fraction]:
    """The simple rationals that floats such as 0.333... stand for, scaled to sum to 1 exactly.

    A float that no simple rational rounds to, such as 1e-9, stands for itself.
    """
    exact = [Fraction(float(w)) for w in weights]
    simple = [w.limit_denominator(10**6) for w in exact]
    chosen = [s if abs(s - w) <= w / 10**15 else w for s, w in zip(simple, exact, strict=True)]
    total = sum(chosen, Fraction(0))
    return [w / total for w in chosen]
