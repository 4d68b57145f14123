"""``solvent list``: all games with their environments, or one game with its parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from solvent.baselines import GENERIC, Baseline
from solvent.cli.terminal import Facts, facts, note, show_rows
from solvent.model import Game, ValueScale
from solvent.model.parameters import as_option, as_options, as_value
from solvent.model.registry import Environment, GameSpec, broken_games, game_specs, load

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
            if own := _own_baselines(spec):
                rows["baselines"] = ", ".join(own)
            summary = _summary(spec.maker())
        except Exception as error:  # Somebody else's package may raise anything.
            broken[spec.name] = f"{type(error).__name__}: {error}"
            continue
        console.print(f"[bold]{escape(spec.name)}[/]", highlight=False)
        console.print(Padding(escape(summary), (0, 0, 0, 2)), highlight=False)
        console.print(Padding(facts(rows, style="dim"), (0, 0, 0, 2)))
        console.print()
    console.print("[bold]any game[/]")
    generic = {name: one.description for name, one in GENERIC.items()}
    common: Facts = {"baselines": generic, "algorithms": ALGORITHMS}
    console.print(Padding(facts(common, style="dim"), (0, 0, 0, 2)))
    note(
        console,
        "\nsolvent list GAME shows the rules, the parameters and the baselines of one game.\n"
        "GAME may also be one of Gymnasium's environments, such as FrozenLake-v1, or a game of "
        "your own: file.py or module:Class.",
    )
    for name, cause in broken.items():
        console.print(f"{escape(name)} cannot be loaded: {escape(cause)}", style="red")


def _names(spec: GameSpec) -> dict[str, str | Facts]:
    """Return the shorthands of a game and the ids of its environments."""
    argument = "" if spec.argument is None else spec.argument.upper()
    after = "" if spec.argument is None else f" {as_option(spec.argument)} {argument}"
    rows: dict[str, Facts] = {
        "also": {
            f"{word} {argument}".rstrip(): f"= {spec.name} {as_options(meant)}".rstrip() + after
            for word, meant in spec.shorthands.items()
        },
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
    _show_parameters(console, spec, maker, meant)
    own = _own_baselines(spec)
    described = {name: one.description for name, one in {**own, **GENERIC, **own}.items()}
    console.print("\n[bold]Baselines[/]")
    show_rows(console, ("name", "policy"), list(described.items()))


def _show_parameters(
    console: Console, spec: GameSpec, maker: Callable[..., Game], meant: Mapping[str, Any]
) -> None:
    """The options of a game with their defaults, and the names that they allow."""
    text = inspect.getdoc(maker) or ""
    meanings = _documented_arguments(text)
    rows = []
    for parameter in inspect.signature(maker).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        default = meant.get(parameter.name, parameter.default)
        shown = (
            "needed"
            if default is parameter.empty
            else "none"
            if default is None
            else as_value(default)
        )
        meaning = meanings.get(parameter.name, "")
        names = spec.names_for(parameter.name)
        if any(name not in meaning for name in names):
            meaning = f"{meaning} Names: {', '.join(names)}.".lstrip()
        rows.append((as_option(parameter.name), shown, meaning))
    if not rows:
        return
    console.print("\n[bold]Parameters[/]")
    width = 3 if any(meaning for *_, meaning in rows) else 2
    names_shown = ("option", "default", "meaning")[:width]
    show_rows(console, names_shown, [row[:width] for row in rows])
    if any("Spread" in meaning for *_, meaning in rows):
        console.print()
        note(console, SPREAD)


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


def _own_baselines(spec: GameSpec) -> Mapping[str, Baseline]:
    """The baselines that a game adds."""
    return {} if spec.baselines is None else load(spec.baselines)


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
