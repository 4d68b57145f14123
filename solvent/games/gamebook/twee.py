"""Stories written with Twine, as the skeleton of a gamebook: its graph and its text.

Read are Twee 3, the text notation of Twine's stories (Interactive Fiction Technology Foundation,
"Twee 3 Specification", 2021), and two kinds of JSON: that of the Foundation's "Twine 2 JSON Output
Documentation" and that of the story format Twison. A passage becomes a section, a link a choice, a
passage without links an ending.

What a story format would run (macros, variables, scripts) is not understood: it stays in the text,
for the author to put it into conditions and effects.

Whatever a text is, reading it takes time in proportion to its length: no pattern below looks at a
character again for each place where it could begin.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solvent.games.gamebook.values import one_line
from solvent.model.files import open_file

LARGEST_STORY = 16_000_000
"""Largest size of a file, in bytes."""

NO_PASSAGES = frozenset({"script", "stylesheet"})
"""Tags of passages that are not part of the story."""

SPECIAL = frozenset(
    {"StoryTitle", "StoryData", "StoryAuthor", "StoryInit", "StoryCaption", "StoryMenu"}
)
"""Names of passages that are not part of the story."""

_LINK_END = re.compile(r"\](?:\[[^\]]*\])?\]")
_CODE = re.compile(r"<<\w|\(\w+:|\{[^{}\n]*\}|\$\w")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(r"\\(.)")
# Possessive: what has been matched is not given back to be tried again.
_HEADER = re.compile(r"((?:\\.|[^\\\[\]{}])*+)(?:\[((?:\\.|[^\\\]])*+)\])?\s*+(?:\{.*\})?\s*")


class StoryError(ValueError):
    """A file is not a story; the message, of one line, names the file and the place in it."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


@dataclass(frozen=True)
class Link:
    """A way from a passage to another."""

    label: str
    target: str


@dataclass(frozen=True)
class Passage:
    """A passage of a story.

    Attributes:
        name: Name of the passage, used by links.
        text: Text without the links that stand alone in a line.
        links: Links, in the order of the text.
        has_code: Whether the text seems to contain macros or variables.
    """

    name: str
    text: str
    links: tuple[Link, ...]
    has_code: bool


@dataclass(frozen=True)
class TwineStory:
    """A story.

    Attributes:
        title: Title of the story.
        start: Name of the first passage.
        passages: Passages by name, in the order of the file.
    """

    title: str
    start: str
    passages: Mapping[str, Passage]


def read_story(path: str | Path) -> TwineStory:
    """Read a story from a file, ``.twee`` or ``.tw`` or ``.json``.

    Raises:
        StoryError: If it is not a story.
        OSError: If it cannot be read.
    """
    path = Path(path)
    readers = {".twee": parse_twee, ".tw": parse_twee, ".json": parse_twine_json}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise StoryError(f"{path}: stories are read from {', '.join(readers)}")
    with open_file(path) as file:
        content = file.read(LARGEST_STORY + 1)
    if len(content) > LARGEST_STORY:
        raise StoryError(f"{path}: larger than {LARGEST_STORY // 10**6} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoryError(f"{path}: the text is not UTF-8") from error
    return read(text, str(path))


def parse_twee(text: str, file: str = "story.twee") -> TwineStory:
    """Read a story in Twee 3.

    Raises:
        StoryError: If it is not a story.
    """
    title, data = Path(file).stem, {}
    passages: dict[str, Passage] = {}
    for line, header, body in _twee_passages(text):
        name, tags = _name_and_tags(header)
        if not name:
            raise StoryError(f"{file}:{line}: the passage has no name")
        if name == "StoryTitle":
            title = body.strip() or title
        elif name == "StoryData":
            data = _json(body, f"{file}:{line}")
        elif name not in SPECIAL and not NO_PASSAGES & set(tags):
            if name in passages:
                raise StoryError(f"{file}:{line}: a second passage is named {name!r}")
            passages[name] = _passage(name, body)
    start = data.get("start", "Start") if isinstance(data, dict) else "Start"
    return _story(title, start, passages, file)


def parse_twine_json(text: str, file: str = "story.json") -> TwineStory:
    """Read a story from Twine's JSON, or that of Twison.

    Raises:
        StoryError: If it is not a story.
    """
    data = _json(text, file)
    listed = data.get("passages") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise StoryError(f"{file}: not a story: there is no list of passages")
    start = data.get("start", "Start")
    passages: dict[str, Passage] = {}
    for place, entry in enumerate(listed, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise StoryError(f"{file}: passage {place} has no name")
        name, tags, body = entry["name"], entry.get("tags") or [], entry.get("text", "")
        if not isinstance(body, str) or not isinstance(tags, list):
            raise StoryError(f"{file}: the passage {name!r} should have a text and a list of tags")
        if _number(data.get("startnode")) == _number(entry.get("pid")) is not None:
            start = name
        if name in SPECIAL or any(tag in tags for tag in NO_PASSAGES):
            continue
        if name in passages:
            raise StoryError(f"{file}: a second passage is named {name!r}")
        passages[name] = _passage(name, body)
    named = isinstance(data.get("name"), str) and data["name"].strip()
    return _story(named or Path(file).stem, start, passages, file)


def _number(value: Any) -> str | None:
    """Return the number of a passage, which is written as a number or a text."""
    return str(value) if isinstance(value, (int, str)) else None


def _story(title: str, start: Any, passages: dict[str, Passage], file: str) -> TwineStory:
    if not passages:
        raise StoryError(f"{file}: there is no passage in it")
    if not isinstance(start, str) or start not in passages:
        # Of lists within each other only the outer ones are written.
        shown = repr(start) if isinstance(start, str) else reprlib.repr(start)
        raise StoryError(f"{file}: it begins with the passage {shown}, which is not there")
    return TwineStory(title, start, passages)


def _twee_passages(text: str) -> Iterator[tuple[int, str, str]]:
    """The line, header and body of each passage."""
    line, header = 0, None
    body: list[str] = []
    for number, content in enumerate(text.splitlines(), 1):
        if content.startswith("::"):
            if header is not None:
                yield line, header, "\n".join(body)
            line, header, body = number, content[2:].strip(), []
        else:
            body.append(content[1:] if content.startswith("\\::") else content)
    if header is not None:
        yield line, header, "\n".join(body)


def _name_and_tags(header: str) -> tuple[str, Sequence[str]]:
    """Split ``name [tags] {metadata}``, in which a backslash escapes a bracket."""
    match = _HEADER.fullmatch(header)
    if match is None:
        return _ESCAPED.sub(r"\1", header).strip(), ()
    tags = [_ESCAPED.sub(r"\1", tag) for tag in (match[2] or "").split()]
    return _ESCAPED.sub(r"\1", match[1]).strip(), tags


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoryError(f"{place}: not JSON ({error})") from error


def _passage(name: str, body: str) -> Passage:
    links: list[Link] = []
    lines = []
    for line in body.splitlines():
        between, found = _split_at_links(line)
        links += found
        # A line that held links only is dropped.
        if "".join(between).strip(" \t*-+>"):
            labels = [*(link.label for link in found), ""]
            text = "".join(f"{a}{b}" for a, b in zip(between, labels, strict=True))
            lines.append(_NOT_TEXT.sub(" ", text).rstrip())
        elif not found:
            lines.append("")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
    return Passage(name, text, tuple(links), _CODE.search(text) is not None)


def _split_at_links(line: str) -> tuple[list[str], list[Link]]:
    """Return the parts of a line between its links, one more than the links, and the links."""
    between: list[str] = []
    links: list[Link] = []
    at = 0
    while (begin := line.find("[[", at)) >= 0:
        # Something stands in a link; if the first one has no end, those inside it have none.
        end = _LINK_END.search(line, begin + 3)
        if end is None:
            break
        between.append(line[at:begin])
        links.append(_link(line[begin + 2 : end.start()]))
        at = end.end()
    return [*between, line[at:]], links


def _link(inside: str) -> Link:
    """``[[target]]``, ``[[label->target]]``, ``[[target<-label]]`` or ``[[label|target]]``."""
    if "->" in inside:
        label, _, target = inside.rpartition("->")
    elif "<-" in inside:
        target, _, label = inside.partition("<-")
    elif "|" in inside:
        label, _, target = inside.rpartition("|")
    else:
        label = target = inside
    return Link(_NOT_TEXT.sub(" ", label).strip() or target.strip(), target.strip())


def book_text(story: TwineStory) -> str:
    """Return the story as a gamebook file.

    Sections are numbered in the order of the passages, from 1 for the one with which it begins.
    Links to missing passages get numbers without a section, which the check of the
    book then reports. Every ending scores 0 until its author sets a score.
    """
    order = [story.start, *(name for name in story.passages if name != story.start)]
    targets = (link.target for name in order for link in story.passages[name].links)
    numbers = {name: n for n, name in enumerate(dict.fromkeys((*order, *targets)), 1)}
    endings = {name: f"end_{numbers[name]}" for name in order if not story.passages[name].links}
    described = endings or {"The end": "end_0"}
    parts = [
        "# Made from a story of Twine. Give the endings their scores, and put what the story\n"
        "# format would have run into conditions and effects.\n"
        "format: solvent-gamebook\n"
        "version: 1\n"
        f"title: {_quoted(story.title)}\n"
        "\n"
        "endings:\n"
    ]
    parts += [f"  {ending}: {{score: 0, text: {_quoted(n)}}}\n" for n, ending in described.items()]
    parts.append("\nsections:\n")
    for name in order:
        passage = story.passages[name]
        parts.append(f"  {numbers[name]}:\n    title: {_quoted(name)}\n")
        if passage.text:
            parts.append(f"    text: {_block(passage.text, 6)}\n")
        if not passage.links:
            parts.append(f"    ending: {endings[name]}\n")
        else:
            parts.append("    choices:\n")
            for link in passage.links:
                parts.append(f"      - label: {_quoted(link.label)}\n")
                parts.append(f"        goto: {numbers[link.target]}\n")
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


def _quoted(text: str) -> str:
    """A text in quotes, as JSON and YAML both read it."""
    return json.dumps(_NOT_TEXT.sub(" ", text), ensure_ascii=False)


def _block(text: str, indent: int) -> str:
    """A text as a YAML block, its lines kept as they are."""
    # The number says how far the block is indented, in case its first line begins with spaces.
    space = " " * indent
    lines = (space + line if line else "" for line in text.split("\n"))
    return "|2-\n" + "\n".join(lines)
