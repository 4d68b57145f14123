"""The public conformance checks: real games pass them, and each catches its kind of mistake."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from solvent.games import FightingFantasy, GymnasiumTable, Pig
from solvent.model import (
    GameCheckError,
    GameInfo,
    Outcome,
    check_game,
    compile_game,
    parametrize_with_game_checks,
)

SMALL_GAMES = [
    FightingFantasy(stamina=4, opponent_stamina=5, luck=3),
    FightingFantasy(skill_difference=[-2, 1], stamina=[1, 3], opponent_stamina=3, luck=[0, 2]),
    Pig(target=6),
    Pig(target=5, sides=3, signed=True),
    GymnasiumTable.from_env(gym.make("FrozenLake-v1")),
    GymnasiumTable.from_env(gym.make("CliffWalking-v1")),
]


@parametrize_with_game_checks(SMALL_GAMES)
def test_the_projects_games_conform(game: Any, check: Any) -> None:
    check(game)


@dataclass
class Coin:
    """Toss for 1 or 0, or pass: every part can be replaced by something wrong."""

    heads: Fraction = Fraction(1, 2)
    legal: tuple[tuple[int, ...], ...] = ((0, 1),)
    observation: dict[str, float] = field(
        default_factory=lambda: {"toss": 0.0, "won": 1.0, "lost": -1.0}
    )
    after_pass: str = "lost"
    info: GameInfo = field(
        default_factory=lambda: GameInfo(
            name="coin",
            players=1,
            actions=(("toss", "pass"),),
            acyclic=True,
            reward_range=(0.0, 1.0),
            sources=("made up",),
            observation_labels=("result",),
        )
    )

    def initial(self) -> tuple[Outcome, ...]:
        return (Outcome(Fraction(1), "toss"),)

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        return self.legal

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        if joint_action[0] == 1:
            return (Outcome(Fraction(1), self.after_pass),)
        return (Outcome(self.heads, "won", 1), Outcome(Fraction(1, 2), "lost"))

    def is_terminal(self, state: str) -> bool:
        return state != "toss"

    def observe(self, state: str, player: int) -> Any:
        return np.array([self.observation[state]], np.float32)

    def draw(self, state: str) -> str:
        return state


def test_the_example_itself_conforms() -> None:
    check_game(Coin())


@pytest.mark.parametrize(
    ("coin", "message"),
    [
        (Coin(heads=Fraction(1, 3)), "sum to 5/6"),
        (Coin(heads=0.5), "sum to|not a positive Fraction"),  # type: ignore[arg-type]
        (Coin(legal=((1, 0),)), "ascending"),
        (Coin(legal=((0, 1), (0,))), "2 tuples"),
        (Coin(observation={"toss": 0.0, "won": 1.0, "lost": 1.0}), "look the same"),
        (Coin(observation={"toss": 0.0, "won": 2.0, "lost": 1.0}), "leaves"),
        (Coin(after_pass="toss"), "cycle"),
        (Coin(info=replace(Coin().info, reward_range=(0.0, 0.5))), "reward_range"),
        (Coin(info=replace(Coin().info, sources=())), "sources"),
        (Coin(info=replace(Coin().info, observation_labels=("a", "b"))), "labels"),
    ],
)
def test_a_mistake_is_caught(coin: Coin, message: str) -> None:
    with pytest.raises((GameCheckError, ValueError), match=message):
        check_game(coin)


class Unreadable(str):
    """A state whose repr is not its source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'something else'"


def test_a_state_whose_repr_does_not_round_trip_is_caught() -> None:
    class Opaque(Coin):
        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            return (Outcome(Fraction(1), Unreadable("won")),)

    with pytest.raises(GameCheckError, match="round-trip"):
        check_game(Opaque())


def test_a_table_that_departs_from_the_rules_is_caught() -> None:
    class Tabulated(Coin):
        def tabulate(self) -> Any:
            table = compile_game(Coin(), reference=True)
            return replace(table, probability=table.probability * np.array([1.5, 0.5, 1]))

    with pytest.raises(GameCheckError, match="tabulate"):
        check_game(Tabulated())


def test_a_game_without_an_end_is_caught() -> None:
    class Endless(Coin):
        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            return (Outcome(Fraction(1), "toss"),)

    with pytest.raises(GameCheckError, match="no end"):
        check_game(Endless())


def test_rewards_of_a_false_acyclic_game_are_not_added_up_for_ever() -> None:
    from solvent.model.checks import check_rewards

    class Paying(Coin):
        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            return (Outcome(Fraction(1, 2), "toss", 1), Outcome(Fraction(1, 2), "lost"))

    with pytest.raises(GameCheckError, match="without end"):
        check_rewards(Paying())
