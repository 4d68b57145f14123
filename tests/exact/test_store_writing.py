"""Writing a file harms nothing: not a link, not a device, not who may read it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from solvent.exact import StoreError, write_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has links and permissions of Unix")


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("given", [0o600, 0o644, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, given: int) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(given)
    write_atomically(path, b"after")
    assert (path.read_text(), mode(path)) == ("after", given)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_secret_is_never_readable_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o600)
    seen = []
    monkeypatch.setattr(Path, "chmod", lambda beside, given: seen.append((mode(beside), given)))
    write_atomically(path, b"after")
    assert seen == [(0o600, 0o600)]


def test_the_target_of_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "target"
    target.write_text("before")
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to("data/target")
    second.symlink_to(link)
    write_atomically(second, b"after")
    assert second.is_symlink()
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "after"
    dangling = tmp_path / "dangling"
    dangling.symlink_to("data/new")
    write_atomically(dangling, b"new")
    assert dangling.is_symlink()
    assert (tmp_path / "data" / "new").read_text() == "new"


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path) -> None:
    # A pipe for a device: were it replaced, as /dev/full once was, nothing would be lost.
    pipe, link, folder, loop = (tmp_path / name for name in ("pipe", "link", "folder", "loop"))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    folder.mkdir()
    loop.symlink_to("loop")
    for path, reason in (
        (pipe, r" \(it is not a regular"),
        (link, r" \(it is not a regular"),
        (folder, ""),
        (loop, ""),
    ):
        with pytest.raises(StoreError, match=rf"^{path}: cannot be written{reason}"):
            write_atomically(path, b"content")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert loop.is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {"folder", "link", "loop", "pipe"}
