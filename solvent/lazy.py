"""What waits until it is needed.

Public names are imported when they are first used, for one release under earlier names too. What
is to be done to another package is done when that is imported, if it ever is.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def when_imported(name: str, then: str) -> None:
    """Do something as soon as a package is imported; now if it is already.

    If that fails there is a warning: whoever imports the package may not know of this one.

    Args:
        name: Of a package on the top level.
        then: The function that is called, as ``"module:name"``; it is imported only then.
    """
    if name in sys.modules:
        _call(then)
    else:
        sys.meta_path.insert(0, _Waiting(name, then))


def _call(function: str) -> None:
    module, _, name = function.partition(":")
    try:
        getattr(importlib.import_module(module), name)()
    except Exception as error:
        warnings.warn(f"{function} failed: {type(error).__name__}: {error}", stacklevel=2)


class _Waiting(MetaPathFinder, Loader):
    """Finds one package as all others do, and does something after it was loaded."""

    def __init__(self, name: str, then: str) -> None:
        self.name, self.then = name, then
        self.loader: Any = None
        self._asking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or self._asking:
            return None
        self._asking = True  # All others, of which one may ask all others in turn.
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking = False
        if spec is not None:
            self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def __getattr__(self, name: str) -> Any:
        # Who finds the package without importing it asks its loader for more, such as its files.
        if self.__dict__.get("loader") is None:
            raise AttributeError(name)
        return getattr(self.loader, name)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        # Not earlier: an import that fails may be tried again.
        sys.meta_path.remove(self)
        _call(self.then)


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
