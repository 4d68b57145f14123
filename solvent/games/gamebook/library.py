"""Opening books by name or by path, and the reader who opens one for the first time.

Such a reader knows the rules, but not what lies behind an option:

* At a choice, in a shop and when picking disciplines, every option is as good as another, and each
  is taken with equal probability.
* A fight is fought to its end, without escape and without tests of LUCK.

This policy differs from uniform play in fights only. It considers neither the hero's state nor the
odds, so a book can be hard on it: its gap is the value of knowing the book.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from solvent.baselines import Baseline
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_choice

if TYPE_CHECKING:
    from solvent.games.gamebook.rules import Gamebook

BOOKS = Path(__file__).with_name("books")
SUFFIXES = (".yaml", ".yml", ".json")


def book_names() -> tuple[str, ...]:
    """The names of the books that come with the package."""
    return tuple(sorted(path.stem for path in BOOKS.glob("*.yaml")))


def book_path(book: str) -> Path:
    """The file of a book.

    Args:
        book: Name of a packaged book, or path of a file.

    Raises:
        ValueError: If it is neither.
    """
    if Path(book).suffix.lower() in SUFFIXES:
        return Path(book)
    names = book_names()
    if book not in names:
        check_choice(book, "book", [*names, f"paths of files that end in {' '.join(SUFFIXES)}"])
    return BOOKS / f"{book}.yaml"


def open_book(book: str = "red-lamp") -> Gamebook:
    """A gamebook: a story of choices, dice and fights.

    Args:
        book: The name of one that comes with the package, or the path of a file.

    Raises:
        ValueError: If there is no such book, or an error in it.
        OSError: If the file cannot be read.
        ModuleNotFoundError: If a package that reads books is not installed; the message names the
            extra.
    """
    path = book_path(str(book))
    try:
        from solvent.games.gamebook.loader import load_book
        from solvent.games.gamebook.rules import Gamebook
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"reading a gamebook needs {error.name}: pip install 'solvent[books]'", name=error.name
        ) from error
    return Gamebook(load_book(path), name=str(book))


def first_visit(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the policy of a reader on a first visit.

    Args:
        game: A gamebook.
        player: The only player, 0.
    """
    in_fight = np.array([bool(cast(Any, page).step) for page in game.states]) & ~game.terminal
    probabilities = TabularPolicy.uniform(game, player=player).probabilities.copy()
    probabilities[in_fight] = 0
    probabilities[in_fight, 0] = 1
    return TabularPolicy.of(game, probabilities, player=player, name="first-visit")


BASELINES: Mapping[str, Baseline] = {
    "first-visit": Baseline(
        first_visit,
        lambda game, player: player == 0,
        "Any option with equal probability; fights to the end.",
    )
}
