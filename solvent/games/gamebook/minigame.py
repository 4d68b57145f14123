"""Games of pure chance that go on until they are over, as absorbing Markov chains.

With Q the transitions between the states of the game and R those that end it, the probabilities of
the ends are B = (I - Q)^-1 R (Kemeny and Snell 1960, *Finite Markov Chains*, theorem 3.3.7). They
are found by taking states out one after the other: a state that is left to itself with probability
q is left for good, in the proportions of its other ways on, each divided by 1 - q.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

State = TypeVar("State", bound=Hashable)
End = TypeVar("End", bound=Hashable)


def absorption(
    transitions: Mapping[State, Mapping[State, Fraction]],
    ends: Mapping[State, Mapping[End, Fraction]],
) -> dict[State, dict[End, Fraction]]:
    """How a game ends from each of its states, exactly.

    Args:
        transitions: For each state the probabilities of the states that follow.
        ends: For each state the probabilities of the ends that follow; together they sum to 1.

    Raises:
        ValueError: If from some state the game never ends.
    """
    onward = {state: dict(row) for state, row in transitions.items()}
    ending = {state: dict(ends[state]) for state in transitions}
    taken_out: dict[State, None] = {}
    leading_to: dict[State, set[State]] = {state: set() for state in transitions}
    for state, row in onward.items():
        for target in row:
            leading_to[target].add(state)
    for state in transitions:
        stay = onward[state].pop(state, Fraction(0))
        if stay == 1:
            raise ValueError(f"the game never ends from {state!r}")
        onward[state] = {target: p / (1 - stay) for target, p in onward[state].items()}
        ending[state] = {end: p / (1 - stay) for end, p in ending[state].items()}
        taken_out[state] = None
        for source in leading_to[state] - taken_out.keys():
            weight = onward[source].pop(state)
            for target, p in onward[state].items():
                onward[source][target] = onward[source].get(target, Fraction(0)) + weight * p
                leading_to[target].add(source)
            _add(ending[source], ending[state], weight)
    # The last one taken out leads nowhere but to ends; each before it to later ones only.
    for state in reversed(taken_out):
        for target, weight in onward[state].items():
            _add(ending[state], ending[target], weight)
    return ending


def _add(total: dict[End, Fraction], more: Mapping[End, Fraction], weight: Fraction) -> None:
    for end, p in more.items():
        total[end] = total.get(end, Fraction(0)) + weight * p
