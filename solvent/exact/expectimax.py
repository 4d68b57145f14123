"""Expectimax with memory: any game without loops, given by two functions of its states.

    choices(state)   the choices there, at least one: pairs of a description and a distribution,
                     which is a list of pairs of a state and its probability
    score(state)     the value of the state if the game ends there, else None

The value of a state is its score or, where there is none, that of its best choice:

    V(s)  =  score(s),  or  max over choices of  sum over outcomes of  p V(s').

Each state is solved once, however many ways lead to it. No state may occur twice in one episode; a
loop is found and named. It suits games of up to a million states or so. A die that shows 3 and may
be thrown twice more:

    def choices(state):
        throws_left, last = state
        throw = [((throws_left - 1, face), Fraction(1, 6)) for face in range(1, 7)]
        return [("keep", [((0, last), 1)]), ("throw again", throw)]

    def score(state):
        throws_left, last = state
        return last if throws_left == 0 else None

    solve_tree(choices, score, (2, 3)).value        # Fraction(17, 4)

In a two-player game, `player` returns whose choice it is; player 1 chooses the least value. The
method is backward induction with memory, as in the "simple solver" with which gamebooks of the
series Lone Wolf have been solved, but without its recursion: the path to the current state is kept
in a list, so an episode may be a million moves long.

**Hidden information.** The player who chooses is assumed to know the state. If a state has cards
that this player does not see, the solution is wrong: Kuhn poker would have value 0, but its value
is -1/18.

**Exact arithmetic.** Values are Fractions. Probabilities and scores are integers or Fractions (a
float is read as the decimal that it prints), and a distribution must sum to exactly 1. The terms of
an expectation are added over a common denominator, and the sum is reduced once.

**Floats.** Probabilities may be anything that converts to a float, and sum to 1 within 1e-9. A
value that is a probability then has an error of about 1e-16 per move to the end.

**Several processes.** The first moves are expanded until there are enough states to share out. Each
process solves its share, with everything that follows, and returns the solved states. Processes
share no memory: a state that two of them reach is solved twice, and every solved state is sent
between processes. So this pays off where shares have little in common and `choices` is slow, some
hundred microseconds a state or more (``benchmarks/expectimax.py`` measures it). Otherwise one
process is faster.

**Any game.** :class:`GameTree` turns the rules of a game without cycles into choices and scores.

**The solution** (:class:`TreeSolution`) is a graph of nodes. A :class:`Node` has a value, its
choices with their values, and the outcomes of the best one.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from math import isfinite, lcm
from numbers import Rational
from operator import mul
from typing import Any, NamedTuple, TypeAlias

from solvent.model import Game, Outcome, TooManyStatesError
from solvent.model.parameters import check_integer

Number: TypeAlias = Fraction | float
"""A Fraction in exact arithmetic, else a float."""


@dataclass(eq=False, slots=True)
class Node:
    """A state and, once it is solved, its value and choices.

    Attributes:
        state: The state.
        value: Score of the state, or the value of its best choice.
        best: The index of the best choice, the first among equals.
        labels: The descriptions of all choices; none at an end.
        values: The values of all choices.
        leads_to: The outcomes of the best choice.
    """

    state: Any
    value: Any = None
    best: int = -1
    labels: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()
    leads_to: Outcomes = ((), (), 1)

    @property
    def choice(self) -> Any:
        """The description of the best choice; None at an end."""
        return self.labels[self.best] if self.labels else None

    @property
    def choices(self) -> tuple[tuple[Any, Number], ...]:
        """Every choice with its value."""
        return tuple(zip(self.labels, self.values, strict=True))

    @property
    def outcomes(self) -> tuple[tuple[Any, Number], ...]:
        """The states that the best choice leads to, with their probabilities."""
        nodes, weights, total = self.leads_to
        return tuple(
            (node.state, Fraction(weight, total) if isinstance(total, int) else weight)
            for node, weight in zip(nodes, weights, strict=True)
        )


Outcomes: TypeAlias = tuple[tuple[Node, ...], tuple[Any, ...], Any]
"""Nodes, the weight of each, and the sum of all weights: 1.0 in floats, and in exact arithmetic a
common denominator of the probabilities."""


class DecisionImportance(NamedTuple):
    """A decision, and the loss by the second best choice.

    Attributes:
        state: The state in which the decision is taken.
        choice: The best choice.
        second: The second best choice.
        visits: Probability that an optimal policy visits the state.
        loss: The value that the second best choice loses in the state.
    """

    state: Any
    choice: Any
    second: Any
    visits: Number
    loss: Number

    @property
    def importance(self) -> Number:
        """The value that the second best choice loses at the start."""
        return self.visits * self.loss


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """The solution of a game from one state.

    Attributes:
        nodes: The solved nodes by state, each after its successors.
        start: The state that was solved.
        exact: Whether values and probabilities are Fractions.
    """

    nodes: dict[Any, Node]
    start: Any
    exact: bool

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.nodes)

    def __repr__(self) -> str:
        """The value and the number of states."""
        return f"<TreeSolution {float(self.value):.12g}, {len(self)} states>"

    @property
    def value(self) -> Number:
        """The value of the start under an optimal policy."""
        return self.value_of(self.start)

    def node(self, state: Any) -> Node:
        """Return the node of a state.

        Raises:
            KeyError: If it cannot be reached from the start.
        """
        if state not in self.nodes:
            raise KeyError(f"state {state!r} cannot be reached from the start")
        return self.nodes[state]

    def value_of(self, state: Any) -> Number:
        """Return the value of a state.

        Raises:
            KeyError: If it cannot be reached from the start.
        """
        value: Number = self.node(state).value
        return value

    def visits(self) -> dict[Any, Number]:
        """Return the probability with which an optimal policy visits each state, if it is not 0."""
        visits: dict[Any, Number] = {self.start: Fraction(1) if self.exact else 1.0}
        # In reverse order, every state comes before its successors.
        for state, node in reversed(self.nodes.items()):
            if state in visits:
                for after, p in node.outcomes:
                    visits[after] = visits.get(after, 0) + visits[state] * p
        return visits

    def final_states(self) -> list[tuple[Any, Number]]:
        """Return the states in which optimal play ends, with probabilities, likeliest first."""
        ends = [(state, p) for state, p in self.visits().items() if not self.nodes[state].labels]
        return sorted(ends, key=lambda end: (-end[1], repr(end[0])))

    def decisions(self, most: int = 10) -> list[DecisionImportance]:
        """Return the most important decisions, at most `most`."""
        found = []
        for state, visits in self.visits().items():
            node = self.nodes[state]
            # The best value is the largest for player 0 and the least for player 1.
            others = [
                (abs(value - node.value), k)
                for k, value in enumerate(node.values)
                if k != node.best
            ]
            loss, second = min(others, default=(0, 0))
            if loss > 0:
                found.append(
                    DecisionImportance(state, node.choice, node.labels[second], visits, loss)
                )
        return sorted(found, key=lambda decision: -decision.importance)[:most]

    def report(self, title: str = "Value", most: int = 10) -> str:
        """Return a text with the value, the final states and the most important decisions.

        Args:
            title: The name of the value, such as ``"Winning probability"``.
            most: Largest number of decisions to list. All final states are listed.
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

# Number of states to begin with for each process: uneven parts even out.
_PARTS_PER_WORKER = 8

Choices: TypeAlias = Callable[[Any], Sequence[tuple[Any, Distribution]]]
Score: TypeAlias = Callable[[Any], Any]
Player: TypeAlias = Callable[[Any], int]


class CycleError(ValueError):
    """A state can occur twice in one episode.

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
        choices: Maps a state to its choices, as in the module's description. Outcomes of
            probability 0 are left out and equal ones merged.
        score: Maps a state to its score, or None if the game does not end there.
        state: The state to solve from. All states must be hashable.
        exact: Whether to calculate in Fractions, otherwise in floats.
        player: Maps a state with several choices to the player who makes it: 0, who maximizes, or
            1, who minimizes. By default all choices are player 0's.
        max_states: Refuse larger games instead of filling the memory.
        workers: Number of processes that solve parts of the game at the same time; the module says
            when that pays off. The functions must then be defined at the top of a module.

    Raises:
        CycleError: If a state can occur twice in one episode.
        TooManyStatesError: If there are more than `max_states` states.
        TypeError: If a state cannot be hashed.
        ValueError: If a state has no choices, a distribution does not sum to 1, or a probability
            or score is not a number; the message names the state.
    """
    check_integer(workers, "workers", 1, 1024)
    check_integer(max_states, "max_states", 1, 10**12)
    solver = Expectimax(choices, score, exact, player, max_states)
    if workers > 1:
        _solve_parts(solver, state, workers)
    solver.solve(state)
    return TreeSolution({node.state: node for node in solver.solved}, state, exact)


@dataclass(eq=False)
class Expectimax:
    """Backward induction with memory; see :func:`solve_tree` for the arguments.

    Attributes:
        nodes: The nodes of all states found so far.
        solved: The solved nodes, each after its successors.
        opened: The choices of the states on the path from the start to the current state.
    """

    choices: Choices
    score: Score
    exact: bool
    player: Player | None
    max_states: int
    nodes: dict[Any, Node] = field(default_factory=dict, init=False)
    solved: list[Node] = field(default_factory=list, init=False)
    opened: dict[Node, list[tuple[Any, Outcomes]]] = field(default_factory=dict, init=False)

    def find(self, state: Any) -> Node:
        """Return the node of a state, which is added if it is new.

        Raises:
            TypeError: If the state cannot be hashed.
        """
        try:
            node = self.nodes.get(state)
        except TypeError as error:
            raise TypeError(
                f"state {state!r} cannot be hashed; build states of numbers, texts, tuples, "
                f"frozensets and frozen dataclasses"
            ) from error
        if node is None:
            node = self.nodes[state] = Node(state)
        return node

    def solve(self, state: Any) -> None:
        """Solve a state and all states that can follow."""
        path: list[Node] = []
        waiting = [[self.find(state)]]
        while waiting:
            if waiting[-1]:
                node = waiting[-1].pop()
                if node.value is not None:
                    continue
                if node in self.opened:
                    raise self._cycle(path[path.index(node) :])
                node.value = self._score(node.state)
                if node.value is not None:
                    self.solved.append(node)
                    continue
                options = self.opened[node] = self.expand(node.state)
                path.append(node)
                waiting.append(
                    [n for _, (after, _, _) in options for n in after if n.value is None]
                )
            else:
                waiting.pop()
                if path:
                    node = path.pop()
                    self._decide(node, self.opened.pop(node))

    def _score(self, state: Any) -> Number | None:
        with _noted("score", state):
            score = self.score(state)
        try:
            return None if score is None else _fraction(score) if self.exact else _finite(score)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the score of state {state!r} is {error}") from error

    def expand(self, state: Any) -> list[tuple[Any, Outcomes]]:
        """Return the choices of a state, checked, with nodes for their outcomes."""
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
        if len(self.nodes) > self.max_states:
            raise TooManyStatesError(
                f"there are more than {self.max_states} states, reached in {state!r}; "
                f"raise max_states if the memory is enough"
            )
        return options

    def _outcomes(self, distribution: Distribution) -> Outcomes:
        """Return a distribution over nodes, each once and with a positive weight."""
        exact = self.exact
        merged: dict[Node, Any] = {}
        for state, probability in distribution:
            node = self.find(state)
            if exact and type(probability) is not Fraction:
                probability = _fraction(probability)
            merged[node] = merged[node] + probability if node in merged else probability
        weights, total = (exact_weights if exact else _float_weights)(merged.values())
        if min(weights) < 0:
            node = next(n for n, weight in zip(merged, weights, strict=True) if weight < 0)
            raise ValueError(f"the probability of {node.state!r} is negative")
        if all(weights):
            return tuple(merged), weights, total
        kept = [pair for pair in zip(merged, weights, strict=True) if pair[1]]
        return tuple(node for node, _ in kept), tuple(weight for _, weight in kept), total

    def _decide(self, node: Node, options: list[tuple[Any, Outcomes]]) -> None:
        """Compute the values of a state's choices from those of its successors; take the best."""
        values = tuple([self._expected(*outcomes) for _, outcomes in options])
        player = 0 if self.player is None or len(options) == 1 else self.player(node.state)
        if player not in (0, 1):
            raise ValueError(f"player of state {node.state!r} is {player!r}; allowed are 0 and 1")
        node.value = max(values) if player == 0 else min(values)
        node.best = values.index(node.value)
        node.labels, node.values = tuple([label for label, _ in options]), values
        node.leads_to = options[node.best][1]
        self.solved.append(node)

    def _expected(self, nodes: tuple[Node, ...], weights: tuple[Any, ...], total: Any) -> Number:
        values: list[Any] = [node.value for node in nodes]
        if not self.exact:
            return float(sum(map(mul, weights, values)))
        # Most choices have a single outcome, whose value is already reduced.
        certain: Fraction = values[0]
        return certain if len(values) == 1 else Fraction(*expectation(weights, total, values))

    def _cycle(self, loop: list[Node]) -> CycleError:
        """Return the error that names a loop, given by its nodes in their order."""
        lines = []
        for node, after in pairwise([*loop, loop[0]]):
            label = next(label for label, (found, _, _) in self.opened[node] if after in found)
            lines.append(f"  {node.state!r} -- {label} -->")
        if len(lines) > 12:
            lines[8:-3] = [f"  ... {len(lines) - 11} more ..."]
        return CycleError(
            "play can return to a state, which this solver does not allow:\n"
            + "\n".join([*lines, f"  {loop[0].state!r}"]),
            [node.state for node in (*loop, loop[0])],
        )


@contextmanager
def _noted(what: str, state: Any) -> Iterator[None]:
    """Add a note with the state to an error that the rules raise."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the {what} of state {state!r}")
        raise


def _solve_parts(solver: Expectimax, state: Any, workers: int) -> None:
    """Solve most states that follow a state in several processes, and add them to the solver.

    Processes are spawned, so a script that calls this needs ``if __name__ == "__main__":``.

    Args:
        solver: A solver with nothing solved yet.
        state: The state in which the game begins.
        workers: Number of processes.

    Raises:
        ValueError: If the rules cannot be sent to another process.
        CycleError: If a state can occur twice in one episode; other errors are those of
            :func:`~solvent.exact.solve_tree`.
    """
    try:
        pickle.dumps((solver, state))
    except Exception as error:
        raise ValueError(
            f"workers is {workers}, but the rules cannot be sent to another process ({error}); "
            f"define choices, score and player at the top of a module, or leave workers at 1"
        ) from error
    states = _first_states(replace(solver), state, workers * _PARTS_PER_WORKER)
    if len(states) < 2:
        return
    # Neighbours have much in common, so each process takes a run of them at a time.
    size = -(-len(states) // (2 * workers))
    parts = [states[i : i + size] for i in range(0, len(states), size)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context) as pool:
        try:
            for solved in pool.map(_solve_part, [(replace(solver), part) for part in parts]):
                new = [node for node in solved if node.state not in solver.nodes]
                solver.nodes.update((node.state, node) for node in new)
                solver.solved += new
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _first_states(solver: Expectimax, state: Any, wanted: int) -> list[Any]:
    """Return the states that follow after some number of moves, if possible at least `wanted`."""
    layer, expanded = [state], set()
    while 0 < len(layer) < wanted:
        expanded.update(layer)
        following = {
            node.state: None
            for at in layer
            for _, (nodes, _, _) in solver.expand(at)
            for node in nodes
        }
        layer = [at for at in following if at not in expanded and solver.score(at) is None]
    return layer


def _solve_part(task: tuple[Expectimax, list[Any]]) -> list[Node]:
    """Solve some states; return all solved nodes, each after its successors, for pickling."""
    solver, part = task
    for state in part:
        solver.solve(state)
    return solver.solved


def exact_weights(probabilities: Iterable[Fraction]) -> tuple[tuple[int, ...], int]:
    """Return probabilities as integer weights over their common denominator, and the latter."""
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
    """Return probabilities as floats, and their sum, which is 1."""
    weights = tuple(map(float, probabilities))
    if not abs(sum(weights) - 1) <= 1e-9:
        raise ValueError(f"the probabilities sum to {sum(weights)!r}, not to 1")
    return weights, 1.0


def expectation(weights: Sequence[int], total: int, values: Sequence[Fraction]) -> tuple[int, int]:
    """Return numerator and denominator of an expected value, not reduced.

    Args:
        weights: The integer weight of each outcome.
        total: The sum of all weights.
        values: The value of each outcome.
    """
    terms = [value.as_integer_ratio() for value in values]
    if len(terms) == 1:
        return terms[0]
    common = lcm(*[d for _, d in terms])
    numerator = sum([w * n * (common // d) for w, (n, d) in zip(weights, terms, strict=True)])
    return numerator, total * common


def _fraction(value: Any) -> Fraction:
    """Convert a number to a Fraction; a float means the decimal that it prints."""
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float) and isfinite(value):
        return Fraction(str(value))
    raise ValueError(f"{value!r}, which is not a rational number (exact=False takes any)")


def _finite(value: Any) -> float:
    """Convert a number to a float, which must be finite."""
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{value!r}, which is not a finite number")
    return number


class Reached(NamedTuple):
    """A state of a game, and the sum of the rewards on the way to it."""

    state: Any
    collected: Fraction | int = 0


# Before the initial state has been drawn.
_BEFORE_PLAY = Reached(None)


@dataclass(frozen=True)
class GameTree:
    """The rules of any acyclic game as choices and scores, for :func:`solve_tree`.

        tree = GameTree(game)
        solve_tree(tree.choices, tree.score, tree.start, player=tree.player)

    A state of the tree is a state of the game with the rewards collected on the way, whose sum is
    its score at an end. Values are to player 0, in Fractions if wanted, which makes this the slow
    but exact reference for solvers of arrays.

    Attributes:
        game: A one-player game, or a two-player game in turns.
        start: The state to solve from; by default the one before the initial state is drawn.
    """

    game: Game
    start: Reached = _BEFORE_PLAY

    def choices(self, at: Reached) -> list[tuple[str, list[tuple[Reached, Fraction]]]]:
        """Return the legal actions by name, with their outcomes.

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
        """Return the rewards collected at an end, otherwise None."""
        over = at != self.start and self.game.is_terminal(at.state)
        return at.collected if over else None

    def player(self, at: Reached) -> int:
        """Return the player who has a choice; 0 if neither has.

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
