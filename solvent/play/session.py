"""Sessions in the terminal: a person's decisions with their costs, an opponent and the dice.

**Answers** (:class:`Choices`): the list of actions, and the action that an answer means.
"""

import builtins
import random
import re
import secrets
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

from solvent.exact import SolvedGame, SolvedTable, solve
from solvent.model import (
    WINS_OR_TIES,
    Game,
    JointAction,
    Outcome,
    TabularGame,
    TabularPolicy,
    ValueScale,
    against,
    cached_table,
)
from solvent.model.game import Alternating, Words, words
from solvent.model.parameters import check_integer, nearest
from solvent.model.progress import OnProgress
from solvent.model.registry import make_game, spec_of
from solvent.model.text import action_names, signed

LETTER = re.compile("[A-Z]")
"""The name of an action that is a letter, such as that of a defence in football."""

WIDTH = 79
"""Characters of a line in which actions are listed."""


@dataclass(frozen=True)
class Choices:
    """The actions among which a person chooses.

    Args:
        names: The name of each action, in the order in which they are shown.
        numbers: The action that each number stands for.
    """

    names: Mapping[int, str]
    numbers: Mapping[int, int]

    def listed(self) -> str:
        """Return a short list of the actions, such as ``0 stand, 1-29 roll that many``.

        Names that are their own numbers, or letters that follow each other, are shown as a range,
        and so are names of one word and their own numbers.
        """
        number_of = {action: number for number, action in self.numbers.items()}
        items = [(number_of.get(action), name) for action, name in self.names.items()]
        runs = groupby(enumerate(items), _range_of)
        return ", ".join(_range_text(word, [one for _, one in run]) for (word, _), run in runs)

    def meant(self, answer: str) -> list[int]:
        """Return the actions that an answer can mean: by name, number, or beginning of a name.

        Args:
            answer: The answer in lower case, without spaces at its ends.
        """
        exact = [action for action, name in self.names.items() if name.lower() == answer]
        if exact or not answer:
            return exact
        if answer.isdecimal():
            number = int(answer)
            return [self.numbers[number]] if number in self.numbers else []
        return [action for action, name in self.names.items() if name.lower().startswith(answer)]

    def hint(self, answer: str) -> str:
        """Return the reply to an answer that means no action, or several."""
        several = {action: self.names[action] for action in self.meant(answer)}
        if several:
            return wrapped(f"{answer!r} can be {Choices(several, self.numbers).listed()}.")
        if near := nearest(answer, self.names.values()):
            return wrapped(f"There is no {answer!r} here; did you mean {near!r}?")
        return wrapped(f"There is no {answer!r} here. Choose from: {self.listed()}.")


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


Strategy: TypeAlias = Callable[[Any], Mapping[int, float]]
"""A function from a state to the probability of every legal action."""

NEGLIGIBLE = 1e-9
"""A cost below this is rounding, and the action is one of the best."""

MOST_ADVISED = 10
"""Actions that are advised on at once."""

MOST_LISTED = 20
"""The most decisions to review; of more, only the costliest, if they cost anything."""


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
class ActionValue:
    """An action of a player.

    Attributes:
        number: The number of the action.
        name: The name of the action, in words.
        value: The value of the action, to the player who chooses.
        cost: The loss compared with the best action, at least 0.
        chance: The probability of the action in the optimal strategy.
    """

    number: int
    name: str
    value: float
    cost: float
    chance: float


def valued(
    solved: SolvedGame, state: Any, player: int, names: Mapping[int, str] | None = None
) -> tuple[ActionValue, ...]:
    """Return the legal actions of a player with their values.

    Args:
        solved: The game.
        state: A state of the solution, in which the episode has not ended.
        player: The player.
        names: The names of the actions; those of the game if left out.
    """
    scale = ValueScale(solved.game.info, player)
    names = names or action_names(solved.game, state, player)
    found = {a: scale.of(value) for a, value in solved.action_values(state, player).items()}
    strategy = solved.policy(state, player)
    best = max(found.values())
    return tuple(
        ActionValue(
            action,
            names[action],
            value,
            best - value if best - value >= NEGLIGIBLE else 0.0,
            strategy.get(action, 0.0),
        )
        for action, value in found.items()
    )


def roll(outcomes: Sequence[Outcome], dice: random.Random) -> Outcome:
    """Draw one of several outcomes by its probability.

    Args:
        outcomes: The outcomes.
        dice: The source of randomness.
    """
    [outcome] = dice.choices(outcomes, [float(one.probability) for one in outcomes])
    return outcome


@dataclass(slots=True)
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


class LeaveError(Exception):
    """The person leaves the game."""


class Session:
    """One episode of a game: a person, an opponent and the dice.

    Args:
        solved: The game that the person faces, with its optimum.
        player: The person's side.
        opponent: The other side's action probabilities in a state.
        dice: The source of chance and of the opponent's actions.
        ask: The function that asks a question and returns the answer.
        show: The function that shows a text.
        rival: A description of the opponent's policy, to follow "your opponent".
    """

    def __init__(
        self,
        solved: SolvedGame,
        player: int,
        opponent: Strategy,
        dice: random.Random,
        *,
        ask: Callable[[str], str],
        show: Callable[[str], object],
        rival: str = "plays optimally",
    ) -> None:
        rules = solved.game
        self.solved, self.player, self.opponent, self.dice = solved, player, opponent, dice
        self.ask, self.show, self.rival = ask, show, rival
        # The person may see more than the states that are solved.
        self.words = words(rules)
        self.game: Game = self.words.for_reader() if isinstance(rules, Words) else rules
        self.solved_state = self.words.from_reader
        self.scale = ValueScale(rules.info, player)
        # A separate stream: stories about the dice must not change the dice.
        self._teller = random.Random(repr(dice.getstate()))
        self._forced = False

    def acting(self, state: Any) -> tuple[int, ...]:
        """The players who act, whether they have a choice or not."""
        if isinstance(self.game, Alternating):
            return (self.game.turn(state),)
        return tuple(range(self.game.info.players))

    def numbers(self, state: Any, names: Mapping[int, str]) -> Mapping[int, int]:
        """The action that each number stands for; a name that is a number stands for itself."""
        own = {int(name): action for action, name in names.items() if name.isdecimal()}
        return own or {action: action for action in names}

    def role(self, state: Any) -> str:
        """Return the text before the actions in a question."""
        return ""

    def commands(self) -> Mapping[str, tuple[str, Callable[[Any], Sequence[str]]]]:
        """Further commands by word: a description, and a function from a state to lines."""
        return {}

    def opening(self, start: Any) -> list[str]:
        """Return the introduction: the rules, the payoff, the players and their policies."""
        info = self.game.info
        spec = spec_of(info)
        rules = [f"{info.name}", *(spec.rules.splitlines() if spec else [])]
        goal = "to win" if self.scale.is_chance else f"for {info.unit or 'reward'}"
        half = "; a tie counts half" if info.unit == WINS_OR_TIES else ""
        lines = [*rules, "", f"You play {goal}{half}."]
        if info.players == 2:
            when = "; both sides choose at once"
            if isinstance(self.game, Alternating):
                first = self.game.turn(start)
                when = f"; {self.words.player_name(first)} moves first"
                when = " and move first" if first == self.player else when
            you = self.words.player_name(self.player)
            lines.append(f"You are {you}{when}. Your opponent {self.rival}.")
        words = [f"`{word}` for {does}" for word, (does, _) in self.commands().items()]
        words = ["Answer by number or name", "`?` for advice", *words]
        words += ["`help` for the rules", "`q` to leave"]
        return [*lines, wrapped(", ".join(words) + ".")]

    def play(self) -> Record:
        """Play an episode from a start to the end, or until the person leaves."""
        start = roll(self.game.initial(), self.dice)
        state = start.state
        record = Record(self.scale.of(self.solved.value_of(self.solved_state(state))))
        for line in self.opening(state):
            self.show(line)
        reward = 0.0
        try:
            self.show("")
            self.tell(None, (), start)
            while not self.game.is_terminal(state):
                self.show(self.game.draw(state))
                joint = self._choose(state, record)
                outcome = roll(self.game.transition(state, joint), self.dice)
                self.tell(state, joint, outcome)
                gained = float(outcome.reward)
                reward += gained
                state = outcome.state
                if gained and not self.scale.is_chance and not self.game.is_terminal(state):
                    sign = 1 if self.player == 0 else -1
                    told = signed(f"{sign * gained:g}, which makes {sign * reward:g}")
                    self.show(f"You receive {told}.")
                self.show("")
        except (EOFError, KeyboardInterrupt, LeaveError):
            self.show("")
            self.show("You leave the game.")
        else:
            self.show(self.game.draw(state))
            record.result = self.scale.of(reward)
        for line in self.review(record):
            self.show(line)
        return record

    def tell(self, state: Any, joint: JointAction, outcome: Outcome) -> None:
        """Show how chance has decided, if the game can tell it."""
        story = words(self.game).tell(state, joint, outcome, self._teller)
        if story:
            self.show(story)

    def advice(
        self, state: Any, names: Mapping[int, str], *, everything: bool = False
    ) -> list[str]:
        """Return the value of every action, the best ones marked, and a mixed strategy.

        Args:
            state: The person's state.
            names: The names of the legal actions.
            everything: Whether all are listed, however many; else of many only the best.
        """
        listed: Sequence[ActionValue] = valued(
            self.solved, self.solved_state(state), self.player, names
        )
        others = 0 if everything else max(len(listed) - MOST_ADVISED, 0)
        worst = max(listed, key=lambda one: one.cost)
        if others:
            ranked = sorted(listed, key=lambda one: (one.cost, -one.chance, one.number))
            listed = ranked[:MOST_ADVISED]
        width = max(len(one.name) for one in listed)
        meaning = f" ({self.scale.meaning})" if self.scale.meaning else ""
        lines = [f"With the best play afterwards{meaning}:"]
        for one in listed:
            best = "  (best)" if one.cost == 0 else ""
            mixed = f"  {100 * one.chance:.1f}% of the mixed strategy" if 0 < one.chance < 1 else ""
            lines.append(f"  {one.name:{width}}  {self.scale.text(one.value)}{best}{mixed}")
        if others:
            least = f"{self.scale.text(worst.value)} ({worst.name})"
            lines.append(f"  and {others} more, down to {least}; `? all` lists all.")
        return lines

    def help(self, state: Any, names: Mapping[int, str]) -> list[str]:
        """The rules, what each action does, and the commands."""
        spec = spec_of(self.game)
        lines = [*spec.rules.splitlines(), ""] if spec else []
        lines.append("What you can do now:")
        numbers = self.numbers(state, names)
        explained = {action: words(self.game).explain(action, self.player) for action in names}
        # Actions in a row that have one explanation are listed together.
        for _, actions in groupby(names, key=lambda action: explained[action] or action):
            one = {action: names[action] for action in actions}
            shown = {number: action for number, action in numbers.items() if action in one}
            text = explained[next(iter(one))]
            lines.append(f"  {Choices(one, shown).listed()}{': ' if text else ''}{text}")
        lines += [
            "What else you can type:",
            "  ?: the value of each action; ? all: also where there are many",
        ]
        lines += [f"  {word}: {does}" for word, (does, _) in self.commands().items()]
        return [*lines, "  q: leave, and see the cost of your decisions"]

    def _choose(self, state: Any, record: Record) -> JointAction:
        """The person's action and the opponent's."""
        legal = self.game.legal_actions(state)
        acting = self.acting(state)
        action = legal[self.player][0]
        if len(legal[self.player]) > 1:
            names = action_names(self.game, state, self.player)
            action = self._ask(state, names)
            prices = valued(self.solved, self.solved_state(state), self.player, names)
            [taken] = (one for one in prices if one.number == action)
            best = min((taken, *prices), key=lambda one: one.cost)
            record.decisions.append(Decision(state, taken.name, best.name, taken.cost))
            self._forced = False
        elif self.player in acting and not words(self.game).labels(state):
            if not self._forced:
                name = self.game.info.actions[self.player][action]
                self.show(f"There is no choice: {name}.")
            self._forced = True
        return self.joint_action(state, action)

    def joint_action(self, state: Any, action: int) -> JointAction:
        """Return the person's action with the opponent's, which is drawn and told.

        Args:
            state: The state in which they act.
            action: The person's action.
        """
        if self.game.info.players == 1:
            return (action,)
        other = 1 - self.player
        reply = self.game.legal_actions(state)[other][0]
        if other in self.acting(state):
            chances = self.opponent(self.solved_state(state))
            [reply] = self.dice.choices(list(chances), list(chances.values()))
            rival = self.words.player_name(other)
            name = self.game.info.actions[other][reply]
            self.show(f"{rival[0].upper()}{rival[1:]} chooses: {name}.")
        return (action, reply) if self.player == 0 else (reply, action)

    def _ask(self, state: Any, names: Mapping[int, str]) -> int:
        """Ask until the answer is one of the legal actions."""
        choices = Choices(names, self.numbers(state, names))
        # The drawing of a state has its labels already.
        menu = "" if words(self.game).labels(state) else self.role(state) + choices.listed()
        commands = self.commands()
        while True:
            answer = " ".join(self.ask(f"{menu} > ".lstrip()).lower().split())
            chosen = choices.meant(answer)
            # Before any name that begins so, such as that of the quick kick.
            if answer in ("q", "quit") and answer not in names.values():
                raise LeaveError
            if len(chosen) == 1:
                return chosen[0]
            match answer:
                case "h" | "help":
                    lines = self.help(state, names)
                case "?" | "? all" | "?all":
                    lines = self.advice(state, names, everything=answer != "?")
                case _ if answer in commands:
                    lines = list(commands[answer][1](state))
                case "":
                    lines = ["Type a number or a name, or help."]
                case _:
                    lines = [choices.hint(answer)]
            for line in lines:
                self.show(line)

    def review(self, record: Record) -> list[str]:
        """Return the decisions with their costs, and an explanation of the result.

        Args:
            record: The record of an episode, ended or left.
        """
        lines = [""]
        listed = list(enumerate(record.decisions, 1))
        if len(listed) > MOST_LISTED:
            dear = sorted(listed, key=lambda one: one[1].cost, reverse=True)[:MOST_LISTED]
            listed = sorted(one for one in dear if one[1].cost > 0)
        for number, decision in listed:
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
        solved, strategy = _prepared(game, player, opponent, progress)
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    rival = "plays optimally" if opponent is None else f"plays {opponent.name!r}"
    spec = spec_of(rules)
    kind: type[Session] = (spec and spec.ask("play", rules)) or Session
    session = kind(
        solved,
        player,
        strategy,
        random.Random(drawn),
        ask=input or partial(_ask, output),
        show=output,
        rival=rival,
    )
    record = session.play()
    if seed is None:
        output(f"To roll the same dice again, use --seed {drawn}.")
    return record


def _prepared(
    game: Game | SolvedGame,
    player: int,
    opponent: TabularPolicy | None,
    progress: OnProgress | None,
) -> tuple[SolvedGame, Strategy]:
    """Return the game solved against the opponent, and the opponent's strategy."""
    if opponent is None:
        solved = solve(game, progress=progress) if isinstance(game, Game) else game
        return solved, partial(solved.policy, player=1 - player)
    rules = game if isinstance(game, Game) else game.game
    table = game.table if isinstance(game, SolvedTable) else cached_table(rules, progress=progress)
    left = against(table, opponent)
    solution = solve(left, progress=progress)
    return SolvedTable(rules, left, solution), partial(_chances, table, opponent)


def _ask(output: Callable[[str], object], prompt: str) -> str:
    """Ask for an answer, and echo it if it does not come from a terminal."""
    answer = builtins.input(prompt)
    if not sys.stdin.isatty():
        output(answer)
    return answer


def _chances(table: TabularGame, policy: TabularPolicy, state: Any) -> Mapping[int, float]:
    """The probabilities of a policy's legal actions in a state."""
    index = table.index[state]
    legal = table.mask[policy.player][index].nonzero()[0]
    chances = policy.probabilities[index, legal]
    return dict(zip(legal.tolist(), chances.tolist(), strict=True))
