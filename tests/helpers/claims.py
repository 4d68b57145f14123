"""The tables of a source's claims on the pages: every number beside a claim is computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def claims_on(page: str) -> dict[str, str]:
    """What a page's table of claims says is computed, by claim; minus signs are ASCII."""
    lines = (DOCS / page).read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| claim |")) + 2
    found: dict[str, str] = {}
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        claim, computed, verdict = (cell.strip() for cell in line.strip("|").split("|"))
        assert verdict
        found[claim] = computed
    return found


def check_claims(page: str, computed: Mapping[str, str]) -> None:
    """Compare a page's table with what is computed: the same claims, the same texts."""
    assert claims_on(page) == dict(computed)
