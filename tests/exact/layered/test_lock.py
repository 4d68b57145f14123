"""One process at a time writes into a folder, and what a killed one leaves does no harm."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from solvent.exact import StoreError, write_atomically
from solvent.model.files import LOCK, locked, remove_temporary

HOLD = """
import os, sys, time
from pathlib import Path
from solvent.exact import write_atomically
from solvent.model.files import locked

folder = Path(sys.argv[1])

def never_done(_):
    print("ready", flush=True)
    time.sleep(600)

with locked(folder):
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
        with pytest.raises(StoreError) as caught, locked(folder):
            pass
        told = f"{folder}: another process is at work on it; wait until it is done"
        assert str(caught.value) == told
        left = {path.name for path in folder.iterdir()} - {LOCK, "kept.txt", ".hidden.file"}
        assert len(left) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left < {path.name for path in folder.iterdir()}
    with locked(folder):
        remove_temporary(folder)
        here = {path.name for path in folder.iterdir()}
        assert here == {LOCK, "kept.txt", ".hidden.file"}
    assert {path.name for path in folder.iterdir()} == {"kept.txt", ".hidden.file"}
    assert (folder / "kept.txt").read_bytes() == b"old"


def test_a_folder_is_made_and_let_go_of(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with pytest.raises(RuntimeError), locked(folder):
        raise RuntimeError
    assert list(folder.iterdir()) == []


def test_only_unfinished_files_of_our_own_are_removed(tmp_path: Path) -> None:
    ours, others = f".solvent-{'0a' * 8}", {f".cache.{'0a' * 8}", f".solvent-{'0b' * 8}"}
    (tmp_path / ours).touch()
    first, second = sorted(others)
    (tmp_path / first).touch()
    (tmp_path / second).mkdir()
    with locked(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {LOCK, ours, *others}
        remove_temporary(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others
