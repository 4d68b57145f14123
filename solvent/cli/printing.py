"""Answers as tables for a terminal, and as JSON for programs."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from solvent.baselines import all_baselines
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import GapLocation, Score, Solution
from solvent.exact.bench_records import TaskRecord
from solvent.games import GAMES
from solvent.model import TabularGame, TabularPolicy
from solvent.report.choices import action_worth, choice_text, deciders
from solvent.report.gap_account import GapAccount, account
from solvent.report.numbers import exact, small
from solvent.report.state_fields import field_names, field_values, state_text

if TYPE_CHECKING:
    from solvent.training import TrainingResult

ROUNDING = 1e-12
"""A gap below this is none."""

ALGORITHMS = ("ppo", "dqn", "maskable_ppo", "masked_dqn")
"""Those of `solvent.training`, which takes seconds to load."""

MOST_ACTIONS = 3
"""More actions than this have no column each."""

OF_A_MIX = 3
"""How many actions of a mix are named, the most probable ones."""

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


def varying_fields(game: TabularGame) -> list[int]:
    """The places of the fields that are not the same in all states."""
    if field_names(game) == ("state",):
        return [0]
    columns = zip(*(field_values(game, state) for state in game.states), strict=True)
    return [place for place, column in enumerate(columns) if len(set(column)) > 1]


def parameters_text(game: TabularGame) -> str:
    """The parameters that make a game what it is."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in game.info.parameters)


def show_solution(console: Console, game: TabularGame, solution: Solution) -> None:
    """The optimum, its bracket, and the best choices at the start."""
    parameters = parameters_text(game)
    meaning = "  (chance of winning)" if game.win_or_lose else ""
    console.print(
        facts(
            {
                "game": game.info.name + (f": {parameters}" if parameters else ""),
                "value": f"{solution.value:.9g}{meaning}",
                "bracket": f"[{solution.lower:.15g}, {solution.upper:.15g}]",
                "method": solution.method,
                "states": f"{game.n_states:,}",
            }
        )
    )
    starts = _starts(game)
    console.print("\n[bold]At the start[/]")
    console.print(_start_table(console, game, solution, starts[:STARTS]))
    if len(starts) > STARTS:
        console.print(f"and {len(starts) - STARTS:,} other starts", style="dim")


def _start_table(
    console: Console, game: TabularGame, solution: Solution, starts: Sequence[int]
) -> Table:
    """States with their value and best choice, and the worth of each action if these are few."""
    worth = {state: action_worth(game, solution, state) for state in starts}
    actions = list(dict.fromkeys(name for values in worth.values() for name in values))
    if len(actions) > MOST_ACTIONS:
        actions = []
    shown = varying_fields(game)
    names = [field_names(game)[place] for place in shown]
    table = columns(
        console, *names, "chance", "value", "best", *actions,
        numbers={*names, "chance", "value", *actions},
    )  # fmt: skip
    for state in starts:
        fields = field_values(game, game.states[state])
        table.add_row(
            *(escape(str(fields[place])) for place in shown),
            f"{game.initial[state]:.2g}",
            f"{solution.values[state]:.6f}",
            escape(_best(game, solution, state)),
            *(f"{worth[state][name]:.6f}" if name in worth[state] else "" for name in actions),
        )
    return table


def solution_json(game: TabularGame, solution: Solution) -> str:
    """The optimum, its bracket, and the best choices at the start."""
    return _json(
        {
            "game": game.info.name,
            "parameters": dict(game.info.parameters),
            "states": game.n_states,
            "value": solution.value,
            "lower": solution.lower,
            "upper": solution.upper,
            "method": solution.method,
            "model_hash": solution.model_hash,
            "start": [
                {
                    "state": repr(game.states[state]),
                    "probability": float(game.initial[state]),
                    "value": float(solution.values[state]),
                    "best": _best(game, solution, state),
                    "action_values": action_worth(game, solution, state),
                }
                for state in _starts(game)[:STARTS]
            ],
        }
    )


def show_score(
    console: Console,
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    result: Score,
    location: GapLocation | None,
    top: int,
) -> None:
    """What a policy is worth, and the states in which it loses most unless play has no end."""
    parameters = parameters_text(game)
    rows = {
        "policy": policy.name,
        "game": game.info.name + (f": {parameters}" if parameters else ""),
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
    losses = account(game, policy, solution, location, top, actions=OF_A_MIX)
    shown = varying_fields(game)
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


def _alike(losses: GapAccount, places: list[int]) -> list[int]:
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
    """What a policy is worth, and the states in which it loses most unless play has no end."""
    losses = location and account(game, policy, solution, location, top)
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


def show_rooms(console: Console) -> None:
    """The names of everything that has one."""
    table = columns(console, "game", "what it is")
    for name, maker in GAMES.items():
        table.add_row(name, escape((inspect.getdoc(maker) or "").partition("\n")[0]))
    console.print(table)
    table = columns(
        console, "environment", "game", "optimum", "its parameters", numbers={"optimum"}
    )
    for env_id, entry in ENVIRONMENTS.items():
        changed = ", ".join(f"{name} {value}" for name, value in entry.parameters.items())
        optimum = "" if entry.optimum is None else f"{entry.optimum:.6f}"
        table.add_row(env_id, entry.game, optimum, escape(changed or "the defaults"))
    console.print()
    console.print(table)
    console.print()
    console.print(
        facts({"baselines": ", ".join(all_baselines()), "algorithms": ", ".join(ALGORITHMS)})
    )


def show_training(console: Console, result: TrainingResult) -> None:
    """What a training has come to: seat by seat after self-play, and by returns without a table."""
    if result.networks:
        last = result.curve[-1]
        rows = {
            "last episodes": f"{last.mean:.4f} on average of {last.plays:,.0f}, exploring",
            "files": str(result.folder),
            "next": f"solvent score {result.folder / 'network.npz'}",
        }
    elif len(result.scores) == 2:
        averages = " and ".join(f"{one.optimality_gap:.9g}" for one in result.average_scores)
        rows = {
            **{
                f"seat {seat}": f"exploitability {mode.optimality_gap:.9g}  "
                f"(as sampled {sampled.optimality_gap:.9g})"
                for seat, (mode, sampled) in enumerate(
                    zip(result.mode_scores, result.scores, strict=True)
                )
            },
            "average policy": f"exploitability {averages}",
            "files": str(result.folder),
        }
    else:
        sampled, mode = result.score, result.mode_score
        rows = {
            "optimum": f"{mode.optimum:.9g}",
            "value": f"{mode.value:.9g}  (as sampled {sampled.value:.9g})",
            "gap": f"{mode.optimality_gap:.9g}  (as sampled {sampled.optimality_gap:.9g})",
            "normalized": f"{mode.normalized:.6f}  (0 uniform play, 1 the optimum)",
            "worst start": f"{mode.worst_start_gap:.9g}",
            "files": str(result.folder),
        }
    trained = (
        f"{result.algorithm}, seed {result.seed}, {result.timesteps:,} steps, "
        f"{result.cpu_seconds:.1f} CPU seconds"
    )
    console.print(facts({"trained": trained, **rows}))


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


def show_parameters(console: Console, name: str) -> None:
    """What a listed game takes."""
    maker = GAMES[name]
    text = inspect.getdoc(maker) or ""
    meanings = _documented_arguments(text)
    console.print(f"[bold]{name}[/]  {escape(text.partition(chr(10))[0])}\n")
    table = columns(console, "option", "default", "meaning")
    for parameter in inspect.signature(maker).parameters.values():
        default = "none" if parameter.default is None else str(parameter.default)
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


def _starts(game: TabularGame) -> list[int]:
    """The states of the start distribution, the most probable first."""
    order = np.argsort(-game.initial, kind="stable")
    return [int(s) for s in order[: int((game.initial > 0).sum())]]


def _best(game: TabularGame, solution: Solution, state: int) -> str:
    choosing = deciders(game, state)
    texts = [choice_text(game, solution.policies[player], state) for player in choosing or [0]]
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
