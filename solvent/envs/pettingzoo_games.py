"""The games of PettingZoo's registry as modules, each with ``env()`` and ``raw_env()``.

    from solvent.envs.pettingzoo_games import greed

    env = greed.env(limit=50)

is what ``pettingzoo.make("aec", "solvent/greed", limit=50)`` makes, too.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

from solvent.envs.registration import PETTINGZOO, aec_env, raw_aec_env


def __getattr__(name: str) -> ModuleType:
    if name not in PETTINGZOO:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ModuleType(f"{__name__}.{name}", f"{name} for PettingZoo.")
    makers = {"env": aec_env, "raw_env": raw_aec_env}
    for maker, function in makers.items():
        setattr(module, maker, partial(function, name, **PETTINGZOO[name]))
    return module


def __dir__() -> list[str]:
    return sorted(PETTINGZOO)
