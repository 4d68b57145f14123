"""The solution of a tree: the best choice everywhere, and its outcomes.

States that can be reached in several ways are solved once, so what is called a tree is kept as a
graph: state i has a value, its choices with their values, and the outcomes of the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

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
