"""One process at a time writes into a folder, and what a killed one leaves does no harm."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from solvent.exact import StoreError, write_atomically
from solvent.exact.layered.lock import NAME, FolderLock
from solvent.exact.store import remove_temporary

HOLD = """
import os, sys, time
from pathlib import Path
from solvent.exact import write_atomically
from solvent.exact.layered.lock import FolderLock

folder = Path(sys.argv[1])

def never_done(_):
    print("ready", flush=True)
    time.sleep(600)

with FolderLock(folder):
    # As if the disk took its time: the new content is beside the file, which is as it was.
    os.fsync = never_done
    write_atomically(folder / "kept.txt", b"new")
"""


@contextmanager
def writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder's lock and is in the middle of writing a file."""
    words = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_second_process_is_told_and_a_killed_one_is_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_atomically(folder / "kept.txt", b"old")
    (folder / ".hidden.file").write_text("mine")
    with writer(folder) as process:
        with pytest.raises(StoreError) as caught:
            FolderLock(folder)
        told = f"{folder}: process {process.pid} is at work on it; wait until it is done"
        assert str(caught.value) == told
        left = {path.name for path in folder.iterdir()} - {NAME, "kept.txt", ".hidden.file"}
        assert len(left) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left < {path.name for path in folder.iterdir()}
    with FolderLock(folder):
        remove_temporary(folder)
        here = {path.name for path in folder.iterdir()}
        assert here == {NAME, "kept.txt", ".hidden.file"}
    assert {path.name for path in folder.iterdir()} == {"kept.txt", ".hidden.file"}
    assert (folder / "kept.txt").read_bytes() == b"old"


def test_a_folder_is_made_and_let_go_of(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with pytest.raises(RuntimeError), FolderLock(folder):
        raise RuntimeError
    lock = FolderLock(folder)
    lock.release()
    lock.release()
    assert list(folder.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"file: cannot be written to \("):
        FolderLock(tmp_path / "file")
    with pytest.raises(StoreError, match=r"below: cannot be written to \("):
        FolderLock(tmp_path / "file" / "below")


@pytest.mark.parametrize("content", ["precious", "process 12 and more", "process "])
def test_a_file_that_is_no_lock_is_left_as_it_is(content: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(StoreError, match=rf"{NAME}: is not the file of a lock; move it elsewhere"):
        FolderLock(tmp_path)
    assert (tmp_path / NAME).read_text() == content


@pytest.mark.skipif(sys.platform == "win32", reason="has links and pipes of Unix")
@pytest.mark.parametrize("to", ["precious", "empty", "missing"])
def test_what_a_link_in_the_place_of_a_lock_leads_to_is_left(to: str, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("process 1")
    (tmp_path / "empty").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / NAME).symlink_to(tmp_path / to)
    with pytest.raises(StoreError, match=rf"{NAME}: is not the file of a lock"):
        FolderLock(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"precious", "empty", "folder"}
    assert (tmp_path / "precious").read_text() == "process 1"
    assert (tmp_path / "empty").read_text() == ""
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)
    with pytest.raises(StoreError, match=rf"{NAME}: is not the file of a lock"):
        FolderLock(folder)


def test_only_unfinished_files_of_our_own_are_removed(tmp_path: Path) -> None:
    ours, others = f".solvent-{'0a' * 8}", {f".cache.{'0a' * 8}", f".solvent-{'0b' * 8}"}
    (tmp_path / ours).touch()
    first, second = sorted(others)
    (tmp_path / first).touch()
    (tmp_path / second).mkdir()
    with FolderLock(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {NAME, ours, *others}
        remove_temporary(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others


@pytest.mark.skipif(sys.platform == "win32", reason="has locks of Unix")
def test_a_lock_that_the_system_does_not_give_is_not_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match=rf"{NAME}: cannot be locked \(No locks available\)$"):
        FolderLock(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="has locks of Unix")
def test_what_stands_in_a_locked_file_is_not_repeated(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / NAME).open("w") as file:
        file.write("<b>\n" * 1000)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match=rf"^{tmp_path}: another process is at work on it;"):
            FolderLock(tmp_path)
