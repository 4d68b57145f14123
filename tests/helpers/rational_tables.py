"""Small tables whose floats are exact, and their optimum in rational arithmetic by brute force.

All probabilities and rewards are dyadic, so that what the floats of a table say is what is meant,
and the truth is a Fraction.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any, TypeAlias

import numpy as np

from solvent.model import GameInfo, TabularGame, TabularPolicy

# Probability, next state and reward of each outcome.
Row: TypeAlias = list[tuple[float, int, float]]

# The next state with which play ends.
END = -1

INFINITE = "play that never ends collects rewards for ever"


def table_of(
    rows: list[list[Row]], *, player: int = 0, owners: list[int] | None = None
) -> TabularGame:
    """A table from its rows by state; play begins in state 0, and the end is the last state.

    Args:
        rows: Of each state.
        player: Who chooses in every state.
        owners: Who chooses in each state, in a game in which both do.
    """
    n = len(rows)
    owners = owners or [player] * n
    widest = max(map(len, rows))
    masks = np.zeros((2, n + 1, widest), bool)
    masks[:, :n, 0] = True
    for s, own in enumerate(rows):
        masks[owners[s], s, : len(own)] = True
    flat = [row for own in rows for row in own]
    outcomes = [outcome for row in flat for outcome in row]
    names = tuple(f"a{i}" for i in range(widest))
    return TabularGame(
        info=GameInfo("dyadic", 2, (names, names), False, (-np.inf, np.inf), ("made up",)),
        states=(*range(n), "end"),
        row_start=np.cumsum([0, *map(len, rows), 0]),
        outcome_start=np.cumsum([0, *map(len, flat)]),
        next_state=np.array([t if t >= 0 else n for _, t, _ in outcomes], np.int64),
        probability=np.array([p for p, _, _ in outcomes], float),
        outcome_reward=np.array([r for _, _, r in outcomes], float),
        mask=(masks[0], masks[1]),
        initial=np.eye(n + 1)[0],
    )


def mirrored(rows: list[list[Any]]) -> list[list[Any]]:
    return [[[(p, t, -r) for p, t, r in row] for row in own] for own in rows]


@dataclass(frozen=True)
class Truth:
    """What is true of a game in which one player maximises.

    Attributes:
        value: The best that a policy which ends play for certain, or goes on for ever without any
            reward, gets from the start; None if nothing ends.
        infinite: Whether some play that goes on for ever is worth infinitely much.
        endless: Whether going on for ever without a reward is better than ending.
    """

    value: Fraction | None
    infinite: bool
    endless: bool


def truth(rows: list[list[Row]], start: int = 0, *, on_the_way: bool = False) -> Truth:
    """The optimum over all deterministic policies, in rational arithmetic, from one state.

    Args:
        rows: Of each state.
        start: Where play begins.
        on_the_way: Whether play that comes into a loop without rewards has a value too if it
            collects some before.
    """
    best: Fraction | None = None
    proper: Fraction | None = None
    infinite = False
    for policy in product(*rows):
        found = evaluate(list(policy), start, on_the_way=on_the_way)
        if found == INFINITE:
            infinite = True
        elif isinstance(found, tuple):
            value, ends = found
            best = value if best is None else max(best, value)
            if ends:
                proper = value if proper is None else max(proper, value)
    return Truth(best, infinite, best is not None and (proper is None or best > proper))


def evaluate(
    rows: list[Row], start: int, *, on_the_way: bool = False
) -> tuple[Fraction, bool] | str | None:
    """What one row a state comes to from a state: the value and whether play ends for certain.

    Returns:
        INFINITE if play can come into a loop that gains on the average; None if into one with
        rewards that does not gain, which has no value.
    """
    reach = _reached(rows, start)
    ends = {s for s in reach if END in _reached(rows, s)}
    lost = {s for s in reach if s != END and s not in ends}
    looping = set()
    # Where no end can be reached, play settles in a loop: the states that reach only each other.
    for s in lost:
        loop = {t for t in _reached(rows, s) if t != END}
        if all(s in _reached(rows, t) for t in loop):
            gain = _gain(rows, sorted(loop))
            if gain > 0:
                return INFINITE
            if any(r for t in loop for p, _, r in rows[t] if p > 0):
                return None
            looping |= loop
    if not on_the_way and any(r for t in lost for p, _, r in rows[t] if p > 0):
        return None
    order = sorted((reach - looping if on_the_way else ends) - {END})
    value = solve_equations(
        [[_flow(rows, s, t) for t in order] for s in order],
        [_mean(rows[s]) for s in order],
    )
    return (value[order.index(start)] if start in order else Fraction(0)), not lost


def conventional_values(
    rows: list[list[Row]], owners: list[int], start: int = 0, *, endless: bool = True
) -> tuple[Fraction | float, Fraction | float]:
    """The values of a game of turns if rewards that cancel for ever are lost by player 0, or by 1.

    Args:
        rows: Of each state.
        owners: Who chooses in each state.
        start: Where play begins.
        endless: Whether play that goes on for ever without rewards has a value; if not, it is lost
            likewise.
    """
    rows = [[[outcome for outcome in row if outcome[0] > 0] for row in own] for own in rows]
    first, second = (
        list(
            product(
                *(own if who == player else own[:1] for own, who in zip(rows, owners, strict=True))
            )
        )
        for player in (0, 1)
    )
    payoffs = [
        [
            _payoff([(x, y)[who][s] for s, who in enumerate(owners)], start, endless=endless)
            for y in second
        ]
        for x in first
    ]
    return (
        max(min(-inf if pay is None else pay for pay in row) for row in payoffs),
        min(max(inf if pay is None else pay for pay in row) for row in zip(*payoffs, strict=True)),
    )


def _payoff(rows: list[Row], start: int, *, endless: bool) -> Fraction | float | None:
    """What one row a state comes to; None where rewards cancel for ever, or there is no value."""
    gains = set()
    for s in _reached(rows, start) - {END}:
        loop = _reached(rows, s)
        settled = END not in loop and all(s in _reached(rows, t) for t in loop)
        if settled and any(r for t in loop for _, _, r in rows[t]):
            gain = _gain(rows, sorted(loop))
            gains.add(inf if gain > 0 else -inf if gain < 0 else None)
    if gains:
        return gains.pop() if len(gains) == 1 else None
    value, ends = evaluate(rows, start, on_the_way=True)
    return value if ends or endless else None


def mixed_rows(
    rows: list[list[Row]], owners: list[int], policy: TabularPolicy
) -> list[list[list[tuple[Fraction, int, float]]]]:
    """The rows that are left to the other player when one player's policy is fixed, exactly."""
    left = []
    for s, own in enumerate(rows):
        if owners[s] != policy.player:
            left.append([[(Fraction(p), t, r) for p, t, r in row] for row in own])
            continue
        weights = [Fraction(w) for w in policy.probabilities[s, : len(own)].tolist()]
        total = sum(weights)
        left.append(
            [
                [
                    (Fraction(p) * w / total, t, r)
                    for w, row in zip(weights, own, strict=True)
                    for p, t, r in row
                    if w
                ]
            ]
        )
    return left


def _reached(rows: list[Row], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        s = waiting.pop()
        after = set() if s == END else {t for p, t, _ in rows[s] if p > 0} - found
        found |= after
        waiting += after
    return found


def _flow(rows: list[Row], s: int, t: int) -> Fraction:
    return sum((Fraction(p) for p, target, _ in rows[s] if target == t), Fraction(0))


def _mean(row: Row) -> Fraction:
    return sum((Fraction(p) * Fraction(r) for p, _, r in row), Fraction(0))


def _gain(rows: list[Row], loop: list[int]) -> Fraction:
    """The average reward of a loop that is never left, up to a positive factor."""
    # Visits between two visits of the first state: d = e_first P + d P on the others.
    others = loop[1:]
    into = [_flow(rows, loop[0], t) for t in others]
    visits = solve_equations([[_flow(rows, s, t) for s in others] for t in others], into)
    return _mean(rows[loop[0]]) + sum(
        d * _mean(rows[s]) for d, s in zip(visits, others, strict=True)
    )


def solve_equations(moves: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve (I - moves) x = right."""
    n = len(right)
    a = [[Fraction(int(i == j)) - moves[i][j] for j in range(n)] + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = next(j for j in range(i, n) if a[j][i])
        a[i], a[pivot] = a[pivot], a[i]
        for j in range(n):
            if j != i and a[j][i]:
                factor = a[j][i] / a[i][i]
                a[j] = [x - factor * y for x, y in zip(a[j], a[i], strict=True)]
    return [a[i][n] / a[i][i] for i in range(n)]


# Random tables whose magnitudes differ as much as floats allow, by kinds


KINDS = ("ordinary", "rewards", "exits", "loops", "zeros", "everything")


def random_rows(seed: int, kind: str, states: int = 3) -> list[list[Row]]:
    """Rows of a random table of one kind; some states may be out of reach of the start.

    Args:
        seed: Same seed, same table.
        kind: ``"ordinary"``: rewards -3..3 and exits of 1/8 and more. ``"rewards"``: rewards from
            2^-50 to 2^30. ``"exits"``: probabilities down to 2^-52. ``"loops"``: rows that lead
            back for certain, free, cancelling or with a small gain or loss. ``"zeros"``: outcomes
            of probability 0. ``"everything"``: all at once.
        states: Besides the end.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])

    def has(what: str) -> bool:
        return kind == what or kind == "everything"

    def reward() -> float:
        if has("rewards") and rng.random() < 0.6:
            return float(rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(-50, 31))
        return float(rng.integers(-3, 4))

    def split() -> list[float]:
        """Two or three probabilities that sum to 1 in floats exactly."""
        small = (
            2.0 ** -int(rng.integers(1, 53)) if has("exits") else 2.0 ** -int(rng.integers(1, 4))
        )
        return [1 - small, *([small] if rng.random() < 0.5 else [small / 2] * 2)]

    rows: list[list[Row]] = []
    for _ in range(states):
        own: list[Row] = []
        for _ in range(int(rng.integers(1, 4))):
            if has("loops") and rng.random() < 0.5:
                target = int(rng.integers(0, states))
                pay = float(rng.choice([0.0, 0.0, 1.0, -1.0, 2.0**-13, -(2.0**-13), 2.0**-40]))
                own.append([(1.0, target, pay)])
                continue
            if rng.random() < 0.25:
                own.append([(1.0, END, reward())])
                continue
            chances = split()
            targets = [int(t) for t in rng.integers(-1, states, len(chances))]
            own.append([(p, t, reward()) for p, t in zip(chances, targets, strict=True)])
            if has("zeros") and rng.random() < 0.7:
                own[-1].append((0.0, int(rng.integers(-1, states)), reward()))
        rows.append(own)
    return rows
