"""``solvent solve`` for games that are solved layer by layer: plan, solve, go on, check."""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from solvent.benchmark.progress import Bar
from solvent.cli.printing import facts, show_starts, solution_rows
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Layer, LayeredGame
from solvent.exact.layered.plan import (
    Plan,
    ResourceError,
    check_disk,
    check_memory,
    estimated_cost,
    free_disk,
    free_memory,
    gigabytes,
    make_plan,
    memory_bytes,
)
from solvent.exact.layered.solve import LayeredSolution, Workers, solve_layers
from solvent.exact.layered.spot_check import CheckedState, spot_check
from solvent.exact.layered.store import KEEPS, LayerStore
from solvent.model import Game
from solvent.model.game import deciders, words
from solvent.model.parameters import check_choice
from solvent.model.text import game_text

# The values that a solution without all values can answer with, by its `keep`.
_KEPT = {
    "compact": "all positions, most of them rounded",
    "start": "the value of the start; other positions need --keep compact or all",
}

# The names of the kinds of states that are solved again.
_CHECKED = {
    "start": "the start",
    "sample": "random states of the kept samples",
    "layer": "random states of the layers",
}

# Shares of wrong states of which the probability to escape is shown.
_SHARES = (0.1, 0.01, 0.001)

# More states that disagree are counted, not shown.
_MOST_SHOWN = 10


@dataclass(frozen=True)
class SolveOptions:
    """Options for solving a game layer by layer.

    Attributes:
        out: The solution's folder; in memory if None.
        threads: Number of threads of this machine; one per processor if None.
        on: The address of the Ray cluster to solve on.
        keep: The values to keep; if None those that the folder was begun with, or all.
        plan: Whether only to print the time and space that solving will take.
        spot_check: Number of random states of a finished solution that are only to be solved again;
            None to solve.
        force: Whether to begin although there seems to be too little disk or memory.
    """

    out: Path | None = None
    threads: int | None = None
    on: str | None = None
    keep: str | None = None
    plan: bool = False
    spot_check: int | None = None
    force: bool = False


def solve_layered(
    game: Game, layered: LayeredGame, options: SolveOptions, *, as_json: bool
) -> None:
    """Solve a game layer by layer, or go on with it, and print its value.

    Args:
        game: The rules of the game.
        layered: The game as its layers.
        options: The options for solving.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If the options do not fit together.
    """
    if options.keep is not None:
        check_choice(options.keep, "--keep", KEEPS)
    for said, given in (
        ("--keep compact is for a folder", options.keep == "compact"),
        ("--spot-check is for the solution in a folder", options.spot_check is not None),
    ):
        if given and options.out is None:
            raise ValueError(f"{said}; give --out DIR")
    if as_json and (options.plan or options.spot_check is not None):
        raise ValueError("--json is for solving, not for --plan and --spot-check")
    if options.plan:
        _show_plan(game, layered, options)
        return
    if options.spot_check is not None:
        _show_spot_check(game, layered, options)
        return
    began = time.perf_counter()
    store, solved = solved_store(layered, options)
    solution = LayeredSolution(store, game)
    report = {
        "game": game.info.name,
        "parameters": dict(game.info.parameters),
        "states": layered.n_states,
        "value": solution.value,
        "lower": solution.lower,
        "upper": solution.upper,
        "largest_gap": store.largest_gap,
        "matrix_games": store.games if game.info.players == 2 else 0,
        "layers": len(layered.layers),
        "layers_solved_now": solved,
        "seconds": round(time.perf_counter() - began, 3),
        "folder": None if options.out is None else str(options.out),
        "keep": store.keep,
    }
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _show(solution, report)


def solved_store(layered: LayeredGame, options: SolveOptions) -> tuple[LayerStore, int]:
    """Solve the layers of a game that are not yet solved, with progress.

    Args:
        layered: The game as its layers.
        options: The options for solving.

    Returns:
        The layers, and the number of them that were solved now.

    Raises:
        ValueError: If there is too little disk or memory.
        StoreError: If the folder holds anything else, or is damaged.
    """
    with ExitStack() as stack:
        store = LayerStore(layered, options.keep or "all")
        if options.out is not None:
            store = stack.enter_context(LayerFolder.create(options.out, layered, options.keep))
        solved = 0
        if not store.finished:
            if not options.force:
                _check_resources(layered, store, options)
            solved = len(list(store.missing))
            workers: Workers = Workers(options.threads or os.cpu_count() or 1)
            if options.on is not None:
                from solvent.exact.layered.cluster import RayWorkers

                workers = stack.enter_context(RayWorkers(options.on))
            with layer_bar(layered, store.missing, "solving") as tell:
                solve_layers(
                    layered, store, workers=workers, on_layer=lambda layer, record: tell(layer)
                )
    if options.out is not None:
        store = LayerFolder.open(options.out, layered)
    return store, solved


def _check_resources(layered: LayeredGame, store: LayerStore, options: SolveOptions) -> None:
    in_folder = options.out is not None
    try:
        check_memory(memory_bytes(layered, in_folder=in_folder, keep=store.keep))
        if options.out is not None:
            _check_disk(layered, options.out, store)
    except OSError as error:
        others = KEEPS[KEEPS.index(store.keep) + 1 :]
        by = [*([] if in_folder else ["--out DIR"]), *(["--keep start"] if others else [])]
        less = f"; with {' and '.join(by)} it takes less" if by else ""
        raise ValueError(f"{error}{less}; --force begins all the same") from error


def _check_disk(layered: LayeredGame, out: Path, store: LayerStore) -> None:
    """Raise unless a solution fits on the disk, compressed as far as a sample of it can be."""
    try:
        check_disk(layered, out, store)
    except ResourceError:
        if store.keep != "compact":
            raise
        with Bar("solving a sample"):
            _, packed = estimated_cost(layered)
        check_disk(layered, out, store, packed)


@contextmanager
def layer_bar(
    layered: LayeredGame, missing: Iterable[Layer], description: str
) -> Iterator[Callable[[Layer], None]]:
    """Show a bar that counts states.

    Args:
        layered: The game.
        missing: The layers to solve; others do not count for the time that is left.
        description: A description of the work, shown until the first layer is done.

    Yields:
        The function to call with every layer that is done.
    """
    total, left = (sum(map(layered.states, part)) for part in (layered.layers, missing))
    done = total - left
    with Bar(description, done=done, total=total) as show:

        def tell(layer: Layer) -> None:
            nonlocal done
            done += layered.states(layer)
            show(layered.name(layer), done, total)

        yield tell


def _show(solution: LayeredSolution, report: dict[str, Any]) -> None:
    game, console = solution.game, Console(emoji=False)
    for_two = game.info.players == 2
    rows = {
        **solution_rows(solution),
        "states": f"{report['states']:,}",
        "largest gap": f"{report['largest_gap']:.1e} of a matrix game" if for_two else "",
        "matrix games": f"{report['matrix_games']:,}" if for_two else "",
        "layers": f"{report['layers']:,}, {report['layers_solved_now']:,} of them solved now",
        "time": _duration(report["seconds"]),
        "folder": report["folder"],
        "kept": _KEPT.get(report["keep"], ""),
    }
    console.print(facts({name: text for name, text in rows.items() if text}))
    # Where nobody chooses yet, what follows is of no interest and may take long.
    if report["keep"] == "all" and any(deciders(game, one.state) for one in game.initial()):
        show_starts(console, solution)


def _show_plan(game: Game, layered: LayeredGame, options: SolveOptions) -> None:
    in_folder = options.out is not None
    with Bar("solving a sample"):
        plan = make_plan(layered, in_folder=in_folder, keep=options.keep or "all")
    Console(emoji=False).print(facts(_plan_rows(game, plan, options)))


def _plan_rows(game: Game, plan: Plan, options: SolveOptions) -> dict[str, str]:
    threads = options.threads or os.cpu_count() or 1
    memory = free_memory()
    folder = options.out
    disk = "none, since it is kept in memory; --out DIR keeps it in a folder"
    if folder is not None:
        disk = f"{gigabytes(plan.disk)}; {gigabytes(free_disk(folder))} are free in {folder}"
    return {
        "game": game_text(game.info),
        "states": f"{plan.states:,}",
        **({"matrix games": f"{plan.games:,} at most"} if game.info.players == 2 else {}),
        "layers": f"{plan.layers:,}",
        "disk": disk,
        "memory": gigabytes(plan.memory)
        + ("" if memory is None else f"; {gigabytes(memory)} are available"),
        "traffic": f"on a cluster {gigabytes(plan.traffic / plan.layers)} a layer to each other "
        f"machine, {gigabytes(plan.traffic)} in all; {gigabytes(plan.traffic)} come back from them",
        "processor": f"{_duration(plan.core_seconds)}, {plan.core_seconds / 3600:.2f} core-hours; "
        f"on {threads} thread{'s' * (threads > 1)} about {_duration(plan.core_seconds / threads)}, "
        "estimated from blocks whose values are made up to be like the real ones",
    }


def _duration(seconds: float) -> str:
    """Return a duration in words, such as ``2 h 51 min``, ``9 min 20 s`` or ``4.2 s``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _show_spot_check(game: Game, layered: LayeredGame, options: SolveOptions) -> None:
    """Solve random states of a solution again from the rules, and print what was found.

    Raises:
        StoreError: If the folder does not hold such a solution, or is damaged.
        typer.Exit: With code 1, if a state disagrees.
    """
    folder, count = options.out, options.spot_check
    assert folder is not None
    assert count is not None
    store = LayerFolder.open(folder, layered, manifest_only=True)
    with Bar(f"solving {count:,} states again"):
        checked = spot_check(store, count, secrets.token_hex(8))
    rows = _checked_rows(LayeredSolution(store, game), folder, checked)
    Console(emoji=False).print(facts(rows))
    if not all(state.agrees for state in checked):
        raise typer.Exit(1)


def _checked_rows(
    solution: LayeredSolution, folder: Path, checked: Sequence[CheckedState]
) -> dict[str, str]:
    """Return rows on the states checked, the result, and the chance to miss an error."""
    wrong = [state for state in checked if not state.agrees]
    groups = {name: [state for state in checked if state.kind == name] for name in _CHECKED}
    rows = {
        **solution_rows(solution),
        "folder": str(folder),
        "solved again": "from the rules and the recorded values of the successors\n"
        + "\n".join(_group(name, states) for name, states in groups.items() if states),
        "found": f"{len(wrong):,} DISAGREE" if wrong else f"all {len(checked):,} states agree",
    }
    for state in wrong[:_MOST_SHOWN]:
        layer = solution.layered.name(state.place.layer)
        rows[f"{layer} {[*state.place.at]}"] = _difference(solution, state)
    drawn = max(len(groups[kind]) for kind in ("sample", "layer"))
    shares = [f"{(1 - share) ** drawn:.1%} if {share:.1%} of all are wrong" for share in _SHARES]
    escapes = f"{drawn:,} random states miss an error with probability {', '.join(shares)}"
    return rows | {"escapes": escapes}


def _group(kind: str, states: Sequence[CheckedState]) -> str:
    """States of a kind in one line."""
    number = "" if kind == "start" else f"{len(states):,} "
    off, allowed = (
        max(getattr(state, name) for state in states) for name in ("difference", "allowed")
    )
    return (
        f"{number}{_CHECKED[kind]}: off by at most {off:.1e}; rounding and gaps allow {allowed:.1e}"
    )


def _difference(solution: LayeredSolution, state: CheckedState) -> str:
    """A state that disagrees, in words where the game has some."""
    rules = solution.layered.game
    where = words(rules).place(state.state)
    where = where and f"{where}: "
    recorded, lower, upper = (f"{value:.15g}" for value in (state.value, *state.again))
    return f"{where}the recorded value is {recorded}; by the rules it is from {lower} to {upper}"
