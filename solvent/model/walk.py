"""Tables compiled from rules, by a walk through all states, block by block.

States are numbered and expanded in the order in which the walk finds them. The rules are called for
a block of states at a time; their results are then checked, merged and converted as arrays. Every
distribution is summed exactly: its probabilities are written as integers over their common
denominator, in 64 bits if these suffice, otherwise as Python's integers.
"""

import gc
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice, product
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.game import Alternating, Game, Outcome, State
from solvent.model.parameters import shown
from solvent.model.progress import OnProgress, ProgressReporter
from solvent.model.tabular import TabularGame

BLOCK = 2048
"""The largest number of states that are expanded at a time."""

CHUNK = 2**12
"""A block ends early at this number of outcomes: more would not fit in the processor's cache."""

EXACT = 2**53
"""Floats hold every integer up to this one."""


MOST_STATES = 5_000_000
"""The largest number of states of a table that is compiled from rules, unless more is allowed."""


class TooManyStatesError(ValueError):
    """A game has more reachable states than the caller allowed."""


class CollectedArrays:
    """Arrays that are collected piece by piece, and joined at the end."""

    def __init__(self) -> None:
        self._pieces: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)

    def add(self, **arrays: NDArray[Any]) -> None:
        """Append a piece to each of some arrays."""
        for name, array in arrays.items():
            self._pieces[name].append(array)

    def add_rows(
        self, length: Ints, target: Ints, weight: NDArray[Any], total: NDArray[Any], reward: Floats
    ) -> None:
        """Append K rows with N outcomes; equal targets with equal rewards in a row are merged.

        Args:
            length: [K] the number of outcomes of each row, at least 1.
            target: [N] the state that each outcome leads to.
            weight: [N] the probability of each outcome times the total of its row, an integer.
            total: [K] the sum of the weights of each row.
            reward: [N] the reward of each outcome.
        """
        row = np.repeat(np.arange(len(length)), length)
        pair = row * (int(target.max()) + 1) + target
        ascending = np.sort(pair)
        if (ascending[1:] == ascending[:-1]).any():
            order = np.lexsort((reward, pair))
            differs = np.arange(len(order)) == 0
            for key in (reward[order], pair[order]):
                differs[1:] |= key[1:] != key[:-1]
            groups = np.flatnonzero(differs)
            # The sort is stable: a group begins with the outcome that was listed first.
            first = order[groups]
            kept = np.sort(first)
            weight = np.add.reduceat(weight[order], groups)[np.argsort(first)]
            row, target, reward = row[kept], target[kept], reward[kept]
            length = np.bincount(row, minlength=len(length))
        self.add(
            length=length.astype(np.int32),
            target=target.astype(np.int32),
            probability=np.asarray(weight / total[row], float),
            reward=reward,
        )

    def joined(self, name: str) -> NDArray[Any]:
        """Return an array, empty if nothing was added to it, and drop its pieces."""
        return np.concatenate(self._pieces.pop(name, [np.zeros(0)]))

    def fields(self, row_count: NDArray[Any]) -> dict[str, Any]:
        """Return the fields of a table that describe rows and outcomes, and drop their pieces.

        Args:
            row_count: [S] the number of rows of each state.
        """
        return {
            "row_start": np.concatenate(([0], np.cumsum(row_count, dtype=np.int64))),
            "outcome_start": np.concatenate(([0], np.cumsum(self.joined("length"), dtype=int))),
            "next_state": self.joined("target").astype(np.int64),
            "probability": self.joined("probability"),
            "outcome_reward": self.joined("reward"),
        }


class _Choices(dict[Any, int]):
    """The number of each combination of legal actions; terminal states have the number 0.

    Attributes:
        legal: The legal actions of both players, by number.
        joint: The joint actions, by number.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        self._info = game.info
        self._widths = [*(len(names) for names in game.info.actions), 1]
        self.legal: list[tuple[Sequence[int], ...]] = [((), ())]
        self.joint: list[list[tuple[int, ...]]] = [[]]

    def number(self, legal: Any, state: State) -> int:
        """Return the number of a state's legal actions, a tuple for each player.

        Raises:
            ValueError: If they are not ascending indices of actions, at least one for each player.
        """
        try:
            found = self.get(legal)
        except TypeError:  # Lists have no hash.
            self._check(legal, state)
            return self.number(tuple(map(tuple, legal)), state)
        if found is None:
            self._check(legal, state)
            both = tuple(tuple(map(int, own)) for own in legal) + ((0,),) * (2 - len(legal))
            self.legal.append(both)
            self.joint.append([pair[: self._info.players] for pair in product(*both)])
            found = self[legal] = len(self.legal) - 1
        return found

    def _check(self, legal: Any, state: State) -> None:
        try:
            pairs = zip(legal, self._info.actions, strict=True)
            fits = all(
                own and list(own) == sorted({*own} & {*range(len(names))}) for own, names in pairs
            )
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ValueError(
                f"{self._info.name}: state {state!r}: legal actions are {shown(legal)}; expected "
                f"is a tuple for each player, of ascending indices of {self._info.actions}"
            )

    def masks(self, chosen: NDArray[Any]) -> tuple[Bools, Bools]:
        """Return both players' masks of states, given the numbers of their legal actions, [S]."""
        masks = []
        for player in (0, 1):
            mask = np.zeros((len(self.legal), self._widths[player]), bool)
            for number, legal in enumerate(self.legal):
                mask[number, list(legal[player])] = True
            masks.append(mask[chosen])
        return masks[0], masks[1]


def compile_rules(
    game: Game | TabularGame,
    *,
    reference: bool = False,
    max_states: int = MOST_STATES,
    progress: OnProgress | None = None,
) -> TabularGame:
    """Build the table of rules; see :func:`solvent.model.compile_game` for the arguments."""
    if isinstance(game, TabularGame):
        return game
    own: Any = None if reference else game
    if hasattr(own, "table_from"):  # A game whose table is computed from that of another.
        whole: TabularGame = own.table_from(
            compile_rules(own.game, max_states=max_states, progress=progress)
        )
        return whole
    if not hasattr(own, "tabulate"):
        return walk(game, max_states, progress)
    table = own.tabulate()
    if not isinstance(table, TabularGame):
        raise TypeError(f"tabulate() of {game.info.name} returned {type(table).__name__}")
    return table


def walk(game: Game, max_states: int, progress: OnProgress | None) -> TabularGame:
    """Return the table of a game by walking through its states.

    Args:
        game: The rules.
        max_states: The largest number of states.
        progress: Called with the number of states expanded so far.

    Raises:
        TooManyStatesError: If more than `max_states` states are reachable.
        ValueError: If a distribution does not sum to 1, a probability is not positive, or legal
            actions are not ascending; the message names the state.
    """
    start = game.initial()
    chances = [_rational(outcome.probability) for outcome in start]
    check_distribution(game.info.name, chances, "the initial distribution")
    walker = _Walk(game, start)
    with _without_garbage_collection():
        states = walker.all_states(max_states, ProgressReporter(progress, "compiling"))
    pieces, choices = walker.pieces, walker.choices
    del walker
    initial = np.zeros(len(states))
    place = {state: i for i, state in enumerate(states[: len(start)])}
    for outcome, chance in zip(start, chances, strict=True):
        initial[place[outcome.state]] += float(chance)
    chosen = pieces.joined("chosen")
    return TabularGame(
        info=game.info,
        states=states,
        **pieces.fields(np.array([len(joint) for joint in choices.joint])[chosen]),
        mask=choices.masks(chosen),
        initial=initial,
        observation=tuple(pieces.joined(f"seen_{p}") for p in range(game.info.players)),
        turn=pieces.joined("turn") if isinstance(game, Alternating) else None,
    )


class _Walk:
    """A walk in progress: the states found so far, and the arrays of those that were expanded.

    Args:
        game: The rules.
        start: The distribution over initial states.
    """

    def __init__(self, game: Game, start: Sequence[Outcome]) -> None:
        self.game, self.choices, self.pieces = game, _Choices(game), CollectedArrays()
        self.index: defaultdict[State, int] = defaultdict()
        # A new state gets the next number.
        self.index.default_factory = self.index.__len__
        for outcome in start:
            self.index[outcome.state]
        self.states: list[State] = list(self.index)

    def all_states(self, max_states: int, report: ProgressReporter) -> tuple[State, ...]:
        """Expand all states, and return them in the order of their numbers."""
        done = 0
        while done < len(self.states):
            report(done)
            done += self.expand(self.states[done : done + BLOCK])
            if len(self.states) > max_states:
                raise TooManyStatesError(
                    f"{self.game.info.name} has more than {max_states} states; allow more with "
                    f"max_states="
                )
        self.index.default_factory = None
        return tuple(self.states)

    def expand(self, block: Sequence[State]) -> int:
        """Expand states of a block in order, until there are :data:`CHUNK` outcomes.

        Returns:
            Number of states expanded.
        """
        # Looking these up for every state would take a tenth of the time of fast rules.
        is_terminal, legal_actions, transition = (
            self.game.is_terminal, self.game.legal_actions, self.game.transition,
        )  # fmt: skip
        number_of, joint = self.choices.number, self.choices.joint
        chosen: list[int] = []
        lengths: list[int] = []
        outcomes: list[Outcome] = []
        for state in block:
            number = 0 if is_terminal(state) else number_of(legal_actions(state), state)
            chosen.append(number)
            for actions in joint[number]:
                branches = transition(state, actions)
                lengths.append(len(branches))
                outcomes += branches
            if len(outcomes) > CHUNK:
                break
        self._add(block[: len(chosen)], chosen, np.array(lengths, np.int64), outcomes)
        return len(chosen)

    def _add(
        self, block: Sequence[State], chosen: list[int], length: Ints, outcomes: list[Outcome]
    ) -> None:
        """Check the rows of a block, number the states that they lead to, and add the arrays.

        Args:
            block: The states.
            chosen: The number of the legal actions of each state.
            length: [K] the number of outcomes of each row.
            outcomes: The outcomes of all rows.

        Raises:
            ValueError: If a row is not a distribution.
        """
        game, pieces, count = self.game, self.pieces, len(outcomes)
        parts = _parts(list(map(itemgetter(0), outcomes)))
        weight, total, wrong = _weights(parts[0], parts[1], length)
        if wrong is not None:
            each = zip(block, chosen, strict=True)
            rows = [(state, joint) for state, c in each for joint in self.choices.joint[c]]
            end = int(length[: wrong + 1].sum())
            own = [_rational(one[0]) for one in outcomes[end - int(length[wrong]) : end]]
            check_distribution(game.info.name, own, "state {!r}, action {}".format(*rows[wrong]))
        if count:
            target = map(self.index.__getitem__, map(itemgetter(1), outcomes))
            numbers = np.fromiter(target, np.int64, count)
            rewards = np.fromiter(map(itemgetter(2), outcomes), float, count)
            pieces.add_rows(length, numbers, weight, total, rewards)
        fresh = len(self.index) - len(self.states)
        self.states += reversed(list(islice(reversed(self.index), fresh)))
        pieces.add(chosen=np.array(chosen, np.int32))
        for player in range(game.info.players):
            seen = np.array([game.observe(state, player) for state in block], np.float32)
            pieces.add(**{f"seen_{player}": seen})
        if isinstance(game, Alternating):
            pieces.add(turn=np.array([game.turn(state) for state in block]))


def _weights(
    numerator: NDArray[Any], denominator: NDArray[Any], length: Ints
) -> tuple[NDArray[Any], NDArray[Any], int | None]:
    """Write the probabilities of each row over a common denominator.

    Args:
        numerator: [N] integer numerator of each outcome's probability.
        denominator: [N] integer denominator of each outcome's probability.
        length: [K] the number of outcomes of each row.

    Returns:
        The new numerators, [N]; the common denominators, [K]; and the first row that is not a
        distribution, or None. Both arrays are empty if a row has no outcomes.
    """
    if not length.all() or not len(length):
        return length[:0], length[:0], int(np.argmin(length)) if len(length) else None
    start = np.cumsum(length) - length
    total = np.maximum.reduceat(denominator, start)
    if (np.repeat(total, length) % denominator).any():
        total = np.lcm.reduceat(denominator, start)
    # In 64 bits, the common multiple may have overflowed. It is right if it is a multiple of all
    # denominators and no sum can overflow.
    if total.dtype != object and not (
        (total > 0).all()
        and total.max() <= min(EXACT, 2**62 // length.max())
        and ((numerator > 0) & (numerator <= denominator)).all()
        and not (np.repeat(total, length) % denominator).any()
    ):
        return _weights(numerator.astype(object), denominator.astype(object), length)
    weight = numerator * (np.repeat(total, length) // denominator)
    right = (np.add.reduceat(weight, start) == total) & (np.minimum.reduceat(weight, start) > 0)
    return weight, total, None if right.all() else int(np.argmin(right))


def _parts(chances: Sequence[Any]) -> list[NDArray[Any]]:
    """Return the numerators and denominators of probabilities, as Python's integers if large."""
    getters = attrgetter("numerator"), attrgetter("denominator")
    try:
        return [np.fromiter(map(part, chances), np.int64, len(chances)) for part in getters]
    except OverflowError:
        return [np.fromiter(map(part, chances), object, len(chances)) for part in getters]
    except AttributeError:
        return _parts(list(map(_rational, chances)))


def _rational(chance: Any) -> Any:
    """Return a probability as a rational; a float means the decimal that it prints."""
    return chance if hasattr(chance, "numerator") else Fraction(str(chance))


def rationals(weights: Sequence[float]) -> list[Fraction]:
    """Return the simple rationals that floats such as 0.333... stand for, scaled to sum to 1.

    A float that no simple rational rounds to, such as 1e-9, stands for itself.

    Args:
        weights: Positive numbers or 0, not all of them 0.
    """
    exact = [Fraction(float(w)) for w in weights]
    simple = [w.limit_denominator(10**6) for w in exact]
    chosen = [s if abs(s - w) <= w / 10**15 else w for s, w in zip(simple, exact, strict=True)]
    total = sum(chosen, Fraction(0))
    return [w / total for w in chosen]


def check_distribution(name: str, chances: Sequence[Any], where: str) -> None:
    """Raise unless probabilities form a distribution.

    Args:
        name: Name of the game.
        chances: The probabilities.
        where: The distribution, for the message.

    Raises:
        ValueError: If a probability is not positive, or they do not sum to 1.
    """
    for chance in chances:
        if not chance > 0:
            raise ValueError(
                f"{name}: a probability is {chance} at {where}; leave out what cannot happen"
            )
    total = sum(chances, Fraction(0))
    if total != 1:
        raise ValueError(f"{name}: probabilities sum to {total}, not 1, at {where}")


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Keep Python from searching states for reference cycles, which they cannot have."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
