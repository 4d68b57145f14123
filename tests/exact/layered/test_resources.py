"""How much disk and memory there is, and how that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvent.exact.layered import resources
from solvent.exact.layered.resources import (
    ResourceError,
    check_memory,
)


def test_too_little_memory_is_said_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "free_memory", lambda: 2_000_000_000)
    check_memory(2_000_000_000)
    with pytest.raises(ResourceError, match=r"takes 2\.5 GB of memory, and 2\.0 GB are available"):
        check_memory(2_500_000_000)
    monkeypatch.setattr(resources, "free_memory", lambda: None)
    check_memory(1 << 60)


def test_files_that_a_container_keeps_in_memory_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("9000\n")
    (tmp_path / "memory.current").write_text("8000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\ninactive_file 4000\nactive_file 3000\n")
    assert resources._of_control_group(tmp_path) == 8000
    (tmp_path / "memory.max").write_text("max\n")
    assert resources._of_control_group(tmp_path) is None
    assert resources._of_control_group(tmp_path / "none") is None
