"""The games of PettingZoo's registry as modules, with underscores for dashes in their names.

    from solvent.envs.pettingzoo_games import greed

    env = greed.env(limit=50)

makes the same environment as ``pettingzoo.make("aec", "solvent/greed", limit=50)``. A module has
``env()``, and ``raw_env()`` if players take turns or ``parallel_env()`` if they act at once.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from solvent.envs.registration import aec_env, parallel_env, raw_aec_env
from solvent.model.registry import game_specs


def __getattr__(name: str) -> ModuleType:
    spec = game_specs().get(name.replace("_", "-"))
    if spec is None or spec.pettingzoo is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    makers: dict[str, Callable[..., Any]] = {"env": aec_env}
    makers |= {"parallel_env": parallel_env} if spec.simultaneous else {"raw_env": raw_aec_env}
    module = ModuleType(f"{__name__}.{name}", f"{spec.name} for PettingZoo.")
    for maker, function in makers.items():
        setattr(module, maker, partial(function, spec.name, **spec.pettingzoo))
    return module


def __dir__() -> list[str]:
    return sorted(
        name.replace("-", "_") for name, spec in game_specs().items() if spec.pettingzoo is not None
    )
