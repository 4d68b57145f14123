"""Parallel expectimax: parts of a tree solved at the same time, each in a process of its own.

The first moves are expanded until there are states enough to share out. Each process solves
those it is given, with all that can follow, and hands its solved states back.

Processes share no memory of what is solved: a state that two parts can both reach is solved in
both, and every solved state travels between processes. So this is worth it where little is shared
and `choices` is slow, some hundred microseconds a state or more (``benchmarks/expectimax.py``
measures it). With fast rules or much in common one process is faster.
"""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from solvent.exact.tree_solution import Graph

if TYPE_CHECKING:
    from solvent.exact.expectimax import Expectimax

PARTS_PER_WORKER = 8
"""States to begin with for each process, so that uneven parts even out."""


def solve_parts(solver: Expectimax, state: Any, workers: int) -> None:
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
