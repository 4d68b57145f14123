"""The parts of the board's page: the picture, the actions, the moves, and the open panel.

A game describes its picture as data (:mod:`solvent.model.scene`), which a template draws.
Everything that a person can do next is a link, so that it can also be reached with the keyboard.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sqrt
from statistics import mean, stdev
from typing import Any

import numpy as np

from solvent.baselines import baseline_names, make_baseline
from solvent.explore.address import View, number, one_of
from solvent.explore.decision import (
    Choice,
    expected,
    exploit,
    knobs_of,
    locked_policy,
    matrix,
    results,
    sweep,
)
from solvent.explore.subject import Subject, Work, place_of
from solvent.model import ValueScale
from solvent.model.arrays import Ints
from solvent.model.game import words
from solvent.model.parameters import check_choice
from solvent.model.progress import OnProgress
from solvent.model.scene import Cell, Grid, Scene
from solvent.model.text import action_names, signed, state_facts
from solvent.play.line import Account, ActionValue, Line, costliest
from solvent.report.gap_attribution import losing_states
from solvent.report.panel import Axis, value_axis
from solvent.report.panel import Panel as Chart
from solvent.report.sections import templates
from solvent.report.state_map import ARROWS, BOARD, StateMap
from solvent.report.state_map import action_names as unique_names

Values = dict[str, Any]
"""The variables of a template."""

# A picture in which nothing can be clicked.
_NO_CLICKS: Values = {
    "href": None,
    "names": {},
    "best": (),
    "numbers": {},
    "squares": {},
    "moves": {},
}


def drawn(scene: Scene, **clicks: Any) -> str:
    """Return a scene as HTML.

    Args:
        scene: The scene.
        clicks: Targets of clicks, and what is said about actions and squares; nothing of what is
            left out: ``href``, which makes the address of an action; ``names``, the actions that
            can be taken now, in words; ``best``, the actions that are marked as optimal;
            ``numbers``, the values of actions in words, for the squares that they fill; by row and
            column ``squares``, the value of a square as ``share`` from 0 to 1 and as ``text``, the
            best action as an arrow ``sign``, and ``href``, the address of the state; and ``moves``,
            the action that leads to a square.
    """
    template = templates("solvent.explore").get_template("scene.html.j2")
    return template.render(scene=scene, clicks=_NO_CLICKS | clicks).strip()


MOST_RESULTS = 40
"""The largest number of outcomes that are listed, the most probable ones."""

MOST_ROWS = 10
"""Number of actions that are listed at once; the others are folded."""

# Number of mistakes that are asked again.
_MISTAKES = 8

# Number of states that are listed for a policy.
_MOST_LOSING = 8

STEPS = {"←": (0, -1), "→": (0, 1), "↑": (-1, 0), "↓": (1, 0)}
"""The square to which an arrow leads: rows down, and columns to the right."""

# Number of moves whose stories are shown at once.
_MOST_TOLD = 8

# Largest number of games that are graded in one file.
_MOST_GRADED = 1000

OPTIMAL, UNIFORM, LOADED = "optimal", "uniform", "the loaded policy"


def board_values(explorer: Subject, view: View, choice: Choice) -> Values:
    """Return what the page shows of a position besides its panel.

    Args:
        explorer: The explorer of the game.
        view: The view of the board.
        choice: The choice in the position.
    """
    here, game = view.here, explorer.solved.game
    scene, facts = scene_of(explorer, here)
    rows, replies = (_rows(explorer, view, choice, own) for own in (choice.actions, choice.replies))
    eye = view.me or 0
    scale = ValueScale(game.info, eye)
    total = here.total
    low, high = explorer.span
    share = total if scale.is_chance else (total - low) / (high - low)
    share = min(max(share if eye == 0 else 1 - share, 0.0), 1.0)
    sides = explorer.sides
    second = _as_second(view, choice)
    asked = {one.number: one for one in (choice.replies if second else choice.actions)}
    answer = one_of(view.query, "answer", asked)
    return {
        "picture": drawn(scene, **_clicks(explorer, view, choice)),
        "facts": facts,
        "rows": rows,
        "replies": replies,
        "as_second": second,
        "asked": 1 if second else choice.player,
        "eye_scale": scale,
        "eye": sides[eye],
        "total": scale.of(total),
        "so_far": here.reward,
        "share": share,
        "told": _told(view),
        "curve": _curve(view, scale) if len(view.line.plies) > 1 else "",
        "account": here.account(eye) if here.plies else None,
        "tabs": panels_in(explorer, view),
        "answer": None if answer is None else asked[answer],
        "next": _next_question(view),
    }


def scene_of(explorer: Subject, line: Line) -> tuple[Scene, dict[str, str]]:
    """Return the picture of the last position of a line, or its fields in words without one.

    An end without a picture has that of the position before it.

    Args:
        explorer: The explorer of the game.
        line: The line.
    """
    scene = words(line.game).scene(line.state)
    if not scene and line.over and line.plies:
        return scene_of(explorer, line.upto(len(line.plies) - 1))
    state = line.solved_state(line.state)
    if not scene and explorer.board_map:
        scene = _plain_board(explorer.board_map, place_of(explorer.solved, state))
    return scene, {} if scene else state_facts(explorer.solved.game, state)


def _plain_board(found: StateMap, place: Mapping[str, Any]) -> Scene:
    """Return a board for a game without one: a square for each cell that has a state."""
    row, column = _of_board(found)
    look = np.full((row.max() + 1, column.max() + 1), "wall", object)
    live = len(found.states)
    look[row[live:], column[live:]] = "goal"
    look[row[:live], column[:live]] = ""
    squares = tuple(tuple(Cell("", kind) for kind in line) for line in look.tolist())
    return (Grid(squares, (place["row"], place["column"])),)


def _of_board(found: StateMap) -> tuple[Ints, Ints]:
    """The row and the column of each cell of a map."""
    fields = {
        one.name: np.array(one.values)[one.place] for one in found.fields if one.name in BOARD
    }
    return fields["row"], fields["column"]


def _clicks(explorer: Subject, view: View, choice: Choice) -> Values:
    """Return the targets of clicks on the board, and the facts about its squares, if any."""
    # A picture has player A's actions only.
    if choice.over or (view.quiz and not view.hidden) or _as_second(view, choice):
        return {}
    names = {one.number: one.name for one in choice.actions}
    # The actions of a mixed strategy are marked, otherwise all that are equally good.
    best = frozenset(
        one.number
        for one in choice.actions
        if one.cost == 0 and (one.chance > 0 or not choice.replies)
    )
    word = "answer" if view.quiz else "do"
    place = place_of(explorer.solved, choice.state)
    moves: dict[tuple[int, int], int] = {}
    squares: dict[tuple[int, int], Values] = {}
    if place:
        row, column = place.pop("row"), place.pop("column")
        for action, name in names.items():
            step = STEPS.get(ARROWS.get(name.lower(), ""))
            if step:
                moves[row + step[0], column + step[1]] = action
        if explorer.board_map and not view.hidden:
            squares = _overlays(explorer, explorer.board_map, view, place)
    scale = ValueScale(explorer.solved.game.info, choice.player)
    told = () if view.hidden else choice.actions
    return {
        "href": lambda action: view.address(**{word: action}),
        "names": names,
        "best": frozenset() if view.hidden or len(best) == len(names) else best,
        "numbers": {one.number: _short(scale, one.value) for one in told},
        "squares": squares,
        "moves": moves,
    }


def _overlays(
    explorer: Subject, found: StateMap, view: View, others: Mapping[str, Any]
) -> dict[tuple[int, int], Values]:
    """Return the values and the best actions of the squares of a board.

    Args:
        explorer: The explorer of the game.
        found: The map of its states.
        view: The view of the board.
        others: The fields of the position that have the same values on all squares shown.
    """
    inside = np.arange(len(found.value)) < len(found.states)
    for one in found.fields:
        if one.name in others:
            inside &= np.array([value == others[one.name] for value in one.values])[one.place]
    at = np.flatnonzero(inside)
    low, high = found.value[at].min(initial=np.inf), found.value[at].max(initial=-np.inf)
    scale, names = ValueScale(explorer.solved.game.info), unique_names(found.table.info)
    row, column = _of_board(found)
    overlays = {}
    for n in at.tolist():
        best = found.choices[0]["action"][n, : found.choices[0]["tied"][n]]
        signs = [ARROWS.get(names[action].lower(), "") for action in best]
        value = float(found.value[n])
        overlays[int(row[n]), int(column[n])] = {
            "share": (value - low) / (high - low) if high > low else 0.5,
            "text": _short(scale, value),
            "sign": "".join(signs) if len(signs) <= 2 else "•",
            "href": view.address(s=found.states[n], line=None, at=None),
        }
    return overlays


def _as_second(view: View, choice: Choice) -> bool:
    """Return whether both players choose, and the person, or whoever erred most, is player B."""
    if view.quiz != "mistakes" or view.me is not None:
        return bool(choice.replies) and view.me == 1
    asked = view.line.plies[view.at : view.at + 1]
    return bool(choice.replies) and any(ply.costs[1] > ply.costs[0] for ply in asked)


def _short(scale: ValueScale, value: float) -> str:
    """A value for a square of a board."""
    return f"{100 * value:.0f}%" if scale.is_chance else signed(f"{round(value, 3):z.3g}")


def _rows(
    explorer: Subject, view: View, choice: Choice, actions: Sequence[ActionValue]
) -> list[Values]:
    """The actions of a player, the best first.

    Each with ``href``, which takes it, and ``why``, which lists its outcomes, both empty if that
    cannot be; the game's ``note`` on it; ``share``, its cost compared with that of the worst
    action; ``agent``, the probability that the loaded policy gives it, None without a policy.
    """
    reply = actions is choice.replies
    player = 1 if reply else choice.player
    worst = max((one.cost for one in actions), default=0.0)
    agent: Sequence[float] | None = None
    if explorer.loaded is not None and explorer.loaded.policy.player == player and not choice.over:
        index = explorer.tabled("a policy").table.index
        agent = explorer.loaded.policy.probabilities[index[choice.state]].tolist()
    takes = not (view.quiz and not view.hidden) and reply == _as_second(view, choice)
    explain = words(explorer.solved.game).explain
    notes = {one.number: explain(one.number, player) for one in actions}
    told = len(set(notes.values())) > len(notes) / 2
    best_first = sorted(actions, key=lambda one: (one.cost, -one.chance, one.number))
    return [
        {
            "one": one,
            "href": view.address(**{"answer" if view.quiz else "do": one.number}) if takes else "",
            "why": view.address(panel="results", **{"reply" if reply else "why": one.number}),
            "note": notes[one.number] if told else "",
            "share": one.cost / worst if worst else 0.0,
            "agent": None if agent is None else agent[one.number],
        }
        for one in (actions if view.hidden else best_first)
    ]


def _told(view: View) -> list[str]:
    """Tell in words the events since the last choice that was shown."""
    plies = view.here.plies[-_MOST_TOLD:]
    people = (0, 1) if view.me is None else (view.me,)
    choices = [n for n, ply in enumerate(plies) if any(ply.stakes[p] > 0 for p in people)]
    return [
        f"{ply.words[:1].upper()}{ply.words[1:]}. {' '.join(ply.story.split())}".strip()
        for ply in plies[choices[-1] if choices else 0 :]
    ]


def _curve(view: View, scale: ValueScale) -> str:
    """Return the value after each move, as SVG; a click goes back to the move."""
    totals = [scale.of(total) for total in view.line.totals]
    quantity = scale.meaning or "value"
    x = Axis(0, max(len(totals) - 1, 4))
    y = Axis(0.0, 1.0) if scale.is_chance else value_axis(totals)
    chart = Chart(f"{quantity} after each move", quantity.split(",")[0], x, y, "moves")
    xs = range(len(totals))
    chart.line(xs, totals, "var(--series-0)", quantity, dashed=False, wide=True)
    dot = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"
    chart.line(
        [view.at], [totals[view.at]], "var(--series-1)", "the position", dashed=False, shape=dot
    )
    chart.links(xs, totals, [view.address(at=count) for count in xs])
    return chart.drawn()


def _next_question(view: View) -> str:
    """The address of the next question of a quiz; empty if there is none."""
    if "answer" not in view.query:
        return ""
    if view.quiz == "drill":
        return view.address(s=None, line=None, at=None)
    queue = [part for part in view.query.get("queue", "").split(".") if part]
    if not queue:
        return view.address(quiz=None, queue=None, at=None)
    return view.address(at=queue[0], queue=".".join(queue[1:]))


def panels_in(explorer: Subject, view: View) -> dict[str, str]:
    """Return the titles of the panels that can be opened in a view, by their words in an address.

    Args:
        explorer: The explorer of the game.
        view: The view of the board.
    """
    without = {"results", "disagree"} if view.here.over else set()
    if explorer.solved.game.info.players == 1:
        without.add("lock")
    return {name: title for name, (title, _) in PANELS.items() if name not in without}


def panel_of(explorer: Subject, view: View, choice: Choice) -> Values | None:
    """Return the open panel of a view, None if none is open.

    Besides the variables of its template it has its ``name``; ``job``, the work that it waits for,
    if there is any; and ``sections``, parts with scripts of their own.

    Args:
        explorer: The explorer of the game.
        view: The view of the board.
        choice: The choice in the position.

    Raises:
        ValueError: If there is no such panel, or it is asked for what is not allowed.
    """
    name = view.query.get("panel", "")
    if not name or view.hidden:
        return None
    check_choice(name, "panel", PANELS)
    if name not in panels_in(explorer, view):
        return None
    made = PANELS[name][1](explorer, view, choice)
    return {"name": name, "job": None, "sections": (), **made}


def _waited(explorer: Subject, *key: Any, work: Work) -> Values:
    """Return work as the variables of a panel: ``found``, and ``job`` while ``found`` is None.

    Raises:
        ValueError: If too many computations are running.
        Exception: Whatever the work has raised.
    """
    job = explorer.jobs.of((explorer.name, *key), work)
    return {"found": job.found()} if job.done() else {"found": None, "job": job}


def _results_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """Return the possible outcomes of an action, or of a pair of actions."""
    here, solved = view.here, explorer.solved
    action = _asked(choice.actions, view, "why")
    given, name = {choice.player: action.number}, action.name
    if choice.replies:
        reply = _asked(choice.replies, view, "reply")
        given[1], name = reply.number, f"{name} against {reply.name}"
    joint = here.drawn(given, None)
    found = results(solved, choice.state, joint)
    scale = ValueScale(solved.game.info, choice.player)
    others = found[MOST_RESULTS:]
    return {
        "title": name,
        "results": found[:MOST_RESULTS],
        "acted": ".".join(str(joint[player]) for player in (here.choosing() or (0,))),
        "others": len(others),
        "others_probability": sum(one.probability for one in others),
        "rewarded": any(one.reward for one in found),
        "expected": scale.of(expected(found)),
        "scale": scale,
        "most": max(one.probability for one in found),
        "matrix": matrix(solved, choice),
    }


def _asked(actions: Sequence[ActionValue], view: View, word: str) -> ActionValue:
    """Return the action that an address names, or the most probable one."""
    chosen = one_of(view.query, word, [one.number for one in actions])
    probable = max(actions, key=lambda one: (one.chance, -one.number))
    return next((one for one in actions if one.number == chosen), probable)


def _disagree_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """The best action as a function of a parameter of the rules."""
    knobs = knobs_of(explorer.solved)
    chosen = check_choice(view.query.get("of") or next(iter(knobs)), "of", knobs)
    state = view.here.solved_state(view.here.state)
    player = (view.here.choosing() or (0,))[0]
    found = _waited(
        explorer,
        "disagree",
        chosen,
        explorer.states.key(state),
        work=lambda tell: sweep(knobs[chosen], state, player, tell),
    )
    return {
        "knobs": [
            (name, name.replace("_", " "), view.address(panel="disagree", of=name))
            for name in knobs
        ],
        "chosen": chosen,
        "scale": ValueScale(explorer.solved.game.info, player),
        **found,
    }


def _lock_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """The best response to a fixed strategy of the other side."""
    table = explorer.tabled("the best response to a fixed strategy")
    state = view.here.solved_state(view.here.state)
    choosing = view.here.choosing()
    sides = explorer.sides
    default = 1 - choosing[0] if len(choosing) == 1 else 1
    player = number(view.query, "lock", default, 0, 1)
    here = action_names(explorer.solved.game, state, player) if player in choosing else {}
    action = one_of(view.query, "act", here)
    named = [OPTIMAL, *(name for name in baseline_names(table.table, player) if name != OPTIMAL)]
    if explorer.loaded is not None and explorer.loaded.policy.player == player:
        named.append(LOADED)
    usual_lock = UNIFORM if action is None else OPTIMAL
    to = check_choice(view.query.get("to") or usual_lock, "to", named)

    def work(tell: OnProgress) -> Any:
        policy = None
        if loaded is not None:
            policy = loaded.policy
        elif to != OPTIMAL:
            policy = make_baseline(to, table.table, player=player)
        return exploit(table, locked_policy(table, player, policy, state, action), state, tell)

    # Two policies may come from files of the same name.
    loaded = explorer.loaded if to == LOADED else None
    key = (player, to, action, explorer.states.key(state), loaded)
    values: Values = {
        "locks": [
            (sides[one], view.address(panel="lock", lock=one), one == player) for one in (0, 1)
        ],
        "side": sides[player],
        "other": sides[1 - player],
        "named": [
            (name, view.address(panel="lock", lock=player, to=name, act=action), name == to)
            for name in named
        ],
        "actions": [
            (name, view.address(panel="lock", lock=player, to=to, act=number_), number_ == action)
            for number_, name in here.items()
        ],
        "to": to,
        **_waited(explorer, "lock", *key, work=work),
    }
    if found := values["found"]:
        game = explorer.solved.game
        replies = choice.replies if player == 0 and choice.replies else choice.actions
        own = found.actions if 1 - player in choosing else {}
        values |= {
            "listed": sorted(own.items(), key=lambda one: -one[1]),
            "usual": {one.number: one.value for one in replies},
            "names": partial(action_names, game, player=1 - player),
            "state": state,
            "scale": ValueScale(game.info, 1 - player),
        }
    return values


def _account_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """Luck and skill over this game and over all that were played."""
    players = range(explorer.solved.game.info.players)
    mine = [view.me] if view.me is not None else list(players)
    this = [
        (explorer.sides[p], view.here.account(p), ValueScale(explorer.solved.game.info, p))
        for p in mine
    ]
    games = [graded(explorer, line, address) for address, line in explorer.games.items()]
    return {"this": this, "games": games, "all": summary(explorer, games)}


def graded(explorer: Subject, line: Line, address: str) -> Values:
    """Grade a game: the account of each player, the costliest move, and the number of moves.

    Args:
        explorer: The explorer of the game.
        line: The moves.
        address: The address of the board.
    """
    costly = costliest(line, None, 1)
    worst = line.plies[costly[0]].words if costly else ""
    accounts = tuple(map(line.account, range(explorer.solved.game.info.players)))
    return {"address": address, "accounts": accounts, "worst": worst, "moves": len(line.plies)}


def summary(explorer: Subject, games: Sequence[Values]) -> list[Values]:
    """Return luck and skill of each player over several games: sums, means and standard errors.

    Args:
        explorer: The explorer of the game.
        games: The games.
    """
    found = []
    for player, side in enumerate(explorer.sides[: explorer.solved.game.info.players]):
        own = [game["accounts"][player] for game in games]
        if not own:
            continue
        lucks = [one.luck for one in own]
        found.append(
            {
                "side": side,
                "scale": ValueScale(explorer.solved.game.info, player),
                "account": sum(own, Account()),
                "count": len(own),
                "luck": mean(lucks),
                "error": stdev(lucks) / sqrt(len(lucks)) if len(lucks) > 1 else None,
                "cost": mean(one.cost for one in own),
            }
        )
    return found


def _maps_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """The maps of value and policy, and the game's own sections."""
    values = _waited(explorer, "maps", work=explorer.map_sections)
    return {**values, "sections": values["found"] or ()}


def _agent_panel(explorer: Subject, view: View, choice: Choice) -> Values:
    """The loaded policy: its gap, and where it loses most."""
    loaded = explorer.loaded
    if loaded is None:
        return {"loaded": None}
    table = explorer.tabled("comparing a policy")
    losing: Sequence[Any] = ()
    if loaded.location is not None:
        given = table.table, loaded.policy, table.solution, loaded.location
        losing = losing_states(*given, _MOST_LOSING, 4)
    return {"loaded": loaded, "losing": losing}


PANELS: Mapping[str, tuple[str, Callable[[Subject, View, Choice], Values]]] = {
    "results": ("Possible outcomes", _results_panel),
    "disagree": ("If you disagree", _disagree_panel),
    "lock": ("Exploit", _lock_panel),
    "account": ("Luck and skill", _account_panel),
    "maps": ("Maps", _maps_panel),
    "agent": ("Agent", _agent_panel),
    "edit": ("Set up", lambda *_: {}),
}
"""The title of each panel and the function that makes it, by its name in an address."""


def mistakes_address(view: View) -> str:
    """Return the address at which the costliest moves are asked again; empty if none cost anything.

    Args:
        view: The view of the board.
    """
    moves = sorted(costliest(view.line, view.me, _MISTAKES))
    if not moves:
        return ""
    rest = ".".join(map(str, moves[1:]))
    return view.address(quiz="mistakes", at=moves[0], queue=rest, panel=None, hide=None)


def read_games(explorer: Subject, text: str) -> list[tuple[str, Line]]:
    """Read games, one a line, and return them with their addresses.

    A line has the moves as an address has them, with commas between them. Instead of its number an
    action may be named where only one player chooses. The state in which the game begins stands
    before a bar, ``state|moves``, if it is not the usual start.

    Args:
        explorer: The explorer of the game.
        text: The games.

    Raises:
        ValueError: If a move is not allowed, or does not name its outcome; the message names the
            line.
    """
    found = []
    for count, row in enumerate(text.splitlines(), 1):
        key, _, moves = row.strip().rpartition("|")
        if not moves or moves.startswith("#"):
            continue
        try:
            line = explorer.line(key.strip(), "")
            for part in moves.split(","):
                line = line.read(part.strip())
        except ValueError as error:
            raise ValueError(f"line {count}: {error}") from None
        view = View({"s": key.strip(), "game": explorer.key}, line, 0, None)
        found.append((view.address(line=line.text), line))
        if len(found) > _MOST_GRADED:
            raise ValueError(f"there are more than {_MOST_GRADED} games")
    return found
