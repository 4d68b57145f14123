"""The command ``solvent``: a thin layer over the packages."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; without the extra that it needs, say so in one line and exit with 2."""
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
