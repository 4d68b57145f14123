"""Information that a learner received from the solution of its game.

No learner of this package sees the solution unless the user asks for it by name. Whether one did is
computed from the record of its run and stated nowhere else, so that nobody has to remember to say
so. An exact evaluation is no privilege as long as it only measures: learners do not read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from solvent.envs.registration import ENVIRONMENTS

UNIFORM, IMPORTANCE = "uniform", "importance"
"""The weights by which exploring starts are drawn: all states alike, or by what is at stake."""

MARK = "+solution"
"""The end of the name of an algorithm that saw the solution."""

STARTS = "exploring starts weighted by importance"
OPPONENT = "an opponent that plays the solution"

GIVEN = "given_exact_values"
"""The setting of a learner with exact values in place of its estimates: which ones."""


def seen_of_solution(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a learner was given from the solution, in words; empty if nothing.

    Records of versions before 0.3 have a share of exploring starts (``stakes``) without weights.
    These were always weighted by importance, which is computed from the solution.

    Args:
        settings: Settings of a training: the ``request`` of a ``run.json``, or the
            hyperparameters that a benchmark recorded. The latter name no opponent, since that is
            part of the task and the same for every entrant.
    """
    seen = []
    if settings.get("stakes") and settings.get("start_weights") != UNIFORM:
        seen.append(STARTS)
    if given := settings.get(GIVEN):
        seen.append(str(given))
    kwargs, entry = settings.get("env_kwargs"), ENVIRONMENTS.get(str(settings.get("environment")))
    # In self-play, whose exploring starts have a name of their own, the environment's opponent has
    # no seat.
    if isinstance(kwargs, Mapping) and "exploring" not in settings:
        opponent = kwargs.get("opponent", entry.opponent if entry else None)
        if "optimal" in (opponent if isinstance(opponent, Mapping) else [opponent]):
            seen.append(OPPONENT)
    return tuple(seen)


def named(algorithm: str, settings: Mapping[str, Any]) -> str:
    """Return the name under which tables show an algorithm, which says if it saw the solution.

    Args:
        algorithm: Name of the algorithm.
        settings: Settings of a training, as for :func:`seen_of_solution`.
    """
    told = algorithm.endswith(MARK) or not saw_solution(settings)
    return algorithm if told else algorithm + MARK


def saw_solution(settings: Mapping[str, Any]) -> bool:
    """Return whether a learner was given anything from the solution of its game.

    Args:
        settings: Settings of a training, as for :func:`seen_of_solution`.
    """
    return bool(seen_of_solution(settings))
