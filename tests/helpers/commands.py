"""The command `solvent` in the process of a test: what it says, answers and refuses."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from solvent.cli.app import app


def run(*words: object, **options: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, words)], prog_name="solvent", **options)


def said(*words: object, **options: Any) -> str:
    result = run(*words, **options)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def answer(*words: object) -> Any:
    return json.loads(said(*words))


def refusal(*words: object) -> str:
    """The one short line that a command says when it refuses."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    [line] = result.stderr.splitlines()
    assert line.startswith("solvent: ")
    longest = max((len(str(word)) for word in words if Path(str(word)).is_absolute()), default=0)
    assert len(line) < 600 + longest
    return line.removeprefix("solvent: ")
