"""The package that docs/adding-a-game.md shows."""

from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parents[2] / "examples" / "parlour-games"


def parlour() -> ModuleType:
    """The module of the package, without installing it."""
    module = ModuleType("parlour_games")
    exec((PACKAGE / "parlour_games.py").read_text(encoding="utf-8"), vars(module))
    return module
