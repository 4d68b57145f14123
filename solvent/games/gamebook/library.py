"""The books that come with the package, and opening any book by name or by path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
