"""Results as tables for a terminal, and as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from solvent.benchmark.records import TaskRecord
from solvent.cli.tables import facts, note, show_rows
from solvent.exact import GapLocation, Score, Solution, SolvedGame, SolvedTable
from solvent.model import DISCOUNT_END, Game, GameInfo, TabularGame, TabularPolicy, ValueScale
from solvent.model.game import Labelled, Mapped, Placed
from solvent.model.registry import make_game
from solvent.report.choices import state_text, strategy_text
from solvent.report.gap_attribution import GapAttribution, attribute_gap
from solvent.report.numbers import NEVER_ENDS, ROUNDING, UNBOUNDED, exact, interval, precise, small

if TYPE_CHECKING:
    from solvent.training import TrainingResult

MOST_ACTIONS = 3
"""More actions than this have no column each."""

OF_A_STRATEGY = 3
"""How many actions of a mixed strategy are named, the most probable ones."""

ENDLESS = f"−∞  ({NEVER_ENDS}, and costs for ever)"
"""The value of a policy under which an episode may go on for ever at a cost."""

STARTS = 6
"""How many states of the start distribution are shown."""


def varying_fields(states: Sequence[Any]) -> list[int]:
    """The places of the fields that are not the same in all states."""
    if not hasattr(states[0], "_fields"):
        return [0]
    # The end that a discount brings has no fields.
    told = (state for state in states if state != DISCOUNT_END)
    return [place for place, column in enumerate(zip(*told, strict=True)) if len(set(column)) > 1]


def game_text(info: GameInfo) -> str:
    """A game with the parameters that make it what it is."""
    parameters = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in info.parameters)
    return info.name + (f": {parameters}" if parameters else "")


def discount_text(info: GameInfo) -> str:
    """The objective of a discounted game."""
    return f"discounted by {float(info.discount):g} a move"


def value_text(solved: SolvedGame) -> str:
    """The value of a game with its unit; of a game for two to whom, and a chance to both.

    What is small is rounding only where the bracket leaves that open.
    """
    info = solved.game.info
    scale = ValueScale(info)
    for_two = info.players == 2
    about = [scale.meaning, "to player 0" if for_two and not scale.is_chance else ""]
    meaning = ", ".join(filter(None, about))

    def to(scale: ValueScale) -> str:
        value, *ends = map(scale.of, (solved.value, solved.lower, solved.upper))
        lower, upper = sorted(ends)
        may_be_0 = lower <= 0 <= upper or abs(value) <= upper - lower
        return precise(value, ROUNDING if may_be_0 else 0.0)

    text = to(scale) + (f"  ({meaning})" if meaning else "")
    if for_two and scale.is_chance:
        text += f"\n{to(ValueScale(info, 1))}  to player 1"
    return text


def solution_rows(solved: SolvedGame) -> dict[str, str]:
    """What is known of every solution."""
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
    """The value and the best choice in each state of the start distribution, of many in some.

    Args:
        console: Where to print.
        solved: The game.
        states: All its states; None if they are not known.
    """
    starts = _starts(solved.game)
    first = list(starts)[:STARTS]
    console.print("\n[bold]At the start[/]")
    states = first if states is None else states
    _show_starts(console, solved, {s: starts[s] for s in first}, states)
    if len(starts) > STARTS:
        note(console, f"and {len(starts) - STARTS:,} other starts")


def _show_starts(
    console: Console, solved: SolvedGame, starts: Mapping[Any, float], states: Sequence[Any]
) -> None:
    """States with their value and best choice, and the value of each action if these are few."""
    values = {state: _named_values(solved, state) for state in starts}
    actions = list(dict.fromkeys(name for named in values.values() for name in named))
    if len(actions) > MOST_ACTIONS:
        actions = []
    best = {state: _best_choices(solved, state) for state in starts}
    choices = list(dict.fromkeys(name for named in best.values() for name in named))
    columns: dict[str, list[str]] = _fields(solved.game, list(starts), states)
    # A state that would have to be broken is better listed.
    numbers = set(columns)
    columns["chance"] = [f"{chance:.2g}" for chance in starts.values()]
    columns["value"] = [f"{solved.value_of(state):z.6f}" for state in starts]
    for name in choices:
        columns[name] = [best[state].get(name, "") for state in starts]
    for name in actions:
        columns[name] = [
            f"{values[state][name]:z.6f}" if name in values[state] else "" for state in starts
        ]
    rows = list(zip(*columns.values(), strict=True))
    show_rows(console, list(columns), rows, numbers={*numbers, "chance", "value", *actions})


def _fields(game: Game, shown: Sequence[Any], states: Sequence[Any]) -> dict[str, list[str]]:
    """What tells states apart: their place, or else their fields that are not all alike.

    Args:
        game: The rules.
        shown: The states.
        states: All states of the game, or those that are known.
    """
    if isinstance(game, Placed):
        columns = {"place": [game.place(state) for state in shown]}
        if len(set(columns["place"])) == len(shown):
            return columns
        # Several states are at one place: their fields tell which.
        return columns | _columns(shown, varying_fields(shown))
    if isinstance(game, Mapped):
        return _coordinates(game, shown)
    columns = _columns(shown, varying_fields(states))
    return {name: cells for name, cells in columns.items() if any(cells)}


def _columns(shown: Sequence[Any], places: Sequence[int]) -> dict[str, list[str]]:
    names: Sequence[str] = getattr(shown[0], "_fields", ("state",))
    fields = [state if hasattr(shown[0], "_fields") else (state,) for state in shown]
    return {names[place]: [str(one[place]) for one in fields] for place in places}


def _coordinates(game: Mapped, shown: Sequence[Any]) -> dict[str, list[str]]:
    """Where on the board states stand."""
    places = [game.coordinates(state) for state in shown]
    return {name: [str(place[name]) for place in places] for name in places[0]}


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
    rules: Game | None = None,
) -> None:
    """The value of a policy, and the states in which it loses most unless episodes have no end.

    Args:
        console: Where to print.
        game: The table.
        policy: Whose score it is.
        solution: Of the table.
        result: The score.
        location: Of the gap; None if an episode need not end.
        top: How many states are shown.
        rules: Of the table, for words that only they know.
    """
    rows = {"policy": policy.name, "game": game_text(game.info)}
    if game.info.players == 2:
        rows["player"] = f"{policy.player}, against a best response"
    rows |= score_rows(game.info, result, policy.player)
    rows["worst start"] += f" lost from {_state_text(game, rules, result.worst_start)}"
    console.print(facts(rows))
    if result.optimality_gap < ROUNDING:
        console.print("\nThe policy is optimal: nothing is lost anywhere.")
        return
    if location is None:
        console.print("\nPlay need not end, so nothing is counted by state.")
        return
    losses = attribute_gap(game, policy, solution, location, top, actions=OF_A_STRATEGY)
    meaning = ValueScale(game.info).meaning
    console.print(f"\n[bold]Where the gap is lost[/]{meaning and f'  ({meaning})'}")
    states = [state.state for state in losses.worst]
    fields, alike = _losing_fields(game, rules, losses)
    numbers = ("share", "lost", "visits", "per visit")
    columns = {
        "share": [f"{100 * state.share:.1f}%" for state in losses.worst],
        "lost": [small(state.contribution) for state in losses.worst],
        "visits": [small(state.visits) for state in losses.worst],
        "per visit": [small(state.loss) for state in losses.worst],
        **fields,
    }
    if isinstance(rules, Labelled):
        for name, of in (("chooses", policy), ("best", solution.policies[policy.player])):
            columns[name] = [_in_words(rules, of, state, game.index[state]) for state in states]
    else:
        columns["chooses"] = [state.chosen for state in losses.worst]
        columns["best"] = [state.best for state in losses.worst]
    if alike:
        note(console, f"in each of these: {alike}")
    rows_of = list(zip(*columns.values(), strict=True))
    show_rows(console, list(columns), rows_of, numbers={*numbers, *fields})
    share = sum(state.share for state in losses.worst)
    note(
        console,
        f"{len(losses.worst)} of {losses.losing:,} losing states, {100 * share:.1f}% of what is "
        f"lost; all of them lose {precise(losses.total)}",
    )
    if losses.given_up > ROUNDING:
        note(
            console,
            f"The best response gives up {precise(losses.given_up)} elsewhere to get there; the "
            f"rest is the gap.",
        )


def score_rows(info: GameInfo, result: Score, player: int = 0) -> dict[str, str]:
    """The figures of a policy with their unit.

    Args:
        info: Of the game.
        result: The score, whose values are to the player: what one side wins the other loses.
        player: Whose policy it is.
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
        "value": ENDLESS if result.value == -math.inf else value,
        "optimum": f"{precise(scale.of(sign * result.optimum))}{meaning}",
        "gap": lost(result.optimality_gap),
        "normalized": _normalized(result.normalized),
        "worst start": lost(result.worst_start_gap),
    }
    if result.exploitability is not None:
        rows["exploitability"] = lost(result.exploitability)
    return rows


def _normalized(share: float) -> str:
    """A normalized score with what it means."""
    return f"{share:z.6f}  (0 uniform play, 1 the optimum)".replace("-inf", "−∞")


def _losing_fields(
    game: TabularGame, rules: Game | None, losses: GapAttribution
) -> tuple[dict[str, list[str]], str]:
    """What tells the losing states apart, by name, and what is the same in all of them."""
    states = [state.state for state in losses.worst]
    if isinstance(rules, Placed):
        return {"place": [rules.place(state) for state in states]}, ""
    if isinstance(rules, Mapped):
        return _coordinates(rules, states), ""
    shown = varying_fields(game.states)
    alike = [] if len(states) < 2 else _alike(losses, shown)
    columns = _columns(states, [place for place in shown if place not in alike])
    first = losses.worst[0].fields
    same = (f"{losses.field_names[k]} {'none' if first[k] == '' else first[k]}" for k in alike)
    return columns, ", ".join(same)


def _in_words(rules: Labelled, policy: TabularPolicy, state: Any, index: int) -> str:
    """What a policy chooses in a state in which actions have words of their own."""
    words = rules.labels(state)
    chances = enumerate(policy.probabilities[index].tolist())
    named = {action: chance for action, chance in chances if action in words}
    return strategy_text(words, named, OF_A_STRATEGY)


def _state_text(game: TabularGame, rules: Game | None, state: Any) -> str:
    """A state in words."""
    if isinstance(rules, Placed):
        return rules.place(state)
    if isinstance(rules, Mapped):
        return ", ".join(f"{name} {value}" for name, value in rules.coordinates(state).items())
    return state_text(game, state)


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
            # JSON has no infinite numbers.
            "unbounded": result.value == -math.inf,
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


def show_training(console: Console, result: TrainingResult, info: GameInfo | None) -> None:
    """What a training has come to, seat by seat where it learned both.

    Args:
        console: Where to print.
        result: Of the training.
        info: Of the game; None if it is not known, so that values have no unit.
    """
    rows = {
        "trained": f"{result.algorithm}, seed {result.seed}, {result.timesteps:,} steps, "
        f"{result.cpu_seconds:.1f} CPU seconds"
    }
    meaning = "" if info is None else ValueScale(info).meaning
    unit = f"  ({meaning})" if meaning else ""
    if result.saw:
        rows["saw the solution"] = ", ".join(result.saw)
    if result.networks:
        last = result.curve[-1]
        rows["last episodes"] = f"{last.mean:.4f} on average of {last.plays:,.0f}, exploring{unit}"
        rows["next"] = f"solvent score {result.folder / 'network.npz'}"
    elif len(result.scores) > 1:
        if unit:
            rows["unit"] = meaning
        for seat, mode in enumerate(result.mode_scores):
            rows[f"seat {seat}"] = (
                f"exploitability {precise(mode.optimality_gap)}  "
                f"(as sampled {precise(result.scores[seat].optimality_gap)})"
            )
        averages = " and ".join(precise(one.optimality_gap) for one in result.average_scores)
        rows["average policy"] = f"exploitability {averages}"
    else:
        sampled, mode = result.score, result.mode_score
        rows |= {
            "optimum": f"{precise(mode.optimum)}{unit}",
            "value": f"{precise(mode.value)}  (as sampled {precise(sampled.value)})",
            "gap": f"{precise(mode.optimality_gap)}  (as sampled "
            f"{precise(sampled.optimality_gap)})",
            "normalized": _normalized(mode.normalized),
            "worst start": precise(mode.worst_start_gap),
        }
        if -math.inf in (mode.value, sampled.value):
            rows["−∞"] = f"{NEVER_ENDS}, and costs for ever"
    console.print(facts({**rows, "files": str(result.folder)}))


def show_results(console: Console, tasks: Sequence[TaskRecord]) -> None:
    """The agents and baselines of a bench against the optimum."""
    for task in tasks:
        scales = _scales(task)
        meaning = scales[0].meaning if scales else ""
        console.print(
            f"\n[bold]{escape(task.title)}[/]  optimum {task.optimum:z.6f}"
            f"{meaning and f' ({meaning})'}\nproved to lie in {interval(*task.bracket)}",
            highlight=False,
        )
        values = ["seat 0", "seat 1"] if task.for_two else ["value"]
        gap, worst = ("exploitability", "worse seat") if task.for_two else ("gap", "worst start")
        numbers = [*values, gap, "normalized", worst]
        rows = []
        for a in task.agents:
            cells = _values(task, a.mode_exploitability, a.mode_value, scales)
            rows.append((a.mode_gap, a.name, cells, a.mode_normalized, a.mode_worst_start_gap))
        for b in task.baselines:
            cells = _values(task, b.exploitability, b.value, scales)
            rows.append((b.gap, b.name, cells, b.normalized, b.worst_start_gap))
        show_rows(
            console,
            ["policy", *numbers],
            [
                (name, *map(exact, cells), small(lost), exact(normalized), small(most))
                for lost, name, cells, normalized, most in sorted(rows)
            ],
            numbers=numbers,
        )
    note(console, "Agents take their most probable action; all numbers are exact.")
    if any(task.for_two for task in tasks):
        note(console, "A seat's value is what its policy gets there against a best response.")


def _scales(task: TaskRecord) -> tuple[ValueScale, ...]:
    """How the values of a task are read in seat 0 and seat 1; none if its game is not known."""
    try:
        info = make_game(task.game, **task.parameters).info
    except (ValueError, OSError, ImportError):
        return ()
    return ValueScale(info, 0), ValueScale(info, 1)


def _values(
    task: TaskRecord,
    exploitability: tuple[float, float] | None,
    value: float,
    scales: Sequence[ValueScale],
) -> list[float]:
    """What a policy gets, or a pair of them in each seat against a best response."""
    if not task.for_two:
        return [value]
    if exploitability is None or not scales:
        return [math.nan, math.nan]
    return [
        scale.of(task.optimum) - lost for scale, lost in zip(scales, exploitability, strict=True)
    ]


def _starts(game: Game) -> dict[Any, float]:
    """The probability of every state of the start distribution, the most probable first."""
    chances: dict[Any, Fraction] = {}
    for outcome in game.initial():
        chances[outcome.state] = chances.get(outcome.state, Fraction()) + outcome.probability
    order = sorted(chances, key=lambda state: -chances[state])
    return {state: float(chances[state]) for state in order}


def deciders(game: Game, state: Any) -> list[int]:
    """The players who have a choice in a state."""
    if game.is_terminal(state):
        return []
    return [p for p, legal in enumerate(game.legal_actions(state)) if len(legal) > 1]


def _action_values(solved: SolvedGame, state: Any) -> dict[str, float]:
    """The value to player 0 of each action, where one player alone has a choice; else nothing."""
    choosing = deciders(solved.game, state)
    if len(choosing) != 1:
        return {}
    names = solved.game.info.actions[choosing[0]]
    values = solved.action_values(state, choosing[0])
    return {names[action]: value for action, value in values.items()}


def _named_values(solved: SolvedGame, state: Any) -> dict[str, float]:
    """The same with the words that actions have in this state, if they have any."""
    if not isinstance(solved.game, Labelled):
        return _action_values(solved, state)
    words = solved.game.labels(state)
    if len(words) < 2:
        return {}
    return {words[action]: value for action, value in solved.action_values(state, 0).items()}


def _best_choices(solved: SolvedGame, state: Any) -> dict[str, str]:
    """What is best in a state, under a heading for each player who has a choice."""
    game = solved.game
    choosing = deciders(game, state)
    if len(choosing) == 2:
        names = game.info.actions
        return {f"player {p}": strategy_text(names[p], solved.policy(state, p)) for p in choosing}
    if isinstance(game, Labelled) and not game.is_terminal(state):
        return {"best": strategy_text(game.labels(state), solved.policy(state, 0))}
    return {"best": _best(solved, state)}


def _best(solved: SolvedGame, state: Any) -> str:
    """What is best in a state; of both players, if both have a choice."""
    if solved.game.is_terminal(state):
        return ""
    choosing = deciders(solved.game, state)
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
