"""What the page on the format shows is read as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gamebooks import mill

from solvent.games.gamebook.book import WAYS_ON, Book, Fight
from solvent.games.gamebook.loader import parse_book, parse_source

PAGE = (Path(__file__).parents[3] / "docs" / "gamebook-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

ADDED: dict[str, Any] = {
    "flags": dict.fromkeys(("drank_potion", "silver_blade", "mindshield", "from_behind")),
}


def data(text: str) -> Any:
    return parse_source(text.encode(), "page.yaml").data


def head() -> dict[str, Any]:
    """The Mill's hero, with what the page's example names besides."""
    whole = data(mill())
    added = {key: whole[key] | value for key, value in ADDED.items()}
    return {key: value for key, value in whole.items() if key != "sections"} | added


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


def test_the_fight_of_the_page_is_read() -> None:
    [block] = BLOCKS
    assert book_with({1: data(block)}).nodes[1, 0].inner


def test_every_key_of_a_fight_is_described() -> None:
    table = PAGE[PAGE.index("| `rules` | that of") : PAGE.index("Rounds are counted through")]
    described = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    assert sorted(described) == sorted(Fight.model_fields)


def test_every_way_on_is_described() -> None:
    table = PAGE[PAGE.index("| way on | meaning |") : PAGE.index("Wherever a way on leads")]
    assert re.findall(r"^\| `(\w+):", table, re.MULTILINE) == list(WAYS_ON)
