"""A state and the value of each action in it, and why.

The value of an action is the expectation over its outcomes of the reward and the value of the
state that follows. Where both players choose at once there is a matrix of such values, of which a
row or a column has as its value its mean by the other's mixed strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solvent.exact import SolvedGame
from solvent.model import Game, JointAction, ValueScale
from solvent.model.game import Alternating
from solvent.model.text import action_names
from solvent.play import NEGLIGIBLE

MOST_COMPARED = 6
"""The largest number of equally good actions whose results are compared."""

TIED_DECIMALS = 8
"""Values that agree to so many decimals are equal."""


@dataclass(frozen=True, slots=True)
class Result:
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


@dataclass(frozen=True, slots=True)
class ActionValue:
    """An action of a player.

    Attributes:
        number: The number of the action.
        name: The name of the action, in words.
        value: The value of the action, to the player who chooses.
        cost: The loss compared with the best action, at least 0.
        chance: The probability of the action in the optimal strategy.
    """

    number: int
    name: str
    value: float
    cost: float
    chance: float


@dataclass(frozen=True, eq=False)
class Choice:
    """A state as shown to a person who explores it.

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


def who_acts(game: Game, state: Any) -> tuple[int, ...]:
    """Return the players with a choice in a state; if nobody has one, the one on turn or player 0.

    Args:
        game: The rules.
        state: A state in which the episode has not ended.
    """
    legal = game.legal_actions(state)
    choosing = tuple(player for player, own in enumerate(legal) if len(own) > 1)
    if choosing:
        return choosing
    return (game.turn(state) if isinstance(game, Alternating) else 0,)


def results(solved: SolvedGame, state: Any, joint: JointAction) -> tuple[Result, ...]:
    """Return the possible results of a joint action, the most probable first.

    Args:
        solved: The game.
        state: The state in which it is taken.
        joint: An action of each player.
    """
    game = solved.game
    found = [
        Result(
            number,
            float(one.probability),
            float(one.reward),
            one.state,
            0.0 if game.is_terminal(one.state) else solved.value_of(one.state),
        )
        for number, one in enumerate(game.transition(state, joint))
    ]
    return tuple(sorted(found, key=lambda one: -one.probability))


def expected(found: Sequence[Result]) -> float:
    """Return the expectation of reward and value, to player 0.

    Args:
        found: The possible results of an action.
    """
    return sum(one.probability * (one.reward + one.value) for one in found)


def joint_action(solved: SolvedGame, state: Any, player: int, action: int) -> JointAction:
    """Combine a player's action with the other player's only one.

    Args:
        solved: The game.
        state: The state, in which the other player has no choice.
        player: The player who chooses.
        action: The action of that player.
    """
    legal = solved.game.legal_actions(state)
    return tuple(action if seat == player else own[0] for seat, own in enumerate(legal))


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
    actions = _valued(solved, state, player)
    if len(acting) == 1:
        return Choice(state, False, player, value, actions)
    return Choice(state, False, player, value, actions, _valued(solved, state, 1))


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
    begin = f"It does not matter which of the {len(best)} best you choose. "
    if len(best) == len(choice.actions):
        begin = "It does not matter: all actions are equally good. "
    if sum(one.chance > 0 for one in choice.replies) > 1:
        return (
            f"The other side's optimal mixed strategy makes {len(best)} actions equally good. "
            f"What matters is the mix, which leaves it nothing to exploit."
        )
    reply = max(choice.replies, key=lambda one: one.chance, default=None)
    scale = ValueScale(solved.game.info, choice.player)
    spreads: list[dict[float, float]] = []
    same: list[dict[Any, float]] = []
    for one in best[:MOST_COMPARED]:
        joint = joint_action(solved, choice.state, choice.player, one.number)
        joint = joint if reply is None else (one.number, reply.number)
        spread: dict[float, float] = {}
        found: dict[Any, float] = {}
        for result in results(solved, choice.state, joint):
            value = round(result.reward + result.value, TIED_DECIMALS) + 0.0
            spread[value] = spread.get(value, 0.0) + result.probability
            found[result.state, value] = found.get((result.state, value), 0.0) + result.probability
        spreads.append(spread)
        same.append(found)
    values = {value for spread in spreads for value in spread}
    if len(values) == 1:
        told = f"{scale.of(values.pop()):.6g}"
        if scale.is_chance:
            told = scale.text(float(told))
        return f"{begin}Whatever may follow here is worth {told}, so nothing is gained or lost."
    if all(_alike(found, same[0]) for found in same):
        return f"{begin}They do the same: every result has the same probability."
    if all(_alike(spread, spreads[0]) for spread in spreads):
        return (
            f"{begin}They lead to different states, but these are worth the same with the same "
            f"probabilities."
        )
    wide = [max(spread) - min(spread) for spread in spreads]
    bold, calm = (best[wide.index(pick(wide))].name for pick in (max, min))
    risk = f" “{bold}” risks most, “{calm}” least." if bold != calm else ""
    return f"{begin}Their results differ, but the means by probability are equal.{risk}"


def _alike(one: Mapping[Any, float], other: Mapping[Any, float]) -> bool:
    return one.keys() == other.keys() and all(abs(one[k] - other[k]) < 1e-9 for k in one)


def _valued(solved: SolvedGame, state: Any, player: int) -> tuple[ActionValue, ...]:
    """The actions of a player with their values."""
    scale = ValueScale(solved.game.info, player)
    found = solved.action_values(state, player)
    strategy = solved.policy(state, player)
    values = {action: scale.of(value) for action, value in found.items()}
    best = max(values.values())
    names = action_names(solved.game, state, player)
    return tuple(
        ActionValue(
            action,
            names[action],
            value,
            best - value if best - value >= NEGLIGIBLE else 0.0,
            strategy.get(action, 0.0),
        )
        for action, value in values.items()
    )
