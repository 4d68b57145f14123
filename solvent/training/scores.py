"""Scores of what was learned, and such scores as JSON.

They never cost a training: where no value is proved they are NaN. A network can come to play so
nearly the same that the best response waits for its blunders, a million moves if need be. The
longer it waits, the wider is the bracket of what it gets (:mod:`solvent.exact.certificate`). Or an
episode that costs nothing need not end, and has no value.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact import (
    CertificateError,
    ImproperGameError,
    Score,
    Solution,
    StoreError,
    score,
)
from solvent.exact.response import response_values
from solvent.exact.scoring import LEARNED
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import is_number, shown

FIGURES = (
    "value", "optimum", "optimality_gap", "exploitability", "normalized", "worst_start_gap",
)  # fmt: skip
"""Of a score, those that its policy decides."""

ROUNDING = 1e-9
"""How far a stated figure may be from the computed one, in units of the latter if it is larger
than 1."""


def learned_score(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    *,
    illegal: Floats | None = None,
) -> Score:
    """The score of a learned policy; if it cannot be proved, all but the optimum is NaN.

    Args:
        game: The game.
        policy: Either player's.
        solution: Of `game`.
        illegal: [S] probability that the learner gave to illegal actions before they were made
            legal; none if left out.
    """
    try:
        return score(game, policy, solution, illegal=illegal, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        unknown = float("nan")
        sign = 1 if policy.player == 0 else -1
        return Score(
            value=unknown,
            optimum=sign * solution.value,
            optimality_gap=unknown,
            exploitability=unknown if game.info.players == 2 else None,
            normalized=unknown,
            illegal_mass=unknown,
            worst_start_gap=unknown,
            worst_start=game.states[int(np.flatnonzero(game.initial)[0])],
        )


def learned_exploitability(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """The exploitability of a learned policy; NaN if it cannot be proved.

    It takes a fraction of the time of a score, which tells more.

    Args:
        game: A game for two.
        policy: Either player's.
        solution: Of `game`.
    """
    try:
        value = game.at_start(response_values(game, policy, tolerance=LEARNED))
    except (CertificateError, ImproperGameError):
        return float("nan")
    return (1 - 2 * policy.player) * (solution.value - value)


def plain(result: Score) -> dict[str, Any]:
    """A score as JSON, its state as text."""
    return {**asdict(result), "worst_start": repr(result.worst_start)}


def from_plain(held: Any, game: TabularGame) -> Score:
    """A score from what :func:`plain` returned.

    Args:
        held: What was read.
        game: The game.

    Raises:
        KeyError: If the game has no such start.
        TypeError: If it is not a score; a figure that could not be proved is NaN.
    """
    if not isinstance(held, dict):
        raise TypeError(f"a score is {shown(held)}")
    for name, figure in held.items():
        unknown = isinstance(figure, float) and math.isnan(figure) and name != "optimum"
        alone = name == "exploitability" and figure is None
        if name != "worst_start" and not (unknown or alone or is_number(figure)):
            raise TypeError(f"{name} is {shown(figure)}")
    if not math.isnan(mass := held["illegal_mass"]) and not -ROUNDING <= mass <= 1 + ROUNDING:
        raise TypeError(f"illegal_mass is {shown(mass)}; allowed are numbers from 0 to 1")
    named = {repr(game.states[s]): game.states[s] for s in np.flatnonzero(game.initial).tolist()}
    return Score(**{**held, "worst_start": named[held["worst_start"]]})


def checked(stated: Score, computed: Score, where: Path) -> Score:
    """A score as it is computed from a policy, if it is what a record states.

    Args:
        stated: By the record.
        computed: From the policy. What it gave to illegal actions is not known of that any more,
            and is as stated.
        where: The record.

    Raises:
        StoreError: If a figure differs by more than rounding.
    """
    for name in FIGURES:
        said, found = getattr(stated, name), getattr(computed, name)
        # What could not be proved then may be by now.
        if said is None or math.isnan(said):
            continue
        if found is None or not abs(said - found) <= ROUNDING * max(1.0, abs(found)):
            raise StoreError(f"{where}: {name} is stated as {said!r}, but computed as {found!r}")
    return replace(computed, illegal_mass=stated.illegal_mass)
