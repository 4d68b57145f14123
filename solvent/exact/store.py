"""Policies and solutions on disk.

A file is a NumPy ``.npz`` archive of plain arrays, read with ``allow_pickle=False``: opening one
runs no code. One of the arrays holds a JSON header with the kind of content, the hash of the
model that it belongs to, and the SHA-256 of all other arrays. Files appear whole or not at all:
they are written beside their place and moved there.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.solution import Solution
from solvent.model import TabularGame, TabularPolicy

FORMAT = 1


class StoreError(ValueError):
    """A file is not what it should be; the message is one line and names the file."""


def write_atomically(path: str | Path, content: bytes, *, flush: bool = True) -> None:
    """Write a file so that it is there whole or not at all, making its folder if needed.

    Args:
        path: The file; one that is there is replaced.
        content: All of it.
        flush: Whether to wait until the disk has it. Without, a crash of the machine, but not one
            of the program, may leave it damaged.

    Raises:
        StoreError: If the folder cannot be made or written to.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                if flush:
                    os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error})") from error


def save_policy(
    path: str | Path, policy: TabularPolicy, metadata: dict[str, Any] | None = None
) -> None:
    """Save a policy.

    Args:
        path: Where to; by custom ending in ``.npz``.
        policy: What to save.
        metadata: JSON-able facts to keep with it, such as how it was trained.

    Raises:
        StoreError: If the file cannot be written.
    """
    header = {
        "kind": "policy",
        "model_hash": policy.model_hash,
        "player": policy.player,
        "name": policy.name,
        "metadata": metadata or {},
    }
    write_archive(path, header, {"probabilities": policy.probabilities})


def load_policy(path: str | Path, game: TabularGame | None = None) -> TabularPolicy:
    """Load a policy.

    Args:
        path: A file written by :func:`save_policy`.
        game: If given, the policy is checked against it.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game.
    """
    header, arrays = read_archive(path, "policy", ("probabilities",))
    policy = TabularPolicy(
        arrays["probabilities"], header["model_hash"], header["player"], header["name"]
    )
    if game is not None:
        try:
            policy.check_is_for(game)
            policy = TabularPolicy.of(
                game, policy.probabilities, player=policy.player, name=policy.name
            )
        except ValueError as error:
            raise StoreError(f"{path}: {error}") from error
    return policy


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The header of a saved policy or solution.

    Raises:
        StoreError: If the file is missing or damaged.
    """
    return read_archive(path, None, ())[0]


def save_solution(path: str | Path, solution: Solution) -> None:
    """Save a solution.

    Raises:
        StoreError: If the file cannot be written.
    """
    header = {
        "kind": "solution",
        "model_hash": solution.model_hash,
        "value": solution.value,
        "lower": solution.lower,
        "upper": solution.upper,
        "method": solution.method,
    }
    arrays = {
        "values": solution.values,
        "action_values": solution.action_values,
        "policy_0": solution.policies[0].probabilities,
        "policy_1": solution.policies[1].probabilities,
    }
    write_archive(path, header, arrays)


def load_solution(path: str | Path, game: TabularGame | None = None) -> Solution:
    """Load a solution.

    Args:
        path: A file written by :func:`save_solution`.
        game: If given, the solution must be one of it.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game.
    """
    header, arrays = read_archive(
        path, "solution", ("values", "action_values", "policy_0", "policy_1")
    )
    if game is not None and header["model_hash"] != game.model_hash:
        raise StoreError(
            f"{path}: solves the model {header['model_hash'][:12]}, but this {game.info.name} is "
            f"the model {game.model_hash[:12]}"
        )
    first, second = (
        TabularPolicy(arrays[f"policy_{player}"], header["model_hash"], player, "optimal")
        for player in (0, 1)
    )
    return Solution(
        value=header["value"],
        values=arrays["values"],
        action_values=arrays["action_values"],
        policies=(first, second),
        lower=header["lower"],
        upper=header["upper"],
        method=header["method"],
        model_hash=header["model_hash"],
    )


def write_archive(path: str | Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a JSON-able header and named arrays as one file, with a checksum.

    Args:
        path: Where to.
        header: Says at least its ``"kind"``.
        arrays: Of plain numbers or strings, by name.

    Raises:
        StoreError: If the file cannot be written.
    """
    header = {"format": FORMAT, **header, "sha256": _checksum(header, arrays)}
    text = json.dumps(header, sort_keys=True).encode()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, header=np.frombuffer(text, np.uint8), **arrays)
    write_atomically(path, buffer.getvalue())


def read_archive(
    path: str | Path, kind: str | None, names: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the header and the arrays of a file written by :func:`write_archive`.

    Args:
        path: The file.
        kind: What its header has to say it is, if that matters.
        names: Arrays that it has to hold.

    Raises:
        StoreError: If the file is missing, damaged, or not of that kind.
    """
    path = Path(path)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
        stated = header.pop("sha256")
        version = header.pop("format")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: not a file of solvent's, or damaged") from error
    except Exception as error:  # zlib and zipfile raise many kinds for damaged archives.
        raise StoreError(f"{path}: damaged ({type(error).__name__})") from error
    if version != FORMAT:
        raise StoreError(f"{path}: has format {version!r}; this version reads format {FORMAT}")
    if stated != _checksum(header, arrays):
        raise StoreError(f"{path}: the checksum does not match; the file was changed or damaged")
    if kind is not None and header["kind"] != kind:
        raise StoreError(f"{path}: holds a {header['kind']}, not a {kind}")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise StoreError(f"{path}: lacks {', '.join(missing)}")
    return header, arrays


def _checksum(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
