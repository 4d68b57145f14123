"""The gate: checks that a score describes the policy that is actually played.

A policy is scored as a table of action probabilities. Three checks refuse a policy that plays
differently:

1. **Wrappers.** Only wrappers that are known to leave observations and actions as they are may
   stand between the policy and its game (:data:`HARMLESS`). A subclass of one is not known.
2. **Repetition.** The policy is asked again in every state, in another order and in batches of
   other sizes (:class:`solvent.baselines.functions.QueriedFunction`).
3. **Replay.** A few hundred episodes are played in copies of the environment. Each observation is
   compared with the table's, each transition of a toy-text environment with the dictionary that it
   publishes, and the policy is asked once more in the states that were met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy, deepcopy
from itertools import cycle
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Ints
from solvent.model.gymnasium_table import Cell
from solvent.model.parameters import shown

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

STEPPING = {"reset", "step", "step_async", "step_wait"}
"""Methods that must not have been replaced in an object."""

WRITING = ("HumanRendering", "Monitor", "RecordVideo", "RenderCollection")
"""Harmless wrappers that write or draw, and are left out of copies."""

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
        replaced = STEPPING & vars(layer).keys()
        if replaced or not (layer is followed or _known(layer)):
            raise ValueError(
                f"{type(layer).__name__} is not known to leave observations and actions as they "
                f"are; pass the game's own environment or table, and the policy as a function of "
                f"what that shows (with takes_mask=True also of the mask), such as "
                f"lambda seen: model.predict(changed(seen), deterministic=True)[0]"
            )


def _known(layer: Any) -> bool:
    package, name = type(layer).__module__.partition(".")[0], type(layer).__qualname__
    if name in HARMLESS.get(package, "").split():
        return True
    if _inside(layer):
        return (package, name) == ("stable_baselines3", "VecNormalize") and not layer.norm_obs
    # The innermost one is our own, has a dictionary of transitions (replay), or is refused later.
    return package == "solvent" or not hasattr(getattr(layer, "unwrapped", layer), "game")


def replay(env: Any, game: TabularGame, policy: TabularPolicy, rows: NDArray[Any]) -> Ints:
    """Play episodes in copies of an environment, and refuse one that differs from the table.

    A quarter of the actions are drawn from all legal ones, so that more states are met. The
    environment itself is not changed. A native vector environment has no single ones inside, and
    nothing is replayed: the tests of this package compare it with single ones.

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
    copies = [_copied(single) for single in _singles(env)]
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
            seen, _, ended, truncated, info = twin.step(action)
            if toy:
                number = _reached(native, seen, [(to, p) for p, to, *_ in native.P[number][action]])
            over, steps = ended or truncated, steps + 1
    return np.array(met, np.int64)


def _reached(native: Any, seen: Any, branches: Iterable[tuple[int, float]]) -> int:
    """Return the number of a toy-text environment's state, which must have been possible."""
    number, possible = int(getattr(native, "s", seen)), {to for to, p in branches if p > 0}
    if number not in possible:
        raise ValueError(
            f"{type(native).__name__} is in state {number}, where by its own table it has to be in "
            f"one of {sorted(possible)}; pass the table that is meant, solvent.model.GymnasiumTable"
        )
    return number


def _check_shown(does: str, env: Any, state: Any, found: Any, expected: NDArray[Any]) -> None:
    if not np.array_equal(found, expected):
        raise ValueError(
            f"{type(env).__name__} {does} {shown(np.asarray(found).tolist())} in state "
            f"{shown(state)}, where the policy is scored for {shown(expected.tolist())}; pass the "
            f"game's own environment or table"
        )


def _singles(env: Any) -> list[Any]:
    """Return the environments that are not vector environments, with their wrappers."""
    if isinstance(env, gym.Env):
        return [env]
    return [single for part in _inside(env) for single in _singles(part)]


def _copied(env: Any) -> Any:
    """Return an independent copy of an environment, without wrappers that write or draw."""
    if isinstance(env, gym.Wrapper):
        inner = _copied(env.env)
        return inner if type(env).__name__ in WRITING else deepcopy(env, {id(env.env): inner})
    # A table of transitions may be large, and is never changed.
    table = vars(env).get("P")
    try:
        twin = deepcopy(env, {id(table): table})
    except TypeError:
        # A window cannot be copied, and the copy does not draw.
        twin = copy(env)
    twin.render_mode = None
    return twin
