"""MiniGrid's environments as games: their states are found by setting the environment and stepping.

MiniGrid (Chevalier-Boisvert et al. 2023, "Minigrid & Miniworld: Modular & customizable
reinforcement learning environments for goal-oriented tasks", NeurIPS) has no table of transitions,
but in most of its environments nothing is random once the layout has been drawn. So a layout is
fixed by the seed of its reset, and every state that can be reached is expanded by MiniGrid's own
``step``: none of its rules is written here a second time.

**The clock.** MiniGrid pays 1 - 0.9 t / max_steps for reaching the goal with move t and gives up
after max_steps moves, so its rewards depend on a clock that the agent does not see. Here the goal
pays 1, and after every move that does not end the episode it stops with probability 1 / max_steps.
Under both rules the shortest way is optimal from every state.

**Observations** are those of MiniGrid: the image of the 7 x 7 cells in front, each cell an object,
a colour and a state, and the direction; or with ``view="full"`` the image of the whole grid with
the agent in it, as MiniGrid's ``FullyObsWrapper``. Entries are divided by their largest possible
value. In the partial view different states may look alike. A policy that only sees observations may
then fall short of the optimum, which is that of a player who sees the state.

**Refused** are environments whose steps draw random numbers, such as those with moving obstacles.
To find environments with a memory that is not part of the state, random episodes of MiniGrid's are
followed step by step.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from solvent.model.game import WINS, Game, GameInfo, JointAction, Outcome
from solvent.model.gymnasium_table import constructor, one_line_errors
from solvent.model.parameters import check_choice, check_integer, described
from solvent.model.tabular import TabularGame
from solvent.model.walk import MOST_STATES, walk

VIEWS = ("partial", "full")

PLAYOUTS = 10
"""Number of random episodes of MiniGrid's that are followed."""

# Number of moves after which an episode is not followed any further.
_LONGEST = 200

# Largest size, and number of rooms or of things, that may be asked for: a file may ask for a grid
# larger than the memory. MiniGrid's own environments have up to 25.
_LARGEST_ARGUMENT = 50

DIRECTIONS = ("right", "down", "left", "up")
DOORS = ("open", "closed", "locked")

LARGEST = np.array([10, 5, 3], np.float32)
"""The largest numbers of an object, a colour and a state; an agent's state is its direction."""


class Cell(NamedTuple):
    """A state of the grid.

    Attributes:
        column: Column of the agent, from the left; -1 where the clock has stopped the episode.
        row: Row of the agent, from the top; -1 where the clock has stopped the episode.
        direction: The direction in which it looks.
        carrying: Object that the agent carries.
        changes: Contents of the cells that have changed since the start, by column and row.
        over: Whether the episode has ended.
    """

    column: int
    row: int
    direction: str
    carrying: str = ""
    changes: tuple[tuple[int, int, str], ...] = ()
    over: bool = False


STOPPED = Cell(-1, -1, "", over=True)


@dataclass(frozen=True)
class MiniGridGame:
    """A layout of an environment of MiniGrid's, as a game.

    Args:
        env_id: The Gymnasium id.
        layout: Seed of the reset that draws the layout, a whole number from 0.
        view: Observation: ``"partial"``, what MiniGrid shows the agent, or ``"full"``, the
            whole grid.
        arguments: Arguments of the environment that differ from those of the id.
        version: Version of MiniGrid and the arguments of the id, which determine the rules; for
            somebody else's class the class itself, since its code may change. Its table is not
            cached.
        source: An environment whose present layout is used instead of the one that `layout` draws.

    Raises:
        ValueError: If an argument is not allowed, or the environment cannot be made.
    """

    env_id: str
    layout: int = 0
    view: str = "partial"
    arguments: tuple[tuple[str, Any], ...] = ()
    version: Any = ""
    source: Any = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.layout, "layout", 0, 2**32 - 1)
        check_choice(self.view, "view", VIEWS)
        for name, value in self.arguments:
            if name != "max_steps" and type(value) is int:
                check_integer(value, name, 0, _LARGEST_ARGUMENT)

    @classmethod
    def from_env(cls, env: Any, view: str = "partial") -> MiniGridGame:
        """Take the layout that an environment has now.

        Args:
            env: An environment of MiniGrid's; one that was never reset is reset with the seed 0.
            view: Observation, ``"partial"`` or ``"full"``.
        """
        source = copy.deepcopy(env.unwrapped)
        if source.agent_pos is None:
            source.reset(seed=0)
        name = source.spec.id if source.spec else type(source).__name__
        return cls(name, view=view, source=source)

    @cached_property
    def _world(self) -> _World:
        env = self.source
        if env is None:
            with one_line_errors(self.env_id):
                env = gym.make(self.env_id, disable_env_checker=True, **dict(self.arguments))
                env = env.unwrapped
                env.reset(seed=self.layout)
        return _World(env, self.view, self.env_id)

    @cached_property
    def info(self) -> GameInfo:
        """MiniGrid's actions, and the labels of what is seen."""
        world = self._world
        width, height, _ = world.seen(world.start)[0].shape
        entries = ("object", "colour", "state")
        return GameInfo(
            name=self.env_id,
            players=1,
            actions=(tuple(action.name for action in world.env.actions),),
            acyclic=False,
            reward_range=(0.0, 1.0),
            sources=("MiniGrid, Chevalier-Boisvert et al. 2023",),
            # No seed is known for the layout that an environment has now.
            parameters=(
                *([("layout", self.layout)] if self.source is None else ()),
                ("view", self.view),
                *self.arguments,
            ),
            observation_labels=(
                *(f"{e} {x},{y}" for x in range(width) for y in range(height) for e in entries),
                "direction",
            ),
            unit=WINS,
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the state after the reset."""
        return (Outcome(Fraction(1), self._world.start),)

    def legal_actions(self, state: Cell) -> tuple[tuple[int, ...], ...]:
        """Return all of MiniGrid's actions."""
        return (tuple(range(len(self._world.env.actions))),)

    def transition(self, state: Cell, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the state after a step, or with probability 1 / max_steps the end by the clock."""
        after, reward = self._world.step(state, joint_action[0])
        if after.over:
            return (Outcome(Fraction(1), after, reward),)
        stop = Fraction(1, self._world.env.max_steps)
        return (Outcome(1 - stop, after, reward), Outcome(stop, STOPPED, reward))

    def is_terminal(self, state: Cell) -> bool:
        """Return whether MiniGrid or the clock has ended the episode."""
        return state.over

    def observe(self, state: Cell, player: int) -> NDArray[np.float32]:
        """Return the image and the direction, scaled; zeros where the clock has stopped."""
        image, direction = self._world.seen(self._world.start if state == STOPPED else state)
        vector = np.append((image / LARGEST).ravel(), direction / (len(DIRECTIONS) - 1))
        return np.asarray(vector * (state != STOPPED), np.float32)

    def images(self, table: TabularGame) -> NDArray[np.uint8]:
        """Return the images of all states as MiniGrid shows them, [S, width, height, 3].

        They are for networks that were trained in MiniGrid's own environment::

            solvent.score(game, network, observation=game.images(solvent.compile_game(game)))

        Args:
            table: The table of this game.
        """
        shape = self._world.seen(self._world.start)[0].shape
        entries = table.observation[0][:, :-1].reshape(-1, *shape) * LARGEST
        return np.asarray(np.rint(entries), np.uint8)

    def draw(self, state: Cell) -> str:
        """Return MiniGrid's drawing of the grid."""
        return "the clock has stopped the episode" if state == STOPPED else self._world.draw(state)

    def tabulate(self) -> TabularGame:
        """Return the table, after random episodes of MiniGrid's were compared with it.

        Raises:
            ValueError: If steps are random, or differ from those of the table.
        """
        table = walk(self, MOST_STATES, None)
        self._world.follow()
        return table


class _World:
    """An environment that can be set to every state that was found.

    Args:
        env: An environment of MiniGrid's after a reset.
        view: Observation, ``"partial"`` or ``"full"``.
        name: Name for messages.
    """

    def __init__(self, env: Any, view: str, name: str) -> None:
        self.original, self.view, self.name = env, view, name
        self.env = env = copy.deepcopy(env)
        env._np_random = _NoChance(name)
        self.first = list(env.grid.grid)
        self.words = [_words(thing) for thing in self.first]
        self.things: list[tuple[Any, dict[str, Any]]] = []
        waiting = [env.carrying, *self.first]
        while waiting:
            if (thing := waiting.pop()) is not None and thing.type != "wall":
                self.things.append((thing, dict(vars(thing))))
                waiting.append(thing.contains)
        self.attributes = dict(vars(env))
        self.known: dict[Cell, tuple[Any, ...]] = {}
        self.start = self._found(False)

    def _found(self, over: bool) -> Cell:
        """Return the state in which the environment is, and remember how to come back."""
        env = self.env
        width = env.grid.width
        changes = tuple(
            (i % width, i // width, words)
            for i, (thing, first) in enumerate(zip(env.grid.grid, self.first, strict=True))
            if (thing is not first or (thing is not None and thing.type != "wall"))
            and (words := _words(thing)) != self.words[i]
        )
        carrying = _words(env.carrying) if env.carrying else ""
        column, row = map(int, env.agent_pos)
        state = Cell(column, row, DIRECTIONS[env.agent_dir], carrying, changes, over)
        if state not in self.known:
            self.known[state] = (
                _changed(env, self.attributes),
                tuple(env.grid.grid) if changes else None,
                [_changed(thing, before) for thing, before in self.things],
            )
        return state

    def set(self, state: Cell) -> None:
        """Set the environment to a state that was found before."""
        attributes, cells, things = self.known[state]
        vars(self.env).update(self.attributes)
        vars(self.env).update(attributes)
        self.env.grid.grid[:] = cells or self.first
        for (thing, before), changed in zip(self.things, things, strict=True):
            vars(thing).update(before)
            vars(thing).update(changed)

    def step(self, state: Cell, action: int) -> tuple[Cell, Fraction]:
        """Return the state after a step of MiniGrid's, and its reward without the clock's part."""
        self.set(state)
        env = self.env
        # At step 0 MiniGrid deducts nothing from the reward. Observations are made on demand only.
        env.step_count, env.gen_obs = -1, dict
        try:
            _, reward, over, _, _ = env.step(action)
        finally:
            del env.gen_obs
        return self._found(bool(over)), Fraction(str(float(reward)))

    def seen(self, state: Cell) -> tuple[NDArray[Any], int]:
        """Return the image and the direction that MiniGrid shows in a state."""
        self.set(state)
        return self._shown(self.env)

    def _shown(self, env: Any) -> tuple[NDArray[Any], int]:
        shown = env.gen_obs()
        if self.view == "full":
            from minigrid import wrappers

            full: Any = wrappers.FullyObsWrapper
            shown = full(env).observation(shown)
        return shown["image"], int(shown["direction"])

    def draw(self, state: Cell) -> str:
        """Return MiniGrid's drawing of a state."""
        self.set(state)
        return str(self.env.pprint_grid())

    def follow(self) -> None:
        """Play random episodes of MiniGrid's and compare each step with the states here.

        Raises:
            ValueError: If one differs.
        """
        dice = random.Random(0)
        for _ in range(PLAYOUTS):
            env, here = copy.deepcopy(self.original), self.start
            for _ in range(min(_LONGEST, env.max_steps - 1)):
                action = dice.randrange(len(env.actions))
                _, reward, over, _, _ = env.step(action)
                here, paid = self.step(here, action)
                same = bool(over) == here.over and np.isclose(reward, float(paid) * env._reward())
                image, direction = self._shown(env)
                seen, looks = self.seen(here)
                if not (same and direction == looks and np.array_equal(image, seen)):
                    raise ValueError(
                        f"{self.name}: an episode of MiniGrid's differs from the states here at "
                        f"{here}; allowed are environments whose grid and agent are all of a state"
                    )
                if over:
                    break


class _NoChance:
    """A stand-in for a generator of random numbers where none may be drawn."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        raise ValueError(
            f"{self._name} draws random numbers in its steps; allowed are environments of MiniGrid "
            f"in which only the layout is random"
        )


def _changed(thing: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that are other objects than before."""
    return {name: v for name, v in vars(thing).items() if v is not before.get(name, before)}


def _words(thing: Any) -> str:
    """Return the name of what is in a cell, such as ``"locked yellow door"``."""
    if thing is None:
        return "empty"
    words = f"{thing.color} {thing.type}"
    if thing.type == "door":
        words = f"{DOORS[thing.encode()[2]]} {words}"
    return f"{words} with {_words(thing.contains)}" if thing.contains else words


def maker(env_id: str) -> Callable[..., Game]:
    """Return the function that makes the game of an environment of MiniGrid's.

    Args:
        env_id: The Gymnasium id.
    """
    import minigrid

    creator, own = constructor(env_id)
    is_known = creator.__module__.partition(".")[0] == minigrid.__name__
    version = f"{minigrid.__version__} {gym.spec(env_id).kwargs}" if is_known else creator

    def of_minigrid(*, layout: int = 0, view: str = "partial", **arguments: Any) -> Game:
        return MiniGridGame(env_id, layout, view, tuple(arguments.items()), version=version)

    text = f"""{env_id}, a layout of MiniGrid.

Args:
    layout: Seed of the reset that draws the layout.
    view: Observation: partial, what MiniGrid shows the agent, or full, the whole grid.
"""
    return described(of_minigrid, text, [one for one in own if one.kind == one.KEYWORD_ONLY])
