"""The script that computes what Johnston 2022 does, as a module for the tests."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_PATH = Path(__file__).parents[2] / "docs" / "scripts" / "fighting_fantasy.py"


def _load() -> Any:
    spec = spec_from_file_location("combat_paper_script", _PATH)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


paper: Any = _load()
