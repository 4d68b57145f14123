"""The command ``solvent``: a thin layer over the packages."""

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command; without the extra that it needs, say so in one line and exit with 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # Others have no minus sign, for one.
    try:
        from solvent.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "click", "rich"):
            raise
        print(
            f"solvent: the command needs {error.name}; install it with: pip install 'solvent[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    app(prog_name="solvent")
