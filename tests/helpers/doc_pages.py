"""Tables and figures of the documentation: every number and picture on a page is computed."""

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

DOCS = Path(__file__).parents[2] / "docs"


def table_rows(text: str, heading: str) -> list[tuple[str, ...]]:
    """The cells of the table that begins with a heading, or with several; minus signs are ASCII.

    Args:
        text: The page.
        heading: The first heading, or the first ones with the bars between them.
    """
    _, found, table = text.replace("\N{MINUS SIGN}", "-").partition(f"| {heading} |")
    assert found, heading
    lines = takewhile(lambda line: line.startswith("|"), table.splitlines()[2:])
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    # Without the backquotes of one that is all code.
    return [tuple(re.sub(r"^`([^`]*)`$", r"\1", cell) for cell in row) for row in cells]


def blocks_of(page: str, language: str) -> list[str]:
    """A page's blocks in a language, but those of files, which have a title."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [dedent(body) for _, body in found]


def check_claims(page: str, computed: Mapping[str, str]) -> None:
    """Compare a page's table of a source's claims with what is computed: the same texts."""
    rows = table_rows((DOCS / page).read_text(encoding="utf-8"), "claim")
    assert {claim: text for claim, text, _ in rows} == dict(computed)
    assert all(verdict for *_, verdict in rows)


def check_sentences(page: str, sentences: Iterable[str] | Mapping[str, object]) -> None:
    """A page has each sentence, whatever its line breaks; a mapping says whether each is true."""
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    for sentence in sentences:
        assert sentence in text
        assert not isinstance(sentences, Mapping) or sentences[sentence], sentence


def check_figure(drawn: str, kept: Path, most: int = 100_000) -> None:
    """A figure is what its script draws, is small, and loads nothing from elsewhere."""
    assert kept.read_text(encoding="utf-8").strip() == drawn.strip()
    assert len(drawn) < most
    assert set(re.findall(r"https?://[^\s\"'<>]+", drawn)) == {"http://www.w3.org/2000/svg"}
