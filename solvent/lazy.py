"""Public names: imported when they are first used, and for one release under earlier names too."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def attach(
    package: str, homes: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names live in its modules.

    Beside it the package imports the same names under ``TYPE_CHECKING``, which is how editors and
    type checkers know them.

    Args:
        package: Its ``__name__``.
        homes: The module of each name.
        renamed: The present name of each earlier one, which warns when it is used.

    Returns:
        The two functions (PEP 562).
    """

    def load(name: str) -> Any:
        if renamed and name in renamed:
            warn_renamed(name, renamed[name])
            return load(renamed[name])
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names


def renamed_attribute(earlier: str, present: str) -> Any:
    """A property for the earlier name of an attribute, which warns when it is used.

    Args:
        earlier: The name under which the property stands in its class.
        present: The attribute that it gives.
    """

    def get(self: Any) -> Any:
        warn_renamed(earlier, present)
        return getattr(self, present)

    return property(get)


def warn_renamed(earlier: str, present: str) -> None:
    """Warn whoever called the caller that a name is another one now.

    Args:
        earlier: The name that was used.
        present: The name to use.
    """
    warnings.warn(f"{earlier} is {present} now", DeprecationWarning, stacklevel=3)
