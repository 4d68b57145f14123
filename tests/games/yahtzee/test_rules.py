"""The rules of Yahtzee, one by one, and episodes that are sampled without a table."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from refusals import assert_refused
from side_by_side import assert_equal, assert_steps_equal

from solvent import Outcome, check_game, register_envs
from solvent.envs import Env, VectorEnv
from solvent.envs.batch_simulator import Sampler
from solvent.envs.registration import rules_and_source
from solvent.games.yahtzee.episodes import YahtzeeEpisodes, sampler_of
from solvent.games.yahtzee.rules import BOXES, LOWER, OVER, UPPER, Turn, Yahtzee, points

# The rules of Yahtzee, one by one


GAME = Yahtzee()
START = Turn((), 3, BOXES, 0, False)
NO_YAHTZEE = tuple(box for box in BOXES if box != "yahtzee")


def fill(state: Turn, box: str) -> Outcome:
    [outcome] = GAME.transition(state, (GAME.keeps + GAME.scorecard.index(box),))
    return outcome


def test_all_rolls_of_five_dice_are_equally_probable() -> None:
    chances = {one.state.dice: one.probability for one in GAME.transition(START, (0,))}
    counted = Counter(tuple(sorted(dice)) for dice in product(range(1, 7), repeat=5))
    assert chances == {roll: Fraction(ways, 6**5) for roll, ways in counted.items()}
    assert len(chances) == 252


def test_dice_that_are_kept_stay_and_the_others_are_rolled() -> None:
    state = Turn((2, 2, 3, 5, 6), 2, BOXES, 0, False)
    outcomes = GAME.transition(state, (0b10011,))
    assert GAME.kept(state, 0b10011) == (2, 2, 6)
    assert all(one.state.rolls == 1 for one in outcomes)
    pair = {one.state.dice: one.probability for one in outcomes}
    assert (pair[2, 2, 2, 4, 6], pair[2, 2, 4, 4, 6]) == (Fraction(2, 36), Fraction(1, 36))
    assert len(pair) == 21


def test_every_keep_is_one_action_and_keeping_all_is_none() -> None:
    [legal] = GAME.legal_actions(Turn((2, 2, 2, 5, 6), 1, BOXES, 0, False))
    keeps = [a for a in legal if a < GAME.keeps]
    kept = [tuple((2, 2, 2, 5, 6)[i] for i in range(5) if a >> i & 1) for a in keeps]
    assert len(set(kept)) == len(kept) == 4 * 2 * 2 - 1
    assert (2, 2, 2, 5, 6) not in kept
    assert [a for a in legal if a >= GAME.keeps] == list(range(31, 44))


POINTS = [
    ("aces", (1, 1, 3, 4, 5), 2),
    ("sixes", (1, 6, 6, 6, 6), 24),
    ("fours", (1, 1, 3, 5, 5), 0),
    ("three-of-a-kind", (2, 2, 2, 5, 6), 17),
    ("three-of-a-kind", (2, 2, 5, 5, 6), 0),
    ("four-of-a-kind", (3, 5, 5, 5, 5), 23),
    ("four-of-a-kind", (3, 3, 5, 5, 5), 0),
    ("four-of-a-kind", (5, 5, 5, 5, 5), 25),
    ("full-house", (3, 3, 5, 5, 5), 25),
    ("full-house", (3, 3, 3, 3, 5), 0),
    ("full-house", (3, 3, 3, 3, 3), 0),
    ("small-straight", (1, 2, 3, 4, 6), 30),
    ("small-straight", (3, 4, 5, 5, 6), 30),
    ("small-straight", (1, 2, 3, 5, 6), 0),
    ("large-straight", (2, 3, 4, 5, 6), 40),
    ("large-straight", (1, 2, 3, 4, 6), 0),
    ("yahtzee", (4, 4, 4, 4, 4), 50),
    ("yahtzee", (4, 4, 4, 4, 5), 0),
    ("chance", (1, 2, 2, 5, 6), 16),
]


def test_a_box_scores() -> None:
    for box, dice, scored in POINTS:
        after = Turn(
            (), 3, tuple(b for b in BOXES if b != box), scored * (box in UPPER), scored == 50
        )
        assert fill(Turn(dice, 0, BOXES, 0, False), box) == (1, after, scored), (box, dice)


SIXES, FIVES = Turn((6,) * 5, 0, BOXES, 0, False), Turn((5,) * 5, 0, NO_YAHTZEE, 0, True)

# A rule, a state, the box, the reward, and the points of the upper section after it.
FILLED = [
    ("63 points above earn 35 more", SIXES._replace(upper=40), "sixes", 30 + 35, 63),
    ("62 do not", SIXES._replace(upper=32), "sixes", 30, 62),
    ("63 do", SIXES._replace(upper=33), "sixes", 30 + 35, 63),
    ("once only", SIXES._replace(upper=63), "sixes", 30, 63),
    ("a lower box does not count", SIXES._replace(upper=62), "chance", 30, 62),
    ("another Yahtzee is 100 more", FIVES, "fives", 25 + 100, 25),
    ("if there are 50 in its box", FIVES._replace(bonus=False), "fives", 25, 25),
    ("another roll is not", FIVES._replace(dice=(5, 5, 5, 5, 6)), "fives", 20, 20),
]


def test_the_bonuses_are_paid_when_they_are_earned() -> None:
    for rule, state, box, reward, upper in FILLED:
        outcome = fill(state, box)
        assert (outcome.reward, outcome.state.upper) == (reward, upper), rule


TWOS = Turn((2,) * 5, 1, NO_YAHTZEE, 0, False)
NO_TWOS = tuple(box for box in NO_YAHTZEE if box != "twos")
JOKERS = {"full-house": 25, "small-straight": 30, "large-straight": 40}


def plain(boxes: tuple[str, ...]) -> dict[str, int]:
    """What five twos score by themselves."""
    return {box: points(box, TWOS.dice) for box in boxes}


# The joker rule, where a Yahtzee goes or what it counts, the open boxes, and their points.
SCORES = [
    ("forced", "to its upper box", NO_YAHTZEE, {"twos": 10}),
    ("forced", "then to any lower one", NO_TWOS,
     {**dict.fromkeys(("three-of-a-kind", "four-of-a-kind", "chance"), 10), **JOKERS}),
    ("forced", "then to any upper one", tuple(b for b in UPPER if b != "twos"),
     dict.fromkeys(("aces", "threes", "fours", "fives", "sixes"), 0)),
    ("free", "anywhere", NO_YAHTZEE, plain(NO_YAHTZEE)),
    ("free", "it counts once its upper box is filled", NO_TWOS, {**plain(NO_TWOS), **JOKERS}),
    ("none", "it is a roll like any other", LOWER[:5], plain(LOWER[:5])),
    ("forced", "before its box is filled", BOXES, plain(BOXES)),
    ("free", "before its box is filled", BOXES, plain(BOXES)),
]  # fmt: skip


def test_a_joker_goes_where_its_rule_says() -> None:
    for joker, rule, boxes, expected in SCORES:
        for bonus in (False, True):
            state = TWOS._replace(open=boxes, bonus=bonus)
            assert Yahtzee(joker=joker).scores(state) == expected, (joker, rule)


def test_the_largest_score_is_1575() -> None:
    """Thirteen Yahtzees: the first in its box, then jokers in the lower and the upper section."""
    # A game begins with an empty card and a roll of all dice, and ends when all boxes are filled.
    assert GAME.initial() == (Outcome(Fraction(1), START),)
    assert GAME.legal_actions(START) == ((0,),)
    state, total = START, 0
    faces = [6, *range(1, 7), *([6] * 6)]
    boxes = ["yahtzee", *UPPER, *(box for box in LOWER if box != "yahtzee")]
    for face, box in zip(faces, boxes, strict=True):
        assert not GAME.is_terminal(state)
        [roll] = [one for one in GAME.transition(state, (0,)) if one.state.dice == (face,) * 5]
        outcome = fill(roll.state, box)
        state, total = outcome.state, total + outcome.reward
    assert (state, GAME.is_terminal(state)) == (OVER, True)
    assert total == GAME.info.reward_range[1] == 1575


@pytest.mark.parametrize(
    "game",
    [
        Yahtzee("aces,twos,yahtzee,chance", dice=2, faces=2, bonus_at=4),
        Yahtzee("full-house,yahtzee", dice=5, faces=2, rolls=2, joker="free"),
        Yahtzee("twos,yahtzee", dice=3, faces=3, bonus_at=0, yahtzee_bonus=0, joker="none"),
    ],
)
def test_small_forms_pass_the_checks_of_all_games(game: Yahtzee) -> None:
    check_game(game)


# Episodes of Yahtzee without a table: those of the table, of single environments, of the rules


register_envs()
SMALL = [
    Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8),
    Yahtzee("twos,full-house,yahtzee", dice=3, faces=2, bonus_at=5, joker="free", rolls=2),
]
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("game", SMALL, ids=str)
def test_episodes_are_those_of_the_table_bit_for_bit(game: Yahtzee, mode: AutoresetMode) -> None:
    mine = VectorEnv(YahtzeeEpisodes(game, 32), autoreset_mode=mode)
    other: Any = VectorEnv(game, 32, autoreset_mode=mode)
    assert_equal(mine.reset(seed=3), other.reset(seed=3))
    ended, illegal = assert_steps_equal(mine, other, 150, seed=0)
    assert min(ended, illegal) > 100


def test_what_is_seen_and_legal_is_as_the_rules_say() -> None:
    game, n = Yahtzee(), 64
    env = VectorEnv(YahtzeeEpisodes(game, n))
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    jokers = 0
    for _ in range(60):
        # Yahtzees are rare: some dice are put on the table.
        saved = env.get_state()
        rolled = saved["hand"] > 0
        alike = np.flatnonzero(env.simulator._rules.face >= 0)
        change = rolled & (rng.random(n) < 0.1)
        saved["hand"][change] = rng.choice(alike, change.sum())
        env.set_state(saved)
        seen, mask = env.simulator.look()
        for i in range(n):
            state = env.simulator.state(i)
            np.testing.assert_array_equal(seen[i], game.observe(state, 0))
            if game.is_terminal(state):
                assert mask[i].all()
            else:
                assert tuple(np.flatnonzero(mask[i])) == game.legal_actions(state)[0]
                jokers += bool(state.dice) and game.is_joker(state)
        env.step((mask * rng.random(mask.shape)).argmax(axis=1))
    assert jokers > 20


def test_a_saved_state_is_checked() -> None:
    env = VectorEnv(YahtzeeEpisodes(SMALL[0], 3))
    env.reset(seed=0)
    saved = env.get_state()
    wrong = (("filled", 16), ("hand", 99), ("hand", -2), ("upper", 9), ("rolls", 4))
    assert_refused(
        ((name, value, f"saved {name} goes from {value}") for name, value in wrong),
        lambda name, value: env.set_state({**saved, name: np.full_like(saved[name], value)}),
    )


def test_small_forms_are_sampled_from_a_table() -> None:
    assert sampler_of(SMALL[0]) is None
    sampler: Any = rules_and_source("yahtzee", {})[1]
    assert isinstance(sampler, Sampler)
    with pytest.raises(ValueError, match="yahtzee is a game for one; it has no opponents"):
        Env(sampler, ["greedy"])
    env = gym.make("solvent/Yahtzee-v0", boxes="aces,chance", faces=2, dice=3)
    assert env.unwrapped.game.n_states > 10
