"""Docstrings as Markdown: what they write for Sphinx is put as mkdocstrings reads it.

A role such as ``:func:`~solvent.exact.score``` becomes a link where the reference has that object,
and code where it has not.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|obj):`(~?)([\w.]+)`")
_OPTIMAL = re.compile(r"\b([A-Z])\*(?=[(\]])")
_LITERAL = re.compile(r"::$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring of a package once all of it is loaded."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        loader.resolve_aliases(implicit=False, external=False)
        for module in _modules(pkg):
            _list_stub(module)
            _unshadow(module)
        public = {path for module in _modules(pkg) for path in _public(module)}
        for obj in _objects(pkg):
            if obj.docstring:
                obj.docstring.value = _markdown(obj.docstring.value, obj, public)


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for child in module.modules.values():
        if not child.is_alias:
            yield from _modules(child)


def _list_stub(module: griffe.Module) -> None:
    """A package whose public names stand in a stub lists them."""
    stub = Path(str(module.filepath)).with_suffix(".pyi")
    if module.is_init_module and stub.is_file():
        nodes = ast.parse(stub.read_text(encoding="utf-8")).body
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        module.exports = [alias.name for node in imports for alias in node.names]
        for node in imports:
            for alias in node.names:
                module.imports[alias.name] = f"{module.path}.{node.module}.{alias.name}"


def _unshadow(module: griffe.Module) -> None:
    """A listed name that is imported from a module of the same name is what was imported."""
    for name in map(str, module.exports or ()):
        shadow, imported = module.members.get(name), module.imports.get(name, "")
        if isinstance(shadow, griffe.Module) and imported.startswith(f"{shadow.path}."):
            target = shadow[imported.removeprefix(f"{shadow.path}.")]
            module.members[name] = griffe.Alias(name, target, parent=module)


def _public(module: griffe.Module) -> Iterator[str]:
    """The paths under which the reference has what a package lists, and its members."""
    for name in module.exports or ():
        member = module.members.get(str(name))
        if member is None or not (module.is_package or module.is_init_module):
            continue
        target = member.final_target if isinstance(member, griffe.Alias) else member
        yield target.path
        if isinstance(target, griffe.Class):
            yield from (child.path for child in target.members.values() if child.is_public)


def _objects(obj: griffe.Object) -> Iterator[griffe.Object]:
    yield obj
    for member in obj.members.values():
        if isinstance(member, griffe.Object):
            yield from _objects(member)


def _markdown(text: str, obj: griffe.Object, public: set[str]) -> str:
    def link(role: re.Match[str]) -> str:
        name = role[2].rpartition(".")[2] if role[1] else role[2]
        target = _found(role[2], obj)
        return f"[`{name}`][{target}]" if target in public else f"`{name}`"

    text = _ROLE.sub(link, text)
    text = _OPTIMAL.sub(r"\1\\*", text)
    return _LITERAL.sub(":", text)


def _found(name: str, obj: griffe.Object) -> str:
    """The canonical path of a name as it is written in the docstring of an object."""
    scope: griffe.Object | None = obj
    while scope is not None:
        for root in (scope, scope.package):
            try:
                found = root[name.removeprefix("solvent.")] if root is scope.package else root[name]
                return found.final_target.path if isinstance(found, griffe.Alias) else found.path
            except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
                continue
        scope = scope.parent
    return name
