"""The solver of games given by choices and scores against a plain memoised recursion.

The game is made up after gamebooks: 350 sections, two or three choices in each, ten outcomes of
most. The recursion is what one writes first, a cached function of the state; it checks nothing and
keeps only values. Both must return the same value. Then rules that take longer are solved on one
process and on two, in a game of which the parts share nothing; with two free cores the time on the
clock is a little over half of what both processes spend together.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from rich.console import Console
from rich.table import Table

from solvent.exact import solve_tree

START = (1, 40, 21)


def choices(state: tuple[int, int, int], tenth: Any = Fraction(1, 10)) -> list[Any]:
    """Fight or sneak on, or pay for a rest."""
    section, stamina, gold = state
    fight = [
        ((section + 1 + digit % 2, max(stamina - digit % 5, 0), gold), tenth) for digit in range(10)
    ]
    sneak = [
        ((section + 2, max(stamina - digit % 3, 0), max(gold - 1, 0)), tenth) for digit in range(10)
    ]
    rest = [((section + 1, min(stamina + 1, 45), gold - 2), 1)]
    return [("fight", fight), ("sneak", sneak), *([("rest", rest)] if gold >= 2 else [])]


def score(state: tuple[int, int, int]) -> int | None:
    section, stamina, _ = state
    return 0 if stamina == 0 else 1 if section >= 350 else None


def recursion(tenth: Any) -> Any:
    @cache
    def value(state: tuple[int, int, int]) -> Any:
        known = score(state)
        if known is not None:
            return known
        return max(sum(p * value(t) for t, p in after) for _, after in choices(state, tenth))

    return value(START)


def eight_parts(state: tuple[int, ...], delay: int = 0) -> list[Any]:
    """Eight games that share no state, and rules that take `delay` turns of an empty loop."""
    for _ in range(delay):
        pass
    part, section, stamina, gold = state
    if section == 0:
        return [("begin", [((k, 1, 60, 40), Fraction(1, 8)) for k in range(8)])]
    return [
        ("fight", [((part, section + 1, stamina - d, gold), Fraction(1, 4)) for d in range(4)]),
        ("pay", [((part, section + 1, stamina + 1 - 2 * d, gold - 1), Fraction(1, 4))
                 for d in range(4)]),
    ]  # fmt: skip


def eight_scores(state: tuple[int, ...]) -> int | None:
    _, section, stamina, gold = state
    return 0 if stamina <= 0 or gold <= 0 else 1 if section == 20 else None


def seconds(call: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    begin = clock()
    result = call()
    return clock() - begin, result


def cpu_of_all() -> float:
    """CPU seconds of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    console = Console(width=100)
    table = Table(title="one process, CPU time")
    for name in ("arithmetic", "states", "recursion, s", "solve_tree, s", "solve_tree / recursion"):
        table.add_column(name, justify="right")
    for name, tenth in (("floats", 0.1), ("Fractions", Fraction(1, 10))):
        plain, value = seconds(partial(recursion, tenth), time.process_time)
        rules = partial(choices, tenth=tenth)
        solve = partial(solve_tree, rules, score, START, exact=name == "Fractions")
        own, solution = seconds(solve, time.process_time)
        if abs(value - solution.value) > 1e-12 * value:
            raise AssertionError(f"recursion gives {value}, solve_tree {solution.value}")
        table.add_row(name, str(len(solution)), f"{plain:.1f}", f"{own:.1f}", f"{own / plain:.2f}")
    console.print(table)

    table = Table(title="two processes against one, Fractions")
    for name in ("rules, µs a state", "one: CPU s", "two together: CPU s", "ratio", "on the clock"):
        table.add_column(name, justify="right")
    for delay in (0, 1_000, 10_000):
        rules = partial(eight_parts, delay=delay)
        each, _ = seconds(
            lambda rules=rules: [rules((0, 1, 9, 9)) for _ in range(100)], time.process_time
        )
        spent = [
            [seconds(partial(solve_tree, rules, eight_scores, (0, 0, 1, 1), workers=n), clock)[0]
             for clock in (cpu_of_all, time.perf_counter)]
            for n in (1, 2)
        ]  # fmt: skip
        (one, one_clock), (two, two_clock) = spent
        cells = (f"{one:.1f}", f"{two:.1f}", f"{two / one:.2f}", f"{two_clock / one_clock:.2f}")
        table.add_row(f"{each * 1e4:.0f}", *cells)
    console.print(table)


if __name__ == "__main__":
    # The recursion is as deep as the book is long, times the frames of a call.
    sys.setrecursionlimit(100_000)
    threading.stack_size(256 * 2**20)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
