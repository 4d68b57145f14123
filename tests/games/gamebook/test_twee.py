"""Stories of Twine become books with the same graph and text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gamebooks import faults
from hypothesis import given
from hypothesis import strategies as st

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.twee import (
    Link,
    Passage,
    StoryError,
    book_text,
    parse_twee,
    parse_twine_json,
    read_story,
)

TWEE = """\
:: StoryTitle
The Cellar

:: StoryData
{"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC", "start": "Stairs", "zoom": 0.25}

:: Well [deep water] {"position":"600,400","size":"100,200"}
Far down something moves.
\\:: it seems to say.

:: Stairs {"position":"100,100"}
You stand on the stairs.


It smells of "apples": sweet.

* [[Go down->Cellar]]
* [[Go back up<-nothing]]

:: A \\[small\\] door [exit]
Beyond it: the garden, [[Well]] and all.

:: Cellar
(set: $light to 3)The cellar is dark. [[Feel your way|A [small] door]][$lost to true]
[[Well]]

:: Code [script]
alert("[[no link]]")
"""
STORY = parse_twee(TWEE.replace("[[Go back up<-nothing]]", "[[A [small] door<-Go back up]]"))


def graph(book: Book) -> dict[str, list[tuple[str, str]]]:
    """By title, the labels of a section's choices and the titles to which they lead."""
    sections = book.sections
    return {
        section.title: [
            (choice.label, sections[choice.goto].title)
            for choice in (section.choices.root if section.choices else ())
            if choice.goto is not None
        ]
        for section in sections.values()
    }


def test_a_story_in_twee() -> None:
    assert STORY.title == "The Cellar"
    assert STORY.start == "Stairs"
    assert list(STORY.passages) == ["Well", "Stairs", "A [small] door", "Cellar"]
    well, stairs, door, cellar = STORY.passages.values()
    assert well == Passage("Well", "Far down something moves.\n:: it seems to say.", (), False)
    assert stairs.links == (Link("Go down", "Cellar"), Link("Go back up", "A [small] door"))
    assert stairs.text == 'You stand on the stairs.\n\nIt smells of "apples": sweet.'
    assert door.text == "Beyond it: the garden, Well and all."
    assert cellar.links == (Link("Feel your way", "A [small] door"), Link("Well", "Well"))
    assert cellar.has_code
    assert not stairs.has_code


def test_the_book_has_the_graph_and_the_text(tmp_path: Path) -> None:
    text = book_text(STORY)
    assert faults(text, tmp_path) == []
    book = parse_book(text.encode())
    assert book.title == "The Cellar"
    assert book.start == 1
    assert book.sections[1].title == "Stairs"
    assert book.sections[1].text == STORY.passages["Stairs"].text
    assert graph(book) == {
        "Stairs": [("Go down", "Cellar"), ("Go back up", "A [small] door")],
        "Well": [],
        "A [small] door": [("Well", "Well")],
        "Cellar": [("Feel your way", "A [small] door"), ("Well", "Well")],
    }
    assert book.sections[2].ending


def twine(**fields: object) -> str:
    passages = [
        {"name": "Top", "tags": [], "text": "Up here. [[Down->Low]]", "pid": "7"},
        {"name": "Low", "tags": ["dark"], "text": "Down there.", "pid": "9"},
        {"name": "Style", "tags": ["stylesheet"], "text": "body {}"},
    ]
    return json.dumps({"name": "Two", "passages": passages, **fields})


@pytest.mark.parametrize("start", [{"start": "Top"}, {"startnode": "7"}, {"startnode": 7}])
def test_a_story_in_json(start: dict[str, object]) -> None:
    story = parse_twine_json(twine(**start))
    assert (story.title, story.start, list(story.passages)) == ("Two", "Top", ["Top", "Low"])
    assert graph(parse_book(book_text(story).encode())) == {"Top": [("Down", "Low")], "Low": []}


def test_what_is_no_story_is_refused_with_the_place_in_it() -> None:
    for read, text, fault in [
        (parse_twee, "Just text.", "no passage"),
        (parse_twee, ":: Other\nText.\n", "begins with the passage 'Start', which is not there"),
        (parse_twee, ":: Start\n\n:: Start\n", "story.twee:3: a second passage is named 'Start'"),
        (parse_twee, ":: \n", "story.twee:1: the passage has no name"),
        (
            parse_twee,
            ":: StoryData\n{nonsense\n:: Start\n",
            "story.twee:1: not a story: the data: Invalid JSON",
        ),
        (parse_twee, ':: StoryData\n{"start": ["x"]}\n:: Start\n', "start: Input should be"),
        (parse_twine_json, "{", "Invalid JSON"),
        (parse_twine_json, "[" * 100_000, "not a story"),
        (parse_twine_json, "[]", "should be an object"),
        (parse_twine_json, '{"passages": []}', "no passage"),
        (parse_twine_json, '{"passages": [{"text": "x"}]}', "passages 0 name: Field required"),
        (parse_twine_json, '{"passages": [{"name": "a", "text": 3}]}', "text: Input should be"),
        (parse_twine_json, '{"passages": [{"name": "a"}, {"name": "a"}]}', "second passage"),
        (parse_twine_json, twine(start="Nowhere"), "'Nowhere', which is not there"),
        (parse_twine_json, twine(start=[]), "start: Input"),
    ]:
        with pytest.raises(StoryError) as error:
            read(text)
        assert fault in str(error.value), text[:40]


def test_files_are_told_apart_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.tw").write_bytes(b"\xef\xbb\xbf:: Start\r\nText.\r\n")
    (tmp_path / "a.json").write_text(twine(start="Low"), encoding="utf-8")
    (tmp_path / "a.twee").write_bytes(b":: Start\n\xff")
    assert read_story(tmp_path / "a.tw").passages["Start"].text == "Text."
    assert read_story(tmp_path / "a.json").start == "Low"
    with pytest.raises(StoryError, match="UTF-8"):
        read_story(tmp_path / "a.twee")
    with pytest.raises(StoryError, match=r"read from \.twee, \.tw, \.json"):
        read_story(tmp_path / "a.html")


@given(st.text(max_size=60), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_any_text_makes_a_readable_book(text: str, name: str, label: str) -> None:
    passages = [
        {"name": name, "text": f"{text}[[{label}->low]]", "pid": 1},
        {"name": "low", "text": text},
    ]
    story = parse_twine_json(json.dumps({"name": "T", "passages": passages, "startnode": 1}))
    book = parse_book(book_text(story).encode())
    assert len(book.sections) == 2
    assert book.sections[2].text == story.passages["low"].text
