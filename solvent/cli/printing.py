"""Results as tables for a terminal and as JSON for programs.

Tables fit the terminal: no number is broken or cut, and no text within a word. A table that does
not fit is laid out in another way, each of its rows as a list of its entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape as without_markup
from rich.measure import Measurement
from rich.table import Table

from solvent.exact import Solution, SolvedGame, SolvedTable
from solvent.model import Game, GameInfo, TabularGame, TabularPolicy, ValueScale
from solvent.model.files import strict_json
from solvent.model.game import deciders, merged, words
from solvent.model.parameters import printable
from solvent.model.text import (
    NEVER_ENDS,
    ROUNDING,
    UNBOUNDED,
    action_names,
    exact,
    facts_text,
    game_text,
    interval,
    precise,
    small,
    start_text,
    state_columns,
    strategy_text,
)

if TYPE_CHECKING:
    from solvent.benchmark.records import TaskRecord
    from solvent.benchmark.statistics import RunStatistic
    from solvent.exact import GapLocation, Score
    from solvent.report.gap_attribution import LosingState
    from solvent.training import TrainingResult

# A column of text that would have to be narrower, in characters, does not fit.
_LEAST_TEXT = 16


Facts: TypeAlias = Mapping[str, "str | Facts"]
"""Texts by name; in the place of a text there may be further ones."""


def escape(text: str) -> str:
    """Return a text in which Rich finds no markup and a terminal no commands."""
    return without_markup(printable(text, "\n"))


def facts(rows: Facts, *, style: str = "bold") -> Table:
    """Return a table of two columns without lines.

    Args:
        rows: The names and the texts.
        style: The style of the names.
    """
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows.items():
        inner = escape(text) if isinstance(text, str) else facts(text, style="")
        table.add_row(escape(name), inner)
    return table


def note(console: Console, text: str) -> None:
    """Print a remark on what is above it."""
    console.print(escape(text), style="dim", highlight=False)


def show_rows(
    console: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
) -> None:
    """Print a table without lines, or where it is too wide each row as a list of its entries.

    Args:
        console: The console to print on; its width is the largest width of the table.
        names: The names of the columns.
        rows: The cells of each row as texts, as many as there are names.
        numbers: The columns of numbers, which are flushed right. The others are wrapped between
            words where that is necessary.
    """
    table = _table(console, names, rows, numbers)
    if _fits(console, table):
        console.print(table)
        return
    for number, row in enumerate(rows):
        if number:
            console.print()
        entries = zip(names, row, strict=True)
        console.print(facts({name: cell for name, cell in entries if cell}))


def show_columns(
    console: Console, columns: Mapping[str, Sequence[str]], *, numbers: Collection[str] = ()
) -> None:
    """Print columns of equal length as :func:`show_rows` does.

    Args:
        console: The console to print on.
        columns: The cells by the name of their column.
        numbers: The columns of numbers.
    """
    show_rows(console, list(columns), [*zip(*columns.values(), strict=True)], numbers=numbers)


def _table(
    console: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str] = (),
) -> Table:
    """A table without lines, whose texts may be wrapped between words."""
    gap = 2 if console.width >= 100 else 1
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    for name, cells in zip(names, columns, strict=True):
        widest = max(map(cell_len, (*name.split(), *cells)))
        least = widest if name in numbers else min(widest, _LEAST_TEXT)
        table.add_column(
            escape(name), justify="right" if name in numbers else "left", min_width=least
        )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _fits(console: Console, table: Table) -> bool:
    """Return whether no word of a table would have to be broken."""
    unbounded = console.options.update_width(10**6)
    return Measurement.get(console, unbounded, table).minimum <= console.width


# More actions than this have no column each.
_MOST_ACTIONS = 3

# The number of most probable actions of a mixed strategy that are named.
_OF_A_STRATEGY = 3

# The value of a policy under which an episode may go on for ever at a cost.
_ENDLESS = f"−∞  ({NEVER_ENDS}, and costs for ever)"

STARTS = 6
"""The number of states of the start distribution that are shown."""


def discount_text(info: GameInfo) -> str:
    """The objective of a discounted game."""
    return f"discounted by {float(info.discount):g} a move"


def value_text(solved: SolvedGame) -> str:
    """The value of a game with its unit, and in a two-player game the player whose value it is.

    A chance of winning is given for both players. A small value is written as 0 only if the
    bracket allows it.
    """
    info = solved.game.info
    scale = ValueScale(info)
    for_two = info.players == 2
    sides = words(solved.game).player_name
    about = [scale.meaning, f"to {sides(0)}" if for_two and not scale.is_chance else ""]
    meaning = ", ".join(filter(None, about))

    def to(scale: ValueScale) -> str:
        value, *ends = map(scale.of, (solved.value, solved.lower, solved.upper))
        lower, upper = sorted(ends)
        may_be_0 = lower <= 0 <= upper or abs(value) <= upper - lower
        return precise(value, ROUNDING if may_be_0 else 0.0)

    text = to(scale) + (f"  ({meaning})" if meaning else "")
    if for_two and scale.is_chance:
        text += f"\n{to(ValueScale(info, 1))}  to {sides(1)}"
    return text


def solution_rows(solved: SolvedGame) -> dict[str, str]:
    """Return the facts that are known of every solution."""
    info = solved.game.info
    objective = {} if info.discount == 1 else {"objective": discount_text(info)}
    return {
        "game": game_text(info),
        **objective,
        "value": value_text(solved),
        "bracket": interval(solved.lower, solved.upper),
        "method": solved.method,
    }


def show_solution(console: Console, solved: SolvedGame) -> None:
    """The optimum, its bracket, and the best choices at the start."""
    table = solved.table if isinstance(solved, SolvedTable) else None
    rows = solution_rows(solved)
    if table is not None:
        rows["states"] = f"{table.n_states:,}"
    console.print(facts(rows))
    show_starts(console, solved, None if table is None else table.states)


def show_starts(console: Console, solved: SolvedGame, states: Sequence[Any] | None = None) -> None:
    """The value and the best choice in the most probable states of the start distribution.

    If there are few actions, the value of each is shown, too.

    Args:
        console: The console to print on.
        solved: The solved game.
        states: All states of the game; None if they are not known.
    """
    all_starts = _starts(solved.game)
    starts = list(all_starts)[:STARTS]
    console.print("\n[bold]At the start[/]")
    values = [_action_values(solved, state) for state in starts]
    actions = list(dict.fromkeys(name for named in values for name in named))
    best = [_best(solved, state) for state in starts]
    columns = state_columns(solved.game, starts, starts if states is None else states)
    # Fields that would have to be broken are better listed.
    numbers = [*(name for name in columns if name != "place"), "chance", "value"]
    columns["chance"] = [f"{all_starts[state]:.2g}" for state in starts]
    columns["value"] = [exact(solved.value_of(state)) for state in starts]
    for name in dict.fromkeys(name for named in best for name in named):
        columns[name] = [named.get(name, "") for named in best]
    for name in actions if len(actions) <= _MOST_ACTIONS else ():
        numbers.append(name)
        columns[name] = [exact(named[name]) if name in named else "" for named in values]
    show_columns(console, columns, numbers=numbers)
    if len(all_starts) > STARTS:
        note(console, f"and {len(all_starts) - STARTS:,} other starts")


def solution_json(solved: SolvedGame) -> str:
    """The optimum, its bracket, and the best choices at the start."""
    starts = _starts(solved.game)
    info = solved.game.info
    content = {
        "game": info.name,
        "parameters": dict(info.parameters),
        "discount": float(info.discount),
        "value": solved.value,
        "lower": solved.lower,
        "upper": solved.upper,
        "method": solved.method,
        "start": [
            {
                "state": repr(state),
                "probability": starts[state],
                "value": solved.value_of(state),
                "best": "; ".join(
                    text if player == "best" else f"{player}: {text}"
                    for player, text in _best(solved, state).items()
                ),
                "action_values": _action_values(solved, state),
            }
            for state in list(starts)[:STARTS]
        ],
    }
    if isinstance(solved, SolvedTable):
        content |= {"states": solved.table.n_states, "model_hash": solved.table.model_hash}
    return strict_json(content)


def show_score(
    console: Console,
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    result: Score,
    location: GapLocation | None,
    top: int,
    rules: Game,
) -> None:
    """Show the value of a policy, and its most costly states unless episodes have no end.

    Args:
        console: The console to print on.
        game: The table.
        policy: The policy that was scored.
        solution: The solution of the table.
        result: The score.
        location: The location of the gap; None if an episode need not end.
        top: The number of states to show.
        rules: The rules of the table, for words that only they know.
    """
    from solvent.report.gap_attribution import losing_states

    rows = {"policy": policy.name, "game": game_text(game.info)}
    if game.info.players == 2:
        side = words(rules).player_name(policy.player)
        rows["player"] = f"{side}, against a best response"
    rows |= score_rows(game.info, result, policy.player)
    rows["worst start"] += f" lost from {start_text(rules, result.worst_start)}"
    console.print(facts(rows))
    if result.optimality_gap < ROUNDING:
        console.print("\nThe policy is optimal: nothing is lost anywhere.")
    elif location is None:
        console.print("\nPlay need not end, so nothing is counted by state.")
    else:
        worst = losing_states(game, policy, solution, location, top, _OF_A_STRATEGY, rules)
        _show_losses(console, worst, location, game, rules)


def _show_losses(
    console: Console,
    worst: Sequence[LosingState],
    location: GapLocation,
    game: TabularGame,
    rules: Game,
) -> None:
    """The states in which a policy loses most, with its choices and the optimal ones."""
    meaning = ValueScale(game.info).meaning
    console.print(f"\n[bold]Where the gap is lost[/]{meaning and f'  ({meaning})'}")
    columns = {
        "share": [f"{100 * one.share:.1f}%" for one in worst],
        "lost": [small(one.contribution) for one in worst],
        "visits": [small(one.visits) for one in worst],
        "per visit": [small(one.loss) for one in worst],
    }
    fields = state_columns(rules, [one.state for one in worst], game.states)
    # Fields that are the same in all these states have no column, if others are not; places have.
    alike = {
        name: cells[0]
        for name, cells in fields.items()
        if len({*cells}) == 1 < len(worst) and name != "place"
    }
    if 0 < len(alike) < len(fields):
        note(console, f"in each of these: {facts_text(alike)}")
        fields = {name: cells for name, cells in fields.items() if name not in alike}
    columns |= fields
    numbers = [name for name in columns if name != "place"]
    columns |= {"chooses": [one.chosen for one in worst], "best": [one.best for one in worst]}
    show_columns(console, columns, numbers=numbers)
    share, losing = sum(one.share for one in worst), (location.contribution > 0).sum()
    note(
        console,
        f"{len(worst)} of {losing:,} losing states, {100 * share:.1f}% of the loss; "
        f"the total is {precise(location.contribution.sum())}",
    )
    if location.given_up > ROUNDING:
        note(
            console,
            f"The best response gives up {precise(location.given_up)} elsewhere to get there; the "
            f"rest is the gap.",
        )


def score_rows(info: GameInfo, result: Score, player: int = 0) -> dict[str, str]:
    """Return the figures of a policy with their unit.

    Args:
        info: The facts about the game.
        result: The score, whose values are to the player: what one side wins the other loses.
        player: The player whose policy it is.
    """
    scale = ValueScale(info, player)
    sign = 1 if player == 0 else -1
    meaning = f"  ({scale.meaning})" if scale.meaning else ""

    def lost(gap: float) -> str:
        if math.isinf(gap):
            return UNBOUNDED
        if scale.is_chance:
            return f"{precise(gap)}  ({scale.difference(gap)})"
        return f"{precise(gap)} {info.unit}".rstrip()

    value = f"{precise(scale.of(sign * result.value))}{meaning}"
    rows = {} if result.discount == 1 else {"objective": discount_text(info)}
    rows |= {
        "value": _ENDLESS if result.value == -math.inf else value,
        "optimum": f"{precise(scale.of(sign * result.optimum))}{meaning}",
        "gap": lost(result.optimality_gap),
        "normalized": _normalized(result.normalized),
        "worst start": lost(result.worst_start_gap),
    }
    if result.exploitability is not None:
        rows["exploitability"] = lost(result.exploitability)
    return rows


def _normalized(share: float) -> str:
    """A normalized score with its meaning; a dash if uniform play is optimal or has no value."""
    if math.isnan(share):
        return "–  (uniform play is optimal or has no value)"
    return f"{exact(share)}  (0 uniform play, 1 the optimum)"


def score_json(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    result: Score,
    location: GapLocation | None,
    top: int,
) -> str:
    """The value of a policy, and the states in which it loses most unless episodes have no end."""
    from solvent.report.gap_attribution import losing_states

    worst = losing_states(game, policy, solution, location, top) if location else ()
    return strict_json(
        {
            "policy": policy.name,
            "player": policy.player,
            "game": game.info.name,
            "parameters": dict(game.info.parameters),
            "model_hash": game.model_hash,
            **asdict(result),
            "worst_start": repr(result.worst_start),
            # JSON has no infinite numbers.
            "unbounded": result.value == -math.inf,
            "gap_sum": location and float(location.contribution.sum()),
            "given_up": location and location.given_up,
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
                for state in worst
            ],
        }
    )


def show_training(console: Console, result: TrainingResult, info: GameInfo) -> None:
    """Show the result of a training, seat by seat if both were learned.

    Args:
        console: The console to print on.
        result: The result of the training.
        info: The facts about the game.
    """
    meaning = ValueScale(info).meaning
    unit = f"  ({meaning})" if meaning else ""
    rows = {
        "trained": f"{result.algorithm}, seed {result.seed}, {result.timesteps:,} steps, "
        f"{result.cpu_seconds:.1f} CPU seconds",
        "saw the solution": ", ".join(result.saw),
    }
    if result.networks:
        last = result.curve[-1]
        rows |= {
            "last episodes": f"{last.mean:.4f} on average of {last.plays:,.0f}, exploring{unit}",
            "next": f"solvent score {result.folder / 'network.npz'}",
        }
    elif len(result.scores) > 1:
        seats = zip(result.mode_scores, result.scores, strict=True)
        averages = " and ".join(precise(one.optimality_gap) for one in result.average_scores)
        rows |= {
            "unit": meaning,
            **{
                f"seat {seat}": f"exploitability {precise(mode.optimality_gap)}  "
                f"(as sampled {precise(sampled.optimality_gap)})"
                for seat, (mode, sampled) in enumerate(seats)
            },
            "average policy": f"exploitability {averages}",
        }
    else:
        greedy, sampled = (
            score_rows(info, score, result.policy.player)
            for score in (result.mode_score, result.score)
        )
        rows |= greedy
        for name in ("value", "gap"):
            rows[name] += f"\n{sampled[name]}  as sampled"
    rows["files"] = str(result.folder)
    console.print(facts({name: text for name, text in rows.items() if text}))


def show_summary(console: Console, tasks: Sequence[TaskRecord]) -> None:
    """Show what each algorithm reached, by task and over all tasks.

    Args:
        console: The console to print on.
        tasks: Records of the tasks.
    """
    from solvent.benchmark.summary import summarize

    def told(found: RunStatistic | None, text: Callable[[float], str]) -> str:
        if found is None:
            return ""
        mean, low, high = map(text, (found.mean, found.low, found.high))
        return mean if low == high else f"{mean} [{low}, {high}]"

    def score(found: RunStatistic | None) -> str:
        return told(found, lambda value: exact(value, 3))

    summary = summarize(tasks, policies=("judged",), compare=False)
    for task in (*(one.name for one in tasks if one.agents), None):
        rows = [row for row in summary.rows if row.task == task]
        console.print(f"\n[bold]{escape(task or 'all tasks')}[/]", highlight=False)
        columns = {
            "algorithm": [row.algorithm for row in rows],
            "IQM": [score(row.iqm) for row in rows],
            "over constant": [score(row.over_constant) for row in rows],
            "gap": [told(row.gap, small) for row in rows],
        }
        # Over all tasks there is no gap, since they have different units.
        show_columns(console, {name: cells for name, cells in columns.items() if any(cells)})
    note(
        console,
        "IQM: normalized score, 0 for uniform play and 1 for the optimum. All numbers are exact, "
        "of the greedy policy, but in self-play of the stochastic one.",
    )


def _starts(game: Game) -> dict[Any, float]:
    """The probability of every state of the start distribution, the most probable first."""
    starts = sorted(merged(game.initial()), key=lambda one: -one.probability)
    return {one.state: float(one.probability) for one in starts}


def _action_values(solved: SolvedGame, state: Any) -> dict[str, float]:
    """The value to player 0 of each action, where one player alone has a choice; else nothing."""
    choosing = deciders(solved.game, state)
    if len(choosing) != 1:
        return {}
    names = action_names(solved.game, state, choosing[0])
    values = solved.action_values(state, choosing[0])
    return {names[action]: value for action, value in values.items()}


def _best(solved: SolvedGame, state: Any) -> dict[str, str]:
    """The best choice in a state, under a heading for each player if both have a choice."""
    if solved.game.is_terminal(state):
        return {"best": ""}
    choosing = deciders(solved.game, state) or (0,)
    best = {
        p: strategy_text(action_names(solved.game, state, p), solved.policy(state, p))
        for p in choosing
    }
    if len(choosing) == 2:
        return {words(solved.game).player_name(p): text for p, text in best.items()}
    return {"best": best[choosing[0]]}
