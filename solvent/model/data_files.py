"""Data files of TOML that packages declare and anybody can write: suites, exercises.

A package lists the files among its entry points, each with the package in whose folder
``<name>.toml`` is. Every file states the ``format`` that it is written in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from solvent.model.files import read_file
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import declared_names

FORMAT = 1
"""The format number of every such file."""

LARGEST = 2**20
"""Bytes of a file that is read."""


def find_data(name: str, group: str, what: str) -> tuple[dict[str, Any], str]:
    """Return the content of a data file that a package declares.

    Args:
        name: Name of the file, without its ending.
        group: Group of entry points under which packages declare such files.
        what: Such a file is, for messages: ``"suite"``.

    Returns:
        What TOML has in it, and where it is, for messages.

    Raises:
        ValueError: If there is no such file, it cannot be read, or it states another name.
    """
    points = declared_names(group)
    point = points[check_choice(name, what, points)]
    where = f"{point.value}/{name}.toml"
    try:
        content = (files(point.value) / f"{name}.toml").read_bytes()
    except (ImportError, OSError) as error:
        raise ValueError(f"the {what} {name} of {point.value} cannot be read: {error}") from error
    held = _parsed(content, where)
    if held.get("name") != name:
        raise ValueError(f"{where}: name is {shown(held.get('name'))}; expected {name}")
    return held, where


def read_data(path: Path) -> dict[str, Any]:
    """Return the content of a data file.

    Args:
        path: Path of the file.

    Raises:
        ValueError: If it cannot be read or is none; the message names it.
    """
    try:
        content = read_file(path, LARGEST)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
    return _parsed(content, str(path))


def text_of(held: Mapping[str, Any], key: str) -> str:
    """A text that a file has to have.

    Args:
        held: Content of the file.
        key: Key of the text.

    Raises:
        ValueError: If it is not there, is empty, or is no text.
    """
    value = held.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} is {shown(value)}; expected a text")
    return value


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        held = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{where}: not TOML ({error})") from error
    if held.get("format") != FORMAT:
        raise ValueError(f"{where}: format is {shown(held.get('format'))}; this reads {FORMAT}")
    return held
