"""The calls of both sides: numbers of actions, the outcomes of a call, and words for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any, Self

from solvent.games.football.chart import Cell, Chart, Result, cell_text
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    Consequence,
    Restart,
    Situation,
    consequences,
)
from solvent.model.text import signed

KICKOFFS = ("kickoff", "onside")
"""The choices of a side that kicks off."""


@dataclass(frozen=True)
class Actions:
    """The numbering of a player's actions. A form of the game need not use all of them.

    Attributes:
        plays: Number n of plays. Actions 0 to n - 1 are plays 1 to n, action n is the quick kick,
            n + 1 the field goal. Action n + 2 declares punt formation, and punts from it.
        defence: Action of defence A; the other letters follow.
        choice: Action of taking the penalty; taking the play follows.
        kick: Action of the ordinary kickoff; the onside kick follows.
        timeout: Action of calling a time-out; letting the clock run follows.
        names: Names of all actions, in their order.
    """

    plays: int
    defence: int
    choice: int
    kick: int
    timeout: int
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        chart: Chart,
        *,
        offence: bool,
        defence: bool,
        kicks: bool,
        timeouts: bool = False,
        other_chart: Chart | None = None,
    ) -> Self:
        """Return the actions of a player.

        Args:
            chart: The chart with the plays and the letters.
            offence: Whether the player is ever on offence.
            defence: Whether the player is ever on defence.
            kicks: Whether the player ever kicks off.
            timeouts: Whether the player can call time-outs.
            other_chart: The chart with the letters, if the other side has its own chart.
        """
        parts = (
            offence_calls(chart) if offence else (),
            (other_chart or chart).letters if defence else (),
            ("take the penalty", "take the play"),
            KICKOFFS if kicks else (),
            ("time-out", "no time-out") if timeouts else (),
        )
        letter, choice, kick, timeout, _ = accumulate(map(len, parts))
        names = tuple(chain.from_iterable(parts))
        return cls(chart.plays, letter, choice, kick, timeout, names)

    def first_of(self, phase: str) -> int | None:
        """Return the first action of a two-way phase, else None.

        Args:
            phase: Name of the phase, such as ``"choice"``.
        """
        return {"choice": self.choice, "kickoff": self.kick, "time-out": self.timeout}.get(phase)

    def explain(self, chart: Chart, other_chart: Chart, action: int) -> str:
        """Describe an action in a few words.

        Args:
            chart: The chart with the player's plays.
            other_chart: The chart with the player's letters.
            action: Any action in `names`.
        """
        # A player who is never on offence has no plays: there the letters start at 0.
        if action < min(self.plays, self.defence):
            return play_words(chart.cells[action])
        if self.defence <= action < self.choice:
            return defence_words(other_chart, action - self.defence)
        return _EXPLAINED[self.names[action]]


def offence_calls(chart: Chart) -> tuple[str, ...]:
    """The names of the offence's actions.

    Args:
        chart: The chart with the plays.
    """
    return (*map(str, range(1, chart.plays + 1)), "quick kick", "field goal", "punt")


# Descriptions of the actions that are neither a play of a chart nor a defence.
_EXPLAINED = {
    "quick kick": "a punt that takes them by surprise, on any down",
    "field goal": "3 points if it is good, which is likelier from closer in",
    "punt": "declare punt formation, or punt if it is declared",
    "take the penalty": "the penalty counts, and the down is played again",
    "take the play": "the play counts, and the penalty does not",
    "kickoff": "an ordinary, long kickoff",
    "onside": "a short kickoff that your own team may recover",
    "time-out": "stop the clock; uses up one of your time-outs",
    "no time-out": "let the clock run",
}


def what_follows_call(
    chart: Chart, ruleset: Ruleset, situation: Situation, action: int, defence: int
) -> Iterator[tuple[Fraction, Result | None, tuple[Consequence, ...]]]:
    """Yield the outcomes of the offence's action against a defence.

    Args:
        chart: The chart with the cells.
        ruleset: The numbers in the rules.
        situation: The offence's situation.
        action: A legal action of the offence, see :class:`Actions`.
        defence: Number of the defence, from 0.

    Yields:
        The probability, the chart's result and its consequences. A result that offers a choice has
        no consequences yet. For a field goal or a declaration of punt formation the result is None,
        because the chart is not read.
    """
    if action == chart.plays + 1:
        yield Fraction(1), None, consequences(ruleset, situation, "field_goal")
    elif action == chart.plays + 2 and not situation.punting:
        yield Fraction(1), None, consequences(ruleset, situation, "declaration")
    else:
        # The field goal has its place among the actions, but is not read from the chart.
        columns = (*chart.cells, chart.quick_kick, (), chart.punt)
        for probability, result in columns[action][defence]:
            yield (
                probability,
                result,
                () if result.options else consequences(ruleset, situation, result),
            )


def is_pass(cells: Sequence[Cell]) -> bool:
    """Whether a play is a pass: one of its results is an incompletion or an interception."""
    kinds = {result.kind for cell in cells for _, result in cell}
    return not kinds.isdisjoint({"incomplete", "interception"})


def mean_gain(cells: Sequence[Cell]) -> float:
    """The yards gained in some cells, all with the same weight; no number of yards counts as 0."""
    gains = [float(p) * r.yards for cell in cells for p, r in cell if r.kind == "gain"]
    return sum(gains) / max(len(cells), 1)


def play_words(cells: Sequence[Cell]) -> str:
    """Describe a play, such as ``pass: 8 yards on average, 40% incomplete, 10% intercepted``.

    Args:
        cells: The play against each defence, all of which have the same weight.
    """
    words = {"incomplete": "incomplete", "interception": "intercepted", "fumble": "fumbled"}
    words["long-gain"] = "a long gain"
    chances = {
        word: sum(float(p) for cell in cells for p, result in cell if result.kind == kind)
        for kind, word in words.items()
    }
    rest = [f"{chance / len(cells):.0%} {word}" for word, chance in chances.items() if chance]
    name = "pass" if is_pass(cells) else "run"
    return ", ".join((f"{name}: {mean_gain(cells):.0f} yards on average", *rest))


def defence_words(chart: Chart, defence: int) -> str:
    """Describe a defence, such as ``runs gain 2.3 yards on average, passes 9.1``.

    Args:
        chart: The chart with the defence.
        defence: Number of the defence, from 0.
    """
    runs, passes = (
        mean_gain([cells[defence] for cells in chart.cells if is_pass(cells) == passed])
        for passed in (False, True)
    )
    return f"runs gain {runs:.1f} yards on average, passes {passes:.1f}"


def call_sheet(chart: Chart, actions: Actions, legal: Sequence[int]) -> str:
    """Return the legal calls of a player, such as ``1-12, quick kick, field goal``.

    Args:
        chart: The chart with the letters.
        actions: The player's actions.
        legal: The actions that are legal, ascending.
    """
    lettered = range(actions.defence, actions.defence + chart.defences)
    runs: list[list[int]] = []
    for action in legal:
        in_a_row = action < actions.plays or action in lettered
        if in_a_row and runs and runs[-1][-1] == action - 1:
            runs[-1].append(action)
        else:
            runs.append([action])
    return ", ".join(
        "-".join(actions.names[action] for action in dict.fromkeys((run[0], run[-1])))
        for run in runs
    )


LEGEND = """\
Numbers are yards (o: out of bounds). inc: incomplete; fum: fumble; int:
interception; long: long gain; off, def: penalty on that side (f: first down,
/: or the play). +: the likeliest of several results."""


def short_text(cell: Cell) -> str:
    """Return a cell in a few characters.

    Args:
        cell: The cell. If it has several results, the likeliest is shown with a plus sign.
    """
    likeliest = max(cell, key=lambda entry: entry[0])
    return signed(cell_text(cell) if len(cell) == 1 else f"{likeliest[1].code}+")


# Words for kinds of results, with the yards put in; other kinds are called by their names.
_WORDS = {
    "offence-penalty": "penalty of {} on the offence",
    "defence-penalty": "penalty of {} on the defence",
    "punt": "punt of {}",
    "fumbled-punt": "punt of {}, dropped",
    "blocked-punt": "punt blocked",
    "long-gain": "long gain",
}


def told_result(game: Any, state: Any, branch: Consequence | None, result: Result | None) -> str:
    """Describe a play and its outcome, such as ``gain of 7, first down``.

    Args:
        game: The rules, which name the players.
        state: Position before the call or the kick, with a clock or without.
        branch: The consequence; None if somebody has yet to take the penalty or the play.
        result: The chart's result; None for anything not on it, such as a field goal or a kickoff.
    """
    if branch is None:
        assert result is not None
        return " or ".join(_result_words(option) for option in result.options)
    told = []
    kept = isinstance(branch.next, Situation) and branch.same_side
    if result is not None:
        told.append(_result_words(result))
        if result.kind == "long-gain" and isinstance(branch.next, Situation) and kept:
            told[0] += f" of {state.to_goal - branch.next.to_goal}"
    elif not state.down:
        has_it = state.offence if branch.same_side else 1 - state.offence
        caught = f"{game.player_name(has_it)} has the ball"
        told.append("run back all the way" if isinstance(branch.next, Restart) else caught)
    elif branch.seconds == 0:
        told.append("punt formation")
    elif not branch.points:
        told.append("field goal missed")
    if branch.points:
        told.append(_score_words(game, state, branch, result))
    elif result is not None and isinstance(branch.next, Situation):
        plain = result.kind in ("gain", "long-gain", "incomplete")
        if plain and not kept:
            told.append("lost on downs")
        elif kept and branch.next.down == 1 and (plain or state.down > 1):
            told.append("first down")
    return ", ".join(told)


def _result_words(result: Result) -> str:
    """A result of the chart in words, the dice of a long gain not yet rolled."""
    yards = result.yards
    if result.kind == "gain":
        moved = f"gain of {yards}" if yards > 0 else f"loss of {-yards}" if yards else "no gain"
        return moved + " out of bounds" * result.out_of_bounds
    back = f", returned {result.return_yards}" if result.return_yards else ""
    return _WORDS.get(result.kind, result.kind).format(yards) + back


def _score_words(game: Any, state: Any, branch: Consequence, result: Result | None) -> str:
    scorer = state.offence if branch.points > 0 else 1 - state.offence
    if branch.next is Restart.FREE_KICK:
        kind = "safety"
    elif result is None and state.down:
        kind = "field goal"
    elif abs(branch.points) > game.loaded_ruleset.touchdown:
        kind = "touchdown and extra point"
    else:
        kind = "touchdown, extra point missed"
    return f"{kind} for {game.player_name(scorer)}"
