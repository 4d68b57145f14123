"""The choice in a state with the value of each action, questions about it, and drills.

The value of an action is the expectation over its outcomes of the reward plus the value of the next
state. If both players choose at once, there is a matrix of such values, and the value of a row or
column is its mean under the other player's mixed strategy.

Two questions need more than the solution. For them the game is solved again:

**If you disagree.** The game is solved for several values of a parameter of its rules. Below and
above the present value there may be a break-even point, where the best action stops being best. It
is bracketed by the values that are tried, and then found by bisection.

**Node lock.** The other side's strategy is fixed, in one state or everywhere. This leaves a
one-player game, whose optimal policy is a best response and shows how to exploit the strategy.

**Drill.** Positions are taken from episodes in which most actions are optimal. The question is
asked in those with a large action gap, the difference between the best action and the next one.
"""

import inspect
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from math import isfinite
from typing import Any

import numpy as np

from solvent.exact import SolvedGame, SolvedTable, solve, state_visitation
from solvent.exact.solver import solve_table
from solvent.model import JointAction, TabularPolicy, ValueScale, against, discounted
from solvent.model.progress import OnProgress, Progress
from solvent.model.registry import find_spec, make_game
from solvent.model.text import action_names, signed
from solvent.model.transforms import PARAMETER
from solvent.play.line import ActionValue, Line, roll, valued, who_acts

# The largest number of equally good actions whose results are compared.
_MOST_COMPARED = 6

# Number of decimals to which equal values agree.
_TIED_DECIMALS = 8


@dataclass(frozen=True, slots=True)
class ValuedOutcome:
    """A possible result of an action.

    Attributes:
        number: The number of the outcome in the list of the rules.
        probability: The probability of the result.
        reward: The reward on the way, to player 0.
        state: The next state.
        value: The value of the next state, to player 0; 0 if the episode has ended.
    """

    number: int
    probability: float
    reward: float
    state: Any
    value: float


@dataclass(frozen=True, eq=False)
class Choice:
    """A state with its actions, as shown to a person.

    Attributes:
        state: The state.
        over: Whether the episode has ended.
        player: The player who chooses, whose values are shown; 0 if both do or nobody does.
        value: The value of the state, to that player.
        actions: The actions of that player.
        replies: Player 1's actions with their values to player 1, if both choose.
    """

    state: Any
    over: bool
    player: int
    value: float
    actions: tuple[ActionValue, ...]
    replies: tuple[ActionValue, ...] = ()


def results(solved: SolvedGame, state: Any, joint: JointAction) -> tuple[ValuedOutcome, ...]:
    """Return the possible results of a joint action, the most probable first.

    Args:
        solved: The game.
        state: The state in which it is taken.
        joint: An action of each player.
    """
    game = solved.game
    found = [
        ValuedOutcome(
            number,
            float(one.probability),
            float(one.reward),
            one.state,
            0.0 if game.is_terminal(one.state) else solved.value_of(one.state),
        )
        for number, one in enumerate(game.transition(state, joint))
    ]
    return tuple(sorted(found, key=lambda one: -one.probability))


def expected(found: Sequence[ValuedOutcome]) -> float:
    """Return the expectation of reward and value, to player 0.

    Args:
        found: The possible results of an action.
    """
    return sum(one.probability * (one.reward + one.value) for one in found)


def choice_in(solved: SolvedGame, state: Any) -> Choice:
    """Return the choice in a state.

    Args:
        solved: The game.
        state: A state of the game.
    """
    if solved.game.is_terminal(state):
        return Choice(state, True, 0, solved.value_of(state), ())
    acting = who_acts(solved.game, state)
    player = acting[0]
    value = ValueScale(solved.game.info, player).of(solved.value_of(state))
    replies = valued(solved, state, 1) if len(acting) == 2 else ()
    return Choice(state, False, player, value, valued(solved, state, player), replies)


def matrix(solved: SolvedGame, choice: Choice) -> list[list[float]]:
    """Return [m][n] the values to player 0 where both players choose.

    Args:
        solved: The game.
        choice: The choice in a state; without replies the matrix is empty.
    """
    if not choice.replies:
        return []
    return [
        [
            expected(results(solved, choice.state, (row.number, column.number)))
            for column in choice.replies
        ]
        for row in choice.actions
    ]


def why_tied(solved: SolvedGame, choice: Choice) -> str:
    """Explain in a sentence why several actions are equally good; empty if one is best.

    Args:
        solved: The game.
        choice: The choice in a state.
    """
    best = [one for one in choice.actions if one.cost == 0]
    if len(best) < 2:
        return ""
    if sum(one.chance > 0 for one in choice.replies) > 1:
        return (
            f"The other side's optimal mixed strategy makes {len(best)} actions equally good. "
            f"What matters is the mix, which must leave nothing to exploit."
        )
    begin = f"It does not matter which of the {len(best)} best you choose. "
    if len(best) == len(choice.actions):
        begin = "It does not matter: all actions are equally good. "
    reply = max(choice.replies, key=lambda one: one.chance, default=None)
    values = set()
    for one in best[:_MOST_COMPARED]:
        given = {choice.player: one.number} | ({1: reply.number} if reply else {})
        found = results(solved, choice.state, Line(solved, choice.state).drawn(given, None))
        values |= {round(result.reward + result.value, _TIED_DECIMALS) + 0.0 for result in found}
    if len(values) > 1:
        return f"{begin}The results differ, but have the same mean."
    scale = ValueScale(solved.game.info, choice.player)
    value = scale.of(values.pop())
    told = scale.text(value) if scale.is_chance else signed(f"{value:z.6g}")
    return f"{begin}Every possible result has the value {told}, so nothing is gained or lost."


STEPS = 8
"""The number of values of a parameter that are tried besides the present one."""

# Number of bisections, each of which halves the interval of a break-even point.
_BISECTIONS = 14

TIE = 1e-9

# Number of states that are listed for a best response.
_MOST_EXPLOITED = 5

# The share of random actions in the episodes of a drill.
_RANDOM_SHARE = 0.3

# Seconds for collecting the positions of a drill.
_DRILL_SECONDS = 0.09

MOST_STATES = 30_000
"""The most states of a game that is solved for one value of a parameter; larger ones are left
out, with the values of the parameter that lead to them."""

# The most seconds for solving a game with one value of a parameter.
_LONGEST = 30.0

# The range of discounts that are tried.
_DISCOUNTS = (0.5, 0.999)


@dataclass(frozen=True)
class Knob:
    """A parameter of the rules along which the game can be solved.

    Attributes:
        name: The name of the parameter.
        value: The parameter's value in the present game.
        values: The values to try, in ascending order.
        continuous: Whether values between them are allowed.
        make: Makes the game with a value.
    """

    name: str
    value: float
    values: tuple[float, ...]
    continuous: bool
    make: Callable[[float], Any]


@dataclass(frozen=True)
class Break:
    """The point at which the best action of the present game is no longer best.

    Attributes:
        inside: The last value, going away from the present one, at which the action is best.
        outside: The first value at which another action is best; next to `inside`, or for a
            continuous parameter almost equal to it.
        action: The action that is best there.
    """

    inside: float
    outside: float
    action: int


def knobs_of(solved: SolvedGame) -> dict[str, Knob]:
    """The parameters along which a game can be solved, by their names.

    Args:
        solved: The game.
    """
    game = solved.game
    found: dict[str, Knob] = {}
    allowed: Mapping[str, inspect.Parameter] = {}
    own = dict(game.info.parameters)
    with suppress(ValueError):
        allowed = inspect.signature(find_spec(game.info.name).maker()).parameters
    given = {name: value for name, value in own.items() if name in allowed or name == PARAMETER}
    for name, one in allowed.items():
        value = own.get(name, one.default)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if name == PARAMETER or not plain or not isfinite(value):
            continue
        make = partial(_made, game.info.name, given, name, type(value))
        found[name] = Knob(name, float(value), _around(value), isinstance(value, float), make)
    present = float(own.get(PARAMETER, 1) or 1)
    base = getattr(game, "game", game) if PARAMETER in own else game
    low, high = _DISCOUNTS
    spread = sorted({*np.linspace(low, high, STEPS).round(3).tolist(), present})
    found[PARAMETER] = Knob(
        PARAMETER, present, tuple(spread), True, lambda value: discounted(base, value)
    )
    return found


def _made(game: str, given: Mapping[str, Any], name: str, kind: type, value: float) -> Any:
    return make_game(game, **{**given, name: kind(value)})


def _around(value: float) -> tuple[float, ...]:
    if isinstance(value, int):
        step = max(abs(value) // 8, 1)
        return tuple(float(value + n * step) for n in range(-STEPS // 2, STEPS // 2 + 1))
    low, high = (0.0, 1.0) if 0 <= value <= 1 else (0.5 * value, 2.0 * value)
    spread = np.linspace(low, high, STEPS + 1)[1:-1].round(6).tolist()
    return tuple(sorted({*spread, value}))


@dataclass(frozen=True)
class Sweep:
    """Action values along a parameter.

    Attributes:
        knob: The parameter.
        points: Values of actions to the player who chooses, for each value at which the state
            exists.
        breaks: Below and above the present value, where its best actions are no longer best.
        names: The actions in words, those of all values of the parameter.
    """

    knob: Knob
    points: Mapping[float, Mapping[int, float]]
    breaks: tuple[Break, ...]
    names: Mapping[int, str]


def sweep(knob: Knob, state: Any, player: int, progress: OnProgress) -> Sweep:
    """Solve a game along a parameter, and find where the best action in a state changes.

    Args:
        knob: The parameter.
        state: The state.
        player: The player who chooses there.
        progress: Called after each solving.
    """
    known: dict[float, Mapping[int, float]] = {}
    names: dict[int, str] = {}

    def valued(value: float) -> Mapping[int, float]:
        if value not in known:
            known[value] = _values_with(knob, value, state, player, names)
        return known[value]

    points = {}
    for count, value in enumerate(knob.values):
        progress(Progress(count, len(knob.values), f"{knob.name.replace('_', ' ')} {value:g}"))
        if found := valued(value):
            points[value] = found
    present = _best(valued(knob.value))
    breaks: list[Break] = []
    for along in (-1, 1) if present else ():
        beyond = [value for value in points if along * (value - knob.value) > 0][::along]
        same = list(takewhile(lambda value: present & _best(points[value]), beyond))
        if len(same) < len(beyond):
            inside, outside = [knob.value, *same][-1], beyond[len(same)]
            breaks.append(_bisected(knob, inside, outside, present, valued))
    return Sweep(knob, points, tuple(breaks), names)


def _bisected(
    knob: Knob,
    inside: float,
    outside: float,
    present: set[int],
    valued: Callable[[float], Mapping[int, float]],
) -> Break:
    """Halve the interval between a value with which an action is best and one where none is."""
    gap = int(abs(outside - inside))
    for _ in range(_BISECTIONS if knob.continuous else (gap - 1).bit_length()):
        middle = (inside + outside) / 2 if knob.continuous else (inside + outside) // 2
        found = valued(middle)
        if not found or middle in (inside, outside):
            break
        inside, outside = (middle, outside) if _best(found) & present else (inside, middle)
    return Break(inside, outside, min(_best(valued(outside))))


def _values_with(
    knob: Knob, value: float, state: Any, player: int, names: dict[int, str]
) -> Mapping[int, float]:
    """The values of actions to a player with a value of a parameter; none if there is no state.

    The actions in words are added to `names`.
    """
    end = time.monotonic() + _LONGEST

    def limit(progress: Progress) -> None:
        if progress.done > MOST_STATES and progress.what == "compiling":
            raise ValueError(f"the game has more than {MOST_STATES:,} states")
        if time.monotonic() > end:
            raise ValueError(f"solving takes more than {_LONGEST:g} seconds")

    try:
        solved = solve(knob.make(value), progress=limit)
        found = solved.action_values(state, player)
        names |= action_names(solved.game, state, player) if found else {}
    except (ValueError, TypeError, ArithmeticError, LookupError):
        return {}
    scale = ValueScale(solved.game.info, player)
    return {action: scale.of(one) for action, one in found.items()}


def _best(values: Mapping[int, float]) -> set[int]:
    top = max(values.values(), default=0.0)
    return {action for action, value in values.items() if top - value < TIE}


@dataclass(frozen=True)
class Exploit:
    """The best response to a fixed strategy.

    Attributes:
        value: The value at the start against the fixed strategy, to the player who exploits it.
        before: The value at the start against an optimal strategy, to that player.
        actions: The values of the player's actions in the position, against the fixed strategy.
        changes: States in which the best response gains most over the optimal policy: the state,
            its action, the optimal one, and the gain per visit times the number of visits.
    """

    value: float
    before: float
    actions: Mapping[int, float]
    changes: tuple[tuple[Any, int, int, float], ...]


def locked_policy(
    solved: SolvedTable,
    player: int,
    policy: TabularPolicy | None,
    at: Any,
    action: int | None,
) -> TabularPolicy:
    """Return a player's policy that is fixed everywhere, in one state, or both.

    Args:
        solved: The game.
        player: The player whose strategy is fixed.
        policy: The policy everywhere; the optimal one if left out.
        at: The state in which an action is fixed.
        action: The action there; None to fix none.
    """
    found = policy or solved.solution.policies[player]
    if action is None:
        return found
    chances = np.array(found.probabilities)
    here = solved.table.index[at]
    chances[here] = np.eye(chances.shape[1])[action]
    return replace(found, probabilities=chances)


def exploit(solved: SolvedTable, policy: TabularPolicy, at: Any, progress: OnProgress) -> Exploit:
    """Solve the one-player game that remains when one player's strategy is fixed.

    Args:
        solved: The game.
        policy: The fixed strategy.
        at: The position, for the values of actions there.
        progress: Called with the progress of solving.
    """
    player = 1 - policy.player
    scale = ValueScale(solved.game.info, player)
    left = against(solved.table, policy)
    best = SolvedTable(solved.game, left, solve_table(left, progress=progress))
    sign = 1 if player == 0 else -1
    # The loss of an optimal policy's actions against the fixed strategy.
    rows, own = left.row_state, left.row_action[player]
    usual = solved.solution.policies[player].probabilities[rows, own]
    gain = sign * (best.solution.values[rows] - best.solution.action_values) * usual
    lost = np.bincount(rows, gain, minlength=left.n_states)
    total = lost * state_visitation(left, best.solution.policies[player])
    changes = []
    for state in np.argsort(-total)[:_MOST_EXPLOITED].tolist():
        if total[state] > TIE:
            new = int(best.solution.policies[player].probabilities[state].argmax())
            old = int(solved.solution.policies[player].probabilities[state].argmax())
            changes.append((solved.table.states[state], new, old, float(total[state])))
    values = {} if solved.game.is_terminal(at) else best.action_values(at, player)
    return Exploit(
        scale.of(best.value),
        scale.of(solved.value),
        {action: scale.of(value) for action, value in values.items()},
        tuple(changes),
    )


def drill_position(solved: SolvedGame, dice: random.Random) -> Any:
    """Return a position in which the decision matters.

    Args:
        solved: The game.
        dice: Draws episodes, and the position among those that matter.

    Raises:
        ValueError: If no position was found in which one action is better than all others.
    """
    game = solved.game
    found: dict[Any, float] = {}
    end = time.monotonic() + _DRILL_SECONDS
    state = roll(game.initial(), dice).state
    while time.monotonic() < end or (not found and time.monotonic() < end + _DRILL_SECONDS):
        if game.is_terminal(state):
            state = roll(game.initial(), dice).state
            continue
        legal = game.legal_actions(state)
        random_ones = (p for p in range(len(legal)) if dice.random() < _RANDOM_SHARE)
        joint = Line(solved, state).drawn({p: dice.choice(legal[p]) for p in random_ones}, dice)
        asked = valued(solved, state, who_acts(game, state)[0]) if state not in found else ()
        # The difference between the best action and the best of those that are worse.
        if costs := [one.cost for one in asked if one.cost]:
            found[state] = min(costs)
        state = roll(game.transition(state, joint), dice).state
    if not found:
        raise ValueError("no position was found in which one action is better than all others")
    ranked = sorted(found, key=lambda one: -found[one])
    return dice.choice(ranked[: max(len(ranked) // 3, 1)])
