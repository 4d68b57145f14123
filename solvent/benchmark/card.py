"""The card of a submission: who did what, in words and a few numbers, and nothing that runs.

``card.json`` is a :class:`Card` as an object with its fields as keys, and its ``format``. What it
states is somebody's word: its form is checked here, and whoever shows it has to escape it.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from solvent.exact.store import StoreError, write_atomically
from solvent.model.files import parse_json, read_file
from solvent.model.parameters import shown

FILE = "card.json"
"""The name of the file in the folder of a submission."""

FORMAT = 1
"""Of the file."""

LARGEST_CARD = 2**16
"""Bytes of a file that is read."""

MOST_SEEDS = 1_000
"""Of a submission."""

LONGEST = {"algorithm": 60, "authors": 200, "code": 300, "budget": 300, "hardware": 300}
"""Characters of a text; of the others :data:`LONGEST_OTHER`."""

LONGEST_OTHER = 100

_LINK = re.compile(r"https?://[^\s\"'<>\\^`{|}]+")
_NAME = re.compile(r"[\w.+-]+")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a submission says of itself.

    Attributes:
        algorithm: Its name, as its results have it: letters, digits, ``.``, ``+``, ``-``, ``_``.
        suite: The name of the suite whose tasks were learned.
        suite_hash: Of the suite (:func:`solvent.benchmark.suites.suite_hash`).
        seeds: Of the runs, the same in every task, in ascending order.
        authors: Who submits it.
        code: Where the code is, a link; empty if nobody can have it.
        budget: What a run was allowed, in words.
        hardware: What it ran on, in words.
        uses_model: Whether a learner was given the probabilities and rewards of its game, instead
            of samples alone.
        saw_solution: Whether a learner, or who tuned it, was given values or policies of the
            solution.
        solvent: The version of this package that made the submission.

    Raises:
        ValueError: If one is not allowed.
    """

    algorithm: str
    suite: str
    suite_hash: str
    seeds: tuple[int, ...]
    authors: str
    code: str
    budget: str
    hardware: str
    uses_model: bool
    saw_solution: bool
    solvent: str

    def __post_init__(self) -> None:
        """Check the form of all that a file may state."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "str":
                _check_text(one.name, value)
            elif one.type == "bool" and not isinstance(value, bool):
                raise ValueError(f"{one.name} is {shown(value)}; expected true or false")
        for name in ("algorithm", "suite"):
            if not _NAME.fullmatch(getattr(self, name)):
                raise ValueError(
                    f"{name} is {shown(getattr(self, name))}; allowed are letters, digits, '.', "
                    f"'+', '-' and '_'"
                )
        if not _HASH.fullmatch(self.suite_hash):
            raise ValueError(
                f"suite_hash is {shown(self.suite_hash)}; expected 64 hexadecimal digits"
            )
        if self.code and not _LINK.fullmatch(self.code):
            raise ValueError(f"code is {shown(self.code)}; expected a link, https://…")
        fits = all(type(seed) is int and 0 <= seed < 2**63 for seed in self.seeds)
        if not fits or not 0 < len(self.seeds) <= MOST_SEEDS:
            raise ValueError(
                f"seeds is {shown(list(self.seeds))}; allowed are 1 to {MOST_SEEDS} whole numbers "
                f"from 0 to 2^63 - 1"
            )
        if list(self.seeds) != sorted(set(self.seeds)):
            raise ValueError(
                f"seeds is {shown(list(self.seeds))}; expected each once, in ascending order"
            )


def _check_text(name: str, value: Any) -> None:
    longest = LONGEST.get(name, LONGEST_OTHER)
    if not isinstance(value, str) or not (value.strip() or (value == "" and name == "code")):
        raise ValueError(f"{name} is {shown(value)}; expected a text")
    if len(value) > longest:
        raise ValueError(f"{name} has {len(value):,} characters; at most {longest} are allowed")
    # No line ends, no controls, and nothing that turns the direction of writing.
    if not value.isprintable():
        raise ValueError(f"{name} is {shown(value)}; expected characters that can be printed")


def write_card(folder: str | Path, card: Card) -> None:
    """Write ``card.json``.

    Args:
        folder: Of the submission.
        card: What it is to hold.

    Raises:
        StoreError: If the file cannot be written.
    """
    content = {"format": FORMAT, **asdict(card)}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(Path(folder) / FILE, text.encode())


def read_card(folder: str | Path) -> Card:
    """Read ``card.json``.

    Args:
        folder: Of the submission.

    Raises:
        StoreError: If it is missing or damaged, has an entry that no card has, lacks one, or one is
            not allowed.
    """
    path = Path(folder) / FILE
    try:
        content = parse_json(read_file(path, LARGEST_CARD))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: not JSON, or damaged") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path}: is {shown(content)}; expected an object")
    if (found := content.pop("format", None)) != FORMAT:
        raise StoreError(f"{path}: format is {shown(found)}; this version reads {FORMAT}")
    known = {one.name for one in fields(Card)}
    for name in content:
        if name not in known:
            raise StoreError(f"{path}: has the entry {shown(name)}, which no card has")
    for name in sorted(known):
        if name not in content:
            raise StoreError(f"{path}: lacks {name}")
    if not isinstance(content["seeds"], list):
        raise StoreError(f"{path}: seeds is {shown(content['seeds'])}; expected a list")
    try:
        return Card(**{**content, "seeds": tuple(content["seeds"])})
    except ValueError as error:
        raise StoreError(f"{path}: {error}") from error
