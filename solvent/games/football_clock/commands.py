"""``solvent solve football-strategy`` for the forms with a clock: plan, solve, go on, open."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from solvent.baselines.network import NetworkPlayer
from solvent.cli.errors import interruptible
from solvent.cli.layered import SolveOptions
from solvent.cli.printing import facts
from solvent.exact.layered.folder import SheetFolder
from solvent.exact.layered.plan import Plan, make_plan
from solvent.exact.layered.resources import (
    check_disk,
    check_memory,
    free_disk,
    free_memory,
    gigabytes,
    memory_bytes,
)
from solvent.exact.layered.solve import Local, Workers, solve_layout
from solvent.exact.layered.store import SheetStore
from solvent.games.football_clock.baselines.scores import (
    SCORED_AGAINST,
    TimedScore,
    network_sheets,
    score_timed,
    sheets_named,
)
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.solution import TimedSolution, layout_for
from solvent.games.football_clock.solver.tables import timed_tables

if TYPE_CHECKING:
    from solvent.exact import SolvedGame
    from solvent.report.sections import Section

SPEED_PERIOD = 120.0
"""Seconds of the past from which the remaining time is concluded."""


def solve_timed(game: TimedFootball, options: SolveOptions, *, as_json: bool) -> None:
    """Solve a form of football with a clock, or go on with it, and print its value."""
    layout = layout_for(game)
    if options.plan:
        _show_plan(game, layout, options, as_json=as_json)
        return
    began = time.perf_counter()
    solution, solved = solution_of(game, layout, options)
    seconds = time.perf_counter() - began
    report = _report(solution, options.out, solved, seconds)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _show(solution, report)


def solution_of(
    game: TimedFootball, layout: Layout, options: SolveOptions
) -> tuple[TimedSolution, int]:
    """Solve a form, or what is missing of it; returns how many sheets that were, too."""
    with ExitStack() as stack:
        store: SheetStore = SheetStore(layout)
        kept = "nothing of it is kept; with --out DIR the same command goes on where it was"
        if options.out is not None:
            store = stack.enter_context(SheetFolder.create(options.out, layout))
            kept = f"what is solved is kept in {options.out}; the same command goes on from there"
        solved = 0
        if not store.finished:
            if not options.force:
                _check_room(layout, store, options)
            with interruptible(kept):
                solved = _solve(layout, store, options)
    if options.out is None:
        return TimedSolution(store, game), solved
    return TimedSolution.open(options.out, game, verify=options.verify), solved


def _check_room(layout: Layout, store: SheetStore, options: SolveOptions) -> None:
    successors = len(timed_tables(layout.rules).row)
    in_folder = options.out is not None
    try:
        check_memory(memory_bytes(layout, successors, in_folder=in_folder))
        if options.out is not None:
            check_disk(layout, options.out, store)
    except OSError as error:
        less = "" if in_folder else "; with --out DIR it takes less"
        raise ValueError(f"{error}{less}; --force begins all the same") from error


def _solve(layout: Layout, store: SheetStore, options: SolveOptions) -> int:
    """Solve what is missing, with progress; returns how many sheets that were."""
    todo = len(list(store.missing))
    with ExitStack() as stack:
        workers: Workers = Local(options.threads_here)
        if options.on is not None:
            from solvent.exact.layered.cluster import RayWorkers

            workers = stack.enter_context(RayWorkers(options.on))
        tell = stack.enter_context(sheet_bar(layout, store.missing, "solving"))
        solve_layout(layout, store, workers=workers, on_sheet=lambda sheet, record: tell(sheet))
    return todo


@contextmanager
def sheet_bar(
    layout: Layout, missing: Iterable[Sheet], description: str
) -> Iterator[Callable[[Sheet], None]]:
    """A bar that counts states.

    Args:
        layout: Of the form.
        missing: The sheets that are to be done; others say nothing about the time that is left.
        description: Of the work, until the first sheet is done.

    Yields:
        What is to be told of every sheet that is done.
    """
    total = sum(layout.columns(sheet.half) for sheet in layout.sheets)
    left = sum(layout.columns(sheet.half) for sheet in missing)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>5.1f}%"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        speed_estimate_period=SPEED_PERIOD,
        transient=True,
    )
    with bar:
        task = bar.add_task(description, total=total, completed=total - left)

        def tell(sheet: Sheet) -> None:
            bar.update(task, description=_moment(layout, sheet))
            bar.advance(task, layout.columns(sheet.half))

        yield tell


def _moment(layout: Layout, sheet: Sheet) -> str:
    """A sheet's moment, such as ``first half 12:30``."""
    minutes, seconds = divmod(sheet.ticks * layout.clock.tick, 60)
    half = "second" if sheet.half == 2 else "first"
    return f"{half} half {minutes:2}:{seconds:02}"


def score_player(
    game: TimedFootball, player: NetworkPlayer | str, solution: Path | None
) -> TimedScore:
    """Score a player against those known by name and a best response, with progress.

    Args:
        game: Which, with its start.
        player: A network, or the name of a player.
        solution: The folder of the game's solution, which a small form does not need.

    Raises:
        ValueError: If there is no player of that name, or it has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    layout = layout_for(game)
    if isinstance(player, str):
        name, policy = player, sheets_named(player, game, layout, solution)
        opponents = [] if player == "optimal" else ["optimal"]
    else:
        name, policy = player.name, network_sheets(game, player)
        opponents = list(SCORED_AGAINST)
    with sheet_bar(layout, layout.sheets, "scoring") as tell:
        return score_timed(
            game,
            policy,
            name,
            opponents=opponents,
            solution=solution,
            threads=os.cpu_count() or 1,
            on_sheet=tell,
        )


def paper_agent(solution: SolvedGame) -> list[Section] | None:
    """What the published agent gets in a solved form, rated with progress; the sections about it.

    Args:
        solution: Of a form with a clock; of another there are none.
    """
    from solvent.games.football_clock.report.agent import rate_agent
    from solvent.games.football_clock.report.page import paper_agent_sections

    if not isinstance(solution, TimedSolution):
        return None
    sheets = solution.layout.sheets
    with (
        interruptible("nothing of the published agent's rating is kept"),
        sheet_bar(solution.layout, sheets, "rating the published agent") as tell,
    ):
        scores = rate_agent(solution, threads=os.cpu_count() or 1, on_sheet=tell)
    return paper_agent_sections(solution, scores)


def _report(
    solution: TimedSolution, folder: Path | None, solved: int, seconds: float
) -> dict[str, Any]:
    layout = solution.layout
    return {
        "game": solution.game.info.name,
        "parameters": dict(solution.game.info.parameters),
        "states": layout.states,
        "value": solution.value,
        "lower": solution.lower,
        "upper": solution.upper,
        "largest_gap": solution.largest_gap,
        "matrix_games": solution.store.games,
        "sheets": len(layout.sheets),
        "sheets_solved_now": solved,
        "seconds": round(seconds, 3),
        "folder": None if folder is None else str(folder),
    }


def _show(solution: TimedSolution, report: dict[str, Any]) -> None:
    worth = "points" if solution.layout.for_points else "chance of winning, and half that of a tie"
    rows = {
        "game": _title(solution.game),
        "value": f"{solution.value:.9g}  ({worth}, to player 0)",
        "bracket": f"[{solution.lower:.15g}, {solution.upper:.15g}]",
        "largest gap": f"{solution.largest_gap:.1e} of a matrix game",
        "states": f"{report['states']:,}",
        "matrix games": f"{report['matrix_games']:,}",
        "sheets": f"{report['sheets']:,}, {report['sheets_solved_now']:,} of them solved now",
        "time": _duration(report["seconds"]),
    }
    if report["folder"] is not None:
        rows["folder"] = report["folder"]
    Console().print(facts(rows))


def _title(game: TimedFootball) -> str:
    parameters = (f"{name} {value}" for name, value in game.info.parameters)
    return f"{game.info.name}: {', '.join(parameters)}"


def _show_plan(
    game: TimedFootball, layout: Layout, options: SolveOptions, *, as_json: bool
) -> None:
    in_folder = options.out is not None
    with Console(stderr=True).status("solving a sample"):
        plan = make_plan(layout, in_folder=in_folder)
    if as_json:
        report = {
            "game": game.info.name,
            "parameters": dict(game.info.parameters),
            **{name: value for name, value in vars(plan).items() if name != "sample"},
            "sample": plan.sample._asdict(),
        }
        typer.echo(json.dumps(report, indent=2))
        return
    Console().print(facts(_plan_rows(game, plan, options)))


def _plan_rows(game: TimedFootball, plan: Plan, options: SolveOptions) -> dict[str, str]:
    threads = options.threads_here
    memory = free_memory()
    core_seconds = plan.sample.core_seconds
    folder = options.out
    disk = "none, since it is kept in memory; --out DIR keeps it in a folder"
    if folder is not None:
        disk = f"{gigabytes(plan.disk)}; {gigabytes(free_disk(folder))} are free in {folder}"
    return {
        "game": _title(game),
        "states": f"{plan.states:,}",
        "matrix games": f"{plan.games:,} at most, punt formations included",
        "sheets": f"{plan.sheets:,}",
        "disk": disk,
        "memory": gigabytes(plan.memory)
        + ("" if memory is None else f"; {gigabytes(memory)} are available"),
        "traffic": f"on a cluster {gigabytes(plan.sent / plan.sheets)} a sheet to each other "
        f"machine, {gigabytes(plan.sent)} in all; {gigabytes(plan.returned)} come back from them",
        "processor": f"{_duration(core_seconds)}, {core_seconds / 3600:.2f} core-hours; on "
        f"{threads} thread{'s' * (threads > 1)} about {_duration(core_seconds / threads)}",
        "measured on": f"{plan.sample.games:,} games in {plan.sample.seconds:.1f} s, in sheets "
        f"from all over the game whose values are made up to be like the real ones",
    }


def _duration(seconds: float) -> str:
    """Such as ``2 h 51 min``, ``9 min 20 s`` or ``4.2 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"
