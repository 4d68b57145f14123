"""The page: results in, one HTML file out that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from solvent import __version__
from solvent.exact import SolvedGame, SolvedTable, solve, write_atomically
from solvent.exact.bench_records import AgentRecord, TaskRecord, read_results
from solvent.model import Game, ValueScale
from solvent.model.registry import spec_of
from solvent.report.colours import ALGORITHMS
from solvent.report.cross_play import CrossPlayMatrix, cross_play_of
from solvent.report.curves import ends, panels
from solvent.report.distances import Distances, distances
from solvent.report.gap_attribution import GapAttribution, attribute_gap
from solvent.report.numbers import brief, exact, small, whole
from solvent.report.sections import Section, Untabled
from solvent.report.solved import SolvedTask, game_task, solve_task
from solvent.report.statistics import LEAST_SEEDS, Estimate, estimate


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
    meaning: str
    colours: dict[str, str]
    agents: tuple[AgentRecord, ...]
    algorithms: tuple[AlgorithmRow, ...]
    distances: Distances | None
    curves: tuple[str, ...]
    curve_ends: tuple[str, ...]
    attributions: tuple[tuple[AgentRecord, str, GapAttribution], ...]
    cross_play: CrossPlayMatrix | None
    sections: tuple[Section, ...]


def write_report(
    subject: str | Path | Game | SolvedGame,
    out: str | Path,
    *,
    sections: Sequence[Section] = (),
) -> Path:
    """Write the page about the results of a bench, or about a game.

    Args:
        subject: The folder in which `solvent bench` wrote. Or a game, which is solved now, or one
            that is solved; the page has its optimum, the baselines and its own sections, and
            nothing is trained.
        out: The page.
        sections: Put after the game's own.

    Returns:
        `out`.

    Raises:
        StoreError: If the folder does not hold results, they contradict the policies, or the page
            cannot be written.
        ValueError: If there is no such game, or it cannot be solved.
    """
    out = Path(out)
    write_atomically(out, render(subject, sections=sections).encode())
    return out


def render(subject: str | Path | Game | SolvedGame, *, sections: Sequence[Section] = ()) -> str:
    """The page about the results of a bench, or about a game; the same subject, the same text.

    Args:
        subject: As for :func:`write_report`.
        sections: Put after the game's own.
    """
    if isinstance(subject, str | Path):
        folder = Path(subject)
        views = [_view(solve_task(task, folder)) for task in read_results(folder)]
    else:
        views = [_view_game(subject)]
    return _page([replace(view, sections=(*view.sections, *sections)) for view in views])


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
        meaning=ValueScale(solved.game.info).meaning,
        colours=colours,
        agents=tuple(sorted(task.agents, key=lambda agent: agent.mode_gap)),
        algorithms=_algorithms(task),
        distances=distances(task) if task.agents or task.baselines else None,
        curves=panels(task, curves, colours) if curves else (),
        curve_ends=ends(task, curves),
        attributions=tuple(
            (
                item.agent,
                f", seat {policy.player}" if task.for_two else "",
                attribute_gap(solved.table, policy, solved.solution, location),
            )
            for item in sorted(solved.agents, key=lambda item: item.agent.mode_gap)
            for policy, location in zip(item.policies, item.locations, strict=True)
        ),
        cross_play=cross_play_of(solved) if solved.table.info.players == 2 else None,
        sections=_sections(solved),
    )


def _sections(solved: SolvedTask) -> tuple[Section, ...]:
    """The sections that a game adds; none for a game that adds nothing."""
    spec = spec_of(solved.table)
    return tuple(spec.ask("sections", solved) or ()) if spec is not None else ()


def _untabled(subject: Game | SolvedGame) -> Untabled | None:
    """What is known without a table; None if the game has no way to tell."""
    spec = spec_of(subject if isinstance(subject, Game) else subject.game)
    known: Untabled | None = None if spec is None else spec.ask("untabled", subject)
    return known


def _view_game(subject: Game | SolvedGame) -> TaskView:
    known = _untabled(subject)
    if known is None:
        solved = solve(subject) if isinstance(subject, Game) else subject
        if isinstance(solved, SolvedTable):
            return _view(game_task(solved))
        known = _untabled(solved) or Untabled(solved)
    solved, info = known.solved, known.solved.game.info
    task = TaskRecord(
        env=info.name,
        game=info.name,
        parameters=dict(info.parameters),
        optimum=solved.value,
        bracket=(solved.lower, solved.upper),
        agents=(),
        baselines=known.baselines,
    )
    return TaskView(
        anchor=info.name,
        task=task,
        states=None,
        method=solved.method,
        model_hash=None,
        meaning=ValueScale(solved.game.info).meaning,
        colours={},
        agents=(),
        algorithms=(),
        distances=distances(task) if task.baselines else None,
        curves=(),
        curve_ends=(),
        attributions=(),
        cross_play=None,
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
