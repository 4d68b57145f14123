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
from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord, read_results
from solvent.benchmark.statistics import LEAST_SEEDS, Estimate, estimate
from solvent.exact import SolvedGame, SolvedTable, solve, write_atomically
from solvent.model import Game, ValueScale
from solvent.model.registry import spec_of
from solvent.report.colours import BASELINE_SHAPE, Mark, algorithm_marks
from solvent.report.cross_play import CrossPlayMatrix, cross_play_of
from solvent.report.curves import ends, named, panels
from solvent.report.distances import distances, rows_of
from solvent.report.gap_attribution import GapAttribution, attribute_gap
from solvent.report.numbers import brief, exact, small, whole
from solvent.report.sections import Section, Untabled, beside
from solvent.report.solved import FIGURES, SolvedTask, game_record, game_task, solve_task
from solvent.report.state_map import state_map_section

OPTIMAL = "optimal"
"""The baseline that is the optimum."""


@dataclass(frozen=True, slots=True)
class AlgorithmRow:
    """An algorithm over its seeds; an estimate is None if a run has no such number."""

    name: str
    seeds: int
    gap: Estimate | None
    normalized: Estimate | None


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
    """An agent with its greedy policy and its policy as sampled."""

    agent: AgentRecord
    greedy: PolicyRow
    sampled: PolicyRow


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
    `curve_ends` says which curves do not end where their agents are.
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
    attributions: tuple[tuple[AgentRecord, str, GapAttribution], ...]
    cross_play: CrossPlayMatrix | None
    sections: tuple[Section, ...]

    @property
    def best(self) -> tuple[AgentRow, ...]:
        """The agents with the least gap of the greedy policy: one, or all that are equal."""
        return tuple(
            row for row in self.agents if row.greedy.gaps[0] <= self.agents[0].greedy.gaps[0]
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
        tasks = read_results(folder)
        marks = algorithm_marks(agent.algorithm for task in tasks for agent in task.agents)
        views = [_view(solve_task(task, folder), marks) for task in tasks]
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
    environment.globals |= {"isfinite": isfinite}
    environment.globals |= {"baseline_shape": BASELINE_SHAPE, "least_seeds": LEAST_SEEDS}
    scripts = dict.fromkeys(s.script for view in views for s in view.sections if s.script)
    one = views[0].task.title if len(views) == 1 else None
    return environment.get_template("page.html.j2").render(
        title=one or f"Bench of {len(views)} environments",
        tasks=views,
        overall=_overall(tuple(view.task for view in views)),
        scripts=[*scripts, beside(__file__, "save.js")],
        style=beside(__file__, "page.css"),
        version=__version__,
    )


def _view(solved: SolvedTask, marks: Mapping[str, Mark]) -> TaskView:
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
    agents = (
        AgentRow(agent, _policy(agent, optima, "mode_"), _policy(agent, optima))
        for agent in task.agents
    )
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
        agents=tuple(sorted(agents, key=lambda row: _least_first(row.greedy.gaps[0]))),
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
        attributions=(),
        cross_play=None,
        sections=(),
    )


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
    """Normalized scores over all tasks of the algorithms with agents in more than one."""
    rows = []
    for name in dict.fromkeys(agent.algorithm for task in tasks for agent in task.agents):
        scores = [[a.mode_normalized for a in task.agents if a.algorithm == name] for task in tasks]
        # Where uniform play is optimal, nothing can be normalized.
        scores = [own for own in scores if own and all(map(isfinite, own))]
        if len(scores) > 1:
            rows.append(AlgorithmRow(name, sum(map(len, scores)), None, estimate(scores)))
    return tuple(rows)
