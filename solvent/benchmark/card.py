"""The card of a submission: its authors and methods in words and numbers, with nothing that runs.

``card.json`` is a :class:`Card` as an object with its fields as keys. Three entries more are the
same on every card: its ``format``, and what is ``proved`` and what is ``stated`` of a submission.
Whoever shows a text of a card has to escape it; only its form is checked here.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from solvent.benchmark.json_files import read_json, validated
from solvent.exact.store import StoreError, write_atomically
from solvent.model.parameters import shown

FILE = "card.json"
"""The name of the file in the folder of a submission."""

PROVED = "The policies of this folder are for the games of the suite and have the scores claimed."
STATED = (
    "Who learned them, by which algorithm, from how many steps, in what time, on which machine, "
    "and what the learner was given."
)
SAME = {"format": 3, "proved": PROVED, "stated": STATED}
"""Entries that are the same on every card."""

LARGEST_CARD = 2**16
"""Largest size of a file that is read, in bytes."""

MOST_SEEDS = 1_000
"""Largest number of seeds of a submission."""

LONGEST_TEXT = 300
"""Largest length of a text, in characters."""

_NAME = r"[\w.+@-]{1,60}"
_NAMES = "up to 60 letters, digits, '.', '+', '@', '-' and '_'"
_TEXT = rf"(?=.*\S).{{1,{LONGEST_TEXT}}}"
_TEXTS = f"a text of up to {LONGEST_TEXT} characters that can be printed"
_FORMS = {
    "algorithm": (_NAME, _NAMES),
    "suite": (_NAME, _NAMES),
    "suite_hash": ("[0-9a-f]{64}", "64 hexadecimal digits"),
    "source": ("([0-9a-f]{12})?", "12 hexadecimal digits, or nothing"),
    "code": (r"(https?://[^\s\"'<>\\^`{|}]{1,290})?", "a link, https://…, or nothing"),
}
"""The forms of texts that are not any :data:`_TEXT`."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """The description of a submission by its authors.

    Attributes:
        algorithm: Name of the algorithm, as in the results.
        suite: Name of the suite whose tasks were learned.
        suite_hash: Hash of the suite (:func:`solvent.benchmark.suites.suite_hash`).
        seeds: Seeds of the runs, the same in every task, in ascending order.
        authors: Authors of the submission.
        code: Link to the code; empty if it is not available.
        source: A hash of the code (:attr:`solvent.benchmark.algorithms.Algorithm.source`); empty if
            the runs have no record of it.
        budget: Budget of a run, in words.
        tuning: Description of how the settings of the algorithm were chosen.
        hardware: Hardware of the runs, in words.
        uses_model: Whether a learner was given the probabilities and rewards of its game, instead
            of samples alone.
        saw_solution: Whether a learner, or the person who tuned it, was given values or policies of
            the solution.
        solvent: The version of this package that made the submission.

    Raises:
        ValueError: If one is not allowed.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    algorithm: str
    suite: str
    suite_hash: str
    seeds: tuple[int, ...]
    authors: str
    code: str
    source: str
    budget: str
    tuning: str
    hardware: str
    uses_model: bool
    saw_solution: bool
    solvent: str

    def __post_init__(self) -> None:
        """Check the values; their types are checked where a file is read."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "str":
                form, expected = _FORMS.get(one.name, (_TEXT, _TEXTS))
                # No controls, and nothing that turns the direction of writing.
                if not value.isprintable() or not re.fullmatch(form, value):
                    raise ValueError(f"{one.name} is {shown(value)}; expected {expected}")
        ordered = list(self.seeds) == sorted({seed for seed in self.seeds if 0 <= seed < 2**63})
        if not ordered or not 0 < len(self.seeds) <= MOST_SEEDS:
            raise ValueError(
                f"seeds is {shown(self.seeds)}; expected 1 to {MOST_SEEDS} whole numbers from 0 to "
                f"2^63 - 1, in ascending order"
            )


def write_card(folder: str | Path, card: Card) -> None:
    """Write ``card.json``.

    Args:
        folder: Folder of the submission.
        card: The card to write.

    Raises:
        StoreError: If the file cannot be written.
    """
    text = json.dumps({**SAME, **asdict(card)}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(Path(folder) / FILE, text.encode())


def read_card(folder: str | Path) -> Card:
    """Read ``card.json``.

    Args:
        folder: Folder of the submission.

    Raises:
        StoreError: If it is missing or damaged, has an entry that no card has, lacks one, or one is
            not allowed.
    """
    path = Path(folder) / FILE
    content = read_json(path, LARGEST_CARD, "JSON of a card")
    if not isinstance(content, dict):
        raise StoreError(f"{path}: not JSON of a card, or damaged")
    for name, expected in SAME.items():
        if (found := content.pop(name, None)) != expected:
            raise StoreError(f"{path}: {name} is {shown(found)}; expected {shown(expected)}")
    return validated(Card, content, path)
