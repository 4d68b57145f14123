"""Compiles a whole book to arrays, block by block.

A page is a state: a position in the book at which the player decides, and the hero's fields. Each
section is processed before those that it leads to, and its blocks in the order of the text. So
when a block is processed, all of its pages are known, except those that its own fight or shop leads
to, which follow in rounds. The pages at one position are the rows of an integer array, and sorting
finds equal ones.

The rules compute the outcomes only once for all pages that agree in the fields that matter there
(the *touched* ones, :class:`~.effects.Liveness`). The other fields are copied.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import Place
from solvent.games.gamebook.page import Page, PageLayout, Position
from solvent.model.arrays import Ints, members
from solvent.model.cache import Packed
from solvent.model.tabular import RationalGame, TabularGame
from solvent.model.walk import CollectedArrays, TooManyStatesError

Columns = NDArray[np.int32]
"""[n, L + K]: L live fields and K local numbers of n pages at one position."""


def grouped(columns: Columns) -> tuple[Ints, Ints]:
    """Number the groups of equal rows by first appearance.

    Args:
        columns: [n, W].

    Returns:
        first: [G] the first row of each group, ascending.
        label: [n] the group of each row.
    """
    # Compared as bytes, of which each row has some.
    rows = np.ascontiguousarray(np.pad(columns, ((0, 0), (0, 1))))
    whole = rows.view(f"V{rows.itemsize * rows.shape[1]}")
    _, first, label = np.unique(whole, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(first))
    return first[by_appearance], rank[label.reshape(-1)]


@dataclass(frozen=True, eq=False)
class Pages(Sequence[Page]):
    """The states of a book, created on demand.

    Attributes:
        start: [B+1] state i is in batch b if ``start[b] <= i < start[b + 1]``.
        batches: [B] pages as columns; all pages of a batch are at one position.
    """

    start: list[int]
    batches: list[tuple[PageLayout, Columns]]

    def __len__(self) -> int:
        """The number of states."""
        return self.start[-1]

    def __getitem__(self, index: Any) -> Any:
        """A state by its index, or those of a slice."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no state {index}; there are {len(self)}")
        state = int(index) % len(self)
        batch = bisect_right(self.start, state) - 1
        layout, columns = self.batches[batch]
        return layout.page(columns[state - self.start[batch]].tolist())

    def packed(self) -> Packed:
        """Return the pages in the form in which they are cached."""
        batches = [(its.at, its.fields, its.count, cells.shape) for its, cells in self.batches]
        cells = np.concatenate([cells.ravel() for _, cells in self.batches])
        return Packed({"batches": batches}, {"cells": cells})

    @classmethod
    def unpacked(cls, packed: Packed) -> Self:
        """Make the pages that :meth:`packed` has packed."""
        shapes = [shape for *_, shape in packed.header["batches"]]
        ends = np.cumsum([0, *(pages * width for pages, width in shapes)])
        batches = [
            (PageLayout(tuple(at), tuple(fields), count), cells.reshape(shape))
            for (at, fields, count, shape), cells in zip(
                packed.header["batches"], np.split(packed.arrays["cells"], ends[1:-1]), strict=True
            )
        ]
        return cls([0, *accumulate(pages for pages, _ in shapes)], batches)


Arrivals: TypeAlias = list[tuple[Columns, Ints]]
"""Pages at one position, each with the number of the outcome that reaches it."""


class Tabulation:
    """The compilation of a book.

    Args:
        game: The book, a :class:`~solvent.games.gamebook.rules.Gamebook`.
        max_states: Largest number of states; larger books are refused.
    """

    def __init__(self, game: Any, max_states: int) -> None:
        self._game = game
        self._width = len(game.info.actions[0])
        self._max_states = max_states
        self._numbers: dict[Fraction, int] = {}
        self._arrivals: dict[Place, dict[Position, Arrivals]] = {}
        self._seen: dict[Position, tuple[Columns, Ints]] = {}
        self._start = [0]
        self._batches: list[tuple[PageLayout, Columns]] = []
        self._pieces, self._outcomes = CollectedArrays(), 0

    def run(self) -> RationalGame:
        """Return the arrays.

        Raises:
            TooManyStatesError: If there are more states.
            ValueError: If a probability is too small for a float.
        """
        game = self._game
        start = game.initial()
        layout = game.layout((0, 0, "", ""))
        self._expand(layout, np.array([layout.row(outcome.state) for outcome in start], np.int32))
        for place in game.place_number:
            while arrivals := self._arrivals.pop(place, None):
                for at, found in sorted(arrivals.items()):
                    self._arrive(self._game.layout(at), found)
            self._seen.clear()
        return self._assembled({i: outcome.probability for i, outcome in enumerate(start)})

    def _arrive(self, layout: PageLayout, arrivals: Arrivals) -> None:
        """Number the new pages, set the targets of the outcomes, and expand the new pages."""
        columns, outcomes = (np.concatenate(parts) for parts in zip(*arrivals, strict=True))
        old, old_index = self._seen.get(layout.at, (columns[:0], np.zeros(0, np.int64)))
        first, label = grouped(np.concatenate((old, columns)))
        # Old pages are all different and come first, so they are the first groups.
        new = first[len(old) :] - len(old)
        begin = self._start[-1]
        index = np.concatenate((old_index, begin + np.arange(len(new))))
        self._seen[layout.at] = (np.concatenate((old, columns[new])), index)
        self._pieces.add(outcome=outcomes, target=index[label[len(old) :]])
        if len(new):
            self._expand(layout, columns[new])

    def _expand(self, layout: PageLayout, columns: Columns) -> None:
        """Add new pages, and compute their outcomes."""
        self._start.append(self._start[-1] + len(columns))
        self._batches.append((layout, columns))
        if self._start[-1] > self._max_states:
            what = f"{self._game.book.title!r} has more than {self._max_states} states"
            cure = "narrow the ranges of variables, or use them for fewer sections"
            raise TooManyStatesError(f"{what}, reached in section {layout.at[0]}; {cure}")
        if layout.at[3]:
            self._pieces.add(legal=np.zeros((len(columns), self._width), bool))
            return
        position = self._game.book.position
        fields = {position[name] for name in self._game.liveness.touched(layout.at)}
        touched = [i for i, field in enumerate(layout.fields) if field in fields]
        local = range(len(layout.fields), columns.shape[1])
        first, label = grouped(columns[:, [*touched, *local]])
        legal, start, entries, targets = self._project(layout, columns[first], fields)

        entry, length = members(start, label)
        source = np.repeat(np.arange(len(columns)), length)
        actions = legal.sum(axis=1)[label]
        rank, probability, reward, target_of = entries[:, entry]
        row = (np.cumsum(actions) - actions)[source] + rank
        self._pieces.add(
            legal=legal[label],
            length=np.bincount(row, minlength=int(actions.sum())),
            probability=probability.astype(np.int32),
            reward=reward.astype(np.int32),
        )
        numbers = self._outcomes + np.arange(len(entry))
        self._outcomes += len(entry)

        copied = {field: i for i, field in enumerate(layout.fields) if i not in touched}
        for number, (target, pages) in enumerate(targets):
            reaching = np.flatnonzero(target_of == number)
            arriving = pages[entry[reaching]]
            for column, field in enumerate(target.fields):
                if field in copied:
                    arriving[:, column] = columns[source[reaching], copied[field]]
            there = self._arrivals.setdefault(target.at[:2], {})
            there.setdefault(target.at, []).append((arriving, numbers[reaching]))

    def _project(
        self, layout: PageLayout, columns: Columns, touched: set[int]
    ) -> tuple[NDArray[np.bool_], Ints, Ints, list[tuple[PageLayout, Columns]]]:
        """Compute the outcomes of pages by the rules, with the untouched fields unknown.

        Args:
            layout: Layout of the pages.
            columns: [U, L + K] the pages.
            touched: Indices of the touched fields.

        Returns:
            legal: [U, A] whether an action is legal.
            start: [U+1] page u has the entries, its outcomes, ``start[u] : start[u + 1]``.
            entries: [4, E] rank of the entry's action among the legal ones, index of its
                probability and of its reward in `_numbers`, and index of its target position.
            targets: Layout of each position that is reached, and columns by entry.
        """
        legal = np.zeros((len(columns), self._width), bool)
        start = [0]
        entries: list[tuple[int, int, int]] = []
        reached: dict[Position, dict[int, list[int]]] = {}
        numbers = self._numbers
        for u, row in enumerate(columns.tolist()):
            page = layout.page(row)
            values = tuple(v if i in touched else None for i, v in enumerate(page.values))
            page = page._replace(values=values)
            for rank, action in enumerate(self._game.legal_actions(page)[0]):
                legal[u, action] = True
                for outcome in self._game.transition(page, (action,)):
                    if not float(outcome.probability):
                        what = "a probability is below 10^-323, too small for a float"
                        raise ValueError(f"section {page.section}: {what}; make it larger")
                    at = outcome.state.at
                    reached.setdefault(at, {})[len(entries)] = self._game.layout(at).row(
                        outcome.state
                    )
                    two = (outcome.probability, Fraction(outcome.reward))
                    p, reward = (numbers.setdefault(n, len(numbers)) for n in two)
                    entries.append((rank, p, reward))
            start.append(len(entries))
        targets = []
        target_of = np.zeros(len(entries), np.int64)
        for number, (at, rows) in enumerate(reached.items()):
            pages = np.zeros((len(entries), len(next(iter(rows.values())))), np.int32)
            pages[list(rows)] = list(rows.values())
            target_of[list(rows)] = number
            targets.append((self._game.layout(at), pages))
        columns_of = np.array(entries, np.int64).reshape(-1, 3).T
        return legal, np.array(start), np.vstack((columns_of, target_of)), targets

    def _assembled(self, begins: dict[int, Fraction]) -> RationalGame:
        states, joined = Pages(self._start, self._batches), self._pieces.joined
        legal, probability, reward = map(joined, ("legal", "probability", "reward"))
        next_state = np.empty(self._outcomes, np.int64)
        next_state[joined("outcome")] = joined("target")
        floats = np.array([float(number) for number in self._numbers])
        initial = np.zeros(len(states))
        for state, p in begins.items():
            initial[state] = float(p)
        table = TabularGame(
            info=self._game.info,
            states=states,
            row_start=np.concatenate(([0], np.cumsum(legal.sum(axis=1)))),
            outcome_start=np.concatenate(([0], np.cumsum(joined("length")))),
            next_state=next_state,
            probability=floats[probability],
            outcome_reward=floats[reward],
            mask=(legal, np.asarray(legal.any(axis=1))[:, None]),
            initial=initial,
            observation=(self._observed(states),),
        )
        return RationalGame(table, tuple(self._numbers), probability, reward, begins)

    def _observed(self, states: Pages) -> NDArray[np.float32]:
        seen = np.empty((len(states), len(self._game.info.observation_labels)), np.float32)
        for begin, (layout, columns) in zip(states.start, states.batches, strict=False):
            live = len(layout.fields)
            values = np.zeros((len(columns), layout.count), np.int64)
            values[:, list(layout.fields)] = columns[:, :live]
            seen[begin : begin + len(columns)] = self._game.observe_all(
                layout.at, values, columns[:, live:]
            )
        return seen
