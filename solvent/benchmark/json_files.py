"""Files that somebody else may have written, read by the types of what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from solvent.model.files import StoreError, parse_json, read_file
from solvent.model.parameters import shown

Held = TypeVar("Held")


def read_json(
    path: Path, largest: int, what: str = "JSON", *, nan: bool = False, infinite: bool = False
) -> Any:
    """Read a file of JSON.

    Args:
        path: The file.
        largest: The number of bytes that it may have.
        what: The expected content, for messages.
        nan: Whether ``NaN`` may stand for a number that is not known.
        infinite: Whether ``Infinity`` and ``-Infinity`` may stand for numbers without bound.

    Raises:
        StoreError: If the file cannot be read or is not JSON.
    """
    try:
        return parse_json(read_file(path, largest), nan=nan, infinite=infinite)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
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
        where, problem = ".".join(map(str, first["loc"])), first["msg"]
        if first["type"] == "missing":
            text = f"lacks {where}"
        elif first["type"] == "value_error":
            text = ": ".join(filter(None, (where, str(first["ctx"]["error"]))))
        else:
            text = f"{where} is {shown(first['input'])}; {problem[:1].lower()}{problem[1:]}"
        raise StoreError(f"{path}: {text}") from None
