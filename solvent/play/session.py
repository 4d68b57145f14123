"""Sessions in the terminal: a person's decisions with their costs, an opponent and the dice."""

import builtins
import random
import re
import secrets
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any

from solvent.exact import SolvedGame, SolvedTable, solve
from solvent.model import (
    WINS_OR_TIES,
    Game,
    TabularPolicy,
    ValueScale,
    against,
    cached_table,
)
from solvent.model.game import words
from solvent.model.parameters import check_integer
from solvent.model.progress import OnProgress
from solvent.model.registry import make_game, spec_of
from solvent.model.text import action_names, signed
from solvent.play.line import Line, for_reader, roll, valued

LETTER = re.compile("[A-Z]")
"""The name of an action that is a letter, such as that of a defence in football."""

WIDTH = 79
"""Characters of a line in which actions are listed."""

MOST_LISTED = 20
"""The most decisions to review; of more, only the costliest, if they cost anything."""


def numbered(names: Mapping[int, str]) -> Mapping[int, int]:
    """Return the action that each number stands for; a name that is a number stands for itself.

    Args:
        names: The names of the legal actions.
    """
    own = {int(name): action for action, name in names.items() if name.isdecimal()}
    return own or {action: action for action in names}


def listed(names: Mapping[int, str], numbers: Mapping[int, int]) -> str:
    """Return a short list of actions, such as ``0 stand, 1-29 roll that many``.

    Names that are their own numbers, or letters that follow each other, are shown as a range,
    and so are names of one word and their own numbers.

    Args:
        names: The names of actions, in the order in which they are shown.
        numbers: The action that each number stands for.
    """
    number_of = {action: number for number, action in numbers.items()}
    items = [(number_of.get(action), name) for action, name in names.items()]
    runs = groupby(enumerate(items), _range_of)
    return ", ".join(_range_text(word, [one for _, one in run]) for (word, _), run in runs)


def _range_of(place: tuple[int, tuple[int | None, str]]) -> tuple[str, int]:
    """Return the word that the names of a range share, and the distance of number and place."""
    at, (number, name) = place
    if LETTER.fullmatch(name):
        return "", ord(name) - at
    return name.removesuffix(str(number)), (number or 0) - at


def _range_text(word: str, run: Sequence[tuple[int | None, str]]) -> str:
    """Write a range of at least three actions, or single names with their numbers."""
    if len(run) < 3:
        alone = [number is None or name == str(number) for number, name in run]
        return ", ".join(
            name if alone[n] or LETTER.fullmatch(name) else f"{number} {name}"
            for n, (number, name) in enumerate(run)
        )
    (first, name), (last, last_name) = run[0], run[-1]
    return f"{first}-{last} {word}that many" if word else f"{name}-{last_name}"


def wrapped(text: str, indent: str = "") -> str:
    """A text in lines that fit."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between at least two actions.

    Attributes:
        state: The state in which it was taken.
        action: The name of the action taken.
        best: The name of the best one (the lowest index on ties; `action` if that is as good).
        cost: V*(s) - Q*(s, a) to the person, at least 0.
    """

    state: Any
    action: str
    best: str
    cost: float


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one episode.

    Attributes:
        start_value: V* at the first state, to the person.
        decisions: The decisions in order.
        result: The person's return at the end, or None if the episode was left.
    """

    start_value: float = 0.0
    decisions: list[Decision] = field(default_factory=list)
    result: float | None = None

    @property
    def cost(self) -> float:
        """The total cost of all decisions."""
        return sum(decision.cost for decision in self.decisions)


class Session:
    """One episode of a game: a person, an opponent and the dice.

    Args:
        solved: The game that the person faces, with its optimum and the opponent's policy.
        player: The person's side.
        seed: The seed of chance and of the opponent's actions.
        ask: The function that asks a question and returns the answer.
        show: The function that shows a text.
        rival: A description of the opponent's policy, to follow "your opponent".

    Attributes:
        line: The moves so far.
    """

    def __init__(
        self,
        solved: SolvedGame,
        player: int,
        seed: int,
        *,
        ask: Callable[[str], str],
        show: Callable[[str], object],
        rival: str = "plays optimally",
    ) -> None:
        self.player, self.ask, self.show, self.rival = player, ask, show, rival
        self.dice = random.Random(seed)
        self.scale = ValueScale(solved.game.info, player)
        self.start = roll(for_reader(solved.game).initial(), self.dice)
        self.line = Line(solved, self.start.state, seed=seed)
        self.game = self.line.game
        self.words = words(self.game)

    def opening(self) -> list[str]:
        """Return the introduction: the rules, the payoff, the players and their policies."""
        info = self.game.info
        spec = spec_of(info)
        rules = [f"{info.name}", *(spec.rules.splitlines() if spec else [])]
        goal = "to win" if self.scale.is_chance else f"for {info.unit or 'reward'}"
        half = "; a tie counts half" if info.unit == WINS_OR_TIES else ""
        lines = [*rules, "", f"You play {goal}{half}."]
        if info.players == 2:
            you = self.words.player_name(self.player)
            lines.append(f"You are {you}. Your opponent {self.rival}.")
        commands = "Answer by number or name, `?` for advice, `help` for the rules, `q` to leave."
        return [*lines, commands]

    def play(self) -> Record:
        """Play an episode from a start to the end, or until the person leaves."""
        for text in (*self.opening(), ""):
            self.show(text)
        if story := self.words.tell(None, (), self.start, random.Random(self.line.seed)):
            self.show(story)
        try:
            while not self.line.over:
                self._move()
        except (EOFError, KeyboardInterrupt):
            self.show("")
            self.show("You leave the game.")
        else:
            self.show(self.game.draw(self.line.state))
        record = self.record()
        for text in self.review(record):
            self.show(text)
        return record

    def record(self) -> Record:
        """Return the record of the moves so far."""
        account, player = self.line.account(self.player), self.player
        decisions = [
            Decision(
                ply.state,
                action_names(self.game, ply.state, player)[ply.joint[player]],
                ply.best[player],
                ply.costs[player],
            )
            for ply in self.line.plies
            if ply.best[player]
        ]
        return Record(account.start, decisions, account.result if self.line.over else None)

    def _move(self) -> None:
        """Ask for the person's action, draw the opponent's and the outcome, and show them."""
        line, other = self.line, 1 - self.player
        self.show(self.game.draw(line.state))
        choosing = line.choosing()
        given = {self.player: self._ask()} if self.player in choosing else {}
        joint = line.drawn(given, self.dice)
        if other in choosing:
            rival = self.words.player_name(other)
            name = action_names(self.game, line.state, other)[joint[other]]
            self.show(f"{rival[:1].upper()}{rival[1:]} chooses: {name}.")
        self.line = line.moved(joint, None, self.dice)
        if story := self.line.plies[-1].story:
            self.show(story)
        gained = self.line.reward - line.reward
        if gained and not self.scale.is_chance and not self.line.over:
            sign = 1 if self.player == 0 else -1
            told = signed(f"{sign * gained:g}, which makes {sign * self.line.reward:g}")
            self.show(f"You receive {told}.")
        self.show("")

    def advice(self, names: Mapping[int, str]) -> list[str]:
        """Return the value of every action, the best first, and the mixed strategy.

        Args:
            names: The names of the legal actions.
        """
        state = self.line.solved_state(self.line.state)
        found = valued(self.line.solved, state, self.player, names)
        width = max(len(one.name) for one in found)
        meaning = f" ({self.scale.meaning})" if self.scale.meaning else ""
        lines = [f"With the best play afterwards{meaning}:"]
        for one in sorted(found, key=lambda one: (one.cost, -one.chance)):
            best = "  (best)" if one.cost == 0 else ""
            mixed = f"  {100 * one.chance:.1f}% of the mixed strategy" if 0 < one.chance < 1 else ""
            lines.append(f"  {one.name:{width}}  {self.scale.text(one.value)}{best}{mixed}")
        return lines

    def help(self, names: Mapping[int, str]) -> list[str]:
        """Return the rules, the description of each action, and the commands.

        Args:
            names: The names of the legal actions.
        """
        spec = spec_of(self.game)
        lines = [*spec.rules.splitlines(), ""] if spec else []
        numbers = numbered(names)
        explained: dict[str, dict[int, str]] = {}
        for action, name in names.items():
            explained.setdefault(self.words.explain(action, self.player), {})[action] = name
        lines.append("What you can do now:")
        lines += [
            wrapped(f"  {listed(own, numbers)}: {text}".rstrip(": "), "  ")
            for text, own in explained.items()
        ]
        return [*lines, "`?` shows the value of each action, `q` leaves and shows the costs."]

    def _ask(self) -> int:
        """Ask until the answer is one of the legal actions."""
        names = action_names(self.game, self.line.state, self.player)
        numbers = numbered(names)
        answers = {str(number): action for number, action in numbers.items()}
        answers |= {name.lower(): action for action, name in names.items()}
        choices = listed(names, numbers)
        # The drawing of a state has its labels already.
        menu = "" if self.words.labels(self.line.state) else choices
        while True:
            answer = " ".join(self.ask(f"{menu} > ".lstrip()).lower().split())
            if answer in answers:
                return answers[answer]
            match answer:
                case "q" | "quit":
                    raise EOFError
                case "h" | "help":
                    lines = self.help(names)
                case "?":
                    lines = self.advice(names)
                case "":
                    lines = ["Type a number or a name, or help."]
                case _:
                    lines = [wrapped(f"There is no {answer!r} here. Choose from: {choices}.")]
            for line in lines:
                self.show(line)

    def review(self, record: Record) -> list[str]:
        """Return the decisions with their costs, and an explanation of the result.

        Args:
            record: The record of an episode, ended or left.
        """
        lines = [""]
        told = list(enumerate(record.decisions, 1))
        if len(told) > MOST_LISTED:
            dear = sorted(told, key=lambda one: one[1].cost, reverse=True)[:MOST_LISTED]
            told = sorted(one for one in dear if one[1].cost > 0)
        for number, decision in told:
            verdict = "was best"
            if decision.cost > 0:
                verdict = f"cost {self.scale.difference(decision.cost)}; {decision.best} was better"
            where = words(self.game).place(decision.state)
            where = where and f", {where}"
            lines.append(f"Decision {number}{where}: {decision.action} {verdict}.")
        total = self.scale.difference(record.cost) if record.cost else "nothing"
        count = len(record.decisions)
        lines.append(f"{count} decision{'' if count == 1 else 's'}, which cost {total} in all.")
        if record.result is not None:
            unit = "" if self.scale.is_chance else f" {self.game.info.unit}".rstrip()
            chance = record.result - record.start_value + record.cost
            lines.append(
                f"Optimum at the start {self.scale.text(record.start_value)}, your decisions "
                f"{self.scale.signed(0 - record.cost)}, chance {self.scale.signed(chance)}: "
                f"{self.scale.text(record.result)}{unit}."
            )
        return [wrapped(line, "  ") for line in lines]


def play(
    game: Game | SolvedGame | str,
    *,
    player: int = 0,
    opponent: TabularPolicy | None = None,
    seed: int | None = None,
    input: Callable[[str], str] | None = None,
    output: Callable[[str], object] = print,
    solving: Callable[[], AbstractContextManager[OnProgress | None]] = nullcontext,
) -> Record:
    """Let a person play one episode of a game.

    Args:
        game: The name of a game or its rules, which are solved first, or a solved game.
        player: The person's side, 0 or 1, in a game for two.
        opponent: Policy of the other side, for a game that has a table. By default the opponent
            plays optimally.
        seed: Seed of the dice. By default a new seed is drawn, and shown at the end.
        input: The function that asks a question and returns the answer. It raises EOFError when
            the input ends. The default calls the built-in ``input``, and echoes answers that come
            from a file or a pipe.
        output: The function that shows a text.
        solving: The function that shows the progress of solving. It returns a context manager,
            which is open while the game is solved and yields the function to call with the
            progress, or None.

    Returns:
        The decisions with their costs. An episode left by ``q``, the end of the input or Ctrl-C
        has no result.

    Raises:
        ValueError: If there is no such player, or `opponent` is not a policy of the other
            side in this game.
        TooManyStatesError: If the game is too large for the table that the opponent needs.
    """
    if isinstance(game, str):
        game = make_game(game)
    rules = game if isinstance(game, Game) else game.game
    info = rules.info
    check_integer(player, "player", 0, info.players - 1)
    if opponent is not None:
        if info.players == 1:
            raise ValueError(f"{info.name} is a game for one; it has no opponent")
        if opponent.player == player:
            raise ValueError(f"policy {opponent.name!r} is for player {player}, which is you")
    with solving() as progress:
        if opponent is not None:
            solved: SolvedGame = _against(game, opponent, progress)
        else:
            solved = solve(game, progress=progress) if isinstance(game, Game) else game
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    rival = "plays optimally" if opponent is None else f"plays {opponent.name!r}"
    session = Session(
        solved,
        player,
        drawn,
        ask=input or partial(_ask, output),
        show=output,
        rival=rival,
    )
    record = session.play()
    if seed is None:
        output(f"To roll the same dice again, use --seed {drawn}.")
    return record


def _against(
    game: Game | SolvedGame, opponent: TabularPolicy, progress: OnProgress | None
) -> SolvedTable:
    """Return the game solved against the opponent, who plays its policy there."""
    rules = game if isinstance(game, Game) else game.game
    table = game.table if isinstance(game, SolvedTable) else cached_table(rules, progress=progress)
    best = solve(against(table, opponent), progress=progress)
    mine, other = best.policies[1 - opponent.player], opponent
    policies = (other, mine) if opponent.player == 0 else (mine, other)
    values = table.expectation(best.values)
    return SolvedTable(rules, table, replace(best, policies=policies, action_values=values))


def _ask(output: Callable[[str], object], prompt: str) -> str:
    """Ask for an answer, and echo it if it does not come from a terminal."""
    answer = builtins.input(prompt)
    if not sys.stdin.isatty():
        output(answer)
    return answer
