"""The games that are known by name: each declares itself in one :class:`GameSpec`.

A package, this one or anybody's, lists its games among its entry points::

    [project.entry-points."solvent.games"]
    kayles = "kayles_game:SPEC"

and from then on ``kayles`` is a game like every other: for the command, for the registries of
Gymnasium and PettingZoo, for solvers, trainings and reports. The toolkit asks a game's spec for
whatever only that game has, and names no game itself; it only knows the packages and the file
formats of others that it can read.

A spec is cheap to import: code is referenced by ``"module:name"`` strings and imported on first use
(:func:`load`).

A game that no package declares is named by the place of its class, its maker or its spec:
``"module:Class"`` or ``"folder/file.py:Class"``. A game that is written for another program
(:data:`FORMATS`) is named likewise: ``"openspiel:tic_tac_toe"`` or ``"folder/model.prism"``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import gymnasium as gym

from solvent.model.parameters import (
    brief,
    check_arguments,
    check_discount,
    nearest,
    plain,
    shown,
)

if TYPE_CHECKING:
    from solvent.model.game import Game, GameInfo

GROUP = "solvent.games"
"""The group of entry points under which packages declare their games."""

# Prefix of the name of an OpenSpiel game.
_OPENSPIEL = "openspiel:"

FORMATS: Mapping[str, str] = {
    _OPENSPIEL: "solvent.model.openspiel:maker",
    **dict.fromkeys(
        (".prism", ".pm", ".nm", ".jani", ".drn", ".umb"), "solvent.model.prism_game:maker"
    ),
}
"""Importers of the games of other programs, by name prefix or file ending. Each takes the rest of
the name, or the file, and returns the maker of the game."""

# The package whose environments are read by stepping through all their states.
_MINIGRID = "minigrid"

# Prefix of the ids of that package, which it registers when it is imported.
_MINIGRID_IDS = "MiniGrid-"

# Pattern of a Gymnasium id with a version.
_ENVIRONMENT_ID = re.compile(r"([\w:-]+/)?[\w:.-]+-v\d+")

UNDISCOUNTED = (
    "solver", "layered", "simulator", "players", "scorer",
)  # fmt: skip
"""Fields that hold only for the game without a discount."""

Reference: TypeAlias = str
"""A reference to an object, ``"module:name"``; the name may have dots."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The meaning of a Gymnasium id.

    Attributes:
        parameters: Parameters of the game that are not its defaults; JSON-able.
        opponent: Default opponent of the learner in a two-player game, by the name of a baseline;
            None in a game for one.
        optimum: The value of the game from its start, by :func:`solvent.exact.solve`; against an
            opponent that is not optimal, the value of a best response. None if it is not stored.
        model_hash: Hash of the table whose value `optimum` is. It shows whether a rule has changed.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    opponent: str | None = None
    optimum: float | None = None
    model_hash: str | None = None


class Command(NamedTuple):
    """A further command of ``solvent``, which is imported when it is called.

    Attributes:
        app: A typer app.
        help: Description of the command in the list of commands, in one line.
    """

    app: Reference
    help: str


@dataclass(frozen=True, kw_only=True)
class GameSpec:
    """The toolkit's knowledge of a game, and references to the rest.

    Attributes:
        name: Name under which the game is listed, equal to its ``info.name``.
        make: The class of the game, or a function that makes it; its parameters are JSON-able.
        rules: Rules in at most three lines of 80 characters; printed before a game in the terminal
            and in lists of games.
        environments: Gymnasium ids of the game. The first one without parameters is the
            environment that the plain name stands for.
        pettingzoo: Default parameters of the game in PettingZoo, ``"solvent/<name>-v0"``; None if
            it is not offered there, such as games for one player.
        simultaneous: Whether both players act at the same time. The game then has a parallel
            environment in PettingZoo.
        shorthands: Other words for the game on a command line, each with the parameters that the
            word stands for. A parameter whose value is ``...`` is set by the word that follows, if
            any does.
        choices: Allowed names per parameter: a tuple, or a reference to a collection or function.
        baselines: Policies by name, a mapping to :class:`solvent.baselines.Baseline`. They take
            precedence over the toolkit's baselines of the same name, such as ``"optimal"``.
        solver: A function from a game to its :class:`solvent.exact.SolvedGame`, or to None where
            the game is better solved as a table. A slow solver has the parameter `progress` of
            :func:`solvent.exact.solve`.
        layered: A subclass of :class:`solvent.exact.layered.solve.LayeredSolution`, if the game is
            solved layer by layer, in memory or in a folder.
        simulator: A function from a game to its :class:`solvent.envs.batch_simulator.Sampler`, or
            to None for a form of the game that is sampled from its table.
        players: Opponents in a form of the game without a table, by name: a mapping to functions
            from the game and the folder of its solution, or None, to a
            :class:`solvent.envs.batch_simulator.Player`.
        scorer: A function that scores a player of a game without a table exactly. It takes four
            arguments: the game; the player, by name or as a
            :class:`solvent.baselines.network.NetworkPlayer`; the folder of the game's solution, or
            None; a folder for unfinished scores, or None. It returns an object with the
            player's ``name``, and ``bounds``, a mapping of descriptions to proved error bounds; in
            a game for one with its ``value`` and the ``optimum``; in a game for two with its
            ``exploitability``, and ``against``, which maps opponents, one of them a best response,
            to its values as player 0 (``first``), as player 1 (``second``) and on ``average``.
        pages: A subclass of :class:`solvent.report.sections.GamePages`, which has the game's own
            sections of a report and of ``solvent explore``.
        commands: Further commands of ``solvent``, by name.
        discount: Discount of the source's objective, a number above 0 and up to 1 or a text such
            as ``"2/3"``, which applies unless the caller passes another one
            (:mod:`solvent.model.transforms`). The fields in :data:`UNDISCOUNTED` are not used for
            a game with a discount.
    """

    name: str
    make: Reference | Callable[..., Game]
    rules: str = ""
    environments: Mapping[str, Environment] = field(default_factory=dict)
    pettingzoo: Mapping[str, Any] | None = None
    simultaneous: bool = False
    shorthands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    choices: Mapping[str, Reference | tuple[str, ...]] = field(default_factory=dict)
    baselines: Reference | None = None
    solver: Reference | None = None
    layered: Reference | None = None
    simulator: Reference | None = None
    players: Reference | None = None
    scorer: Reference | None = None
    pages: Reference | None = None
    commands: Mapping[str, Command] = field(default_factory=dict)
    discount: float | str = 1

    def __post_init__(self) -> None:
        """Check references, mappings and ids as soon as the package is imported.

        Raises:
            ValueError: If a field is not of its kind; the message names the game and the field.
        """
        check_discount(self.discount, f"discount of the game {self.name}")
        for one in fields(GameSpec):
            value, kind = getattr(self, one.name), str(one.type)
            if kind.startswith("Mapping"):
                fits, expected = isinstance(value, Mapping), "a mapping"
            else:
                fits = isinstance(value, str) and bool(re.fullmatch(r"[\w.]+:[\w.]+", value))
                fits |= not kind.startswith("Reference") or ("Callable" in kind and callable(value))
                expected = "a text 'module:name'"
            if not fits and not (value is None and kind.endswith("None")):
                raise ValueError(
                    f"{one.name} of the game {self.name} is {shown(value)}; expected {expected}"
                )
        for env_id, environment in self.environments.items():
            if not _ENVIRONMENT_ID.fullmatch(env_id) or not isinstance(environment, Environment):
                raise ValueError(
                    f"environments of the game {self.name} has {shown(env_id)}; expected ids such "
                    f"as 'namespace/Name-v0', each with an Environment"
                )

    def words(self) -> tuple[str, ...]:
        """Return every name that must be unique: the game's, its ids, shorthands and commands."""
        return self.name, *self.environments, *self.shorthands, *self.commands

    def maker(self) -> Callable[..., Game]:
        """The class or function that makes the game."""
        made: Callable[..., Game] = load(self.make) if isinstance(self.make, str) else self.make
        return made

    def names_for(self, parameter: str) -> tuple[str, ...]:
        """The names that a parameter allows; none if it takes something else."""
        names: Any = self.choices.get(parameter, ())
        if isinstance(names, str):
            names = load(names)
            names = names() if callable(names) else names
        return tuple(names)

    def for_objective(self, info: GameInfo) -> GameSpec:
        """Return the part of the spec that applies to a form of its game, discounted or not.

        Args:
            info: Description of the form.
        """
        if info.discount == 1:
            return self
        nothing: dict[str, Any] = dict.fromkeys(UNDISCOUNTED)
        return replace(self, **nothing)

    def ask(self, what: str, *arguments: Any) -> Any:
        """Call one of the spec's functions.

        Args:
            what: The attribute, such as ``"solver"``.
            arguments: Arguments of the function.

        Returns:
            The result of the function; None if the game has no such function.
        """
        reference = getattr(self, what)
        return None if reference is None else load(reference)(*arguments)


def load(reference: Reference) -> Any:
    """Import the object that a reference names.

    Args:
        reference: ``"module:name"``.

    Raises:
        ValueError: If the module has nothing of this name.
        ModuleNotFoundError: If there is no such module, or it needs a package that is not
            installed.
    """
    try:
        return resolve_name(reference)
    except AttributeError as error:
        raise ValueError(f"{reference} cannot be loaded: {error}") from error


@dataclass
class _Registry:
    """The specs by name, the reasons why others failed, and the entry points left to load."""

    specs: dict[str, GameSpec] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    waiting: list[EntryPoint] = field(default_factory=lambda: declared(GROUP))


def declared(group: str) -> list[EntryPoint]:
    """Return what installed packages declare in a group of entry points, this package's first.

    So no other package can take Solvent's names.
    """
    return sorted(
        entry_points(group=group),
        key=lambda point: (not point.value.startswith("solvent."), point.name),
    )


def declared_names(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of :func:`declared` by name, the first of each name."""
    return {point.name: point for point in reversed(declared(group))}


_games = cache(_Registry)


def _registry() -> _Registry:
    """Return the games of all installed packages, each of which is loaded once.

    A package that imports this one before it has defined its specs is loaded at a later call.
    """
    found = _games()
    points, found.waiting = found.waiting, []
    for point in points:
        if point.name in found.specs:
            continue
        importing = getattr(sys.modules.get(point.value.partition(":")[0]), "__spec__", None)
        if getattr(importing, "_initializing", False):
            found.waiting.append(point)
            continue
        try:
            spec = point.load()
            if isinstance(spec, GameSpec) and spec.name == point.name:
                cause = _clash(found.specs, spec)
            else:
                cause = f"{point.value} is {shown(spec)}, not its GameSpec"
        except (Exception, SystemExit) as error:  # Somebody else's package may raise anything.
            cause = f"{type(error).__name__}: {brief(str(error))}"
        if cause is None:
            found.specs[spec.name] = spec
        else:
            found.broken[point.name] = cause
    return found


def _clash(specs: Mapping[str, GameSpec], new: GameSpec) -> str | None:
    """Return which name a new spec would take from another one; None if it takes none."""
    taken = {word: spec.name for spec in specs.values() for word in spec.words()}
    for word in new.words():
        if word in taken:
            return f"{shown(word)} is taken by the game {taken[word]}"
    return None


def game_specs() -> Mapping[str, GameSpec]:
    """The games that are known, by name."""
    return MappingProxyType(_registry().specs)


def broken_games() -> Mapping[str, str]:
    """Return why games that a package declares are not loaded, by name."""
    found = _registry()
    early = "is still being imported; import solvent first, or call solvent.register_envs()"
    waiting = {point.name: f"{point.module} {early}" for point in found.waiting}
    return MappingProxyType(found.broken | waiting)


def register_game(spec: GameSpec) -> None:
    """Register a game in this process; an entry point registers it in every process.

    Args:
        spec: The spec of the game.

    Raises:
        ValueError: If `spec` is not a GameSpec, or another game has its name, or one of its ids,
            shorthands or commands.
    """
    if not isinstance(spec, GameSpec):
        raise ValueError(f"the spec of a game is {shown(spec)}; expected a GameSpec")
    known = _registry().specs
    if known.get(spec.name) == spec:
        return
    if clash := _clash(known, spec):
        raise ValueError(f"the game {spec.name} cannot be registered: {clash}")
    known[spec.name] = spec


def spec_of(game: Any) -> GameSpec | None:
    """Return the spec of a game, or None if the game is not registered.

    Args:
        game: A game, its table, or its :class:`~solvent.model.GameInfo`. For a discounted game,
            fields that do not apply are left out (:meth:`GameSpec.for_objective`).
    """
    info: GameInfo = getattr(game, "info", game)
    spec = _registry().specs.get(info.name)
    return None if spec is None else spec.for_objective(info)


def find_spec(name: str) -> GameSpec:
    """Return the spec that a name stands for.

    Args:
        name: A known game; a word of its spec, such as ``"football"``; the id of an environment of
            this package, or of a Gymnasium environment that publishes its transitions; or the place
            of a game: ``"module:Class"``, ``"file.py:Class"``, ``"file.py"`` if it holds one spec
            or one game, ``"openspiel:name"``, or a file with an ending in :data:`FORMATS`.

    Raises:
        ValueError: If the name stands for nothing, or for something other than a game.
        ModuleNotFoundError: If the package that reads the game is not installed.
    """
    specs, broken = game_specs(), broken_games()
    if not isinstance(name, str):
        raise ValueError(f"game is {shown(name)}; allowed are a name and an environment's id")
    if name in broken:
        raise ValueError(f"the game {shown(name)} cannot be loaded: {broken[name]}")
    own, _ = meaning(name)
    if own in specs:
        return specs[own]
    if not names_a_place(name):
        register_plugin(name)
        if name not in gym.registry:
            words = (word for spec in specs.values() for word in spec.words())
            near = nearest(name, [*words, *gym.registry])
            hint = f"did you mean {near!r}?" if near else "`solvent list` shows all"
            raise ValueError(f"no game or environment {shown(name)}; {hint}")
        reader = "minigrid_game" if name.startswith(_MINIGRID_IDS) else "gymnasium_table"
        return GameSpec(name=name, make=load(f"solvent.model.{reader}:maker")(name))
    if (form := _format(name)) is not None:
        return GameSpec(name=name, make=load(FORMATS[form])(name.removeprefix(_OPENSPIEL)))
    module, found = load_place(name, "game")
    if found is None:
        found = _only_game(module, name)
    if isinstance(found, GameSpec):
        register_game(found)
        return found
    if not callable(found) or (inspect.isclass(found) and not _makes_games(found)):
        raise ValueError(
            f"{name} is {shown(found)}; allowed are a GameSpec, a class of games, and a function "
            f"that makes them"
        )
    return GameSpec(name=name, make=found)


def register_plugin(env_id: str) -> None:
    """Import the package that registers an id with Gymnasium, if this module knows it.

    Args:
        env_id: Any name of a game.

    Raises:
        ModuleNotFoundError: If the package is not installed.
    """
    if env_id.startswith(_MINIGRID_IDS):
        importlib.import_module(_MINIGRID)


def meaning(name: str) -> tuple[str, Mapping[str, Any]]:
    """Return the game that a name stands for, and the parameters of an id or a shorthand.

    Args:
        name: Name as in :func:`find_spec`. Other names are returned unchanged.
    """
    for spec in game_specs().values():
        if name in spec.environments:
            return spec.name, spec.environments[name].parameters
        if name in spec.shorthands:
            said = spec.shorthands[name].items()
            return spec.name, {own: value for own, value in said if value is not ...}
    return name, {}


def load_place(name: str, what: str) -> tuple[ModuleType, Any]:
    """Import the module or the file that a name leads to, and look up the name after the colon.

    Args:
        name: ``"module:name"``, ``"file.py:name"`` or ``"file.py"``.
        what: Kind of the thing that is looked for, for messages, such as ``"game"``.

    Returns:
        The module, and the object in it; None without a colon.

    Raises:
        ValueError: If there is no such file or name, or it cannot be imported.
    """
    # A path may have a colon of its own, as on Windows.
    place, _, attribute = (name, "", "") if name.endswith(".py") else name.rpartition(":")
    file = Path(place).resolve() if place.endswith(".py") else None
    if file is not None and not file.is_file():
        raise ValueError(f"{place}: there is no such file")
    # Where the command is started by a script of its own, Python does not look in this folder.
    folder = str(Path.cwd() if file is None else file.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        module = importlib.import_module(place) if file is None else _file(file)
        return module, getattr(module, attribute) if attribute else None
    except (Exception, SystemExit) as error:  # Somebody else's file may raise anything.
        cause = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(f"the {what} {shown(name)} cannot be loaded: {cause}") from error


def names_a_place(name: str) -> bool:
    """Return whether a game's name says where to find it: ``"module:Class"`` or a file."""
    return ":" in name or name.endswith(".py") or _format(name) is not None


def check_registered(name: str, what: str, *, trust: bool = False) -> str:
    """Return a name from a file, which has to be registered unless its author is trusted.

    A person who types the place of a game means it. A file may come from anybody, and importing
    what it names would run its author's code.

    Args:
        name: The name that stands in the file.
        what: Kind of the thing that is named, for messages, such as ``"game"``.
        trust: Whether the author of the file may run code here.

    Raises:
        ValueError: If the name leads to code or a model, and `trust` is False.
    """
    if names_a_place(name) and name not in game_specs() and not trust:
        raise ValueError(
            f"the {what} is {shown(name)}, which is not a registered name but leads to code or to "
            f"another file; pass --trust (trust=True in Python) if you trust the author"
        )
    return name


def _format(name: str) -> str | None:
    """Return the one of :data:`FORMATS` that a name has; None if it has none."""
    if name.startswith(_OPENSPIEL):
        return _OPENSPIEL
    ending = Path(name).suffix
    return ending if ending in FORMATS else None


@cache
def _file(file: Path) -> ModuleType:
    """The module in a file, imported once."""
    # Files of one name in two folders are two modules.
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look up their module.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _makes_games(kind: type) -> bool:
    """Return whether a class has the methods of :class:`solvent.model.Game`."""
    return all(hasattr(kind, method) for method in ("initial", "legal_actions", "transition"))


def _only_game(module: ModuleType, name: str) -> Any:
    """Return the only spec of a module; without a spec, its only class of games."""
    own = list(vars(module).values())
    specs = [value for value in own if isinstance(value, GameSpec)]
    games = [
        value
        for value in own
        if inspect.isclass(value) and value.__module__ == module.__name__ and _makes_games(value)
    ]
    for found in (specs, games):
        if len(found) == 1:
            return found[0]
    raise ValueError(
        f"{name} holds {len(specs)} specs and {len(games)} games; write {name}:NAME for one of them"
    )


def make_game(
    name: str,
    /,
    *,
    modifiers: Mapping[str, Any] | None = None,
    discount: Any = None,
    **parameters: Any,
) -> Game:
    """Make a game by name.

    Args:
        name: Name of the game or of an environment, as for :func:`find_spec`: ``"ff-combat"``,
            ``"FrozenLake-v1"``, ``"solvent/Greed-v0"``.
        modifiers: Modifiers of the game's checks, by name: ``{"luck": -0.15}`` makes every test of
            luck harder (:mod:`solvent.model.context`).
        discount: Factor by which a reward shrinks with every move before it, above 0 and up to 1
            (:func:`solvent.model.discounted`). Default: that of the game's source, for most games
            1. If the game has a parameter of this name, the value is passed to it instead.
        parameters: The game's parameters; ``help(find_spec(name).maker())`` lists them.

    Raises:
        UnexpectedArgumentError: If a parameter is unknown; a ValueError and a TypeError.
        ValueError: If the name is unknown, a parameter without a default is missing, or a value is
            out of its range.
    """
    from solvent.model.transforms import discounted

    spec = find_spec(name)
    maker = spec.maker()
    parameters = {**meaning(name)[1], **{own: plain(value) for own, value in parameters.items()}}
    allowed = inspect.signature(maker).parameters
    if discount is not None and "discount" in allowed:
        parameters["discount"], discount = plain(discount), 1
    discount = spec.discount if discount is None else discount
    factor = check_discount(discount)
    if all(kind.kind is not kind.VAR_KEYWORD for kind in allowed.values()):
        check_arguments(parameters, name, allowed)
    for own in allowed.values():
        variadic = own.kind in (own.VAR_POSITIONAL, own.VAR_KEYWORD)
        if own.default is own.empty and not variadic and own.name not in parameters:
            raise ValueError(f"{name} needs a value of its parameter {own.name}")
        # An environment of others would take any text for true, "False" included.
        if isinstance(own.default, bool) and isinstance(given := parameters.get(own.name), str):
            raise ValueError(f"{own.name} is the text {shown(given)}; allowed are true and false")
    game = maker(**parameters)
    _check_name(spec, game)
    modifiers = {} if modifiers is None else modifiers
    if not isinstance(modifiers, Mapping):
        raise ValueError(
            f"modifiers is {shown(modifiers)}; allowed is a mapping of checks to numbers"
        )
    for check, modifier in modifiers.items():
        from solvent.model.context import with_modifier

        game = with_modifier(game, check, modifier)
    if factor != 1 and spec.ask("simulator", game) is not None:
        raise ValueError(
            f"discount is {shown(discount)}; {name} with these parameters has too many states for "
            f"a table, and its own solver knows no discount"
        )
    return discounted(game, factor)


def game_of(subject: Any) -> Any:
    """Return the rules, or the table, of anything that stands for a game.

    Args:
        subject: A name, as for :func:`make_game`; an environment, whose wrappers and opponents are
            ignored; rules; or a table.

    Returns:
        The rules if they are known, otherwise the table.

    Raises:
        ValueError: If `subject` is something else, or as for :func:`make_game`.
    """
    if isinstance(subject, str):
        return make_game(subject)
    native = getattr(subject, "unwrapped", subject)
    for found in (native, getattr(native, "rules", None), getattr(native, "game", None)):
        if hasattr(found, "info") and hasattr(found, "initial"):
            return found
    if any(kind.__module__.partition(".")[0] == _MINIGRID for kind in type(native).__mro__):
        return load("solvent.model.minigrid_game:MiniGridGame.from_env")(subject)
    if hasattr(native, "P") or isinstance(native, gym.Env):
        return load("solvent.model.gymnasium_table:GymnasiumTable.from_env")(subject)
    raise ValueError(
        f"game is {shown(subject)}; allowed are a name that `solvent list` shows, the id of an "
        f"environment such as 'FrozenLake-v1', an environment, rules, and a table"
    )


def _check_name(spec: GameSpec, game: Game) -> None:
    """Raise unless the ``info.name`` of a game leads to its own spec.

    Raises:
        ValueError: If it leads to no spec or to that of another game.
    """
    known = game_specs()
    own = game.info.name
    placed = names_a_place(spec.name)
    if spec.name in known and not placed and own != spec.name:
        raise ValueError(
            f"the game {shown(spec.name)} calls itself {shown(own)}; its info.name and the name of "
            f"its spec have to be equal"
        )
    # While a package is being written, its file may be given by its path. A copy of a game of ours
    # may not pass for the original, as it would get the original's baselines and solvers.
    made = known[own].make if own in known else ""
    ours = (made if isinstance(made, str) else made.__module__).startswith("solvent.")
    if ours and placed and not type(game).__module__.startswith("solvent."):
        raise ValueError(
            f"the game {shown(spec.name)} calls itself {shown(own)}, which is the name of another "
            f"game; give it an info.name of its own"
        )
