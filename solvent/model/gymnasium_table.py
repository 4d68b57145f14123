"""Any Gymnasium toy-text environment as a game, read from its own transition dictionary ``P``.

``P[s][a]`` is a list of ``(probability, next_state, reward, terminated)``. FrozenLake, Taxi and
CliffWalking publish it. Any environment with such a dictionary can be solved and scored like the
suite's own games.

The optimum is over all policies, for the dictionary and the start distribution as given, without a
discount or a time limit. (Gymnasium's limit is a wrapper and not part of ``P``.)

``P`` contains only numbers. The names of the actions, and how states are numbered on a board, are
found in Gymnasium's documentation alone. :data:`DOCUMENTED` repeats them, by class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import load_env_creator
from numpy.typing import NDArray

from solvent.model import WINS, Game, GameInfo, JointAction, Outcome, TabularGame, Words
from solvent.model.arrays import Ints
from solvent.model.game import merged
from solvent.model.parameters import brief, described, shown
from solvent.model.scene import Cell as Square
from solvent.model.scene import Grid, Prose, Scene, board, grid
from solvent.model.walk import rationals

Transitions = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]


Board = Mapping[str, Sequence[Any]]
"""Values of each coordinate. States are numbered with the last coordinate running fastest."""


_STANDS = ("red", "green", "yellow", "blue")

DOCUMENTED: Mapping[str, tuple[tuple[str, ...], Board]] = {
    "gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv": (("left", "down", "right", "up"), {}),
    "gymnasium.envs.toy_text.cliffwalking:CliffWalkingEnv": (("up", "right", "down", "left"), {}),
    "gymnasium.envs.toy_text.taxi:TaxiEnv": (
        ("south", "north", "east", "west", "pick up", "drop off"),
        {
            "row": range(5),
            "column": range(5),
            "passenger": (*_STANDS, "in the taxi"),
            "destination": _STANDS,
        },
    ),
}
"""Action names and board, by ``module:class`` of the environment or of a base class."""


# Arguments with which Gymnasium's environments leave their tables.
_NOT_IN_TABLE = ("fickle_passenger",)

# Tolerance for the sum of the start distribution, which may be in single precision.
_START_TOLERANCE = 1e-6

TOLERANCE = 1e-9
"""Tolerance for the sum of the probabilities of a state and action."""


class Cell(NamedTuple):
    """A state of the dictionary, and whether the episode ended on entering it."""

    number: int
    over: bool


@dataclass(frozen=True, eq=False)
class GymnasiumTable(Words):
    """The game of a Gymnasium environment, read from its table of transitions.

    Args:
        transitions: The dictionary ``P``.
        start: Probability of each state at the start, one entry per state of ``P``.
        name: Name for tables and messages.
        actions: Names of the actions, by number; the numbers themselves if empty.
        board: The values of each coordinate, such as ``{"row": range(4), "column": range(4)}``, if
            states are numbered row by row; empty if they have only numbers.
        picture: The board's rows as text, a character for each state, for drawings.

    Raises:
        ValueError: If the probabilities of a state and action do not sum to 1 within 1e-9, or those
            of the start within 1e-6, one is negative or not a number, a reward is not finite, a
            next state is not in the dictionary, the states are not numbered 0, 1, 2 and so on, or
            the number of action names or of places on the board does not fit the dictionary.
    """

    transitions: Transitions
    start: Sequence[float]
    name: str = "gymnasium-table"
    actions: Sequence[str] = ()
    board: Board = field(default_factory=dict)
    picture: Sequence[str] = ()

    @classmethod
    def from_env(cls, env: Any, name: str | None = None) -> GymnasiumTable:
        """Read ``P`` and the start from a toy-text environment.

        The start is ``initial_state_distrib``. The board comes from ``shape``, or ``nrow`` and
        ``ncol``, if they fit; the names of actions and other boards come from :data:`DOCUMENTED`.

        Args:
            env: The environment.
            name: Name for tables and messages; by default the environment's id.

        Raises:
            ValueError: If it has no readable ``P`` or no ``initial_state_distrib``; if it does not
                follow its ``P``, as Taxi with a fickle passenger; or as for the class.
        """
        env = env.unwrapped
        if not hasattr(env, "P"):
            raise ValueError(
                f"{type(env).__name__} has no P; only environments that publish it, such as "
                f"FrozenLake-v1, can be solved"
            )
        for argument in _NOT_IN_TABLE:
            if getattr(env, argument, False):
                raise ValueError(
                    f"{argument} is True, by which {type(env).__name__} does not follow its own P; "
                    f"allowed is False"
                )
        start = getattr(env, "initial_state_distrib", None)
        if start is None:
            raise ValueError(
                f"{type(env).__name__} has no initial_state_distrib; it has to be the probability "
                f"of each state of P at the start"
            )
        spec = getattr(env, "spec", None)
        kinds = (f"{kind.__module__}:{kind.__qualname__}" for kind in type(env).__mro__)
        actions, board = next(filter(None, map(DOCUMENTED.get, kinds)), ((), {}))
        name = name or (spec.id if spec else "gymnasium-table")
        try:
            return cls(
                env.P,
                start,
                name,
                actions if len(actions) == _width(env.P) else (),
                _board(env, board),
                _picture(env),
            )
        except (TypeError, AttributeError, LookupError) as error:
            raise ValueError(
                f"the table of transitions of {name} cannot be read ({shown(error)})"
            ) from error

    def __post_init__(self) -> None:
        """Check every branch, so that a wrong dictionary is refused before it is solved."""
        if len(self.start) != len(self.transitions):
            raise ValueError(
                f"start has {len(self.start)} entries for {len(self.transitions)} states"
            )
        if not self.transitions or set(self.transitions) != set(range(len(self.transitions))):
            raise ValueError(f"P has states {list(self.transitions)[:5]}...; expected 0, 1, 2, ...")
        _check_distribution(self.start, "start", _START_TOLERANCE)
        for state, actions in self.transitions.items():
            if not actions:
                raise ValueError(f"P[{state}] lists no action")
            for action, branches in actions.items():
                name = f"P[{state}][{action}]"
                _check_distribution([branch[0] for branch in branches], name, TOLERANCE)
                for _, target, reward, _ in branches:
                    if target not in self.transitions:
                        raise ValueError(f"{name} leads to unknown state {target}")
                    if not np.isfinite(reward):
                        raise ValueError(f"{name} has the reward {reward}")
        width, places = _width(self.transitions), prod(map(len, self.board.values()))
        if self.actions and len(self.actions) != width:
            raise ValueError(f"actions has {len(self.actions)} names for {width} actions")
        if self.board and places != len(self.transitions):
            raise ValueError(f"board has {places} places for {len(self.transitions)} states")

    @cached_property
    def info(self) -> GameInfo:
        """Players and actions; the reward range is not known from the dictionary."""
        numbers = range(_width(self.transitions))
        paid = {(float(reward), bool(over)) for _, _, reward, over in self._branches if reward}
        return GameInfo(
            name=self.name,
            players=1,
            actions=(tuple(self.actions) or tuple(map(str, numbers)),),
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=("the environment's own P",),
            observation_labels=("state", "over"),
            # The only reward is 1 at the end, as at the goal of FrozenLake.
            unit=WINS if paid == {(1.0, True)} else "",
        )

    @cached_property
    def _entered(self) -> Mapping[int, bool]:
        """The states that can be entered, and whether the episode ends there."""
        starts = {state: False for state, chance in enumerate(self.start) if chance > 0}
        return starts | {target: over for chance, target, _, over in self._branches if chance > 0}

    @property
    def _branches(self) -> Iterator[tuple[float, int, float, bool]]:
        """All entries of the dictionary."""
        lists = (branches for actions in self.transitions.values() for branches in actions.values())
        return chain.from_iterable(lists)

    def initial(self) -> tuple[Outcome, ...]:
        """The start distribution."""
        weights = rationals(self.start)
        return tuple(Outcome(p, Cell(s, False)) for s, p in enumerate(weights) if p > 0)

    def legal_actions(self, state: Cell) -> tuple[tuple[int, ...], ...]:
        """Every action that the dictionary lists."""
        return (tuple(sorted(self.transitions[state.number])),)

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The listed branches; those with the same cell and reward are merged."""
        branches = self.transitions[state.number][joint_action[0]]
        weights = rationals([branch[0] for branch in branches])
        return merged(
            [
                Outcome(weight, Cell(int(target), bool(over)), Fraction(str(float(reward))))
                for weight, (_, target, reward, over) in zip(weights, branches, strict=True)
                if weight > 0
            ]
        )

    def is_terminal(self, state: Cell) -> bool:
        """Return whether the branch that led here was marked as the end."""
        return state.over

    def observe(self, state: Cell, player: int) -> NDArray[np.float32]:
        """The state's number, scaled to [0, 1], and whether the episode is over."""
        return np.array(
            [state.number / max(len(self.transitions) - 1, 1), float(state.over)], np.float32
        )

    def coordinates(self, state: Cell) -> Mapping[str, Any]:
        """Return the place of a state on the board; its number alone if there is no board."""
        if not self.board:
            return {"state": state.number}
        places = np.unravel_index(state.number, [len(values) for values in self.board.values()])
        return {
            name: values[int(place)]
            for (name, values), place in zip(self.board.items(), places, strict=True)
        }

    def draw(self, state: Cell) -> str:
        """The map, if there is one, and the state's number and place on the board."""
        places = [f"{name} {value}" for name, value in self.coordinates(state).items()]
        where = f": {', '.join(places)}" if self.board else ""
        line = f"state {state.number}{where}{' (over)' if state.over else ''}"
        if sum(map(len, self.picture)) != len(self.transitions):
            return line
        return f"{board(self.picture, state.number)}\n{line}"

    def scene(self, state: Cell) -> Scene:
        """Draw the board: with the map's letters or walls if there is a map, otherwise plain."""
        place = self.coordinates(state)
        if not {"row", "column"} <= place.keys():
            return ()
        here = int(place["row"]), int(place["column"])
        if not self.picture:
            width = len(self.board["column"])
            looks = {None: Square("", "pit"), True: Square("", "goal"), False: Square()}
            found = [looks[self._entered.get(n)] for n in range(len(self.transitions))]
            return (
                Grid(tuple(tuple(found[n : n + width]) for n in range(0, len(found), width)), here),
            )
        if sum(map(len, self.picture)) == len(self.transitions):
            return (grid(self.picture, here),)
        # A map like Taxi's: a frame, and a bar (wall) or a colon between two squares of a row.
        rows = [row[1:-1:2] for row in self.picture[1:-1]]
        bars = (
            ((r, c), (r, c + 1))
            for r, row in enumerate(self.picture[1:-1])
            for c, bar in enumerate(row[2:-1:2])
            if bar == "|"
        )
        squares = tuple(
            tuple(Square(one.strip(), "start" if one.strip() else "") for one in row)
            for row in rows
        )
        news = ". ".join(
            f"{name[:1].upper()}{name[1:]}: {value}"
            for name, value in place.items()
            if name not in ("row", "column")
        )
        return Grid(squares, here, walls=frozenset(bars)), Prose("", (f"{news}.",) if news else ())


def numbers_of(table: TabularGame) -> Ints | None:
    """Return the environment's number of each state of a table, [S]; 0 for the discount's end.

    Args:
        table: Any table. None is returned if it is not that of a Gymnasium environment.
    """
    if not isinstance(table.states[0], Cell):
        return None
    return np.array([getattr(state, "number", 0) for state in table.states])


def count_of(table: TabularGame) -> int:
    """Return the number of states of a Gymnasium environment, some of which may not be reached.

    Args:
        table: The table of the environment.
    """
    numbers = numbers_of(table)
    assert numbers is not None
    last = int(numbers.argmax())
    # An observation has the number as a share of the environment's last one.
    share = float(table.observation[0][last, 0])
    return 1 + (round(numbers[last] / share) if share else 0)


def _width(transitions: Transitions) -> int:
    """Return the number of actions."""
    return 1 + max((action for actions in transitions.values() for action in actions), default=-1)


def maker(env_id: str) -> Callable[..., Game]:
    """Return a function that makes the game of an environment that publishes ``P``.

    Args:
        env_id: The Gymnasium id of an environment that is registered.
    """

    def published(**arguments: Any) -> Game:
        with one_line_errors(env_id):
            env = gym.make(env_id, **arguments)
        try:
            return GymnasiumTable.from_env(env)
        finally:
            env.close()

    creator, own = constructor(env_id)
    text = " ".join((inspect.getdoc(creator) or "").strip().partition("\n\n")[0].split())
    return described(published, text.partition(". ")[0], own)


def constructor(env_id: str) -> tuple[Any, list[inspect.Parameter]]:
    """Return the constructor of an environment, and its parameters with the id's defaults.

    Args:
        env_id: The Gymnasium id of an environment that is registered.
    """
    registered = gym.spec(env_id)
    creator: Any = registered.entry_point
    creator = load_env_creator(creator) if isinstance(creator, str) else creator
    own = [
        one.replace(
            kind=one.kind if one.kind == one.VAR_KEYWORD else one.KEYWORD_ONLY,
            default=registered.kwargs.get(one.name, one.default),
        )
        for one in inspect.signature(creator).parameters.values()
        if one.name != "render_mode"
    ]
    return creator, own


@contextmanager
def one_line_errors(env_id: str) -> Iterator[None]:
    """Turn any error while an environment is made into a ValueError of one line."""
    try:
        yield
    except Exception as error:  # Somebody else's environment may raise anything.
        what = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(f"{env_id} cannot be made ({what})") from error


def _board(env: Any, documented: Board) -> Board:
    """Return the environment's board, from its attributes or as documented; empty if none fits."""
    shape = getattr(env, "shape", (getattr(env, "nrow", 0), getattr(env, "ncol", 0)))
    is_pair = isinstance(shape, tuple) and len(shape) == 2
    if is_pair and all(isinstance(n, int) for n in shape) and prod(shape) == len(env.P):
        return {"row": range(shape[0]), "column": range(shape[1])}
    return documented if prod(map(len, documented.values())) == len(env.P) else {}


def _picture(env: Any) -> tuple[str, ...]:
    """Return the environment's map, as FrozenLake's and Taxi's ``desc``; empty if it has none."""
    map_ = np.asarray(getattr(env, "desc", ()))
    if map_.ndim != 2 or map_.dtype.kind != "S":
        return ()
    return tuple("".join(cell.decode("ascii", "replace") for cell in row) for row in map_)


def _check_distribution(weights: Sequence[float], name: str, tolerance: float) -> None:
    if any(not 0 <= w < np.inf for w in weights):
        raise ValueError(f"{name} has probabilities {list(weights)}; allowed are numbers from 0 up")
    if abs(sum(weights) - 1) > tolerance:
        raise ValueError(f"{name} has probabilities that sum to {sum(weights)}")
