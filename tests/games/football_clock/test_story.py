"""A play that is rolled and told is one of those of the rules, with the same probability."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from timed_football import TINY_FORMS, tiny

from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.transcript import roll_play
from solvent.model import compile_game


class EveryWay(random.Random):
    """Dice that fall in every way, one after another, and know how probable each was."""

    def __init__(self) -> None:
        super().__init__(0)
        self.path: list[int] = []

    def each(self) -> Iterator[EveryWay]:
        """These dice, once for each way in which they can fall."""
        self.path = []
        while True:
            self.step, self.sizes, self.probability = 0, [], 1.0
            yield self
            while self.path and self.path[-1] + 1 == self.sizes[len(self.path) - 1]:
                self.path.pop()
            if not self.path:
                return
            self.path[-1] += 1

    def choices(self, population: Sequence[Any], weights: Any = None, **_: Any) -> list[Any]:
        if self.step == len(self.path):
            self.path.append(0)
        self.sizes.append(len(population))
        chosen = self.path[self.step]
        self.step += 1
        self.probability *= weights[chosen]
        return [population[chosen]]


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS[:3])
def test_a_rolled_play_has_the_chances_of_the_rules(form: str, parameters: dict[str, Any]) -> None:
    game = tiny(form, **parameters)
    table = compile_game(game)
    rng = random.Random(2)
    live = [state for state, over in zip(table.states, table.terminal, strict=True) if not over]
    for state in rng.sample(live, 120):
        joint = tuple(rng.choice(actions) for actions in game.legal_actions(state))
        rolled: dict[Any, float] = defaultdict(float)
        for dice in EveryWay().each():
            played = roll_play(game, state, joint, dice)
            rolled[played.outcome.state, played.outcome.reward] += dice.probability
        expected = {
            (o.state, o.reward): float(o.probability) for o in game.transition(state, joint)
        }
        assert dict(rolled) == pytest.approx(expected, abs=1e-12)


def told(game: TimedFootball, state: TimedPosition, offence: int, defence: int) -> set[str]:
    """All that may be told of a call of player 0."""
    joint = (offence, defence + game.actions.defence)
    return {roll_play(game, state, joint, dice).words for dice in EveryWay().each()}


def test_what_is_told() -> None:
    game = tiny(half=120, stops=[])
    at = TimedPosition("call", 2, 8, down=1, to_go=3, to_goal=6)
    last = at._replace(down=2)
    assert told(game, at, 0, 0) == {"gain of 1"}
    assert told(game, last, 0, 0) == {"gain of 1, lost on downs"}
    assert told(game, at, 0, 1) == {"gain of 3 out of bounds, first down"}
    assert told(game, at, 0, 2) == {"penalty of 2 on the offence or gain of 2"}
    assert told(game, at, 1, 0) == {"fumble"}
    assert told(game, at, 1, 2) == {
        "incomplete",
        "gain of 4, first down",
        "interception, returned 1",
    }
    assert told(game, at, 2, 1) == {
        "long gain of 4, first down",
        "long gain, touchdown and extra point for player 0",
        "long gain, touchdown, extra point missed for player 0",
    }
    assert told(game, at._replace(to_goal=7), 3, 1) == {"loss of 4, safety for player 1"}
    near = last._replace(to_go=2, to_goal=2)
    assert told(game, near, 5, 0) == {"field goal for player 0", "field goal missed"}
    assert told(game, last, 6, 0) == {"punt formation"}
    assert told(game, last._replace(punting=True), 6, 1) == {"punt of 4, returned 3"}


def test_kicks_and_time_outs_are_told() -> None:
    game = tiny(half=120, stops=[], timeouts=1)
    kickoff = TimedPosition("kickoff", ticks=8, offence=1)
    kicks = {
        roll_play(game, kickoff, (0, game.actions.kick), dice).words for dice in EveryWay().each()
    }
    assert kicks == {
        "player 0 has the ball",
        "player 1 has the ball",
        "run back all the way, touchdown and extra point for player 0",
        "run back all the way, touchdown, extra point missed for player 0",
    }
    called = TimedPosition("call", 2, 8, timeouts=(0, 1), down=1, to_go=3, to_goal=6)
    dice = random.Random(1)
    question = roll_play(game, called, (0, game.actions.defence), dice).outcome.state
    timeout = game.actions.timeout
    assert roll_play(game, question, (0, timeout), dice).words == "player 1 calls a time-out"
    assert roll_play(game, question, (0, timeout + 1), dice).words == ""
