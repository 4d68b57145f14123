"""Greed's table, and one game as it is drawn and told."""

import random
import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import assert_refused
from written_games import transcript

from solvent.games.greed import rules
from solvent.games.greed.rules import STAND, Greed, Position, fits_a_table
from solvent.model import (
    TooManyStatesError,
    check_game,
    compile_game,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "greed.txt"


@settings(max_examples=15)
@given(limit=st.integers(1, 7), sides=st.integers(1, 9))
def test_every_ruleset_conforms(limit: int, sides: int) -> None:
    check_game(Greed(limit, sides))


def test_large_tables_have_the_probabilities_of_the_rules_to_the_last_bit() -> None:
    # The conformance checks compare whole tables of small games; here 6^29 is beyond 2^53.
    game = Greed()
    table = compile_game(game)
    assert (table.n_states, table.n_rows) == (50_405, 622_860)
    assert (table.next_state.dtype, table.outcome_reward.dtype) == (np.int32, np.float32)
    for state, dice in [
        (Position(0, (0, 0), "play"), 29),
        (Position(1, (3, 0), "play"), 24),
        (Position(0, (13, 88), "last"), 20),
    ]:
        joint = (dice, 0) if state.player == 0 else (0, dice)
        row = table.row(table.index[state], joint)
        branch = slice(table.outcome_start[row], table.outcome_start[row + 1])
        assert [
            (table.states[i], p, r)
            for i, p, r in zip(
                table.next_state[branch].tolist(),
                table.probability[branch].tolist(),
                table.outcome_reward[branch].tolist(),
                strict=True,
            )
        ] == [
            (o.state, float(o.probability), float(o.reward)) for o in game.transition(state, joint)
        ]


def test_a_table_that_would_fill_the_memory_is_refused() -> None:
    assert_refused(
        (
            (Greed(limit, sides), f"greed with limit {limit}")
            for limit, sides in ((300, 6), (10_000, 1), (10_000, 10_000))
        ),
        compile_game,
        TooManyStatesError,
    )


def test_a_table_fits_if_its_outcomes_and_few_more_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, sides in ((7, 3), (12, 6), (9, 1)):
        game = Greed(limit, sides)
        counted = 0
        for score in range(limit + 1):
            for dice in range(game.most_dice(score) + 1):
                sums = [n for n in range(dice, dice * sides + 1) if score + n <= limit]
                # Of either player, in ordinary play and on the last turn, at any other score.
                counted += 4 * (limit + 1) * (len(sums) + 1)
        assert len(compile_game(game).next_state) < counted
        for largest in (counted, counted - 1):
            with monkeypatch.context() as patch:
                patch.setattr(rules, "LARGEST_TABLE", largest)
                assert fits_a_table(game) == (largest == counted)


# One game at (20, 4): who rolls how many dice, and which branch of the chance is taken.
WALK = (
    (("roll 4", ""), 7),
    (("", "roll 5"), 8),
    (("roll 3", ""), 2),
    (("", "roll 2"), 3),
    (("roll 1", ""), 1),
    (("", "stand"), 0),
    (("roll 1", ""), 2),
)


def test_a_game_goes_as_written_down() -> None:
    assert transcript(Greed(20, 4), WALK) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("player", [0, 1])
def test_the_dice_told_are_the_change_of_the_score(player: int) -> None:
    game, joint = Greed(limit=12, sides=4), (2, 0) if player == 0 else (0, 2)
    state = Position(player, (7, 3) if player == 0 else (3, 7), "play")
    for outcome, seed in product(game.transition(state, joint), range(5)):
        told = game.tell(state, joint, outcome, random.Random(seed))
        faces = [*map(int, re.match(r"2 dice: (\d \d) = ", told)[1].split())]
        after = outcome.state.scores[player]
        assert set(faces) <= {1, 2, 3, 4}
        assert (sum(faces) > 5) if after > 12 else (sum(faces) == after - 7)
        assert ("bust" in told) == (after > 12)
    [stands] = game.transition(state, (STAND, STAND))
    assert game.tell(state, (STAND, STAND), stands, random.Random(0)) == ""


def test_a_bust_is_told_as_likely_as_its_dice_are() -> None:
    """Of two dice of four sides three pairs show 6, two 7 and one 8; a 5 would be no bust."""
    game = Greed(limit=12, sides=4)
    state = Position(0, (7, 3), "play")
    bust, dice = game.transition(state, (2, 0))[-1], random.Random(0)
    told = Counter(game.tell(state, (2, 0), bust, dice).split(" = ")[1] for _ in range(600))
    likely = {
        f"{n}; {7 + n} is above 12, bust.": 100 * ways for n, ways in ((6, 3), (7, 2), (8, 1))
    }
    assert told == pytest.approx(likely, abs=40)
