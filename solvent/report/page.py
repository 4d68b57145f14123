"""The page: results in, one HTML file out that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from math import isfinite, isnan
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from solvent import __version__
from solvent.baselines import baselines_of
from solvent.benchmark.records import (
    AgentRecord,
    BaselineRecord,
    FailureRecord,
    TaskRecord,
    read_bench,
)
from solvent.benchmark.statistics import LEAST_SEEDS, RunStatistic, estimate
from solvent.benchmark.summary import (
    POLICIES,
    PREFIXES,
    Improvement,
    Summary,
    SummaryRow,
    algorithms_of,
    bibtex,
    normalized_scores,
    summarize,
    write_summary,
)
from solvent.exact import SolvedGame, SolvedTable, solve, write_atomically
from solvent.exact.learning_curve import Evaluation
from solvent.model import Game, ValueScale
from solvent.model.registry import spec_of
from solvent.report.colours import BASELINE_SHAPE, Mark, algorithm_marks
from solvent.report.cross_play import CrossPlayMatrix, cross_play_of
from solvent.report.curves import ends, named, panels
from solvent.report.distances import distances, rows_of
from solvent.report.gap_attribution import GapAttribution, attribute_gap
from solvent.report.numbers import brief, exact, small, whole
from solvent.report.panel import Panel, write_pictures
from solvent.report.sections import Section, Untabled, beside
from solvent.report.seeds import gap_band_panel, pictures, profile_panel
from solvent.report.solved import FIGURES, SolvedTask, game_record, game_task, solve_task
from solvent.report.state_map import state_map_section

OPTIMAL = "optimal"
"""The baseline that is the optimum."""


@dataclass(frozen=True, slots=True)
class AlgorithmRow:
    """An algorithm over its seeds; an estimate is None if a run has no such number."""

    name: str
    seeds: int
    gap: RunStatistic | None
    normalized: RunStatistic | None


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What tables show of a policy, or of one for each seat.

    Attributes:
        values: To each seat's own player, against a best response where there is one.
        gaps: The gap; for two the mean of both, and that of each seat.
        normalized: 0 for the uniform policy, 1 for the optimum.
        worst_start: The largest gap from a single start; None for two.
    """

    values: tuple[float, ...]
    gaps: tuple[float, ...]
    normalized: float
    worst_start: float | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent with its greedy policy and its policy as sampled.

    Attributes:
        agent: Its record.
        greedy: The first.
        sampled: The second.
        judged: The one that agents are compared by.
        worst_start: The largest gap of that one from a single start.
    """

    agent: AgentRecord
    greedy: PolicyRow
    sampled: PolicyRow
    judged: PolicyRow
    worst_start: float


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """A baseline with a line on what it does."""

    name: str
    description: str
    policy: PolicyRow


@dataclass(frozen=True, slots=True)
class TaskView:
    """What the template shows of a task.

    Of a game without a table `states` and `model_hash` are None. `optima` are the values of optimal
    play to each seat's own player. `agents` and `baselines` are in the order of their gaps.
    `curve_ends` says which curves do not end where their agents are. `times` are the rows of
    algorithms and policies that have times to a gap, and `bands` the charts of algorithms with
    several seeds.
    """

    anchor: str
    task: TaskRecord
    about: str
    optima: tuple[float, ...]
    states: int | None
    method: str
    model_hash: str | None
    meaning: str
    marks: Mapping[str, Mark]
    agents: tuple[AgentRow, ...]
    baselines: tuple[BaselineRow, ...]
    algorithms: tuple[AlgorithmRow, ...]
    distances: str
    curves: tuple[str, ...]
    curve_ends: tuple[str, ...]
    times: tuple[SummaryRow, ...]
    bands: tuple[str, ...]
    attributions: tuple[tuple[AgentRecord, str, GapAttribution], ...]
    cross_play: CrossPlayMatrix | None
    sections: tuple[Section, ...]

    @property
    def best(self) -> tuple[AgentRow, ...]:
        """The agents with the least gap: one, or all that are equal."""
        return tuple(
            row for row in self.agents if row.judged.gaps[0] <= self.agents[0].judged.gaps[0]
        )

    @property
    def best_baseline(self) -> BaselineRow | None:
        """The baseline with the least gap but the optimum itself."""
        return next((row for row in self.baselines if row.name != OPTIMAL), None)


def write_report(
    subject: str | Path | Game | SolvedGame,
    out: str | Path,
    *,
    sections: Sequence[Section] = (),
    summary: str | Path | None = None,
    trust: bool = False,
) -> Path:
    """Write the page about the results of a bench, or about a game.

    Args:
        subject: The folder in which `solvent bench` wrote. Or a game, which is solved now, or one
            that is solved; the page has its optimum, the baselines and its own sections, and
            nothing is trained.
        out: The page.
        sections: Put after the game's own.
        summary: The folder for the files of a bench's summary (:mod:`solvent.benchmark.summary`)
            and its charts as SVG; if left out, none are written.
        trust: Whether the results may name games by the place of their code, which then runs.

    Returns:
        `out`.

    Raises:
        StoreError: If the folder does not hold results, they contradict the policies, or a file
            cannot be written.
        ValueError: If there is no such game, it cannot be solved, or a summary is asked for of what
            is no bench.
    """
    out = Path(out)
    if not isinstance(subject, str | Path):
        if summary is not None:
            raise ValueError("a summary is of a bench; a game alone has none")
        write_atomically(out, render(subject, sections=sections).encode())
        return out
    bench = _solve_bench(Path(subject), trust=trust)
    write_atomically(out, _page_of_bench(bench, sections).encode())
    if summary is not None:
        write_summary(summary, bench.summary)
        write_pictures(summary, pictures([one.task for one in bench.tasks], bench.curves))
    return out


def render(subject: str | Path | Game | SolvedGame, *, sections: Sequence[Section] = ()) -> str:
    """The page about the results of a bench, or about a game; the same subject, the same text.

    Args:
        subject: As for :func:`write_report`.
        sections: Put after the game's own.
    """
    if isinstance(subject, str | Path):
        return _page_of_bench(_solve_bench(Path(subject)), sections)
    return _page(_with([_view_game(subject)], sections))


@dataclass(frozen=True, eq=False)
class _Bench:
    """A bench with its games solved and its policies scored."""

    tasks: tuple[SolvedTask, ...]
    summary: Summary
    failures: tuple[FailureRecord, ...]

    @property
    def curves(self) -> dict[str, dict[str, Sequence[Evaluation]]]:
        """The learning curves as recorded, by the name of the task and of the agent."""
        return {
            one.task.name: {item.agent.name: item.curve for item in one.agents}
            for one in self.tasks
        }


def _solve_bench(folder: Path, *, trust: bool = False) -> _Bench:
    bench = read_bench(folder, trust=trust)
    tasks = tuple(solve_task(task, folder) for task in bench.tasks)
    curves = {(one.task.name, item.agent.name): item.curve for one in tasks for item in one.agents}
    summary = summarize([one.task for one in tasks], bench.suite, curves)
    return _Bench(tasks, summary, bench.failures)


def _page_of_bench(bench: _Bench, sections: Sequence[Section]) -> str:
    tasks = [one.task for one in bench.tasks]
    marks = algorithm_marks(algorithms_of(tasks))
    views = [_view(one, marks, bench.summary) for one in bench.tasks]
    # Over all tasks only who was in more than one is compared.
    compared = [
        name for name in algorithms_of(tasks) if sum(map(bool, normalized_scores(tasks, name))) > 1
    ]
    return _page(
        _with(views, sections),
        overall=[_overall(bench.summary, name) for name in compared],
        profiles=None if len(tasks) == 1 else profile_panel(tasks, marks),
        improvements=[
            one
            for one in bench.summary.improvements
            if one.first in compared and one.second in compared
        ],
        failures=bench.failures,
        citation=bibtex(bench.summary.suite),
    )


def _with(views: Sequence[TaskView], sections: Sequence[Section]) -> list[TaskView]:
    return [replace(view, sections=(*view.sections, *sections)) for view in views]


def _overall(summary: Summary, algorithm: str) -> tuple[SummaryRow | None, ...]:
    """The rows of an algorithm over all tasks: of the judged, greedy and sampled policies."""
    return tuple(summary.row(algorithm, policy=policy) for policy in POLICIES)


def _page(
    views: Sequence[TaskView],
    *,
    overall: Sequence[tuple[SummaryRow | None, ...]] = (),
    profiles: Panel | None = None,
    improvements: Sequence[Improvement] = (),
    failures: Sequence[FailureRecord] = (),
    citation: str = "",
) -> str:
    environment = Environment(
        loader=PackageLoader("solvent.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"brief": brief, "exact": exact, "small": small, "whole": whole}
    environment.globals |= {"isfinite": isfinite, "two_digits": "{:.2f}".format}
    environment.globals["percent"] = lambda share: f"{100 * share:g}%"
    environment.globals |= {"baseline_shape": BASELINE_SHAPE, "least_seeds": LEAST_SEEDS}
    scripts = dict.fromkeys(s.script for view in views for s in view.sections if s.script)
    one = views[0].task.title if len(views) == 1 else None
    return environment.get_template("page.html.j2").render(
        title=one or f"Bench of {len(views)} environments",
        tasks=views,
        overall=overall,
        profiles="" if profiles is None else profiles.drawn(),
        improvements={(one.first, one.second): one for one in improvements},
        failures=failures,
        citation=citation,
        scripts=[*scripts, beside(__file__, "save.js")],
        style=beside(__file__, "page.css"),
        version=__version__,
    )


def _view(
    solved: SolvedTask, marks: Mapping[str, Mark], summary: Summary | None = None
) -> TaskView:
    task = solved.task
    curves = {item.agent.name: item.curve for item in solved.agents}
    view = _general(task, solved.game, solved.solution.method, marks)
    meaning = view.meaning.partition(",")[0]
    return replace(
        view,
        states=solved.table.n_states,
        model_hash=solved.table.model_hash,
        algorithms=_algorithms(task),
        curves=panels(task, curves, marks, meaning) if curves else (),
        curve_ends=ends(task, curves),
        times=tuple(
            row
            for row in (summary.rows if summary else ())
            if row.task == task.name and row.times and row.policy in PREFIXES
        ),
        bands=tuple(gap_band_panel(task, curves, marks, policy).drawn() for policy in PREFIXES)
        if _several_seeds(task)
        else (),
        attributions=tuple(
            (
                item.agent,
                f", seat {policy.player}" if task.for_two else "",
                attribute_gap(solved.table, policy, solved.solution, location),
            )
            for item in sorted(solved.agents, key=lambda item: _least_first(item.agent.mode_gap))
            for policy, location in zip(item.policies, item.locations, strict=True)
        ),
        cross_play=cross_play_of(solved) if len(solved.seats) == 2 else None,
        sections=_sections(solved),
    )


def _general(task: TaskRecord, game: Game, method: str, marks: Mapping[str, Mark]) -> TaskView:
    """What is shown of every task, with a table or without."""
    descriptions = _descriptions(game)
    meaning = ValueScale(game.info).meaning
    seats = range(2 if task.for_two else 1)
    optima = tuple(ValueScale(game.info, seat).of(task.optimum) for seat in seats)
    agents = (_agent(agent, task, optima) for agent in task.agents)
    baselines = (
        BaselineRow(one.name, descriptions.get(one.name, ""), _policy(one, optima))
        for one in task.baselines
    )
    quantity = "exploitability" if task.for_two else "optimality gap"
    return TaskView(
        anchor=task.name,
        task=task,
        about=_about(game),
        optima=optima,
        states=None,
        method=method,
        model_hash=None,
        meaning=meaning,
        marks=marks,
        agents=tuple(sorted(agents, key=lambda row: _least_first(row.judged.gaps[0]))),
        baselines=tuple(sorted(baselines, key=lambda row: _least_first(row.policy.gaps[0]))),
        algorithms=(),
        distances=distances(
            f"Distance from the optimum on {task.title}",
            named(quantity, meaning),
            rows_of(task, marks, descriptions),
        )
        if task.agents or task.baselines
        else "",
        curves=(),
        curve_ends=(),
        times=(),
        bands=(),
        attributions=(),
        cross_play=None,
        sections=(),
    )


def _agent(agent: AgentRecord, task: TaskRecord, optima: tuple[float, ...]) -> AgentRow:
    rows = {policy: _policy(agent, optima, prefix) for policy, prefix in PREFIXES.items()}
    worst_start = getattr(agent, PREFIXES[task.judged] + "worst_start_gap")
    return AgentRow(agent, rows["greedy"], rows["sampled"], rows[task.judged], worst_start)


def _policy(
    record: AgentRecord | BaselineRecord, optima: tuple[float, ...], prefix: str = ""
) -> PolicyRow:
    """A row of figures; for two, each seat's value is the optimum to its player minus its gap.

    Args:
        record: That has the figures.
        optima: The values of optimal play to each seat's own player.
        prefix: Of their names: ``"mode_"`` for those of the greedy policy.
    """
    value, gap, normalized, worst_start, pair = (
        getattr(record, prefix + name) for name in (*FIGURES, "exploitability")
    )
    if pair is None:
        return PolicyRow((value,), (gap,), normalized, worst_start)
    values = tuple(optimum - own for optimum, own in zip(optima, pair, strict=True))
    return PolicyRow(values, (gap, *pair), normalized, None)


def _least_first(gap: float) -> tuple[bool, float]:
    """A key to sort gaps by; what could not be proved comes last."""
    return isnan(gap), gap


def _about(game: Game) -> str:
    """What a game is, in the first line of its documentation."""
    spec = spec_of(game)
    return (getdoc(spec.maker() if spec is not None else type(game)) or "").partition("\n")[0]


def _descriptions(game: Game) -> dict[str, str]:
    """What each baseline of a game does."""
    return {name: baseline.description for name, baseline in baselines_of(game).items()}


def _sections(solved: SolvedTask) -> tuple[Section, ...]:
    """The sections that a game adds; its values and policy for a game that adds nothing."""
    if len(solved.seats) < solved.table.info.players:
        return ()  # They are about both players, and one is folded into chance.
    spec = spec_of(solved.table)
    own = None if spec is None else spec.ask("sections", solved)
    return tuple(own or (state_map_section(solved),))


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
            return _view(game_task(solved), {})
        known = _untabled(solved) or Untabled(solved)
    solved, task = known.solved, game_record(known.solved, known.baselines)
    return replace(_general(task, solved.game, solved.method, {}), sections=known.sections)


def _algorithms(task: TaskRecord) -> tuple[AlgorithmRow, ...]:
    rows = []
    prefix = PREFIXES[task.judged]
    for name in dict.fromkeys(agent.algorithm for agent in task.agents):
        own = [agent for agent in task.agents if agent.algorithm == name]
        gaps, scores = (
            [getattr(agent, prefix + figure) for agent in own] for figure in ("gap", "normalized")
        )
        rows.append(AlgorithmRow(name, len(own), estimate([gaps]), estimate([scores])))
    return tuple(rows)


def _several_seeds(task: TaskRecord) -> bool:
    """Whether an algorithm has more than one agent."""
    return len(task.agents) > len(algorithms_of([task]))
