"""Victory probabilities that Johnston 2022 writes down: equations 1-3, 6 and 13.

All are sums over histories: strings of rounds won, lost and drawn, of which the last is won. They
take the probabilities (p_w, p_d, p_l) of a round, which equations 1-3 give for two dice a side
(``round_probabilities`` of the rules), and compute in the numbers that they are given: floats, or
Fractions for an exact answer. Damage is the standard one: 2 a round, and 4 or 1 with a test.

Summed over all numbers of draws, a history with m rounds won or lost before its last has

    sum over d of  p_d^d C(m + d, d)  =  (1 - p_d)^-(m + 1),

so p_w and p_l are each divided by 1 - p_d: draws change nothing.

**Errata.** Equation 9 leaves out the probability p_w^(n - 3k + 1) of the n - 3k rounds won before
the last and of the last one. Without it the sum is no probability: it exceeds 1 (a test shows by
how much). In equation 11 the sum over k runs to n / 3, although equation 7 divides by (n - 4k)!;
the histories meant exist for k up to n / 4.
"""

from fractions import Fraction
from math import comb
from typing import TypeVar

Number = TypeVar("Number", float, Fraction)


def victory_without_luck(rounds: tuple[Number, Number, Number], hero: int, opponent: int) -> Number:
    """Return equation 6: the probability of victory if LUCK is never tested.

    Args:
        rounds: (p_w, p_d, p_l), probabilities that a round is won, drawn and lost.
        hero: The hero's STAMINA, at least 1.
        opponent: The opponent's STAMINA, at least 1.
    """
    p_w, p_d, p_l = rounds
    wins = _halved(opponent)
    total = p_w * 0
    for losses in range(_halved(hero)):
        before = wins - 1 + losses
        histories = comb(before, losses) * p_l**losses
        total += histories * (1 - p_d) ** -(before + 1)
    return p_w**wins * total


def victory_with_constant_luck(
    rounds: tuple[Number, Number, Number],
    success: Number,
    hero: int,
    opponent: int,
    *,
    as_printed: bool = False,
) -> Number:
    """Return equation 13: LUCK is tested after every round won, and not used up.

    Args:
        rounds: (p_w, p_d, p_l), probabilities that a round is won, drawn and lost.
        success: q, the probability that a test succeeds.
        hero: The hero's STAMINA, at least 1.
        opponent: The opponent's STAMINA, at least 1.
        as_printed: Leave the factor p_w^(n - 3k + 1) out, as equation 9 does. The result is then
            no probability.
    """
    p_w, p_d, p_l = rounds
    # Equation 12: the STAMINA left before the last round, and the tests that finish it.
    last_round = {4: success, 3: success, 2: success, 1: success + (1 - success)}
    total = p_w * 0
    for left, finishes in last_round.items():
        n = opponent - left  # STAMINA that the opponent has lost before the last round.
        for k in range(n // 4 + 1):
            wins = n - 3 * k
            tests = comb(wins, k) * success**k * (1 - success) ** (wins - k)
            won = 1 if as_printed else p_w ** (wins + 1)
            for losses in range(_halved(hero)):
                before = wins + losses
                histories = comb(before, losses) * p_l**losses
                total += finishes * tests * won * histories * (1 - p_d) ** -(before + 1)
    return total


def _halved(stamina: int) -> int:
    """Return the number of ordinary hits that a STAMINA takes, sigma = ceil(s / 2)."""
    return -(-stamina // 2)
