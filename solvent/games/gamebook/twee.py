"""Stories written with Twine, as the skeleton of a gamebook: their graph and their text.

Stories are read in Twee 3, the text notation that Twine exports (Interactive Fiction Technology
Foundation, "Twee 3 Specification", 2021). A passage becomes a section, a link a choice, a passage
without links an ending.

What a story format would run (macros, variables, scripts) is not understood: it stays in the text,
for the author to put it into conditions and effects.

Whatever a text is, reading it takes time in proportion to its length: no pattern below looks at a
character again for each place where it could begin.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

from solvent.games.gamebook.loader import LARGEST_FILE, one_line, read_content

# Tags of passages that are not part of the story.
_NO_PASSAGES = frozenset({"script", "stylesheet"})

# Names of passages that are not part of the story.
_SPECIAL = frozenset(
    {"StoryTitle", "StoryData", "StoryAuthor", "StoryInit", "StoryCaption", "StoryMenu"}
)

# A link ends at the first end; one that never ends is looked through only up to the next one.
_LINK = re.compile(r"\[\[((?:(?!\[\[).)+?)\](?:\[[^\]]*\])?\]")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(r"\\(.)")
# Possessive: what has been matched is not given back to be tried again.
_HEADER = re.compile(r"((?:\\.|[^\\\[\]{}])*+)(?:\[((?:\\.|[^\\\]])*+)\])?\s*+(?:\{.*\})?\s*")


class StoryError(ValueError):
    """A file is not a story; the message, of one line, names the file and the place in it."""

    def __init__(self, place: str, fault: str) -> None:
        super().__init__(one_line(f"{place}: {fault}"))


Link: TypeAlias = tuple[str, str]
"""The label of a way from a passage to another, and the name of the other."""


class TwineStory(NamedTuple):
    """A story.

    Attributes:
        title: Title of the story.
        start: Name of the first passage.
        passages: The text of each passage without the links that stand alone in a line, and its
            links in the order of the text; by the passage's name, in the order of the file.
    """

    title: str
    start: str
    passages: Mapping[str, tuple[str, list[Link]]]


def read_story(path: str | Path) -> TwineStory:
    """Read a story from a file, ``.twee`` or ``.tw``.

    Raises:
        StoryError: If it is not a story.
        OSError: If it cannot be read.
    """
    file = str(path)
    if not file.lower().endswith((".twee", ".tw")):
        raise StoryError(file, "stories are read from .twee or .tw, which Twine exports")
    content = read_content(path)
    if len(content) > LARGEST_FILE:
        raise StoryError(file, f"larger than {LARGEST_FILE // 10**6} MB")
    try:
        return parse_twee(content.decode("utf-8-sig"), file)
    except UnicodeDecodeError as error:
        raise StoryError(file, "the text is not UTF-8") from error


def parse_twee(text: str, file: str = "story.twee") -> TwineStory:
    """Read a story in Twee 3.

    Raises:
        StoryError: If it is not a story.
    """
    title, start = Path(file).stem, "Start"
    passages: dict[str, tuple[str, list[Link]]] = {}
    for line, header, body in _twee_passages(text):
        place = f"{file}:{line}"
        name, tags = _name_and_tags(header)
        match name:
            case "":
                raise StoryError(place, "the passage has no name")
            case "StoryTitle":
                title = body.strip() or title
            case "StoryData":
                try:
                    start = str(json.loads(body).get("start", start))
                except (ValueError, AttributeError, RecursionError) as error:
                    raise StoryError(place, f"not JSON ({error})") from error
            case _ if name in _SPECIAL or _NO_PASSAGES.intersection(tags):
                continue
            case _ if name in passages:
                raise StoryError(place, f"a second passage is named {name!r}")
            case _:
                passages[name] = _text_and_links(body)
    if start not in passages:
        raise StoryError(file, f"it begins with the passage {start!r}, which is not there")
    return TwineStory(title, start, passages)


def _twee_passages(text: str) -> Iterator[tuple[int, str, str]]:
    """The line, header and body of each passage."""
    found: list[tuple[int, str, list[str]]] = []
    for number, content in enumerate(text.splitlines(), 1):
        if content.startswith("::"):
            found.append((number, content[2:].strip(), []))
        elif found:
            found[-1][2].append(content[1:] if content.startswith("\\::") else content)
    return ((line, header, "\n".join(body)) for line, header, body in found)


def _name_and_tags(header: str) -> tuple[str, Sequence[str]]:
    """Split ``name [tags] {metadata}``, in which a backslash escapes a bracket."""
    match = _HEADER.fullmatch(header)
    name, tags = (match[1], match[2] or "") if match else (header, "")
    return _ESCAPED.sub(r"\1", name).strip(), [_ESCAPED.sub(r"\1", t) for t in tags.split()]


def _text_and_links(body: str) -> tuple[str, list[Link]]:
    links: list[Link] = []
    lines = []
    for line in body.splitlines():
        # Texts and what stands in the links between them, by turns.
        parts = _LINK.split(line)
        found = [_link(inside) for inside in parts[1::2]]
        links += found
        # A line that held links only is dropped.
        if "".join(parts[::2]).strip(" \t*-+>"):
            parts[1::2] = [label for label, _ in found]
            lines.append(_NOT_TEXT.sub(" ", "".join(parts)).rstrip())
        elif not found:
            lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n")), links


def _link(inside: str) -> Link:
    """``[[target]]``, ``[[label->target]]``, ``[[target<-label]]`` or ``[[label|target]]``."""
    target, backwards, label = inside.partition("<-")
    if "->" in inside or not backwards:
        label, _, target = inside.rpartition("->" if "->" in inside else "|")
    return _NOT_TEXT.sub(" ", label).strip() or target.strip(), target.strip()


def book_text(story: TwineStory) -> str:
    """Return the story as a gamebook file.

    Sections are numbered in the order of the passages, from 1 for the one with which it begins.
    Links to missing passages get numbers without a section, which the check of the
    book then reports. Every ending scores 0 until its author sets a score.
    """
    order = [story.start, *(name for name in story.passages if name != story.start)]
    targets = (target for name in order for _, target in story.passages[name][1])
    numbers = {name: n for n, name in enumerate(dict.fromkeys((*order, *targets)), 1)}
    endings: dict[str, Any] = {}
    sections: dict[int, Any] = {}
    for name in order:
        (text, links), number = story.passages[name], numbers[name]
        section = sections[number] = {"title": _one_line(name), **({"text": text} if text else {})}
        if links:
            section["choices"] = [{"label": words, "goto": numbers[to]} for words, to in links]
        else:
            section["ending"] = f"end_{number}"
            endings[f"end_{number}"] = {"score": 0, "text": _one_line(name)}
    book = {
        "format": "solvent-gamebook",
        "version": 1,
        "title": _one_line(story.title),
        "endings": endings or {"end_0": {"score": 0, "text": "The end"}},
        "sections": sections,
    }
    return NOTE + yaml.dump(book, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)


NOTE = """\
# Made from a story of Twine. Give the endings their scores, and put what the story
# format would have run into conditions and effects.
"""


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def _one_line(text: str) -> str:
    return _NOT_TEXT.sub(" ", text).replace("\n", " ")
