"""The policies of many runs of a task in one small file.

Only the decisions of a player are kept: the states in which it has several legal actions, and
those actions. For each seat s of R runs,

========================  ============  =========================================================
array                     shape         numbers
========================  ============  =========================================================
``greedy_<s>``            [R, states]   0 for the most probable action, else 1 + the action
``sampled_<s>``           [R, pairs]    the probability of each state's legal actions in turn but
                                        the last, as a share of a whole number
========================  ============  =========================================================

The whole number is :data:`UNIT`, by which a probability is one byte, and by self-play, where runs
are judged by the policy as sampled, :data:`FINE_UNIT`. A policy that comes back is a distribution
in every state, and differs from the one that was kept by less than one share in each probability;
what is scored is the one that comes back. The file is an archive (:mod:`solvent.exact.archive`):
its shapes follow from the game, and are compared before anything is unpacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.benchmark.policies import Learned
from solvent.exact.archive import ArraySchema, Schema, Shapes, read_archive, write_archive
from solvent.exact.store import StoreError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Ints
from solvent.model.parameters import shown

UNIT, FINE_UNIT = 63, 65_535
"""The shares that stand for probability 1, alone and by self-play."""

POLICIES = Schema(
    "policies",
    {"task": str, "model_hash": str, "seeds": list},
    {"greedy_*": ArraySchema("", 2), "sampled_*": ArraySchema("", 2)},
)


class Decisions:
    """The decisions of a player in a game.

    Args:
        game: The game.
        player: The player that decides, 0 or 1.
        unit: The share that stands for probability 1.

    Attributes:
        states: [C] the states in which there are several legal actions.
        begins: [C] index of the first pair of each of them.
        actions: [K] the legal action of each pair of such a state and an action.
        kept: [K] whether the share of a pair is kept; the last one of a state follows from others.
    """

    def __init__(self, game: TabularGame, player: int, unit: int = UNIT) -> None:
        self.game, self.player, self.unit = game, player, unit
        mask = game.mask[player] & ~game.terminal[:, None]
        self.states: Ints = np.flatnonzero(mask.sum(axis=1) > 1)
        of_state, self.actions = np.nonzero(mask[self.states])
        self.begins: Ints = np.searchsorted(of_state, np.arange(len(self.states)))
        self.kept = of_state == np.append(of_state[1:], -1)
        self._of_state = of_state
        # Where there is one legal action it is taken; argmax finds it.
        forced = np.flatnonzero(mask.sum(axis=1) == 1)
        self._alone = np.zeros(mask.shape)
        self._alone[forced, mask[forced].argmax(axis=1)] = 1.0

    @property
    def types(self) -> dict[str, str]:
        """The types of the numbers of each kind of array."""
        wide = {"greedy": self.game.mask[self.player].shape[1] > 255, "sampled": self.unit > 255}
        return {kind: "uint16" if own else "uint8" for kind, own in wide.items()}

    def packed(self, policies: Learned) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the greedy actions [C] and the kept shares [K] of a policy."""
        chances = policies.sampled.normalized()[self.states[self._of_state], self.actions]
        shares = np.floor(chances * self.unit)
        if len(self.states):
            # What rounding leaves over goes to the largest remainders.
            left = self.unit - np.add.reduceat(shares, self.begins)
            order = np.lexsort((shares - chances * self.unit, self._of_state))
            rank = np.empty(len(order))
            rank[order] = np.arange(len(order)) - self.begins[self._of_state[order]]
            shares += rank < left[self._of_state]
        greedy = policies.mode.probabilities[self.states].argmax(axis=1)
        greedy = np.where(greedy == self._most_probable(shares), 0, 1 + greedy)
        types = self.types
        return greedy.astype(types["greedy"]), shares[self.kept].astype(types["sampled"])

    def unpacked(self, greedy: NDArray[Any], kept: NDArray[Any]) -> Learned:
        """Return the policy of some greedy actions and shares.

        Args:
            greedy: [C] greedy actions, in the form of :meth:`packed`.
            kept: [K] kept shares.

        Raises:
            ValueError: If the shares of a state have too large a sum, or a greedy action is not
                legal, or is not the most probable one to within rounding. An illegal choice counts
                as the lowest legal action. Where that has weight, the learner's own most probable
                action may be any of the others' most probable one.
        """
        shares = np.zeros(len(self.actions), np.int64)
        shares[self.kept] = kept
        sampled, mask = self._alone.copy(), self.game.mask[self.player]
        if len(self.states):
            left = self.unit - np.add.reduceat(shares, self.begins)
            self._refuse(left < 0, lambda at: f"gives shares that sum to {self.unit - left[at]} in")
            shares[~self.kept] = left
            sampled[self.states[self._of_state], self.actions] = shares / self.unit
        actions = np.where(greedy == 0, self._most_probable(shares), greedy.astype(np.int64) - 1)
        legal = actions < mask.shape[1]
        legal[legal] = mask[self.states[legal], actions[legal]]
        self._refuse(~legal, lambda at: f"takes the action {actions[at]}, which is not legal, in")
        if len(self.states):
            lowest = actions == self.actions[self.begins]
            others = shares.copy()
            others[self.begins[~lowest]] = 0
            own = sampled[self.states, actions] * self.unit
            self._refuse(
                own + 1.5 < np.maximum.reduceat(others, self.begins),
                lambda at: "is greedy with what is not the most probable action in",
            )
        taken = self._alone.copy()
        taken[self.states, actions] = 1.0
        return Learned(
            *(
                TabularPolicy.of(self.game, one, player=self.player, name=name)
                for one, name in ((sampled, "sampled"), (taken, "greedy"))
            )
        )

    def _most_probable(self, shares: NDArray[Any]) -> NDArray[Any]:
        table = np.full(self.game.mask[self.player].shape, -1.0)
        table[self.states[self._of_state], self.actions] = shares
        return np.asarray(table[self.states].argmax(axis=1))

    def _refuse(self, wrong: NDArray[Any], what: Callable[[int], str]) -> None:
        if wrong.any():
            at = int(np.argmax(wrong))
            state = shown(self.game.states[int(self.states[at])])
            raise ValueError(f"{what(at)} state {state}")


def decisions_of(game: TabularGame, players: Sequence[int]) -> list[Decisions]:
    """Return the decisions of each learned seat, with the shares that its policies are kept in."""
    return [Decisions(game, player, UNIT if len(players) == 1 else FINE_UNIT) for player in players]


def write_policies(
    path: str | Path, task: str, game: TabularGame, runs: Mapping[int, Sequence[Learned]]
) -> None:
    """Write the policies of a task's runs.

    Args:
        path: Output file.
        task: Name of the task.
        game: The table on which they are scored.
        runs: Policies of each run by its seed, all of the same seats.

    Raises:
        StoreError: If the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    seats = list(zip(*runs.values(), strict=True))
    decided = decisions_of(game, [policies[0].sampled.player for policies in seats])
    for seat, (own, policies) in enumerate(zip(decided, seats, strict=True)):
        pairs = [own.packed(one) for one in policies]
        arrays |= {f"greedy_{seat}": np.array([greedy for greedy, _ in pairs])}
        arrays |= {f"sampled_{seat}": np.array([shares for _, shares in pairs])}
    header = {
        "kind": POLICIES.kind,
        "task": task,
        "model_hash": game.model_hash,
        "seeds": list(runs),
    }
    write_archive(path, header, arrays)


def read_policies(
    path: str | Path,
    task: str,
    game: TabularGame,
    players: Sequence[int],
    seeds: Sequence[int],
    wanted: Sequence[int] | None = None,
) -> dict[int, tuple[Learned, ...]]:
    """Read and check the policies of a task's runs.

    Args:
        path: A file written by :func:`write_policies`.
        task: The name that the file has to state.
        game: The table on which they are scored.
        players: The players whose policies each run has.
        seeds: Seeds of the runs, in their order.
        wanted: Seeds of the runs to unpack and check. Default: all.

    Raises:
        StoreError: If the file is missing, damaged, for another task, game or seeds, or its
            content is not policies of the game.
    """
    decided = decisions_of(game, players)

    def expected(header: dict[str, Any]) -> Shapes:
        for name, stated, own in (
            ("task", header["task"], task),
            ("model_hash", header["model_hash"], game.model_hash),
            ("seeds", header["seeds"], list(seeds)),
        ):
            if stated != own:
                raise ValueError(f"{name} is {shown(stated)}; expected {shown(own)}")
        return {
            f"{kind}_{seat}": (len(seeds), length)
            for seat, own in enumerate(decided)
            for kind, length in (("greedy", len(own.states)), ("sampled", int(own.kept.sum())))
        }

    _, arrays = read_archive(path, POLICIES, expected, largest=0)
    found: dict[int, tuple[Learned, ...]] = {}
    for seat, own in enumerate(decided):
        for kind, expected_type in own.types.items():
            if (name := f"{kind}_{seat}") not in arrays:
                raise StoreError(f"{path}: lacks {name}")
            if arrays[name].dtype != np.dtype(expected_type):
                raise StoreError(
                    f"{path}: {name} is {arrays[name].dtype}; expected {expected_type}"
                )
    for row, seed in enumerate(seeds):
        if wanted is not None and seed not in wanted:
            continue
        policies = []
        for seat, own in enumerate(decided):
            try:
                rows = (arrays[f"{kind}_{seat}"][row] for kind in ("greedy", "sampled"))
                policies.append(own.unpacked(*rows))
            except ValueError as error:
                raise StoreError(f"{path}: seed {seed}, seat {seat}: {error}") from error
        found[seed] = tuple(policies)
    return found
