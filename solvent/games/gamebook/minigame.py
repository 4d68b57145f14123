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
Key = TypeVar("Key", bound=Hashable)


def absorption(
    transitions: Mapping[State, Mapping[State, Fraction]],
    ends: Mapping[State, Mapping[End, Fraction]],
) -> dict[State, dict[End, Fraction]]:
    """The exact probabilities with which a game ends from each of its states.

    Args:
        transitions: For each state the probabilities of the states that follow.
        ends: For each state the probabilities of the ends that follow; together they sum to 1.

    Raises:
        ValueError: If from some state the game never ends.
    """
    onward = {state: dict(row) for state, row in transitions.items()}
    ending = {state: dict(ends[state]) for state in transitions}
    order = list(transitions)
    for place, state in enumerate(order):
        stay = onward[state].pop(state, Fraction(0))
        if stay == 1:
            raise ValueError(f"the game never ends from {state!r}")
        onward[state] = {target: p / (1 - stay) for target, p in onward[state].items()}
        ending[state] = {end: p / (1 - stay) for end, p in ending[state].items()}
        for source in order[place + 1 :]:
            weight = onward[source].pop(state, None)
            if weight is not None:
                _add(onward[source], onward[state], weight)
                _add(ending[source], ending[state], weight)
    # The last one taken out leads nowhere but to ends; each before it to later ones only.
    for state in reversed(order):
        for target, weight in onward[state].items():
            _add(ending[state], ending[target], weight)
    return ending


def _add(total: dict[Key, Fraction], more: Mapping[Key, Fraction], weight: Fraction) -> None:
    for key, p in more.items():
        total[key] = total.get(key, Fraction(0)) + weight * p
