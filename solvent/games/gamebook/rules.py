"""A gamebook as a game: pages as states, choices as actions, chance explicit.

A state is a :class:`~solvent.games.gamebook.page.Page`. There is a page wherever something is to be
read or decided: at every section, where reading on is often the only action; at texts inside a
section; and at every decision of a fight or a shop. Other blocks are passed through, and a
``repeat`` is played to its end without a page. The transition from a page to the next ones is a
single distribution, in which equal outcomes are merged.

Fields that no longer matter are not part of a state (:class:`~.effects.Liveness`). That changes no
value and makes far fewer states. With ``forget=False`` states keep all fields, and with
``keep=("gold",)`` they keep this one, so that final states have the gold that is left.

The reward is the score of the ending, received when the episode ends. So the value of a state is
the expected score; with scores 1 and 0 it is the probability of winning.

**Actions** are numbered from 0. At a decision they are the options, and at the start the
disciplines, both in the order of the book. In a shop 0 leaves, and the trades follow. In a fight 0
fights on or keeps the damage, and 1 escapes or tests LUCK. If there is nothing to decide, 0 reads
on.
"""

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product, zip_longest
from math import prod
from textwrap import fill
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.book import (
    CHANCE,
    Book,
    CheckEntry,
    Place,
    PlacedBlock,
    Roll,
)
from solvent.games.gamebook.combat import FightRules, FightState
from solvent.games.gamebook.effects import (
    MOST_RESULTS,
    ONE,
    Effects,
    Happening,
    Liveness,
    Option,
    options,
)
from solvent.games.gamebook.expressions import Range, add, compiled, distribution, falls, gathered
from solvent.games.gamebook.page import (
    IN_FIGHT,
    STEPS,
    FinalState,
    Local,
    Page,
    PageLayout,
    Position,
    Values,
    page_scene,
)
from solvent.model import (
    WINS,
    GameInfo,
    JointAction,
    Outcome,
    RationalGame,
    TabularGame,
    TooManyStatesError,
    Words,
)
from solvent.model.cache import Packed
from solvent.model.context import modified_exactly
from solvent.model.parameters import check_choice
from solvent.model.scene import Scene, scene_text

Odds: TypeAlias = dict[Any, Fraction]
"""The probability of each page, and inside ``repeat`` of the values at each ``again``."""

Condition: TypeAlias = Callable[[Values], object]
Continuation: TypeAlias = Callable[[Values], Mapping[PlacedBlock, Fraction]]

# The only action when there is no decision.
_READ_ON = (0,)

# The longest line of a drawing, in characters.
_WIDTH = 76

# Largest number of states of a ``repeat``, from one set of values at its beginning.
_MOST_REPEATED = 1000


@dataclass(frozen=True, eq=False)
class Gamebook(Words):
    """A book to play.

    Args:
        book: The book, from :func:`solvent.games.gamebook.loader.load_book`.
        forget: Whether states leave out fields that no longer matter.
        name: The name by which :func:`solvent.games.gamebook.library.open_book` opens the book;
            empty if there is none.
        keep: Names of fields that every state keeps, even a final one.

    Raises:
        ValueError: If the book's sections have a cycle, or there is no field of a name in `keep`.
    """

    book: Book
    forget: bool = True
    name: str = ""
    keep: tuple[str, ...] = ()
    _layouts: dict[Position, PageLayout] = field(default_factory=dict, init=False, repr=False)
    _repeats: dict[tuple[Place, Values], Odds] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Analyse the whole book, so that a cycle is detected here."""
        for name in self.keep:
            check_choice(name, "a field to keep", list(self.book.fields))
        _ = self.liveness

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments only, as derived attributes include functions."""
        return Gamebook, (self.book, self.forget, self.name, self.keep)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The book's content and the other arguments, by which tables are cached."""
        content = self.book.digest or repr(self.book)
        return {"book": content, "forget": self.forget, "name": self.name, "keep": self.keep}

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        book = self.book
        scores = [float(ending.score) for ending in book.endings.values()]
        local = len(self._scale) - 3 - len(book.fields)
        most_actions = max(2, len(book.picked), *map(len, self.options.values()))
        return GameInfo(
            name="gamebook",
            players=1,
            actions=(tuple(f"option {number + 1}" for number in range(most_actions)),),
            acyclic=True,
            reward_range=(min(scores), max(scores)),
            sources=(f"{book.title}, by {book.author}" if book.author else book.title,),
            parameters=(("book", self.name or book.title),),
            observation_labels=(
                *("place", "step", "ending"),
                *book.fields,
                *(f"local {number + 1}" for number in range(local)),
            ),
            unit=WINS if {0.0, 1.0}.issuperset(scores) else "points",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the first pages; dice are not thrown for fields that are never read.

        Raises:
            TooManyStatesError: If the first page has too many possible states.
        """
        live = self.liveness.live((0, 0, "", ""))
        throws = [
            distribution(field.initial).items() if name in live else ((None, ONE),)
            for name, field in self.book.fields.items()
        ]
        if prod(map(len, throws)) > MOST_RESULTS:
            message = f"the book can begin in more than {MOST_RESULTS:,} ways"
            raise TooManyStatesError(f"{message}; let fewer variables begin with dice")
        odds: Odds = {}
        for thrown in product(*throws):
            values = tuple(value for value, _ in thrown)
            odds[Page(0, 0, "", values)] = prod((p for _, p in thrown), start=ONE)
        return self._outcomes(odds)

    def is_terminal(self, state: Page) -> bool:
        """Return whether an ending has been reached."""
        return state.step == "over"

    def legal_actions(self, state: Page) -> tuple[tuple[int, ...], ...]:
        """Return the legal actions, ascending; the module explains their numbers."""
        return (self._legal(state),)

    def _legal(self, page: Page) -> tuple[int, ...]:
        if page.section == 0:
            return self._pickable(page)
        place = page.section, page.block
        if page.step:
            return self.combats[place].actions(_moment(page))
        made = iter(page.local)
        return (
            tuple(
                number
                for number, (option, holds, _) in enumerate(self.options.get(place, ()))
                if (option.quantity is None or next(made) < option.quantity) and holds(page.values)
            )
            or _READ_ON
        )

    def transition(self, state: Page, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the next pages, sorted as tuples.

        Raises:
            ValueError: If a game inside a section never ends.
        """
        page, [action] = state, joint_action
        odds: Odds = {}
        if page.section == 0:
            self._begin(page, action, odds)
            return self._outcomes(odds)
        node = self.book.nodes[page.section, page.block]
        if page.step:
            following = self.combats[node.place].after(_moment(page), action)
            self._continue_fight(node, following, ONE, odds)
        elif node.place not in self.options:
            self._leave(node, page.values, ONE, odds)
        elif leads_to := self.options[node.place][action][0].node:
            self._enter(leads_to, page.values, ONE, odds)
        else:
            self._trade(node, page, action, odds)
        return self._outcomes(odds)

    def _outcomes(self, odds: Odds) -> tuple[Outcome, ...]:
        return tuple(Outcome(p, page, self.reward(page)) for page, p in sorted(odds.items()))

    def reward(self, state: Page) -> Fraction:
        """Return the reward on reaching a state: the score of an ending."""
        return self.book.endings[state.ending].score if state.ending else Fraction(0)

    def labels(self, state: Page) -> dict[int, str]:
        """Return each legal action in words; empty if the episode has ended."""
        if self.is_terminal(state):
            return {}
        return {action: self.label(state, action) for action in self._legal(state)}

    def label(self, page: Page, action: int) -> str:
        """Return a legal action in words."""
        if page.section == 0:
            return f"pick {self.book.picked[action]}" if self.book.picked else "begin"
        place = page.section, page.block
        if place in self.options:
            return self.options[place][action][0].text
        if page.step:
            two = ("fight on", "escape") if page.step == "escape" else ("keep", "test luck")
            return two[action]
        return "fight" if place in self.combats else "read on"

    def place(self, state: Page) -> str:
        """Return the place of a page in the book, in words."""
        if state.section == 0:
            return f"the start, pick {state.block + 1}" if state.block else "the start"
        return f"section {state.section}{IN_FIGHT.get(state.step, '')}"

    def value_names(self) -> Mapping[str, Mapping[str, str]]:
        """Return the decisions of a fight in words."""
        return {"step": {step: text.removeprefix(", ") for step, text in IN_FIGHT.items()}}

    def entry_names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the book's fields, distinct from the attributes of a page."""
        names = self.book.fields
        return {
            "": tuple("fight or shop" if name == "local" else name for name in Page._fields),
            "values": tuple(f"values {n}" if n in Page._fields else n for n in names),
        }

    def final_state(self, state: Page) -> FinalState:
        """Return the ending, its section, and the values of the fields in `keep`.

        :meth:`solvent.exact.OptimalOccupancy.ends` computes the distribution of these.
        """
        values = (state.values[self.book.position[name]] for name in self.keep)
        return FinalState(state.ending, state.section, tuple(values))

    def for_reader(self) -> Self:
        """Return the same game with pages that keep all fields, as a reader expects to see them."""
        return replace(self, forget=False)

    def from_reader(self, state: Page) -> Page:
        """Return the page of this game for a page of :meth:`for_reader`."""
        return self.layout(state.at).known(state.values, state.local)

    def observe(self, state: Page, player: int) -> NDArray[np.float32]:
        """Return place, step, ending, fields and local numbers over their maxima; 0 if unknown."""
        values = np.array([[0 if value is None else value for value in state.values]])
        return self.observe_all(state.at, values, np.array([state.local])).reshape(-1)

    def observe_all(
        self, at: Position, values: NDArray[Any], local: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Return the observations of pages at one position.

        Args:
            at: The position.
            values: [n, fields], with 0 for values no longer relevant.
            local: [n, L] local numbers.
        """
        section, block, step, ending = at
        endings = ["", *self.book.endings]
        where = self.place_number[section, block], STEPS.index(step), endings.index(ending)
        fields, known = values.shape[1], local.shape[1]
        seen = np.zeros((len(values), len(self._scale)))
        seen[:, :3], seen[:, 3 : 3 + fields] = where, values
        seen[:, 3 + fields : 3 + fields + known] = local
        return (seen / self._scale).astype(np.float32)

    @cached_property
    def place_number(self) -> Mapping[Place, int]:
        """The number of each block in the order of play; the picks of disciplines come first."""
        places = [(0, picked) for picked in range(max(self.book.disciplines.pick, 1))]
        for number in self.liveness.sections:
            places += [node.place for node in self.book.in_section(number)]
        return {place: number for number, place in enumerate(places)}

    @cached_property
    def _scale(self) -> NDArray[np.int64]:
        """The largest absolute value of each number of an observation."""
        places = max(len(self.place_number) - 1, 1), len(STEPS) - 1, len(self.book.endings)
        fields = (max(abs(low), abs(high), 1) for low, high in self.book.ranges.values())
        reached = (n for number in self.liveness.sections for n in self.book.in_section(number))
        at = ((*n.place, "escape" if n.block.fight else "", "") for n in reached)
        columns = zip_longest(*map(self.local_bounds, at), fillvalue=(0, 1))
        local = (max(1, np.abs(column).max()) for column in columns)
        return np.array([*places, *fields, *local], np.int64)

    def scene(self, state: Page) -> Scene:
        """Draw the page: its text with the options, the fight, and the hero's fields."""
        return page_scene(self.book, state, self.labels(state))

    def draw(self, state: Page) -> str:
        """Draw the page as a reader sees it: text, fight, hero, options."""
        listed = (f"{action:3d}. {words}" for action, words in self.labels(state).items())
        lines = (*scene_text(self.scene(state)).splitlines(), "", *listed)
        # Words are not broken, as that takes very long in a text that is one word.
        return "\n".join(fill(line, _WIDTH, break_long_words=False) for line in lines).rstrip()

    def tell(
        self, state: Page | None, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Return the changes of the hero's fields that are part of both pages."""
        if state is None:
            return ""
        fields = zip(self.book.fields, state.values, outcome.state.values, strict=True)
        changes = [f"{n} {a} -> {b}" for n, a, b in fields if None not in (a, b) and a != b]
        return f"({', '.join(changes)})" if changes else ""

    def tabulate(self) -> TabularGame:
        """Return the arrays of the game; see :mod:`solvent.games.gamebook.tabulation`."""
        return self.tabulate_exactly().table

    def tabulate_exactly(self, max_states: int = 3_000_000) -> RationalGame:
        """Return the arrays of the game, with every probability and score as a rational.

        Raises:
            TooManyStatesError: If there are more than `max_states` states.
        """
        from solvent.games.gamebook.tabulation import Tabulation

        return Tabulation(self, max_states).run()

    def states_from(self, packed: Packed) -> Sequence[Page]:
        """Return the pages of a cached table."""
        from solvent.games.gamebook.tabulation import Pages

        return Pages.unpacked(packed)

    # Blocks compiled into functions, once for all pages.

    @cached_property
    def liveness(self) -> Liveness:
        """The fields that matter at each place."""
        return Liveness(self.book, forget=self.forget, keep=self.keep)

    @cached_property
    def pages(self) -> frozenset[Place]:
        """The blocks at which the episode pauses for the player."""
        found = set()
        for place, node in self.book.nodes.items():
            way_on = node.block.way_on
            passed = node.repeated and (way_on in CHANCE or way_on == "again")
            stops = place[1] == 0 or way_on in ("choices", "shop")
            if stops or (node.block.text and not passed):
                found.add(place)
        return frozenset(found)

    @cached_property
    def _effects(self) -> Mapping[Place, Happening]:
        """The relevant effects of each reachable block."""
        maker = Effects(self.book)
        return {
            place: maker.all(steps, f"section {place[0]}")
            for place, steps in self.liveness.effects.items()
        }

    @cached_property
    def combats(self) -> Mapping[Place, FightRules]:
        """The fight of each block that has one."""
        return {
            p: FightRules(n.exit, self.book) for p, n in self.book.nodes.items() if n.block.fight
        }

    @cached_property
    def options(self) -> Mapping[Place, list[tuple[Option, Condition, Happening]]]:
        """The options of each decision and shop, with condition and trade as functions."""
        maker, position = Effects(self.book), self.book.position
        found = {
            place: [
                (o, compiled(o.condition, position), maker.all(o.steps, f"section {place[0]}"))
                for o in options(node, self.book)
            ]
            for place, node in self.book.nodes.items()
        }
        return {place: there for place, there in found.items() if there}

    @cached_property
    def _chances(self) -> Mapping[Place, Continuation]:
        """The continuations of chance events and branches."""
        nodes = self.book.nodes.items()
        return {place: self._chance(node) for place, node in nodes if node.block.way_on in CHANCE}

    def local_bounds(self, at: Position) -> tuple[Range, ...]:
        """Return the smallest and largest local numbers of pages at a position."""
        *place, step, ending = at
        if step and not ending:
            return self.combats[place[0], place[1]].bounds
        there = self.options.get((place[0], place[1]), ()) if not ending else ()
        return tuple((0, o.quantity) for o, *_ in there if o.quantity is not None)

    # Transitions.

    def _pickable(self, page: Page) -> tuple[int, ...]:
        """Return the disciplines after the last one picked that leave enough for the rest.

        Each set of disciplines can thus be picked in one way only.
        """
        picked = self.book.picked
        if not picked:
            return _READ_ON
        taken = [i for i, name in enumerate(picked) if page.values[self.book.position[name]]]
        first = taken[-1] + 1 if taken else 0
        return tuple(range(first, len(picked) - (self.book.disciplines.pick - page.block) + 1))

    def _begin(self, page: Page, action: int, odds: Odds) -> None:
        values = page.values
        if self.book.picked:
            place = self.book.position[self.book.picked[action]]
            values = (*values[:place], 1, *values[place + 1 :])
            if page.block + 1 < self.book.disciplines.pick:
                odds[Page(0, page.block + 1, "", values)] = ONE
                return
        self._enter(self.book.nodes[self.book.start, 0], values, ONE, odds)

    def _enter(self, node: PlacedBlock, values: Values, probability: Fraction, odds: Odds) -> None:
        """Add the outcomes of entering a block, up to the next page or to ``again``."""
        for p, after, ending in self._effects[node.place](values):
            p, ending = p * probability, ending or node.block.ending
            if ending is not None:
                add(odds, self._page(node, "over", after, (), ending), p)
            elif node.block.again:
                add(odds, after, p)
            elif node.place in self.pages:
                limited = len(self.local_bounds((*node.place, "", "")))
                add(odds, self._page(node, "", after, (0,) * limited), p)
            else:
                self._leave(node, after, p, odds)

    def _leave(self, node: PlacedBlock, values: Values, probability: Fraction, odds: Odds) -> None:
        """Add the outcomes of a block without a decision, after its effects."""
        match node.block.way_on:
            case "goto":
                self._enter(self.book.nodes[node.exit, 0], values, probability, odds)
            case "fight":
                combat = self.combats[node.place]
                start = FightState("begin", combat.begin(values), values)
                self._continue_fight(node, combat.after(start, 0), probability, odds)
            case "repeat":
                for page, p in self._repeated(node.inner[0], values).items():
                    add(odds, page, probability * p)
            case _:
                for following, p in self._chances[node.place](values).items():
                    self._enter(following, values, probability * p, odds)

    def _chance(self, node: PlacedBlock) -> Continuation:
        """Return the continuation of a chance event or a branch."""
        position, inner = self.book.position, node.inner

        match node.exit:
            case Roll(dice=dice) as table:
                result, fallen = compiled(dice, position), falls(dice)

                return lambda values: gathered(
                    (inner[table.row(result(values + faces))], p) for faces, p in fallen
                )
            case CheckEntry(base=base, modifiers=modifiers):
                sizes = [(compiled(m.number, position), m.size) for m in modifiers]
                constants = self.book.checks

                def check(values: Values) -> Odds:
                    total = sum((size * times(values) for times, size in sizes), Fraction(0))
                    p = modified_exactly(base, total, constants.c, constants.denominator)
                    return {n: q for n, q in zip(inner, (p, 1 - p), strict=True) if q}

                return check
        if node.block.branch:
            conditions = (compiled(case.when, position) for case in node.exit)
            cases = list(zip(conditions, inner, strict=True))
            return lambda values: {next(n for holds, n in cases if holds(values)): ONE}
        fixed = {n: chance.probability for n, chance in zip(inner, node.exit, strict=True)}
        return lambda values: fixed

    def _trade(self, node: PlacedBlock, page: Page, number: int, odds: Odds) -> None:
        there = self.options[node.place]
        limited = [i for i, (option, *_) in enumerate(there) if option.quantity is not None]
        made = tuple(n + (i == number) for i, n in zip(limited, page.local, strict=True))
        for p, after, ending in there[number][2](page.values):
            at = ("over", after, (), ending) if ending else ("", after, made)
            add(odds, self._page(node, *at), p)

    def _continue_fight(
        self,
        node: PlacedBlock,
        moments: Mapping[FightState, Fraction],
        probability: Fraction,
        odds: Odds,
    ) -> None:
        """Add the outcomes of a fight's moments: another decision, or the way on after it."""
        ends = dict(zip(("defeat", "victory", "escaped"), reversed(node.inner), strict=False))
        for (step, local, values), p in moments.items():
            if step in ends:
                self._enter(ends[step], values, probability * p, odds)
            else:
                add(odds, self._page(node, step, values, local), probability * p)

    def _repeated(self, start: PlacedBlock, values: Values) -> Odds:
        """Return the distribution of the page after a ``repeat``."""
        if (start.place, values) not in self._repeats:
            odds: dict[Values, Odds] = {values: {}}
            for now in (todo := [values]):
                self._enter(start, now, ONE, odds[now])
                new = [a for a in odds[now] if not isinstance(a, Page) and a not in odds]
                odds |= {after: {} for after in new}
                todo += new
                if len(odds) > _MOST_REPEATED:
                    message = f"the repeat can be in more than {_MOST_REPEATED} states"
                    cure = "narrow the ranges of the variables that it changes"
                    raise TooManyStatesError(f"section {start.place[0]}: {message}; {cure}")
            try:
                found = absorption(odds)
            except ValueError as error:
                raise ValueError(f"section {start.place[0]}: the repeat never ends") from error
            self._repeats.update({(start.place, now): ends for now, ends in found.items()})
        return self._repeats[start.place, values]

    def _page(
        self, node: PlacedBlock, step: str, values: Values, local: Local = (), ending: str = ""
    ) -> Page:
        return self.layout((*node.place, step, ending)).known(values, local)

    def layout(self, at: Position) -> PageLayout:
        """Return the fields that pages at a position have."""
        if at not in self._layouts:
            live = self.liveness.live(at)
            fields = tuple(i for i, name in enumerate(self.book.fields) if name in live)
            self._layouts[at] = PageLayout(at, fields, len(self.book.fields))
        return self._layouts[at]


def _moment(page: Page) -> FightState:
    return FightState(page.step, page.local, page.values)


State = TypeVar("State", bound=Hashable)


def absorption(
    following: Mapping[State, Mapping[Any, Fraction]],
) -> dict[State, dict[Any, Fraction]]:
    """Return the exact absorption probabilities of a game of pure chance from each state.

    The game is an absorbing Markov chain. With Q the transitions between its states and R those
    that end it, the probabilities are B = (I - Q)^-1 R (Kemeny and Snell 1960, *Finite Markov
    Chains*, theorem 3.3.7). They are found by eliminating one state after the other: a state that
    stays with probability q is eventually left in the proportions of its other transitions,
    each divided by 1 - q.

    Args:
        following: Transition probabilities of each state; a target that is no key is an end.

    Raises:
        ValueError: If the game never ends from some state.
    """
    rows = {state: dict(row) for state, row in following.items()}
    order = list(rows)

    def replace_by_what_follows(source: State, state: State) -> None:
        weight = rows[source].pop(state, None)
        if weight is not None:
            for target, p in rows[state].items():
                add(rows[source], target, weight * p)

    for place, state in enumerate(order):
        stay = rows[state].pop(state, Fraction(0))
        if stay == 1:
            raise ValueError(f"the game never ends from {state!r}")
        rows[state] = {target: p / (1 - stay) for target, p in rows[state].items()}
        for source in order[place + 1 :]:
            replace_by_what_follows(source, state)
    # The last state leads to ends only, and every state before it to later states and ends.
    for state in reversed(order):
        for target in [target for target in rows[state] if target in rows]:
            replace_by_what_follows(state, target)
    return rows
