"""The answers that a person may give: the list of actions, and the action that an answer means."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

WIDTH = 79
"""Characters of a line in which actions are listed."""


@dataclass(frozen=True)
class Choices:
    """The actions among which a person chooses.

    Args:
        names: The name of each action, in the order in which they are shown.
        numbers: The action that each number stands for.
    """

    names: Mapping[int, str]
    numbers: Mapping[int, int]

    def listed(self) -> str:
        """Return a short list of the actions, such as ``0 stand, 1-29 roll that many``.

        Names that are their own numbers, or letters that follow each other, are shown as a range,
        and so are names of one word and their own numbers.
        """
        number_of = {action: number for number, action in self.numbers.items()}
        runs: list[list[tuple[int | None, str]]] = []
        for action, name in self.names.items():
            item = (number_of.get(action), name)
            if runs and _follows(runs[-1][-1], item):
                runs[-1].append(item)
            else:
                runs.append([item])
        return ", ".join(text for run in runs for text in _run_texts(run))

    def meant(self, answer: str) -> list[int]:
        """Return the actions that an answer can mean: by name, number, or beginning of a name.

        Args:
            answer: The answer in lower case, without spaces at its ends.
        """
        exact = [action for action, name in self.names.items() if name.lower() == answer]
        if exact or not answer:
            return exact
        if answer.isdecimal():
            number = int(answer)
            return [self.numbers[number]] if number in self.numbers else []
        return [action for action, name in self.names.items() if name.lower().startswith(answer)]

    def hint(self, answer: str) -> str:
        """Return the reply to an answer that means no action, or several."""
        several = {action: self.names[action] for action in self.meant(answer)}
        if several:
            return wrapped(f"{answer!r} can be {Choices(several, self.numbers).listed()}.")
        by_lower = {name.lower(): name for name in self.names.values()}
        near = get_close_matches(answer, by_lower, n=1)
        if near:
            return wrapped(f"There is no {answer!r} here; did you mean {by_lower[near[0]]!r}?")
        return wrapped(f"There is no {answer!r} here. Choose from: {self.listed()}.")


def _follows(one: tuple[int | None, str], other: tuple[int | None, str]) -> bool:
    """Return whether the second of two numbered names continues the range of the first."""
    (number, name), (next_number, next_name) = one, other
    if re.fullmatch("[A-Z]", name) and re.fullmatch("[A-Z]", next_name):
        return ord(next_name) == ord(name) + 1
    if number is None or next_number != number + 1:
        return False
    word, next_word = _word(number, name), _word(next_number, next_name)
    return word is not None and word == next_word


def _word(number: int | None, name: str) -> str | None:
    """Return the text before a name's own number, which may be empty; None without a number."""
    word, _, last = name.rpartition(" ")
    return word if last == str(number) else None


def _run_texts(run: Sequence[tuple[int | None, str]]) -> list[str]:
    """A range, or single names where there are few."""
    (first, name), (last, last_name) = run[0], run[-1]
    if re.fullmatch("[A-Z]", name):
        return [name if len(run) == 1 else f"{name}-{last_name}"]
    word = _word(first, name)
    if word is None or (word and len(run) < 3):
        return [one if number is None or one == str(number) else f"{number} {one}"
                for number, one in run]  # fmt: skip
    numbers = name if len(run) == 1 else f"{first}-{last}"
    return [f"{numbers} {word} that many" if word else numbers]


def wrapped(text: str, indent: str = "") -> str:
    """A text in lines that fit."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
