"""An episode against the optimum: what happened, the odds after each step, and what it cost.

An episode is its seed and the person's choices, and nothing else: from these it can be played again
by anybody, so nothing of it is kept but an address. What is asked, told and priced is what
:class:`solvent.play.Session` asks, tells and prices in the terminal.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from solvent.exact import SolvedGame
from solvent.model.game import words
from solvent.model.parameters import shown
from solvent.model.registry import spec_of
from solvent.model.text import action_names
from solvent.play import Decision, Record, Session

MOST_MOVES = 5000
"""Choices of one episode."""

MOST_FORCED = 100_000
"""Steps without a choice in a row: a game that goes on for longer does not end."""

MISTAKES = 3
"""The number of costliest decisions that are told."""


@dataclass(frozen=True, slots=True)
class Step:
    """The events until the person was asked again.

    Attributes:
        number: The number of the person's choice, from 1; 0 before the first.
        lines: The lines that describe the events.
        odds: Rewards so far and the value of what follows, to the person.
    """

    number: int
    lines: tuple[str, ...]
    odds: float


@dataclass(frozen=True, slots=True)
class Mistake:
    """A decision that cost something.

    Attributes:
        number: The number of the person's choice, from 1.
        decision: The choice, and the best one.
        place: The place in the game, in words; empty if the game cannot say.
    """

    number: int
    decision: Decision
    place: str


class Episode:
    """One episode of a game, played choice by choice.

    Args:
        solved: The game with its optimum.
        player: The person's side.
        seed: The seed of the dice.

    Attributes:
        moves: The person's choices so far.
        state: The current state, as shown to a reader.
        steps: The steps so far.
        record: The decisions with their costs, and the result when the game is over.

    Raises:
        ValueError: If there is no such player.
    """

    def __init__(self, solved: SolvedGame, player: int, seed: int) -> None:
        info = solved.game.info
        if player not in range(info.players):
            allowed = " and ".join(map(str, range(info.players)))
            raise ValueError(f"player is {shown(player)}; allowed in {info.name} are {allowed}")
        spec = spec_of(solved.game)
        kind: type[Session] = (spec and spec.ask("play", solved.game)) or Session
        self._lines: list[str] = []
        self.session = kind(
            solved,
            player,
            partial(solved.policy, player=1 - player),
            random.Random(seed),
            hints=False,
            ask=_never_asked,
            show=self._told,
        )
        self.player, self.seed = player, seed
        self.moves: tuple[int, ...] = ()
        self.steps: list[Step] = []
        # To player 0.
        self._reward = 0.0
        start = self.session.roll(self.session.game.initial())
        self.state: Any = start.state
        self.record = Record(self.session.value(self.state))
        self.session.tell(None, (), start)
        self._go_on()

    @property
    def over(self) -> bool:
        """Return whether the episode has ended."""
        return bool(self.session.game.is_terminal(self.state))

    @property
    def odds(self) -> float:
        """Rewards so far and the value of what follows, to the person."""
        left = 0.0
        if not self.over:
            left = self.session.solved.value_of(self.session.solved_state(self.state))
        return self.session.scale.of(self._reward + left)

    @property
    def choices(self) -> dict[int, str]:
        """Return the person's possible choices in words; none when the game is over."""
        game = self.session.game
        return {} if self.over else dict(action_names(game, self.state, self.player))

    def play(self, action: int) -> None:
        """Take an action, and go on to the next choice or the end.

        Args:
            action: The number of the action.

        Raises:
            ValueError: If it is not legal now, or there are too many.
        """
        names = self.choices
        if action not in names:
            allowed = ", ".join(f"{a} ({name})" for a, name in list(names.items())[:12])
            raise ValueError(
                f"choice {len(self.moves) + 1} of the episode is {shown(action)}; "
                + (f"allowed are {allowed}" if names else "the episode is over")
            )
        if len(self.moves) >= MOST_MOVES:
            raise ValueError(f"an episode has at most {MOST_MOVES} choices here")
        self.record.decisions.append(self.session.prices(self.state, names)[action][1])
        self.moves += (action,)
        self._lines.append(f"You choose: {names[action]}.")
        self._follow(action)
        self._go_on()

    def mistakes(self) -> tuple[Mistake, ...]:
        """The decisions that cost most, the dearest first; none that cost nothing."""
        game = self.session.game
        numbered = [
            Mistake(n, one, words(game).place(one.state))
            for n, one in enumerate(self.record.decisions, 1)
            if one.cost > 0
        ]
        return tuple(sorted(numbered, key=lambda one: -one.decision.cost)[:MISTAKES])

    def summary(self) -> str:
        """Explain the result in one or two sentences."""
        lines = [line for line in self.session.review(self.record) if line]
        # Those before are the decisions one by one.
        count = 1 if self.record.result is None else 2
        return " ".join(" ".join(line.split()) for line in lines[-count:])

    def _told(self, text: str) -> None:
        self._lines += text.splitlines()

    def _go_on(self) -> None:
        """Follow what leaves no choice, and keep what was told."""
        for _ in range(MOST_FORCED):
            if self.over or len(self.choices) > 1:
                break
            if words(self.session.game).labels(self.state):
                # Its drawings are what a person reads.
                self._lines.append(self.session.game.draw(self.state))
            [only] = self.choices
            self._follow(only)
        else:
            raise ValueError("the game goes on without a choice and does not end")
        if self.over and self.record.result is None:
            self.record.result = self.odds
        self.steps.append(Step(len(self.moves), tuple(self._lines), self.odds))
        self._lines.clear()

    def _follow(self, action: int) -> None:
        joint = self.session.joint_action(self.state, action)
        outcome = self.session.follow(self.state, joint)
        self._reward += float(outcome.reward)
        self.state = outcome.state


def _never_asked(question: str) -> NoReturn:
    raise AssertionError(question)


def played(solved: SolvedGame, player: int, seed: int, moves: Sequence[int]) -> Episode:
    """Return an episode as far as it has been played.

    Args:
        solved: The game with its optimum.
        player: The person's side.
        seed: The seed of the dice.
        moves: The person's choices.

    Raises:
        ValueError: If a choice is not legal where it is made.
    """
    episode = Episode(solved, player, seed)
    for move in moves:
        episode.play(move)
    return episode
