"""The commands that games bring: listed with the others, imported when they are called."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from solvent.cli.errors import OneLineErrors
from solvent.model.parameters import ChoiceError, as_option, brief, nearest
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


class GameCommand(TyperCommand):
    """A command that takes the parameters of a game as options, beside its own."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what is neither an option nor a parameter is told with the nearest."""
        own = [name for one in self.params for name in one.opts if name.startswith("--")]
        game = str(ctx.params.get("game"))
        if game.startswith("--") and (near := nearest(game, own)):
            raise ValueError(_no_option(ctx, game, "", near))
        try:
            return super().invoke(ctx)
        except ChoiceError as error:
            given = {_name(word): word for word in ctx.args if word.startswith("--")}
            if error.value not in given:
                raise
            option = brief(given[error.value].partition("=")[0])
            parameters = list(map(as_option, error.allowed))
            near = nearest(option, [*own, *parameters])
            line = _no_option(ctx, option, f" and no {error.name}", near)
            known = f" Parameters: {', '.join(parameters)}." if parameters else ""
            raise ValueError(line + known) from error


def _no_option(ctx: Any, option: str, also: str, near: str | None) -> str:
    """Return the message for an unknown option."""
    meant = f"; did you mean {near}?" if near else f"; see `{ctx.command_path} --help`."
    return f"{option} is no option of `{ctx.command_path}`{also}{meant}"


def _name(word: Any) -> str:
    """The parameter that a word of the command line names."""
    return str(word).partition("=")[0].removeprefix("--").replace("-", "_")


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
