"""Scores of what was learned, and such scores as JSON.

They never cost a training: where no value is proved they are NaN. A network can come to play so
nearly the same that the best response waits for its blunders, a million moves if need be. The
longer it waits, the wider is the bracket of what it gets (:mod:`solvent.exact.certificate`). Or
rewards cancel for ever, so that there is no value. Where an episode goes on for ever at a cost, as
under most young networks in a maze, the value is minus infinity.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact import CertificateError, ImproperGameError, Score, Solution, StoreError
from solvent.exact.nonterminating import costs_for_ever
from solvent.exact.response import response_values
from solvent.exact.scoring import LEARNED
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.parameters import is_number, shown

FIGURES = (
    "value", "optimum", "optimality_gap", "exploitability", "normalized", "worst_start_gap",
)  # fmt: skip
"""Of a score, those that its policy decides."""

LOST = {name: -math.inf if name in ("value", "normalized") else math.inf for name in FIGURES}
"""What these are of a policy under which an episode goes on for ever at a cost."""

ROUNDING = 1e-9
"""How far a stated figure may be from the computed one, in units of the latter if it is larger
than 1."""


def learned_exploitability(game: TabularGame, policy: TabularPolicy, solution: Solution) -> float:
    """The exploitability of a learned policy; NaN if it has none, or none can be proved.

    It takes a fraction of the time of a score, which tells more.

    Args:
        game: A game for two.
        policy: Either player's.
        solution: Of `game`.
    """
    try:
        value = game.at_start(response_values(game, policy, tolerance=LEARNED))
    except CertificateError:
        return math.nan
    except ImproperGameError:
        costly = costs_for_ever(against(game, policy), policy.player)
        return math.inf if costly[game.initial > 0].any() else math.nan
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
        TypeError: If it is not a score; a figure that could not be proved is NaN, and that of a
            policy that never ends an episode may be infinite.
    """
    if not isinstance(held, dict):
        raise TypeError(f"a score is {shown(held)}")
    for name, figure in held.items():
        unknown = isinstance(figure, float) and math.isnan(figure) and name != "optimum"
        lost = name != "optimum" and figure == LOST.get(name, math.nan)
        alone = name == "exploitability" and figure is None
        if name != "worst_start" and not (unknown or lost or alone or is_number(figure)):
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
        if said is None or math.isnan(said) or said == found:
            continue
        near = found is not None and abs(said - found) <= ROUNDING * max(1.0, abs(found))
        if not near or math.isinf(found):
            raise StoreError(f"{where}: {name} is stated as {said!r}, but computed as {found!r}")
    return replace(computed, illegal_mass=stated.illegal_mass)
