"""Transforms of games and policies, such as discounting and fixing one player's policy.

**Discounting.** With a *discount* g, a number above 0 and below 1, the reward of move t counts g^t,
t = 0, 1, 2 and so on (Sutton and Barto 2018, *Reinforcement Learning*, section 3.3). Everything
else in this package is undiscounted, so a discounted game is turned into an undiscounted one: after
each move, once its reward is collected, the episode continues with probability g and ends
otherwise. Move t is then made with probability g^t, so the expected sum of rewards is the
discounted value (Puterman 1994, *Markov Decision Processes*, section 5.3). This holds under every
policy, for one player and for two, and for everything that samples, solves or scores games.

An end by the discount is a state of its own, :data:`DISCOUNT_END`, the last one of the table. It is
distinct from the game's own ends, so that visits, labels and drawings show whether an episode
reached its goal or was stopped on the way. All other states keep their indices. A move that ends
the game by its rules draws no chance to continue.

A game in which play never ended now ends with certainty, whatever the players do.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints, members
from solvent.model.game import (
    WINS,
    WINS_OR_TIES,
    Alternating,
    Game,
    GameInfo,
    JointAction,
    ModifiedGame,
    Outcome,
)
from solvent.model.parameters import check_discount, shown
from solvent.model.scene import Prose, Scene
from solvent.model.tabular import TabularGame, TabularPolicy, check_policy

PARAMETER = "discount"
"""The name of the discount among the parameters of a game."""

UNIT = "discounted "
"""The prefix of the unit of a discounted game."""


@dataclass(frozen=True, slots=True)
class DiscountEnd:
    """The state in which an episode ends by the discount.

    Its observation is that of an initial state: nobody acts in it, and the observations of all
    other states stay as they are.
    """


DISCOUNT_END = DiscountEnd()
"""The only instance of its class."""


@overload
def discounted(game: TabularGame, discount: Any) -> TabularGame: ...


@overload
def discounted(game: Game, discount: Any) -> Game: ...


def discounted(game: TabularGame | Game, discount: Any) -> TabularGame | Game:
    """Return a game in which later rewards count less, as one that ends at random.

    Args:
        game: The rules, or their table.
        discount: Factor by which a reward shrinks with every move before it, a number above 0 and
            up to 1, such as 0.9 or ``"9/10"``. With 1 the game is returned unchanged.

    Returns:
        For a table of S states a table of S + 1, the last of which is :data:`DISCOUNT_END`; for
        rules, rules. ``info.parameters`` has the discount, and the unit says that values are
        discounted.

    Raises:
        ValueError: If the discount is not such a number, or the game is already discounted.
        TypeError: If `game` is neither rules nor a table.
    """
    if not isinstance(game, (TabularGame, Game)):
        raise TypeError(f"game is {shown(game)}; expected rules or a table, as of make_game(NAME)")
    chance = check_discount(discount)
    if chance == 1:
        return game
    if game.info.discount != 1:
        raise ValueError(
            f"discount is {shown(discount)}, but {game.info.name} is discounted by "
            f"{game.info.discount} already"
        )
    if isinstance(game, TabularGame):
        return _discounted_table(game, chance)
    return (_InTurns if isinstance(game, Alternating) else DiscountedGame)(game, chance)


def undiscounted(game: TabularGame) -> TabularGame:
    """Return the table that a discounted one was made from, up to rounding.

    Args:
        game: A table from :func:`discounted`. A table without a discount is returned unchanged.
    """
    discount = game.info.discount
    if discount == 1:
        return game
    end = game.n_states - 1
    goes_on = ~game.terminal[game.next_state]
    chance = np.where(goes_on, game.probability / float(discount), game.probability)
    chance[game.next_state == end] = 0.0
    info = replace(
        game.info,
        parameters=tuple(pair for pair in game.info.parameters if pair[0] != PARAMETER),
        unit=game.info.unit.removeprefix(UNIT),
        discount=Fraction(1),
    )
    return part(replace(game, info=info, probability=chance), np.arange(end))


def discounted_policy(policy: TabularPolicy, game: TabularGame) -> TabularPolicy:
    """Turn a policy for an undiscounted game into one for the discounted game.

    Args:
        policy: Policy for the undiscounted table.
        game: The discounted table that :func:`discounted` made from it.

    Raises:
        ValueError: If the tables do not have the same states and actions.
    """
    probabilities = _with_end(policy.probabilities, 0.0)
    return TabularPolicy.of(game, probabilities, player=policy.player, name=policy.name)


def _discounted_info(info: GameInfo, discount: Fraction) -> GameInfo:
    """Return the description of the discounted game."""
    plain = float(discount)
    stated: float | str = plain if Fraction(str(plain)) == discount else str(discount)
    # An episode that is stopped early may have a return that no complete one has, unless the only
    # reward is for winning.
    is_won = info.unit in (WINS, WINS_OR_TIES)
    return replace(
        info,
        parameters=(*info.parameters, (PARAMETER, stated)),
        unit=f"{UNIT}{info.unit}" if info.unit else "",
        discount=discount,
        reward_range=info.reward_range if is_won else (-np.inf, np.inf),
    )


def _discounted_table(game: TabularGame, discount: Fraction) -> TabularGame:
    """Return the discounted table; ends in a row with equal rewards are one outcome."""
    goes_on = ~game.terminal[game.next_state]
    end, start = game.n_states, int(np.argmax(game.initial > 0))
    # Both are rounded once, from the exact discount.
    stays, stops = float(discount), float(1 - discount)
    row, reward = game.outcome_row[goes_on], game.outcome_reward[goes_on]
    order = np.lexsort((reward, row))
    row, reward = row[order], reward[order]
    differs = (np.diff(row) > 0) | (np.diff(reward) > 0)
    first = np.flatnonzero(np.concatenate(([True], differs))[: len(row)])
    stopped = np.add.reduceat(stops * game.probability[goes_on][order], first)
    # Ends come after the other outcomes of their rows.
    places = game.outcome_start[row[first] + 1]
    added = np.bincount(row[first], minlength=game.n_rows)
    return TabularGame(
        info=_discounted_info(game.info, discount),
        states=(*game.states, DISCOUNT_END),
        row_start=np.append(game.row_start, game.n_rows),
        outcome_start=game.outcome_start + np.concatenate(([0], np.cumsum(added))),
        next_state=np.insert(game.next_state, places, end),
        probability=np.insert(
            np.where(goes_on, stays * game.probability, game.probability), places, stopped
        ),
        outcome_reward=np.insert(game.outcome_reward, places, reward[first]),
        mask=(_with_end(game.mask[0], False), _with_end(game.mask[1], False)),
        initial=np.append(game.initial, 0.0),
        observation=tuple(_with_end(seen, seen[start]) for seen in game.observation),
        turn=None if game.turn is None else np.append(game.turn, game.turn[start]),
    )


def _with_end(rows: NDArray[Any], end: Any) -> NDArray[Any]:
    """Append the row of the end to the rows of all states, [S, D]."""
    return np.concatenate((rows, np.full((1, rows.shape[1]), end, rows.dtype)))


@dataclass(frozen=True)
class DiscountedGame(ModifiedGame):
    """The rules of a discounted game; :func:`discounted` makes them.

    Attributes:
        game: The undiscounted rules.
        discount: The probability with which an episode continues after each move.
    """

    game: Game
    discount: Fraction

    @cached_property
    def info(self) -> GameInfo:
        """The game's info, with the discount among its parameters."""
        return _discounted_info(self.game.info, self.discount)

    def table_from(self, table: TabularGame) -> TabularGame:
        """Return the discounted table, from that of the game."""
        return discounted(table, self.discount)

    @property
    def start(self) -> Any:
        """The initial state whose observation the end by the discount has."""
        return self.game.initial()[0].state

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the outcomes of the game, followed by the ends in the order of their rewards."""
        outcomes = []
        stopped: dict[Any, Fraction] = defaultdict(Fraction)
        for outcome in self.game.transition(state, joint_action):
            if not self.game.is_terminal(outcome.state):
                stopped[outcome.reward] += outcome.probability * (1 - self.discount)
                outcome = outcome._replace(probability=outcome.probability * self.discount)
            outcomes.append(outcome)
        ends = (Outcome(stopped[reward], DISCOUNT_END, reward) for reward in sorted(stopped))
        return (*outcomes, *ends)

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode has ended, by the rules or by the discount."""
        return state == DISCOUNT_END or self.game.is_terminal(state)

    def observe(self, state: Any, player: int) -> NDArray[np.float32]:
        """Delegate to the game."""
        return self.game.observe(self.start if state == DISCOUNT_END else state, player)

    def draw(self, state: Any) -> str:
        """Draw the state as the game does; describe the end by the discount in a sentence."""
        if state == DISCOUNT_END:
            chance = dict(self.info.parameters)[PARAMETER]
            return f"The episode has ended: it goes on with probability {chance} only."
        return self.game.draw(state)

    # Words are the game's. The end by the discount has no place on a board.

    def place(self, state: Any) -> str:
        if state != DISCOUNT_END:
            return super().place(state)
        return "the end" if super().place(self.start) else ""

    def coordinates(self, state: Any) -> Mapping[str, Any]:
        return super().coordinates(self.start if state == DISCOUNT_END else state)

    def scene(self, state: Any) -> Scene:
        return (Prose("", (self.draw(state),)),) if state == DISCOUNT_END else super().scene(state)

    def labels(self, state: Any) -> Mapping[int, str]:
        return {} if state == DISCOUNT_END else super().labels(state)

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        if outcome.state == DISCOUNT_END:
            return ""  # The drawing of the end is enough.
        if state is not None and not self.game.is_terminal(outcome.state):
            outcome = outcome._replace(probability=outcome.probability / self.discount)
        return super().tell(state, joint_action, outcome, dice)

    def from_reader(self, state: Any) -> Any:
        return state if state == DISCOUNT_END else super().from_reader(state)


class _InTurns(DiscountedGame):
    """The rules of a discounted game in which players take turns."""

    def turn(self, state: Any) -> int:
        """Delegate to the game."""
        assert isinstance(self.game, Alternating)
        return self.game.turn(self.start if state == DISCOUNT_END else state)


def from_arrays(
    P: Any,
    R: Any,
    *,
    discount: Any = 1,
    start: Any = None,
    terminal: Sequence[int] = (),
    actions_first: bool | None = None,
    name: str = "arrays",
) -> TabularGame:
    """Return the game of a Markov decision process that is given as two arrays.

    >>> P = [[[0.5, 0.5], [0, 1]], [[0, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]]
    >>> from_arrays(P, [[5, 10, 0], [-1, 3, 2]], discount=0.9)
    <TabularGame arrays: 3 states, 6 rows, 15 outcomes>

    Args:
        P: Probabilities of the next state, [A, S, S] as for mdptoolbox, or [S, A, S] as for
            QuantEcon.
        R: Rewards, [S], [S, A], or of the shape of `P`. An action with reward -inf is illegal; a
            state without a legal action ends the episode.
        discount: Factor by which a reward shrinks with every move before it, above 0 and up to 1.
            A discounted table has one more state, the last, in which the discount ends an episode.
        start: [S] the distribution over states in which an episode begins; uniform if left out.
        terminal: Indices of other states that end the episode.
        actions_first: Whether the first axis of `P` is that of actions; needed only if there are as
            many actions as states.
        name: Name for tables and messages.

    Raises:
        ValueError: If shapes do not match, or as for :class:`TabularGame`.
    """
    try:
        chance, reward = np.asarray(P, float), np.asarray(R, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"P and R have to be arrays of numbers, dense ones: {error}") from None
    shape, forms = chance.shape, {1: "[A, S, S]", 0: "[S, A, S]"}  # By the axis of the states.
    axes = tuple(forms) if actions_first is None else (int(actions_first),)
    if len(shape) != 3 or shape[2] not in [shape[axis] for axis in axes]:
        expected = " or ".join(forms[axis] for axis in axes)
        raise ValueError(f"P has shape {shape}; expected {expected}")
    if actions_first is None and shape[0] == shape[1]:
        raise ValueError(f"P has shape {shape}; pass actions_first= to say which axis has actions")
    if shape[1] == shape[2] if actions_first is None else actions_first:
        chance = chance.transpose(1, 0, 2)
        reward = reward.transpose(1, 0, 2) if reward.ndim == 3 else reward
    s, a, _ = chance.shape
    if reward.shape not in ((s,), (s, a), (s, a, s)):
        raise ValueError(f"R has shape {np.shape(R)}; expected [{s}], [{s}, {a}] or that of P")
    reward = np.broadcast_to(reward.reshape(*reward.shape, *[1] * (3 - reward.ndim)), (s, a, s))
    legal = np.asarray(~np.isneginf(reward).any(axis=2))
    try:
        legal[list(terminal)] = False
    except (TypeError, IndexError):
        raise ValueError(
            f"terminal is {shown(terminal)}; expected are indices of states, from 0 to {s - 1}"
        ) from None
    present = legal[:, :, None] & (chance != 0)
    table = TabularGame(
        info=GameInfo(
            name=name,
            players=1,
            actions=(tuple(map(str, range(a))),),
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=("arrays",),
            observation_labels=("state",),
        ),
        states=tuple(range(s)),
        row_start=np.concatenate(([0], np.cumsum(legal.sum(axis=1)))),
        outcome_start=np.concatenate(([0], np.cumsum(present.sum(axis=2)[legal]))),
        next_state=np.nonzero(present)[2],
        probability=chance[present],
        outcome_reward=reward[present],
        mask=(legal, np.asarray(legal.any(axis=1))[:, None]),
        initial=np.full(s, 1 / s) if start is None else np.asarray(start, float),
        observation=((np.arange(s, dtype=np.float32) / max(s - 1, 1))[:, None],),
    )
    return discounted(table, discount)


def against(game: TabularGame, policy: TabularPolicy) -> TabularGame:
    """Fold a player's policy into chance, which leaves a game for the other player.

    Environments with a fixed opponent use it, and so do best responses.

    Args:
        game: The game, of S states.
        policy: Policy of the player to be folded in, who keeps one action everywhere.

    Returns:
        A game with the same states, start and observations. Its row for a state and an action
        of the other player has an outcome for every outcome of each row that was merged into it
        with positive weight.

    Raises:
        ValueError: If the policy is for another game.
    """
    check_policy(policy, game)
    folded, other = policy.player, 1 - policy.player
    weight = policy.normalized()[game.row_state, game.row_action[folded]]

    # The new game has a row for each state and action of the other player.
    mask_other = game.mask[other]
    rank = np.cumsum(mask_other, axis=1)[game.row_state, game.row_action[other]] - 1
    row_start = np.concatenate(([0], np.cumsum(game.action_count[other] * ~game.terminal)))
    new_row = row_start[game.row_state] + rank

    kept = np.flatnonzero(weight > 0)
    kept = kept[np.argsort(new_row[kept], kind="stable")]
    source, length = members(game.outcome_start, kept)
    counts = np.bincount(new_row[kept], length, minlength=int(row_start[-1])).astype(np.int64)
    mask_folded = ~game.terminal[:, None]
    masks = (mask_folded, mask_other) if folded == 0 else (mask_other, mask_folded)
    return TabularGame(
        info=game.info,
        states=game.states,
        row_start=row_start,
        outcome_start=np.concatenate(([0], np.cumsum(counts))),
        next_state=game.next_state[source],
        probability=game.probability[source] * np.repeat(weight[kept], length),
        outcome_reward=game.outcome_reward[source],
        mask=masks,
        initial=game.initial,
        observation=game.observation,
        turn=game.turn,
    )


def project(probabilities: Floats, mask: Bools) -> Floats:
    """Turn any distribution over actions into one over legal actions, as the environments do.

    The probability of every illegal action moves to the lowest legal one, so an environment that
    is given the original policy plays exactly the projected one.

    Args:
        probabilities: [S, A], whose rows sum to 1 in nonterminal states.
        mask: [S, A] bool.

    Returns:
        [S, A] float64, 0 in rows without a legal action.
    """
    illegal = np.where(mask, 0.0, probabilities).sum(axis=1)
    projected = np.where(mask, probabilities, 0.0)
    live = np.flatnonzero(mask.any(axis=1))
    projected[live, mask[live].argmax(axis=1)] += illegal[live]
    return projected


def reachable(game: TabularGame) -> TabularGame:
    """Drop the states that cannot be reached from the start; the others keep their order."""
    seen = game.initial > 0
    frontier = np.flatnonzero(seen)
    while len(frontier):
        rows, _ = members(game.row_start, frontier)
        outcomes, _ = members(game.outcome_start, rows)
        successors = np.unique(game.next_state[outcomes])
        frontier = successors[~seen[successors]]
        seen[frontier] = True

    return game if seen.all() else part(game, np.flatnonzero(seen))


def part(game: TabularGame, kept: Ints) -> TabularGame:
    """Return the table of some states, which lead to no others, in the order of `kept`."""
    new_index = np.zeros(game.n_states, game.next_state.dtype)
    new_index[kept] = np.arange(len(kept))
    rows, row_count = members(game.row_start, kept)
    outcomes, outcome_count = members(game.outcome_start, rows)
    return TabularGame(
        info=game.info,
        states=tuple(game.states[i] for i in kept.tolist()),
        row_start=np.concatenate(([0], np.cumsum(row_count))),
        outcome_start=np.concatenate(([0], np.cumsum(outcome_count))),
        next_state=new_index[game.next_state[outcomes]],
        probability=game.probability[outcomes],
        outcome_reward=game.outcome_reward[outcomes],
        mask=(game.mask[0][kept], game.mask[1][kept]),
        initial=game.initial[kept],
        observation=tuple(o[kept] for o in game.observation),
        turn=None if game.turn is None else game.turn[kept],
    )


def one_hot(game: TabularGame) -> TabularGame:
    """Replace every entry of the observations by indicators of its values.

    Each value that an entry takes in some state becomes one input that is 0 or 1. Entries that
    never change are dropped. Networks learn tables with steps and bands far faster from this than
    from scaled numbers.

    If the observations of both players have the same length, they share the values, so that an
    input means the same to both and one network can play for both.

    Returns:
        The same game (same model hash) with observations [S, D'] float32.
    """
    same = len({observation.shape[1] for observation in game.observation}) == 1
    encoded = []
    for observation in game.observation:
        seen = np.concatenate(game.observation) if same else observation
        columns = [
            column[:, None] == np.unique(values)[None, :]
            for column, values in zip(observation.T, seen.T, strict=True)
            if values.min() < values.max()
        ]
        if columns:
            encoded.append(np.concatenate(columns, axis=1).astype(np.float32))
        else:
            encoded.append(np.ones((game.n_states, 1), np.float32))
    return replace(game, observation=tuple(encoded))


def repeatable_state(table: TabularGame) -> int | None:
    """Return a state that can come again in one episode; None if there are no cycles."""
    source, target = table.row_state[table.outcome_row], table.next_state
    # Remove states whose successors are all removed; from the rest a cycle can be reached.
    kept, before = ~table.terminal, -1
    while (count := int(kept.sum())) != before:
        inside = kept[source] & kept[target]
        kept, before = np.bincount(source[inside], minlength=table.n_states) > 0, count
    if not count:
        return None
    # Each of them leads to another, so whoever follows these comes to a state again.
    following = dict(zip(source[inside].tolist(), target[inside].tolist(), strict=True))
    state, met = int(np.argmax(kept)), set[int]()
    while state not in met:
        met.add(state)
        state = following[state]
    return state


def extreme_returns(table: TabularGame) -> tuple[float, float, int]:
    """Return the least and largest return, and the most moves, of episodes without cycles."""
    low, high = np.zeros(table.n_states), np.zeros(table.n_states)
    moves = np.zeros(table.n_states, np.int64)
    source = table.row_state[table.outcome_row]
    terms = table.outcome_reward
    while True:
        lower, upper, more = np.zeros_like(low), np.zeros_like(high), np.zeros_like(moves)
        lower[~table.terminal], upper[~table.terminal] = np.inf, -np.inf
        np.minimum.at(lower, source, terms + low[table.next_state])
        np.maximum.at(upper, source, terms + high[table.next_state])
        np.maximum.at(more, source, 1 + moves[table.next_state])
        if (lower == low).all() and (upper == high).all() and (more == moves).all():
            break
        low, high, moves = lower, upper, more
    starts = table.initial > 0
    return float(low[starts].min()), float(high[starts].max()), int(moves[starts].max())
