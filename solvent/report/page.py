"""The page: results in, one HTML file out that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from solvent import __version__
from solvent.exact import write_atomically
from solvent.exact.bench_records import AgentRecord, TaskRecord, read_results
from solvent.model import Game, TooManyStatesError
from solvent.report.colours import ALGORITHMS
from solvent.report.cross import CrossTable, everybody
from solvent.report.curves import ends, panels
from solvent.report.distances import Distances, distances
from solvent.report.gap_account import GapAccount, account
from solvent.report.numbers import brief, exact, small, whole
from solvent.report.sections import Section, Untabled, sections_of, untabled
from solvent.report.solved import SolvedTask, solve_game, solve_task
from solvent.report.statistics import LEAST_SEEDS, Estimate, estimate

if TYPE_CHECKING:
    from solvent.games.football_clock.report.agent import AgentScores
    from solvent.games.football_clock.solver.solution import TimedSolution


@dataclass(frozen=True, slots=True)
class AlgorithmRow:
    """An algorithm over its seeds; estimates are None for fewer than three."""

    name: str
    seeds: int
    gap: Estimate | None
    normalized: Estimate | None


@dataclass(frozen=True, slots=True)
class TaskView:
    """What the template shows of a task.

    Of a game without a table `states` and `model_hash` are None. `curve_ends` says which curves do
    not end where their agents are.
    """

    anchor: str
    task: TaskRecord
    states: int | None
    method: str
    model_hash: str | None
    is_chance: bool
    colours: dict[str, str]
    agents: tuple[AgentRecord, ...]
    algorithms: tuple[AlgorithmRow, ...]
    distances: Distances | None
    curves: tuple[str, ...]
    curve_ends: tuple[str, ...]
    accounts: tuple[tuple[AgentRecord, str, GapAccount], ...]
    cross: CrossTable | None
    sections: tuple[Section, ...]


def write_report(folder: str | Path, out: str | Path) -> Path:
    """Write the page about the results in a folder.

    Args:
        folder: In which `solvent bench` wrote.
        out: The page.

    Returns:
        `out`.

    Raises:
        StoreError: If the folder does not hold results, they contradict the policies, or the page
            cannot be written.
        ValueError: If there is no such game.
    """
    out = Path(out)
    write_atomically(out, render(folder).encode())
    return out


def write_game_report(game: Game, out: str | Path) -> Path:
    """Write the page about a game: its optimum, the baselines and its own sections.

    Args:
        game: Any; nothing is trained.
        out: The page.

    Returns:
        `out`.

    Raises:
        ValueError: If the game cannot be solved.
        StoreError: If the page cannot be written.
    """
    out = Path(out)
    write_atomically(out, render_game(game).encode())
    return out


def write_solution_report(
    solution: TimedSolution, out: str | Path, agent: AgentScores | None = None
) -> Path:
    """Write the page about a solution of football with a clock.

    Args:
        solution: Of any of its forms.
        out: The page.
        agent: What the published agent gets in it, of
            :func:`solvent.games.football_clock.report.agent.rate_agent`, if the page is to show
            that.

    Returns:
        `out`.

    Raises:
        StoreError: If a sheet is damaged, or the page cannot be written.
    """
    from solvent.games.football_clock.report.page import untabled_timed

    out = Path(out)
    page = _page([_view_untabled(solution.game, untabled_timed(solution, agent))])
    write_atomically(out, page.encode())
    return out


def render(folder: str | Path) -> str:
    """The page about the results in a folder; the same results give the same text."""
    folder = Path(folder)
    tasks = read_results(folder)
    return _page([_view(solve_task(task, folder)) for task in tasks])


def render_game(game: Game) -> str:
    """The page about a game."""
    known = untabled(game, too_large=False)
    if known is None:
        try:
            return _page([_view(solve_game(game))])
        except TooManyStatesError:
            known = untabled(game, too_large=True)
            if known is None:
                raise
    return _page([_view_untabled(game, known)])


def _page(views: Sequence[TaskView]) -> str:
    environment = Environment(
        loader=PackageLoader("solvent.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"brief": brief, "exact": exact, "small": small, "whole": whole}
    scripts = dict.fromkeys(s.script for view in views for s in view.sections if s.script)
    return environment.get_template("page.html.j2").render(
        tasks=views,
        overall=_overall(tuple(view.task for view in views)),
        scripts=list(scripts),
        style=Path(__file__).with_name("page.css").read_text(encoding="utf-8"),
        version=__version__,
    )


def _view(solved: SolvedTask) -> TaskView:
    task = solved.task
    colours = {
        name: ALGORITHMS[number % len(ALGORITHMS)]
        for number, name in enumerate(dict.fromkeys(agent.algorithm for agent in task.agents))
    }
    curves = {item.agent.name: item.curve for item in solved.agents}
    return TaskView(
        anchor=task.env.rpartition("/")[2],
        task=task,
        states=solved.table.n_states,
        method=solved.solution.method,
        model_hash=solved.table.model_hash,
        is_chance=solved.table.win_or_lose,
        colours=colours,
        agents=tuple(sorted(task.agents, key=lambda agent: agent.mode_gap)),
        algorithms=_algorithms(task),
        distances=distances(task) if task.agents or task.baselines else None,
        curves=panels(task, curves, colours) if curves else (),
        curve_ends=ends(task, curves),
        accounts=tuple(
            (
                item.agent,
                f", seat {policy.player}" if task.for_two else "",
                account(solved.table, policy, solved.solution, location),
            )
            for item in sorted(solved.agents, key=lambda item: item.agent.mode_gap)
            for policy, location in zip(item.policies, item.locations, strict=True)
        ),
        cross=everybody(solved) if solved.table.info.players == 2 else None,
        sections=tuple(sections_of(solved)),
    )


def _view_untabled(game: Game, known: Untabled) -> TaskView:
    info = game.info
    task = TaskRecord(
        env=info.name,
        game=info.name,
        parameters=dict(info.parameters),
        optimum=known.optimum,
        bracket=known.bracket,
        agents=(),
        baselines=known.baselines,
    )
    return TaskView(
        anchor=info.name,
        task=task,
        states=None,
        method=known.method,
        model_hash=None,
        # Half the chance of a tie is in it.
        is_chance=False,
        colours={},
        agents=(),
        algorithms=(),
        distances=distances(task) if task.baselines else None,
        curves=(),
        curve_ends=(),
        accounts=(),
        cross=None,
        sections=known.sections,
    )


def _algorithms(task: TaskRecord) -> tuple[AlgorithmRow, ...]:
    rows = []
    for name in dict.fromkeys(agent.algorithm for agent in task.agents):
        own = [agent for agent in task.agents if agent.algorithm == name]
        rows.append(
            AlgorithmRow(
                name,
                len(own),
                estimate([[agent.mode_gap for agent in own]]),
                estimate([[agent.mode_normalized for agent in own]]),
            )
        )
    return tuple(rows)


def _overall(tasks: tuple[TaskRecord, ...]) -> tuple[AlgorithmRow, ...]:
    """Normalized scores over all tasks of the algorithms with enough seeds in more than one."""
    rows = []
    for name in dict.fromkeys(agent.algorithm for task in tasks for agent in task.agents):
        scores = [[a.mode_normalized for a in task.agents if a.algorithm == name] for task in tasks]
        scores = [own for own in scores if len(own) >= LEAST_SEEDS]
        if len(scores) > 1:
            rows.append(AlgorithmRow(name, sum(map(len, scores)), None, estimate(scores)))
    return tuple(rows)
