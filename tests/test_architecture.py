"""The rooms of the package and who may import whom.

Every import under ``solvent/`` is read from its source, wherever it stands: an import inside a
function or under ``TYPE_CHECKING`` is an arrow like any other, and so is
a text that names a module.

The law: no file outside ``games/`` imports ``games/`` or names a game, and the rules of a game
import only ``model``. No arrow runs upwards, sampling and expectation never meet, there is no
circle, and only the rooms that need a third-party package name it.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from interpreters import fresh

PACKAGE = Path(__file__).parents[1] / "solvent"
SOURCES = sorted(PACKAGE.rglob("*.py"))


@dataclass(frozen=True)
class Room:
    """What the files of one room may import: other rooms, and third-party packages."""

    rooms: str
    packages: str
    inside_functions: str = ""


ROOMS = {
    "model": Room(
        "",
        "numpy lazy_loader",
        inside_functions="filelock minigrid numba platformdirs pyspiel pytest stormpy",
    ),
    "exact": Room("model", "lazy_loader numba numpy scipy", inside_functions="pandas ray"),
    "envs": Room(
        "model", "numpy gymnasium pettingzoo numba lazy_loader", inside_functions="pygame"
    ),
    "baselines": Room("model exact envs", "numpy scipy gymnasium pettingzoo numba"),
    "benchmark": Room(
        "model exact envs baselines registration", "numpy scipy gymnasium rich", "pydantic"
    ),
    "registration": Room("model envs baselines", "gymnasium pettingzoo"),
    "training": Room(
        "model exact envs baselines benchmark registration",
        "numpy scipy gymnasium pettingzoo numba torch stable_baselines3 sb3_contrib tensorboard "
        "yaml rich",
    ),
    "scoring": Room("model exact envs baselines training", "numpy gymnasium"),
    "report": Room("model exact baselines benchmark", "numpy jinja2 lazy_loader"),
    "tabular": Room("model exact envs baselines report", "numpy gymnasium"),
    "grading": Room("model exact envs benchmark report scoring", "numpy"),
    "play": Room("model exact baselines", "numpy"),
    "explore": Room(
        "model exact envs baselines report tabular play",
        "numpy gymnasium jinja2 flask werkzeug",
    ),
    "cli": Room(
        "model exact envs baselines benchmark registration training report grading play explore",
        "numpy gymnasium typer click rich yaml",
    ),
    "games": Room(
        "model exact envs baselines benchmark training report tabular play cli",
        "numpy scipy numba gymnasium lazy_loader typer rich",
        "pygame torch yaml",
    ),
    "__init__": Room("registration", "lazy_loader"),
    "__main__": Room("cli", ""),
}

# Only where gamebook files are read: the games themselves need none of it.
PACKAGES_OF_FILES = {
    "games/gamebook/book.py": "pydantic",
    "games/gamebook/hero.py": "pydantic",
    "games/gamebook/loader.py": "pydantic yaml",
    "games/gamebook/twee.py": "yaml",
    "model/gymnasium_table.py": "gymnasium",
    "model/minigrid_game.py": "gymnasium",
    "model/registry.py": "gymnasium",
}


# Groups of entry points, whose names are no modules; one has the name of a room.
GROUPS = {
    "benchmark/algorithms.py": "solvent.algorithms",
    "benchmark/suites.py": "solvent.suites",
    "grading/grades.py": "solvent.exercises",
    "model/registry.py": "solvent.games",
}


@dataclass(frozen=True)
class Import:
    """One imported module, with the line it stands on and whether a call must come first."""

    module: str
    line: int
    inside_function: bool


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """Every import of a file, absolute; relative ones are resolved against its folder."""
    folder = ("solvent", *file.relative_to(PACKAGE).parent.parts)
    return tuple(_imports(parsed(file), folder, False))


def _imports(node: ast.AST, folder: tuple[str, ...], inside_function: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield Import(alias.name, node.lineno, inside_function)
        case ast.ImportFrom(module=module, names=names, level=level):
            start = folder[: len(folder) - level + 1] if level else ()
            base = ".".join((*start, *([module] if module else [])))
            for alias in names:
                yield Import(f"{base}.{alias.name}", node.lineno, inside_function)
        case ast.Constant(value=str(text)) if re.fullmatch(r"solvent(\.\w+)+(:[\w.]+)?", text):
            # A reference that is imported later, as in the spec of a game.
            yield Import(text.replace(":", "."), node.lineno, True)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inside_function = True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            # Never executed, so as good as inside a function.
            inside_function = True
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, folder, inside_function)


def violations() -> Iterator[str]:
    """Every import that its room does not allow, one line each."""
    for file in SOURCES:
        path = file.relative_to(PACKAGE).as_posix()
        for found in imports(file):
            if reason := _forbidden(path, path.split("/")[0].removesuffix(".py"), found):
                yield f"{path}:{found.line}: {reason}"


def _forbidden(path: str, name: str, found: Import) -> str | None:
    top, target = (*found.module.split("."), "")[:2]
    allowed, packages = ROOMS[name], PACKAGES_OF_FILES.get(path, "").split()
    if top == "solvent":
        rooms = [name, *allowed.rooms.split()]
        if name in ("benchmark", "cli", "explore", "report"):
            rooms.append("__version__")
        fine = target in rooms or GROUPS.get(path) == found.module
        return None if fine else f"{name} may not import {target or top}"
    if top in sys.stdlib_module_names or top in (*packages, *allowed.packages.split()):
        return None
    if top in allowed.inside_functions.split():
        return None if found.inside_function else f"{top} may be imported in functions only"
    return f"{name} may not import {top}"


def test_every_import_follows_the_arrows() -> None:
    assert {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in SOURCES} == {*ROOMS}
    assert list(violations()) == []


@cache
def arrows() -> dict[str, set[str]]:
    """Which file imports which, by path; a package's own file is its ``__init__``."""
    files = {file.relative_to(PACKAGE).with_suffix("").as_posix(): file for file in SOURCES}
    modules = {f"solvent/{path}".removesuffix("/__init__"): path for path in files}
    found: dict[str, set[str]] = {}
    for path, file in files.items():
        found[path] = set()
        for parts in (one.module.split(".") for one in imports(file)):
            # The longest part of the dotted name that is a file.
            names = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
            found[path].add(next((modules[name] for name in names if name in modules), path))
        found[path].discard(path)
    return found


def is_face(path: str) -> bool:
    """Whether a file is the ``__init__`` of a package that defines nothing but hands names on."""
    body = parsed(PACKAGE / f"{path}.py").body
    defined = {getattr(node, "name", "") for node in body}
    return path.endswith("__init__") and defined <= {"", "__getattr__", "__dir__"}


def test_no_files_import_each_other_in_a_circle() -> None:
    # The order fails, and names the files, if they do.
    graph = {path: targets for path, targets in arrows().items() if not is_face(path)}
    order = TopologicalSorter(
        {path: [one for one in targets if not is_face(one)] for path, targets in graph.items()}
    )
    assert len(list(order.static_order())) == len(graph)


GAMES = PACKAGE / "games"
CODE = re.compile(r"[^\W\d_]+")

# Words of which none belongs in the code of a generic file; a new game adds its own.
NAMES = {
    "pig", "greed", "gamebook", "football", "fighting", "combat", "punt", "touchdown",
    "stamina", "yards", "ninth", "kickoff", "blackjack", "gambler", "gridworld", "maze",
    "racetrack", "rental", "yahtzee", "corridor", "tic", "nim", "goofspiel", "scissors",
    "blotto", "soccer", "inventory", "equipment",
}  # fmt: skip


def named_games(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The words of games in the identifiers and texts of a source; prose may give examples."""
    # Docstrings, and those of attributes, which stand alone as well.
    prose = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in set(ast.walk(tree)) - prose:
        for name in ("id", "attr", "name", "arg", "value", "module"):
            if isinstance(text := getattr(node, name, None), str):
                words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text).lower()
                for word in sorted(NAMES & set(CODE.findall(words))):
                    yield getattr(node, "lineno", 0), word


def test_no_generic_file_names_a_game() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {word}"
        for file in SOURCES
        if GAMES not in file.parents
        for line, word in named_games(parsed(file))
    ]
    assert found == []


def test_rules_import_only_the_model() -> None:
    # With what they import of their own folder, or of the game that they are a form of.
    rules = [path for path in arrows() if re.fullmatch(r"games/(\w+/rules|(?!__init__)\w+)", path)]
    assert len(rules) >= 6
    seen = set(rules)
    for path in rules:
        found = {target for target in arrows()[path] if target.startswith("games/")} - seen
        seen |= found
        rules.extend(found)
    targets = {target for path in seen for target in arrows()[path]} - seen
    assert [target for target in targets if not target.startswith("model/")] == []


def test_import_solvent_loads_nothing_heavy() -> None:
    heavy = (
        "torch", "stable_baselines3", "sb3_contrib", "numba", "pygame", "matplotlib", "pydantic",
        "yaml", "scipy", "jinja2", "flask",
    )  # fmt: skip
    code = f"import sys, solvent; print([m for m in {heavy} if m in sys.modules])"
    assert fresh(code) == "[]\n"
