"""The group of all commands: those that games bring too, with errors in one line.

A game's command is listed with the others, and imported when it is called. Exit codes:

====  ===================================================================================
exit  meaning
====  ===================================================================================
0     done
2     the input, a file or the installation is not as it should be
130   interrupted with Ctrl-C
====  ===================================================================================
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from solvent.model.parameters import ChoiceError, as_option, brief, nearest, printable
from solvent.model.registry import Command, game_specs, load

# Found through Typer, which has used Click from outside and a copy of its own.
_UsageError: Any = typer.BadParameter.__base__


@contextmanager
def _in_one_line(*, debug: bool) -> Iterator[None]:
    """Turn what is raised inside into a line and an exit code."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):
        raise  # A pipe breaks when its reader has seen enough; Typer then ends quietly.
    except KeyboardInterrupt as error:
        _fail("interrupted; with --out DIR the same command continues where it stopped", 130, error)
    except Exception as error:
        line = _line(error)
        if debug or line is None:
            raise
        _fail(line, 2, error)


EXTRAS = {
    "torch": "train",
    "stable_baselines3": "train",
    "sb3_contrib": "train",
    "tensorboard": "train",
    "yaml": "books",
    "flask": "web",
    "werkzeug": "web",
    "jinja2": "report",
    "pydantic": "books",
    "ray": "cluster",
    "minigrid": "minigrid",
    "pyspiel": "openspiel",
    "stormpy": "prism",
}
"""The extra of this package that brings a module."""


def _line(error: Exception) -> str | None:
    """Return the line for an error; None if only the program is at fault."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        module = error.name.partition(".")[0]
        if module in EXTRAS:
            return f"this needs {module}; install it with: pip install 'solvent[{EXTRAS[module]}]'"
    if isinstance(error, _UsageError):
        # Typer has a parser's error by way of pydantic, which names its class.
        return str(error.format_message()).replace("Value error, ", "", 1)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{brief(str(error.filename))}: {error.strerror}"
    if isinstance(error, (ValueError, OSError, ArithmeticError)):
        return str(error) or type(error).__name__
    return None


# Characters; every error keeps its values short, but not all errors are the project's own.
_LONGEST_LINE = 2000


def _fail(message: str, code: int, cause: BaseException) -> NoReturn:
    line = printable(brief(" ".join(message.split()), _LONGEST_LINE))
    typer.echo(f"solvent: {line}", err=True)
    raise typer.Exit(code) from cause


MORE = "More commands"
"""The heading of the commands that a newcomer can do without."""


class MainGroup(TyperGroup):
    """The commands of the toolkit, followed by those of the games.

    Their errors are one line, unless ``--debug`` asks for the traceback.
    """

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the options that stand before the command."""
        if not args:
            return super().make_context(info_name, args, *rest, **extra)
        with _in_one_line(debug="--debug" in args):
            # As a path it would be the current folder.
            if "--out=" in args or ("--out", "") in pairwise(args):
                raise ValueError("--out is ''; expected a path")
            return super().make_context(info_name, args, *rest, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _in_one_line(debug=ctx.params["debug"]):
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return [*super().list_commands(ctx), *sorted(_brought())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; one that a game brings with its name and its help only."""
        own = super().get_command(ctx, cmd_name)
        brought = None if own else _brought().get(cmd_name)
        return _Brought(cmd_name, brought) if brought else own


class GameCommand(TyperCommand):
    """A command that takes the parameters of a game as options, beside its own."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an unknown option is reported with the nearest known one."""
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
    """Stands for a command that a game brings, which is imported when it is called."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, help=command.help, rich_help_panel=MORE)
        self.reference = command.app

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the words for the command itself."""
        command: Any = typer.main.get_command(load(self.reference))
        return command.make_context(info_name, args, *rest, **extra)


def _brought() -> dict[str, Command]:
    """The commands of all games, by name."""
    return {name: c for spec in game_specs().values() for name, c in spec.commands.items()}
