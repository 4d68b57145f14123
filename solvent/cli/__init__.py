"""The command ``solvent``: a thin layer over the packages."""

import codecs
import sys
from io import TextIOWrapper

# Replacements of characters that the encoding of a terminal or pipe lacks; others become ``?``.
_PLAIN = str.maketrans({"−": "-", "–": "-", "∞": "inf", "×": "x", "…": "..."})


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement of characters that cannot be encoded, and where encoding continues."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "replace").decode(), error.end


def main() -> None:
    """Run the command; without the extra that it needs, say so in one line and exit with 2."""
    codecs.register_error("plain", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="plain")
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
