"""The folder of a training: its request, its result, and what the learner saw.

A folder belongs to one training. Its record contains the request, so that a call with other
arguments is refused instead of continuing with another network. While a process trains in a
folder it holds the folder's lock (:func:`solvent.model.files.locked`); a finished training is read
back without the lock.

No learner of this package sees the solution of its game unless the user asks for it by name.
Whether a learner saw it is always computed from the record of its run, so that nobody can forget to
state it. Exact evaluations do not count, since learners do not read them.

**Reading.** Files that somebody else may have written are validated by the types of their contents
(:func:`validated`).
"""

import json
import os
import platform
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from solvent import __version__
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact.archive import checked_request
from solvent.model.files import (
    StoreError,
    locked,
    parse_json,
    read_file,
    remove_temporary,
    reporting,
    write_atomically,
)
from solvent.model.parameters import brief, is_number, printable, shown

RECORD = "run.json"
"""Name of the record of a run, in its folder; with it the run is finished."""

Held = TypeVar("Held")


def read_json(
    path: Path, largest: int, what: str = "JSON", *, nan: bool = False, infinite: bool = False
) -> Any:
    """Read a file of JSON.

    Args:
        path: The file.
        largest: The number of bytes that it may have.
        what: The expected content, for messages.
        nan: Whether ``NaN`` is allowed, for an unknown number.
        infinite: Whether ``Infinity`` and ``-Infinity`` are allowed.

    Raises:
        StoreError: If the file cannot be read or is not JSON.
    """
    with reporting(path):
        content = read_file(path, largest)
    try:
        return parse_json(content, nan=nan, infinite=infinite)
    except ValueError as error:
        raise StoreError(f"{path}: not {what}, or damaged") from error


def validated(kind: type[Held], content: Any, path: str | Path) -> Held:
    """Return the content of a file of JSON or TOML as an object of a dataclass.

    Args:
        kind: The dataclass.
        content: The content of the file; dates of TOML are taken as text.
        path: The file, for messages.

    Raises:
        StoreError: If an entry is missing or not of the type declared, or the dataclass refuses it.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        # From text a list may become a tuple, and nothing else is converted.
        return TypeAdapter(kind).validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # A key is anybody's text.
        where, problem = brief(printable(".".join(map(str, first["loc"])))), first["msg"]
        if first["type"] == "missing":
            text = f"lacks {where}"
        elif first["type"] == "value_error":
            text = ": ".join(filter(None, (where, str(first["ctx"]["error"]))))
        else:
            text = f"{where} is {shown(first['input'])}; {problem[:1].lower()}{problem[1:]}"
        raise StoreError(f"{path}: {text}") from None


# Largest size of a record, in bytes.
_LARGEST_RECORD = 2**24


# The names of the files of a training, besides its record.
_WRITTEN = re.compile(r"(checkpoint|(policy|network)(_\w+)?)\.npz|curve\.csv|model\.zip")


class RunFolder:
    """The folder of a training.

    Args:
        folder: Path of the folder; it need not exist.
        request: Arguments of the training, JSON-able.

    Attributes:
        folder: Path of the folder.
        request: The arguments as JSON reads them back, so that they can be compared.
        identity: The request as one text, which a checkpoint has to repeat.
        record: Path of the record: the request, the versions and the result.
        checkpoint: Path of the checkpoint from which an unfinished training resumes.

    Raises:
        ValueError: If the request is not JSON-able.
    """

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        try:
            self.identity = json.dumps(request, sort_keys=True)
        except TypeError as error:
            raise ValueError(f"a training's arguments have to be JSON-able: {error}") from None
        self.request: dict[str, Any] = json.loads(self.identity)
        self.folder = folder
        self.record, self.checkpoint = folder / RECORD, folder / "checkpoint.npz"

    def finish(self, work: Callable[[], object], resume: bool = True) -> dict[str, Any]:
        """Do the work of this run, unless it is finished, and return its record.

        Args:
            work: A function that does or continues the work, and writes the record.
            resume: Whether to continue from the files in the folder, instead of starting again.

        Raises:
            ValueError: If the folder holds another run.
            StoreError: If it cannot be written to, holds files of something else, its record is
                damaged, or another process is at work in it.
        """
        if not (resume and self._is_finished() and not self.checkpoint.exists()):
            with locked(self.folder):
                if not (resume and self.record.exists()):
                    self._refuse_others()
                    self.write(None)
                finished = self._is_finished()
                remove_temporary(self.folder)
                if finished:  # It was killed before it had removed the checkpoint.
                    self.checkpoint.unlink(missing_ok=True)
                else:
                    work()
        return self.read()

    def _refuse_others(self) -> None:
        """Refuse a folder without a record that holds files that a training replaces."""
        for path in () if self.record.exists() else sorted(self.folder.iterdir()):
            if _WRITTEN.fullmatch(path.name):
                raise StoreError(
                    f"{self.folder}: holds {path.name!r}, but no {RECORD}; a training would "
                    f"replace it, so name another folder"
                )

    def _is_finished(self) -> bool:
        """Return whether the folder has a run with a result, which must be this run."""
        # Path.exists raises where locking the folder fails, too, and says why.
        if not os.path.exists(self.record):  # noqa: PTH110
            return False
        held = self.read()
        for name in sorted({*held["request"], *self.request}):
            had, wanted = held["request"].get(name), self.request.get(name)
            if had != wanted:
                what = _difference(name, had, wanted)
                raise ValueError(f"{self.folder} holds another training: its {what}")
        return held["result"] is not None

    def read(self) -> dict[str, Any]:
        """Read the record. A result is sure to have its steps and its time; its rest is unchecked.

        Raises:
            StoreError: If it cannot be read or is damaged.
        """
        what = "the record of a training"
        # A score that could not be proved is NaN; that of a policy that never ends an episode may
        # be infinite.
        held = read_json(self.record, _LARGEST_RECORD, what, nan=True, infinite=True)
        result = held.get("result", {}) if isinstance(held, dict) else {}
        finished = (
            isinstance(result, dict)
            and type(result.get("timesteps")) is int
            and is_number(result.get("cpu_seconds"))
        )
        if not (finished or result is None) or not isinstance(held.get("request"), dict):
            raise StoreError(f"{self.record}: not {what}, or damaged")
        return dict(held)

    def write(self, result: dict[str, Any] | None) -> None:
        """Write the record, with the result if there is one, and remove the checkpoint.

        ``saw`` is for human readers; programs should read the request.
        """
        settings = {**self.request, **(result or {}).get("hyperparameters", {})}
        record = {
            "request": self.request,
            "saw": seen_of_solution(settings),
            "versions": versions(),
            "hardware": hardware(),
            "result": result,
        }
        write_atomically(self.record, (json.dumps(record, indent=2) + "\n").encode())
        self.checkpoint.unlink(missing_ok=True)


def _difference(name: str, held: Any, wanted: Any) -> str:
    """Describe a difference; between mappings, that of the first entry."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        for key in sorted({*held, *wanted}):
            if held.get(key) != wanted.get(key):
                return _difference(f"{name}[{key!r}]", held.get(key), wanted.get(key))
    return f"{name} is {shown(held)}, not {shown(wanted)}"


def request_beside(path: Path) -> dict[str, Any] | None:
    """Return the request of the training that a file belongs to; None if there is no record.

    Args:
        path: A file in the folder of a training.

    Raises:
        StoreError: If the record is damaged.
    """
    run = RunFolder(path.parent, {})
    return checked_request(run.read()["request"], run.record) if run.record.exists() else None


# Packages whose versions are recorded, if they are installed.
_PACKAGES = (
    "gymnasium",
    "numpy",
    "pettingzoo",
    "sb3-contrib",
    "scipy",
    "stable-baselines3",
    "torch",
)


def versions() -> dict[str, str]:
    """Return the versions of this package, of Python, and of packages that affect results."""
    found = {"solvent": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def hardware() -> dict[str, Any]:
    """Describe the machine: its system, its processor, and the number of processors."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
    }


def _processor() -> str:
    """Return the name of the processor; Linux tells it in a file only."""
    lines: list[str] = []
    with suppress(OSError, UnicodeDecodeError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


UNIFORM: str = "uniform"
IMPORTANCE: str = "importance"
"""The weights of exploring starts: all states alike, or by how much the choice matters."""

MARK = "+solution"
"""The suffix of the name of an algorithm that saw the solution."""

STARTS = "exploring starts weighted by importance"
OPPONENT = "an opponent that plays the solution"

GIVEN = "given_exact_values"
"""The setting that says which exact values a learner was given instead of its estimates."""


OPTIMAL = "optimal"
"""The name of the solver's policies."""

MET = "opponent"
"""The setting that names the solver's policy as an opponent if the arguments do not."""


def seen_of_solution(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a learner was given from the solution, in words; empty if nothing.

    Records of versions before 0.3 have a share of exploring starts (``stakes``) without weights.
    These were always weighted by importance, which is computed from the solution.

    Args:
        settings: Settings of a training: the ``request`` of a ``run.json``, or the
            hyperparameters that a benchmark recorded. The latter name no opponent, since that is
            part of the task and the same for every entrant.
    """
    seen = []
    if settings.get("stakes") and settings.get("start_weights") != UNIFORM:
        seen.append(STARTS)
    if given := settings.get(GIVEN):
        seen.append(str(given))
    kwargs, entry = settings.get("env_kwargs"), ENVIRONMENTS.get(str(settings.get("environment")))
    # In self-play, whose exploring starts have a name of their own, the environment's opponent has
    # no seat.
    if isinstance(kwargs, Mapping) and "exploring" not in settings:
        opponent = kwargs.get("opponent", entry.opponent if entry else None)
        pool = opponent if isinstance(opponent, Mapping) else [opponent]
        if OPTIMAL in (*pool, settings.get(MET)):
            seen.append(OPPONENT)
    return tuple(seen)


def meets_solution(env: Any) -> bool:
    """Return whether an opponent in an environment is the solver's policy, by its name.

    Args:
        env: An environment of this package.
    """
    pool = env.unwrapped.opponents
    # With a table an opponent is a policy for each seat.
    every = (one for entry in pool for one in (entry if isinstance(entry, tuple) else (entry,)))
    return any(getattr(one, "name", "") == OPTIMAL for one in every)


def named(algorithm: str, settings: Mapping[str, Any]) -> str:
    """Return the name of an algorithm in tables, with a suffix if it saw the solution.

    Args:
        algorithm: Name of the algorithm.
        settings: Settings of a training, as for :func:`seen_of_solution`.
    """
    told = algorithm.endswith(MARK) or not saw_solution(settings)
    return algorithm if told else algorithm + MARK


def saw_solution(settings: Mapping[str, Any]) -> bool:
    """Return whether a learner was given anything from the solution of its game.

    Args:
        settings: Settings of a training, as for :func:`seen_of_solution`.
    """
    return bool(seen_of_solution(settings))
