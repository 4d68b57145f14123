"""Errors in one line on the error output.

====  ===================================================================================
exit  meaning
====  ===================================================================================
0     done
2     the input, a file or the installation is not as it should be
130   interrupted with Ctrl-C
====  ===================================================================================
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from solvent.model.parameters import brief

# Found through Typer, which has used Click from outside and a copy of its own.
_UsageError: Any = typer.BadParameter.__base__


class InterruptedWorkError(Exception):
    """Ctrl-C, with what is kept of the work."""


@contextmanager
def interruptible(kept: str) -> Iterator[None]:
    """Say what is kept if the work inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedWorkError(kept) from error


class OneLineErrors(TyperGroup):
    """A group of commands whose errors are one line, unless ``--debug`` asks for the traceback."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the options that stand before the command."""
        if not args:
            return super().make_context(info_name, args, *rest, **extra)
        with _in_one_line(debug="--debug" in args):
            return super().make_context(info_name, args, *rest, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _in_one_line(debug=ctx.params["debug"]):
            return super().invoke(ctx)


@contextmanager
def _in_one_line(*, debug: bool) -> Iterator[None]:
    """Turn what is raised inside into a line and an exit code."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):
        raise  # A pipe breaks when its reader has seen enough; Typer then ends quietly.
    except (KeyboardInterrupt, InterruptedWorkError) as error:
        _fail(f"interrupted; {error}" if str(error) else "interrupted", 130, error)
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
        return str(error.format_message())
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{brief(str(error.filename))}: {error.strerror}"
    if isinstance(error, (ValueError, OSError, ArithmeticError)):
        return str(error) or type(error).__name__
    return None


LONGEST_LINE = 2000
"""Characters; every error keeps its values short, but not all errors are the project's own."""


def _fail(message: str, code: int, cause: BaseException) -> NoReturn:
    line = f"solvent: {brief(' '.join(message.split()), LONGEST_LINE)}"
    if sys.stderr.isatty():
        width = get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    typer.echo(line, err=True)
    raise typer.Exit(code) from cause
