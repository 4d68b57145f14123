"""Files are read with a limit, and only if they are files; JSON is what the standard says."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest
from bad_files import CONTENTS, no_files

from solvent.model.files import parse_json, read_file


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_file(path, 4)
    if sys.platform != "win32":
        link = tmp_path / "link"
        link.symlink_to(path)
        assert read_file(link, 5) == b"12345"


@pytest.mark.skipif(sys.platform == "win32", reason="has links and pipes of Unix")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None  # noqa: PTH208
    for path in no_files(tmp_path, ".json"):
        with pytest.raises(OSError):  # noqa: PT011  # Each says its own.
            read_file(path, 2**40)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_json_is_what_the_standard_says() -> None:
    assert parse_json(b'{"a": [1, 2.5, null, true]}') == {"a": [1, 2.5, None, True]}
    for text in ("NaN", "Infinity", "-Infinity", "[1e999]", '{"a": -1e400}', "[", ""):
        with pytest.raises(ValueError) as caught:  # noqa: PT011  # Each says its own.
            parse_json(text)
        assert "\n" not in str(caught.value)
    assert math.isnan(parse_json('{"a": NaN}', nan=True)["a"])
    with pytest.raises(ValueError, match="Infinity is not allowed"):
        parse_json("Infinity", nan=True)
    assert parse_json("[Infinity, -Infinity]", infinite=True) == [math.inf, -math.inf]
    for text in ("NaN", "1e999"):
        with pytest.raises(ValueError, match=r"NaN is not allowed|1e999 is too large"):
            parse_json(text, infinite=True)


@pytest.mark.parametrize("name", ["deep", "deep-and-closed", "deep-objects"])
def test_deep_json_is_one_line(name: str) -> None:
    with pytest.raises(ValueError, match="it is nested too deeply"):
        parse_json(CONTENTS[name])
