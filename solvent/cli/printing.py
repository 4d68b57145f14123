"""Results as tables for a terminal, and as JSON for programs."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from solvent.baselines import GENERIC
from solvent.exact import GapLocation, Score, Solution, SolvedGame, SolvedTable
from solvent.exact.bench_records import TaskRecord
from solvent.model import Game, GameInfo, TabularGame, TabularPolicy, ValueScale
from solvent.model.registry import GameSpec, broken_games, game_specs, load
from solvent.report.choices import state_text, strategy_text
from solvent.report.gap_attribution import GapAttribution, attribute_gap
from solvent.report.numbers import exact, small

if TYPE_CHECKING:
    from solvent.training import TrainingResult

ROUNDING = 1e-12
"""A gap below this is none."""

ALGORITHMS = ("ppo", "dqn", "maskable_ppo", "masked_dqn")
"""Those of `solvent.training`, which takes seconds to load."""

MOST_ACTIONS = 3
"""More actions than this have no column each."""

OF_A_STRATEGY = 3
"""How many actions of a mixed strategy are named, the most probable ones."""

STARTS = 6
"""How many states of the start distribution are shown."""


def facts(rows: Mapping[str, str]) -> Table:
    """A table of two columns without lines."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows.items():
        table.add_row(name, escape(text))
    return table


def columns(console: Console, *names: str, numbers: Collection[str] = ()) -> Table:
    """An empty table without lines; columns of numbers are flushed right and never broken."""
    gap = 2 if console.width >= 100 else 1
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="dim")
    for name in names:
        is_number = name in numbers
        table.add_column(
            name, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    return table


def varying_fields(states: Sequence[Any]) -> list[int]:
    """The places of the fields that are not the same in all states."""
    if not hasattr(states[0], "_fields"):
        return [0]
    return [place for place, column in enumerate(zip(*states, strict=True)) if len(set(column)) > 1]


def game_text(info: GameInfo) -> str:
    """A game with the parameters that make it what it is."""
    parameters = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in info.parameters)
    return info.name + (f": {parameters}" if parameters else "")


def show_solution(console: Console, solved: SolvedGame) -> None:
    """The optimum, its bracket, and the best choices at the start."""
    table = solved.table if isinstance(solved, SolvedTable) else None
    meaning = ValueScale(solved.game.info).meaning
    rows = {
        "game": game_text(solved.game.info),
        "value": f"{solved.value:.9g}{meaning and f'  ({meaning})'}",
        "bracket": f"[{solved.lower:.15g}, {solved.upper:.15g}]",
        "method": solved.method,
    }
    if table is not None:
        rows["states"] = f"{table.n_states:,}"
    console.print(facts(rows))
    starts = _starts(solved.game)
    first = list(starts)[:STARTS]
    console.print("\n[bold]At the start[/]")
    states = first if table is None else table.states
    console.print(_start_table(console, solved, {s: starts[s] for s in first}, states))
    if len(starts) > STARTS:
        console.print(f"and {len(starts) - STARTS:,} other starts", style="dim")


def _start_table(
    console: Console, solved: SolvedGame, starts: Mapping[Any, float], states: Sequence[Any]
) -> Table:
    """States with their value and best choice, and the value of each action if these are few."""
    values = {state: _action_values(solved, state) for state in starts}
    actions = list(dict.fromkeys(name for named in values.values() for name in named))
    if len(actions) > MOST_ACTIONS:
        actions = []
    has_fields = hasattr(states[0], "_fields")
    shown = varying_fields(states)
    names = [states[0]._fields[place] if has_fields else "state" for place in shown]
    table = columns(
        console, *names, "chance", "value", "best", *actions,
        numbers={*names, "chance", "value", *actions},
    )  # fmt: skip
    for state, chance in starts.items():
        fields = state if has_fields else (state,)
        table.add_row(
            *(escape(str(fields[place])) for place in shown),
            f"{chance:.2g}",
            f"{solved.value_of(state):.6f}",
            escape(_best(solved, state)),
            *(f"{values[state][name]:.6f}" if name in values[state] else "" for name in actions),
        )
    return table


def solution_json(solved: SolvedGame) -> str:
    """The optimum, its bracket, and the best choices at the start."""
    starts = _starts(solved.game)
    info = solved.game.info
    content = {
        "game": info.name,
        "parameters": dict(info.parameters),
        "value": solved.value,
        "lower": solved.lower,
        "upper": solved.upper,
        "method": solved.method,
        "start": [
            {
                "state": repr(state),
                "probability": starts[state],
                "value": solved.value_of(state),
                "best": _best(solved, state),
                "action_values": _action_values(solved, state),
            }
            for state in list(starts)[:STARTS]
        ],
    }
    if isinstance(solved, SolvedTable):
        content |= {"states": solved.table.n_states, "model_hash": solved.table.model_hash}
    return _json(content)


def show_score(
    console: Console,
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    result: Score,
    location: GapLocation | None,
    top: int,
) -> None:
    """The value of a policy, and the states in which it loses most unless episodes have no end."""
    rows = {
        "policy": policy.name,
        "game": game_text(game.info),
        "value": f"{result.value:.9g}",
        "optimum": f"{result.optimum:.9g}",
        "gap": f"{result.optimality_gap:.9g}",
        "normalized": f"{result.normalized:.6f}  (0 uniform play, 1 the optimum)",
        "worst start": f"{result.worst_start_gap:.9g} lost from "
        f"{state_text(game, result.worst_start)}",
    }
    if result.exploitability is not None:
        rows["exploitability"] = f"{result.exploitability:.9g}"
    console.print(facts(rows))
    if result.optimality_gap < ROUNDING:
        console.print("\nThe policy is optimal: nothing is lost anywhere.")
        return
    if location is None:
        console.print("\nPlay need not end, so nothing is counted by state.")
        return
    losses = attribute_gap(game, policy, solution, location, top, actions=OF_A_STRATEGY)
    shown = varying_fields(game.states)
    alike = [] if len(losses.worst) < 2 else _alike(losses, shown)
    shown = [place for place in shown if place not in alike]
    names = [losses.field_names[place] for place in shown]
    numbers = ("share", "lost", "visits", "per visit")
    table = columns(console, *numbers, *names, "chooses", "best", numbers={*numbers, *names})
    for state in losses.worst:
        table.add_row(
            f"{100 * state.share:.1f}%",
            small(state.contribution),
            small(state.visits),
            small(state.loss),
            *(escape(str(state.fields[place])) for place in shown),
            escape(state.chosen),
            escape(state.best),
        )
    console.print("\n[bold]Where the gap is lost[/]")
    if alike:
        first = losses.worst[0].fields
        same = (f"{losses.field_names[k]} {'none' if first[k] == '' else first[k]}" for k in alike)
        console.print(escape(f"in each of these: {', '.join(same)}"), style="dim")
    console.print(table)
    share = sum(state.share for state in losses.worst)
    console.print(
        f"{len(losses.worst)} of {losses.losing:,} losing states, {100 * share:.1f}% of what is "
        f"lost; all of them lose {losses.total:.9g}",
        style="dim",
    )
    if losses.given_up > ROUNDING:
        console.print(
            f"The best response gives up {losses.given_up:.9g} elsewhere to get there; the rest is "
            f"the gap.",
            style="dim",
        )


def _alike(losses: GapAttribution, places: list[int]) -> list[int]:
    """Those of some fields that are the same in all states of an account, if others are not."""
    alike = [k for k in places if len({state.fields[k] for state in losses.worst}) == 1]
    return alike if len(alike) < len(places) else []


def score_json(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    result: Score,
    location: GapLocation | None,
    top: int,
) -> str:
    """The value of a policy, and the states in which it loses most unless episodes have no end."""
    losses = location and attribute_gap(game, policy, solution, location, top)
    return _json(
        {
            "policy": policy.name,
            "game": game.info.name,
            "parameters": dict(game.info.parameters),
            "model_hash": game.model_hash,
            **asdict(result),
            "worst_start": repr(result.worst_start),
            "gap_sum": losses and losses.total,
            "given_up": losses and losses.given_up,
            "losses": [
                {
                    "state": repr(state.state),
                    "chosen": state.chosen,
                    "best": state.best,
                    "contribution": state.contribution,
                    "share": state.share,
                    "visits": state.visits,
                    "loss": state.loss,
                }
                for state in (losses.worst if losses else ())
            ],
        }
    )


def show_games(console: Console) -> None:
    """Every game with its environments and baselines, and what any game may have."""
    broken = dict(broken_games())
    for spec in game_specs().values():
        try:
            summary = _summary(spec)
            own = () if spec.baselines is None else load(spec.baselines)
        except (ValueError, ImportError) as error:
            broken[spec.name] = str(error)
            continue
        console.print(f"[bold]{escape(spec.name)}[/]  {escape(summary)}", highlight=False)
        rows = {" ".join(["also as", *spec.shorthands]): ""} if spec.shorthands else {}
        for env_id, entry in spec.environments.items():
            changed = ", ".join(f"{name} {value}" for name, value in entry.parameters.items())
            against = f"against {entry.opponent}" if entry.opponent else ""
            optimum = "" if entry.optimum is None else f"optimum {entry.optimum:.6f}"
            rows[env_id] = "; ".join(filter(None, (changed, against, optimum)))
        if spec.pettingzoo is not None:
            rows[f"solvent/{spec.name}-v0"] = "PettingZoo"
        if own:
            rows["baselines"] = ", ".join(own)
        console.print(Padding(facts(rows), (0, 0, 1, 2)))
    rest = {"baselines of any game": ", ".join(GENERIC), "algorithms": ", ".join(ALGORITHMS)}
    console.print(facts(rest))
    for name, cause in broken.items():
        console.print(f"{escape(name)} cannot be loaded: {escape(cause)}", style="red")


def _summary(spec: GameSpec) -> str:
    """What a game is, in the first line of its maker's docstring."""
    return (inspect.getdoc(spec.maker()) or "").partition("\n")[0]


def show_training(console: Console, result: TrainingResult) -> None:
    """What a training has come to, seat by seat where it learned both."""
    rows = {
        "trained": f"{result.algorithm}, seed {result.seed}, {result.timesteps:,} steps, "
        f"{result.cpu_seconds:.1f} CPU seconds"
    }
    if result.networks:
        last = result.curve[-1]
        rows["last episodes"] = f"{last.mean:.4f} on average of {last.plays:,.0f}, exploring"
        rows["next"] = f"solvent score {result.folder / 'network.npz'}"
    elif len(result.scores) > 1:
        for seat, mode in enumerate(result.mode_scores):
            rows[f"seat {seat}"] = (
                f"exploitability {mode.optimality_gap:.9g}  "
                f"(as sampled {result.scores[seat].optimality_gap:.9g})"
            )
        averages = " and ".join(f"{one.optimality_gap:.9g}" for one in result.average_scores)
        rows["average policy"] = f"exploitability {averages}"
    else:
        sampled, mode = result.score, result.mode_score
        rows |= {
            "optimum": f"{mode.optimum:.9g}",
            "value": f"{mode.value:.9g}  (as sampled {sampled.value:.9g})",
            "gap": f"{mode.optimality_gap:.9g}  (as sampled {sampled.optimality_gap:.9g})",
            "normalized": f"{mode.normalized:.6f}  (0 uniform play, 1 the optimum)",
            "worst start": f"{mode.worst_start_gap:.9g}",
        }
    console.print(facts({**rows, "files": str(result.folder)}))


def show_results(console: Console, tasks: Sequence[TaskRecord]) -> None:
    """The agents and baselines of a bench against the optimum."""
    for task in tasks:
        numbers = ("value", "gap", "normalized", "worst start")
        if task.for_two:
            numbers = ("value", "exploitability", "normalized", "worse seat")
        console.print(
            f"\n[bold]{escape(task.env)}[/]  optimum {task.optimum:.6f} "
            f"in [{task.bracket[0]:.12f}, {task.bracket[1]:.12f}]",
            highlight=False,
        )
        table = columns(console, "policy", *numbers, numbers=numbers)
        rows = [
            (a.mode_gap, a.name, a.mode_value, a.mode_normalized, a.mode_worst_start_gap)
            for a in task.agents
        ]
        rows += [(b.gap, b.name, b.value, b.normalized, b.worst_start_gap) for b in task.baselines]
        for gap, name, value, normalized, worst in sorted(rows):
            table.add_row(escape(name), exact(value), small(gap), exact(normalized), small(worst))
        console.print(table)
    console.print("Agents take their most probable action; all numbers are exact.", style="dim")


def show_parameters(console: Console, spec: GameSpec) -> None:
    """What a game takes."""
    maker = spec.maker()
    text = inspect.getdoc(maker) or ""
    meanings = _documented_arguments(text)
    console.print(f"[bold]{escape(spec.name)}[/]  {escape(text.partition(chr(10))[0])}\n")
    table = columns(console, "option", "default", "meaning")
    for parameter in inspect.signature(maker).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        default = "none" if parameter.default is None else str(parameter.default)
        if parameter.default is parameter.empty:
            default = "needed"
        option = "--" + parameter.name.replace("_", "-")
        table.add_row(option, escape(default), escape(meanings.get(parameter.name, "")))
    console.print(table)


def _documented_arguments(text: str) -> dict[str, str]:
    """The entries under ``Args:`` in a docstring of Google's convention, without its markup."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(
        r"^    (\w+): (.*?)(?=^    \w+: |\Z)",
        section[1] if section else "",
        re.MULTILINE | re.DOTALL,
    )
    plain = {name: re.sub(r":\w+:`~?([^`]*\.)?([^`]+)`", r"\2", body) for name, body in entries}
    return {
        name: " ".join(body.replace("``", "").replace("`", "").split())
        for name, body in plain.items()
    }


def _starts(game: Game) -> dict[Any, float]:
    """The probability of every state of the start distribution, the most probable first."""
    chances: dict[Any, Fraction] = {}
    for outcome in game.initial():
        chances[outcome.state] = chances.get(outcome.state, Fraction()) + outcome.probability
    order = sorted(chances, key=lambda state: -chances[state])
    return {state: float(chances[state]) for state in order}


def _deciders(game: Game, state: Any) -> list[int]:
    """The players who have a choice in a state."""
    if game.is_terminal(state):
        return []
    return [p for p, legal in enumerate(game.legal_actions(state)) if len(legal) > 1]


def _action_values(solved: SolvedGame, state: Any) -> dict[str, float]:
    """The value to player 0 of each action, where one player alone has a choice; else nothing."""
    choosing = _deciders(solved.game, state)
    if len(choosing) != 1:
        return {}
    names = solved.game.info.actions[choosing[0]]
    values = solved.action_values(state, choosing[0])
    return {names[action]: value for action, value in values.items()}


def _best(solved: SolvedGame, state: Any) -> str:
    """What is best in a state; of both players, if both have a choice."""
    if solved.game.is_terminal(state):
        return ""
    choosing = _deciders(solved.game, state)
    names = solved.game.info.actions
    texts = [strategy_text(names[p], solved.policy(state, p)) for p in choosing or [0]]
    if len(choosing) < 2:
        return texts[0]
    return "; ".join(f"player {p}: {text}" for p, text in zip(choosing, texts, strict=True))


def _json(content: dict[str, Any]) -> str:
    """JSON as the standard has it: what is not a number is null."""

    def clean(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, (list, tuple)) else value

    return json.dumps(clean(content), indent=2)
