"""The report on results of a bench or on a game, as one self-contained HTML file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import getdoc
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from solvent import __version__
from solvent.baselines import baselines_of
from solvent.benchmark.records import (
    AgentRecord,
    BaselineRecord,
    TaskRecord,
    read_bench,
)
from solvent.benchmark.statistics import LEAST_SEEDS
from solvent.benchmark.summary import (
    POLICIES,
    PREFIXES,
    Summary,
    algorithms_of,
    normalized_scores,
    summarize,
    write_summary,
)
from solvent.exact import SolvedGame, solve, with_table
from solvent.model import Game, ValueScale
from solvent.model.files import check_writable, write_atomically
from solvent.model.game import words
from solvent.model.registry import spec_of
from solvent.model.text import game_text, interval, state_columns
from solvent.report.charts import (
    distances,
    ends,
    gap_band_panel,
    named,
    panels,
    profile_panel,
    rows_of,
    tasks_chart,
)
from solvent.report.gap_attribution import losing_states
from solvent.report.panel import (
    BASELINE_SHAPE,
    Mark,
    algorithm_marks,
)
from solvent.report.sections import Section, Untabled, beside, pages_of, templates
from solvent.report.solved import SolvedTask, game_record, game_task, solve_task
from solvent.report.state_map import state_map_section

OPTIMAL = "optimal"
"""The baseline that is the optimum."""


class PolicyRow(NamedTuple):
    """The figures of a policy, or of one policy for each seat, in tables.

    Attributes:
        values: The values to each seat's own player, against a best response where there is one.
        gaps: The gap; for two the mean of both, and that of each seat.
        normalized: 0 for the uniform policy, 1 for the optimum.
        worst_start: The largest gap from a single start; None for two.
    """

    values: tuple[float, ...]
    gaps: tuple[float, ...]
    normalized: float
    worst_start: float | None


View: TypeAlias = dict[str, Any]
"""The variables of the template for a task, by name."""


def write_report(
    subject: str | Path | Game | SolvedGame,
    out: str | Path,
    *,
    sections: Sequence[Section] = (),
    summary: str | Path | None = None,
) -> Path:
    """Write the page about the results of a bench, or about a game.

    Args:
        subject: The output folder of `solvent bench`; or a game, which is solved now, or a solved
            game. The page of a game has its optimum, the baselines and its own sections, and
            nothing is trained.
        out: The file to write.
        sections: Further sections, put after the game's own.
        summary: The folder for the files of a bench's summary (:mod:`solvent.benchmark.summary`);
            if left out, none are written.

    Returns:
        `out`.

    Raises:
        StoreError: If the folder does not hold results, they contradict the policies, or a file
            cannot be written.
        ValueError: If there is no such game, it cannot be solved, or a summary is requested
            although `subject` is no bench.
    """
    check_writable(out)
    page = render(subject, sections=sections, summary=summary)
    write_atomically(out, page.encode())
    return Path(out)


def render(
    subject: str | Path | Game | SolvedGame,
    *,
    sections: Sequence[Section] = (),
    summary: str | Path | None = None,
) -> str:
    """Return the page about a bench's results or a game; the same subject gives the same text.

    Args:
        subject: The subject, as for :func:`write_report`.
        sections: Further sections, put after the game's own.
        summary: The folder for the files of a bench's summary; if left out, none are written.
    """
    if not isinstance(subject, str | Path):
        if summary is not None:
            raise ValueError("a summary is of a bench; a game alone has none")
        return _page([_view_game(subject)], sections)
    bench = read_bench(subject)
    solved = [solve_task(task, Path(subject)) for task in bench.tasks]
    tasks = [one.task for one in solved]
    found = summarize(tasks, bench.suite)
    marks = algorithm_marks(algorithms_of(tasks))
    views = [_view(one, marks, found) for one in solved]
    # Algorithms are compared over all tasks only if they took part in more than one.
    compared = [
        name for name in algorithms_of(tasks) if sum(map(bool, normalized_scores(tasks, name))) > 1
    ]
    profiles = None if len(tasks) == 1 else profile_panel(tasks, marks)
    page = _page(
        views,
        sections,
        overall=[tuple(found.row(name, policy=policy) for policy in POLICIES) for name in compared],
        by_task="" if len(tasks) == 1 or not compared else tasks_chart(tasks, marks),
        profiles="" if profiles is None else profiles.drawn(),
        improvements={
            (one.first, one.second): one
            for one in found.improvements
            if one.first in compared and one.second in compared
        },
        failures=bench.failures,
        suite=found.suite,
    )
    if summary is not None:
        write_summary(summary, found)
    return page


# The templates of this folder. Without jinja2 this import fails, before a page takes any work.
_TEMPLATES = templates("solvent.report")


def template(name: str, **shown: Any) -> str:
    """Return a page of this folder as HTML.

    Args:
        name: The file of its template.
        shown: The variables of the template.
    """
    return _TEMPLATES.get_template(name).render(
        two_digits="{:.2f}".format,
        least_seeds=LEAST_SEEDS,
        style=beside(__file__, "page.css"),
        version=__version__,
        **shown | {"scripts": [*shown.get("scripts", ()), beside(__file__, "save.js")]},
    )


# The variables of the template for what only a bench has.
_OF_A_GAME: View = {
    **dict.fromkeys(("by_task", "profiles", "suite"), ""),
    **dict.fromkeys(("overall", "failures"), ()),
    "improvements": {},
}


def _page(views: Sequence[View], sections: Sequence[Section], **of_bench: Any) -> str:
    for view in views:
        view["sections"] = (*view["sections"], *sections)
    scripts = dict.fromkeys(s.script for view in views for s in view["sections"] if s.script)
    return template(
        "page.html.j2",
        title=views[0]["task"].title if len(views) == 1 else f"Bench of {len(views)} environments",
        tasks=views,
        scripts=scripts,
        baseline_shape=BASELINE_SHAPE,
        **_OF_A_GAME | of_bench,
    )


def _read_by_learner(solved: SolvedTask) -> SolvedTask:
    """Convert a task of seat 1 to the learner's chances of winning.

    Values of seat 1 are recorded as minus those of seat 0, so a chance of winning is 1 more.
    """
    if solved.seats != (1,) or not ValueScale(solved.table.info).is_chance:
        return solved

    def moved(record: Any) -> Any:
        names = [name for name in ("value", "mode_value") if hasattr(record, name)]
        return replace(record, **{name: 1 + getattr(record, name) for name in names})

    task = solved.task
    agents = tuple(
        replace(item, agent=moved(item.agent), curve=tuple(map(moved, item.curve)))
        for item in solved.agents
    )
    task = replace(
        task,
        optimum=1 + task.optimum,
        bracket=(1 + task.bracket[0], 1 + task.bracket[1]),
        agents=tuple(item.agent for item in agents),
        baselines=tuple(map(moved, task.baselines)),
        constant=task.constant and moved(task.constant),
    )
    return replace(solved, task=task, agents=agents)


def _view(solved: SolvedTask, marks: Mapping[str, Mark], summary: Summary | None = None) -> View:
    solved = _read_by_learner(solved)
    task = solved.task
    curves = {item.agent.name: item.curve for item in solved.agents}
    view = _general(task, solved.game, solved.solution.method, marks)
    meaning = view["meaning"].partition(",")[0]
    several_seeds = len(task.agents) > len(algorithms_of([task]))
    return view | {
        "states": solved.table.n_states,
        "columns": lambda worst: state_columns(
            solved.game, [one.state for one in worst], solved.table.states
        ),
        "model_hash": solved.table.model_hash,
        "algorithms": [
            row
            for row in (summary.rows if summary else ())
            if (row.task, row.policy) == (task.name, "judged")
        ],
        "curves": panels(task, curves, marks, meaning) if curves else (),
        # Curves that do not end at the scores of their agents.
        "curve_ends": ends(task, curves),
        "bands": [gap_band_panel(task, curves, marks, policy).drawn() for policy in PREFIXES]
        if several_seeds
        else (),
        "attributions": [
            (
                item.agent,
                f", {words(solved.game).player_name(policy.player)}" if task.for_two else "",
                location,
                losing_states(solved.table, policy, solved.solution, location, rules=solved.game),
            )
            for item in sorted(solved.agents, key=lambda item: _least_first(item.agent.mode_gap))
            for policy, location in zip(item.policies, item.locations, strict=True)
        ],
        "sections": _sections(solved),
    }


def _general(task: TaskRecord, game: Game, method: str, marks: Mapping[str, Mark]) -> View:
    """Return the variables that every task has, with a table or without."""
    spec = spec_of(game)
    about = getdoc(spec.maker() if spec is not None else type(game)) or ""
    descriptions = {name: one.description for name, one in baselines_of(game).items()}
    descriptions["constant"] = "the best policy that takes the same action in every state"
    meaning = ValueScale(game.info).meaning
    # The values of optimal play to each seat's own player.
    optima = tuple(ValueScale(game.info, seat).of(task.optimum) for seat in range(1 + task.for_two))
    agents = sorted(
        (_agent(agent, task, optima) for agent in task.agents),
        key=lambda row: _least_first(row["judged"].gaps[0]),
    )
    baselines: list[View] = [
        {
            "name": one.name,
            "description": descriptions.get(one.name, ""),
            "policy": _policy(one, optima),
        }
        for one in task.references
    ]
    baselines.sort(key=lambda row: _least_first(row["policy"].gaps[0]))
    return {
        "anchor": task.name,
        "task": task,
        "about": about.partition("\n")[0],
        "game_text": game_text(game.info),
        "optima": optima,
        "sides": [words(game).player_name(player) for player in range(game.info.players)],
        "bracket": interval(*task.bracket),
        "states": None,
        "method": method,
        "model_hash": None,
        "meaning": meaning,
        "marks": marks,
        "agents": agents,
        # The agent with the least gap, or all that are equal.
        "best": [r for r in agents if r["judged"].gaps[0] <= agents[0]["judged"].gaps[0]],
        "baselines": baselines,
        "best_baseline": next((row for row in baselines if row["name"] != OPTIMAL), None),
        "distances": distances(
            f"Distance from the optimum on {task.title}",
            named("exploitability" if task.for_two else "optimality gap", meaning),
            rows_of(task, marks, descriptions),
        )
        if task.agents or task.baselines
        else "",
        **dict.fromkeys(("curves", "bands", "attributions", "sections"), ()),
    }


def _agent(agent: AgentRecord, task: TaskRecord, optima: tuple[float, ...]) -> View:
    rows = {policy: _policy(agent, optima, prefix) for policy, prefix in PREFIXES.items()}
    worst_start = getattr(agent, PREFIXES[task.judged] + "worst_start_gap")
    return {"agent": agent, "judged": rows[task.judged], "worst_start": worst_start, **rows}


def _policy(
    record: AgentRecord | BaselineRecord, optima: tuple[float, ...], prefix: str = ""
) -> PolicyRow:
    """Return a row of figures; for two, a seat's value is its player's optimum minus its gap.

    Args:
        record: The record with the figures.
        optima: The values of optimal play to each seat's own player.
        prefix: Prefix of their names: ``"mode_"`` for those of the greedy policy.
    """
    value, gap, normalized, worst_start, pair = (
        getattr(record, prefix + name)
        for name in ("value", "gap", "normalized", "worst_start_gap", "exploitability")
    )
    if pair is None:
        return PolicyRow((value,), (gap,), normalized, worst_start)
    values = tuple(optimum - own for optimum, own in zip(optima, pair, strict=True))
    return PolicyRow(values, (gap, *pair), normalized, None)


def _least_first(gap: float) -> tuple[bool, float]:
    """Return a sort key for gaps; gaps that could not be proved come last."""
    return isnan(gap), gap


def _sections(solved: SolvedTask) -> tuple[Section, ...]:
    """Return the sections that a game adds, or its values and policy if it adds none."""
    if len(solved.seats) < solved.table.info.players:
        return ()  # Sections are about both players, and one is folded into chance.
    own = pages_of(solved.table).sections(solved)
    return tuple(own or (state_map_section(solved),))


def _untabled(subject: Game | SolvedGame) -> Untabled | None:
    """Return the results known without a table; None if the game has no way to tell."""
    return pages_of(subject if isinstance(subject, Game) else subject.game).untabled(subject)


def _view_game(subject: Game | SolvedGame) -> View:
    known = _untabled(subject)
    if known is None:
        solved = solve(subject) if isinstance(subject, Game) else subject
        table = with_table(solved)
        if table is not None:
            return _view(game_task(table), {})
        known = _untabled(solved) or Untabled(solved)
    solved, task = known.solved, game_record(known.solved, known.baselines)
    view = _general(task, solved.game, solved.method, {})
    return view | {"sections": known.sections}
