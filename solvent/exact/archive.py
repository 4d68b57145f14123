"""Archives of plain arrays, for policies, solutions and networks.

A file is a NumPy ``.npz`` archive, read without pickles: opening one runs no code. One of the
arrays holds a JSON header with the kind of content, the hash of the model that it belongs to, and
the SHA-256 of all other arrays.

Files are not trusted. A :class:`Schema` lists the contents of a kind of archive. The names, types
and shapes that a file states are compared with it, and their sizes added up, before an array is
unpacked: a file of a megabyte can state gigabytes of zeros.

**Policies and solutions** are stored in such files (:func:`save_policy`, :func:`save_solution`) and
verified when they are read. A policy must be a distribution in every state. A solution must satisfy
the equations of optimality, and its bracket is proved again.
"""

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.exact.certificate import bracket
from solvent.exact.solution import CertificateError, ImproperGameError, Solution, check_solution
from solvent.model import TabularGame, TabularPolicy, against
from solvent.model.files import StoreError as StoreError
from solvent.model.files import open_file, parse_json
from solvent.model.files import write_atomically as write_atomically
from solvent.model.parameters import brief, is_number, shown
from solvent.model.tabular import check_model, check_policy

FORMAT = 1

LARGEST = 2**30
"""Largest size in bytes of a file's arrays, besides those whose shapes are known beforehand."""

# Largest size of the JSON header in bytes.
_LARGEST_HEADER = 2**24

# Largest size of an array's own header in bytes; NumPy writes a few hundred.
_LARGEST_ARRAY_HEADER = 2**14

# NumPy's kinds of numbers.
_PLAIN = "biuf"

# Compression methods allowed in an archive; the unpacked size of others cannot be bounded.
_COMPRESSED_BY_NUMPY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArraySchema(NamedTuple):
    """The required form of an array.

    Attributes:
        dtype: Type of the array, such as ``"float64"``; any numbers if empty.
        dimensions: Number of dimensions of the array; any if None.
    """

    dtype: str = ""
    dimensions: int | None = None


@dataclass(frozen=True)
class Schema:
    """The required contents of a kind of archive.

    Attributes:
        kind: Name of the kind, which the header states.
        header: The required entries of the header and their types. A float is any finite number,
            and a bool is not an int. Other entries are allowed.
        arrays: The arrays by name. A name with a ``*`` stands for any number of arrays; the others
            are required. Other arrays are not allowed.
    """

    kind: str
    header: Mapping[str, type]
    arrays: Mapping[str, ArraySchema]


Shapes = Mapping[str, tuple[int, ...]]


def write_archive(path: str | Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a JSON-able header and named arrays as one file, with a checksum.

    Args:
        path: The file to write.
        header: The header, with at least its ``"kind"``.
        arrays: Arrays of plain numbers, by name.

    Raises:
        StoreError: If the file cannot be written.
    """
    header = {"format": FORMAT, **header, "sha256": _checksum(header, arrays)}
    text = json.dumps(header, sort_keys=True).encode()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, header=np.frombuffer(text, np.uint8), **arrays)
    write_atomically(path, buffer.getvalue())


def read_archive(
    path: str | Path,
    schema: Schema,
    expected: Callable[[dict[str, Any]], Shapes] = lambda header: {},
    *,
    largest: int = LARGEST,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a file written by :func:`write_archive`.

    Args:
        path: The file.
        schema: The required contents.
        expected: Maps the header to the shapes of those arrays that must have a certain one. It may
            refuse the header with a ValueError.
        largest: Largest size of all other arrays, in bytes.

    Raises:
        StoreError: If the file is missing, damaged, too large, or does not match the schema.
    """
    with _opened(path) as (archive, members):
        header, stated = _read_header(archive, members.pop("header"))
        if header["kind"] != schema.kind:
            raise StoreError(f"holds a {brief(header['kind'])}, not a {schema.kind}")
        _check_header(header, schema)
        try:
            shapes = expected(header)
        except ValueError as error:
            raise StoreError(str(error)) from error
        _check_arrays(members, schema, shapes)
        total = sum(member.size for name, member in members.items() if name not in shapes)
        if total > largest:
            raise StoreError(f"would take {total:,} bytes; at most {largest:,} are read")
        arrays = {name: _unpack(archive, member) for name, member in members.items()}
        if stated != _checksum(header, arrays):
            raise StoreError("the checksum does not match; the file was changed or damaged")
    return header, {n: a.astype(a.dtype.newbyteorder("="), copy=False) for n, a in arrays.items()}


def read_array(path: str | Path, shapes: Collection[tuple[int, ...]]) -> NDArray[Any]:
    """Read the only array of a ``.npz`` from any source.

    The header of an archive of this project is ignored.

    Args:
        path: The file.
        shapes: Shapes that the array may have; a larger one is not unpacked.

    Returns:
        The array, in the byte order of this machine.

    Raises:
        StoreError: If the file is missing, damaged, holds anything but plain numbers, holds several
            arrays or none, or the array has another shape.
    """
    with _opened(path, "a .npz of plain numbers") as (archive, members):
        names = sorted(members.keys() - {"header"})
        if len(names) != 1:
            raise StoreError(f"holds the arrays {shown(names)}; expected is one array")
        member = members[names[0]]
        if member.shape not in shapes:
            raise StoreError(
                f"the array {shown(names[0])} has the shape {shown(member.shape)}; "
                f"expected {' or '.join(map(str, shapes))}"
            )
        array = _unpack(archive, member)
        return array.astype(array.dtype.newbyteorder("="), copy=False)


def read_header(path: str | Path) -> dict[str, Any]:
    """Read the header of a saved policy, solution or network.

    The arrays are not read, and the checksum is not compared.

    Args:
        path: The file.

    Raises:
        StoreError: If the file is missing or damaged.
    """
    with _opened(path) as (archive, members):
        return _read_header(archive, members["header"])[0]


class _Member(NamedTuple):
    """The description of an array in a file."""

    file: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


@contextmanager
def _opened(
    path: str | Path, what: str = "a file of solvent's"
) -> Iterator[tuple[zipfile.ZipFile, dict[str, _Member]]]:
    """Open an archive, with the description of each array; turn every error into a StoreError."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            yield archive, _members(archive)
    except StoreError as error:
        raise StoreError(f"{path}: {error}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # zlib and zipfile raise many kinds for damaged archives.
        raise StoreError(f"{path}: not {what}, or damaged") from error


def _members(archive: zipfile.ZipFile) -> dict[str, _Member]:
    """Return each array's description; raise ValueError if one is not plain or not as stated."""
    members: dict[str, _Member] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        known = name != info.filename and info.compress_type in _COMPRESSED_BY_NUMPY
        if not known or name in members:
            raise ValueError(f"{name} is not an array as NumPy packs it, or is there twice")
        with archive.open(info) as member_file:
            # NumPy would read a long header completely before refusing it.
            file = io.BytesIO(member_file.read(_LARGEST_ARRAY_HEADER))
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        members[name] = member = _Member(info, dtype, shape)
        plain = dtype.kind in _PLAIN and all(length >= 0 for length in shape)
        if not plain or info.file_size != file.tell() + member.size:
            raise ValueError(f"{name} is not a plain array, or not of the size that it states")
    return members


def _unpack(archive: zipfile.ZipFile, member: _Member) -> NDArray[Any]:
    with archive.open(member.file) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # At the end the archive compares its own checksum.
    return array


def _read_header(archive: zipfile.ZipFile, member: _Member) -> tuple[dict[str, Any], Any]:
    """Return the header, and the checksum that it states."""
    if member.dtype != np.uint8 or len(member.shape) != 1 or member.size > _LARGEST_HEADER:
        raise ValueError("the header is not text")
    # The curve of a checkpoint has NaN for figures that could not be proved.
    header = parse_json(_unpack(archive, member).tobytes(), nan=True)
    stated, version = header.pop("sha256"), header.pop("format")
    if version != FORMAT:
        raise StoreError(f"has format {shown(version)}; this version reads format {FORMAT}")
    if not isinstance(header["kind"], str):
        raise StoreError(f"kind is {shown(header['kind'])}; expected a text")
    if not isinstance(header.get("metadata", {}), dict):
        raise StoreError(f"metadata is {shown(header['metadata'])}; expected an object")
    return header, stated


_ENGLISH = {
    str: "a text",
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def _check_header(header: dict[str, Any], schema: Schema) -> None:
    for name, kind in schema.header.items():
        if name not in header:
            raise StoreError(f"lacks {name}; expected {_ENGLISH[kind]}")
        value = header[name]
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not (is_number(value) if kind is float else fits):
            raise StoreError(f"{name} is {shown(value)}; expected {_ENGLISH[kind]}")


def _check_arrays(members: Mapping[str, _Member], schema: Schema, shapes: Shapes) -> None:
    missing = [name for name in schema.arrays if "*" not in name and name not in members]
    if missing:
        raise StoreError(f"lacks {', '.join(missing)}")
    for name, member in members.items():
        wanted = next((a for n, a in schema.arrays.items() if fnmatchcase(name, n)), None)
        if wanted is None:
            raise StoreError(f"has the array {shown(name)}, which no {schema.kind} has")
        found = member.dtype.newbyteorder("=")
        if wanted.dtype and found != np.dtype(wanted.dtype):
            raise StoreError(f"{name} is {found}; expected {wanted.dtype}")
        if wanted.dimensions not in (None, len(member.shape)):
            raise StoreError(
                f"{name} has the shape {shown(member.shape)}; expected {wanted.dimensions} "
                f"dimensions"
            )
        if name in shapes and member.shape != shapes[name]:
            raise StoreError(f"{name} has the shape {shown(member.shape)}; expected {shapes[name]}")


def _checksum(header: dict[str, Any], arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


POLICY = Schema(
    "policy",
    {"model_hash": str, "player": int, "name": str, "metadata": dict},
    {"probabilities": ArraySchema("float64", 2)},
)

SOLUTION = Schema(
    "solution",
    {"model_hash": str, "value": float, "lower": float, "upper": float, "method": str},
    {
        "values": ArraySchema("float64", 1),
        "action_values": ArraySchema("float64", 1),
        "policy_0": ArraySchema("float64", 2),
        "policy_1": ArraySchema("float64", 2),
    },
)

# Largest residual allowed in the equations of optimality, in units of the largest value or reward.
_OPTIMALITY = 1e-6


def save_policy(
    path: str | Path, policy: TabularPolicy, metadata: dict[str, Any] | None = None
) -> None:
    """Save a policy.

    Args:
        path: The file to write, usually ending in ``.npz``.
        policy: The policy to save.
        metadata: JSON-able facts to keep with it, such as how it was trained.

    Raises:
        ValueError: If `policy` is not a :class:`~solvent.model.TabularPolicy`.
        StoreError: If the file cannot be written.
    """
    check_policy(policy)
    header = {
        "kind": POLICY.kind,
        "model_hash": policy.model_hash,
        "player": policy.player,
        "name": policy.name,
        "metadata": metadata or {},
    }
    write_archive(path, header, {"probabilities": np.asarray(policy.probabilities, float)})


def load_policy(path: str | Path, game: TabularGame, player: int | None = None) -> TabularPolicy:
    """Load a policy.

    Args:
        path: A file written by :func:`save_policy`.
        game: Game that the policy must be for.
        player: Player whose policy it must be; any player of the game, if left out.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game or player,
            or does not hold a policy.
    """
    allowed = range(game.info.players) if player is None else (player,)

    def expected(header: dict[str, Any]) -> Shapes:
        if header["player"] not in allowed:
            raise ValueError(
                f"is a policy of player {shown(header['player'])}, not of "
                f"{' or '.join(map(str, allowed))}"
            )
        check_model(header["model_hash"], game, f"policy {header['name']!r}")
        return {"probabilities": game.mask[header["player"]].shape}

    header, arrays = read_archive(path, POLICY, expected)
    try:
        return TabularPolicy.of(
            game, arrays["probabilities"], player=header["player"], name=header["name"]
        )
    except ValueError as error:
        raise StoreError(f"{path}: {error}") from error


def read_request(file: str | Path) -> dict[str, Any]:
    """Read the training request that ``train`` saved with a policy or a network.

    Returns:
        The request; ``"environment"`` and ``"env_kwargs"`` are empty if the file lacks them.

    Raises:
        StoreError: If the file is missing or damaged.
    """
    return checked_request(read_header(file).get("metadata", {}).get("request", {}), file)


def checked_request(request: Any, file: str | Path) -> dict[str, Any]:
    """Check the training request in a file.

    Args:
        request: The request as read; anything but a mapping counts as empty.
        file: The file that it was read from.

    Returns:
        The request, with an empty ``"environment"`` and ``"env_kwargs"`` if it lacks them.

    Raises:
        StoreError: If ``"environment"`` is not a string or ``"env_kwargs"`` not a mapping.
    """
    held = {"environment": "", "env_kwargs": {}, **(request if isinstance(request, dict) else {})}
    if not isinstance(held["environment"], str) or not isinstance(held["env_kwargs"], dict):
        raise StoreError(
            f"{file}: the training request in it is damaged, or was not written by solvent"
        )
    return held


def save_solution(path: str | Path, solution: Solution) -> None:
    """Save a solution.

    Args:
        path: The file to write, usually ending in ``.npz``.
        solution: The solution to save.

    Raises:
        ValueError: If `solution` is not a :class:`~solvent.exact.Solution`.
        StoreError: If the file cannot be written.
    """
    check_solution(solution)
    figures, arrays = solution.packed()
    write_archive(path, {"kind": SOLUTION.kind, **figures}, arrays)


def load_solution(path: str | Path, game: TabularGame) -> Solution:
    """Load a solution, and prove it again.

    The values must solve the equations of optimality in every state. The value at the start, its
    bracket and the action values are computed again from the values and the policies
    (:mod:`solvent.exact.certificate`).

    Args:
        path: A file written by :func:`save_solution`.
        game: The game that the solution must solve.

    Raises:
        StoreError: If the file is missing, damaged, of another kind, or for another game, or does
            not hold a solution.
    """

    def expected(header: dict[str, Any]) -> Shapes:
        check_model(header["model_hash"], game, "the solution")
        return {
            "values": (game.n_states,),
            "action_values": (game.n_rows,),
            "policy_0": game.mask[0].shape,
            "policy_1": game.mask[1].shape,
        }

    solution = Solution.unpacked(*read_archive(path, SOLUTION, expected))
    try:
        first, second = (
            TabularPolicy.of(game, policy.probabilities, player=policy.player, name=policy.name)
            for policy in solution.policies
        )
        return _proved(game, replace(solution, policies=(first, second)))
    except (ValueError, CertificateError, ImproperGameError) as error:
        raise StoreError(f"{path}: not a solution of {game.info.name}: {error}") from error


def _proved(game: TabularGame, solution: Solution) -> Solution:
    """Return the solution, with all numbers that follow from values and policies computed again.

    Raises:
        ValueError: If the values do not solve the equations of optimality.
        CertificateError: If no bracket can be proved.
        ImproperGameError: If a player does best by never ending play.
    """
    values, live = solution.values, ~game.terminal
    scale = max(1.0, *(float(np.abs(a).max(initial=0)) for a in (values, game.outcome_reward)))
    for player, best in ((0, np.maximum), (1, np.minimum)):
        folded = against(game, solution.policies[1 - player])
        found = np.zeros(game.n_states)
        found[live] = best.reduceat(folded.expectation(values), folded.row_start[:-1][live])
        off = np.abs(found - values)
        # Negated, so that a NaN is refused.
        if not off.max(initial=0.0) <= _OPTIMALITY * scale:
            state = game.states[int(off.argmax())]
            raise ValueError(f"the value of state {shown(state)} is off by {off.max():.1e}")
    lower, upper = bracket(game, values, solution.policies)
    value = min(max(game.at_start(values), lower), upper)
    return replace(
        solution, value=value, lower=lower, upper=upper, action_values=game.expectation(values)
    )
