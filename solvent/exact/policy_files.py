"""Policies and solutions on disk, as archives (:mod:`solvent.exact.archive`).

Everything is verified when it is read. A policy must be a distribution in every state. If the game
is given, a solution must satisfy the equations of optimality, and its bracket is proved again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.archive import (
    ArraySchema,
    Schema,
    Shapes,
    read_archive,
    read_header,
    write_archive,
)
from solvent.exact.certificate import bracket
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.exact.store import StoreError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, grouped_sum
from solvent.model.parameters import shown
from solvent.model.tabular import check_policy

POLICY = Schema(
    "policy",
    {"model_hash": str, "player": int, "name": str, "metadata": dict},
    {"probabilities": ArraySchema("float64", 2)},
)

SOLUTION = Schema(
    "solution",
    {"model_hash": str, "value": float, "lower": float, "upper": float, "method": str},
    {
        "values": ArraySchema("float64", 1),
        "action_values": ArraySchema("float64", 1),
        "policy_0": ArraySchema("float64", 2),
        "policy_1": ArraySchema("float64", 2),
    },
)

SUM = 1e-9
"""Largest allowed difference between 1 and the sum of a distribution."""

BRACKET = 1e-9
"""Largest error allowed in a stated bracket, in units of the largest value or reward."""

OPTIMALITY = 1e-6
"""Largest residual allowed in the equations of optimality, in units of the largest value or
reward."""


def save_policy(
    path: str | Path, policy: TabularPolicy, metadata: dict[str, Any] | None = None
) -> None:
    """Save a policy.

    Args:
        path: The file to write; by custom ending in ``.npz``.
        policy: The policy to save.
        metadata: JSON-able facts to keep with it, such as how it was trained.

    Raises:
        ValueError: If `policy` is not a :class:`~solvent.model.TabularPolicy`.
        StoreError: If the file cannot be written.
    """
    check_policy(policy)
    header = {
        "kind": POLICY.kind,
        "model_hash": policy.model_hash,
        "player": policy.player,
        "name": policy.name,
        "metadata": metadata or {},
    }
    write_archive(path, header, {"probabilities": np.asarray(policy.probabilities, float)})


def load_policy(path: str | Path, game: TabularGame | None = None) -> TabularPolicy:
    """Load a policy.

    Without a game, the only check is that each row is a distribution or all zeros. The rows may
    then belong to other states, and illegal actions may have positive probabilities.

    Args:
        path: A file written by :func:`save_policy`.
        game: Game that the policy must be for; None accepts any.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game, or what
            it holds is no policy.
    """

    def expected(header: dict[str, Any]) -> Shapes:
        if header["player"] not in (0, 1):
            raise ValueError(f"player is {shown(header['player'])}; allowed are 0 and 1")
        if game is None:
            return {}
        _policy(header, np.empty((0, 0))).check_is_for(game)
        return {"probabilities": game.mask[header["player"]].shape}

    header, arrays = read_archive(path, POLICY, expected)
    return _checked_policy(path, game, _policy(header, arrays["probabilities"]))


def read_request(file: str | Path) -> dict[str, Any]:
    """Read the training request that ``train`` saved with a policy or a network.

    Returns:
        The request; ``"environment"`` and ``"env_kwargs"`` are empty if the file lacks them.

    Raises:
        StoreError: If the file is missing or damaged.
    """
    return checked_request(read_header(file).get("metadata", {}).get("request", {}), file)


def checked_request(request: Any, file: str | Path) -> dict[str, Any]:
    """Check the training request in a file.

    Args:
        request: The request as read; anything but a mapping counts as empty.
        file: The file that it was read from.

    Returns:
        The request, with an empty ``"environment"`` and ``"env_kwargs"`` if it lacks them.

    Raises:
        StoreError: If ``"environment"`` is not a string or ``"env_kwargs"`` not a mapping.
    """
    held = {"environment": "", "env_kwargs": {}, **(request if isinstance(request, dict) else {})}
    if not isinstance(held["environment"], str) or not isinstance(held["env_kwargs"], dict):
        raise StoreError(
            f"{file}: the training request in it is damaged, or was not written by solvent"
        )
    return held


def save_solution(path: str | Path, solution: Solution) -> None:
    """Save a solution.

    Raises:
        StoreError: If the file cannot be written.
    """
    figures, arrays = solution.packed()
    write_archive(path, {"kind": SOLUTION.kind, **figures}, arrays)


def load_solution(path: str | Path, game: TabularGame | None = None) -> Solution:
    """Load a solution.

    With a game the solution is proved again: the values have to solve the equations of optimality
    in every state, and the value at the start, its bracket and the values of actions are found anew
    from the values and the policies (:mod:`solvent.exact.certificate`). Without a game nothing is
    proved. The only checks are that
    all numbers are finite, the value lies in the bracket, the policies are distributions and the
    lengths agree.

    Args:
        path: A file written by :func:`save_solution`.
        game: The game that the solution must solve; None to skip the proof.

    Returns:
        The solution; with a game, its bracket is the recomputed one.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game, or what
            it holds is no solution.
    """

    def expected(header: dict[str, Any]) -> Shapes:
        if not header["lower"] <= header["value"] <= header["upper"]:
            raise ValueError(
                f"the value {header['value']!r} is not within its bracket "
                f"[{header['lower']!r}, {header['upper']!r}]"
            )
        if game is None:
            return {}
        if header["model_hash"] != game.model_hash:
            raise ValueError(
                f"solves the model {header['model_hash'][:12]}, but this {game.info.name} is "
                f"the model {game.model_hash[:12]}"
            )
        return {
            "values": (game.n_states,),
            "action_values": (game.n_rows,),
            "policy_0": game.mask[0].shape,
            "policy_1": game.mask[1].shape,
        }

    header, arrays = read_archive(path, SOLUTION, expected)
    for name in ("values", "action_values"):
        if not np.isfinite(arrays[name]).all():
            raise StoreError(f"{path}: {name} has an entry that is not a finite number")
    states = {len(arrays[name]) for name in ("values", "policy_0", "policy_1")}
    if len(states) > 1:
        raise StoreError(
            f"{path}: has values of {len(arrays['values'])} states, and policies for "
            f"{len(arrays['policy_0'])} and {len(arrays['policy_1'])}"
        )
    solution = Solution.unpacked(header, arrays)
    first, second = (_checked_policy(path, game, policy) for policy in solution.policies)
    solution = replace(solution, policies=(first, second))
    if game is None:
        return solution
    try:
        return _proved(game, solution)
    except (ValueError, CertificateError, ImproperGameError) as error:
        raise StoreError(f"{path}: not a solution of {game.info.name}: {error}") from error


def _policy(header: dict[str, Any], probabilities: Floats) -> TabularPolicy:
    return TabularPolicy(probabilities, header["model_hash"], header["player"], header["name"])


def _checked_policy(
    path: str | Path, game: TabularGame | None, policy: TabularPolicy
) -> TabularPolicy:
    """Return the policy after checking it, against the game if one is given."""
    if game is None:
        rows = policy.probabilities
        with np.errstate(all="ignore"):
            total = rows.sum(axis=1)
        wrong = ~((rows >= 0).all(axis=1) & ((total == 0) | (np.abs(total - 1) <= SUM)))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise StoreError(
                f"{path}: row {row} of the policy is no distribution: {shown(rows[row].tolist())}"
            )
        return policy
    try:
        return TabularPolicy.of(game, policy.probabilities, player=policy.player, name=policy.name)
    except ValueError as error:
        raise StoreError(f"{path}: {error}") from error


def _proved(game: TabularGame, solution: Solution) -> Solution:
    """Return the solution with all numbers that follow from its values and policies found anew.

    Raises:
        ValueError: If the values do not solve the equations of optimality, or the stated bracket
            differs from the proved one.
        CertificateError: If no bracket can be proved.
        ImproperGameError: If it is best for a player never to end the episode.
    """
    values = solution.values
    scale = max(1.0, *(float(np.abs(a).max(initial=0)) for a in (values, game.outcome_reward)))
    solution = replace(solution, action_values=game.expectation(values))
    for player in (0, 1):
        off = np.abs(_best_of(game, solution, player) - values)
        if off.max(initial=0.0) > OPTIMALITY * scale:
            state = game.states[int(off.argmax())]
            raise ValueError(f"the value of state {shown(state)} is off by {off.max():.1e}")
    lower, upper = bracket(game, values, solution.policies)
    if not max(abs(lower - solution.lower), abs(upper - solution.upper)) <= BRACKET * scale:
        raise ValueError(
            f"states the bracket [{solution.lower!r}, {solution.upper!r}], but what can be proved "
            f"is [{lower!r}, {upper!r}]"
        )
    value = min(max(game.at_start(values), lower), upper)
    return replace(solution, value=value, lower=lower, upper=upper)


def _best_of(game: TabularGame, solution: Solution, player: int) -> Floats:
    """Return the values of a player's best actions against the other's policy, [S]."""
    mask, other = game.mask[player], solution.policies[1 - player].probabilities
    weight = other[game.row_state, game.row_action[1 - player]]
    place = game.row_state * mask.shape[1] + game.row_action[player]
    of_action = grouped_sum(place, weight * solution.action_values, mask.size).reshape(mask.shape)
    if player == 0:
        best = np.where(mask, of_action, -np.inf).max(axis=1)
    else:
        best = np.where(mask, of_action, np.inf).min(axis=1)
    found: Floats = np.where(game.terminal, 0.0, best)
    return found
