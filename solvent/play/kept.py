"""Solutions that took long are kept, so that a game is solved once and played often.

They lie in the user's folder for caches, or in the folder that the environment variable
``SOLVENT_CACHE`` names; ``SOLVENT_CACHE=off`` keeps nothing. A solution is found by the hash of
what it solves: of a table, or of the parameters and the code of a game that is solved layer by
layer. What is damaged, or of another game, is solved anew. The folder holds at most
:data:`MOST_BYTES`; what was not used for the longest time is removed first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import time
from pathlib import Path

from solvent.exact import SolvedGame, SolvedTable, load_solution, save_solution, solve
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayeredGame
from solvent.exact.layered.solution import LayeredSolution
from solvent.exact.solution import Solution
from solvent.exact.solved_game import by_own_solver
from solvent.model import Game, TabularGame, compile_game
from solvent.model.progress import OnProgress
from solvent.model.registry import GameSpec, spec_of

try:
    from platformdirs import user_cache_path
except ImportError:  # It comes with the extra cli.
    user_cache_path = None  # type: ignore[assignment]

VARIABLE = "SOLVENT_CACHE"
"""The environment variable that names the folder, or says ``off``."""

LONG = 2.0
"""Seconds; what is solved sooner is not kept."""

MOST_BYTES = 2**30
"""What the folder may hold."""

_ENTRY = re.compile(r"[0-9a-f]{64}(\.npz)?")


def kept_folder() -> Path | None:
    """Where solutions are kept; None if they are not."""
    said = os.environ.get(VARIABLE, "")
    if said.lower() == "off" or (not said and user_cache_path is None):
        return None
    return Path(said) if said else user_cache_path("solvent", appauthor=False)


def solve_or_open(game: Game, *, progress: OnProgress | None = None) -> SolvedGame:
    """The solution of a game: one that was kept, or one that is found now.

    Args:
        game: The rules.
        progress: Called as solving goes on, as by :func:`solvent.exact.solve`.

    Raises:
        ValueError: As :func:`solvent.exact.solve`.
    """
    folder, spec = kept_folder(), spec_of(game)
    if folder is None:
        return solve(game, progress=progress)
    layered: LayeredGame | None = None if spec is None else spec.ask("layered", game)
    if layered is not None:
        assert spec is not None
        return _layered(game, layered, spec, folder, progress)
    solved = None if spec is None else by_own_solver(spec, game, progress)
    return solved or _table(game, folder, progress)


def _table(game: Game, folder: Path, progress: OnProgress | None) -> SolvedTable:
    table = compile_game(game, progress=progress)
    file = folder / f"{table.model_hash}.npz"
    solution = _read(file, table)
    if solution is None:
        began = time.monotonic()
        solution = solve(table, progress=progress)
        if time.monotonic() - began > LONG:
            # A disk that is full, or may not be written to, is no reason not to play.
            with contextlib.suppress(OSError, ValueError):
                save_solution(file, solution)
                _make_room(folder)
    return SolvedTable(game, table, solution)


def _read(file: Path, table: TabularGame) -> Solution | None:
    """The solution of a table in a file, its checksum compared; None if there is no such."""
    try:
        solution = load_solution(file)
        os.utime(file)
    except (OSError, ValueError):
        return None
    shapes = [solution.values.shape, solution.action_values.shape]
    shapes += [policy.probabilities.shape for policy in solution.policies]
    fits = shapes == [(table.n_states,), (table.n_rows,), *(mask.shape for mask in table.mask)]
    return solution if fits and solution.model_hash == table.model_hash else None


def _layered(
    game: Game,
    layered: LayeredGame,
    spec: GameSpec,
    folder: Path,
    progress: OnProgress | None,
) -> SolvedGame:
    identity = json.dumps(
        [_code(layered), layered.kind, dict(layered.identity)], sort_keys=True, default=str
    )
    place = folder / hashlib.sha256(identity.encode()).hexdigest()
    if spec.opened is not None:
        with contextlib.suppress(OSError, ValueError):
            LayerFolder.open(place, layered, verify=True).close()
            opened: SolvedGame = spec.ask("opened", place, dict(game.info.parameters))
            os.utime(place)
            return opened
    began = time.monotonic()
    solved = solve(game, progress=progress)
    if time.monotonic() - began > LONG and isinstance(solved, LayeredSolution) and spec.opened:
        with contextlib.suppress(OSError, ValueError):
            _keep_layers(solved, place)
            _make_room(folder)
    return solved


def _code(layered: LayeredGame) -> str:
    """A hash of the code of this package and of the one that a game is from.

    A table has all that its rules say, and a hash of that. Layers are made by code.
    """
    found = hashlib.sha256()
    for name in sorted({"solvent", type(layered).__module__.partition(".")[0]}):
        file = Path(sys.modules[name].__file__ or "")
        for source in sorted(file.parent.rglob("*.py")) if file.stem == "__init__" else [file]:
            found.update(source.read_bytes())
    return found.hexdigest()


def _keep_layers(solved: LayeredSolution, place: Path) -> None:
    """Write the layers of a solution beside its place, then move them there."""
    beside = place.with_name(f".solvent-{secrets.token_hex(8)}")
    try:
        with LayerFolder.create(beside, solved.layered) as store:
            for layer in solved.layered.layers:
                store.write(layer, solved.values(layer), None, solved.store.record(layer))
            store.finish()
        shutil.rmtree(place, ignore_errors=True)
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _make_room(folder: Path) -> None:
    """Remove what was not used for the longest time, until the rest is small enough."""
    entries = [path for path in folder.iterdir() if _ENTRY.fullmatch(path.name)]
    total = 0
    for path in sorted(entries, key=lambda path: -path.stat().st_mtime):
        total += _size(path)
        if total > MOST_BYTES and path.is_dir():
            shutil.rmtree(path)
        elif total > MOST_BYTES:
            path.unlink()


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files)
