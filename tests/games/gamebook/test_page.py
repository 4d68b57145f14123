"""What the page on the format shows is read as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gamebooks import mill

from solvent.games.gamebook.book import WAYS_ON, Book, Fight
from solvent.games.gamebook.effects import steps
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.source import parse_source

PAGE = (Path(__file__).parents[3] / "docs" / "gamebook-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

# The examples share one hero, who is put together from the parts of the page, the Mill's and this.
ADDED: dict[str, Any] = {
    "variables": {
        "stamina": {"initial": 10, "max": 20},
        "luck": {"initial": 7, "max": 12},
        "wounds": {"initial": 0, "max": 5},
    },
    "flags": dict.fromkeys(
        ("cursed", "drank_potion", "unarmed", "silver_blade", "mindshield", "from_behind")
    ),
}


def data(text: str) -> Any:
    return parse_source(text.encode(), "page.yaml").data


def key_of(block: str) -> str:
    return next(iter(data(block)))


def head() -> dict[str, Any]:
    """The beginning of a book that has everything which the page's examples name."""
    result: dict[str, Any] = {"combat": data(mill())["combat"]}
    for block in BLOCKS:
        for key, value in data(block).items():
            if key in ("sections", *WAYS_ON, "do"):
                continue
            if key in ("variables", "flags"):
                value |= ADDED[key]
            result[key] = result.get(key, {}) | value if isinstance(value, dict) else value
    return result


def book_with(sections: dict[Any, Any]) -> Book:
    """The book of the page with these sections, and those to which they lead."""
    text = repr(sections)
    targets = {int(n) for n in re.findall(r"'goto': (\d+)", text)}
    targets |= {int(n) for n in re.findall(r"'(?:success|failure|victory|leave)': (\d+)", text)}
    targets |= {int(n) for n in re.findall(r"'[-.\d]+': (\d+)", text)}
    missing = {n: {"ending": "victory"} for n in targets if n not in sections}
    whole = {**head(), "sections": {**sections, **missing}}
    return parse_book(_yaml(whole).encode())


def _yaml(value: Any) -> str:
    """Plain data in the flow style of YAML, every text in quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml(k)}: {_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def test_every_way_on_of_the_page_is_read() -> None:
    blocks = [block for block in BLOCKS if key_of(block) in WAYS_ON]
    assert len(blocks) > 8
    for block in blocks:
        assert book_with({1: data(block)}).nodes[1, 0].inner


def test_the_sections_and_effects_of_the_page_are_read() -> None:
    [sections] = [data(b)["sections"] for b in BLOCKS if key_of(b) == "sections"]
    assert book_with(sections).targets[2] == (3, 4)
    [effects] = [data(b)["do"] for b in BLOCKS if key_of(b) == "do"]
    book = book_with({1: {"do": effects, "ending": "victory"}})
    assert len(steps(book.sections[1].do, book)) == 2


def test_every_key_of_a_fight_is_described() -> None:
    table = PAGE[PAGE.index("| `rules` | that of") : PAGE.index("Rounds are counted through")]
    described = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    assert sorted(described) == sorted(Fight.model_fields)


def test_every_way_on_is_described() -> None:
    table = PAGE[PAGE.index("| way on | |") : PAGE.index("Wherever a way on leads")]
    assert re.findall(r"^\| `(\w+):", table, re.MULTILINE) == list(WAYS_ON)
