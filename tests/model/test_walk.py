"""Compiling rules: block by block, exactly, and from rules that are written for arrays."""

from __future__ import annotations

import gc
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import RandomGame

from solvent.exact import solve
from solvent.model import (
    Expansion,
    GameInfo,
    Outcome,
    VectorizedGame,
    check_game,
    compile_game,
    walk,
)
from solvent.model.game import merged

INFO = GameInfo(
    name="line",
    players=1,
    actions=(("go",),),
    acyclic=True,
    reward_range=(-9, 9),
    sources=("a test",),
    observation_labels=("place",),
)


@dataclass(frozen=True)
class Line:
    """A walk over whole numbers in which the branches of each state are given."""

    branches: dict[int, Any]
    info = INFO

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), 0),)

    def is_terminal(self, state: int) -> bool:
        return state >= 0 and state not in self.branches

    def legal_actions(self, state: int) -> Any:
        return ([0],)

    def transition(self, state: int, joint_action: Any) -> Any:
        return self.branches[state]

    def observe(self, state: int, player: int) -> Any:
        return np.array([state], np.float32)

    def draw(self, state: int) -> str:
        return str(state)


@st.composite
def distributions(draw: Any) -> tuple[Outcome, ...]:
    largest = draw(st.sampled_from([3, 12, 10**6, 2**40, 10**30]))
    weights = draw(st.lists(st.integers(1, largest), min_size=1, max_size=6))
    ends = st.sampled_from([9, 8, 7])
    rewards = st.sampled_from([0, 1, Fraction(1, 3), -2])
    return tuple(Outcome(Fraction(w, sum(weights)), draw(ends), draw(rewards)) for w in weights)


@given(st.lists(distributions(), min_size=1, max_size=5), st.sampled_from([1, 2, 2048]))
def test_probabilities_are_the_floats_nearest_to_the_merged_rationals(
    rows: list[tuple[Outcome, ...]], block: int
) -> None:
    """At every size of numerators and denominators, and however states fall into blocks."""
    onward = {s: (*(o._replace(probability=o.probability / 2) for o in row),
                  Outcome(Fraction(1, 2), s + 1 if s + 1 < len(rows) else 6))
              for s, row in enumerate(rows)}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "BLOCK", block)
        patch.setattr(walk, "CHUNK", 2 * block)
        table = compile_game(Line(onward))
    for s, row in onward.items():
        k = table.row_start[table.index[s]]
        span = slice(table.outcome_start[k], table.outcome_start[k + 1])
        found = zip(
            table.probability[span].tolist(),
            [table.states[t] for t in table.next_state[span]],
            table.outcome_reward[span].tolist(),
            strict=True,
        )
        assert list(found) == [(float(p), t, float(r)) for p, t, r in merged(row)]


def test_the_size_of_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [RandomGame(3, kind, cyclic=True, size=40) for kind in ("simultaneous", "alternating")]
    whole = [compile_game(game) for game in games]
    monkeypatch.setattr(walk, "BLOCK", 7)
    monkeypatch.setattr(walk, "CHUNK", 5)
    for game, table in zip(games, whole, strict=True):
        again = compile_game(game)
        assert (again.model_hash, again.states) == (table.model_hash, table.states)
        assert np.array_equal(again.observation, table.observation)


TINY = Fraction(1, 10**30)
HALF = Fraction(1, 2)
WRONG: list[tuple[Any, str]] = [
    ((Outcome(HALF, 2), Outcome(Fraction(1, 3), 3)), "probabilities sum to 5/6, not 1, at {}"),
    ((Outcome(HALF, 2), Outcome(HALF + TINY, 3)), "probabilities sum to 10+1/10+, not 1, at {}"),
    ((Outcome(Fraction(2), 2),), "probabilities sum to 2, not 1, at {}"),
    ((Outcome(Fraction(2**70), 2),), f"probabilities sum to {2**70}, not 1, at {{}}"),
    ((Outcome(Fraction(3, 2), 2), Outcome(-HALF, 3)), "a probability is -1/2 at {}"),
    ((Outcome(Fraction(1), 2), Outcome(Fraction(0), 3)), "a probability is 0 at {}"),
    ((), "probabilities sum to 0, not 1, at {}"),
    # A state that the rules do not know, in place of an outcome.
    ((Outcome(HALF, -1),), "probabilities sum to 1/2, not 1, at {}"),
    ((Outcome(0.5, 2), Outcome(0.4, 3)), "probabilities sum to 9/10, not 1, at {}"),
]  # fmt: skip


def test_a_wrong_distribution_is_named_by_state_and_action() -> None:
    for branches, message in WRONG:
        game = Line({0: (Outcome(Fraction(1), 1),), 1: branches})
        expected = "^line: " + message.format(r"state 1, action \(0,\)")
        with pytest.raises(ValueError, match=expected):
            compile_game(game)
        assert gc.isenabled()


def test_legal_actions_that_are_not_ascending_are_refused() -> None:
    """The rows of a state follow its actions in ascending order: others would change places."""

    class Odd(Line):
        info = replace(INFO, actions=(("go", "stay"),))

    class Stuck(Ring):
        def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
            return super().expand(states, joint_action)._replace(legal=False)

    sure = {0: (Outcome(Fraction(1), 1),)}
    for legal in ((1, 0), (-1, 0), (0, 2), (0, 0), ()):
        odd: Any = Odd(sure)
        odd.__dict__["legal_actions"] = lambda state, legal=legal: (legal,)
        with pytest.raises(ValueError, match=re.escape(f"state 0: legal actions {legal}")):
            compile_game(odd)
    with pytest.raises(ValueError, match=r"state Place\(place=3, player=0\) has no legal action"):
        compile_game(Stuck())


def test_a_float_is_the_decimal_that_it_prints() -> None:
    tenths: Any = tuple(Outcome(0.1, place) for place in range(1, 11))
    assert compile_game(Line({0: tenths})).probability.tolist() == [0.1] * 10


class Place(NamedTuple):
    """A counter's place on a ring, and whose turn it is."""

    place: int
    player: int


class Ring(VectorizedGame):
    """Players push a counter round a ring by turns; whoever reaches the top wins what it shows."""

    state_type, sizes, total = Place, (7, 2), 4
    info = replace(
        INFO,
        name="ring",
        players=2,
        actions=(("push", "pull"), ("push", "pull")),
        acyclic=False,
        reward_range=(-np.inf, np.inf),
        observation_labels=("place", "player"),
    )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1, 3), Place(3, 0)), Outcome(Fraction(2, 3), Place(2, 1)))

    def turn(self, states: Any) -> Any:
        return states.player

    def terminal(self, states: Any) -> Any:
        return states.place == 6

    def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
        first, second = joint_action
        # The player who is not on turn can only push.
        legal = np.where(states.player == 0, second == 0, first == 0)
        pulls = (first + second) > 0
        onward = np.clip(
            states.place[:, None] + np.array([1, 2, 1] if not pulls else [-1, 1, 6]), 0, 6
        )
        after = Place(onward, 1 - states.player[:, None])
        rewards = np.where(onward == 6, 1 - 2 * states.player[:, None], 0)
        return Expansion(legal, [2, 1, 1], after, rewards)  # fmt: skip


def test_rules_for_arrays_are_the_rules_for_states() -> None:
    """With branches that are listed twice, a random start, turns and two players."""
    game = Ring()
    table, walked = compile_game(game), compile_game(game, reference=True)
    check_game(game)
    assert table.model_hash == walked.model_hash
    assert tuple(table.states) == walked.states
    assert table.states[0] == Place(3, 0)
    assert walked.turn is not None
    assert np.array_equal(table.turn, walked.turn)
    assert game.draw(table.states[0]) == "place 3, player 0"
    assert solve(game).value == pytest.approx(solve(walked).value, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [2, 1, 2]}, r"state Place\(place=3, player=0\): weights sum to 5, not to tot"),
        ({"weights": [6, -1, -1]}, r"state Place\(place=3, player=0\): a weight is negative"),
        ({"weights": [0.5, 0.25, 0.25]}, "weights and states are not whole numbers"),
        ({"weights": [4]}, "a next state is out of range"),
        ({"weights": [2, 1, 1, 0]}, r"could not be broadcast|shape mismatch"),
        ({"states": Place(*[np.zeros((2, 3), int)] * 2)[:1]}, "1 fields; expected .* and 2"),
        ({"legal": np.ones(5, bool)}, "expected .2. and .2, B."),
    ],
)
def test_wrong_arrays_of_rules_are_refused(changes: dict[str, Any], message: str) -> None:
    class Wrong(Ring):
        def expand(self, states: Any, joint_action: tuple[int, ...]) -> Expansion:
            expansion = super().expand(states, joint_action)
            if "out of range" in message:
                return expansion._replace(states=Place(np.full((len(states.place), 3), 7), 1))
            return expansion._replace(**changes)

    with pytest.raises(ValueError, match=rf"^ring: action \(0, 0\).*({message})"):
        compile_game(Wrong())


def test_a_game_with_too_many_combinations_is_refused() -> None:
    class Wide(Ring):
        sizes = (2**20, 2**20)

    with pytest.raises(ValueError, match=r"^ring: sizes is \(1048576, 1048576\); allowed are up"):
        compile_game(Wide())
