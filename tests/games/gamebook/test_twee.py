"""Stories of Twine become books with the same graph and text."""

from __future__ import annotations

from pathlib import Path

import pytest
from gamebooks import faults
from hypothesis import given
from hypothesis import strategies as st

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.twee import (
    StoryError,
    book_text,
    parse_twee,
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
            for choice in section.choices or ()
            if choice.goto is not None
        ]
        for section in sections.values()
    }


def test_a_story_in_twee() -> None:
    assert STORY.title == "The Cellar"
    assert STORY.start == "Stairs"
    assert list(STORY.passages) == ["Well", "Stairs", "A [small] door", "Cellar"]
    well, stairs, door, cellar = STORY.passages.values()
    assert well == ("Far down something moves.\n:: it seems to say.", [])
    assert stairs == (
        'You stand on the stairs.\n\nIt smells of "apples": sweet.',
        [("Go down", "Cellar"), ("Go back up", "A [small] door")],
    )
    assert door[0] == "Beyond it: the garden, Well and all."
    assert cellar[1] == [("Feel your way", "A [small] door"), ("Well", "Well")]


def test_the_book_has_the_graph_and_the_text(tmp_path: Path) -> None:
    text = book_text(STORY)
    assert faults(text, tmp_path) == []
    book = parse_book(text.encode())
    assert book.title == "The Cellar"
    assert book.start == 1
    assert book.sections[1].title == "Stairs"
    assert book.sections[1].text == STORY.passages["Stairs"][0]
    assert graph(book) == {
        "Stairs": [("Go down", "Cellar"), ("Go back up", "A [small] door")],
        "Well": [],
        "A [small] door": [("Well", "Well")],
        "Cellar": [("Feel your way", "A [small] door"), ("Well", "Well")],
    }
    assert book.sections[2].ending


def test_what_is_no_story_is_refused_with_the_place_in_it() -> None:
    for text, fault in [
        ("Just text.", "begins with the passage 'Start', which is not there"),
        (":: Other\nText.\n", "begins with the passage 'Start', which is not there"),
        (":: Start\n\n:: Start\n", "story.twee:3: a second passage is named 'Start'"),
        (":: \n", "story.twee:1: the passage has no name"),
        (":: StoryData\n{nonsense\n:: Start\n", "story.twee:1: not JSON"),
        (f":: StoryData\n{'[' * 100_000}\n:: Start\n", "story.twee:1: not JSON"),
        (':: StoryData\n["x"]\n:: Start\n', "story.twee:1: not JSON"),
        (':: StoryData\n{"start": ["x"]}\n:: Start\n', "begins with the passage"),
    ]:
        with pytest.raises(StoryError) as error:
            parse_twee(text)
        assert fault in str(error.value), text[:40]


def test_a_story_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.tw").write_bytes(b"\xef\xbb\xbf:: Start\r\nText.\r\n")
    (tmp_path / "a.twee").write_bytes(b":: Start\n\xff")
    assert read_story(tmp_path / "a.tw").passages["Start"][0] == "Text."
    with pytest.raises(StoryError, match="UTF-8"):
        read_story(tmp_path / "a.twee")
    with pytest.raises(StoryError, match=r"read from \.twee or \.tw"):
        read_story(tmp_path / "a.html")


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_text_makes_a_readable_book(text: str, name: str, label: str) -> None:
    text, name, label = (part.replace("::", ":") for part in (text, name, label))
    story = parse_twee(f":: Start\n{text}[[{label}->low]]\n:: x{name}\n{text}\n:: low\n{text}")
    book = parse_book(book_text(story).encode())
    assert len(book.sections) == len(story.passages) >= 2
    assert book.sections[len(book.sections)].text == story.passages["low"][0]
