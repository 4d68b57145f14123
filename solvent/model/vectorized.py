"""Rules that are written for arrays of states, for games of a million states and more.

A state is a named tuple of whole numbers. The rules take a tuple of the same class whose entries
are arrays, [n], one entry for each of n states, and return the outcomes of a joint action in all of
them at once. The methods for single states are derived from these, so the game works everywhere.
Its table is built some ten times faster.

    class Cell(NamedTuple):
        row: int
        column: int

    class Corridor(VectorizedGame):
        state_type, sizes, total = Cell, (1, 10), 4

        def terminal(self, states):
            return states.column == 9

        def expand(self, states, joint_action):
            onward = states.column[:, None] + np.array([1, 0])  # one column a branch
            return Expansion(True, np.array([3, 1]), Cell(states.row[:, None], onward), -1)
"""

from collections import deque
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Ints
from solvent.model.game import Alternating, GameInfo, JointAction, Outcome
from solvent.model.table_cache import LazyStates
from solvent.model.tabular import TabularGame
from solvent.model.walk import CollectedArrays, check_distribution

BLOCK = 2**14
"""Number of states that are expanded at a time."""

LARGEST = 2**28
"""The largest product of the sizes of all fields: 4 bytes are held for each."""


class Expansion(NamedTuple):
    """Outcomes of a joint action in n states, each with up to B branches.

    Attributes:
        legal: Whether the joint action is legal in each state; broadcasts to [n].
        weights: The probability of each branch times the game's `total`, an integer; 0 if there is
            no such branch. Broadcasts to [n, B].
        states: The states that follow, a tuple of arrays that each broadcast to [n, B]. They are
            ignored where the action is illegal or the weight is 0.
        rewards: The reward of each branch to player 0; broadcasts to [n, B].
    """

    legal: Any
    weights: Any
    states: Any
    rewards: Any = 0


class VectorizedGame:
    """Base class of games whose rules are written for arrays of states.

    A subclass defines the attributes below, and the methods :meth:`initial`, :meth:`terminal` and
    :meth:`expand`. If its players take turns, it also defines ``turn``, which takes one state or
    arrays.

    Attributes:
        info: Description of the game.
        state_type: The class of the states, a named tuple of whole numbers from 0.
        sizes: The number of values of each field of a state.
        total: The sum of the weights of all branches of an action.
    """

    info: GameInfo
    state_type: Any
    sizes: tuple[int, ...]
    total: int = 1

    def initial(self) -> tuple[Outcome, ...]:
        """Return the distribution over states in which an episode begins."""
        raise NotImplementedError

    def terminal(self, states: Any) -> Bools:
        """Return whether the episode has ended, [n]."""
        raise NotImplementedError

    def expand(self, states: Any, joint_action: JointAction) -> Expansion:
        """Return the outcomes of a joint action in n states that are not terminal."""
        raise NotImplementedError

    def observations(self, states: Any, player: int) -> NDArray[np.float32]:
        """Return a player's observations, [n, D]; by default the fields, scaled to 0..1."""
        scale = np.maximum(np.array(self.sizes) - 1, 1)
        return np.asarray(np.stack(states, axis=1) / scale, np.float32)

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode has ended in one state."""
        return bool(np.broadcast_to(self.terminal(self._alone(state)), 1)[0])

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        """Return the legal actions of each player in one state."""
        alone = self._alone(state)
        legal = [j for j in self._joint_actions() if self._expanded(alone, j)[0][0]]
        return tuple(tuple(sorted(set(own))) for own in zip(*legal, strict=True))

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the branches that follow from a joint action in one state."""
        _, weights, targets, rewards = self._expanded(self._alone(state), joint_action)
        states = np.stack(self._fields(targets[0]), axis=1).tolist()
        branches = zip(weights[0].tolist(), states, rewards[0].tolist(), strict=True)
        return tuple(
            Outcome(Fraction(weight, self.total), self.state_type(*fields), Fraction(str(reward)))
            for weight, fields, reward in branches
            if weight
        )

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Return a player's observation of one state."""
        return np.asarray(self.observations(self._alone(state), player)[0])

    def draw(self, state: Any) -> str:
        """Return the fields of a state as text, unless a game overrides it."""
        return ", ".join(f"{name} {value}" for name, value in state._asdict().items())

    def tabulate(self) -> TabularGame:
        """Return the table, in which the states have the order of a walk through the rules.

        Raises:
            ValueError: If the weights of a legal action do not sum to `total`, one is negative, a
                next state is out of range, a state that is not terminal has no legal action, or an
                array does not broadcast to its shape; the message names the action, and the state
                if it is about one.
        """
        if prod(self.sizes) > LARGEST:
            raise ValueError(
                f"{self.info.name}: sizes is {self.sizes}; allowed are up to {LARGEST} combinations"
            )
        start, pieces = self.initial(), CollectedArrays()
        chances = [outcome.probability for outcome in start]
        check_distribution(self.info.name, chances, "the initial distribution")
        first = [int(np.ravel_multi_index(tuple(outcome.state), self.sizes)) for outcome in start]
        number = np.full(prod(self.sizes), -1, np.int32)
        queue = deque([np.array(list(dict.fromkeys(first)))])
        count = len(queue[0])
        number[queue[0]] = np.arange(count)
        while queue:
            block = queue.popleft()
            fresh = self._add_block(block, number, count, pieces)
            count += len(fresh)
            queue.extend(fresh[i : i + BLOCK] for i in range(0, len(fresh), BLOCK))
        initial = np.zeros(count)
        np.add.at(initial, number[first], np.array(chances, float))
        del number
        states = self._fields(pieces.joined("code"))
        return TabularGame(
            info=self.info,
            states=LazyStates(count, partial(_named, self.state_type, states)),
            **pieces.fields(pieces.joined("row_count")),
            mask=(pieces.joined("mask_0"), pieces.joined("mask_1")),
            initial=initial,
            observation=tuple(self.observations(states, p) for p in range(self.info.players)),
            turn=np.asarray(self.turn(states)) if isinstance(self, Alternating) else None,
        )

    def _add_block(
        self, block: Ints, number: NDArray[Any], count: int, pieces: CollectedArrays
    ) -> Ints:
        """Add the arrays of a block of states to `pieces`.

        Args:
            block: [n] the states, as the numbers of their combinations of fields.
            number: The index of the state with each combination, -1 for a new one.
            count: Number of states that have an index.
            pieces: The arrays of the blocks before.

        Returns:
            The new states that follow, in the order in which they are met.
        """
        states = self._fields(block)
        live = np.flatnonzero(~np.broadcast_to(self.terminal(states), len(block)))
        joint = self._joint_actions()
        legal = np.zeros((len(block), len(joint)), bool)
        fresh = block[:0]
        if len(live):
            alive = self.state_type(*(column[live] for column in states))
            parts = [self._expanded(alive, actions) for actions in joint]
            legal[live] = np.stack([part[0] for part in parts], axis=1)
            stuck = live[~legal[live].any(axis=1)]
            if len(stuck):
                state = self.state_type(*(int(column[stuck[0]]) for column in states))
                raise ValueError(f"{self.info.name}: state {state!r} has no legal action")
            widest = max(part[1].shape[1] for part in parts)
            weights, codes, rewards = (
                np.stack([_padded(part[k], widest) for part in parts], axis=1) for k in (1, 2, 3)
            )
            present = weights > 0
            codes = codes[present]
            unknown = codes[number[codes] < 0]
            distinct, place = np.unique(unknown, return_index=True)
            fresh = distinct[np.argsort(place)]
            number[fresh] = np.arange(count, count + len(fresh))
            length = present.sum(axis=2)[legal[live]]
            total = np.full(len(length), self.total)
            pieces.add_rows(length, number[codes], weights[present], total, rewards[present])
        by_player = legal.reshape(len(block), len(self.info.actions[0]), -1)
        pieces.add(
            code=block,
            row_count=legal.sum(axis=1),
            mask_0=np.asarray(by_player.any(axis=2)),
            mask_1=np.asarray(by_player.any(axis=1)),
        )
        return fresh

    def _expanded(
        self, states: Any, joint_action: JointAction
    ) -> tuple[Bools, Ints, Ints, NDArray[np.float64]]:
        """Expand n states, and check what the rules return.

        Returns:
            Whether the joint action is legal, [n]; and of each branch, [n, B], its weight, 0 where
            the action is illegal, the number of the next state, and the reward.
        """
        found, n = Expansion(*self.expand(states, joint_action)), len(states[0])
        where = f"{self.info.name}: action {joint_action}"
        arrays = [np.asarray(a) for a in (found.weights, *found.states, found.rewards)]
        try:
            legal = np.broadcast_to(found.legal, n)
            weights, *fields, rewards = np.broadcast_arrays(np.zeros((n, 1)), *arrays)[1:]
        except ValueError as error:
            raise ValueError(f"{where}: {error}; expected [{n}] and [{n}, B]") from error
        if weights.ndim != 2 or len(weights) != n or len(fields) != len(self.sizes):
            raise ValueError(
                f"{where}: branches have the shape {weights.shape} and {len(fields)} fields; "
                f"expected [{n}, B] and {len(self.sizes)}"
            )
        if any(array.dtype.kind not in "iu" for array in (weights, *fields)):
            raise ValueError(f"{where}: weights and states are not whole numbers")
        weights = np.where(legal[:, None], weights, 0)
        sums = weights.sum(axis=1)
        within = [
            (field >= 0) & (field < size) for field, size in zip(fields, self.sizes, strict=True)
        ]
        for wrong, text in (
            (legal & (weights < 0).any(axis=1), "a weight is negative"),
            (legal & (sums != self.total), f"weights sum to {{}}, not to total, {self.total}"),
            (((weights > 0) & ~np.all(within, axis=0)).any(axis=1), "a next state is out of range"),
        ):
            if wrong.any():
                i = int(np.argmax(wrong))
                state = self.state_type(*(int(column[i]) for column in states))
                raise ValueError(f"{where}, state {state!r}: {text.format(sums[i])}")
        codes = np.ravel_multi_index(tuple(fields), self.sizes, mode="clip")
        return legal, weights, codes, rewards.astype(float)

    def _joint_actions(self) -> list[JointAction]:
        return list(product(*(range(len(names)) for names in self.info.actions)))

    def _alone(self, state: Any) -> Any:
        """Return one state as arrays, [1]."""
        return self.state_type(*(np.array([value]) for value in state))

    def _fields(self, codes: Ints) -> Any:
        return self.state_type(*np.unravel_index(codes, self.sizes))


def _named(kind: Any, columns: Any) -> tuple[Any, ...]:
    """The states of a class of named tuples, from the values of each field, [n]."""
    return tuple(map(kind, *(column.tolist() for column in columns)))


def _padded(branches: NDArray[Any], width: int) -> NDArray[Any]:
    """Return an array of branches, [n, B], padded with zeros to a width."""
    return np.pad(branches, ((0, 0), (0, width - branches.shape[1])))
