"""Single environments: contracts, the sampler's table, registration and pictures."""

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from interpreters import fresh
from random_games import RandomGame
from rational_tables import random_rows, table_of
from refusals import assert_refused
from stable_baselines3.common.env_checker import check_env as check_sb3_env
from table_simulation import TableSampler
from two_players import random_pool

from solvent import make_game, policy_value, register_envs, solve, state_visitation
from solvent.envs import (
    Env,
    MaskObservation,
    VectorEnv,
)
from solvent.envs.batch_simulator import Uniform
from solvent.envs.batches import BothSeats
from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
from solvent.envs.registration import ENVIRONMENTS, compiled_game, samples_table
from solvent.envs.sampling import (
    DRAWS,
    outcome_table,
    seat_table,
    unpacked_row,
)
from solvent.games import FightingFantasy, Greed, Pig, RockPaperScissors
from solvent.model import (
    GymnasiumTable,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    one_hot,
)

# The single environments: they sample their tables, and keep Gymnasium's contracts


SMALL, GREED_RULES = FightingFantasy(stamina=(2, 4), opponent_stamina=5, luck=(0, 2)), Greed(12, 4)
COMBAT, GREED = compile_game(SMALL), compile_game(GREED_RULES)
POOL = random_pool(GREED, 3)
SAMPLER = TableSampler(RandomGame(4, "simultaneous", cyclic=True))
KINDS = ["vector", "onehot", "index"]


def seat_env(**arguments: Any) -> Env:
    return Env(GREED, POOL, **({"rules": GREED_RULES} | arguments))


def alone(**arguments: Any) -> Env:
    return Env(COMBAT, **({"rules": SMALL} | arguments))


both_forms = pytest.mark.parametrize("make", [alone, seat_env])


@pytest.mark.parametrize("observation", KINDS)
def test_the_checkers_have_nothing_to_say(observation: str) -> None:
    # Warnings are errors here, so this is the whole test.
    for env in (
        alone(observation=observation),
        *(seat_env(seat=seat, observation=observation) for seat in (0, 1, "random")),
    ):
        check_env(env, skip_render_check=True)
        check_sb3_env(env)


@both_forms
def test_observations_and_masks_are_those_of_the_rules(make: Callable[..., Any]) -> None:
    envs = [make(observation=kind) for kind in KINDS]
    first, table, rules = envs[0], envs[0].game, envs[0].rules
    encoded = one_hot(table).observation
    for seed in range(30):
        told = [env.reset(seed=seed) for env in envs]
        while not first.episode.over:
            (vector, onehot, index), info = (t[0] for t in told), told[0][-1]
            player = info.get("seat", 0)
            assert table.states[index] == first.state
            assert (vector == rules.observe(first.state, player)).all()
            assert (onehot == encoded[player][index]).all()
            assert vector.dtype == onehot.dtype == np.float32
            legal = list(rules.legal_actions(first.state)[player])
            assert np.flatnonzero(info["action_mask"]).tolist() == legal
            told = [env.step(1) for env in envs]
        assert told[0][-1]["action_mask"].all()


def test_a_new_pool_is_met_at_once() -> None:
    rules = RockPaperScissors()
    game = compile_game(rules)
    first, second, third = (
        TabularPolicy.deterministic(game, np.full(game.n_states, k), player=1) for k in (0, 1, 2)
    )
    env = Env(game, first, rules=rules)
    env.set_opponents(second)
    env.reset(seed=0)
    env.set_opponents(third)
    env.step(0)
    assert env.state == (0, 2)


@both_forms
def test_what_is_no_action_is_refused_and_changes_nothing(make: Callable[..., Any]) -> None:
    env, other = make(), make()
    needed = [(use, "call reset") for use in (lambda: env.step(0), env.action_masks)]
    assert_refused([*needed, (lambda: env.state, "call reset")], error=ResetNeeded)
    env.reset(seed=0)
    other.reset(seed=0)
    wrong = (30, -1, float("nan"), 0.0, None, "0", np.array([0, 1]))
    assert_refused(((one, "allowed are whole numbers from 0 to") for one in wrong), env.step)
    for action in (0, np.int8(0), np.int64(0), np.array(0)):
        if not env.episode.over:
            assert data_equivalence(env.step(action), other.step(0), exact=True)
    while not env.episode.over:
        env.step(0)
    assert_refused(needed[:1], error=ResetNeeded)


BOTH: list[tuple[dict[str, Any], str]] = [
    ({"observation": "one-hot"}, "is 'one-hot'; allowed are index, onehot.* Did you mean 'onehot'"),
    ({"illegal": "punish"}, "illegal is 'punish'; allowed are raise, remap"),
    ({"render_mode": "svg"}, "render_mode is 'svg'; allowed are ansi, human, rgb_array"),
    ({"rules": None, "render_mode": "ansi"}, "a table cannot be drawn; pass its game as rules="),
]
OF_ONE: list[tuple[dict[str, Any], str]] = [
    ({"seat": 2}, "seat is 2; allowed are whole numbers from 0 to 1"),
    ({"seat": 1}, "player 0 of ff-combat has a choice in state"),
    ({"weights": [1]}, r"weights is \[1\], but there are no opponents"),
]
OF_A_SEAT: list[tuple[dict[str, Any], str]] = [
    ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
    ({"seat": True}, "seat is True; allowed are 0, 1 and 'random'"),
    ({"seat": "rand"}, "seat is 'rand'; allowed are random. Did you mean 'random'"),
    ({"weights": [1, 2]}, r"weights is \[1, 2\]; allowed is a positive number for each of 3"),
    ({"weights": [1, 2, 0]}, r"weights is \[1, 2, 0\]; allowed is a positive number"),
    ({"weights": [1, 2, float("nan")]}, "allowed is a positive number"),
    ({"opponents": []}, "opponents is empty; at least one"),
    ({"opponents": ["optimal"]}, "policy is 'optimal'; expected is a Tab"),
    ({"opponents": [5]}, "policy is 5; expected is a TabularPolicy"),
    ({"opponents": 5}, "policy is 5; expected is a TabularPolicy"),
    ({"seat": 1.0}, "seat is 1.0; allowed are 0, 1 and 'random'"),
    ({"opponents": POOL[0][0]}, "to play for player 1, but has only 'random-0' of player 0"),
    (
        {"opponents": POOL[0][1], "seat": "random"},
        "opponent has to play for player 0, but has only 'random-1' of player 1",
    ),
    (
        {"opponents": TabularPolicy.uniform(compile_game(Greed(3, 2)), player=1)},
        "policy 'uniform' was made for the model",
    ),
    ({"game": COMBAT}, "ff-combat is a game for one"),
]


def test_bad_arguments() -> None:
    def seat(given: dict[str, Any]) -> Env:
        return Env(**({"game": GREED, "opponents": POOL, "rules": GREED_RULES} | given))

    assert_refused(BOTH + OF_ONE, lambda given: alone(**given))
    assert_refused(BOTH + OF_A_SEAT, seat)
    assert_refused(
        ((given["opponents"], told) for given, told in OF_A_SEAT if given.keys() == {"opponents"}),
        lambda opponents: seat_env().set_opponents(opponents),
    )
    assert_refused([
        (lambda: alone().set_opponents(POOL[0]), "the learner has no opponents to replace"),
        (lambda: VectorEnv(COMBAT, 2).set_opponents(POOL[0]), "has no opponents to replace"),
        (lambda: VectorEnv(BothSeats(GREED, 2), 4, POOL), "a simulator has its own opponents"),
    ])  # fmt: skip
    assert_refused(
        [(seat_env(), "P", r"fold opponents in with against\(\)")], getattr, AttributeError
    )


MAKERS: dict[str, Callable[[], Any]] = {
    "single": alone,
    "seat": seat_env,
    "simulated": lambda: Env(SAMPLER, [Uniform()]),
    "aec": lambda: TabularAECEnv(GREED),
    "parallel": lambda: TabularParallelEnv(RandomGame(4, "simultaneous", cyclic=True)),
    "simulated parallel": lambda: TabularParallelEnv(SAMPLER),
    "vector": lambda: VectorEnv(COMBAT, 2),
    "both seats, vector": lambda: VectorEnv(BothSeats(GREED, 2)),
    "seat vector": lambda: VectorEnv(GREED, 2, POOL),
    "simulated vector": lambda: VectorEnv(SAMPLER, 2, [Uniform()]),
    "football": lambda: gym.make("solvent/FootballHalf-v0").unwrapped,
    "football, vector": lambda: gym.make_vec("solvent/FootballHalf-v0", num_envs=2),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_an_unknown_option_is_refused_and_changes_nothing(kind: str) -> None:
    env, other = MAKERS[kind](), MAKERS[kind]()
    known = "reset_mask" if "vector" in kind else "none"
    for each in (env, other):
        each.reset(seed=3, options=None)
        each.reset(options={})
    with pytest.raises(ValueError, match=f"^options has 'start'; allowed are: {known}$"):
        env.reset(seed=4, options={"start": 7, "reset_mask": np.ones(2, bool)})
    # The stream of random numbers goes on as if nothing had been asked for.
    for _ in range(3):
        assert repr(env.reset()) == repr(other.reset())
        if kind == "aec":
            assert repr(env.observe("player_0")) == repr(other.observe("player_0"))


@pytest.mark.parametrize(
    "kind", [kind for kind in MAKERS if "aec" not in kind and "parallel" not in kind]
)
def test_an_environment_that_was_pickled_plays_on(kind: str) -> None:
    """As subprocess vector environments send it."""
    env = MAKERS[kind]()
    env.reset(seed=3)
    twin = pickle.loads(pickle.dumps(env))  # noqa: S301 - nothing from outside
    action = np.zeros(env.num_envs, np.int64) if "vector" in kind else 0
    expected, told = ((one.step(action), one.reset()) for one in (env, twin))
    assert data_equivalence(told, expected, exact=True)


def test_the_model_read_back_as_a_game_has_the_same_value() -> None:
    pig = compile_game(Pig(target=8))
    folded = against(pig, TabularPolicy.uniform(pig, player=1))
    for game in (COMBAT, folded, table_of(random_rows(4, "ordinary"))):
        env = Env(game, observation="index")
        again = compile_game(GymnasiumTable.from_env(env, "again"))
        assert solve(again).value == pytest.approx(solve(game).value, abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
def test_the_mask_joins_the_observation_under_the_keys_that_a_tool_wants() -> None:
    plain, env = seat_env(), MaskObservation(seat_env(), observation="obs", mask="legal")
    for told, seen in ((plain.reset(seed=3), env.reset(seed=3)), (plain.step(0), env.step(0))):
        assert list(seen[0]) == ["obs", "legal"]
        assert env.observation_space.contains(seen[0])
        expected = {"obs": told[0], "legal": told[-1]["action_mask"]}, *told[1:]
        assert data_equivalence(seen, expected, exact=True)
    made = MaskObservation(gym.make("solvent/GreedSmall-v0"), mask="legal")
    check_env(made, skip_render_check=True)
    assert list(gym.make(made.spec).reset(seed=0)[0]) == ["observation", "legal"]
    boxed = gym.Env()
    boxed.action_space = gym.spaces.Box(0, 1, (2,), np.float32)
    assert_refused([
        (lambda: MaskObservation(seat_env(), "x", "x"), "observation and mask are both 'x'; allow"),
        (lambda: MaskObservation(boxed), r"actions are Box\(.*; allowed are discrete ones"),
    ])  # fmt: skip


# The sampler's arrays say the same as the game's table


FOR_TWO = {
    "greed": compile_game(Greed(8, 3)),
    "pig": compile_game(Pig(7)),
    "simultaneous": compile_game(RandomGame(1, "simultaneous", cyclic=True)),
    "alternating": compile_game(RandomGame(2, "alternating", cyclic=False)),
}
MANY_STARTS = compile_game(FightingFantasy(stamina=(1, 5), luck={0: 0.5, 1: 0.25, 3: 1e-9}))
RANDOM = [table_of(random_rows(seed, "zeros")) for seed in range(10)]
GAMES = [*FOR_TWO.values(), *RANDOM, MANY_STARTS]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.info.name)
def test_rows_have_their_outcomes_and_probabilities(game: TabularGame) -> None:
    table, starts = outcome_table(game), np.flatnonzero(game.initial)
    assert len(table.row) == game.n_rows + 1
    first = [*game.outcome_start.tolist(), len(game.probability) + len(starts)]
    state = np.concatenate((game.next_state, starts))
    probability = np.concatenate((game.probability, game.initial[starts]))
    reward = np.concatenate((game.outcome_reward, np.zeros(len(starts))))
    for packed, begin, end in zip(table.row.tolist(), first, first[1:], strict=False):
        entry, cut, places = unpacked_row(packed)
        assert end - begin <= places
        assert cut > 0
        for k in range(end - begin):
            assert table.outcome(entry + k) == (state[begin + k], reward[begin + k])
            assert table.to.item(entry + k) & 1 == game.terminal[state[begin + k]]
        edges = table.threshold[cut : cut + places]
        # No draw reaches the places that are left over.
        assert (edges[end - begin - 1 :] == DRAWS).all()
        shares = np.diff(edges[: end - begin], prepend=0)
        wanted = probability[begin:end]
        assert ((shares > 0) == (wanted > 0)).all()
        np.testing.assert_allclose(shares / DRAWS, wanted, rtol=0, atol=3e-16 * len(shares))


def test_games_that_do_not_fit_are_refused() -> None:
    greed, pig = FOR_TWO["greed"], FOR_TWO["pig"]
    wider = np.concatenate((greed.mask[1], np.zeros((greed.n_states, 1), bool)), axis=1)
    uneven = replace(greed, mask=(greed.mask[0], wider))
    seat_table(uneven, (1,), "vector")
    begun_over = replace(greed, initial=greed.terminal / greed.terminal.sum())
    assert_refused([
        (lambda: seat_table(MANY_STARTS, (0,), "vector"), r"game for one; it has no opponents"),
        (lambda: seat_table(uneven, (0, 1), "vector"), "greed have 5 and 6 actions; one learn"),
        (lambda: outcome_table(begun_over), r"greed may begin in .*, where the episode has ended"),
        (lambda: seat_table(pig, (0,), "vector", True), "player 1 of pig has a choice in state"),
        (lambda: seat_table(pig, (1,), "vector", True), "player 0 of pig has a choice in state"),
        (lambda: seat_table(RANDOM[0], (0,), "pixels", True), "observation is 'pixels'; all"),
        (lambda: seat_table(RANDOM[0], (0,), "vector", True), "has no observations for player 0"),
    ])  # fmt: skip
    for player in (0, 1):
        folded = against(pig, TabularPolicy.uniform(pig, player=1 - player))
        assert seat_table(folded, (player,), "vector", True).mask.shape == (pig.n_states, 2)


# The registered environments: names, specs, parameters and thresholds


register_envs()
NAMES = [*filter(samples_table, ENVIRONMENTS)]
LARGE = ("solvent/NinthTide-v0", "solvent/FootballStrategy-v0", "solvent/FootballAgent-v0")


# Environments whose tables take seconds.
SECONDS = "solvent/Greed-v0", "solvent/FFCombatRandom-v0"


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if n in (*LARGE, *SECONDS) else []) for n in NAMES],
)
def test_the_optimum_is_stored_with_the_model_that_it_is_of(name: str) -> None:
    entry = ENVIRONMENTS[name]
    assert compiled_game(entry.game, entry.parameters)[1].model_hash == entry.model_hash


def test_nothing_cuts_episodes_short_and_registering_again_changes_nothing() -> None:
    before = {name: gym.spec(name) for name in NAMES}
    assert {spec.max_episode_steps for spec in before.values()} == {None}
    assert not any(spec.nondeterministic for spec in before.values())
    register_envs()
    assert all(gym.spec(name) is spec for name, spec in before.items())


def test_a_spec_survives_json() -> None:
    for name, parameter in (
        ("FFCombat", {"damage": "three"}),
        ("FFCombatRandom", {"damage": "three"}),
        ("FootballDrive", {"start": "anywhere", "field": 20}),
    ):
        env = gym.make(f"solvent/{name}-v0", **parameter, observation="index", render_mode="ansi")
        again = gym.make(EnvSpec.from_json(env.spec.to_json()))
        assert again.spec == env.spec
        assert env.reset(seed=3)[0] == again.reset(seed=3)[0]
        assert env.unwrapped.game.model_hash == again.unwrapped.game.model_hash
    envs = gym.make_vec("solvent/FFCombat-v0", num_envs=3, luck=2, autoreset_mode="SameStep")
    same = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()))
    assert same.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert (same.reset(seed=1)[0] == envs.reset(seed=1)[0]).all()


def test_equal_parameters_in_another_form_share_one_table() -> None:
    for parameter, forms in (("stamina", ((3, 5), [3, 5])), ("luck", (3, np.int64(3)))):
        envs = [gym.make("solvent/FFCombat-v0", **{parameter: form}).unwrapped for form in forms]
        assert envs[0].game is envs[1].game
        assert envs[0].episode.table is envs[1].episode.table
    assert json.dumps(
        make_game("pig", target=np.int64(8), discount=np.float32(0.5)).info.parameters
    )


def test_the_id_with_the_module_registers_by_itself() -> None:
    code = (
        "import gymnasium as gym\n"
        "env = gym.make('solvent:solvent/FFCombat-v0')\n"
        "envs = gym.make_vec('solvent:solvent/FFCombat-v0', num_envs=2)\n"
        "print(env.reset(seed=0)[0].shape, envs.reset(seed=0)[0].shape)"
    )
    assert fresh(code) == "(5,) (2, 5)\n"


# The table of all environments: its figures are the registered optima and what is computed

PAGE = (Path(__file__).parents[2] / "docs" / "environment-table.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| \[`(solvent/\S+)`\]\S+ \| (−?\d+\.\d{6,}) \| ([\d,]+) "
    r"\| (−?[\d.]+) \| ([\d.]+) \| ([\d.]+|–) \|$",
    PAGE,
    re.MULTILINE,
)
TAKES_LONG = {
    "solvent/FFCombatRandom-v0",
    "solvent/FootballAgent-v0",
    "solvent/FootballStrategy-v0",
    "solvent/Greed-v0",
    "solvent/NinthTide-v0",
    "solvent/Racetrack-v0",
}


def test_the_optima_are_the_reward_thresholds() -> None:
    assert {name for name, *_ in ROWS} == {*NAMES}
    for name, optimum, *_ in ROWS:
        assert float(optimum.replace("−", "-")) == pytest.approx(
            gym.spec(name).reward_threshold, abs=5e-10
        )


def figures(name: str) -> tuple[int, float, float, float | None, float | None]:
    """States, expected return and steps of uniform play, and both of optimal play or None."""
    env = gym.make(name).unwrapped
    game, others = env.game, ()
    seen = env.episode.table.observation[: game.n_states]
    # The end of a discount looks like a state in which episodes begin.
    different = game.n_states - (game.info.discount != 1)
    assert len(np.unique(seen, axis=0)) == different, "two states look alike"
    best = None
    if not env.opponents:
        best = solve(game).policies[0]
    else:
        [others] = env.opponents
        if ENVIRONMENTS[name].opponent == "optimal":
            # Who sits opposite the other seat.
            [[best]] = gym.make(name, seat=1).unwrapped.opponents
    found: list[float | None] = [None] * 4
    for n, policy in enumerate((TabularPolicy.uniform(game), best)):
        if policy is not None:
            met = state_visitation(game, policy, *others)[game.on_turn(0)]
            found[2 * n] = game.at_start(policy_value(game, policy, *others))
            found[2 * n + 1] = float(met.sum())
    return game.n_states, *found


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row[0], marks=[pytest.mark.slow] if row[0] in TAKES_LONG else [])
        for row in ROWS
    ],
)
def test_the_figures_are_what_is_computed(row: tuple[str, ...]) -> None:
    name, _, *shown = row
    states, returned, steps, optimum, optimal = figures(name)
    assert shown == [
        f"{states:,}",
        # A mean that is 0 has either sign.
        f"{round(returned, 4) + 0:.4f}".replace("-", "−"),
        f"{steps:.2f}",
        "–" if optimal is None else f"{optimal:.2f}",
    ]
    if optimum is not None:
        assert optimum == pytest.approx(gym.spec(name).reward_threshold, abs=1e-9)


# Pictures: size, contents, and that they follow the state


LONG_COMBAT = FightingFantasy(stamina=12, opponent_stamina=(3, 12), luck=4)


def test_a_window_opens_follows_the_play_and_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = Env(LONG_COMBAT, render_mode="human")
    env.metadata = env.metadata | {"render_fps": 1000}
    env.reset(seed=0)
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(0)
    assert (first != pygame.surfarray.array3d(pygame.display.get_surface())).any()
    env.close()
    assert not pygame.display.get_init()
    env.close()
