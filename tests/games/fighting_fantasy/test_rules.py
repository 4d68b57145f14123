"""The rules of Fighting Fantasy combat, sentence by sentence, and one combat from start to end."""

import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import assert_refused
from written_games import transcript

import solvent  # noqa: F401 (registers the environments)
from solvent import make_game, solve
from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    Combat,
    Damage,
    FightingFantasy,
    ff_combat,
    luck_succeeds,
    round_probabilities,
)
from solvent.model import Outcome, check_game, compile_game, parametrize_with_game_checks

GOLDEN = Path(__file__).parents[2] / "golden" / "ff_combat.txt"

SMALL = [
    FightingFantasy(skill_difference=3, stamina=5, opponent_stamina=6, luck=4),
    FightingFantasy(skill_difference=-10, stamina=3, opponent_stamina=3, luck=2),
    FightingFantasy(stamina=3, opponent_stamina=2, luck=1, damage={"won": 1, "lost": 3}),
    FightingFantasy(skill_difference=[-1, 1], stamina=[2, 4], opponent_stamina=[1, 3], luck=[0, 3]),
    FightingFantasy(stamina=5, opponent_stamina=4, luck=3, damage="three", stamina_above=2),
    FightingFantasy(
        skill_difference={-2: 1, 4: 3},
        stamina=4,
        opponent_stamina=5,
        luck=13,
        damage={"won_unlucky": 0, "lost_lucky": 0},
        luck_above=1,
    ),
    FightingFantasy(0, 4, 5, 3, round_probabilities=["1/3", "1/7", "11/21"], luck_weight="1/9"),
    FightingFantasy(0, [1, 3], 4, 2, round_probabilities=[0, 0.5, 0.5]),
    FightingFantasy(2, 4, 5, 6, luck_cost=0),
    FightingFantasy(0, [1, 3], 4, 2, round_probabilities=[1, 0, 0], stamina_weight=0.25),
]


@parametrize_with_game_checks(SMALL)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


# A difference of SKILL, or the probabilities of a round.
ROUNDS = st.integers(-20, 20).map(lambda difference: {"skill_difference": difference}) | st.builds(
    lambda won, drawn: {"round_probabilities": (won * (1 - drawn), drawn, (1 - won) * (1 - drawn))},
    st.fractions(0, 1, max_denominator=10**20),
    st.fractions(0, Fraction(9, 10), max_denominator=50),
)
WEIGHT = st.fractions(0, 2, max_denominator=9)


@settings(max_examples=30)
@given(
    rounds=ROUNDS,
    parameters=st.fixed_dictionaries(
        {
            "stamina": st.integers(1, 6),
            "opponent_stamina": st.integers(1, 6),
            "luck": st.integers(0, 4),
            "damage": st.builds(
                Damage,
                won=st.integers(1, 3),
                won_lucky=st.integers(0, 5),
                won_unlucky=st.integers(0, 3),
                lost=st.integers(1, 3),
                lost_lucky=st.integers(0, 3),
                lost_unlucky=st.integers(0, 4),
            ),
        },
        optional={"stamina_weight": WEIGHT, "luck_weight": WEIGHT},
    ),
)
def test_every_combat_conforms(rounds: dict[str, Any], parameters: dict[str, Any]) -> None:
    check_game(FightingFantasy(**rounds, **parameters))


# Johnston 2022, section 2 (OEIS A063260): 1296 P(X = i) for i = -10..10.
PMF = [1, 4, 10, 20, 35, 56, 80, 104, 125, 140, 146, 140, 125, 104, 80, 56, 35, 20, 10, 4, 1]


def test_attack_strengths_are_compared() -> None:
    for i, weight in zip(range(-10, 11), PMF, strict=True):
        ways = sum(PMF[i + 11 :]), weight, sum(PMF[: i + 10])
        assert round_probabilities(-i) == tuple(Fraction(n, 1296) for n in ways)


GAME = FightingFantasy()


def test_a_test_succeeds_if_two_dice_show_at_most_the_luck_left() -> None:
    ways = [0, 0, 1, 3, 6, 10, 15, 21, 26, 30, 33, 35, 36, 36]
    assert [36 * luck_succeeds(luck) for luck in range(14)] == ways


def test_the_first_round_goes_by_the_given_probabilities() -> None:
    game = FightingFantasy(0, 9, 9, 0, round_probabilities=["1/2", "1/3", "1/6"])
    first = {o.state.round: o.probability for o in game.initial()}
    assert first == {"won": Fraction(3, 4), "lost": Fraction(1, 4)}


@pytest.mark.parametrize("difference", [-10, -3, 0, 4, 20])
def test_the_probabilities_of_a_difference_make_the_combat_of_that_difference(
    difference: int,
) -> None:
    by_skill = compile_game(FightingFantasy(difference, 6, 5, 4))
    by_chance = compile_game(
        FightingFantasy(0, 6, 5, 4, round_probabilities=round_probabilities(difference))
    )
    assert by_chance.probability.tolist() == by_skill.probability.tolist()
    assert [(0, *s[1:]) for s in by_skill.states] == [tuple(s) for s in by_chance.states]


def test_parameters_beyond_the_paper_are_listed_where_they_are_given() -> None:
    assert "round_probabilities" not in dict(ff_combat().info.parameters)
    given = ff_combat(round_probabilities=(Fraction(1, 3), 0, Fraction(2, 3)), luck_weight=0.5)
    parameters = dict(given.info.parameters)
    assert parameters["round_probabilities"] == ["1/3", 0, "2/3"]
    assert "stamina_weight" not in parameters
    again = FightingFantasy(**json.loads(json.dumps(parameters)))
    assert compile_game(again).model_hash == compile_game(given).model_hash
    assert given.info.reward_range == (0, 5.5)


def test_a_named_opponent_brings_its_statistics() -> None:
    dragon = ff_combat("adult-white-dragon", skill=12, stamina=24, luck=12)
    assert {o.state[:4] for o in dragon.initial()} == {(-3, 24, 22, 12)}
    assert ff_combat("hell-demon") == FightingFantasy(skill_difference=-2, opponent_stamina=12)
    weak = ff_combat("hell-demon", opponent_skill=11, opponent_stamina=5)
    assert weak == FightingFantasy(skill_difference=1, opponent_stamina=5)


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    *(
        (partial(make_game, "ff-combat"), parameters, message)
        for parameters, message in [
            ({"opponent": "hell-deamon"}, "Did you mean 'hell-demon'"),
            ({"stamina": 0}, "stamina is 0; allowed are whole numbers from 1 to 99"),
            ({"stamina": float("nan")}, "stamina is nan"),
            ({"luck": -1}, "luck is -1"),
            ({"luck": [3, 1]}, "upside down"),
            ({"luck": {3: float("nan")}}, "has weight nan"),
            ({"damage": "four"}, "damage is 'four'; allowed are a mapping, standard, three"),
            ({"damage": {"won": 0}}, "damage.won is 0"),
            ({"damage": {"win": 2}}, "Did you mean 'won'"),
            ({"stamin": 3}, "Did you mean 'stamina'"),
            ({"round_probabilities": 3}, "round_probabilities is 3; allowed are three numbers"),
            ({"round_probabilities": [0.5, 0.5]}, "allowed are three numbers"),
            ({"round_probabilities": ["x", 0, 1]}, "^each of round_probabilities is 'x'"),
            ({"round_probabilities": [0.5, -0.1, 0.6]}, "each of round_probabilities is -0.1"),
            ({"round_probabilities": [0.5, 0.2, 0.2]}, "with the sum 1"),
            ({"round_probabilities": [0, 1, 0]}, "p_d below 1"),
            ({"luck_cost": 2}, "luck_cost is 2; allowed are whole numbers from 0 to 1"),
            (
                {"luck_cost": 0, "damage": {"won_unlucky": 0}},
                "damage.won_unlucky is 0 and luck_cost 0",
            ),
            ({"stamina_weight": -1}, "stamina_weight is -1; allowed are numbers from 0 to 100"),
            ({"luck_weight": "much"}, "luck_weight is 'much'; allowed are numbers from 0 to 100"),
        ]
    ),
    *(
        (ff_combat, parameters, f"^{re.escape(message)}")
        for parameters, message in [
            ({"skill": -1}, "skill is -1; allowed are whole numbers from 0 to 20"),
            ({"skill": 21}, "skill is 21; allowed are whole numbers from 0 to 20"),
            (
                {"opponent_skill": -1},
                "opponent_skill is -1; allowed are whole numbers from 0 to 20",
            ),
            (
                {"opponent_skill": 21},
                "opponent_skill is 21; allowed are whole numbers from 0 to 20",
            ),
            *(
                (parameters, "SKILLs, which a named opponent has too, skill_difference and")
                for parameters in (
                    {"opponent_skill": 3, "skill_difference": 4},
                    {"opponent": "hell-demon", "skill_difference": 0},
                    {"opponent": "hell-demon", "round_probabilities": [1, 0, 0]},
                    {"skill": 3, "round_probabilities": [1, 0, 0]},
                    {"skill_difference": 0, "round_probabilities": [1, 0, 0]},
                )
            ),
            (
                {"opponent": "demon"},
                "opponent is 'demon'; allowed are adult-white-dragon, hell-demon.",
            ),
        ]
    ),
    (FightingFantasy, {"skill_difference": 2, "round_probabilities": [1, 0, 0]}, "is 2 and round"),
    (FightingFantasy, {"luck_above": -2}, "^luck_above is -2; allowed .* from -1 to 98$"),
    (FightingFantasy, {"damage": 3}, r"^damage is 3; allowed are a mapping, standard, three"),
    (FightingFantasy, {"damage": {"win": 3}}, r"^damage is 'win'; allowed are lost, lost_lucky, "),
]


def test_a_wrong_parameter_is_named() -> None:
    assert_refused(REFUSED, lambda make, parameters: make(**parameters))


def test_damage_is_a_name_a_mapping_or_itself() -> None:
    for damage in ({"won_lucky": 3}, Damage(won_lucky=3)):
        assert dict(FightingFantasy(damage=damage).info.parameters)["damage"]["won_lucky"] == 3
        same = compile_game(FightingFantasy(0, 3, 5, 2, damage=damage)).outcome_reward
        np.testing.assert_array_equal(
            same, compile_game(FightingFantasy(0, 3, 5, 2, damage="three")).outcome_reward
        )


def test_parameters_are_kept_as_json_can_hold_them() -> None:
    game = FightingFantasy({-1: Fraction(1, 3), 2: 0.5, 3: 2}, (3, 4), 5, np.int64(3))
    assert dict(game.info.parameters) == {
        "skill_difference": {"-1": "1/3", "2": 0.5, "3": 2},
        "stamina": [3, 4],
        "opponent_stamina": 5,
        "luck": 3,
        "damage": "standard",
        "stamina_above": 0,
        "luck_above": -1,
    }
    assert type(dict(game.info.parameters)["luck"]) is int
    assert dict(FightingFantasy(damage=Damage(lost=5)).info.parameters)["damage"] == {
        "won": 2, "won_lucky": 4, "won_unlucky": 1, "lost": 5, "lost_lucky": 1, "lost_unlucky": 3,
    }  # fmt: skip


def test_a_combat_is_described_by_the_statistics_of_both_sides() -> None:
    others = {"stamina": 6, "opponent_stamina": 5, "luck": 3, "damage": "three",
              "stamina_above": 1, "luck_above": 2}  # fmt: skip
    rows: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {}),
        ({"skill": 7}, {}),
        ({"skill": 10, "opponent_skill": 8}, {"skill_difference": 2}),
        ({"skill": 0, "opponent_skill": 20}, {"skill_difference": -20}),
        ({"skill_difference": [1, 2]}, {"skill_difference": [1, 2]}),
        (others, others),
    )
    for described, parameters in rows:
        assert ff_combat(**described) == FightingFantasy(**parameters), described


@pytest.mark.parametrize(
    ("state", "action", "outcome", "held"),
    [
        (Combat(0, 9, 9, 5, "won"), KEEP, Combat(0, 9, 7, 5, "won"), None),
        (Combat(0, 9, 9, 5, "won"), TEST, Combat(0, 9, 5, 4, "lost"), True),
        (Combat(0, 9, 9, 5, "won"), TEST, Combat(0, 9, 8, 4, "lost"), False),
        (Combat(0, 9, 3, 5, "won"), TEST, Combat(0, 9, 0, 4, "over"), True),
        (Combat(0, 9, 9, 5, "lost"), TEST, Combat(0, 8, 9, 4, "won"), True),
        (Combat(0, 9, 9, 5, "lost"), TEST, Combat(0, 6, 9, 4, "won"), False),
        (Combat(0, 1, 9, 5, "lost"), TEST, Combat(0, 0, 9, 4, "over"), True),
    ],
)
def test_damage_tells_whether_a_test_of_luck_succeeded(
    state: Combat, action: int, outcome: Combat, held: bool | None
) -> None:
    assert GAME.checks["luck"](state, (action,), Outcome(Fraction(1), outcome)) is held


def test_a_distribution_over_combats_is_worth_the_mean_of_their_values() -> None:
    mixed = FightingFantasy({-1: 1, 2: 2}, [3, 4], 5, 3)
    value = sum(
        weight * solve(compile_game(FightingFantasy(difference, hero, 5, 3))).value
        for difference, weight in ((-1, Fraction(1, 6)), (2, Fraction(2, 6)))
        for hero in (3, 4)
    )
    assert solve(compile_game(mixed)).value == pytest.approx(value, abs=1e-15)


# For each decision what is done, and which branch of the chance that follows is taken.
WALK = (
    (("keep",), 0),
    (("test luck",), 1),
    (("test luck",), 0),
    (("keep",), 1),
    (("test luck",), 0),
    (("test luck",), 0),
)


def test_a_combat_goes_as_written_down() -> None:
    game = ff_combat(skill=10, opponent_skill=9, stamina=8, opponent_stamina=9, luck=8)
    assert transcript(game, WALK, start=1) == GOLDEN.read_text(encoding="utf-8")


TOLD = FightingFantasy(skill_difference=[-2, 2], stamina=9, opponent_stamina=9, luck=7)


def check_attacks(lines: list[str], after: Combat) -> list[list[int]]:
    """The last attack is the round that follows, all before it are drawn; return their dice."""
    dice: list[list[int]] = []
    for number, line in enumerate(lines, 1):
        sums = []
        for attack, more in zip(
            re.match(r"Attack: you ([\d+]+ = \d+), opponent ([\d+]+ = \d+)", line).groups(),
            (max(after.difference, 0), max(-after.difference, 0)),
            strict=True,
        ):
            first, second, *skill, total = map(int, re.split(r"\+| = ", attack))
            assert (skill, first + second + more) == ([more] if more else [], total)
            dice.append([first, second])
            sums.append(total)
        last = 1 if after.round == "won" else -1
        assert np.sign(sums[0] - sums[1]) == (last if number == len(lines) else 0)
    return dice


@pytest.mark.parametrize("action", [KEEP, TEST])
@pytest.mark.parametrize("result", ["won", "lost"])
def test_the_dice_told_lead_to_the_state_that_follows(result: str, action: int) -> None:
    damage = {"won": (2, 4, 1), "lost": (2, 1, 3)}[result]
    states = [
        Combat(difference, hero, opponent, 5, result)
        for difference, (hero, opponent) in product((-2, 0, 1), ((9, 9), (1, 1), (3, 3)))
    ]
    dice: list[list[int]] = []
    told = (
        (s, o, seed) for s in states for o in TOLD.transition(s, (action,)) for seed in range(4)
    )
    for state, outcome, seed in told:
        after: Combat = outcome.state
        first, *attacks = TOLD.tell(state, (action,), outcome, random.Random(seed)).split("\n")
        lost = state.opponent - after.opponent + state.hero - after.hero
        assert f" {lost} STAMINA." in first
        assert ("The opponent loses" in first) == (result == "won")
        points = damage[0]
        if action == TEST:
            one, other, verdict = re.match(
                r"Test: (\d)\+(\d) = \d+, LUCK 5: (\w+)\. ", first
            ).groups()
            assert (int(one) + int(other) <= 5) == (verdict == "lucky")
            points = damage[1 if verdict == "lucky" else 2]
        assert lost == min(points, state.opponent if result == "won" else state.hero)
        assert bool(attacks) == (after.round != "over")
        dice += check_attacks(attacks, after)
    assert [set(die) for die in zip(*dice, strict=True)] == [set(range(1, 7))] * 2
