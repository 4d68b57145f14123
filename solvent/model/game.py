"""Games: a finite zero-sum Markov game whose chance is explicit.

A game is written once, as the map

    (state, joint action)  ->  distribution over (probability, next state, reward)

with probabilities that are exact rationals. An environment *samples* that map and a
solver takes its *expectation*; neither needs to know the other.

One type covers three kinds of game. In a two-player zero-sum Markov game (Shapley 1953,
"Stochastic games") both players act in every state; where a player has no choice, the tuple
of legal actions has one element. A Markov decision process is the case of one player, an
alternating game the case in which in every state at most one player has a choice.

This is the readable reference. It is slow, obviously right, and quotes the rules; the arrays
of :mod:`solvent.model.tabular` are compiled from it.

A class of rules may inherit :class:`Words`, the words of a game with their defaults;
:class:`Rules`, in which every action is legal; or :class:`ModifiedGame`, made from another game.
"""

from __future__ import annotations

import json
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from solvent.model.parameters import shown
from solvent.model.scene import Scene, scene_text

State: TypeAlias = Hashable
"""A state: immutable, hashable, and with a ``repr`` from which it can be read back."""

WINS = "wins"
"""The unit of a game that is won, 1, or lost, 0: its values are chances of winning."""

WINS_OR_TIES = "wins, ties half"
"""The unit of a game that is won, lost or tied, in which a tie counts one half."""

JointAction: TypeAlias = tuple[int, ...]
"""One action index per player."""


class Outcome(NamedTuple):
    """One branch of a chance event.

    Attributes:
        probability: Probability of this branch, an exact rational in (0, 1]. A float means the
            decimal that it prints.
        state: The state that follows.
        reward: Reward to player 0 on reaching that state; player 1 receives the negative.
    """

    probability: Fraction
    state: Any
    reward: Fraction | int = 0


def merged(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Return a distribution in which no state is repeated with the same reward.

    Args:
        outcomes: A distribution, possibly with repeated pairs of a state and a reward.

    Returns:
        The outcomes in the order of their first appearance, with the sums of probabilities.
    """
    found: dict[tuple[Any, Any], Any] = {}
    for one in outcomes:
        key = one.state, one.reward
        found[key] = found[key] + one.probability if key in found else one.probability
    return tuple(Outcome(chance, state, reward) for (state, reward), chance in found.items())


@dataclass(frozen=True, slots=True)
class GameInfo:
    """The description of a game before any of it is played.

    Attributes:
        name: The name under which the game is listed, such as ``"ff-combat"``.
        players: 1 or 2.
        actions: The names of each player's actions, in the order of their indices.
        acyclic: Whether no state can be visited twice in one episode.
        reward_range: Least and largest return of an episode.
        sources: The source of each rule and constant.
        parameters: The parameters that determine the game, as JSON-able values.
        observation_labels: The name of each entry of an observation.
        unit: The unit of values, in the plural, such as ``"points"``; :data:`WINS`, or
            :data:`WINS_OR_TIES`, if a value is the chance of winning; empty if there is no word
            for it.
        discount: Factor by which a reward shrinks with every move before it; 1 unless the game was
            made by :func:`solvent.model.discounted`.
    """

    name: str
    players: int
    actions: tuple[tuple[str, ...], ...]
    acyclic: bool
    reward_range: tuple[float, float]
    sources: tuple[str, ...]
    parameters: tuple[tuple[str, Any], ...] = ()
    observation_labels: tuple[str, ...] = ()
    unit: str = ""
    discount: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Check that the fields fit each other."""
        if self.players not in (1, 2):
            raise ValueError(f"players is {shown(self.players)}; allowed are 1 and 2")
        if len(self.actions) != self.players:
            raise ValueError(
                f"actions names the actions of {len(self.actions)} player(s), "
                f"but the game has {self.players}"
            )
        for names in self.actions:
            if len({*names}) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"actions has two actions of a player named {shown(twice)}")

    def check_same(self, trained: GameInfo, what: str) -> None:
        """Refuse something that was made for a game of another name or with other parameters.

        Args:
            trained: Info of the game that it was made for.
            what: Subject of the message, such as ``"the network"``.

        Raises:
            ValueError: If the games differ.
        """
        both = [{"name": info.name, **dict(info.parameters)} for info in (trained, self)]
        for name in both[0] | both[1]:
            # Compared as JSON, in which tuples and lists are the same.
            found, wanted = (json.dumps(i.get(name), sort_keys=True, default=str) for i in both)
            if found != wanted:
                raise ValueError(
                    f"{what} is for another game: its {name} is {found:.60}, not {wanted:.60}"
                )


@runtime_checkable
class Game(Protocol):
    """The rules of a game: pure functions of immutable states.

    Rewards are undiscounted, so a value is a probability or a number of points.

    A game may also offer :class:`Alternating`, :class:`Words`,
    a ``tabulate()`` that builds its table faster than a walk through its states, and ``checks``
    (:mod:`solvent.model.context`). A game of a million states or more can be written for arrays
    of states: :class:`~solvent.model.VectorizedGame`.
    """

    @property
    def info(self) -> GameInfo:
        """The game's players, actions and sources."""

    def initial(self) -> tuple[Outcome, ...]:
        """Return the distribution over initial states (rewards are 0)."""

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        """Return the legal actions in a nonterminal state, ascending, as a tuple per player."""

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the outcomes of a joint action; probabilities sum to 1.

        An outcome may be listed more than once; its probabilities are added. The sum is checked
        exactly, in rationals.
        """

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode has ended."""

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Return a player's observation: a float32 vector, scaled to [0, 1] or [-1, 1]."""

    def draw(self, state: Any) -> str:
        """Draw the state as text for a person, in one or more lines."""


@runtime_checkable
class Alternating(Protocol):
    """A two-player game in turns. In all other two-player games both act at the same time."""

    def turn(self, state: Any) -> int:
        """Return the player to act, 0 or 1."""


class Words:
    """A game's own words for people. A game with words inherits this class and overrides methods.

    Every default leaves the wording to the code that shows the game (:mod:`solvent.model.text`).
    :func:`words` returns the defaults for a game without words. The unit of values is
    ``info.unit``, and a state is drawn by :meth:`Game.draw`.
    """

    def place(self, state: Any) -> str:
        """Describe the place of a state in the game in a few words; empty to show its fields."""
        return ""

    def coordinates(self, state: Any) -> Mapping[str, Any]:
        """Return the place of a state and what else distinguishes it, with the same keys for all.

        If there is a ``row``, counted from the top, and a ``column``, reports draw a board. States
        that have fields of these names need not override this method. An end off the board has -1.
        Empty if the state's own fields are enough.
        """
        return {}

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return names for the entries of tuples in states, by the field that is the tuple.

        The empty name stands for the state itself.
        """
        return {}

    def value_names(self) -> Mapping[str, Mapping[Any, str]]:
        """Return names for the values of fields, by the field; other values are shown as they are.

        Fields that are called ``player``, ``turn`` and the like need none.
        """
        return {}

    def labels(self, state: Any) -> Mapping[int, str]:
        """Return the legal actions in words if their meaning depends on the state, else nothing.

        Drawings of the state show these words.
        """
        return {}

    def explain(self, action: int, player: int) -> str:
        """Describe an action of a player in a few words."""
        return ""

    def scene(self, state: Any) -> Scene:
        """Draw a state as data, with the action that a click takes; empty if there is no picture.

        A game on a board of rows and columns has one without this method.
        """
        return ()

    def player_name(self, player: int) -> str:
        """Return the name of a player's side in a sentence, such as "the offence"."""
        return ("player A", "player B")[player]

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Describe how an outcome came about, in one or more lines; empty if there is no story.

        An outcome sums up all rolls that lead to it. The roll described is drawn from `dice`, with
        its probability given the outcome.

        Args:
            state: State before the outcome; None if the outcome is an initial one.
            joint_action: Actions of the players; empty for an initial outcome.
            outcome: An outcome of :meth:`Game.transition` or :meth:`Game.initial`.
            dice: Random numbers for the details that the outcome leaves open.
        """
        return ""

    def for_reader(self) -> Any:
        """Return the same game, with details in its states that only a person wants to see."""
        return self

    def from_reader(self, state: Any) -> Any:
        """Return this game's state for a state of :meth:`for_reader`."""
        return state


class Rules(Words):
    """The base of rules in which every action is legal and the drawing is the scene's.

    A subclass has an ``info``, a ``start``, a ``scale``, and the methods ``transition``,
    ``is_terminal`` and ``scene``. It overrides ``initial`` if chance decides where an episode
    begins, and ``observe`` if an observation is not the state divided by the scale.

    Attributes:
        start: The state in which every episode begins.
        scale: The numbers by which the entries of a state are divided in observations.
    """

    start: Any
    scale: Any

    @property
    def info(self) -> GameInfo:
        """The game's players, actions and sources."""
        raise NotImplementedError

    def initial(self) -> tuple[Outcome, ...]:
        """Return the state in which every episode begins."""
        return (Outcome(Fraction(1), self.start),)

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Return the entries of a state as fractions of their scale."""
        return np.asarray(np.array(state) / self.scale, np.float32)

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the labels of observations for the entries of a state, if they are the same."""
        return {"": self.info.observation_labels} if type(self).observe is Rules.observe else {}

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        """Return all actions of each player."""
        return tuple(tuple(range(len(names))) for names in self.info.actions)

    def draw(self, state: Any) -> str:
        """Draw the scene as text; in a game in turns, add who is to act."""
        text = scene_text(self.scene(state))
        if not isinstance(self, Alternating) or self.is_terminal(state):
            return text
        return f"{text}\n{self.player_name(self.turn(state))} to act"

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode has ended."""
        raise NotImplementedError


class ModifiedGame(Words):
    """A game that is made from another, `game`, with the same states, words and drawings."""

    game: Game

    def initial(self) -> tuple[Outcome, ...]:
        """Delegate to the game."""
        return self.game.initial()

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        """Delegate to the game."""
        return self.game.legal_actions(state)

    def is_terminal(self, state: Any) -> bool:
        """Delegate to the game."""
        return self.game.is_terminal(state)

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Delegate to the game."""
        return self.game.observe(state, player)

    def draw(self, state: Any) -> str:
        """Delegate to the game."""
        return self.game.draw(state)

    def place(self, state: Any) -> str:
        return words(self.game).place(state)

    def coordinates(self, state: Any) -> Mapping[str, Any]:
        return words(self.game).coordinates(state)

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        return words(self.game).entry_names()

    def value_names(self) -> Mapping[str, Mapping[Any, str]]:
        return words(self.game).value_names()

    def labels(self, state: Any) -> Mapping[int, str]:
        return words(self.game).labels(state)

    def explain(self, action: int, player: int) -> str:
        return words(self.game).explain(action, player)

    def scene(self, state: Any) -> Scene:
        return words(self.game).scene(state)

    def player_name(self, player: int) -> str:
        return words(self.game).player_name(player)

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        return words(self.game).tell(state, joint_action, outcome, dice)

    def for_reader(self) -> Any:
        shown = words(self.game).for_reader() if isinstance(self.game, Words) else self.game
        return self if shown is self.game else replace(self, game=shown)  # type: ignore[type-var]

    def from_reader(self, state: Any) -> Any:
        return words(self.game).from_reader(state)


_DEFAULT_WORDS = Words()


def deciders(game: Game, state: Any) -> tuple[int, ...]:
    """Return the players who have a choice in a state; none once the episode has ended.

    Args:
        game: The rules.
        state: A state of the game.
    """
    legal = () if game.is_terminal(state) else game.legal_actions(state)
    return tuple(player for player, own in enumerate(legal) if len(own) > 1)


def words(game: object) -> Words:
    """Return a game's own words, or the defaults if it has none."""
    return game if isinstance(game, Words) else _DEFAULT_WORDS
