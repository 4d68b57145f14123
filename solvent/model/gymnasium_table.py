"""Any Gymnasium toy-text environment as a game, read from its own transition dictionary ``P``.

``P[s][a]`` is a list of ``(probability, next_state, reward, terminated)``. FrozenLake, Taxi and
CliffWalking publish it; whatever has such a dictionary can be solved and scored like the suite's
own games.

An optimum depends on the kernel, the start distribution, the discount, the horizon and the class
of policies. Here they are: the dictionary as given; the start as given; no discount; no time
limit (Gymnasium's wrapper adds one, which is not part of ``P``); all policies.

``P`` only has numbers. The names of actions, and the board that the numbers of states count, are in
Gymnasium's documentation; :data:`DOCUMENTED` has them by the environment's class, so that they hold
under every id.
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

from solvent.model import WINS, Game, GameInfo, JointAction, Outcome, Words
from solvent.model.game import merged
from solvent.model.parameters import brief, described, shown
from solvent.model.scene import Cell as Square
from solvent.model.scene import Grid, Prose, Scene, board, grid
from solvent.model.walk import rationals

Transitions = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]


Board = Mapping[str, Sequence[Any]]
"""The values of each coordinate. States are numbered row by row, the last coordinate fastest."""


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
"""Names of actions, in the order of their numbers, and the board whose cells a state's number
counts, by ``module:class`` of the environment or of one of its base classes. Gymnasium documents
them, but no attribute holds them."""


START_TOLERANCE = 1e-6
"""Tolerance for the sum of the start distribution, which may be of single precision."""

RESETS = 64
"""Number of resets after which a start is taken to be certain."""


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
        actions: The names of actions, in the order of their numbers; the numbers if left out.
        board: The values of each coordinate, such as ``{"row": range(4), "column": range(4)}``,
            of states that are numbered row by row; the states are numbers alone if left out.
        picture: The board's rows as text, a character for each state, for drawings.

    Raises:
        ValueError: If the probabilities of a state and action do not sum to 1 within 1e-9, or those
            of the start within 1e-6, one is negative or not a number, a reward is not finite, a
            next state is not in the dictionary, the states are not numbered 0, 1, 2 and so on, or
            there are not as many names of actions or places on the board as the dictionary has.
    """

    transitions: Transitions
    start: Sequence[float]
    name: str = "gymnasium-table"
    actions: Sequence[str] = ()
    board: Board = field(default_factory=dict)
    picture: Sequence[str] = ()

    @classmethod
    def from_env(cls, env: Any, name: str | None = None) -> GymnasiumTable:
        """Read ``P`` and the start off a toy-text environment.

        The start is ``initial_state_distrib``, or the state to which ``reset`` always leads.

        The board is read off ``shape``, or ``nrow`` and ``ncol``, where these fit; the names of
        actions and other boards are those of :data:`DOCUMENTED`.

        Args:
            env: The environment.
            name: Name for tables and messages; by default the environment's id.

        Raises:
            ValueError: If it has no ``P`` that can be read, or has no ``initial_state_distrib`` and
                its resets lead to several states; or as for the class.
        """
        env = env.unwrapped
        if not hasattr(env, "P"):
            raise ValueError(
                f"{type(env).__name__} has no P; only environments that publish it, such as "
                f"FrozenLake-v1, can be solved"
            )
        start = getattr(env, "initial_state_distrib", None)
        spec = getattr(env, "spec", None)
        kinds = (f"{kind.__module__}:{kind.__qualname__}" for kind in type(env).__mro__)
        actions, board = next(filter(None, map(DOCUMENTED.get, kinds)), ((), {}))
        name = name or (spec.id if spec else "gymnasium-table")
        try:
            return cls(
                env.P,
                _reset_start(env) if start is None else start,
                name,
                actions if len(actions) == _width(env.P) else (),
                _board(env, board),
                _picture(env),
            )
        except (TypeError, AttributeError, LookupError) as error:
            raise ValueError(
                f"{name} publishes no table of transitions that can be read ({shown(error)})"
            ) from error

    def __post_init__(self) -> None:
        """Check every branch, so that a wrong dictionary is refused before it is solved."""
        if len(self.start) != len(self.transitions):
            raise ValueError(
                f"start has {len(self.start)} entries for {len(self.transitions)} states"
            )
        if not self.transitions or set(self.transitions) != set(range(len(self.transitions))):
            raise ValueError(f"P has states {list(self.transitions)[:5]}...; expected 0, 1, 2, ...")
        _check_weights(self.start, "start")
        if abs(sum(self.start) - 1) > START_TOLERANCE:
            raise ValueError(f"start has probabilities that sum to {sum(self.start)}")
        for state, actions in self.transitions.items():
            if not actions:
                raise ValueError(f"P[{state}] lists no action")
            for action, branches in actions.items():
                _check_weights([branch[0] for branch in branches], f"P[{state}][{action}]")
                total = sum(branch[0] for branch in branches)
                if abs(total - 1) > 1e-9:
                    raise ValueError(f"P[{state}][{action}] has probabilities that sum to {total}")
                for _, target, reward, _ in branches:
                    if target not in self.transitions:
                        raise ValueError(f"P[{state}][{action}] leads to unknown state {target}")
                    if not np.isfinite(reward):
                        raise ValueError(f"P[{state}][{action}] has the reward {reward}")
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
            # All that is ever paid is 1 at the end, as for the goal of FrozenLake.
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
        """The listed branches, those to the same cell with the same reward merged."""
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
        """The map, if there is one, the state's number, and where on the board it is."""
        places = [f"{name} {value}" for name, value in self.coordinates(state).items()]
        where = f": {', '.join(places)}" if self.board else ""
        line = f"state {state.number}{where}{' (over)' if state.over else ''}"
        if sum(map(len, self.picture)) != len(self.transitions):
            return line
        return f"{board(self.picture, state.number)}\n{line}"

    def scene(self, state: Cell) -> Scene:
        """Draw the board of a map with a letter for each state, or of a map with walls."""
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
        # A map as Taxi's: a frame, and a bar or a colon between two squares of a row.
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


def _width(transitions: Transitions) -> int:
    """Return the number of actions."""
    return 1 + max((action for actions in transitions.values() for action in actions), default=-1)


def _reset_start(env: Any) -> Sequence[float]:
    """The distribution of the start of an environment that always begins in one state."""
    first = {str(env.reset(seed=seed)[0]) for seed in range(RESETS)}
    numbers = {str(state): state for state in env.P}
    if len(first) > 1 or not first <= set(numbers):
        raise ValueError(
            f"{type(env).__name__} has no initial_state_distrib, and {RESETS} resets lead to "
            f"{shown(sorted(first))}; expected one state of P. GymnasiumTable(P, start) takes the "
            f"distribution"
        )
    return [float(str(state) in first) for state in sorted(env.P)]


def maker(env_id: str) -> Callable[..., Game]:
    """Return the function that makes the game whose transitions an environment publishes.

    Args:
        env_id: The Gymnasium id of an environment that is registered.
    """

    def published(**arguments: Any) -> Game:
        with made(env_id):
            env = gym.make(env_id, **arguments)
        try:
            return GymnasiumTable.from_env(env)
        finally:
            env.close()

    creator, own = constructor(env_id)
    text = " ".join((inspect.getdoc(creator) or "").strip().partition("\n\n")[0].split())
    return described(published, text.partition(". ")[0], own)


def constructor(env_id: str) -> tuple[Any, list[inspect.Parameter]]:
    """Return what makes an environment, and its parameters, with the defaults of the id.

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
def made(env_id: str) -> Iterator[None]:
    """Turn whatever happens when somebody's environment is made into a ValueError of one line."""
    try:
        yield
    except Exception as error:  # Somebody else's environment may raise anything.
        what = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(f"{env_id} cannot be made ({what})") from error


def _board(env: Any, documented: Board) -> Board:
    """The board that fits the environment's states: by its attributes, or as documented."""
    shape = getattr(env, "shape", (getattr(env, "nrow", 0), getattr(env, "ncol", 0)))
    is_pair = isinstance(shape, tuple) and len(shape) == 2
    if is_pair and all(isinstance(n, int) for n in shape) and prod(shape) == len(env.P):
        return {"row": range(shape[0]), "column": range(shape[1])}
    return documented if prod(map(len, documented.values())) == len(env.P) else {}


def _picture(env: Any) -> tuple[str, ...]:
    """The map of an environment that has one with a letter for each state, as FrozenLake."""
    map_ = np.asarray(getattr(env, "desc", ()))
    if map_.ndim != 2 or map_.dtype.kind != "S":
        return ()
    return tuple("".join(cell.decode("ascii", "replace") for cell in row) for row in map_)


def _check_weights(weights: Sequence[float], name: str) -> None:
    if any(not 0 <= w < np.inf for w in weights) or not any(w > 0 for w in weights):
        raise ValueError(f"{name} has probabilities {list(weights)}; allowed are positive numbers")
