"""The games of PettingZoo's registry as modules, with underscores for dashes in their names.

    from solvent.envs.pettingzoo_games import greed

    env = greed.env(limit=50)

is what ``pettingzoo.make("aec", "solvent/greed", limit=50)`` makes, too. A module has ``env()``,
beside it ``raw_env()`` if players take turns, and ``parallel_env()`` if they act at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from solvent.envs.registration import (
    PETTINGZOO,
    PETTINGZOO_PARALLEL,
    aec_env,
    parallel_env,
    raw_aec_env,
)


def __getattr__(name: str) -> ModuleType:
    game = name.replace("_", "-")
    makers: Mapping[str, Callable[..., Any]]
    if game in PETTINGZOO:
        parameters, makers = PETTINGZOO[game], {"env": aec_env, "raw_env": raw_aec_env}
    elif game in PETTINGZOO_PARALLEL:
        parameters = PETTINGZOO_PARALLEL[game]
        makers = {"env": aec_env, "parallel_env": parallel_env}
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ModuleType(f"{__name__}.{name}", f"{game} for PettingZoo.")
    for maker, function in makers.items():
        setattr(module, maker, partial(function, game, **parameters))
    return module


def __dir__() -> list[str]:
    return sorted(game.replace("-", "_") for game in {*PETTINGZOO, *PETTINGZOO_PARALLEL})
