"""Playing in the terminal: scripted sessions, and what they say of every decision."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from solvent.exact import SolvedGame, best_response, solve
from solvent.games import FightingFantasy, Pig
from solvent.model import Game, GameInfo, Outcome, TabularGame, TabularPolicy, compile_game
from solvent.model.registry import game_specs
from solvent.play import Record, play
from solvent.play.session import Choices


class Session:
    """A play whose answers are given by a list, or by a function of the session."""

    def __init__(self, answers: Iterable[str] | Callable[[Session], str]) -> None:
        self.shown: list[str] = []
        self.asked: list[str] = []
        self._answers = answers if callable(answers) else iter(answers)

    def input(self, prompt: str) -> str:
        self.asked.append(prompt)
        if callable(self._answers):
            return self._answers(self)
        try:
            return next(self._answers)
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


def take_the_other(session: Session) -> str:
    """Ask for advice, then do the other thing."""
    *_, first, second = "", "", *session.shown
    for best, other in ((first, second), (second, first)):
        if best.endswith("(best)") and (named := re.fullmatch(r"  (\S.*?) +\S+", other)):
            return named[1]
    return "?"


SMALL = FightingFantasy(stamina=6, opponent_stamina=7, luck=5)


def test_every_decision_is_priced_by_the_exact_values_and_the_review_adds_up() -> None:
    session = Session(["test luck"] * 20)
    record = session.play(SMALL, seed=1)
    table = compile_game(SMALL)
    solution = solve(table)
    assert len(record.decisions) >= 3
    for decision in record.decisions:
        state = table.index[decision.state]
        action_value = solution.action_values[table.row(state, (1, 0))]
        assert decision.cost == pytest.approx(solution.values[state] - action_value, abs=1e-9)
        assert decision.best == ("test luck" if decision.cost == 0 else "keep")
        told = f"cost {100 * decision.cost:.2f}% of a win; keep was better"
        assert (told in session.text) == (decision.cost > 0)
    assert record.cost == pytest.approx(sum(d.cost for d in record.decisions))
    assert record.cost > 0
    assert f"which cost {100 * record.cost:.2f}% of a win in all" in session.text
    numbers = re.findall(r"([-+]?[\d.]+)%", session.shown[-1])
    start, choices, chance, result = map(float, numbers)
    assert start == pytest.approx(100 * record.start_value, abs=0.01)
    assert start + choices + chance == pytest.approx(result, abs=0.02)


def test_the_review_fits_the_terminal() -> None:
    session = Session(["0"] * 30)
    session.play("gamebook", seed=3)
    assert "\n  " in session.text.partition("Decision 1")[2]
    assert max(map(len, session.text.splitlines())) <= 80


def test_advice_is_the_exact_worth_of_every_action() -> None:
    session = Session(["?"])
    session.play(SMALL, seed=3)
    table = compile_game(SMALL)
    solution = solve(table)
    round_ = re.search(r"This round is (\w+)", session.text)
    [state] = [s for s in np.flatnonzero(table.initial) if table.states[s].round == round_[1]]
    advice = dict(re.findall(r"^  (keep|test luck) +([\d.]+)%", session.text, re.MULTILINE))
    for action, name in enumerate(("keep", "test luck")):
        worth = solution.action_values[table.row(state, (action, 0))]
        assert advice[name] == f"{100 * worth:.2f}"


def test_the_dice_are_those_of_the_model() -> None:
    """By chi-squared, the first rolls of Pig; after a 1 it is the other player's turn."""
    pig = solve(Pig(target=20))
    rolled = []
    for seed in range(600):
        session = Session(["q"])
        session.play(pig, seed=seed)
        told = re.findall(r"(\d+) points in this turn.*\nplayer (\w) to act", session.text)
        _, (total, player), *_ = told
        rolled.append(int(total) if player == "A" else 1)
    counts = np.bincount(rolled, minlength=7)
    assert counts[1:].sum() == 600
    assert chisquare(counts[1:]).pvalue > 0.01


def test_an_action_is_chosen_by_number_name_or_beginning() -> None:
    for answer in ("1", "test luck", "TEST LUCK", " test luck ", "t"):
        record = Session([answer, "q"]).play(SMALL, seed=1)
        assert [d.action for d in record.decisions] == ["test luck"]
    choose = "here. Choose from: 0 keep, 1 test luck."
    for wrong, hint in {
        "": "Type a number or a name, or help.",
        "2": f"There is no '2' {choose}",
        "-1": f"There is no '-1' {choose}",
        "fly": f"There is no 'fly' {choose}",
        "tests luck": "There is no 'tests luck' here; did you mean 'test luck'?",
    }.items():
        session = Session([wrong, "keep", "q"])
        assert [d.action for d in session.play(SMALL, seed=1).decisions] == ["keep"]
        assert hint in session.shown


def interrupt(session: Session) -> str:
    raise KeyboardInterrupt


def test_a_play_can_be_left() -> None:
    for answers, decided in ((["0", "q"], 1), (["0", "quit"], 1), (["0"], 1), (interrupt, 0)):
        session = Session(answers)
        record = session.play(SMALL, seed=1)
        assert (record.result, len(record.decisions)) == (None, decided)
        assert "You leave the game." in session.shown
        assert session.shown[-1].startswith(f"{decided} decision")


def test_without_hints_no_advice_is_given() -> None:
    session = Session(["?", "q"])
    session.play(SMALL, seed=1, hints=False)
    assert "There is no advice in this game." in session.shown
    assert "%" not in session.text


def test_where_there_is_no_choice_nothing_is_asked_and_that_is_said_once() -> None:
    session = Session([])
    record = session.play(FightingFantasy(stamina=9, opponent_stamina=9, luck=0), seed=1)
    assert (session.asked, record.result in (0, 1)) == ([], True)
    assert session.text.count("There is no choice: keep.") == 1
    assert session.text.count("This round is") > 3


def test_every_game_says_its_rules_in_three_lines() -> None:
    ours = [spec for spec in game_specs().values() if spec.make_is_in("solvent")]
    assert len(ours) >= 6
    for spec in ours:
        lines = spec.rules.splitlines()
        assert 1 <= len(lines) <= 3, spec.name
        assert max(map(len, lines)) <= 80, spec.name


@pytest.mark.parametrize("player", [0, 1])
def test_the_opening_says_rules_goal_and_who_plays_whom(player: int) -> None:
    game = Pig(target=8)
    session = Session(["q"])
    session.play(game, player=player, seed=2)
    opening = "\n".join(session.shown[: session.shown.index("", 5)]).splitlines()
    assert max(map(len, opening)) <= 80
    assert game_specs()["pig"].rules in "\n".join(opening)
    assert "You play to win." in opening
    who = "You are player A and move first." if player == 0 else (
        "You are player B; player A moves first."
    )  # fmt: skip
    assert f"{who} Your opponent plays optimally." in opening
    uniform = TabularPolicy.uniform(compile_game(game), player=1 - player)
    against = Session(["q"])
    against.play(game, player=player, opponent=uniform, seed=2)
    assert f"{who} Your opponent plays 'uniform'." in against.shown


def test_help_repeats_the_rules_and_says_what_actions_do() -> None:
    for word in ("help", "h", "HELP"):
        session = Session([word, "q"])
        session.play(SMALL, seed=1)
        text = session.text.partition("to leave.")[2]
        for told in ("  0 keep: take the round as it is", "  1 test luck: roll two dice", "  ?: "):
            assert told in text
        assert game_specs()["ff-combat"].rules in text


def test_without_a_seed_the_one_taken_gives_the_same_dice_again() -> None:
    first = Session(["keep"] * 20)
    record = first.play(SMALL)
    again = re.fullmatch(r"To roll the same dice again, use --seed (\d+)\.", first.shown[-1])
    second = Session(["keep"] * 20)
    assert second.play(SMALL, seed=int(again[1])) == record
    assert second.shown == first.shown[:-1]


def test_what_is_told_takes_none_of_the_dice() -> None:
    # The stories of combat use dice of their own: without them all goes the same way.
    class Silent:
        """The same game without its story."""

        def __init__(self, game: FightingFantasy) -> None:
            self.info, self.initial, self.draw = game.info, game.initial, game.draw
            self.legal_actions, self.transition = game.legal_actions, game.transition
            self.is_terminal, self.observe = game.is_terminal, game.observe

    told, silent = Session(["1", "0"] * 20), Session(["1", "0"] * 20)
    record = told.play(SMALL, seed=5)
    assert silent.play(Silent(SMALL), seed=5) == record
    assert "Attack" in told.text
    assert "Attack" not in silent.text


def test_answers_that_come_from_a_pipe_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("keep\nq\n"))
    play(SMALL, seed=1)
    assert "0 keep, 1 test luck > keep\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "numbers", "listed"),
    [
        ({0: "keep", 1: "test luck"}, None, "0 keep, 1 test luck"),
        (dict(enumerate("0123")), None, "0-3"),
        ({n: f"order {n}" for n in range(4)}, None, "0-3 order that many"),
        ({1: "roll 1", 2: "roll 2"}, None, "1 roll 1, 2 roll 2"),
        ({0: "stand", **{n: f"roll {n}" for n in (1, 2, 3, 5)}}, None,
         "0 stand, 1-3 roll that many, 5 roll 5"),
        ({7: "kickoff", 8: "onside"}, {1: 7, 2: 8}, "1 kickoff, 2 onside"),
    ],
)  # fmt: skip
def test_actions_are_listed_in_short(
    names: dict[int, str], numbers: dict[int, int] | None, listed: str
) -> None:
    assert Choices(names, numbers or {a: a for a in names}).listed() == listed


def test_an_answer_that_means_several_is_told_which() -> None:
    names = {0: "stand", **{n: f"roll {n}" for n in range(1, 30)}}
    choices = Choices(names, {n: n for n in names})
    assert choices.hint("roll") == "'roll' can be 1-29 roll that many."
    assert choices.hint("rol 4") == "There is no 'rol 4' here; did you mean 'roll 4'?"
    assert choices.hint("fly") == (
        "There is no 'fly' here. Choose from: 0 stand, 1-29 roll that many."
    )
    assert choices.meant("roll 2") == [2]


def test_pig_against_the_optimum() -> None:
    game = Pig(target=10)
    value = solve(compile_game(game)).value
    for player, start in ((0, value), (1, 1 - value)):
        session = Session(take_the_best)
        record = session.play(game, player=player, seed=2)
        assert record.start_value == pytest.approx(start)
        assert record.cost == 0
        assert record.result in (0, 1)
        assert any(line.startswith(f"Player {'BA'[player]} chooses: ") for line in session.shown)


@pytest.mark.parametrize(("signed", "unit"), [(False, r"% of a win"), (True, " points")])
def test_a_loss_is_a_share_of_a_win_or_points(signed: bool, unit: str) -> None:
    session = Session(take_the_other)
    record = session.play(Pig(target=8, signed=signed), player=0, seed=2)
    assert record.cost > 0
    shown = 100 * record.cost if unit.startswith("%") else record.cost
    digits = 2 if unit.startswith("%") else 4
    assert f"which cost {shown:.{digits}f}{unit} in all" in session.text


def test_pig_against_a_given_policy_is_advised_by_the_best_response() -> None:
    game = Pig(target=12)
    table = compile_game(game)
    uniform = TabularPolicy.uniform(table, player=1)
    record = Session(["q"]).play(game, player=0, opponent=uniform, seed=2)
    assert record.start_value == pytest.approx(best_response(table, uniform).value)
    assert record.start_value > solve(table).value


def test_wrong_sides_and_opponents_are_refused() -> None:
    pig = Pig(target=10)
    table = compile_game(pig)
    with pytest.raises(ValueError, match="player is 2; allowed in pig are 0 and 1"):
        Session([]).play(pig, player=2)
    with pytest.raises(ValueError, match="is for player 0, which is you"):
        Session([]).play(pig, opponent=TabularPolicy.uniform(table))
    with pytest.raises(ValueError, match="was made for the model"):
        Session([]).play(Pig(target=11), opponent=TabularPolicy.uniform(table, player=1))
    with pytest.raises(ValueError, match="a game for one; it has no opponent"):
        Session([]).play(SMALL, opponent=TabularPolicy.uniform(compile_game(SMALL)))


class MatchingPennies:
    """Both choose at once; player 0 wins 1 if they match and loses 2 if not."""

    info = GameInfo(
        name="matching-pennies",
        players=2,
        actions=(("heads", "tails"),) * 2,
        acyclic=True,
        reward_range=(-2.0, 1.0),
        sources=("folklore",),
    )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), "open"),)

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        return ((0, 1), (0, 1))

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), "shown", 1 if len(set(joint_action)) == 1 else -2),)

    def is_terminal(self, state: str) -> bool:
        return state == "shown"

    def observe(self, state: str, player: int) -> Any:
        return np.array([float(state == "shown")], np.float32)

    def draw(self, state: str) -> str:
        return f"The coins are {state}."


def always(table: TabularGame, player: int, action: int) -> TabularPolicy:
    return TabularPolicy.deterministic(
        table, np.full(table.n_states, action), player=player, name="stubborn"
    )


@pytest.mark.parametrize("player", [0, 1])
def test_simultaneous_choices_are_priced_in_points(player: int) -> None:
    game = MatchingPennies()
    tails = always(compile_game(game), 1 - player, 1)
    session = Session(["heads"])
    record = session.play(game, player=player, opponent=tails)
    # Against tails, heads is wrong for player 0, who wants a match, and right for player 1.
    assert record.result == (-2 if player == 0 else 2)
    assert record.cost == (3 if player == 0 else 0)
    assert session.shown.index(f"Player {'BA'[player]} chooses: tails.") > session.shown.index(
        "The coins are open."
    )
    assert ("cost 3.0000 points; tails was better" in session.text) == (player == 0)


def test_following_the_advice_costs_nothing() -> None:
    for seed in range(5):
        session = Session(take_the_best)
        record = session.play(SMALL, seed=seed)
        assert record.result in (0, 1)
        assert record.cost == 0
        assert "which cost nothing in all" in session.text
