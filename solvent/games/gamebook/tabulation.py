"""A whole book as arrays, section by section.

Sections are taken in an order in which each comes before all that it leads to, and in a section the
blocks in the order of the text; so when a block's turn has come, every page on which play stops
there is known, except for those that a fight or a shop leads to, which follow in waves. The pages
at one position are rows of an array of small numbers, and equal ones are found by sorting.

What follows from a page is asked of the rules, but only once for all pages that agree in the fields
that have a say in it (:class:`~.effects.Liveness`); the other fields are copied.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import Place
from solvent.games.gamebook.expressions import Range
from solvent.games.gamebook.page import Page, Position
from solvent.model.arrays import Ints, concatenated_ranges
from solvent.model.tabular import RationalGame, TabularGame
from solvent.model.walk import Pieces, TooManyStatesError

Columns = NDArray[np.int32]
"""[n, L + K]: the live fields of n pages at one position, then their local numbers."""


@dataclass(frozen=True, eq=False)
class PageLayout:
    """The meaning of the columns of pages at a position.

    Attributes:
        at: The position.
        fields: [L] indices of the live fields, ascending.
        count: Number of fields of the book.
        ends: [L + K] smallest and largest value of each column.
    """

    at: Position
    fields: tuple[int, ...]
    count: int
    ends: Sequence[Range]

    def page(self, row: Sequence[int]) -> Page:
        """The page of a row of columns."""
        values: list[int | None] = [None] * self.count
        for place, value in zip(self.fields, row, strict=False):
            values[place] = value
        section, block, step, ending = self.at
        return Page(section, block, step, tuple(values), tuple(row[len(self.fields) :]), ending)

    def row(self, page: Page) -> list[int]:
        """The columns of a page; 0 for a field that is not known."""
        return [page.values[place] or 0 for place in self.fields] + list(page.local)

    def keys(self, columns: Columns, which: Sequence[int] | None = None) -> Ints:
        """Return keys of rows, a few integers [n, W], that are equal only for equal rows.

        Args:
            columns: Columns of pages.
            which: The columns that count; all if left out.
        """
        words = [np.zeros(len(columns), np.int64)]
        room = 2**62
        for column in range(columns.shape[1]) if which is None else which:
            low, high = self.ends[column]
            size = high - low + 1
            if size > room:
                words.append(np.zeros(len(columns), np.int64))
                room = 2**62
            words[-1] *= size
            words[-1] += columns[:, column] - low
            room //= size
        return np.stack(words, axis=1)


def grouped(keys: Ints) -> tuple[Ints, Ints]:
    """Group equal rows of keys, in the order in which they first appear.

    Args:
        keys: [n, W].

    Returns:
        first: [G] the rows at which groups first appear, ascending.
        label: [n] the group of each row.
    """
    rows = keys if keys.shape[1] > 1 else keys[:, 0]
    _, first, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(first))
    return first[by_appearance], rank[label.reshape(-1)]


@dataclass(frozen=True, eq=False)
class Pages(Sequence[Page]):
    """The states of a book, created on demand.

    Attributes:
        start: [B+1] state i is in batch b if ``start[b] <= i < start[b + 1]``.
        batches: [B] pages at one position each, as columns.
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
        place = int(index) % len(self)
        batch = bisect_right(self.start, place) - 1
        layout, columns = self.batches[batch]
        return layout.page(columns[place - self.start[batch]].tolist())


Arrivals: TypeAlias = list[tuple[Columns, Ints]]
"""Pages at one position, and the outcomes that reach them."""


class Tabulation:
    """The arrays of a book.

    Args:
        game: The book, a :class:`~solvent.games.gamebook.rules.Gamebook`.
        max_states: Refuse larger books instead of filling the memory.
    """

    def __init__(self, game: Any, max_states: int) -> None:
        self._game = game
        self._width = len(game.info.actions[0])
        self._max_states = max_states
        self._layouts: dict[Position, PageLayout] = {}
        self._numbers: dict[Fraction, int] = {}
        self._arrivals: dict[Place, dict[Position, Arrivals]] = {}
        self._seen: dict[Position, tuple[Ints, Ints]] = {}
        self._start = [0]
        self._batches: list[tuple[PageLayout, Columns]] = []
        self._pieces, self._outcomes = Pieces(), 0

    def run(self) -> RationalGame:
        """Return the arrays.

        Raises:
            TooManyStatesError: If there are more states.
            ValueError: If a probability is too small for a float.
        """
        game = self._game
        start = game.initial()
        layout = self._layout((0, 0, "", ""))
        self._go_on(layout, np.array([layout.row(outcome.state) for outcome in start], np.int32))
        nodes = (node for n in game.liveness.sections for node in game.book.in_section(n))
        # A block precedes all its successors.
        picks = [(0, picked) for picked in range(1, game.book.disciplines.pick)]
        for place in (*picks, *(node.place for node in nodes)):
            while arrivals := self._arrivals.pop(place, None):
                for at, found in sorted(arrivals.items()):
                    self._arrive(self._layout(at), found)
            self._seen.clear()
        return self._assembled({i: outcome.probability for i, outcome in enumerate(start)})

    def _layout(self, at: Position) -> PageLayout:
        if at not in self._layouts:
            book, live = self._game.book, self._game.liveness.live(at)
            fields = tuple(i for i, name in enumerate(book.fields) if name in live)
            ends = [*(book.ranges[name] for name in book.fields if name in live)]
            ends += self._game.local_bounds(at)
            self._layouts[at] = PageLayout(at, fields, len(book.fields), ends)
        return self._layouts[at]

    def _arrive(self, layout: PageLayout, arrivals: Arrivals) -> None:
        """Number the new pages, set the targets of the outcomes, and continue from there."""
        columns, outcomes = (np.concatenate(parts) for parts in zip(*arrivals, strict=True))
        keys = layout.keys(columns)
        old_keys, old_index = self._seen.get(layout.at, (keys[:0], np.zeros(0, np.int64)))
        first, label = grouped(np.concatenate((old_keys, keys)))
        # The old ones are all different and come first, so they are the first groups.
        new = first[len(old_keys) :] - len(old_keys)
        begin = self._start[-1]
        index = np.concatenate((old_index, begin + np.arange(len(new))))
        self._seen[layout.at] = (np.concatenate((old_keys, keys[new])), index)
        self._pieces.add(outcome=outcomes, target=index[label[len(old_keys) :]])
        if len(new):
            self._go_on(layout, columns[new])

    def _go_on(self, layout: PageLayout, columns: Columns) -> None:
        """Add new pages, and compute their outcomes."""
        self._start.append(self._start[-1] + len(columns))
        self._batches.append((layout, columns))
        if self._start[-1] > self._max_states:
            what = f"{self._game.book.title!r} has more than {self._max_states} states"
            cure = "narrow the ranges of variables or let them matter less long"
            raise TooManyStatesError(f"{what}, reached in section {layout.at[0]}; {cure}")
        if layout.at[3]:
            self._pieces.add(legal=np.zeros((len(columns), self._width), bool))
            return
        names = self._game.liveness.touched(layout.at)
        position = {self._game.book.position[name] for name in names}
        touched = [i for i, place in enumerate(layout.fields) if place in position]
        local = range(len(layout.fields), columns.shape[1])
        first, label = grouped(layout.keys(columns, [*touched, *local]))
        known = {layout.fields[i] for i in touched}
        legal, start, entries, targets = self._project(layout, columns[first], known)

        length = np.diff(start)[label]
        entry = concatenated_ranges(start[label], length)
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

        carried = {place: i for i, place in enumerate(layout.fields) if i not in touched}
        for number, (target, pages) in enumerate(targets):
            led = np.flatnonzero(target_of == number)
            arriving = pages[entry[led]]
            for column, place in enumerate(target.fields):
                if place in carried:
                    arriving[:, column] = columns[source[led], carried[place]]
            there = self._arrivals.setdefault(target.at[:2], {})
            there.setdefault(target.at, []).append((arriving, numbers[led]))

    def _project(
        self, layout: PageLayout, columns: Columns, touched: set[int]
    ) -> tuple[NDArray[np.bool_], Ints, Ints, list[tuple[PageLayout, Columns]]]:
        """Compute the outcomes of pages by the rules, independently of the untouched fields.

        Returns:
            legal: [U, A] by page and action.
            start: [U+1] the entries of page u are ``start[u] : start[u + 1]``.
            entries: [4, E] for each entry: its index among the legal actions of its page, the
                indices of its probability and its reward among all numbers, and its target.
            targets: The positions that are reached, with the columns of the pages there by entry.
        """
        legal = np.zeros((len(columns), self._width), bool)
        start = [0]
        entries: list[tuple[int, int, int]] = []
        led: dict[Position, dict[int, list[int]]] = {}
        known = self._numbers
        for u, row in enumerate(columns.tolist()):
            page = layout.page(row)
            values = tuple(v if i in touched else None for i, v in enumerate(page.values))
            page = page._replace(values=values)
            for rank, action in enumerate(self._game.legal_actions(page)[0]):
                legal[u, action] = True
                for outcome in self._game.transition(page, (action,)):
                    if not float(outcome.probability):
                        what = "something has a probability that is not 0 but below 10^-323"
                        cure = "which floats cannot hold; let it be likelier"
                        raise ValueError(f"section {page.section}: {what}, {cure}")
                    at = outcome.state.at
                    led.setdefault(at, {})[len(entries)] = self._layout(at).row(outcome.state)
                    two = (outcome.probability, Fraction(outcome.reward))
                    p, reward = (known.setdefault(n, len(known)) for n in two)
                    entries.append((rank, p, reward))
            start.append(len(entries))
        targets = []
        target_of = np.zeros(len(entries), np.int64)
        for number, (at, rows) in enumerate(led.items()):
            pages = np.zeros((len(entries), len(self._layout(at).ends)), np.int32)
            pages[list(rows)] = list(rows.values())
            target_of[list(rows)] = number
            targets.append((self._layout(at), pages))
        numbers = np.vstack((np.array(entries, np.int64).reshape(-1, 3).T, target_of))
        return legal, np.array(start), numbers, targets

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
