"""The same game as arrays, and policies as arrays.

A :class:`TabularGame` is what solvers take expectations of and environments sample from. It
always has two players: in a game for one, player 1 has a single action everywhere.

Shapes, with S states, A_p actions of player p, K rows (a row is a state with one legal joint
action) and N outcomes (the branches of all rows):

====================  =============  ==========================================================
``row_start``         [S+1] int64    rows of state s are ``row_start[s] : row_start[s+1]``
``outcome_start``     [K+1] int64    outcomes of row k are ``outcome_start[k] : ...[k+1]``
``next_state``        [N] int64      the state an outcome leads to
``probability``       [N] float64    its probability, the float nearest to the exact rational
``outcome_reward``    [N] float64    its reward to player 0
``mask[p]``           [S, A_p] bool  legal actions; all False where the episode has ended
``initial``           [S] float64    distribution over starting states
``observation[p]``    [S, D_p] f32   what player p sees
``turn``              [S] int64      whose turn it is, 0 or 1; None if all act everywhere
``reward``            [K] float64    expected reward of a row
====================  =============  ==========================================================

Within a state, rows are ordered by player 0's action, then by player 1's. A terminal state has
no rows. A large table may hold ``next_state`` as int32 and ``outcome_reward`` as float32.

Outcomes of probability 0 are dropped when a table is made.

**In rationals** (:class:`RationalGame`). The floats of a :class:`~solvent.model.TabularGame` are
the nearest to these rationals. A game has few different numbers, so each is stored once, and
outcomes refer to it by its index.

====================  =============  ==========================================================
``numbers``           [M]            the different rationals
``probability``       [N] int32      probability of each outcome, as an index of ``numbers``
``reward``            [N] int32      reward of each outcome, as an index of ``numbers``
``initial``           mapping        the probability of each state in which an episode can begin
====================  =============  ==========================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints, grouped_sum
from solvent.model.game import GameInfo, State
from solvent.model.parameters import check_integer, shown

_T = TypeVar("_T")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def remembered(
    function: Callable[Concatenate[_T, _P], _R],
) -> Callable[Concatenate[_T, _P], _R]:
    """Cache the results of a function of a table or a policy for as long as that object is in use.

    All other arguments have to be hashable, and are passed by position.
    """
    known: WeakKeyDictionary[Any, dict[Any, _R]] = WeakKeyDictionary()

    @wraps(function)
    def remembering(subject: _T, /, *others: _P.args, **none: _P.kwargs) -> _R:
        results = known.setdefault(subject, {})
        if others not in results:
            results[others] = function(subject, *others, **none)
        return results[others]

    return remembering


# Tolerance for the sum of a distribution, which rounding may move away from 1.
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class TabularGame:
    """A game as arrays; the module's table gives their shapes.

    Raises:
        ValueError: If shapes or types do not fit each other, an index is out of range, a
            probability is negative, a reward is not finite, or a distribution does not sum to 1
            within 1e-9; the message names the state and the action.
    """

    info: GameInfo
    states: Sequence[State]
    row_start: Ints
    outcome_start: Ints
    next_state: Ints
    probability: Floats
    outcome_reward: Floats
    mask: tuple[Bools, Bools]
    initial: Floats
    observation: tuple[NDArray[np.float32], ...] = ()
    turn: Ints | None = None

    def __post_init__(self) -> None:
        """Check the arrays against the module's table, and drop outcomes of probability 0."""
        s, k, n = len(self.states), len(self.outcome_start) - 1, len(self.next_state)
        expected = {
            "row_start": (self.row_start.shape, (s + 1,)),
            "probability": (self.probability.shape, (n,)),
            "outcome_reward": (self.outcome_reward.shape, (n,)),
            "initial": (self.initial.shape, (s,)),
            "mask[0]": (self.mask[0].shape[:1], (s,)),
            "mask[1]": (self.mask[1].shape[:1], (s,)),
            **{f"observation[{p}]": (o.shape[:1], (s,)) for p, o in enumerate(self.observation)},
            "turn": ((s,) if self.turn is None else self.turn.shape, (s,)),
        }
        for name, (shape, wanted) in expected.items():
            if shape != wanted:
                raise ValueError(f"{name} has shape {shape}; expected {wanted}")
        if self.row_start[-1] != k or self.outcome_start[-1] != n:
            raise ValueError(
                f"row_start ends at {self.row_start[-1]} and outcome_start at "
                f"{self.outcome_start[-1]}; expected {k} rows and {n} outcomes"
            )
        for name in ("row_start", "outcome_start", "next_state"):
            if getattr(self, name).dtype.kind not in "iu":
                raise ValueError(f"{name} is {getattr(self, name).dtype}; expected whole numbers")
        if n and not 0 <= self.next_state.min() <= self.next_state.max() < s:
            raise ValueError(f"next_state leaves 0..{s - 1}, the indices of the states")
        for name in ("row_start", "outcome_start"):
            starts = getattr(self, name)
            if len(starts) and (starts[0] != 0 or (np.diff(starts) < 0).any()):
                raise ValueError(f"{name} does not ascend from 0")
        joint = self.mask[0].sum(axis=1) * self.mask[1].sum(axis=1)
        wrong = np.flatnonzero(np.diff(self.row_start) != joint)
        if len(wrong):
            raise ValueError(f"state {self.states[wrong[0]]!r}: rows and masks do not agree")
        for name, array, right, allowed in (
            ("reward", self.outcome_reward, np.isfinite(self.outcome_reward), "finite numbers"),
            ("probability", self.probability, self.probability >= 0, "numbers from 0 to 1"),
        ):
            if not right.all():
                outcome = int(np.argmin(right))
                row = int(np.searchsorted(self.outcome_start, outcome, side="right")) - 1
                raise ValueError(
                    f"{self._row_name(row)}: a {name} is {array[outcome]}; allowed are {allowed}"
                )
        self._check_sums()
        if n and self.probability.min() == 0:
            self._drop_impossible()

    @classmethod
    def trusted(cls, model_hash: str, **attributes: Any) -> TabularGame:
        """A table whose arrays were checked when it was first made, and are unchanged.

        Args:
            model_hash: Hash of the table.
            attributes: Values of all attributes of the class.
        """
        table = object.__new__(cls)
        vars(table).update(attributes, model_hash=model_hash)
        return table

    def _check_sums(self) -> None:
        """Check that the start and every row are distributions."""
        if not ((self.initial >= 0).all() and abs(self.initial.sum() - 1) <= _SUM_TOLERANCE):
            raise ValueError(
                f"{self.info.name}: the probabilities of the start are not a distribution; they "
                f"sum to {self.initial.sum()}"
            )
        # reduceat would take the next row's first outcome for an empty row; it has none to sum.
        filled = np.flatnonzero(np.diff(self.outcome_start))
        total = np.zeros(self.n_rows)
        total[filled] = np.add.reduceat(self.probability, self.outcome_start[:-1][filled])
        wrong = np.flatnonzero(~(np.abs(total - 1) <= _SUM_TOLERANCE))
        if len(wrong):
            raise ValueError(
                f"{self._row_name(int(wrong[0]))}: probabilities sum to {total[wrong[0]]}, not 1"
            )

    def _drop_impossible(self) -> None:
        """Leave out the outcomes of probability 0."""
        possible = self.probability > 0
        before = np.concatenate(([0], np.cumsum(possible)))
        kept: dict[str, Any] = {
            "outcome_start": before[self.outcome_start],
            "next_state": self.next_state[possible],
            "probability": self.probability[possible],
            "outcome_reward": self.outcome_reward[possible],
        }
        for name, array in kept.items():
            object.__setattr__(self, name, array)

    def _row_name(self, row: int) -> str:
        """The game, the state and the action of a row, for error messages."""
        state = int(np.searchsorted(self.row_start, row, side="right")) - 1
        rank = divmod(row - int(self.row_start[state]), int(self.mask[1][state].sum()))
        actions = tuple(
            int(np.flatnonzero(mask[state])[r]) for mask, r in zip(self.mask, rank, strict=True)
        )
        return f"{self.info.name}: state {self.states[state]!r}, action {actions}"

    def __repr__(self) -> str:
        """The game's name and its size."""
        return (
            f"<TabularGame {self.info.name}: {self.n_states} states, {self.n_rows} rows, "
            f"{len(self.next_state)} outcomes>"
        )

    @property
    def n_states(self) -> int:
        """S, the number of states, including terminal ones."""
        return len(self.states)

    @property
    def n_rows(self) -> int:
        """K, the number of pairs of a state and a legal joint action."""
        return len(self.outcome_start) - 1

    @cached_property
    def action_count(self) -> tuple[Ints, Ints]:
        """The number of legal actions of each player in each state, two arrays [S]."""
        first, second = (m.sum(axis=1, dtype=np.int64) for m in self.mask)
        return first, second

    @cached_property
    def terminal(self) -> Bools:
        """Whether the episode has ended, [S]."""
        return np.asarray(np.diff(self.row_start) == 0)

    def mask_of(self, player: int) -> Bools:
        """Return the legal actions of a player, [S, A].

        Raises:
            ValueError: If `player` is not 0 or 1.
        """
        return self.mask[check_integer(player, "player", 0, 1)]

    def on_turn(self, player: int) -> Bools:
        """Return the states in which a player is to act, [S] bool."""
        if self.turn is None:
            return ~self.terminal
        return np.asarray(~self.terminal & (self.turn == player))

    @cached_property
    def row_state(self) -> Ints:
        """The state that each row belongs to, [K]."""
        return np.repeat(np.arange(self.n_states), np.diff(self.row_start))

    @cached_property
    def row_action(self) -> tuple[Ints, Ints]:
        """The action of each player in each row, two arrays [K]."""
        within = np.arange(self.n_rows) - self.row_start[self.row_state]
        columns = self.action_count[1][self.row_state]
        ranks = (within // np.maximum(columns, 1), within % np.maximum(columns, 1))
        actions = []
        for player in (0, 1):
            # The legal actions of all states in one list, each state's ascending.
            legal = np.nonzero(self.mask[player])[1]
            start = np.concatenate(([0], np.cumsum(self.action_count[player])))
            actions.append(legal[start[self.row_state] + ranks[player]].astype(np.int64))
        return actions[0], actions[1]

    @cached_property
    def outcome_row(self) -> Ints:
        """The row that each outcome belongs to, [N]."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.outcome_start))

    @cached_property
    def reward(self) -> Floats:
        """The expected reward of each row to player 0, [K]."""
        return grouped_sum(self.outcome_row, self.probability * self.outcome_reward, self.n_rows)

    @cached_property
    def index(self) -> dict[State, int]:
        """The index of each state."""
        return {state: i for i, state in enumerate(self.states)}

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of everything an optimum depends on: dynamics, masks and start distribution.

        Observations are left out: a tabular policy means the same whatever was observed.
        """
        digest = hashlib.sha256(self.info.name.encode())
        for array in (
            self.row_start,
            self.outcome_start,
            self.next_state,
            self.probability,
            self.outcome_reward,
            *self.mask,
            self.initial,
        ):
            # Little-endian, so that the hash does not depend on the machine.
            canonical = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            digest.update(f"{canonical.shape}{canonical.dtype.str}".encode())
            digest.update(canonical.reshape(-1).view(np.uint8).data)
        return digest.hexdigest()

    def expectation(self, values: Floats, *, rewarded: bool = True) -> Floats:
        """Return action values: expected reward plus expected value of the next state.

        Args:
            values: [S] the value of each state.
            rewarded: Whether rewards count.

        Returns:
            [K] the value of each row.
        """
        after = values[self.next_state]
        terms = self.probability * (self.outcome_reward + after if rewarded else after)
        return grouped_sum(self.outcome_row, terms, self.n_rows)

    def at_start(self, values: Floats) -> float:
        """Return the expected value at the start, given the value of each state, [S].

        Only the values of possible initial states are used.
        """
        starts = self.initial > 0
        return float(self.initial[starts] @ values[starts])

    def row(self, state: int, actions: tuple[int, int]) -> int:
        """Return the row of a state and a legal joint action.

        Raises:
            ValueError: If an action is not legal there.
        """
        ranks = []
        for player, action in enumerate(actions):
            mask = self.mask[player][state]
            if not 0 <= action < len(mask) or not mask[action]:
                raise ValueError(
                    f"action {action!r} of player {player} is not legal in state "
                    f"{self.states[state]!r}; legal are {np.flatnonzero(mask).tolist()}"
                )
            ranks.append(int(mask[:action].sum()))
        return int(self.row_start[state] + ranks[0] * self.action_count[1][state] + ranks[1])


@dataclass(frozen=True, eq=False)
class TabularPolicy:
    """A player's policy: a distribution over actions in every state.

    Attributes:
        probabilities: [S, A] float64, rows sum to 1, or to 0 in terminal states; 0 on illegal
            actions.
        model_hash: Model hash of the policy's game.
        player: Player whose policy it is, 0 or 1.
        name: Name for tables and figures.
    """

    probabilities: Floats
    model_hash: str
    player: int = 0
    name: str = "policy"
    # Hashes of the models for which the probabilities were found to be a policy.
    _checked: set[str] = field(default_factory=set, init=False, repr=False)

    @classmethod
    def of(
        cls, game: TabularGame, probabilities: Floats, *, player: int = 0, name: str = "policy"
    ) -> TabularPolicy:
        """Check probabilities against a game, and return them as a policy.

        An array does not say for which game it was made. One made for the same game with other
        parameters is accepted if the numbers of states and actions agree.

        Args:
            game: The game.
            probabilities: [S, A]; rows of states in which the episode has ended are not read.
            player: Player whose policy it is, 0 or 1.
            name: Name for tables and figures.

        Raises:
            ValueError: If the shape is not [S, A], an entry is negative or not a number, an
                illegal action has a positive probability, or a row does not sum to 1.
        """
        probabilities = np.asarray(probabilities, float)
        _check_probabilities(probabilities, game, player, name)
        probabilities = np.where(game.terminal[:, None], 0.0, probabilities)
        policy = cls(probabilities, game.model_hash, player, name)
        policy._checked.add(game.model_hash)
        return policy

    @classmethod
    def uniform(cls, game: TabularGame, *, player: int = 0) -> TabularPolicy:
        """Return the policy that takes every legal action with equal probability."""
        mask = game.mask_of(player)
        probabilities = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return cls.of(game, probabilities, player=player, name="uniform")

    @classmethod
    def deterministic(
        cls, game: TabularGame, actions: Ints, *, player: int = 0, name: str = "policy"
    ) -> TabularPolicy:
        """Return the policy that takes the given action in each state.

        Args:
            game: The game.
            actions: [S] index of the action in each state; entries of terminal states are not read.
            player: Player whose policy it is, 0 or 1.
            name: Name for tables and figures.

        Raises:
            ValueError: If the shape is not [S], or an action is not legal.
        """
        mask = game.mask_of(player)
        actions = np.asarray(actions)
        if actions.shape != mask.shape[:1] or actions.dtype.kind not in "iu":
            raise ValueError(
                f"policy {name!r} has actions of shape {actions.shape} and type {actions.dtype}; "
                f"expected {mask.shape[0]} whole numbers"
            )
        probabilities = np.zeros(mask.shape)
        live = np.flatnonzero(~game.terminal)
        unknown = live[(actions[live] < 0) | (actions[live] >= mask.shape[1])]
        if len(unknown):
            raise ValueError(
                f"policy {name!r} takes action {actions[unknown[0]]} in state "
                f"{game.states[int(unknown[0])]!r}; there are {mask.shape[1]}"
            )
        probabilities[live, actions[live]] = 1
        return cls.of(game, probabilities, player=player, name=name)

    @classmethod
    def constant(cls, game: TabularGame, action: int, *, player: int = 0) -> TabularPolicy:
        """Return the policy that takes the same action in every state.

        Where it is illegal, the policy takes the lowest legal action, as environments do.

        Args:
            game: The game.
            action: Index of the action.
            player: The player whose policy it is, 0 or 1.

        Raises:
            ValueError: If the player has no such action.
        """
        mask = game.mask_of(player)
        check_integer(action, "action", 0, mask.shape[1] - 1)
        actions = np.where(mask[:, action], action, mask.argmax(axis=1))
        return cls.deterministic(game, actions, player=player, name="constant")

    def normalized(self) -> Floats:
        """Return the probabilities, [S, A], divided by the sum of each state, 1 within 1e-9."""
        total = self.probabilities.sum(axis=1, keepdims=True)
        return np.asarray(self.probabilities / np.where(total > 0, total, 1.0))

    def mode(self) -> TabularPolicy:
        """Return the greedy policy: the most probable action of each state, the lowest on ties."""
        probabilities = np.zeros_like(self.probabilities)
        live = self.probabilities.any(axis=1)
        probabilities[live, self.probabilities[live].argmax(axis=1)] = 1
        return TabularPolicy(probabilities, self.model_hash, self.player, f"{self.name} (mode)")

    def check_is_for(self, game: TabularGame) -> None:
        """Raise unless this is a policy for `game`.

        Raises:
            ValueError: As :func:`check_model`, and as :meth:`of`.
        """
        check_model(self.model_hash, game, f"policy {self.name!r}")
        if game.model_hash not in self._checked:
            _check_probabilities(self.probabilities, game, self.player, self.name)
            self._checked.add(game.model_hash)


def _check_probabilities(given: Any, game: TabularGame, player: int, name: str) -> None:
    """Raise unless something is a distribution over legal actions in every state with actions.

    Args:
        given: The array of probabilities, [S, A].
        game: The game.
        player: Player whose policy it is.
        name: Name of the policy, for messages.

    Raises:
        ValueError: As :meth:`TabularPolicy.of`.
    """
    mask = game.mask_of(player)
    is_plain = isinstance(given, np.ndarray) and given.dtype.kind in "buif"
    if not is_plain or given.shape != mask.shape:
        found = f"shape {given.shape}" if is_plain else f"the probabilities {shown(given)}"
        raise ValueError(
            f"policy {name!r} has {found}; player {player} of {game.info.name} needs {mask.shape}"
        )
    problems = (
        (~(given >= 0).all(axis=1), "has an entry that is negative or not a number"),
        (((given > 0) & ~mask).any(axis=1), "gives weight to an illegal action"),
        (np.abs(given.sum(axis=1) - 1) > _SUM_TOLERANCE, "does not sum to 1"),
    )
    for wrong, problem in problems:
        wrong &= ~game.terminal
        if wrong.any():
            state = int(np.argmax(wrong))
            raise ValueError(
                f"policy {name!r} {problem} in state {game.states[state]!r}: "
                f"{given[state].tolist()}; solvent.policy_from takes float32, logits, "
                f"action values and illegal actions"
            )


def check_model(model_hash: str, game: object, what: str) -> None:
    """Raise unless something was made for the model of a table.

    Args:
        model_hash: Hash of the model that it was made for.
        game: The table.
        what: Subject of the message, such as ``"the solution"``.

    Raises:
        ValueError: If the model hashes differ, or `game` is not a table.
    """
    if not isinstance(game, TabularGame):
        raise ValueError(
            f"game is {shown(game)}; expected is its table, solvent.compile_game(game)"
        )
    if model_hash != game.model_hash:
        raise ValueError(
            f"{what} was made for the model {model_hash[:12]}, "
            f"but this {game.info.name} is the model {game.model_hash[:12]}"
        )


def check_policy(policy: object, game: TabularGame | None = None) -> None:
    """Raise unless something is a TabularPolicy.

    Args:
        policy: The object given as a policy.
        game: The table that it must be for. Default: any.

    Raises:
        ValueError: If `policy` is not a TabularPolicy, or is for another game.
    """
    if not isinstance(policy, TabularPolicy):
        raise ValueError(
            f"policy is {shown(policy)}; expected is a TabularPolicy. solvent.score takes arrays, "
            f"functions and models too, and solvent.policy_from makes a TabularPolicy of them"
        )
    if game is not None:
        policy.check_is_for(game)


@dataclass(frozen=True, eq=False)
class RationalGame:
    """A game's arrays and the rationals behind them; the module's table gives the shapes."""

    table: TabularGame
    numbers: tuple[Fraction, ...]
    probability: NDArray[np.int32]
    reward: NDArray[np.int32]
    initial: Mapping[int, Fraction]
