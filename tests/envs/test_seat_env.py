"""One seat of a game for two: a learner meets its opponents."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from random_games import RandomGame
from two_players import OneShot, random_pool

from solvent.envs import SeatEnv
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import TabularPolicy, compile_game

RULES = Greed(12, 4)
GREED = compile_game(RULES)
POOL = random_pool(GREED, 3)
SEATS: list[Any] = [0, 1, "random"]


def seat_env(**arguments: Any) -> SeatEnv:
    return SeatEnv(GREED, POOL, **({"rules": RULES} | arguments))


@pytest.mark.parametrize("observation", ["vector", "onehot", "index"])
@pytest.mark.parametrize("seat", SEATS)
def test_the_checkers_have_nothing_to_say(seat: Any, observation: str) -> None:
    from stable_baselines3.common.env_checker import check_env as check_sb3_env

    # Warnings are errors here, so this is the whole test.
    check_env(seat_env(seat=seat, observation=observation), skip_render_check=True)
    check_sb3_env(seat_env(seat=seat, observation=observation))


@pytest.mark.parametrize(
    "rules", [Greed(6, 3), Pig(8), RandomGame(3, "simultaneous", cyclic=False)]
)
def test_a_step_goes_through_the_rules_to_the_learners_next_turn(rules: Any) -> None:
    game = compile_game(rules)
    follows: dict[int, set[int]] = {s: set() for s in range(game.n_states)}
    for s, state in enumerate(game.states):
        for row in range(game.row_start[s], game.row_start[s + 1]):
            joint = tuple(int(actions[row]) for actions in game.row_action)
            follows[s] |= {game.index[o.state] for o in rules.transition(state, joint)}

    def within_reach(seat: int, first: set[int]) -> set[int]:
        """Where the opponent alone can take play from some states, to the learner's turn."""
        reached, waiting = set(first), set(first)
        mine = game.on_turn(seat) | game.terminal
        while waiting:
            s = waiting.pop()
            if not mine[s]:
                waiting |= follows[s] - reached
                reached |= follows[s]
        return {s for s in reached if mine[s]}

    rng = np.random.default_rng(0)
    env = SeatEnv(game, random_pool(game, 3), seat="random", observation="index")
    ends = 0
    for seed in range(60):
        at, info = env.reset(seed=seed)
        seat = info["seat"]
        assert at in within_reach(seat, set(np.flatnonzero(game.initial).tolist()))
        over = False
        while not over:
            action = int(rng.integers(env.action_space.n))
            legal = np.flatnonzero(game.mask[seat][at])
            before, live = at, not game.terminal[at]
            at, _, over, truncated, info = env.step(action)
            assert truncated is False
            assert type(over) is bool
            assert over is bool(game.terminal[at])
            assert info["seat"] == seat
            if live:
                played = action if action in legal else legal[0]
                assert info["illegal_action"] is (action not in legal)
                after: set[int] = set()
                for other in np.flatnonzero(game.mask[1 - seat][before]).tolist():
                    joint = (played, other) if seat == 0 else (other, played)
                    outcomes = rules.transition(game.states[before], joint)
                    after |= {game.index[o.state] for o in outcomes}
                assert at in within_reach(seat, after)
            ends += over
    assert ends == 60


@pytest.mark.parametrize("seat", SEATS)
def test_observations_masks_and_infos_are_those_of_the_seat(seat: Any) -> None:
    env = seat_env(seat=seat)
    seen = set()
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            player = info["seat"]
            seen.add(player)
            assert (observation == RULES.observe(env.state, player)).all()
            assert info["opponent"] in (0, 1, 2)
            assert info["action_mask"].dtype == np.int8
            assert (env.action_masks() == info["action_mask"]).all()
            if RULES.is_terminal(env.state):
                assert info["action_mask"].all()
            else:
                assert env.state.player == player
                legal = RULES.legal_actions(env.state)[player]
                assert np.flatnonzero(info["action_mask"]).tolist() == list(legal)
            observation, reward, over, _, info = env.step(env.action_space.sample())
            assert type(reward) is float
        assert (observation == RULES.observe(env.state, player)).all()
    assert seen == ({0, 1} if seat == "random" else {seat})


def test_both_seats_are_paid_their_own_rating() -> None:
    env = seat_env(seat="random")
    paid: dict[int, set[float]] = {0: set(), 1: set()}
    for seed in range(300):
        _, info = env.reset(seed=seed)
        over, total = False, 0.0
        while not over:
            _, reward, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
            total += reward
        mine, other = (
            -1 if score > RULES.limit else score
            for score in (env.state.scores if info["seat"] == 0 else env.state.scores[::-1])
        )
        assert total == (0.5 if mine == other else float(mine > other))
        paid[info["seat"]].add(total)
    assert paid[0] == paid[1] == {0.0, 0.5, 1.0}


def test_a_play_that_the_opponent_ends_at_once_is_paid_by_the_first_step() -> None:
    pig = compile_game(Pig(2, signed=True))
    # Whoever rolls first wins with 5 rolls in 6, unless the other has the die then.
    env = SeatEnv(pig, TabularPolicy.uniform(pig, player=0), seat=1, observation="index")
    ended = 0
    for seed in range(200):
        at, info = env.reset(seed=seed)
        if pig.terminal[at]:
            ended += 1
            assert info["action_mask"].all()
            again, reward, over, _, info = env.step(1)
            assert (again, reward, over, info["illegal_action"]) == (at, -1.0, True, False)
            with pytest.raises(ResetNeeded):
                env.step(0)
    assert ended == pytest.approx(200 * 5 / 6, abs=20)


def through_pickle(env: Any) -> Any:
    """As subprocess vector environments send one; nothing from outside is unpickled."""
    return pickle.loads(pickle.dumps(env))  # noqa: S301


@pytest.mark.parametrize("twin_of", [copy.deepcopy, through_pickle])
def test_a_copy_plays_on_by_itself(twin_of: Any) -> None:
    env = seat_env(seat="random", observation="index")
    env.reset(seed=3)
    twin = twin_of(env)

    def continuation(which: SeatEnv) -> list[Any]:
        return [which.step(0)[:3], *(which.reset()[0] for _ in range(20))]

    assert continuation(twin) == continuation(env)
    assert copy.deepcopy(env).game is env.game


def test_a_new_pool_is_met_at_once() -> None:
    game = compile_game(OneShot())
    always = [
        TabularPolicy.deterministic(game, np.full(game.n_states, k), player=1) for k in range(4)
    ]
    env = SeatEnv(game, always[0], rules=OneShot())
    env.set_opponents(always[1])
    env.reset(seed=0)
    env.set_opponents(always[3])
    env.step(0)
    assert env.state == (0, 3)
    env.set_opponents(always[2:], weights=[1, 1e-12])
    for seed in range(5):
        env.reset(seed=seed)
        env.step(1)
        assert env.state == (1, 2)


@pytest.mark.parametrize("action", [30, -1, float("nan"), 0.0, None, "0"])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    env, other = seat_env(observation="index"), seat_env(observation="index")
    for e in (env, other):
        e.reset(seed=0)
    with pytest.raises(ValueError, match="allowed are whole numbers from 0 to") as error:
        env.step(action)
    assert "\n" not in str(error.value)
    assert env.step(1)[:3] == other.step(1)[:3]


def test_stepping_needs_a_play() -> None:
    env = seat_env()
    for use in (lambda: env.step(0), env.action_masks, lambda: env.state):
        with pytest.raises(ResetNeeded, match="call reset"):
            use()


def test_pictures() -> None:
    env = seat_env(render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == RULES.draw(env.state)
    env = seat_env(render_mode="rgb_array", seat=1)
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8
    assert frame.std() > 0
    env.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
        ({"seat": True}, "seat is True; allowed are 0, 1 and 'random'"),
        ({"seat": "rand"}, "seat is 'rand'; allowed are random. Did you mean 'random'"),
        ({"observation": "pixels"}, "observation is 'pixels'; allowed"),
        ({"illegal": "punish"}, "illegal is 'punish'; allowed"),
        ({"render_mode": "svg"}, "render_mode is 'svg'; allowed"),
        ({"weights": [1, 2]}, r"weights is \[1, 2\]; allowed is a positive number for each of 3"),
        ({"weights": [1, 2, 0]}, r"weights is \[1, 2, 0\]; allowed is a positive number"),
        ({"weights": [1, 2, float("nan")]}, "allowed is a positive number"),
        ({"opponents": []}, "opponents is empty; at least one"),
        ({"opponents": ["optimal"]}, "'o' is not a TabularPolicy"),
        (
            {"opponents": POOL[0][0]},
            "opponent has to play for player 1, but has only 'random-0' of player 0",
        ),
        (
            {"opponents": POOL[0][1], "seat": "random"},
            "opponent has to play for player 0, but has only 'random-1' of player 1",
        ),
        (
            {"opponents": TabularPolicy.uniform(compile_game(Greed(3, 2)), player=1)},
            "policy 'uniform' was made for the model",
        ),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    given = {"opponents": POOL} | arguments
    with pytest.raises(ValueError, match=message) as error:
        SeatEnv(GREED, given.pop("opponents"), rules=RULES, **given)
    assert "\n" not in str(error.value)
    if "opponents" in arguments and "seat" not in arguments:
        env = seat_env()
        with pytest.raises(ValueError, match=message):
            env.set_opponents(arguments["opponents"])


def test_a_game_for_one_is_refused() -> None:
    combat = compile_game(FightingFantasy(stamina=2))
    with pytest.raises(ValueError, match="ff-combat is a game for one"):
        SeatEnv(combat, TabularPolicy.uniform(combat, player=1))
