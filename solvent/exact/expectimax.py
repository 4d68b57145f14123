"""Expectimax with memory: any game without loops, given by two functions of its states.

    choices(state)   the choices there, at least one: pairs of a description and a distribution,
                     which is a list of pairs of a state and its probability
    score(state)     the value of the state if the game ends there, else None

The value of a state is its score or, where there is none, that of its best choice:

    V(s)  =  score(s),  or  max over choices of  sum over outcomes of  p V(s').

Each state is solved once, however many ways lead to it. That needs no state to come again in one
episode; a loop is found and named. It suits games of up to a million states or so. A die that shows
3 and may be thrown twice more:

    def choices(state):
        throws_left, last = state
        throw = [((throws_left - 1, face), Fraction(1, 6)) for face in range(1, 7)]
        return [("keep", [((0, last), 1)]), ("throw again", throw)]

    def score(state):
        throws_left, last = state
        return last if throws_left == 0 else None

    solve_tree(choices, score, (2, 3)).value        # Fraction(17, 4)

In a game for two, `player` says whose choice it is; player 1 chooses the least value. The method is
backward induction with memory, as in the "simple solver" with which gamebooks of the series Lone
Wolf have been solved, but without its recursion: the path to the state in hand is kept in a list,
so that an episode may be a million moves long.

**Hidden information.** Whoever chooses is taken to know the state. If it has cards that a player
does not see, the best choice in each state is none that this player can make: Kuhn poker comes to
0, and its value is -1/18.

**Exact arithmetic.** Values are Fractions. Probabilities and scores are whole numbers or Fractions
(a float is read as the decimal it prints) and a distribution sums to 1 as an equality. The terms
of an expectation are added over a common denominator, which is reduced once.

**Floats.** Probabilities may be anything that converts, and sum to 1 within 1e-9. A value that is a
probability is then in error by some 1e-16 per move to the end.

**Several processes.** The first moves are expanded until there are states enough to share out. Each
process solves those it is given, with all that can follow, and hands its solved states back.
Processes share no memory of what is solved: a state that two parts can both reach is solved in
both, and every solved state travels between processes. So this is worth it where little is shared
and `choices` is slow, some hundred microseconds a state or more (``benchmarks/expectimax.py``
measures it). With fast rules or much in common one process is faster.

**Any game** (:class:`GameTree`): the rules of a game without cycles as such choices and scores.

**The solution** (:class:`TreeSolution`) is kept as a graph, since states that can be reached in
several ways are solved once: state i has a value, its choices with their values, and the outcomes
of the best one.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import isfinite, lcm
from numbers import Integral, Rational
from operator import mul
from typing import Any, NamedTuple, TypeAlias

from solvent.model import Game, Outcome, TooManyStatesError
from solvent.model.parameters import check_integer

Number: TypeAlias = Fraction | float
"""A Fraction in exact arithmetic, else a float."""

Outcomes: TypeAlias = tuple[tuple[int, ...], tuple[Any, ...], Any]
"""Indices of states, a weight for each, and the sum of all weights: 1.0 in floats, a common
denominator of the probabilities in exact arithmetic."""


class Node(NamedTuple):
    """A solved state.

    Attributes:
        state: The state.
        value: Score of the state, or the value of its best choice.
        choice: The description of the best choice, the first of equals; None at an end.
        choices: Every choice with its value.
        outcomes: The states that the best choice leads to, with their probabilities.
    """

    state: Any
    value: Number
    choice: Any
    choices: tuple[tuple[Any, Number], ...]
    outcomes: tuple[tuple[Any, Number], ...]


class DecisionImportance(NamedTuple):
    """A decision, and what the second best choice would cost.

    Attributes:
        state: The state in which it is taken.
        choice: The best one.
        second: The best of the others.
        visits: Probability that the state is visited under an optimal policy.
        loss: The loss of value by the second best choice.
    """

    state: Any
    choice: Any
    second: Any
    visits: Number
    loss: Number

    @property
    def importance(self) -> Number:
        """The cost of the second best choice, seen from the start."""
        return self.visits * self.loss


class Decided(NamedTuple):
    """The choices of a solved state.

    Attributes:
        best: The index of the best choice; -1 at an end.
        labels: The descriptions of all choices.
        values: Values of all choices.
        outcomes: The outcomes of the best choice.
    """

    best: int
    labels: tuple[Any, ...]
    values: tuple[Any, ...]
    outcomes: Outcomes


END = Decided(-1, (), (), ((), (), 1))
"""The decision where nothing is left to choose."""


@dataclass(eq=False, slots=True)
class Graph:
    """Solved states, and those that are on the way to be.

    Attributes:
        index: The index of each state.
        states: [S] states.
        values: [S] their values; None while not known.
        decided: The choices of solved states that are no ends, by index.
        order: Indices of solved states, each after all that its choices lead to.
    """

    index: dict[Any, int] = field(default_factory=dict)
    states: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    decided: dict[int, Decided] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    def find(self, state: Any) -> int:
        """The index of a state, which is entered if it is new.

        Raises:
            TypeError: If it cannot be hashed.
        """
        try:
            i = self.index.get(state)
        except TypeError as error:
            raise TypeError(
                f"state {state!r} cannot be hashed; build states of numbers, texts, tuples, "
                f"frozensets and frozen dataclasses"
            ) from error
        if i is None:
            i = self.index[state] = len(self.states)
            self.states.append(state)
            self.values.append(None)
        return i

    def merge(self, other: Graph) -> None:
        """Take over the solved states of another graph of the same game."""
        here = [self.find(state) for state in other.states]
        for i in other.order:
            j = here[i]
            if self.values[j] is None:
                self.values[j] = other.values[i]
                self.order.append(j)
                if i in other.decided:
                    targets, weights, total = other.decided[i].outcomes
                    outcomes = tuple(here[t] for t in targets), weights, total
                    self.decided[j] = other.decided[i]._replace(outcomes=outcomes)


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """The solution of a game from one state.

    Attributes:
        graph: All solved states.
        start: The index of the state that was solved.
        exact: Whether values and probabilities are Fractions.
    """

    graph: Graph
    start: int
    exact: bool

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.graph.order)

    def __repr__(self) -> str:
        """The value and the number of states."""
        return f"<TreeSolution {float(self.value):.12g}, {len(self)} states>"

    @property
    def value(self) -> Number:
        """The value of the start under an optimal policy."""
        value: Number = self.graph.values[self.start]
        return value

    def node(self, state: Any) -> Node:
        """Return the node of a state.

        Raises:
            KeyError: If it cannot be reached from the start.
        """
        return self._node(self._find(state))

    def value_of(self, state: Any) -> Number:
        """The value of a state.

        Raises:
            KeyError: If it cannot be reached from the start.
        """
        value: Number = self.graph.values[self._find(state)]
        return value

    def _find(self, state: Any) -> int:
        if state not in self.graph.index:
            raise KeyError(f"state {state!r} cannot be reached from the start")
        return self.graph.index[state]

    def _node(self, i: int) -> Node:
        graph, (best, labels, values, _) = self.graph, self._decided(i)
        return Node(
            graph.states[i],
            graph.values[i],
            labels[best] if labels else None,
            tuple(zip(labels, values, strict=True)),
            tuple((graph.states[j], p) for j, p in self._branches(i)),
        )

    def _decided(self, i: int) -> Decided:
        return self.graph.decided.get(i, END)

    def _branches(self, i: int) -> list[tuple[int, Number]]:
        """Return the outcomes of the best choice of a state, with probabilities."""
        targets, weights, total = self._decided(i).outcomes
        return [
            (j, Fraction(w, total) if self.exact else w)
            for j, w in zip(targets, weights, strict=True)
        ]

    def visits(self) -> dict[Any, Number]:
        """The probability with which an optimal policy visits each state, where it is not 0."""
        return {self.graph.states[i]: p for i, p in self._visits().items()}

    def _visits(self) -> dict[int, Number]:
        one: Number = Fraction(1) if self.exact else 1.0
        visits = {self.start: one}
        # The other way round, every state comes before all that it leads to.
        for i in reversed(self.graph.order):
            if i in visits:
                for j, p in self._branches(i):
                    visits[j] = visits.get(j, 0) + visits[i] * p
        return visits

    def final_states(self) -> list[tuple[Any, Number]]:
        """The states in which an optimal policy ends, with their probabilities, likeliest first."""
        graph = self.graph
        ends = [(graph.states[i], p) for i, p in self._visits().items() if i not in graph.decided]
        return sorted(ends, key=lambda end: (-end[1], repr(end[0])))

    def decisions(self, most: int = 10) -> list[DecisionImportance]:
        """The most important decisions, which are those to get right."""
        found = []
        for i, visits in self._visits().items():
            best, labels, values, _ = self._decided(i)
            # A player who minimises has the least value for the best.
            others = [(abs(v - values[best]), k) for k, v in enumerate(values) if k != best]
            if others and min(others)[0] > 0:
                loss, second = min(others)
                state = self.graph.states[i]
                found.append(DecisionImportance(state, labels[best], labels[second], visits, loss))
        return sorted(found, key=lambda decision: -decision.importance)[:most]

    def explain(self, state: Any = None, depth: int = 3) -> str:
        """An optimal policy from a state as an indented tree: what to choose, and what may follow.

        Args:
            state: The state to begin with; the start if left out.
            depth: Number of decisions to follow.

        Raises:
            KeyError: If the state cannot be reached from the start.
        """
        lines: list[str] = []
        todo = [(self.start if state is None else self._find(state), "", 0)]
        while todo:
            i, chance, level = todo.pop()
            node, indent = self._node(i), "    " * level
            lines.append(f"{indent}{chance}{node.state!r}  value {float(node.value):.6g}")
            for k, (label, value) in enumerate(node.choices):
                mark = "*" if k == self._decided(i).best else " "
                lines.append(f"{indent}  {mark} {label}  {float(value):.6g}")
            branches = sorted(self._branches(i), key=lambda b: -b[1])
            if level < depth:
                todo += [(j, f"{float(p):.4f}  ", level + 1) for j, p in reversed(branches)]
            elif branches:
                lines.append(f"{indent}    ...")
        return "\n".join(lines)

    def report(self, title: str = "Value", most: int = 10) -> str:
        """The value as a decimal and as a fraction, the final states, and the main decisions.

        Args:
            title: The name of the value, such as ``"Winning probability"``.
            most: Number of decisions to list, at most; final states are listed all.
        """
        value = self.value
        fraction = ""
        if isinstance(value, Fraction):
            fraction = f" [{value.numerator} / {value.denominator}]"
        lines = [f"{title}: {float(value)!r}{fraction}"]
        lines += [f"{float(p):.4f} {state!r}" for state, p in self.final_states()]
        decisions = self.decisions(most)
        if decisions:
            lines.append("Most important decisions (visits x loss by the second best choice):")
        lines += [
            f"{float(d.importance):.4f} = {float(d.visits):.4f} x {float(d.loss):.4f} "
            f"{d.state!r}: {d.choice}, not {d.second}"
            for d in decisions
        ]
        return "\n".join(lines)


Distribution: TypeAlias = Iterable[tuple[Any, Any]]
"""Pairs of a state and its probability."""

PARTS_PER_WORKER = 8
"""States to begin with for each process, so that uneven parts even out."""

Choices: TypeAlias = Callable[[Any], Sequence[tuple[Any, Distribution]]]
Score: TypeAlias = Callable[[Any], Any]
Player: TypeAlias = Callable[[Any], int]


class CycleError(ValueError):
    """A state can come again in one episode.

    Attributes:
        cycle: The states of one loop, the first of them again at the end.
    """

    def __init__(self, message: str, cycle: list[Any]) -> None:
        super().__init__(message)
        self.cycle = cycle


def solve_tree(
    choices: Choices,
    score: Score,
    state: Any,
    *,
    exact: bool = True,
    player: Player | None = None,
    max_states: int = 5_000_000,
    workers: int = 1,
) -> TreeSolution:
    """Solve a game without loops from a state.

    Args:
        choices: See the module. Outcomes of probability 0 are left out and equal ones merged.
        score: See the module.
        state: Hashable, like all others.
        exact: Whether to calculate in Fractions, otherwise in floats.
        player: Maps a state in which there is a choice to who makes it: 0, who wants much, or 1,
            who wants little. All choices are player 0's if left out.
        max_states: Refuse larger games instead of filling the memory.
        workers: Number of processes that solve parts of the game at the same time
            (the module says when that is worth it). The functions
            must then be defined at the top of a module.

    Raises:
        CycleError: If a state can come again in one episode.
        TooManyStatesError: If there are more than `max_states` states.
        TypeError: If a state cannot be hashed.
        ValueError: If a state has no choices, a distribution does not sum to 1, or a probability
            or score is not a number; the message names the state.
    """
    check_integer(workers, "workers", 1, 1024)
    solver = Expectimax(choices, score, exact, player, max_states)
    if workers > 1:
        _solve_parts(solver, state, workers)
    return TreeSolution(solver.graph, solver.solve(state), exact)


class Expectimax:
    """Backward induction with memory; see :func:`solve_tree` for the arguments."""

    def __init__(
        self,
        choices: Choices,
        score: Score,
        exact: bool,
        player: Player | None,
        max_states: int,
    ) -> None:
        self.choices, self.score, self.exact, self.player = choices, score, exact, player
        self.max_states = check_integer(max_states, "max_states", 1, 10**12)
        self.graph = Graph()
        # The choices of the states on the path from the start to the state in hand.
        self._open: dict[int, list[tuple[Any, Outcomes]]] = {}

    def unsolved(self) -> Expectimax:
        """The same rules with nothing solved yet."""
        return Expectimax(self.choices, self.score, self.exact, self.player, self.max_states)

    def solve(self, state: Any) -> int:
        """Solve a state and all that can follow; return its index in the graph."""
        values, opened = self.graph.values, self._open
        start = self.graph.find(state)
        path: list[int] = []
        waiting: list[list[int]] = [[start]]
        while True:
            if waiting[-1]:
                i = waiting[-1].pop()
                if values[i] is not None:
                    continue
                if i in opened:
                    raise self._cycle(i)
                known = self._score(i)
                if known is not None:
                    values[i] = known
                    self.graph.order.append(i)
                    continue
                opened[i] = self.expand(i)
                path.append(i)
                following: set[int] = set().union(*[targets for _, (targets, _, _) in opened[i]])
                waiting.append([j for j in following if values[j] is None])
            elif path:
                waiting.pop()
                i = path.pop()
                self._decide(i, opened.pop(i))
            else:
                return start

    def _score(self, i: int) -> Number | None:
        state = self.graph.states[i]
        with _noted("score", state):
            score = self.score(state)
        try:
            return None if score is None else _fraction(score) if self.exact else _finite(score)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the score of state {state!r} is {error}") from error

    def expand(self, i: int) -> list[tuple[Any, Outcomes]]:
        """The choices of a state, checked, with states entered in the graph."""
        state = self.graph.states[i]
        with _noted("choices", state):
            offered = list(self.choices(state))
        if not offered:
            raise ValueError(f"state {state!r} has neither a score nor choices; give it one")
        options = []
        for label, distribution in offered:
            try:
                options.append((label, self._outcomes(distribution)))
            except (TypeError, ValueError) as error:
                raise type(error)(f"choice {label!r} of state {state!r}: {error}") from error
        if len(self.graph.states) > self.max_states:
            raise TooManyStatesError(
                f"there are more than {self.max_states} states, reached in {state!r}; "
                f"raise max_states if the memory is enough"
            )
        return options

    def _outcomes(self, distribution: Distribution) -> Outcomes:
        """A distribution over indices of states, each once and with a positive weight."""
        find, exact = self.graph.find, self.exact
        merged: dict[int, Any] = {}
        for state, probability in distribution:
            i = find(state)
            if exact and type(probability) is not Fraction:
                probability = _fraction(probability)
            merged[i] = merged[i] + probability if i in merged else probability
        weights, total = (exact_weights if exact else _float_weights)(merged.values())
        if min(weights) > 0:
            return tuple(merged), weights, total
        kept = [pair for pair in zip(merged, weights, strict=True) if pair[1] != 0]
        for i, weight in kept:
            if weight < 0:
                raise ValueError(f"the probability of {self.graph.states[i]!r} is negative")
        return tuple(i for i, _ in kept), tuple(weight for _, weight in kept), total

    def _decide(self, i: int, options: list[tuple[Any, Outcomes]]) -> None:
        """Value the choices of a state whose successors have values, and take the best."""
        graph = self.graph
        expected = _exact_expectation if self.exact else _float_expectation
        values = tuple(expected(outcomes, graph.values) for _, outcomes in options)
        player = 0 if self.player is None or len(options) == 1 else self.player(graph.states[i])
        if player not in (0, 1):
            raise ValueError(
                f"player of state {graph.states[i]!r} is {player!r}; allowed are 0 and 1"
            )
        value = max(values) if player == 0 else min(values)
        best = values.index(value)
        labels = tuple(label for label, _ in options)
        graph.values[i] = value
        graph.decided[i] = Decided(best, labels, values, options[best][1])
        graph.order.append(i)

    def _cycle(self, first: int) -> CycleError:
        """The error that names a shortest loop through a state of the path."""
        came_from: dict[int, tuple[int, Any]] = {}
        queue = [first]
        for i in queue:
            for label, (targets, _, _) in self._open[i]:
                for j in targets:
                    # Only states of the path have been expanded and can lead back.
                    if j in self._open and j not in came_from:
                        came_from[j] = (i, label)
                        queue.append(j)
            if first in came_from:
                break
        states, steps = self.graph.states, [came_from[first]]
        while steps[-1][0] != first:
            steps.append(came_from[steps[-1][0]])
        steps.reverse()
        lines = [f"  {states[i]!r} -- {label} -->" for i, label in steps]
        if len(lines) > 12:
            lines[8:-3] = [f"  ... {len(lines) - 11} more ..."]
        return CycleError(
            "play can return to a state, which this solver does not allow:\n"
            + "\n".join([*lines, f"  {states[first]!r}"]),
            [states[i] for i, _ in steps] + [states[first]],
        )


@contextmanager
def _noted(what: str, state: Any) -> Iterator[None]:
    """Note at an error inside the rules in which state it was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the {what} of state {state!r}")
        raise


def _solve_parts(solver: Expectimax, state: Any, workers: int) -> None:
    """Solve much of what follows a state on several processes, into the solver's graph.

    Processes are spawned, so a script that calls this needs ``if __name__ == "__main__":``.

    Args:
        solver: A solver with nothing solved yet.
        state: The state in which the game begins.
        workers: Number of processes.

    Raises:
        ValueError: If the rules cannot be sent to another process.
        CycleError: If a state can come again in one episode; other errors of
            :func:`~solvent.exact.solve_tree` are raised likewise.
    """
    unsolved = solver.unsolved()
    try:
        pickle.dumps((unsolved, state))
    except Exception as error:
        raise ValueError(
            f"workers is {workers}, but the rules cannot be sent to another process ({error}); "
            f"define choices, score and player at the top of a module, or leave workers at 1"
        ) from error
    begun = _first_states(solver.unsolved(), state, workers * PARTS_PER_WORKER)
    if len(begun) < 2:
        return
    # Neighbours have much in common, so each process takes a run of them at a time.
    size = -(-len(begun) // (2 * workers))
    parts = [begun[i : i + size] for i in range(0, len(begun), size)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context) as pool:
        try:
            for graph in pool.map(_solve_part, [(unsolved, part) for part in parts]):
                solver.graph.merge(graph)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _first_states(solver: Expectimax, state: Any, wanted: int) -> list[Any]:
    """States that follow within the same number of moves, at least `wanted` if there are."""
    graph = solver.graph
    layer = [graph.find(state)]
    expanded: set[int] = set()
    while 0 < len(layer) < wanted:
        expanded.update(layer)
        following = {
            j: None for i in layer for _, outcomes in solver.expand(i) for j in outcomes[0]
        }
        layer = [
            j for j in following if j not in expanded and solver.score(graph.states[j]) is None
        ]
    return [graph.states[i] for i in layer]


def _solve_part(task: tuple[Expectimax, list[Any]]) -> Graph:
    solver, part = task
    for state in part:
        solver.solve(state)
    return solver.graph


def exact_weights(probabilities: Iterable[Fraction]) -> tuple[tuple[int, ...], int]:
    """Probabilities as whole weights over their common denominator, and that."""
    ratios = [p.as_integer_ratio() for p in probabilities]
    total = lcm(*[d for _, d in ratios])
    weights = tuple([n * (total // d) for n, d in ratios])
    if sum(weights) != total:
        raise ValueError(
            f"the probabilities sum to {Fraction(sum(weights), total)}, not to 1; "
            f"write thirds as Fraction(1, 3), or solve with exact=False"
        )
    return weights, total


def _float_weights(probabilities: Iterable[Any]) -> tuple[tuple[float, ...], float]:
    """Probabilities as floats, which are weights over 1."""
    weights = tuple(map(float, probabilities))
    if not abs(sum(weights) - 1) <= 1e-9:
        raise ValueError(f"the probabilities sum to {sum(weights)!r}, not to 1")
    return weights, 1.0


def expectation(outcomes: Outcomes, values: list[Any]) -> tuple[int, int]:
    """The expected value of outcomes: numerator and denominator, not reduced.

    Args:
        outcomes: The outcomes, with whole weights over a common denominator.
        values: The values of all states that they lead to, as Fractions.
    """
    targets, weights, total = outcomes
    terms: list[tuple[int, int]] = [values[j].as_integer_ratio() for j in targets]
    if len(terms) == 1:
        return terms[0]
    common = lcm(*[d for _, d in terms])
    numerator = sum([w * n * (common // d) for w, (n, d) in zip(weights, terms, strict=True)])
    return numerator, total * common


def _exact_expectation(outcomes: Outcomes, values: list[Any]) -> Fraction:
    # Most moves lead somewhere for certain: their value is reduced already.
    certain = len(outcomes[0]) == 1
    return values[outcomes[0][0]] if certain else Fraction(*expectation(outcomes, values))


def _float_expectation(outcomes: Outcomes, values: list[Any]) -> float:
    targets, weights, _ = outcomes
    return float(sum(map(mul, weights, map(values.__getitem__, targets))))


def _fraction(value: Any) -> Fraction:
    """A number as a Fraction; a float means the decimal that it prints."""
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float) and isfinite(value):
        return Fraction(str(value))
    raise ValueError(f"{value!r}, which is not a rational number (exact=False takes any)")


def _finite(value: Any) -> float:
    """A number as a float."""
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{value!r}, which is not a finite number")
    return number


class Reached(NamedTuple):
    """A state of a game and the sum of the rewards on the way to it."""

    state: Any
    collected: Fraction | int = 0


BEFORE_PLAY = Reached(None)
"""Before the initial state has been drawn."""


@dataclass(frozen=True)
class GameTree:
    """The rules of any acyclic game as choices and scores, for :func:`solve_tree`.

        tree = GameTree(game)
        solve_tree(tree.choices, tree.score, tree.start, player=tree.player)

    A state of the tree is a state of the game with the rewards collected on the way, which are its
    score at an end. (In a game that rewards only at the end that is 0 everywhere before it.)
    Values are to player 0, in Fractions if wanted, which makes this the slow but exact reference
    for solvers of arrays.

    Attributes:
        game: A game for one, or for two of whom one is on turn in every state.
        start: The state to solve from; by default that before the initial state has been drawn.
    """

    game: Game
    start: Reached = BEFORE_PLAY

    def choices(self, at: Reached) -> list[tuple[str, list[tuple[Reached, Fraction]]]]:
        """The legal actions by name, with what follows.

        Raises:
            ValueError: If both players have a choice.
        """
        if at == self.start:
            return [("begin", _following(self.game.initial(), at))]
        player = self.player(at)
        names = self.game.info.actions[player]
        return [
            (names[joint[player]], _following(self.game.transition(at.state, joint), at))
            for joint in product(*self.game.legal_actions(at.state))
        ]

    def score(self, at: Reached) -> Fraction | int | None:
        """The rewards collected, at an end."""
        over = at != self.start and self.game.is_terminal(at.state)
        return at.collected if over else None

    def player(self, at: Reached) -> int:
        """The player who has a choice; 0 if nobody has.

        Raises:
            ValueError: If both have.
        """
        legal = () if at == self.start else self.game.legal_actions(at.state)
        choosing = [player for player, actions in enumerate(legal) if len(actions) > 1]
        if len(choosing) > 1:
            raise ValueError(
                f"both players of {self.game.info.name} have a choice in state {at.state!r}; "
                f"solve it as arrays: solve(compile_game(game))"
            )
        return choosing[0] if choosing else 0


def _following(outcomes: tuple[Outcome, ...], at: Reached) -> list[tuple[Reached, Fraction]]:
    return [(Reached(o.state, at.collected + o.reward), o.probability) for o in outcomes]
