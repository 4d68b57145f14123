"""A card is words and numbers; a hostile one is refused, or harmless where it is shown."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from solvent.benchmark.card import SAME, Card, read_card, write_card
from solvent.exact import StoreError

CARD = Card(
    algorithm="ppo",
    suite="core",
    suite_hash="ab" * 32,
    seeds=(0, 1, 5),
    authors="Ä. Author & others",
    code="https://example.org/ppo?a=1#b",
    source="0123456789ab",
    budget="a million steps",
    tuning="30 trials",
    hardware="one processor",
    uses_model=False,
    saw_solution=True,
    solvent="0.2.0",
)


def test_a_card_comes_back(tmp_path: Path) -> None:
    write_card(tmp_path, CARD)
    assert read_card(tmp_path) == CARD
    write_card(tmp_path, replace(CARD, code=""))
    assert read_card(tmp_path).code == ""
    written = json.loads((tmp_path / "card.json").read_text())
    assert set(written) == {"format", "proved", "stated", *asdict(CARD)}
    assert written.items() >= SAME.items()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "<script>alert(1)</script>"}, "algorithm is '<script>"),
        (
            {"algorithm": "../../etc/passwd"},
            "algorithm is '../../etc/passwd'; expected up to 60 letters",
        ),
        ({"authors": " "}, "authors is ' '; expected a text"),
        ({"authors": ""}, "authors is ''; expected a text"),
        ({"source": "0123456789AB"}, "source is '0123456789AB'; expected 12 hexadecimal digits"),
        ({"suite": "/tmp/own.toml"}, "suite is '/tmp/own.toml'; expected up to 60 letters"),
        ({"suite_hash": "AB" * 32}, "suite_hash is 'ABAB"),
        ({"code": "javascript:alert(1)"}, "code is 'javascript:alert(1)'; expected a link"),
        ({"code": 'https://x" onclick="alert(1)'}, "expected a link"),
        (
            {"authors": "a\nb"},
            "authors is 'a\\nb'; expected a text of up to 300 characters that can be printed",
        ),
        ({"authors": "a\u202eb"}, "characters that can be printed"),
        ({"hardware": "\x1b[2J"}, "characters that can be printed"),
        ({"hardware": "x" * 301}, "characters that can be printed"),
        ({"budget": 7}, "budget is 7; input should be a valid string"),
        ({"uses_model": "no"}, "uses_model is 'no'; input should be a valid boolean"),
        ({"saw_solution": 0}, "saw_solution is 0; input should be a valid boolean"),
        ({"seeds": []}, "seeds is (); expected 1 to 1000 whole numbers"),
        ({"seeds": [0, 10**400]}, "seeds is "),
        ({"seeds": [0, True]}, "seeds.1 is True"),
        ({"seeds": [-1]}, "seeds is (-1,)"),
        ({"seeds": [1, 0]}, "in ascending order"),
        ({"seeds": [1, 1]}, "in ascending order"),
        ({"seeds": list(range(1001))}, "expected 1 to 1000 whole numbers"),
        ({"seeds": {"0": 1}}, "seeds is {'0': 1}"),
        ({"format": 1}, "format is 1; expected 3"),
        (
            {"proved": "That it has learned."},
            "proved is 'That it has learned.'; expected 'The poli",
        ),
        ({"run": "rm -rf"}, "run is 'rm -rf'; unexpected"),
    ],
)
def test_a_card_that_is_not_allowed(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_card(tmp_path, CARD)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(StoreError) as caught:
        read_card(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))
