"""Games and their parameters on a command line.

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
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from solvent.model import Game
from solvent.model.files import StoreError
from solvent.model.parameters import brief, shown
from solvent.model.registry import (
    Environment,
    GameSpec,
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
    from solvent.exact import SolvedGame

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


def environments() -> dict[str, tuple[GameSpec, Environment]]:
    """The environments of all known games, by their ids."""
    return {
        env_id: (spec, environment)
        for spec in game_specs().values()
        for env_id, environment in spec.environments.items()
    }


def game_parameters(name: str, words: Sequence[str]) -> dict[str, Any]:
    """The parameters that stand after a game's name; some games take a bare word first."""
    if name.startswith("-"):
        raise ValueError(f"{shown(name)} stands where a game is expected; write the game first")
    spec = game_specs().get(meaning(name)[0])
    bare = words and not words[0].startswith("-")
    if spec and spec.argument and name in spec.shorthands and bare:
        words = [f"--{spec.argument}", *words]
    return parse_parameters(words)


def read_game(name: str, words: Sequence[str] = ()) -> Game:
    """Return the game that a name and the words after it stand for.

    Args:
        name: The name, as described in the module's docstring.
        words: The parameters.

    Raises:
        ValueError: If there is nothing of that name, or a parameter is not allowed.
    """
    return make_game(name, **game_parameters(name, words))


def has_table(game: Game) -> bool:
    """Return whether a game is sampled and scored by its table."""
    spec = spec_of(game)
    return spec is None or spec.ask("simulator", game) is None


def open_solution(folder: Path, name: str | None = None, words: Sequence[str] = ()) -> SolvedGame:
    """Open the solution in a folder that ``solvent solve --out`` has written.

    Args:
        folder: The folder of the solution.
        name: The name of the game that it must solve; any game, if left out.
        words: Parameters of the game; those left out are as they were solved.

    Raises:
        ValueError: If the game has no such solutions, or a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another game.
    """
    own, given = None, parse_parameters(words)
    if "discount" in given:
        raise ValueError(
            f"discount is {shown(given['discount'])}; a solution in a folder is of the game without"
            f" a discount"
        )
    if name is not None:
        own, given = find_spec(name).name, game_parameters(name, words)
    layered = {spec.name: spec.opened for spec in game_specs().values() if spec.opened}
    if own is not None:
        if own not in layered:
            raise ValueError(
                f"--solution is for games that are solved layer by layer, not for {name}"
            )
        layered = {own: layered[own]}
    refusals: list[StoreError] = []
    for reference in layered.values():
        try:
            solved: SolvedGame = load(reference)(folder, given)
        except StoreError as error:
            refusals.append(error)
        else:
            return solved
    # Games of this package come first, and so does what they say of the folder.
    raise refusals[0] if refusals else StoreError(f"{folder}: no known game is solved in folders")


def read_subject(
    game: str | None, solution: Path | None, words: Sequence[str]
) -> tuple[Game | SolvedGame, list[Any]]:
    """Return the subject of a report, and the further sections that are asked for.

    Args:
        game: The name of the game, or None.
        solution: The folder of its solution, in the place of the name.
        words: The game's parameters; among them the studies of its spec, such as ``--paper-agent``.

    Returns:
        The game, solved if it is opened or studied, and the sections.

    Raises:
        ValueError: If there is no such game, a parameter is not allowed, or the game has no such
            study.
        StoreError: If the solution is missing, damaged, or of another game.
    """
    known = {study for spec in game_specs().values() for study in spec.studies}
    asked = [word for word in words if word.removeprefix("--") in known]
    words = [word for word in words if word not in asked]
    subject: Game | SolvedGame
    if solution is None:
        subject = rules = read_game(str(game), words)
    else:
        subject = open_solution(solution, words=words)
        rules = subject.game
    sections: list[Any] = []
    for study in asked:
        spec = spec_of(rules)
        reference = spec and spec.studies.get(study.removeprefix("--"))
        if reference:
            # Compiled loops take a while to import.
            from solvent.exact import solve

            subject = solve(subject) if isinstance(subject, Game) else subject
        found = load(reference)(subject) if reference else None
        if found is None:
            raise ValueError(f"{study} is not for {rules.info.name} with these parameters")
        sections += found
    return subject, sections


def game_of_training(policy_file: Path) -> Game:
    """The game on which a policy was trained, read from what ``train`` keeps in its file.

    Raises:
        ValueError: If the file does not say it.
        StoreError: If the file is missing or damaged.
    """
    from solvent.exact import read_request

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
    if (known := environments().get(name)) is not None:
        spec, environment = known
        return make_game(spec.name, **{**environment.parameters, **arguments_of_game(spec, given)})
    # No other name is looked up: that of a place would run what the file names.
    published = name.removeprefix(HERE)
    register_plugin(published)
    if published not in gym.registry:
        return None
    return make_game(published, **arguments_of_game(find_spec(published), given))
