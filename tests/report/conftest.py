"""The page of the results, made once: it takes a second."""

import json
from pathlib import Path
from typing import Any

import pytest

from solvent.report.page import render


@pytest.fixture(scope="session")
def text(results: Path) -> str:
    return render(results)


@pytest.fixture(scope="session")
def tasks(results: Path) -> list[dict[str, Any]]:
    return list(json.loads((results / "results.json").read_text())["tasks"])
