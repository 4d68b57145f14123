"""A game in the form in which Gymnasium's toy-text environments publish theirs.

``P[s][a]`` is a list of ``(probability, next_state, reward, terminated)``: what textbook value
iteration reads. As in toy-text, every state has every action, and an ended episode stays where it
is without reward. An illegal action has the branches of the legal one that the environment plays
in its place, so ``P`` describes the environment and not only the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from solvent.envs.sampling_table import SamplingTable

Branch: TypeAlias = tuple[float, int, float, bool]


class TransitionDict(Mapping[int, dict[int, list[Branch]]]):
    """``P`` of a sampling table; the branches of a state are built when they are asked for."""

    def __init__(self, table: SamplingTable) -> None:
        self._table = table

    def __getitem__(self, state: int) -> dict[int, list[Branch]]:
        """The branches of every action in a state.

        Raises:
            KeyError: If there is no such state.
        """
        if not 0 <= state < len(self):
            raise KeyError(state)
        spans = self._table.span[state].tolist()
        if self._table.terminal[state]:
            return {action: [(1.0, state, 0.0, True)] for action in range(len(spans))}
        return {
            action: self._branches(slice(max(first, ~first), last + 1))
            for action, (first, last) in enumerate(spans)
        }

    def _branches(self, outcomes: slice) -> list[Branch]:
        table = self._table
        target = table.next_state[outcomes]
        columns = (
            table.probability[outcomes],
            target,
            table.reward[outcomes],
            table.terminal[target],
        )
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return len(self._table.span)
