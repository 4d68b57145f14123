"""The manifest of a folder of layers, so that no one takes it for another game's solution.

The manifest holds everything that the values depend on, which is the game's
:attr:`~.game.LayeredGame.identity`, and nothing else: no time, no name of a machine. So two solves
of the same game write the same bytes. Its last entry is the SHA-256 of all others, as JSON with
sorted keys.

Format 1 had no such entry and is not read any more. Format 3 is that of folders which do not keep
all values; its entry ``keep`` says what they do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solvent.exact.layered.game import LayeredGame, changes
from solvent.exact.layered.store import KEEPS
from solvent.exact.store import StoreError
from solvent.model.parameters import shown

FORMAT = 2
PARTIAL = 3
"""The format of folders that do not keep all values."""

READ = (FORMAT, PARTIAL)
"""The formats that can be read."""

MOST_BYTES = 64 << 20
"""A manifest is no larger, nor are the records so far."""

LONGEST = 200
"""Characters of a reason that are repeated in a message."""

DTYPE = "<f8"
"""The type of the values on disk: 8 bytes, little-endian."""


def describe(game: LayeredGame, keep: str = "all") -> dict[str, Any]:
    """Return all that the values of a game's layers depend on, and what is kept, JSON-able."""
    kept = {"format": FORMAT} if keep == "all" else {"format": PARTIAL, "keep": keep}
    return {"kind": game.kind, **kept, **game.identity, "dtype": DTYPE}


def kept(description: Mapping[str, Any]) -> str:
    """Return the one of :data:`~.store.KEEPS` that a manifest states, which has been checked."""
    return str(description["keep"]) if description["format"] == PARTIAL else "all"


def check_kind(description: Any, game: LayeredGame | type[LayeredGame], folder: Path) -> None:
    """Raise unless a manifest is one that this version reads, of a game of a certain class.

    Raises:
        StoreError: If it is not, or was changed since it was written.
    """
    if not isinstance(description, Mapping) or description.get("kind") != game.kind:
        raise StoreError(f"{folder}: manifest.json is not that of a solution of {game.kind}")
    version = description.get("format")
    if type(version) is not int or version not in READ:
        raise StoreError(
            f"{folder}: manifest.json has format {shown(version)}; this version reads formats "
            f"{READ[0]} to {READ[-1]}"
        )
    others = {name: part for name, part in description.items() if name != "sha256"}
    if description.get("sha256") != checksum_of(others):
        raise StoreError(
            f"{folder}: the checksum of manifest.json does not match; it was changed or damaged"
        )
    if "sheets" not in description:
        raise StoreError(f"{folder}: manifest.json is damaged ('sheets' is missing)")
    if version == PARTIAL and description.get("keep") not in KEEPS[1:]:
        raise StoreError(
            f"{folder}: manifest.json is damaged (keep is {shown(description.get('keep'))})"
        )


def checksum_of(content: Any) -> str:
    """The SHA-256 of JSON-able content, as text with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def game_of(description: Mapping[str, Any], kind: type[LayeredGame], folder: Path) -> LayeredGame:
    """The game that a manifest describes.

    Raises:
        StoreError: If it is damaged, or its parts do not agree.
    """
    try:
        game = kind.from_identity(description)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}..."
        raise StoreError(f"{folder}: manifest.json is damaged ({reason})") from error
    check_same(description, game, folder)
    return game


def check_same(description: Mapping[str, Any], game: LayeredGame, folder: Path) -> None:
    """Raise unless a manifest is that of a game.

    Raises:
        StoreError: If it is not; the message names what differs, in both.
    """
    wanted = describe(game)
    found = {
        name: part
        for name, part in description.items()
        if name not in ("kind", "format", "keep", "dtype", "sheets", "sha256")
    }
    differences = [*game.differences(found)]
    if not differences:
        found_type, wanted_type = ({"dtype": part.get("dtype")} for part in (description, wanted))
        differences = [*changes(found_type, wanted_type)]
    if differences:
        raise StoreError(f"{folder}: is a solution with {'; '.join(differences)}")
    different = sorted({*found} ^ {*game.identity})
    if different:
        raise StoreError(
            f"{folder}: manifest.json is damaged (keys missing or unknown: "
            f"{', '.join(map(shown, different))})"
        )
