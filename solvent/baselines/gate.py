"""The gate: checks that a score describes the policy that is actually played.

A policy is scored as a table of action probabilities. Three checks refuse a policy that plays
differently:

1. **Wrappers.** Only wrappers that are known to leave observations and actions as they are may
   stand between the policy and its game (:data:`HARMLESS`). A subclass of one is not known.
2. **Repetition.** The policy is asked again in every state, in another order and in batches of
   other sizes (:class:`QueriedFunction`).
3. **Replay.** A few hundred episodes are played in copies of the environment. Each observation is
   compared with the table's, each transition of a toy-text environment with the dictionary that it
   publishes, and the policy is asked once more in the states that were met.

**Functions.** Whatever library a policy was learned with, it is a function. It maps a batch of
observations to a row of probabilities, logits or action values for each, or to an action. A finite
game has finitely many observations, so the values of the function form a table, and every number
about it is exact.

**Policies without a table.** A policy that depends on earlier observations (a recurrent network,
stacked frames) or on something hidden has no table. A function that draws its actions does not show
its policy, which consists of the probabilities. A network in training mode may depend on the batch.
The function is therefore called again in every state, in another order and in batches of other
sizes, some of a single state, and is refused if it does not repeat itself.

**Illegal actions.** A function may choose an action that is illegal in a state. Its
treatment is part of the policy, and there are two customs: the environment plays the lowest legal
action instead (``"remap"``, by :func:`solvent.model.project`), or the algorithm is given the legal
actions and chooses among them (``"mask"``).
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import cycle
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from solvent.model import TabularGame, TabularPolicy, project
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.gymnasium_table import Cell
from solvent.model.parameters import check_choice, check_integer, shown

# The allowed kinds of output of a function.
_OUTPUTS = ("probabilities", "logits", "action_values", "actions")

ILLEGAL = ("remap", "mask", "raise")
"""The allowed treatments of illegal actions."""

TOLERANCE = 1e-3
"""Largest distance of a row's sum from 1; float32 and half precision come near it."""

ROUNDING = 1e-4
"""Largest difference of an output from batch to batch, since sums are not always added up in the
same order: of probabilities, or of action values in units of the largest."""

HALF = 100
"""Factor on :data:`ROUNDING` in half precision."""

# Number of states in which the action alone may change because of rounding.
_NEAR_TIES = 10

# Number of states that are also evaluated one by one.
_SINGLES = 64

Array = NDArray[Any]
Function = Callable[..., Any]


def tabulated(
    game: TabularGame,
    function: Function,
    observations: Array,
    *,
    deterministic: bool = False,
    env: Any = None,
    rows: Array | None = None,
    **arguments: Any,
) -> tuple[TabularPolicy, Floats]:
    """Tabulate a function by calling it in every state in which a player acts.

    Args:
        game: The game.
        function: A function of n observations; a ``torch.nn.Module`` is given tensors.
        observations: [S, ...] the observation of the player in each state.
        deterministic: Whether the most probable action of each row is always played, the lowest
            on ties. With action values, the action of the largest value is always played.
        env: The environment in which episodes are replayed; None if there is none.
        rows: [S, ...] the observation of `env` in each state; `observations` if left out.
        arguments: Further arguments of :class:`QueriedFunction`.

    Returns:
        The policy, and the probability that was moved from illegal actions in each state, [S].

    Raises:
        ValueError: If an argument is not allowed; if the function returns another form of output,
            does not repeat itself, or chooses an illegal action although that is not allowed; or
            as for :func:`replay`.
    """
    with _evaluated(function) as called:
        asked = QueriedFunction(game, called, observations, **arguments)
        policy, moved = asked.policy(greedy=deterministic)
        asked.pass_gate(policy, env, observations if rows is None else rows)
    return policy, moved


class QueriedFunction:
    """A function that has been called in every state in which a player acts.

    Args:
        game: The game.
        function: A function of n observations, and of the legal actions with `takes_mask`.
        observations: [S, ...] the observation of the player in each state.
        outputs: Kind of output: ``"probabilities"``, ``"logits"`` or
            ``"action_values"``, [n, A], or ``"actions"``, [n]. If left out, [n] whole numbers are
            actions, and rows are probabilities, which is checked.
        illegal: Treatment of illegal actions: ``"remap"`` or ``"mask"`` as in the module, or
            ``"raise"``, which raises a ValueError.
        takes_mask: Whether the function is also given the legal actions, [n, A] bool.
        predict: A function that chooses an action for each of n observations and masks. The action
            has to be the best by the output of `function`. None if there is no such function.
        player: The player whose policy it is, 0 or 1.
        batch_size: Number of states evaluated at once.
        name: Name of the policy.

    Attributes:
        given: [S, A] probabilities, or action values, which are minus infinity where illegal
            actions are masked; 1 for the only action where it is the other's turn.

    Raises:
        ValueError: If an argument is not allowed, or the function returns another form of output.
    """

    def __init__(
        self,
        game: TabularGame,
        function: Function,
        observations: Array,
        *,
        outputs: str | None = None,
        illegal: str = "remap",
        takes_mask: bool = False,
        predict: Function | None = None,
        player: int = 0,
        batch_size: int = 8192,
        name: str = "policy",
    ) -> None:
        if outputs is not None:
            check_choice(outputs, "outputs", _OUTPUTS)
        check_choice(illegal, "illegal", ILLEGAL)
        check_integer(player, "player", 0, 1)
        check_integer(batch_size, "batch_size", 1, 2**31 - 1)
        self.game, self.player, self.mask, self.name = game, player, game.mask[player], name
        self.function, self.predict, self.takes_mask = function, predict, takes_mask
        self.observations, self.outputs, self.illegal = observations, outputs, illegal
        self.acting = np.flatnonzero(game.on_turn(player))
        self.size = max(1, min(batch_size, len(self.acting)))
        self.half, self.near_ties = False, 0
        self.given: Floats = self.mask.astype(np.float64)
        for states in _batches(self.acting, self.size):
            self.given[states] = self._ask(states, observations[states])
        self.rounding = ROUNDING * (HALF if self.half else 1)
        if outputs == "action_values":
            sizes = np.abs(self.given[self.mask & np.isfinite(self.given)])
            self.rounding *= sizes.max(initial=0.0)

    def policy(
        self, *, greedy: bool = False, name: str | None = None
    ) -> tuple[TabularPolicy, Floats]:
        """Return the policy, and the probability that was moved from illegal actions, [S].

        Args:
            greedy: Whether the most probable action of each row is always played.
            name: Name of the policy. Default: that of the function.

        Raises:
            ValueError: If an illegal action has a probability and `illegal` is ``"raise"``.
        """
        weights = self.given.copy()
        if greedy or self.outputs == "action_values":
            best = self.given[self.acting].argmax(axis=1)
            weights[self.acting] = np.eye(self.mask.shape[1])[best]
        off = np.where(self.mask, 0.0, weights)
        if self.illegal == "raise":
            self._refuse(
                self.acting,
                (off[self.acting] > 0).any(axis=1),
                "gives probability to an illegal action",
                "illegal='remap' plays the lowest legal one instead, as the environments do, and "
                "illegal='mask' chooses among legal ones only",
                off[self.acting],
            )
        played, name = project(weights, self.mask), name or self.name
        policy = TabularPolicy.of(self.game, played, player=self.player, name=name)
        return policy, off.sum(axis=1)

    def pass_gate(self, policy: TabularPolicy, env: Any, rows: Array) -> None:
        """Call the function again in every state, and in the states met in replayed episodes.

        Args:
            policy: The policy of the function.
            env: The environment in which episodes are replayed, or None.
            rows: [S, ...] the observation of `env` in each state.

        Raises:
            ValueError: If the function returns another output than before, or as for
                :func:`replay`.
        """
        mixed = np.random.default_rng(0).permutation(self.acting)
        met = replay(env, self.game, policy, rows)
        for asked, size in ((mixed, self.size // 3 | 1), (mixed[:_SINGLES], 1), (met, _SINGLES)):
            for states in _batches(asked, size):
                self._check(states)

    def _check(self, states: Ints) -> None:
        """Raise if the function returns another output in some states than before."""
        seen, before = self.observations[states], self.given[states]
        again = self._ask(states, seen)
        same = np.isclose(again, before, rtol=0, atol=self.rounding).all(axis=1)
        for row in np.flatnonzero(~same).tolist():
            if not self._is_near_tie(states[row : row + 1]):
                raise ValueError(
                    f"{self.name} gave {shown(before[row].tolist())} and then "
                    f"{shown(again[row].tolist())} for the same observation, of state "
                    f"{shown(self.game.states[states[row]])}: it depends on the batch, on earlier "
                    f"calls, or on chance. Pass probabilities or logits, not actions that are "
                    f"drawn; put a network into evaluation mode (.eval()), which switches off "
                    f"dropout and the statistics of a batch; a policy that depends on the history "
                    f"has no table"
                )
        if self.predict is not None:
            chosen = self.predict(seen, self.mask[states])
            self._refuse(
                states,
                before.max(axis=1) - before[np.arange(len(states)), chosen] > self.rounding,
                "predicts another action than the best of its network",
                "pass its predictions as a function: "
                "lambda seen: model.predict(seen, deterministic=True)[0]",
                chosen,
            )

    def _is_near_tie(self, state: Ints) -> bool:
        """Return whether rounding of the observation changes the action in one state [1].

        If two actions are equally good but for rounding, a batch of another size may yield the
        other one.
        """
        seen = self.observations[state]
        if self.outputs != "actions" or seen.dtype.kind != "f":
            return False
        self.near_ties += 1
        near = {int(self._ask(state, seen * factor).argmax()) for factor in (0.999, 1.0, 1.001)}
        return self.near_ties <= _NEAR_TIES and len(near) > 1

    def _ask(self, states: Ints, seen: Array) -> Floats:
        """Return the outputs for observations, [n, A], in the form of :attr:`given`."""
        given, legal = self._called(states, seen), self.mask[states]
        if self.outputs is None:
            actions = given.ndim == 1 and given.dtype.kind in "iu"
            self.outputs = "actions" if actions else "probabilities"
        self.half |= given.dtype.itemsize == 2
        if self.outputs == "actions":
            return self._actions(states, given, legal)
        if given.shape != legal.shape:
            raise ValueError(
                f"{self.name} gave an array of shape {given.shape} for {len(seen)} observations; "
                f"expected are {self.outputs} of shape {legal.shape}, a column for each action of "
                f"{self.game.info.name}, or {len(seen)} whole numbers, which are actions"
            )
        values = given.astype(np.float64)
        if self.outputs == "probabilities":
            return self._probabilities(states, values, legal)
        if self.illegal == "mask":
            values = np.where(legal, values, -np.inf)
        self._refuse(
            states,
            np.isnan(values).any(axis=1) | ~np.isfinite(values.max(axis=1)),
            f"gives {self.outputs} without a finite largest one",
            "allowed are numbers, and minus infinity for what is never chosen",
            given,
        )
        return np.asarray(softmax(values, axis=1)) if self.outputs == "logits" else values

    def _called(self, states: Ints, seen: Array) -> Array:
        """Return the outputs for observations as an array of NumPy."""
        try:
            given = self.function(seen, *([self.mask[states]] if self.takes_mask else []))
        except Exception as error:
            error.add_note(
                f"(It was given {len(seen)} observations of shape {seen.shape[1:]} and type "
                f"{seen.dtype}; observation='vector', 'onehot' or 'index' selects another kind.)"
            )
            raise
        if isinstance(given, (tuple, dict)):
            raise ValueError(
                f"{self.name} gave a {type(given).__name__}; expected is one array, [n, A] or [n]: "
                f"return only that one"
            )
        if hasattr(given, "detach"):
            given = given.detach().cpu()
        array = np.asarray(given)
        if array.dtype.kind not in "iuf":
            raise ValueError(
                f"{self.name} gave {shown(given)} of type {array.dtype}; expected are numbers"
            )
        # For a single observation some functions drop the first axis. In a game with one action,
        # whole numbers of shape (1,) have not dropped it.
        action = self.outputs in (None, "actions") and array.dtype.kind in "iu"
        dropped = array.shape in ((), self.mask.shape[1:]) and not (action and array.shape == (1,))
        return array[None] if len(seen) == 1 and dropped else array

    def _actions(self, states: Ints, given: Array, legal: Bools) -> Floats:
        """Return whole numbers as one-hot rows."""
        n, width = legal.shape
        if given.shape != (n,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"{self.name} gave an array of shape {given.shape} and type {given.dtype} for {n} "
                f"observations; actions are whole numbers of shape ({n},)"
            )
        wrong = (given < 0) | (given >= width)
        self._refuse(states, wrong, "takes an action", f"there are {width}", given)
        if self.illegal == "mask":
            self._refuse(
                states,
                ~legal[np.arange(n), given],
                "takes an illegal action",
                "an action cannot be masked afterwards: return probabilities, logits or action "
                "values, or let the function take the mask (takes_mask=True)",
                given,
            )
        return np.asarray(np.eye(width)[given])

    def _probabilities(self, states: Ints, values: Floats, legal: Bools) -> Floats:
        """Return probabilities divided by their sum, over legal actions if these are masked."""
        hint = "pass outputs='logits' or outputs='action_values' if they are not probabilities"
        self._refuse(
            states,
            ~(values >= 0).all(axis=1),
            "gives probabilities that are negative or not numbers",
            hint,
            values,
        )
        total = values.sum(axis=1)
        far = ~(np.abs(total - 1) <= TOLERANCE)
        self._refuse(
            states,
            far,
            f"gives probabilities that sum to {total[far.argmax()]:.6g}, not to 1 within "
            f"{TOLERANCE:g}",
            f"divide each row by its sum, or {hint}",
            values,
        )
        if self.illegal == "mask":
            values = np.where(legal, values, 0.0)
            self._refuse(
                states,
                ~(values.sum(axis=1) > 0),
                "gives no probability to a legal action",
                "illegal='remap' plays the lowest legal action there, as the environments do",
            )
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def _refuse(
        self, states: Ints, wrong: Any, problem: str, fix: str, given: Array | None = None
    ) -> None:
        """Raise for the first state in which the function is wrong, if there is one."""
        if wrong.any():
            row = int(wrong.argmax())
            state = shown(self.game.states[states[row]])
            what = "" if given is None else f": {shown(given[row].tolist())}"
            raise ValueError(f"{self.name} {problem} in state {state}{what}; {fix}")


def _batches(states: Ints, size: int) -> Iterator[Ints]:
    for first in range(0, len(states), size):
        yield states[first : first + size]


@contextmanager
def _evaluated(function: Function) -> Iterator[Function]:
    """Yield a function ready to be called: a module of PyTorch takes tensors in evaluation mode."""
    # The caller of a module has imported torch already; others need not wait for its import.
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(function, torch.nn.Module):
        yield function
        return
    module: Any = function
    device = next((p.device for p in module.parameters()), None)

    def asked(*arrays: Array) -> Any:
        with torch.no_grad():
            return module(*(torch.as_tensor(array, device=device) for array in arrays))

    # Its parts may have been in different modes.
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield asked
    finally:
        for part in training:
            part.training = True


HARMLESS = {
    "gymnasium": (
        "Autoreset ClipReward DictInfoToList HumanRendering NormalizeReward OrderEnforcing "
        "PassiveEnvChecker RecordEpisodeStatistics RecordVideo RenderCollection SyncVectorEnv "
        "TimeLimit TransformReward"
    ),
    "rl_zoo3": "PatchedTimeLimit",
    "sb3_contrib": "ActionMasker",
    "solvent": "NativeVecEnv SelfPlayEnv",
    "stable_baselines3": "DummyVecEnv Monitor VecCheckNan VecMonitor VecVideoRecorder",
}
"""Classes that are known to leave observations and actions as they are, by package."""

# Methods that must not have been replaced in an object.
_STEPPING = {"reset", "step", "step_async", "step_wait"}

# Harmless wrappers that change rewards, write or draw, and are left out of copies.
_LEFT_OUT = (
    "ClipReward", "HumanRendering", "Monitor", "NormalizeReward", "RecordVideo",
    "RenderCollection", "TransformReward",
)  # fmt: skip

EPISODES, STEPS = 300, 5000
"""Largest number of replayed episodes, and of steps in all of them."""


def layers(env: Any) -> Iterator[Any]:
    """Yield an environment and everything inside it, outermost first; nothing for None."""
    if env is not None:
        yield env
        for part in _inside(env):
            yield from layers(part)


def _inside(env: Any) -> list[Any]:
    """Return the environments directly inside another one."""
    held = getattr(env, "__dict__", {})
    inner = held.get("venv", held.get("env"))
    return [*held["envs"]] if "envs" in held else [] if inner is None else [inner]


def check_wrappers(env: Any, followed: Any = None) -> None:
    """Refuse an environment with a layer that is not known to be harmless.

    Args:
        env: The environment, or None.
        followed: A wrapper whose changes are applied to the table's observations as well.

    Raises:
        ValueError: If there is such a layer.
    """
    for layer in layers(env):
        replaced = _STEPPING & vars(layer).keys()
        if replaced or not (layer is followed or _known(layer)):
            raise ValueError(
                f"{type(layer).__name__} is not known to leave observations and actions as they "
                f"are; pass the game's own environment or table, and the policy as a function of "
                f"its observations (with takes_mask=True also of the mask), such as "
                f"lambda seen: model.predict(changed(seen), deterministic=True)[0]"
            )


def _known(layer: Any) -> bool:
    package, name = type(layer).__module__.partition(".")[0], type(layer).__qualname__
    if name in HARMLESS.get(package, "").split():
        return True
    if _inside(layer):
        return (package, name) == ("stable_baselines3", "VecNormalize") and not layer.norm_obs
    # The innermost layer is ours, has a dictionary of transitions (replay), or is refused later.
    # Any environments may be inside an object that is not one itself, such as a SubprocVecEnv.
    return package == "solvent" or (
        isinstance(layer, gym.Env) and not hasattr(layer.unwrapped, "game")
    )


def replay(env: Any, game: TabularGame, policy: TabularPolicy, rows: NDArray[Any]) -> Ints:
    """Play episodes in copies of an environment, and raise if it differs from the table.

    A quarter of the actions are drawn from all legal ones, so that more states are met. The
    environment itself is not changed. Native vector environments contain no single environments and
    are not replayed; the tests of this package compare them with single ones.

    Args:
        env: The environment: of Gymnasium, single or vector, or of Stable-Baselines3; or None.
        game: The game that it samples.
        policy: The policy for `game`.
        rows: [S, ...] the expected observation of the environment in each state.

    Returns:
        The states in which the policy had to choose, in the order in which they were met.

    Raises:
        ValueError: If the environment shows something else, or does not follow its own table.
    """
    player, random = policy.player, np.random.default_rng(0)
    acts, met, steps = game.on_turn(player), [], 0
    copies = [_copied(single) for single in singles(env)]
    for episode, twin in zip(range(EPISODES), cycle(copies), strict=False):
        native = twin.unwrapped
        toy, masks = not hasattr(native, "game"), twin.has_wrapper_attr("action_masks")
        seen, info = twin.reset(seed=episode)
        if toy:
            first: list[Any] = [game.states[s] for s in np.flatnonzero(game.initial).tolist()]
            number = _reached(native, seen, [(state.number, 1.0) for state in first])
        over = False
        while not over and steps < STEPS:
            state = game.index[Cell(number, False) if toy else native.state]
            seat = info.get("seat", player)
            legal = game.mask[seat][state]
            told = twin.get_wrapper_attr("action_masks")() if masks else legal
            chances = legal / max(1, legal.sum())
            if seat == player and acts[state]:
                _check_shown("shows", env, game.states[state], seen, rows[state])
                _check_shown("allows the actions", env, game.states[state], told, legal)
                met.append(state)
                chances += 3 * policy.probabilities[state]
            # Where an episode ended before the learner's first turn no action is legal.
            chances += not chances.any()
            action = int(random.choice(len(chances), p=chances / chances.sum()))
            seen, reward, ended, truncated, info = twin.step(action)
            if toy:
                branches = native.P[number][action]
                number = _reached(native, seen, [(to, p) for p, to, *_ in branches])
                if (number, reward, ended) not in [(to, *told) for _, to, *told in branches]:
                    raise ValueError(
                        f"{type(native).__name__} gives the reward {shown(reward)} and "
                        f"{'ends' if ended else 'goes on'} in state {number}, which its own table "
                        f"does not say; pass the table that is meant, solvent.model.GymnasiumTable"
                    )
            over, steps = ended or truncated, steps + 1
    return np.array(met, np.int64)


def _reached(native: Any, seen: Any, branches: Iterable[tuple[int, float]]) -> int:
    """Return the number of a toy-text environment's state, which must have been possible."""
    number, possible = int(getattr(native, "s", seen)), {to for to, p in branches if p > 0}
    if number not in possible:
        raise ValueError(
            f"{type(native).__name__} is in state {number}; by its own table it has to be in one "
            f"of {sorted(possible)}; pass the intended table, solvent.model.GymnasiumTable"
        )
    return number


def _check_shown(does: str, env: Any, state: Any, found: Any, expected: NDArray[Any]) -> None:
    if not np.array_equal(found, expected):
        raise ValueError(
            f"{type(env).__name__} {does} {shown(np.asarray(found).tolist())} in state "
            f"{shown(state)}, where the policy is scored for {shown(expected.tolist())}; pass the "
            f"game's own environment or table"
        )


def singles(env: Any) -> list[Any]:
    """Return the environments that are not vector environments, with their wrappers.

    Args:
        env: Any environment, single or vector.
    """
    if isinstance(env, gym.Env):
        return [env]
    return [single for part in _inside(env) for single in singles(part)]


def _copied(env: Any) -> Any:
    """Return an independent copy of an environment, without wrappers that only draw or write."""
    if isinstance(env, gym.Wrapper):
        inner = _copied(env.env)
        return inner if type(env).__name__ in _LEFT_OUT else deepcopy(env, {id(env.env): inner})
    # A table of transitions may be large, and is never changed.
    table = vars(env).get("P")
    try:
        twin = deepcopy(env, {id(table): table})
    except TypeError:
        # A window cannot be copied, and the copy does not draw.
        twin = copy(env)
    twin.render_mode = None
    return twin
