"""Playing a gamebook in the terminal."""

from __future__ import annotations

import random
import re
from pathlib import Path

from small_mill import TEXT, small_mill
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games import FightingFantasy
from solvent.model import Game
from solvent.play import MOST_LISTED, Record, play

GAME = small_mill()


def session(answers: list[str], game: Game = GAME) -> tuple[Record, list[str], list[str]]:
    shown: list[str] = []
    asked: list[str] = []
    left = iter(answers)

    def ask(prompt: str) -> str:
        asked.append(prompt)
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return play(game, seed=3, input=ask, output=shown.append), shown, asked


def test_options_stand_on_the_page_in_the_books_words() -> None:
    _, shown, asked = session(["0", "0", "0"])
    text = "\n".join(shown)
    assert "  0. Sleep in the hay.\n  1. Go on in the dark." in text
    assert set(asked) == {"> "}
    assert "There is no choice" not in text


def test_what_changed_on_the_sheet_is_told() -> None:
    reader = GAME.for_reader()
    told = 0
    pages = [outcome.state for outcome in reader.initial()]
    for page in pages:
        if reader.is_terminal(page) or len(pages) > 400:
            continue
        for action in reader.legal_actions(page)[0]:
            for outcome in reader.transition(page, (action,)):
                pages.append(outcome.state)
                words = reader.tell(page, (action,), outcome, random.Random(1))
                numbers = re.findall(r"(\w+) (-?\d+) -> (-?\d+)", words)
                told += len(numbers)
                sheet = list(GAME.book.fields)
                changed = {
                    (name, str(before), str(after))
                    for name, before, after in zip(
                        sheet, page.values, outcome.state.values, strict=True
                    )
                    if None not in (before, after) and before != after
                }
                assert set(numbers) == changed
    assert told > 10


def test_of_many_decisions_only_the_dear_ones_are_reviewed() -> None:
    long = FightingFantasy(stamina=30, opponent_stamina=30)
    record, shown, _ = session(["test luck", "keep", "keep"] * 40, game=long)
    assert len(record.decisions) > MOST_LISTED
    listed = [line for line in shown if line.startswith("Decision ")]
    assert 0 < len(listed) == sum(d.cost > 0 for d in record.decisions) < len(record.decisions)
    assert shown[-2].startswith(f"{len(record.decisions)} decisions, which cost")


def test_the_command_takes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT, encoding="utf-8")
    for words in (["book", str(path)], ["gamebook", "--book", str(path)]):
        result = CliRunner().invoke(
            app, ["play", *words, "--seed", "3"], prog_name="solvent", input="0\nq\n"
        )
        assert result.exit_code == 0
        assert "A pedlar sits by the road" in result.stdout
