"""Playing a gamebook in the terminal."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
from small_mill import TEXT, small_mill
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.exact import solve
from solvent.games import FightingFantasy
from solvent.model import Game, compile_game
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


def test_an_option_is_chosen_by_the_beginning_of_its_words() -> None:
    record, _, _ = session(["pick h", "leave", "sleep"])
    assert [d.action for d in record.decisions][:3] == ["pick hunting", "leave", "Sleep in the hay"]


def test_what_has_been_taken_stays_on_the_sheet() -> None:
    _, shown, _ = session(["0"] * 60)
    pages = [page for page in shown if page.startswith("3.")]
    assert pages
    # Hunting matters no more once the meal is eaten, but the hero still knows it.
    assert all("hunting" in page for page in pages)


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


def test_advice_is_exact() -> None:
    _, shown, _ = session(["?"])
    table = compile_game(GAME)
    values = solve(table)
    text = "\n".join(shown)
    advice = dict(re.findall(r"^  (pick \w+) +(\d\.\d+)", text, re.MULTILINE))
    thrown = re.search(r"^endurance .* (\d)/6$", text, re.MULTILINE)
    assert thrown is not None
    starts = np.flatnonzero(table.initial).tolist()
    [state] = [s for s in starts if table.states[s].values[1] == int(thrown[1])]
    for action, words in GAME.labels(table.states[state]).items():
        worth = values.action_values[table.row(state, (action, 0))]
        assert advice[words] == f"{worth:.4f}"


def test_values_are_points_where_an_ending_is_worth_a_half() -> None:
    _, shown, _ = session(["0"] * 60)
    assert "%" not in "\n".join(shown)
    assert re.search(r"Optimum at the start \d\.\d{4}, your decisions ", shown[-1])


def test_the_review_says_where_chances_were_lost() -> None:
    record, shown, _ = session(["0"] * 60)
    dear = [(n, d) for n, d in enumerate(record.decisions, 1) if d.cost > 0]
    assert dear
    text = " ".join("\n".join(shown).split())
    for number, decision in dear:
        assert (
            f"Decision {number}, {GAME.place(decision.state)}: {decision.action} cost "
            f"{decision.cost:.4f} points; {decision.best} was better." in text
        )


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


def test_a_broken_book_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(TEXT.replace("leave: 2", "leave: 20"), encoding="utf-8")
    result = CliRunner().invoke(app, ["play", "book", str(path)], prog_name="solvent")
    assert result.exit_code == 2
    assert "there is no section 20" in result.stderr
    assert result.stderr.count("\n") == 1
