"""How a game and its parameters are written on a command line.

    solvent solve ff-combat --opponent hell-demon --stamina 24 --luck=12

A parameter is an option of the same name, with dashes for underscores. Its value is

- a range of whole numbers ``LOW:HIGH``, which stands for the pair ``[LOW, HIGH]``,
- or JSON, if it can be read as that: ``12``, ``true``, ``null``, ``[2, 24]``, ``{"6": 1}``,
- or else the text as it is written;
- left out, so that the next word is another option or there is none, it is ``true``.

``book FILE`` is short for ``gamebook --book FILE``, and ``football`` for ``football-strategy`` with
``--form half`` unless another is given.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

from solvent.envs import register_envs
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import read_request
from solvent.games import GAMES, GymnasiumTable, make_game
from solvent.model import Game
from solvent.model.parameters import brief, check_choice, shown

BOOK = "book"
"""Stands for the game ``gamebook``; the next word may be the book."""

FOOTBALL = "football"
"""Stands for the game ``football-strategy`` with a clock."""

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


def read_game(name: str, words: Sequence[str]) -> Game:
    """The game that a name and the words after it stand for.

    Raises:
        ValueError: If there is nothing of that name, or a parameter is not allowed.
    """
    if name.startswith("-"):
        raise ValueError(f"{shown(name)} stands where a game is expected; write the game first")
    if name == BOOK:
        name = "gamebook"
        if words and not words[0].startswith("-"):
            words = ["--book", *words]
    parameters = parse_parameters(words)
    if name == FOOTBALL:
        name, parameters = "football-strategy", {"form": "half", **parameters}
    return find_game(name, parameters)


def find_game(name: str, parameters: dict[str, Any]) -> Game:
    """The game that a name stands for.

    Args:
        name: Of a game, of an environment of this package, or of any Gymnasium environment that
            publishes its table of transitions, such as ``FrozenLake-v1``.
        parameters: The game's, or the Gymnasium environment's own.

    Raises:
        ValueError: If there is nothing of that name, or a parameter is not allowed.
    """
    if name in GAMES:
        return make_game(name, **parameters)
    if name in ENVIRONMENTS:
        entry = ENVIRONMENTS[name]
        return make_game(entry.game, **{**entry.parameters, **parameters})
    register_envs()
    if name not in gym.registry:
        check_choice(name, "game", [*GAMES, *ENVIRONMENTS])
    try:
        env = gym.make(name, **parameters)
    except Exception as error:  # Somebody else's environment may raise anything.
        what = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(f"{name} cannot be made ({what})") from error
    try:
        return GymnasiumTable.from_env(env)
    except (TypeError, AttributeError, LookupError) as error:
        raise ValueError(
            f"{name} publishes no table of transitions that can be read ({shown(error)})"
        ) from error
    finally:
        env.close()


def find_environment(name: str) -> str:
    """The environment in which one trains on a game: its own id, or that of the plain game.

    Raises:
        ValueError: If there is none.
    """
    for env_id, entry in ENVIRONMENTS.items():
        if entry.game == name and not entry.parameters:
            return env_id
    if name in gym.registry:
        return name
    return check_choice(
        name, "game to train on", {*(entry.game for entry in ENVIRONMENTS.values()), *ENVIRONMENTS}
    )


def game_of_training(policy_file: Path) -> Game:
    """The game on which a policy was trained, read from what ``train`` keeps in its file.

    Raises:
        ValueError: If the file does not say it.
        StoreError: If the file is missing or damaged.
    """
    game = game_of_request(read_request(policy_file))
    if game is None:
        raise ValueError(
            f"{policy_file}: does not say for which game it is; write the game after it"
        )
    return game


def game_of_request(request: Mapping[str, Any]) -> Game | None:
    """The game that was asked for when a training was begun, or None if it is none of a name.

    Args:
        request: What ``train`` keeps in its files, its ``"environment"`` and ``"env_kwargs"``
            checked.
    """
    entry = ENVIRONMENTS.get(request["environment"])
    if entry is None:
        return None
    # The others are the environment's own, such as what is observed.
    own = {*inspect.signature(GAMES[entry.game]).parameters, "modifiers"}
    given = {name: value for name, value in request["env_kwargs"].items() if name in own}
    return make_game(entry.game, **{**entry.parameters, **given})
