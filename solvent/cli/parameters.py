"""Games and their parameters on a command line, and the list of them.

    solvent solve ff-combat --opponent hell-demon --stamina 24 --luck=12

A parameter is an option of the same name, with dashes for underscores. Its value is

- a range of whole numbers ``LOW:HIGH``, which stands for the pair ``[LOW, HIGH]``,
- or JSON, if it can be read as that: ``12``, ``true``, ``null``, ``[2, 24]``, ``{"6": 1}``,
- or else the text as it is written;
- left out, so that the next word is another option or there is none, it is ``true``.

A game is named by

- its name, or another word that its spec has for it: ``book FILE`` is ``gamebook --book FILE``;
- an environment of its own, ``solvent/FFCombat-v0``, whose parameters it then has;
- the place of its class or its spec, ``module:Class``, ``file.py`` or ``file.py:Class``;
- its name in OpenSpiel, ``openspiel:tic_tac_toe``;
- the file of a model of PRISM's or Storm's, ``model.prism``, whose property is a parameter;
- a Gymnasium environment of anybody that publishes its table of transitions, ``FrozenLake-v1``.

**The list.** ``solvent list`` shows all games with their environments, or one game with its
parameters.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from solvent.baselines import GENERIC
from solvent.baselines.named import own_baselines
from solvent.benchmark.progress import Bar
from solvent.cli.printing import Facts, facts, note, show_rows
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import read_request
from solvent.model import Game, ValueScale
from solvent.model.files import StoreError
from solvent.model.parameters import as_option, as_options, as_value, brief, shown
from solvent.model.registry import (
    Environment,
    GameSpec,
    broken_games,
    find_spec,
    game_specs,
    load,
    make_game,
    meaning,
    register_plugin,
    spec_of,
)
from solvent.registration import HERE, arguments_of_game

if TYPE_CHECKING:
    from solvent.exact.layered.solve import LayeredSolution

RANGE = re.compile(r"(-?\d+):(-?\d+)")


def parse_parameters(words: Sequence[str]) -> dict[str, Any]:
    """The parameters that the words after a game's name stand for.

    Raises:
        ValueError: If a word belongs to no parameter, or a parameter is given twice.
    """
    parameters: dict[str, Any] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("--") or word == "--":
            raise ValueError(
                f"the word {shown(word)} belongs to no parameter; write parameters as --name value"
            )
        option, equals, value = word.partition("=")
        if not equals:
            value = "true" if not left or left[0].startswith("--") else left.pop(0)
        name = option[2:].replace("-", "_")
        if name in parameters:
            raise ValueError(f"the parameter {brief(option)} is given twice")
        parameters[name] = parse_value(value)
    return parameters


def parse_value(text: str) -> Any:
    """A value as the module describes it."""
    if match := RANGE.fullmatch(text):
        return [int(end) for end in match.groups()]
    try:
        return json.loads(text)
    except ValueError:
        return text
    except RecursionError:
        raise ValueError(f"the value {shown(text)} is nested too deeply") from None


def game_parameters(name: str, words: Sequence[str]) -> dict[str, Any]:
    """The parameters that stand after a game's name; some games take a bare word first."""
    if name.startswith("-"):
        raise ValueError(f"{shown(name)} stands where a game is expected; write the game first")
    spec = game_specs().get(meaning(name)[0])
    bare = words and not words[0].startswith("-")
    meant = spec.shorthands.get(name, {}) if spec else {}
    follows = [as_option(own) for own, value in meant.items() if value is ...]
    if bare and follows:
        words = [*follows, *words]
    return parse_parameters(words)


def read_game(name: str, words: Sequence[str] = ()) -> Game:
    """Return the game that a name and the words after it stand for.

    Args:
        name: The name, as described in the module's docstring.
        words: The parameters.

    Raises:
        ValueError: If there is nothing of that name, or a parameter is not allowed.
    """
    with Bar(f"making {name}"):
        return make_game(name, **game_parameters(name, words))


def has_table(game: Game) -> bool:
    """Return whether a game is sampled and scored by its table."""
    spec = spec_of(game)
    return spec is None or spec.ask("simulator", game) is None


def open_solution(
    folder: Path, name: str | None = None, words: Sequence[str] = ()
) -> LayeredSolution:
    """Open the solution in a folder that ``solvent solve --out`` has written.

    Args:
        folder: The folder of the solution.
        name: The name of the game that it must solve; any game, if left out.
        words: Parameters of the game; those left out are as they were solved.

    Raises:
        ValueError: If the game has no such solutions, or a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another game.
    """
    given = parse_parameters(words)
    if "discount" in given:
        raise ValueError(
            f"discount is {shown(given['discount'])}; a solution in a folder is of the game without"
            f" a discount"
        )
    layered = {spec.name: spec.layered for spec in game_specs().values() if spec.layered}
    if name is not None:
        own, given = find_spec(name).name, game_parameters(name, words)
        if own not in layered:
            raise ValueError(
                f"--solution is for games that are solved layer by layer, not for {name}"
            )
        layered = {own: layered[own]}
    refusals: list[StoreError] = []
    for reference in layered.values():
        try:
            kind: type[LayeredSolution] = load(reference)
            return kind.open(folder, kind.open(folder).game_with(given))
        except StoreError as error:
            refusals.append(error)
    # Games of this package come first, and so does what they say of the folder.
    raise refusals[0] if refusals else StoreError(f"{folder}: no known game is solved in folders")


def game_of_training(policy_file: Path) -> Game:
    """The game on which a policy was trained, read from what ``train`` keeps in its file.

    Raises:
        ValueError: If the file does not say it.
        StoreError: If the file is missing or damaged.
    """
    request = read_request(policy_file)
    game = game_of_request(request)
    if game is None:
        name = request["environment"]
        found = f"names {shown(name)}, no registered environment" if name else "names no game"
        raise ValueError(f"{policy_file}: {found}; write the game after the file")
    return game


def game_of_request(request: Mapping[str, Any]) -> Game | None:
    """Return the game that a training was begun for; None if it is not a named one.

    Args:
        request: The request in the files of ``train``, with its ``"environment"`` and
            ``"env_kwargs"`` checked.
    """
    name, given = request["environment"], request["env_kwargs"]
    # Arguments that make no game are the environment's own, such as what is observed.
    if (known := ENVIRONMENTS.get(name)) is not None:
        own = arguments_of_game(find_spec(known.game), given)
        return make_game(known.game, **{**known.parameters, **own})
    # No other name is looked up: that of a place would run what the file names.
    published = name.removeprefix(HERE)
    register_plugin(published)
    if published not in gym.registry:
        return None
    return make_game(published, **arguments_of_game(find_spec(published), given))


ALGORITHMS: Mapping[str, str] = {
    "ppo": "policy gradients; the environment replaces illegal actions",
    "a2c": "policy gradients, one step from each batch; illegal actions are replaced",
    "trpo": "policy gradients within a trust region; illegal actions are replaced",
    "dqn": "deep Q-learning; the environment replaces illegal actions",
    "qr_dqn": "deep Q-learning of quantiles of the return; illegal actions are replaced",
    "maskable_ppo": "policy gradients over the legal actions only",
    "masked_dqn": "deep Q-learning over the legal actions only",
    "mirror_descent": "self-play where both act at once; needs --self-play",
}
"""Algorithms by name, described here because `solvent.training` takes seconds to import."""

SPREAD = (
    "A Spread is a number (12), a range (2:24) or a mapping of numbers to weights "
    '({"6": 1, "12": 3}), from which the start is drawn at random.'
)


def show_games(console: Console) -> None:
    """Print every game with its environments, forms and baselines, then what all games share."""
    broken = dict(broken_games())
    for spec in game_specs().values():
        try:
            rows = _names(spec)
            rows |= {as_option(one): ", ".join(spec.names_for(one)) for one in spec.choices}
            if own := own_baselines(spec):
                rows["baselines"] = ", ".join(own)
            summary = _summary(spec.maker())
        except Exception as error:  # Somebody else's package may raise anything.
            broken[spec.name] = f"{type(error).__name__}: {error}"
            continue
        console.print(f"[bold]{escape(spec.name)}[/]", highlight=False)
        console.print(Padding(escape(summary), (0, 0, 0, 2)), highlight=False)
        _show_below(console, rows)
        console.print()
    console.print("[bold]any game[/]")
    generic = {name: one.description for name, one in GENERIC.items()}
    common: Facts = {"baselines": generic, "algorithms": ALGORITHMS}
    _show_below(console, common)
    note(
        console,
        "\nsolvent list GAME shows the rules, the parameters and the baselines of one game.\n"
        "GAME may also be one of Gymnasium's environments, such as FrozenLake-v1, or a game of "
        "your own: file.py or module:Class.",
    )
    for name, cause in broken.items():
        console.print(f"{escape(name)} cannot be loaded: {escape(cause)}", style="red")


def _show_below(console: Console, rows: Facts) -> None:
    """Print facts below a name."""
    console.print(Padding(facts(rows, style="dim"), (0, 0, 0, 2)))


def _names(spec: GameSpec) -> dict[str, str | Facts]:
    """Return the shorthands of a game and the ids of its environments."""
    also = {}
    for word, meant in spec.shorthands.items():
        follows = [own.upper() for own, value in meant.items() if value is ...]
        said = {own: own.upper() if value is ... else value for own, value in meant.items()}
        also[" ".join((word, *follows))] = f"= {spec.name} {as_options(said)}"
    rows: dict[str, Facts] = {
        "also": also,
        "Gymnasium": {
            env_id: _environment_text(spec, one) for env_id, one in spec.environments.items()
        },
        "PettingZoo": {}
        if spec.pettingzoo is None
        else {f"solvent/{spec.name}-v0": as_options(spec.pettingzoo)},
    }
    return {name: row for name, row in rows.items() if row}


def show_game(
    console: Console,
    spec: GameSpec,
    name: str,
    environment: Environment | None,
    meant: Mapping[str, Any],
) -> None:
    """Show the description and the parameters of a game.

    Args:
        console: The console to print on.
        spec: The spec of the game.
        name: The name as given: the game's own, a shorthand, or the id of an environment.
        environment: The environment, if the name is the id of one.
        meant: The parameters that the name stands for.
    """
    maker = spec.maker()
    console.print(f"[bold]{escape(spec.name)}[/]", highlight=False)
    console.print(escape(" ".join(spec.rules.split()) or _summary(maker)), highlight=False)
    rows = _names(spec)
    if environment is not None:
        rows = {name: _environment_text(spec, environment)}
    elif meant:
        rows = {name: f"{spec.name} {as_options(meant)}"}
    discount = f"{as_value(spec.discount)}, unless --discount says otherwise"
    rows |= {"value": _meaning(spec, meant), "discount": "" if spec.discount == 1 else discount}
    if told := {name: text for name, text in rows.items() if text}:
        console.print()
        console.print(facts(told))
    meanings = _documented_arguments(inspect.getdoc(maker) or "")
    options = []
    for parameter in inspect.signature(maker).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        default = meant.get(parameter.name, parameter.default)
        plain = "none" if default is None else as_value(default)
        meaning = meanings.get(parameter.name, "")
        names = spec.names_for(parameter.name)
        if any(name not in meaning for name in names):
            meaning = f"{meaning} Names: {', '.join(names)}.".lstrip()
        shown = "needed" if default is parameter.empty else plain
        options.append((as_option(parameter.name), shown, meaning))
    if options:
        console.print("\n[bold]Parameters[/]")
        width = 3 if any(meaning for *_, meaning in options) else 2
        heads = ("option", "default", "meaning")[:width]
        show_rows(console, heads, [row[:width] for row in options])
    if any("Spread" in meaning for *_, meaning in options):
        console.print()
        note(console, SPREAD)
    own = own_baselines(spec)
    described = {name: one.description for name, one in {**own, **GENERIC, **own}.items()}
    console.print("\n[bold]Baselines[/]")
    show_rows(console, ("name", "policy"), list(described.items()))


def _environment_text(spec: GameSpec, environment: Environment) -> str:
    """Describe an environment: parameters, the opponent, and the optimum with unit."""
    changed = as_options(environment.parameters)
    against = f"against {environment.opponent}" if environment.opponent else ""
    optimum = ""
    if environment.optimum is not None:
        meaning = _meaning(spec, environment.parameters)
        optimum = f"optimum {environment.optimum:z.6f}{meaning and f' ({meaning})'}"
    return "; ".join(filter(None, (changed, against, optimum)))


def _meaning(spec: GameSpec, parameters: Mapping[str, Any]) -> str:
    """Return the meaning of a game's values; empty if not given, or if parameters are missing."""
    try:
        return ValueScale(spec.maker()(**parameters).info).meaning
    except (ValueError, TypeError, OSError, ImportError):
        return ""


def _summary(maker: Callable[..., Game]) -> str:
    """Return the first line of the docstring of a game's maker."""
    return (inspect.getdoc(maker) or "").partition("\n")[0]


def _documented_arguments(text: str) -> dict[str, str]:
    """The entries under ``Args:`` in a docstring of Google's convention, without its markup."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(
        r"^    (\w+): (.*?)(?=^    \w+: |\Z)",
        section[1] if section else "",
        re.MULTILINE | re.DOTALL,
    )
    plain = {name: re.sub(r":\w+:`~?([^`]*\.)?([^`]+)`", r"\2", body) for name, body in entries}
    return {
        name: " ".join(body.replace("``", "").replace("`", "").split())
        for name, body in plain.items()
    }
