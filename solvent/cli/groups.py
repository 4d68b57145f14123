"""The commands that games bring: listed with the others, imported when they are called."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from solvent.cli.errors import OneLineErrors
from solvent.model.registry import Command, game_specs, load


class MainGroup(OneLineErrors):
    """The commands of the toolkit, followed by those of the games."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return [*super().list_commands(ctx), *sorted(_brought())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; one that a game brings with its name and its help only."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        brought = _brought().get(cmd_name)
        return None if brought is None else _Brought(cmd_name, brought)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to be run, and the words that are for it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.imported() if isinstance(command, _Brought) else command, rest


class _Brought(TyperCommand):
    """Stands for a command that is not imported yet."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, help=command.help)
        self.reference = command.app

    def imported(self) -> Any:
        """The command itself."""
        found = load(self.reference)
        if isinstance(found, typer.Typer):
            command: Any = typer.main.get_group(found)
        else:
            app = typer.Typer(add_completion=False, rich_markup_mode="rich")
            app.command()(found)
            command = typer.main.get_command(app)
        command.name = self.name
        return command


def _brought() -> dict[str, Command]:
    """The commands of all games, by name."""
    return {name: c for spec in game_specs().values() for name, c in spec.commands.items()}
