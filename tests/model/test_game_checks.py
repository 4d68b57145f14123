"""The public conformance checks: real games pass them, and each catches its kind of mistake."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from random_tables import put
from refusals import assert_refused

from solvent import make_game, solve
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    GameCheckError,
    GameInfo,
    Outcome,
    check_game,
    checks,
    compile_game,
    parametrize_with_game_checks,
)

SMALL_GAMES = [
    FightingFantasy(stamina=4, opponent_stamina=5, luck=3),
    FightingFantasy(skill_difference=[-2, 1], stamina=[1, 3], opponent_stamina=3, luck=[0, 2]),
    Pig(target=6),
    Pig(target=5, sides=3, signed=True),
    make_game("FrozenLake-v1"),
    make_game("CliffWalking-v1"),
]


@parametrize_with_game_checks(SMALL_GAMES)
def test_the_projects_games_conform(game: Any, check: Any) -> None:
    check(game)


class Coin:
    """Toss for 1 or 0, or pass: every part can be replaced by something wrong."""

    info = GameInfo(
        name="coin",
        players=1,
        actions=(("toss", "pass"),),
        acyclic=True,
        reward_range=(0.0, 1.0),
        sources=("made up",),
        observation_labels=("result",),
    )
    start: tuple[Outcome, ...] = (Outcome(Fraction(1), "toss"),)
    legal: tuple[tuple[int, ...], ...] = ((0, 1),)
    heads = Fraction(1, 2)
    after_pass = "lost"
    branches: ClassVar[dict[str, tuple[Outcome, ...]]] = {}
    seen: Any = {  # noqa: RUF012
        name: np.array([value], np.float32)
        for name, value in (("toss", 0.0), ("again", 0.5), ("won", 1.0), ("lost", -1.0))
    }
    drawn: str | None = None

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)

    def initial(self) -> tuple[Outcome, ...]:
        return self.start

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        return self.legal

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        if state in self.branches:
            return self.branches[state]
        if joint_action[0] == 1:
            return (Outcome(Fraction(1), self.after_pass),)
        return (Outcome(self.heads, "won", 1), Outcome(Fraction(1, 2), "lost"))

    def is_terminal(self, state: str) -> bool:
        return state not in ("toss", "again")

    def observe(self, state: str, player: int) -> Any:
        return self.seen[state]

    def draw(self, state: str) -> str:
        return state if self.drawn is None else self.drawn


def told(**changes: Any) -> Coin:
    """A coin that says something else of itself."""
    return Coin(info=replace(Coin.info, **changes))


def sure(state: str, reward: float = 0) -> tuple[Outcome, ...]:
    return (Outcome(Fraction(1), state, reward),)


def observations(toss: float, lost: float = -1.0, **how: Any) -> Coin:
    values = {"toss": toss, "won": 1.0, "lost": lost}
    shape, dtype = how.get("shape", (1,)), how.get("dtype", np.float32)
    return Coin(seen={name: np.full(shape, value, dtype) for name, value in values.items()})


class Unreadable(str):
    """A state whose repr is not its source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'something else'"


class Named(str):
    """A state equal to its repr, which is of another type."""

    __slots__ = ()


class BothChoose(Pig):
    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        return ((0, 1), (0, 1)) if state.total else super().legal_actions(state)


class Floating(Pig):
    """Player 0's second action, against player 1's only one, has floats for probabilities."""

    def transition(self, state: Any, joint_action: Any) -> tuple[Outcome, ...]:
        outcomes = super().transition(state, joint_action)
        if state.player != 0 or joint_action != (1, 0):
            return outcomes
        return tuple(o._replace(probability=float(o.probability)) for o in outcomes)


HALF = Fraction(1, 2)
THIRD = Fraction(1, 3)
LEGAL = (
    "coin: state 'toss': legal actions are {}; expected is a tuple for each player, of ascending "
    "indices of (('toss', 'pass'),)"
)
UNEVEN = "coin: probabilities sum to 5/6, not 1, at state 'toss', action (0,)"
TWICE = Coin(
    branches={"toss": sure("again", 1), "again": sure("won", 1)},
)

MISTAKES: dict[Any, list[tuple[Any, str]]] = {
    checks.check_protocol: [
        (object(), "object lacks members of the Game protocol"),
        (told(reward_range=(1.0, 0.0)), "reward_range is (1.0, 0.0)"),
        (told(reward_range=(np.nan, 0.0)), "reward_range is (nan, 0.0)"),
        (told(sources=()), "info.sources is empty; say where the rules come from"),
    ],
    checks.check_chance: [
        (
            Coin(start=(Outcome(0.5, "toss"), Outcome(0.5, "lost"))),  # type: ignore[arg-type]
            "initial(): probability 0.5 is not a Fraction",
        ),
        (
            Coin(start=(Outcome(THIRD, "toss"),)),
            "coin: probabilities sum to 1/3, not 1, at the initial distribution",
        ),
        (
            Coin(branches={"toss": (*sure("won"), Outcome(Fraction(0), "lost"))}),
            "coin: a probability is 0 at state 'toss', action (0,); leave out what cannot happen",
        ),
        (
            Coin(branches={"toss": (Outcome(THIRD, "won"),)}),
            "coin: probabilities sum to 1/3, not 1, at state 'toss', action (0,)",
        ),
        (
            Coin(heads=THIRD),
            UNEVEN,
        ),
        (
            Floating(target=3, sides=2),
            "state Turn(player=0, scores=(0, 0), total=2), action (1, 0): "
            "probability 1.0 is not a Fraction",
        ),
    ],
    checks.check_actions: [
        (Coin(legal=((),)), LEGAL.format("((),)")),
        (Coin(legal=((1, 0),)), LEGAL.format("((1, 0),)")),
        (Coin(legal=((-1, 0),)), LEGAL.format("((-1, 0),)")),
        (Coin(legal=((0,), (0,))), LEGAL.format("((0,), (0,))")),
        (
            BothChoose(target=3, sides=2),
            "state Turn(player=0, scores=(0, 0), total=2): "
            "the player who is not on turn has a choice",
        ),
    ],
    checks.check_end: [
        (Coin(heads=THIRD), UNEVEN),
        (Coin(after_pass="toss"), "info says acyclic, but a cycle is reachable from 'toss'"),
        (
            Coin(branches={"toss": (Outcome(HALF, "toss", 1), Outcome(HALF, "lost"))}),
            "info says acyclic, but a cycle is reachable from 'toss'",
        ),
        (
            Coin(branches={"toss": sure("toss")}),
            "from state 'toss' no end of the game can be reached",
        ),
    ],
    checks.check_observations: [
        (observations(0, dtype=float), "state 'toss': observation is not a float32 vector"),
        (
            Coin(seen={"toss": 0.0, "won": 1.0, "lost": -1.0}),
            "state 'toss': observation is not a float32 vector",
        ),
        (observations(0, shape=(1, 1)), "state 'toss': observation is not a float32 vector"),
        (
            observations(0, shape=(2,)),
            "state 'toss': observation has shape (2,), the labels are ('result',)",
        ),
        (
            told(observation_labels=("a", "b")),
            "state 'toss': observation has shape (1,), the labels are ('a', 'b')",
        ),
        (observations(1.5), "state 'toss': observation [1.5] leaves [-1, 1]"),
        (observations(-1.5), "state 'toss': observation [-1.5] leaves [-1, 1]"),
        (observations(1.0), "states 'toss' and 'won' look the same to player 0"),
        (observations(0.5, 0.5), "states 'toss' and 'lost' look the same to player 0"),
    ],
    checks.check_states: [
        (Coin(drawn=" \n"), "state 'toss' draws as nothing"),
        (
            Coin(branches={"toss": sure(Unreadable("won"))}),
            "repr of state 'something else' does not round-trip",
        ),
        (
            Coin(branches={"toss": sure(Named("won"))}),
            "repr of state 'won' does not round-trip",
        ),
    ],
    checks.check_rewards: [
        (Coin(heads=THIRD), UNEVEN),
        (
            told(reward_range=(0.5, 1.0)),
            "an episode can collect 0.0, but reward_range is (0.5, 1.0)",
        ),
        (
            told(reward_range=(0.0, 0.5)),
            "an episode can collect 1.0, but reward_range is (0.0, 0.5)",
        ),
        (TWICE, "an episode can collect 2.0, but reward_range is (0.0, 1.0)"),
    ],
}


@pytest.mark.parametrize("check", MISTAKES, ids=lambda check: check.__name__)
def test_a_mistake_is_named_by_its_check_and_stops_them_all(check: Any) -> None:
    rows = [(game, f"^{re.escape(message)}$") for game, message in MISTAKES[check]]
    assert_refused(rows, check, GameCheckError)
    assert_refused(((game, "") for game, _ in rows), check_game, (GameCheckError, ValueError))


def test_an_outcome_that_is_listed_twice_is_one() -> None:
    """For the checks and for solvers; the same state with another reward is another outcome."""
    quarter = Fraction(1, 4)
    won, other, lost = Outcome(HALF, "won", 1), Outcome(quarter, "won"), Outcome(quarter, "lost")
    plain = Coin(branches={"toss": (won, other, lost)})
    part = won._replace(probability=quarter)
    start = (Outcome(HALF, "toss"), Outcome(HALF, "toss"))
    repeated = Coin(start=start, branches={"toss": (part, other, lost, part)})
    check_game(repeated)
    assert compile_game(repeated).model_hash == compile_game(plain).model_hash
    assert compile_game(repeated).probability.tolist() == [0.5, 0.25, 0.25] * 2
    assert solve(repeated).value == solve(plain).value == 0.5


def test_a_repr_is_read_without_anything_that_could_act() -> None:
    class Call(str):
        __slots__ = ()

        def __repr__(self) -> str:
            return "ascii('won')"

    with pytest.raises(NameError, match="'ascii' is not defined"):
        checks.check_states(Coin(branches={"toss": sure(Call("won"))}))


def test_what_only_looks_like_a_mistake_passes() -> None:
    checks.check_protocol(told(reward_range=(1.0, 1.0)))
    checks.check_end(Coin(after_pass="toss", info=replace(Coin.info, acyclic=False)))
    checks.check_rewards(Coin())
    # In a game with cycles rewards need not add up to anything.
    checks.check_rewards(told(reward_range=(0.5, 1.0), acyclic=False))
    fine = replace(Coin.info, reward_range=(-1.0, 0.0))
    checks.check_rewards(Coin(branches={"toss": sure("lost", -1)}, info=fine))
    # The way to a reward of 1 costs 1, and only what an episode from the start collects counts.
    toll = {"toss": sure("again", -1), "again": sure("won", 1)}
    checks.check_rewards(Coin(branches=toll, info=replace(Coin.info, reward_range=(0, 0))))
    # A sum of rewards is rounded.
    for bounds in ((1e-9, 1.0), (0.0, 1 - 1e-9)):
        checks.check_rewards(told(reward_range=bounds))


class Tabulated(Pig):
    """Pig with a table of its own, to be changed."""

    changes: dict[str, Any]

    def tabulate(self) -> Any:
        table = compile_game(Pig(self.target, self.sides), reference=True)
        return replace(table, **{name: change(table) for name, change in self.changes.items()})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"outcome_reward": lambda t: put(t.outcome_reward, 0, 7)},
            "tabulate\\(\\) has .* the rules",
        ),
        (
            {"initial": lambda t: put(t.initial, slice(0, 2), 0.5)},
            "initial probabilities differ",
        ),
        (
            {"observation": lambda t: (t.observation[0], put(t.observation[1], (0, 0), 0.7))},
            "observations differ",
        ),
        (
            {"probability": lambda t: put(t.probability, slice(0, 2), (0.75, 0.25))},
            "tabulate\\(\\) has .* the rules",
        ),
        (
            {"info": lambda t: replace(t.info, name="other")},
            "tabulate\\(\\) has the info GameInfo\\(name='other'",
        ),
        ({"turn": lambda t: 1 - t.turn}, "tabulate\\(\\) and the rules differ in the turn"),
        ({"turn": lambda t: None}, "tabulate\\(\\) and the rules differ in the turn"),
        (
            {"states": lambda t: ("odd", *t.states[1:])},
            "state ('odd'|Turn\\(.*\\)) is in only one of tabulate\\(\\) and the rules",
        ),
    ],
)
def test_every_part_of_a_table_is_compared(changes: dict[str, Any], message: str) -> None:
    game = Tabulated(target=3, sides=2)
    object.__setattr__(game, "changes", {})
    checks.check_table(game)
    object.__setattr__(game, "changes", changes)
    rows = ((checks.check_table, f"^(state .*)?{message}"), (check_game, ""))
    assert_refused(rows, lambda check: check(game), GameCheckError)


def test_an_info_whose_fields_do_not_fit_is_refused() -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"players": 3}, "^players is 3; allowed are 1 and 2$"),
        ({"players": 2}, r"^actions names the actions of 1 player\(s\), but the game has 2$"),
        ({"actions": (("a", "go", "go"),)}, "^actions has two actions of a player named 'go'$"),
    ]
    assert_refused(rows, lambda changes: replace(Coin.info, **changes))


def test_what_was_made_for_another_game_is_refused_by_what_differs() -> None:
    info = replace(
        Coin.info, parameters=(("size", 3), ("ends", (1, 2)), ("odds", {"a": 1, "b": 2}))
    )
    again = (("odds", {"b": 2, "a": 1}), ("ends", [1, 2]), ("size", 3))
    info.check_same(replace(info, parameters=again), "the network")
    rows: tuple[tuple[dict[str, Any], str], ...] = (
        ({"name": "dice"}, 'its name is "dice", not "coin"'),
        ({"parameters": (*again[:2], ("size", 4))}, "its size is 4, not 3"),
        ({"parameters": again[:2]}, "its size is null, not 3"),
        ({"parameters": (*again, ("tax", Fraction(1, 2)))}, 'its tax is "1/2", not null'),
    )
    assert_refused(
        ((changes, f"^the network is for another game: {told}$") for changes, told in rows),
        lambda changes: info.check_same(replace(info, **changes), "the network"),
    )
