"""The policies of many runs of a task in one small file.

Only the decisions of a player are kept: the states in which it has several legal actions, and
those actions. For each seat s of R runs,

========================  ============  =========================================================
array                     shape         numbers
========================  ============  =========================================================
``greedy_<s>``            [R, states]   the action, uint8 (uint16 in games of more than 256)
``sampled_<s>``           [R, pairs]    the probability of each state's legal actions in turn,
                                        as a share of :data:`UNIT`, uint16
========================  ============  =========================================================

A state's shares sum to :data:`UNIT` exactly. So a policy that comes back is a distribution in every
state, and differs from the one that was kept by less than 1/:data:`UNIT` in each probability; what
is scored is the one that comes back. The file is an archive (:mod:`solvent.exact.archive`): its
shapes follow from the game, and are compared before anything is unpacked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.benchmark.policies import Learned
from solvent.exact.archive import ArraySchema, Schema, Shapes, read_archive, write_archive
from solvent.exact.store import StoreError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import shown

UNIT = 65_535
"""The share that stands for probability 1."""

POLICIES = Schema(
    "policies",
    {"task": str, "model_hash": str, "seeds": list},
    {"greedy_*": ArraySchema("", 2), "sampled_*": ArraySchema("uint16", 2)},
)


class Decisions:
    """The decisions of a player in a game.

    Args:
        game: The game.
        player: The player that decides, 0 or 1.

    Attributes:
        states: [C] the states in which there are several legal actions.
        begins: [C] index of the first pair of each of them.
        actions: [K] the legal action of each pair of such a state and an action.
    """

    def __init__(self, game: TabularGame, player: int) -> None:
        self.game, self.player = game, player
        mask = game.mask[player] & ~game.terminal[:, None]
        self.states: Ints = np.flatnonzero(mask.sum(axis=1) > 1)
        of_state, self.actions = np.nonzero(mask[self.states])
        self.begins: Ints = np.searchsorted(of_state, np.arange(len(self.states)))
        self._of_state = of_state
        # Where there is one legal action it is taken; argmax finds it.
        forced = np.flatnonzero(mask.sum(axis=1) == 1)
        self._alone = np.zeros(mask.shape)
        self._alone[forced, mask[forced].argmax(axis=1)] = 1.0

    @property
    def action_type(self) -> str:
        """The type of an action."""
        return "uint8" if self.game.mask[self.player].shape[1] <= 256 else "uint16"

    def greedy_of(self, policy: TabularPolicy) -> NDArray[Any]:
        """Return the actions [C] of a policy that takes one for certain in every state."""
        actions = policy.probabilities[self.states].argmax(axis=1)
        return np.asarray(actions, self.action_type)

    def shares_of(self, policy: TabularPolicy) -> NDArray[Any]:
        """Return the shares [K] of a policy's actions, rounded by the largest remainders."""
        chances = policy.normalized()[self.states[self._of_state], self.actions] * UNIT
        shares = np.floor(chances)
        if not len(self.states):
            return shares.astype(np.uint16)
        left = UNIT - np.add.reduceat(shares, self.begins)
        order = np.lexsort((shares - chances, self._of_state))
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order)) - self.begins[self._of_state[order]]
        return (shares + (rank < left[self._of_state])).astype(np.uint16)

    def greedy(self, actions: NDArray[Any]) -> TabularPolicy:
        """Return the policy that takes one action in every state.

        Args:
            actions: [C] the action of each state.

        Raises:
            ValueError: If one is not legal.
        """
        mask = self.game.mask[self.player]
        legal = actions < mask.shape[1]
        legal[legal] = mask[self.states[legal], actions[legal]]
        if not legal.all():
            at = int(np.argmin(legal))
            raise ValueError(f"takes the action {actions[at]} in {self._state(at)}: not legal")
        probabilities = self._alone.copy()
        probabilities[self.states, actions] = 1.0
        return self._policy(probabilities, "greedy")

    def sampled(self, shares: NDArray[Any]) -> TabularPolicy:
        """Return the policy of some shares.

        Args:
            shares: [K] the share of each pair.

        Raises:
            ValueError: If those of a state do not sum to :data:`UNIT`.
        """
        probabilities = self._alone.copy()
        if len(self.states):
            total = np.add.reduceat(shares.astype(np.int64), self.begins)
            if (total != UNIT).any():
                at = int(np.argmax(total != UNIT))
                raise ValueError(
                    f"gives shares that sum to {total[at]} in {self._state(at)}; expected {UNIT}"
                )
            probabilities[self.states[self._of_state], self.actions] = shares / UNIT
        return self._policy(probabilities, "sampled")

    def check_greedy(self, actions: NDArray[Any], shares: NDArray[Any]) -> None:
        """Refuse greedy actions that are not the most probable ones of some shares.

        An illegal choice counts as the lowest legal action. Where that has weight, the learner's
        own most probable action may be any of the others' most probable one.

        Args:
            actions: [C] legal actions.
            shares: [K] the share of each pair.

        Raises:
            ValueError: If there is such a state; shares are compared to within their rounding.
        """
        if not len(self.states):
            return
        place = np.full(self.game.mask[self.player].shape, -1)
        place[self.states[self._of_state], self.actions] = np.arange(len(self.actions))
        own = shares[place[self.states, actions]].astype(np.int64)
        others = shares.astype(np.int64)
        lowest = actions == self.actions[self.begins]
        others[self.begins[~lowest]] = 0
        wrong = own + 1 < np.maximum.reduceat(others, self.begins)
        if wrong.any():
            state = self._state(int(np.argmax(wrong)))
            raise ValueError(f"is greedy with what is not the most probable action in {state}")

    def _state(self, at: int) -> str:
        return f"state {shown(self.game.states[int(self.states[at])])}"

    def _policy(self, probabilities: Floats, name: str) -> TabularPolicy:
        return TabularPolicy.of(self.game, probabilities, player=self.player, name=name)


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
    for seat, policies in enumerate(zip(*runs.values(), strict=True)):
        own = Decisions(game, policies[0].sampled.player)
        arrays[f"greedy_{seat}"] = np.array([own.greedy_of(one.mode) for one in policies])
        arrays[f"sampled_{seat}"] = np.array([own.shares_of(one.sampled) for one in policies])
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
    decided = [Decisions(game, player) for player in players]

    def expected(header: dict[str, Any]) -> Shapes:
        for name, stated, own in (
            ("task", header["task"], task),
            ("model_hash", header["model_hash"], game.model_hash),
            ("seeds", header["seeds"], list(seeds)),
        ):
            if stated != own:
                raise ValueError(f"{name} is {shown(stated)}; expected {shown(own)}")
        return {
            f"{kind}_{seat}": (len(seeds), len(own.states if kind == "greedy" else own.actions))
            for seat, own in enumerate(decided)
            for kind in ("greedy", "sampled")
        }

    _, arrays = read_archive(path, POLICIES, expected, largest=0)
    found: dict[int, tuple[Learned, ...]] = {}
    for seat, own in enumerate(decided):
        for name in (f"greedy_{seat}", f"sampled_{seat}"):
            if name not in arrays:
                raise StoreError(f"{path}: lacks {name}")
        if (kind := arrays[f"greedy_{seat}"].dtype) != np.dtype(own.action_type):
            raise StoreError(f"{path}: greedy_{seat} is {kind}; expected {own.action_type}")
    for row, seed in enumerate(seeds):
        if wanted is not None and seed not in wanted:
            continue
        policies = []
        for seat, own in enumerate(decided):
            actions, shares = arrays[f"greedy_{seat}"][row], arrays[f"sampled_{seat}"][row]
            try:
                policies.append(Learned(own.sampled(shares), own.greedy(actions)))
                own.check_greedy(actions, shares)
            except ValueError as error:
                raise StoreError(f"{path}: seed {seed}, seat {seat}: {error}") from error
        found[seed] = tuple(policies)
    return found
