"""The public conformance checks: real games pass them, and each catches its kind of mistake."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from solvent.exact import solve
from solvent.games import FightingFantasy, GymnasiumTable, Pig
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

    message = "info says acyclic, but rewards add up without end"
    assert only(check_rewards, Paying()) == message


def only(check: Any, game: Any) -> str:
    """What one check has to say of a game."""
    with pytest.raises(GameCheckError) as caught:
        check(game)
    return str(caught.value)


class Wrong(Coin):
    """A coin whose parts are replaced one by one."""

    start: tuple[Outcome, ...] = (Outcome(Fraction(1), "toss"),)
    branches: tuple[Outcome, ...] = ()
    seen: Any = None
    drawn: str | None = None

    def initial(self) -> tuple[Outcome, ...]:
        return self.start

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        return self.branches or super().transition(state, joint_action)

    def observe(self, state: str, player: int) -> Any:
        return super().observe(state, player) if self.seen is None else self.seen[state]

    def draw(self, state: str) -> str:
        return state if self.drawn is None else self.drawn


def wrong(**parts: Any) -> Wrong:
    coin = Wrong()
    for name, part in parts.items():
        setattr(coin, name, part)
    return coin


def test_an_object_that_lacks_a_member_is_no_game() -> None:
    assert only(checks.check_protocol, object()) == "object lacks members of the Game protocol"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward_range": (1.0, 0.0)}, "reward_range is (1.0, 0.0)"),
        ({"reward_range": (np.nan, 0.0)}, "reward_range is (nan, 0.0)"),
        ({"sources": ()}, "info.sources is empty; say where the rules come from"),
    ],
)
def test_what_the_info_lacks_is_said(changes: dict[str, Any], message: str) -> None:
    coin = wrong(info=replace(Coin().info, **changes))
    assert only(checks.check_protocol, coin) == message
    checks.check_protocol(wrong(info=replace(Coin().info, reward_range=(1.0, 1.0))))


HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"start": (Outcome(0.5, "toss"), Outcome(0.5, "lost"))},
            "initial(): probability 0.5 is not a positive Fraction",
        ),
        (
            {"branches": (Outcome(Fraction(1), "won"), Outcome(Fraction(0), "lost"))},
            "coin: a probability is 0 at state 'toss', action (0,); "
            "what cannot happen is no outcome",
        ),
    ],
)
def test_chances_are_positive_fractions(parts: dict[str, Any], message: str) -> None:
    assert only(checks.check_chance, wrong(**parts)) == message


def test_an_outcome_that_is_listed_twice_is_one() -> None:
    """For the checks and for solvers; the same state with another reward is another outcome."""
    quarter = Fraction(1, 4)
    won, other, lost = Outcome(HALF, "won", 1), Outcome(quarter, "won"), Outcome(quarter, "lost")
    plain = wrong(branches=(won, other, lost))
    halves = (replace(won, probability=quarter), other, lost, replace(won, probability=quarter))
    start = (Outcome(HALF, "toss"), Outcome(HALF, "toss"))
    repeated = wrong(start=start, branches=halves)
    check_game(repeated)
    assert compile_game(repeated).model_hash == compile_game(plain).model_hash
    assert compile_game(repeated).probability.tolist() == [0.5, 0.25, 0.25] * 2
    assert solve(repeated).value == solve(plain).value == 0.5


def test_probabilities_of_the_rules_sum_to_1() -> None:
    coin = wrong(branches=(Outcome(Fraction(1, 3), "won"),))
    assert "sum to 1/3, not 1, at state 'toss', action (0,)" in only(checks.check_chance, coin)
    short = wrong(start=(Outcome(Fraction(1, 3), "toss"),))
    assert only(checks.check_chance, short) == "initial(): probabilities sum to 1/3"


@pytest.mark.parametrize(
    "legal",
    [((),), ((1, 0),), ((-1, 0),), ((0, 2),)],
)
def test_legal_actions_are_ascending_indices(legal: tuple[tuple[int, ...], ...]) -> None:
    coin = wrong(legal=legal)
    try:
        message = only(checks.check_actions, coin)
    except IndexError:
        # Walking through the states, a number without a name has no place in the masks.
        assert legal == ((0, 2),)
    else:
        assert message == (
            f"state 'toss': legal actions {legal[0]} of player 0; expected ascending indices of "
            f"('toss', 'pass')"
        )


def test_there_are_as_many_tuples_of_actions_as_players() -> None:
    assert only(checks.check_actions, wrong(legal=((0,), (0,)))) == (
        "state 'toss': 2 tuples of legal actions"
    )


class BothChoose(Pig):
    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        return ((0, 1), (0, 1)) if state.total else super().legal_actions(state)


def test_who_is_not_on_turn_has_no_choice() -> None:
    assert only(checks.check_actions, BothChoose(target=3, sides=2)) == (
        "state Turn(player=0, scores=(0, 0), total=2): the player who is not on turn has a choice"
    )


def test_a_cycle_of_a_game_that_says_it_has_none_is_named() -> None:
    assert only(checks.check_end, wrong(after_pass="toss")) == (
        "info says acyclic, but a cycle is reachable from 'toss'"
    )
    checks.check_end(wrong(after_pass="toss", info=replace(Coin().info, acyclic=False)))
    endless = wrong(branches=(Outcome(Fraction(1), "toss"),))
    assert only(checks.check_end, endless) == "from state 'toss' no end of the game can be reached"


def observations(toss: float, lost: float = -1.0, **how: Any) -> dict[str, Any]:
    values = {"toss": toss, "won": 1.0, "lost": lost}
    shape, dtype = how.get("shape", (1,)), how.get("dtype", np.float32)
    return {name: np.full(shape, value, dtype) for name, value in values.items()}


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (observations(0, dtype=float), "state 'toss': observation is not a float32 vector"),
        (observations(0, shape=(1, 1)), "state 'toss': observation is not a float32 vector"),
        (
            observations(0, shape=(2,)),
            "state 'toss': observation has shape (2,), the labels are ('result',)",
        ),
        (observations(1.5), "state 'toss': observation [1.5] leaves [-1, 1]"),
        (observations(-1.5), "state 'toss': observation [-1.5] leaves [-1, 1]"),
        (observations(1.0), "states 'toss' and 'won' look the same to player 0"),
        (observations(0.5, 0.5), "states 'toss' and 'lost' look the same to player 0"),
    ],
)
def test_observations_are_short_vectors_that_tell_states_apart(
    seen: dict[str, Any], message: str
) -> None:
    assert only(checks.check_observations, wrong(seen=seen)) == message


def test_a_state_that_draws_as_nothing_is_caught() -> None:
    assert only(checks.check_states, wrong(drawn=" \n")) == "state 'toss' draws as nothing"


def test_a_repr_is_read_without_anything_that_could_act() -> None:
    class Call(str):
        __slots__ = ()

        def __repr__(self) -> str:
            return "ascii('won')"

    with pytest.raises(NameError, match="'ascii' is not defined"):
        checks.check_states(wrong(branches=(Outcome(Fraction(1), Call("won")),)))


class Named(str):
    """A state equal to its repr, which is of another type."""

    __slots__ = ()


def test_a_state_read_back_is_of_the_same_type() -> None:
    coin = wrong(branches=(Outcome(Fraction(1), Named("won")),))
    assert only(checks.check_states, coin) == "repr of state 'won' does not round-trip"


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (0.0, 1.0, None),
        (0.5, 1.0, "an episode can collect -0.0, but reward_range is (0.5, 1.0)"),
        (0.0, 0.5, "an episode can collect 1.0, but reward_range is (0.0, 0.5)"),
    ],
)
def test_rewards_of_a_play_lie_within_the_range(low: float, high: float, message: str) -> None:
    coin = wrong(info=replace(Coin().info, reward_range=(low, high)))
    if message is None:
        checks.check_rewards(coin)
    else:
        assert only(checks.check_rewards, coin) == message
    fined = (Outcome(Fraction(1), "lost", -1),)
    checks.check_rewards(wrong(branches=fined, info=replace(coin.info, reward_range=(-1.0, 0.0))))
    # In a game with cycles they need not add up to anything.
    checks.check_rewards(wrong(info=replace(coin.info, acyclic=False)))


def test_rewards_add_up_along_a_play() -> None:
    class Twice(Coin):
        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            if state == "toss":
                return (Outcome(Fraction(1), "again", 1),)
            return (Outcome(Fraction(1), "won", 1),)

        def is_terminal(self, state: str) -> bool:
            return state in ("won", "lost")

    twice = Twice(observation={"toss": 0.0, "again": 0.5, "won": 1.0})
    message = "an episode can collect 2.0, but reward_range is (0.0, 1.0)"
    assert only(checks.check_rewards, twice) == message


def test_only_what_a_play_from_the_start_collects_counts() -> None:
    class Toll(Coin):
        """The way to a reward of 1 costs 1."""

        def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
            if state == "toss":
                return (Outcome(Fraction(1), "again", -1),)
            return (Outcome(Fraction(1), "won", 1),)

        def is_terminal(self, state: str) -> bool:
            return state == "won"

    seen = {"toss": 0.0, "again": 0.5, "won": 1.0}
    checks.check_rewards(Toll(observation=seen, info=replace(Coin().info, reward_range=(0, 0))))


@pytest.mark.parametrize("bounds", [(1e-9, 1.0), (0.0, 1 - 1e-9)])
def test_rounding_of_a_sum_of_rewards_is_passed_over(bounds: tuple[float, float]) -> None:
    checks.check_rewards(wrong(info=replace(Coin().info, reward_range=bounds)))


def test_every_joint_action_of_both_players_is_looked_at() -> None:
    class Floating(Pig):
        """Player 0's second action, against player 1's only one, has floats for probabilities."""

        def transition(self, state: Any, joint_action: Any) -> tuple[Outcome, ...]:
            outcomes = super().transition(state, joint_action)
            if state.player != 0 or joint_action != (1, 0):
                return outcomes
            return tuple(replace(o, probability=float(o.probability)) for o in outcomes)

    assert only(checks.check_chance, Floating(target=3, sides=2)).endswith(
        "action (1, 0): probability 1.0 is not a positive Fraction"
    )


def test_states_are_those_of_the_rules_whatever_a_table_says() -> None:
    class Shorter(Pig):
        def tabulate(self) -> Any:
            return compile_game(Pig(2, self.sides), reference=True)

    game = Shorter(target=3, sides=2)
    assert set(checks.states_of(game)) == set(compile_game(Pig(3, 2)).states)


class Tabulated(Pig):
    """Pig with a table of its own, to be changed."""

    changes: dict[str, Any]

    def tabulate(self) -> Any:
        table = compile_game(Pig(self.target, self.sides), reference=True)
        return replace(table, **{name: change(table) for name, change in self.changes.items()})


def changed(array: Any, place: Any, value: Any) -> Any:
    copy = np.array(array)
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"outcome_reward": lambda t: changed(t.outcome_reward, 0, 7)},
            "tabulate\\(\\) has .* the rules",
        ),
        (
            {"initial": lambda t: changed(t.initial, slice(0, 2), 0.5)},
            "initial probabilities differ",
        ),
        (
            {"observation": lambda t: (t.observation[0], changed(t.observation[1], (0, 0), 0.7))},
            "observations differ",
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
    with pytest.raises(GameCheckError, match=f"^(state .*)?{message}"):
        checks.check_table(game)


def test_a_table_has_the_info_of_its_game() -> None:
    game = Tabulated(target=3, sides=2)
    object.__setattr__(game, "changes", {"info": lambda t: replace(t.info, name="other")})
    assert only(checks.check_table, game).startswith(
        "tabulate() has the info GameInfo(name='other'"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 3}, "players is 3; allowed are 1 and 2"),
        ({"players": 2}, "actions names the actions of 1 player(s), but the game has 2"),
    ],
)
def test_an_info_whose_fields_do_not_fit_is_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(Coin().info, **arguments)


def test_what_was_made_for_another_game_is_refused_by_what_differs() -> None:
    info = replace(
        Coin().info, parameters=(("size", 3), ("ends", (1, 2)), ("odds", {"a": 1, "b": 2}))
    )
    again = (("odds", {"b": 2, "a": 1}), ("ends", [1, 2]), ("size", 3))
    info.check_same(replace(info, parameters=again), "the network")
    for changes, message in (
        ({"name": "dice"}, 'its name is "dice", not "coin"'),
        ({"parameters": (*again[:2], ("size", 4))}, "its size is 4, not 3"),
        ({"parameters": again[:2]}, "its size is null, not 3"),
        ({"parameters": (*again, ("tax", Fraction(1, 2)))}, 'its tax is "1/2", not null'),
    ):
        expected = f"^the network is for another game: {message}$"
        with pytest.raises(ValueError, match=expected):
            info.check_same(replace(info, **changes), "the network")


def test_each_check_of_each_game_is_a_test_of_its_own() -> None:
    names = {check.__name__ for check in checks.CHECKS}
    mark = parametrize_with_game_checks([Coin(), Pig(target=3)]).mark
    assert mark.args[0] == ("game", "check")
    assert [p.values[1] for p in mark.args[1]] == [*checks.CHECKS, *checks.CHECKS]
    assert {p.values[0].info.name for p in mark.args[1]} == {"coin", "pig"}
    assert {p.id for p in mark.args[1]} == {f"{g}-{n}" for g in ("coin", "pig") for n in names}
