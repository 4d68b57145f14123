"""Playing in the terminal: scripted sessions, and what they say of every decision."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from refusals import assert_refused
from scipy.stats import chisquare

from solvent import Game, SolvedGame, TabularPolicy, best_response, compile_game, solve
from solvent.games import FightingFantasy, Pig, RockPaperScissors
from solvent.play import Record, play
from solvent.play.session import listed, numbered


class Session:
    """A play whose answers are given by a list, or by a function of the session."""

    def __init__(self, answers: Iterable[str] | Callable[[Session], str]) -> None:
        self.shown: list[str] = []
        given = iter(() if callable(answers) else answers)
        self._answer = answers if callable(answers) else lambda _: next(given)

    def input(self, prompt: str) -> str:
        try:
            return self._answer(self)
        except StopIteration:
            raise EOFError from None

    def play(self, game: Game | SolvedGame | str, **arguments: Any) -> Record:
        return play(game, input=self.input, output=self.shown.append, **arguments)

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def take_the_best(session: Session) -> str:
    """Ask for advice, then do what it says."""
    for line in session.shown[-2:]:
        if best := re.fullmatch(r"  (\S.*?) +\S+  \(best\)", line):
            return best[1]
    return "?"


SMALL = FightingFantasy(stamina=6, opponent_stamina=7, luck=5)


def test_every_decision_is_priced_by_the_exact_values_and_the_review_adds_up() -> None:
    session = Session(["test luck"] * 20)
    record = session.play(SMALL, seed=1)
    solved = solve(SMALL)
    assert len(record.decisions) >= 3
    for decision in record.decisions:
        tested = solved.action_values(decision.state, 0)[1]
        cost = solved.value_of(decision.state) - tested
        assert decision.cost == pytest.approx(cost, abs=1e-9)
        assert decision.best == ("test luck" if decision.cost == 0 else "keep")
        told = f"cost {100 * decision.cost:.2f}% of a win; keep was better"
        assert (told in session.text) == (decision.cost > 0)
    assert record.cost == pytest.approx(sum(d.cost for d in record.decisions))
    assert record.cost > 0
    assert f"which cost {100 * record.cost:.2f}% of a win in all" in session.text
    numbers = re.findall(r"([-+]?[\d.]+)%", session.shown[-1].replace("−", "-"))
    start, *changes, result = map(float, numbers)
    assert start == pytest.approx(100 * record.start_value, abs=0.01)
    assert start + sum(changes) == pytest.approx(result, abs=0.02)


def test_the_dice_are_those_of_the_model() -> None:
    """By chi-squared, the first rolls of Pig; after a 1 it is the other player's turn."""
    pig = solve(Pig(target=20))
    counts = np.zeros(7)
    for seed in range(200):
        session = Session(["q"])
        session.play(pig, seed=seed)
        _, (total, player), *_ = re.findall(
            r"(\d+) points in this turn.*\nplayer (\w) to act", session.text
        )
        counts[int(total) if player == "A" else 1] += 1
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 0.01


def test_an_action_is_chosen_by_number_or_name() -> None:
    for answer in ("1", "test luck", "TEST LUCK", " test luck "):
        record = Session([answer, "q"]).play(SMALL, seed=1)
        assert [d.action for d in record.decisions] == ["test luck"]
    choose = "here. Choose from: 0 keep, 1 test luck."
    for wrong, hint in {
        "": "Type a number or a name, or help.",
        "2": f"There is no '2' {choose}",
        "-1": f"There is no '-1' {choose}",
        "fly": f"There is no 'fly' {choose}",
    }.items():
        session = Session([wrong, "keep", "q"])
        assert [d.action for d in session.play(SMALL, seed=1).decisions] == ["keep"]
        assert hint in session.shown


def test_a_name_without_a_number_is_listed_alone_and_others_as_ranges() -> None:
    plays = {0: "1", 1: "2", 2: "3", 3: "quick kick"}
    assert listed(plays, numbered(plays)) == "1-3, quick kick"
    assert listed({3: "quick kick"}, numbered(plays)) == "quick kick"
    letters = dict(enumerate("ABCD", 20))
    assert listed(letters, numbered(letters)) == "A-D"


def interrupt(session: Session) -> str:
    raise KeyboardInterrupt


def test_a_play_can_be_left() -> None:
    for answers, decided in ((["0", "q"], 1), (["0", "quit"], 1), (["0"], 1), (interrupt, 0)):
        session = Session(answers)
        record = session.play(SMALL, seed=1)
        assert (record.result, len(record.decisions)) == (None, decided)
        assert session.shown[-1].startswith(f"{decided} decision")


def test_where_there_is_no_choice_nothing_is_asked() -> None:
    session = Session([])
    record = session.play(FightingFantasy(stamina=9, opponent_stamina=9, luck=0), seed=1)
    # An answer that is asked for would end it without a result.
    assert record.result in (0, 1)
    assert session.text.count("This round is") > 3


def test_without_a_seed_the_one_taken_gives_the_same_dice_again() -> None:
    first = Session(["keep"] * 20)
    record = first.play(SMALL)
    again = re.fullmatch(r"To roll the same dice again, use --seed (\d+)\.", first.shown[-1])
    second = Session(["keep"] * 20)
    assert second.play(SMALL, seed=int(again[1])) == record
    assert second.shown == first.shown[:-1]


def test_answers_that_come_from_a_pipe_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("keep\nq\n"))
    play(SMALL, seed=1)
    assert "0 keep, 1 test luck > keep\n" in capsys.readouterr().out


def test_pig_against_the_optimum() -> None:
    game = Pig(target=10)
    value = solve(compile_game(game)).value
    for player, start in ((0, value), (1, 1 - value)):
        session = Session(take_the_best)
        record = session.play(game, player=player, seed=7)
        assert record.start_value == pytest.approx(start)
        assert record.cost == 0
        assert record.result in (0, 1)
        assert any(line.startswith(f"Player {'BA'[player]} chooses: ") for line in session.shown)


def test_pig_against_a_given_policy_is_advised_by_the_best_response() -> None:
    table = compile_game(Pig(target=12))
    uniform = TabularPolicy.uniform(table, player=1)
    record = Session(["q"]).play(Pig(target=12), player=0, opponent=uniform, seed=2)
    assert record.start_value == pytest.approx(best_response(table, uniform).value)
    assert record.start_value > solve(table).value


def test_wrong_sides_and_opponents_are_refused() -> None:
    pig = Pig(target=10)
    table, combat = compile_game(pig), compile_game(SMALL)
    uniform = TabularPolicy.uniform
    rows: tuple[tuple[Game, dict[str, Any], str], ...] = (
        (pig, {"player": 2}, "player is 2; allowed are whole numbers from 0 to 1"),
        (pig, {"opponent": uniform(table)}, "is for player 0, which is you"),
        (Pig(target=11), {"opponent": uniform(table, player=1)}, "was made for the model"),
        (SMALL, {"opponent": uniform(combat)}, "a game for one; it has no opponent"),
    )
    assert_refused(rows, lambda game, arguments: Session([]).play(game, **arguments))


@pytest.mark.parametrize("player", [0, 1])
def test_simultaneous_choices_are_priced_in_points(player: int) -> None:
    table, session = compile_game(RockPaperScissors()), Session(["paper"])
    scissors = np.full(table.n_states, 2)
    stubborn = TabularPolicy.deterministic(table, scissors, player=1 - player)
    record = session.play(RockPaperScissors(), player=player, opponent=stubborn)
    assert (record.result, record.cost) == (-1, 2)
    assert f"Player {'BA'[player]} chooses: scissors." in session.shown
    assert "cost 2.0000 points; rock was better" in session.text


def test_rewards_on_the_way_are_added_up() -> None:
    # Two right doors, each with a fraction of the reward, and a wrong one, which takes one back.
    session = Session(["door 2", "door 8", "door 1"])
    session.play("solvent/FamilyActions-v0", seed=1)
    told = re.findall(r"You receive (\S+), which makes (\S+)\.", session.text)
    assert told == [("0.125", "0.125"), ("0.125", "0.25"), ("−0.125", "0.125")]
