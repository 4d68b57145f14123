"""The rules of Fighting Fantasy combat, sentence by sentence, and one combat from start to end."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import combat_checks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvent.exact import solve
from solvent.games import FightingFantasy, make_game
from solvent.games.fighting_fantasy import (
    KEEP,
    TEST,
    Combat,
    Damage,
    decided_round,
    ff_combat,
)
from solvent.model import check_game, compile_game, parametrize_with_game_checks

GOLDEN = Path(__file__).parents[1] / "golden" / "ff_combat.txt"

SMALL = [
    FightingFantasy(skill_difference=3, stamina=5, opponent_stamina=6, luck=4),
    FightingFantasy(skill_difference=-10, stamina=3, opponent_stamina=3, luck=2),
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
]


@parametrize_with_game_checks(SMALL)
def test_the_game_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


@settings(max_examples=20, deadline=None)
@given(
    difference=st.integers(-20, 20),
    hero=st.integers(1, 6),
    opponent=st.integers(1, 6),
    luck=st.integers(0, 4),
    damage=st.builds(
        Damage,
        won=st.integers(1, 3),
        won_lucky=st.integers(0, 5),
        won_unlucky=st.integers(0, 3),
        lost=st.integers(1, 3),
        lost_lucky=st.integers(0, 3),
        lost_unlucky=st.integers(0, 4),
    ),
)
def test_every_combat_conforms(
    difference: int, hero: int, opponent: int, luck: int, damage: Damage
) -> None:
    check_game(FightingFantasy(difference, hero, opponent, luck, damage))


@pytest.mark.parametrize(
    "check", combat_checks.RULE_CHECKS, ids=lambda check: check.__name__.removeprefix("check_")
)
def test_rule(check: Callable[[], None]) -> None:
    check()


GAME = FightingFantasy()


def test_luck_falls_by_1_whether_or_not_the_test_succeeds() -> None:
    outcomes = GAME.transition(Combat(0, 12, 12, 9, "won"), (TEST,))
    assert {o.state.luck for o in outcomes} == {8}
    assert {o.state.opponent for o in outcomes} == {8, 11}


def test_luck_can_be_tested_while_any_is_left() -> None:
    assert GAME.legal_actions(Combat(0, 12, 12, 1, "lost")) == ((KEEP, TEST),)
    assert GAME.legal_actions(Combat(0, 12, 12, 0, "lost")) == ((KEEP,),)


@pytest.mark.parametrize(
    ("state", "action", "over"),
    [
        (Combat(0, 1, 2, 3, "won"), KEEP, Combat(0, 1, 0, 3, "over")),
        (Combat(0, 1, 1, 3, "won"), TEST, Combat(0, 1, 0, 2, "over")),
        (Combat(0, 2, 5, 3, "lost"), KEEP, Combat(0, 0, 5, 3, "over")),
        (Combat(0, 1, 5, 3, "lost"), TEST, Combat(0, 0, 5, 2, "over")),
    ],
)
def test_who_falls_to_0_stamina_has_lost(state: Combat, action: int, over: Combat) -> None:
    [outcome] = GAME.transition(state, (action,))
    assert outcome.state == over
    assert outcome.probability == 1
    assert GAME.is_terminal(over)
    assert outcome.reward == (1 if over.opponent == 0 else 0)


def test_the_decision_comes_after_the_outcome_of_the_round() -> None:
    starts = {o.state.round: o.probability for o in GAME.initial()}
    assert starts == decided_round(0)


@pytest.mark.parametrize(
    ("parameters", "hero", "luck", "reward"),
    [
        ({}, 1, 0, 1),
        ({"stamina_above": 3}, 3, 5, 0),
        ({"stamina_above": 3}, 4, 5, 1),
        ({"luck_above": 3}, 9, 3, 0),
        ({"luck_above": 3}, 9, 4, 1),
        ({"stamina_above": 3, "luck_above": 3}, 4, 3, 0),
    ],
)
def test_a_victory_counts_with_more_stamina_and_luck_than_asked_for(
    parameters: dict[str, int], hero: int, luck: int, reward: int
) -> None:
    game = FightingFantasy(**parameters)
    [outcome] = game.transition(Combat(0, hero, 1, luck, "won"), (KEEP,))
    assert outcome.reward == reward


def test_a_named_opponent_brings_its_statistics() -> None:
    dragon = ff_combat("adult-white-dragon", skill=12, stamina=24, luck=12)
    assert {o.state[:4] for o in dragon.initial()} == {(-3, 24, 22, 12)}
    with pytest.raises(ValueError, match="brings its own"):
        ff_combat("hell-demon", opponent_stamina=3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"opponent": "hell-deamon"}, "Did you mean 'hell-demon'"),
        ({"stamina": 0}, "stamina is 0; allowed are whole numbers from 1 to 99"),
        ({"stamina": float("nan")}, "stamina is nan"),
        ({"luck": -1}, "luck is -1"),
        ({"luck": [3, 1]}, "upside down"),
        ({"luck": {3: float("nan")}}, "has weight nan"),
        ({"damage": "four"}, "damage is 'four'; allowed are standard, three"),
        ({"damage": {"won": 0}}, "damage.won is 0"),
        ({"damage": {"win": 2}}, "Did you mean 'won'"),
        ({"stamin": 3}, "Did you mean 'stamina'"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_game("ff-combat", **parameters)


def test_a_distribution_over_combats_is_worth_the_mean_of_their_values() -> None:
    mixed = FightingFantasy({-1: 1, 2: 2}, [3, 4], 5, 3)
    value = sum(
        weight * solve(compile_game(FightingFantasy(difference, hero, 5, 3))).value
        for difference, weight in ((-1, Fraction(1, 6)), (2, Fraction(2, 6)))
        for hero in (3, 4)
    )
    assert solve(compile_game(mixed)).value == pytest.approx(value, abs=1e-15)


# Hero of SKILL 10, STAMINA 8, LUCK 8 against an opponent of 9 and 9: for each decision what is
# done, and which branch of the chance that follows is taken.
WALK = [(KEEP, 0), (TEST, 1), (TEST, 0), (KEEP, 1), (TEST, 0), (TEST, 0)]


def transcript() -> str:
    """A combat from first state to last, with every branch that could have been."""
    game = ff_combat(skill=10, opponent_skill=9, stamina=8, opponent_stamina=9, luck=8)
    lines = ["start"]
    lines += [f"    {o.probability}  {o.state}" for o in game.initial()]
    state = game.initial()[1].state
    for action, branch in WALK:
        lines += ["", repr(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
        lines.append(f"decision: {game.info.actions[0][action]}")
        outcomes = game.transition(state, (action,))
        for i, o in enumerate(outcomes):
            mark = ">" if i == branch else " "
            lines.append(f"  {mark} {o.probability!s:>8}  {o.state}  reward {o.reward}")
        state = outcomes[branch].state
    lines += ["", repr(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
    assert game.is_terminal(state)
    return "\n".join(lines) + "\n"


def test_a_combat_goes_as_written_down() -> None:
    assert transcript() == GOLDEN.read_text(encoding="utf-8")
