"""A gamebook as a game: pages as states, choices as actions, chance explicit.

A state is a :class:`~solvent.games.gamebook.page.Page`. Play stops wherever there is something to
read or to decide (:mod:`solvent.games.gamebook.story`): at every section, where often the only
action is to read on, at texts inside one, and at every decision of a fight or a shop. What happens
between two pages is one distribution, merged where it comes to the same.

Fields that matter no more are not part of a state (:mod:`solvent.games.gamebook.liveness`). That
changes no value and makes far fewer states. With ``forget=False`` all fields are kept, with
``keep=("gold",)`` that one is, so that final states tell how much is left of it.

The reward is the score of the ending, received when the episode ends. So the value of a state is
the expected score; with scores 1 and 0 it is the probability of winning.

**Actions** are numbers from 0: the option in the order of the book; in a shop 0 to leave, then the
trades; at the start the discipline in the order of the book; in a fight 0 to fight on or to keep
the damage, 1 to escape or to test LUCK. Where there is nothing to decide, 0 reads on.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import Book, Choices, Place
from solvent.games.gamebook.page import (
    STEPS,
    FinalState,
    Page,
    Position,
    draw_page,
    page_scene,
    place_text,
)
from solvent.games.gamebook.story import Odds, Story
from solvent.games.gamebook.tabulation import tabulate
from solvent.games.gamebook.values import one_line, similar
from solvent.model import WINS, GameInfo, JointAction, Outcome, RationalGame, TabularGame, Words
from solvent.model.scene import Scene


@dataclass(frozen=True, eq=False)
class Gamebook(Words):
    """A book to play.

    Args:
        book: The book, from :func:`solvent.games.gamebook.loader.load_book`.
        forget: Whether states leave out fields that no longer matter.
        name: The name under which :func:`solvent.games.gamebook.library.open_book` opens the
            book, if it does.
        keep: Names of fields that no state leaves out, not even a final one.

    Raises:
        ValueError: If the book's sections lead in a circle, or it has no field of a name in `keep`.
    """

    book: Book
    forget: bool = True
    name: str = ""
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Analyse the whole book, so that a cycle is detected here."""
        fields = self.book.fields
        for name in self.keep:
            if name not in fields:
                missing = one_line(f"{self.book.title!r} has no field {name!r}")
                raise ValueError(f"{missing}; {similar(name, fields)}")
        _ = self.story.liveness

    def __reduce__(self) -> tuple[type[Gamebook], tuple[Any, ...]]:
        """Pickle the arguments only, as derived attributes include functions."""
        return Gamebook, (self.book, self.forget, self.name, self.keep)

    @cached_property
    def story(self) -> Story:
        """The rules of the book."""
        return Story(self.book, self.forget, self.keep)

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        book = self.book
        scores = [float(ending.score) for ending in book.endings.values()]
        return GameInfo(
            name="gamebook",
            players=1,
            actions=(tuple(f"option {number + 1}" for number in range(self._most_actions)),),
            acyclic=True,
            reward_range=(min(scores), max(scores)),
            sources=(f"{book.title}, by {book.author}" if book.author else book.title,),
            parameters=(("book", self.name or book.title),),
            observation_labels=(
                *("place", "step", "ending"),
                *book.fields,
                *(f"local {number + 1}" for number in range(len(self._local_scale))),
            ),
            unit=WINS if {0.0, 1.0}.issuperset(scores) else "points",
        )

    @cached_property
    def _most_actions(self) -> int:
        options = [
            len(node.exit.root)
            for node in self.book.nodes.values()
            if isinstance(node.exit, Choices)
        ]
        trades = [len(there) + 1 for there in self.story.shops.values()]
        return max(2, len(self.book.picked), *options, *trades)

    def initial(self) -> tuple[Outcome, ...]:
        """The first page, with the fields' initial values."""
        return self._outcomes(self.story.beginning())

    def is_terminal(self, state: Page) -> bool:
        """Return whether an ending has been reached."""
        return state.step == "over"

    def legal_actions(self, state: Page) -> tuple[tuple[int, ...], ...]:
        """The actions; see the module for their numbers."""
        return (self.story.legal(state),)

    def labels(self, state: Page) -> dict[int, str]:
        """Return each legal action in words; empty if the episode has ended."""
        if self.is_terminal(state):
            return {}
        return {action: self.story.label(state, action) for action in self.story.legal(state)}

    def place(self, state: Page) -> str:
        """The place of a page in the book, in words."""
        return place_text(state)

    def entry_names(self) -> dict[str, tuple[str, ...]]:
        """The names of the book's fields, some of which a page also has."""
        names = self.book.fields
        return {"values": tuple(f"values {n}" if n in Page._fields else n for n in names)}

    def final_state(self, state: Page) -> FinalState:
        """The end of an episode: the ending, its section, and the values of the fields in `keep`.

        :meth:`solvent.exact.OptimalOccupancy.ends` groups by it to compute the distribution.
        """
        values = (state.values[self.book.position[name]] for name in self.keep)
        return FinalState(state.ending, state.section, tuple(values))

    def for_reader(self) -> Gamebook:
        """Return the same game with pages that keep all fields, as a reader expects to see them."""
        return replace(self, forget=False)

    def from_reader(self, state: Page) -> Page:
        """Return the page of this game for a page of :meth:`for_reader`."""
        live = self.story.live(state.at)
        values = zip(self.book.fields, state.values, strict=True)
        return state._replace(values=tuple(v if name in live else None for name, v in values))

    def transition(self, state: Page, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the next pages, sorted as tuples."""
        return self._outcomes(self.story.after(state, joint_action[0]))

    def _outcomes(self, odds: Odds) -> tuple[Outcome, ...]:
        return tuple(Outcome(p, page, self.reward(page)) for page, p in sorted(odds.items()))

    def reward(self, state: Page) -> Fraction:
        """Return the reward on reaching a state: the score of an ending."""
        return self.book.endings[state.ending].score if state.ending else Fraction(0)

    def observe(self, state: Page, player: int) -> NDArray[np.float32]:
        """Return place, step, ending, fields and local numbers over their maxima; 0 if unknown."""
        values = np.array([[0 if value is None else value for value in state.values]])
        return self.observe_all(state.at, values, np.array([state.local])).reshape(-1)

    def observe_all(
        self, at: Position, values: NDArray[Any], local: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Observations of pages at one position.

        Args:
            at: The position.
            values: [n, fields], with 0 for values no longer relevant.
            local: [n, L] local numbers.
        """
        section, block, step, ending = at
        fields = values.shape[1]
        seen = np.zeros((len(values), 3 + fields + len(self._local_scale)))
        seen[:, 0] = self._place_number[section, block] / max(len(self._place_number) - 1, 1)
        seen[:, 1] = STEPS.index(step) / (len(STEPS) - 1)
        if ending:
            seen[:, 2] = (1 + list(self.book.endings).index(ending)) / len(self.book.endings)
        seen[:, 3 : 3 + fields] = values / self._field_scale
        if local.shape[1]:
            known = local.shape[1]
            seen[:, 3 + fields : 3 + fields + known] = local / self._local_scale[:known]
        return seen.astype(np.float32)

    @cached_property
    def _place_number(self) -> Mapping[Place, int]:
        """The blocks in the order of play, those before the first section included."""
        places = [(0, picked) for picked in range(max(self.book.disciplines.pick, 1))]
        for number in self.story.liveness.sections:
            places += [node.place for node in self.book.in_section(number)]
        return {place: number for number, place in enumerate(places)}

    @cached_property
    def _field_scale(self) -> NDArray[np.int64]:
        return np.array(
            [max(abs(field.low), abs(field.high), 1) for field in self.book.fields.values()]
        )

    @cached_property
    def _local_scale(self) -> NDArray[np.int64]:
        """The largest size of each local number in the book."""
        scale: list[int] = []
        for number in self.story.liveness.sections:
            for node in self.book.in_section(number):
                ends = self.story.local_bounds(node.place)
                scale += [1] * (len(ends) - len(scale))
                for i, (low, high) in enumerate(ends):
                    scale[i] = max(scale[i], -low, high)
        return np.array(scale, np.int64)

    def scene(self, state: Page) -> Scene:
        """Draw the page: its text with the options, the fight, and the hero's fields."""
        return page_scene(self.book, state, self.labels(state))

    def draw(self, state: Page) -> str:
        """Draw the page as a reader sees it: text, fight, hero, options."""
        return draw_page(self.book, state, self.labels(state))

    def tell(
        self, state: Page | None, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Return the changes of the hero's fields, as far as both pages show them."""
        if state is None:
            return ""
        changes = [
            f"{name} {before} -> {after}"
            for name, before, after in zip(
                self.book.fields, state.values, outcome.state.values, strict=True
            )
            if before is not None and after is not None and before != after
        ]
        return f"({', '.join(changes)})" if changes else ""

    def tabulate(self) -> TabularGame:
        """The arrays of the game; see :mod:`solvent.games.gamebook.tabulation`."""
        return self.tabulate_exactly().table

    def tabulate_exactly(self, max_states: int = 3_000_000) -> RationalGame:
        """The arrays of the game, with every probability and score as a rational.

        Raises:
            TooManyStatesError: If there are more than `max_states` states.
        """
        return tabulate(self, max_states)
