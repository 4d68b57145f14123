"""Conformance checks: what every game must satisfy, runnable by anyone who adds one.

    from solvent.model import parametrize_with_game_checks

    @parametrize_with_game_checks([MyGame(), MyGame(size=3)])
    def test_my_game(game, check):
        check(game)

Each check is a function of a game that raises :class:`GameCheckError`, naming the state. The
games passed in should be small (up to some ten thousand states): every state is visited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from solvent.model.game import Alternating, Game
from solvent.model.table_cache import compile_game
from solvent.model.tabular import TabularGame
from solvent.model.transforms import DISCOUNT_END, extreme_returns, repeatable_state

if TYPE_CHECKING:
    import pytest


class GameCheckError(AssertionError):
    """A game breaks the contract of :class:`solvent.model.Game`."""


def check_game(game: Game) -> None:
    """Run every check of this module on a game.

    Raises:
        GameCheckError: With the check's name, the state and what is wrong.
    """
    for check in CHECKS:
        check(game)


def parametrize_with_game_checks(games: Iterable[Game]) -> pytest.MarkDecorator:
    """Return a pytest decorator that runs each check on each game as a separate test.

    The decorated test takes the arguments ``game`` and ``check``.
    """
    import pytest

    return pytest.mark.parametrize(
        ("game", "check"),
        [
            pytest.param(game, check, id=f"{game.info.name}-{check.__name__}")
            for game in games
            for check in CHECKS
        ],
    )


# The last game that was walked through and its table, for which one check after another asks.
_walked: list[Any] = [None, None]


def compiled_rules(game: Game) -> TabularGame:
    """Return the table of all reachable states, by walking through the rules."""
    if game is not _walked[0]:
        try:
            _walked[:] = game, compile_game(game, reference=True)
        except ValueError as error:
            raise GameCheckError(str(error)) from error
    table: TabularGame = _walked[1]
    return table


def check_protocol(game: Game) -> None:
    """Check that a game has every member of the protocol, and that its info is consistent."""
    if not isinstance(game, Game):
        raise GameCheckError(f"{type(game).__name__} lacks members of the Game protocol")
    low, high = game.info.reward_range
    if not low <= high:
        raise GameCheckError(f"reward_range is {game.info.reward_range}")
    if not game.info.sources:
        raise GameCheckError("info.sources is empty; say where the rules come from")


def check_chance(game: Game) -> None:
    """Check that probabilities are Fractions, positive, and sum to 1."""
    rows = (
        (f"state {state!r}, action {joint}", game.transition(state, joint))
        for state in compiled_rules(game).states  # Compiling adds the probabilities up.
        for joint in _joint_actions(game, state)
    )
    for where, outcomes in chain([("initial()", game.initial())], rows):
        for outcome in outcomes:
            if not isinstance(outcome.probability, Fraction):
                raise GameCheckError(
                    f"{where}: probability {outcome.probability!r} is not a Fraction"
                )


def check_actions(game: Game) -> None:
    """Check that every player has legal actions in every live state, as ascending indices.

    Where players take turns, only the player on turn may have a choice.
    """
    for state in compiled_rules(game).states:
        if game.is_terminal(state) or game.info.players == 1 or not isinstance(game, Alternating):
            continue
        if len(game.legal_actions(state)[1 - game.turn(state)]) > 1:
            raise GameCheckError(f"state {state!r}: the player who is not on turn has a choice")


def check_end(game: Game) -> None:
    """Check that every state has a trajectory to an end, and that an acyclic game has no cycle."""
    table = compiled_rules(game)
    source = table.row_state[table.outcome_row]
    ends = table.terminal.copy()
    while True:
        grown = ends.copy()
        grown[source[ends[table.next_state]]] = True
        if (grown == ends).all():
            break
        ends = grown
    if not ends.all():
        state = table.states[int(np.argmin(ends))]
        raise GameCheckError(f"from state {state!r} no end of the game can be reached")
    again = repeatable_state(table) if game.info.acyclic else None
    if again is not None:
        raise GameCheckError(
            f"info says acyclic, but a cycle is reachable from {table.states[again]!r}"
        )


def check_observations(game: Game) -> None:
    """Check that observations are float32 vectors of one shape in [-1, 1], and tell states apart.

    The end by a discount may look like another state.
    """
    for player in range(game.info.players):
        seen: dict[bytes, Any] = {}
        shape = None
        for state in compiled_rules(game).states:
            observation = np.asarray(game.observe(state, player))
            shape = observation.shape if shape is None else shape
            if observation.dtype != np.float32 or observation.ndim != 1:
                raise GameCheckError(f"state {state!r}: observation is not a float32 vector")
            if observation.shape != shape or len(game.info.observation_labels) != shape[0]:
                raise GameCheckError(
                    f"state {state!r}: observation has shape {observation.shape}, the labels "
                    f"are {game.info.observation_labels}"
                )
            if not (np.abs(observation) <= 1).all():
                raise GameCheckError(f"state {state!r}: observation {observation} leaves [-1, 1]")
            other = seen.setdefault(observation.tobytes(), state)
            if other != state and state != DISCOUNT_END:
                raise GameCheckError(
                    f"states {other!r} and {state!r} look the same to player {player}"
                )


def check_states(game: Game) -> None:
    """Check that states are hashable, equal to their ``eval(repr())``, and can be drawn."""
    states = compiled_rules(game).states
    namespace = {cls.__name__: cls for cls in set(map(type, states))}
    for state in states:
        hash(state)
        # The repr of a checked game's own state; nothing from outside is evaluated.
        again = eval(repr(state), {"__builtins__": {}}, namespace)
        if again != state or type(again) is not type(state):
            raise GameCheckError(f"repr of state {state!r} does not round-trip")
        if not game.draw(state).strip():
            raise GameCheckError(f"state {state!r} draws as nothing")


def check_rewards(game: Game) -> None:
    """Check that rewards of an acyclic game add up to a return within ``info.reward_range``."""
    table = compiled_rules(game)
    if not game.info.acyclic or repeatable_state(table) is not None:
        return  # A cycle in an acyclic game is reported by check_end.
    low, high = game.info.reward_range
    for extreme in extreme_returns(table)[:2]:
        if not low - 1e-9 <= extreme <= high + 1e-9:
            raise GameCheckError(
                f"an episode can collect {extreme}, but reward_range is {game.info.reward_range}"
            )


def check_table(game: Game) -> None:
    """Check that a game's own ``tabulate()`` agrees with its rules in every state, bit for bit."""
    if not hasattr(game, "tabulate"):
        return
    ours, rules = compile_game(game), compiled_rules(game)
    if ours.info != game.info:
        raise GameCheckError(f"tabulate() has the info {ours.info}, the rules {game.info}")
    if set(ours.states) != set(rules.states):
        odd = next(iter(set(ours.states) ^ set(rules.states)))
        raise GameCheckError(f"state {odd!r} is in only one of tabulate() and the rules")
    for s, state in enumerate(rules.states):
        t = ours.index[state]
        if _rows(ours, t) != _rows(rules, s):
            raise GameCheckError(
                f"state {state!r}: tabulate() has {_rows(ours, t)}, the rules {_rows(rules, s)}"
            )
        if ours.initial[t] != rules.initial[s]:
            raise GameCheckError(f"state {state!r}: initial probabilities differ")
        for mine, theirs in zip(ours.observation, rules.observation, strict=True):
            if (mine[t] != theirs[s]).any():
                raise GameCheckError(f"state {state!r}: observations differ")
        if rules.turn is not None and (ours.turn is None or ours.turn[t] != rules.turn[s]):
            raise GameCheckError(f"state {state!r}: tabulate() and the rules differ in the turn")


def _rows(table: TabularGame, state: int) -> list[Any]:
    """Return all that a table holds about a state, with states instead of their indices."""
    rows: list[Any] = [[m[state].tolist() for m in table.mask]]
    for row in range(table.row_start[state], table.row_start[state + 1]):
        branch = slice(table.outcome_start[row], table.outcome_start[row + 1])
        rows.append(
            [
                (table.states[i], p, r)
                for i, p, r in zip(
                    table.next_state[branch].tolist(),
                    table.probability[branch].tolist(),
                    table.outcome_reward[branch].tolist(),
                    strict=True,
                )
            ]
        )
    return rows


def _joint_actions(game: Game, state: Any) -> Iterable[tuple[int, ...]]:
    return () if game.is_terminal(state) else product(*game.legal_actions(state))


CHECKS: tuple[Callable[[Game], None], ...] = (
    check_protocol,
    check_chance,
    check_actions,
    check_end,
    check_observations,
    check_states,
    check_rewards,
    check_table,
)
