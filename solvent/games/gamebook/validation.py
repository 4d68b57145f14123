"""From plain data to the models of the schema, and what is wrong with it in the format's words."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from solvent.games.gamebook.problems import Path, Problems, section_of, similar
from solvent.games.gamebook.schema import File, keys_at


def validated(data: Any, problems: Problems) -> tuple[File | None, bool]:
    """What a file says, and whether that is all of it.

    Sections in which something is wrong are left out after noting it, so that the rest can be
    looked at; None if there is no rest.

    Args:
        data: Mappings, lists and scalars.
        problems: Where faults are noted.
    """
    try:
        return File.model_validate(data), True
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in faults:
        _note(fault, problems)
    places = [fault["loc"] for fault in faults]
    if any(len(place) < 2 or place[0] != "sections" for place in places):
        return None, False
    wrong = {place[1] for place in places}
    misnamed = {place[1] for place in places if place[2:] == ("[key]",)}
    # Whatever leads to a section that is left out should still find something.
    stub = {"ending": next(iter(data["endings"]))}
    left = {
        key: stub if key in wrong else section
        for key, section in data["sections"].items()
        if key not in misnamed
    }
    try:
        return File.model_validate({**data, "sections": left}), False
    except ValidationError:
        return None, False


def _note(fault: Any, problems: Problems) -> None:
    """Put what pydantic found in the words of the format."""
    path = tuple(step for step in fault["loc"] if step != "[key]")
    where = _where(path)
    kind, given, context = fault["type"], fault["input"], fault.get("ctx", {})
    message, cure = f"{where} is {_shown(given)}", "see the page on the format"
    match kind:
        case "missing":
            message, cure = f"{_where(path[:-1])} has no {path[-1]}", f"add {path[-1]}"
        case "extra_forbidden":
            message = f"{_where(path[:-1])} has the unknown key {path[-1]!r}"
            cure = similar(str(path[-1]), keys_at(path[:-1]))
        case "value_error":
            message, cure = _of_validator(str(context["error"]), where, given)
        case _ if kind in WANTED:
            cure = f"it should be {WANTED[kind]}"
        case "literal_error":
            cure = f"it should be {context['expected']}"
        case "greater_than_equal":
            cure = f"it should be at least {context['ge']}"
        case "less_than_equal":
            cure = f"it should be at most {context['le']}"
        case "too_short" | "string_too_short":
            message, cure = f"{where} is empty", "add something, or leave it out"
        case "too_long":
            message = f"{where} has {len(given)} entries"
            cure = f"at most {context['max_length']} are allowed"
    problems.add(path, message, cure)


WANTED = {
    "int_type": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}
"""What should stand where something of another type does."""


def _of_validator(text: str, where: str, given: Any) -> tuple[str, str]:
    """Message and cure from what a validator of the schema says."""
    message, _, cure = text.partition("; ")
    if not cure:
        return f"{where} is {_shown(given)}", f"it {message}"
    return f"{where} {message}", cure


def _where(path: Path) -> str:
    """A place in words: the keys that lead there, inside of its section if it is in one."""
    if section_of(path) is None:
        return ".".join(map(str, path)) or "the file"
    return ".".join(map(str, path[2:])) or "the section"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
