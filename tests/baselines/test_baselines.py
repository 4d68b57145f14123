"""Baselines by name or file, functions as policies, and learners of stage games."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from bad_files import forge
from gymnasium import wrappers
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from random_games import RandomGame
from rational_tables import END, table_of
from reduced_football import MIXED, reduced
from refusals import assert_refused
from two_players import random_policy
from wrapped_envs import DICTIONARIES, HARMLESS, REFUSED, Wrap

import solvent
from solvent.baselines import baseline_names, baseline_policies, make_baseline
from solvent.baselines.environments import make_env, make_opponents
from solvent.baselines.network import Network, NetworkPlayer, load_network, save_network
from solvent.baselines.q_learning import MinimaxQ, q_learning
from solvent.baselines.stage_games import (
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageLearner,
)
from solvent.envs import Env
from solvent.exact import StoreError, exploitability, save_policy, score, solve
from solvent.games import FightingFantasy, Greed, Pig
from solvent.games.fighting_fantasy.baselines import RULES
from solvent.model import TabularGame, TabularPolicy, against, compile_game, from_arrays, project
from solvent.tabular import matrix_game

# Baselines, opponents and networks by name or file


PIG = compile_game(Pig(target=8))
COMBAT = compile_game(FightingFantasy(stamina=4, opponent_stamina=5, luck=3))


def test_all_baselines_of_a_game_are_policies_for_it() -> None:
    for game, player, own in (
        (COMBAT, 0, {"q-learning", *RULES}),
        # Only one who plays alone learns by Q-learning.
        (PIG, 0, set()),
        (PIG, 1, set()),
    ):
        policies = baseline_policies(game, player=player)
        assert tuple(policies) == baseline_names(game, player)
        assert set(policies) == {"optimal", "uniform", "first-legal", *own}
        for name, policy in policies.items():
            policy.check_is_for(game)
            assert (policy.name, policy.player) == (name, player)
        gap = {n: score(game, policy).optimality_gap for n, policy in policies.items()}
        assert gap["optimal"] == pytest.approx(0, abs=1e-9)
        assert gap["uniform"] > 0.01
        for s in np.flatnonzero(~game.terminal):
            legal = game.mask[player][s]
            uniform, first = (policies[n].probabilities[s] for n in ("uniform", "first-legal"))
            assert (uniform == np.where(legal, 1 / max(legal.sum(), 1), 0)).all()
            assert first.argmax() == legal.argmax()
    assert list(baseline_policies(COMBAT, ["never", "optimal"])) == ["never", "optimal"]


def test_q_learning_plays_no_move_where_an_episode_has_ended() -> None:
    table = table_of([[[(1.0, END, 1.0)], [(0.5, 0, 0.0), (0.5, END, 4.0)]]])
    half, over = (replace(table, initial=np.array([share, 1 - share])) for share in (0.5, 0.0))
    learned = make_baseline("q-learning", half)
    assert score(half, learned).optimality_gap == pytest.approx(0, abs=1e-12)
    rows = ((0, "no start from which an episode goes on"), (2, "player is 2"))
    assert_refused(rows, partial(q_learning, over))


SMALL = {"limit": 12, "sides": 4}
GAME = compile_game(Greed(**SMALL))


def saved(folder: Path, player: int, seed: int = 0, game: Any = GAME) -> str:
    path = folder / f"policy-{player}-{seed}.npz"
    save_policy(path, random_policy(game, player, seed))
    return str(path)


def test_a_file_is_the_policy_that_was_saved_and_a_mixture_keeps_order_and_weights(
    tmp_path: Path,
) -> None:
    path, policy = saved(tmp_path, 1), TabularPolicy.uniform(GAME, player=1)
    # A file that is written anew is read anew.
    for specification, seed in ((Path(path), 3), (path, 4)):
        save_policy(path, random_policy(GAME, 1, seed))
        [opponent], _ = make_opponents(GAME, specification)
        assert (opponent[0].probabilities == random_policy(GAME, 1, seed).probabilities).all()
    opponents, weights = make_opponents(GAME, {"optimal": 2, path: 0.5, policy: 1})
    assert [pair[0].name for pair in opponents] == ["optimal", "random-4", "uniform"]
    assert weights == [2, 0.5, 1]
    assert opponents[2][0] is policy


def test_bad_opponents_and_baselines(tmp_path: Path) -> None:
    of_0, of_1 = saved(tmp_path, 0), saved(tmp_path, 1)
    other_game = saved(tmp_path, 1, seed=9, game=compile_game(Greed(5, 2)))
    pickled = tmp_path / "model.npz"
    pickled.write_bytes(b"\x80\x04K\x01.")
    cases: list[tuple[Any, Any, str]] = [
        ("optimum", 0, r"opponent for player 1 of greed is 'optimum'.* Did you mean 'optimal'"),
        ("q-learning", 0, "opponent for player 1 of greed is 'q-learning'; allowed are"),
        (str(tmp_path / "none.npz"), 0, "none.npz: cannot be read"),
        (str(pickled), 0, "model.npz: not a file of solvent's, or damaged"),
        (other_game, 0, "policy 'random-9' was made for the model"),
        (of_0, 0, "is a policy of player 0, not of 1"),
        (of_1, 1, "is a policy of player 1, not of 0"),
        (of_1, "random", "is a policy of player 1, not of 0"),
        ({}, 0, "opponent is empty"),
        ({"uniform": 0}, 0, r"weights is \[0\]; allowed is a positive number"),
        ({"uniform": "many"}, 0, r"weights is \['many'\]; allowed is a positive number"),
        (3, 0, "opponent is 3; allowed are names of baselines, files of policies"),
        (["uniform"], 0, r"opponent is \['uniform'\]; allowed are names"),
        ({3: 1}, 0, "opponent is 3; allowed are names"),
        (random_policy(GAME, 0, 1), 0, "has to play for player 1, but has only"),
    ]
    makers = [partial(maker, "solvent/Greed-v0", **SMALL) for maker in (gym.make, gym.make_vec)]
    calls = [
        (partial(maker, opponent=opponent, seat=seat), message)
        for opponent, seat, message in cases for maker in makers
    ] + [
        (partial(make_baseline, "unifrom", COMBAT),
         r"baseline of ff-combat is 'unifrom'; allowed are .*'uniform'"),
        (partial(make_baseline, "q-learning", PIG), "baseline of pig is 'q-learning'"),
    ]  # fmt: skip
    assert_refused(calls)


def test_any_game_of_two_will_do() -> None:
    env = make_env("pig", target=6, opponent="uniform", seat=1)
    assert env.game.model_hash == compile_game(Pig(6)).model_hash
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"a game for one, got an unexpected .* 'opponent'"):
        make_env("football-drive", opponent="uniform")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng, shapes = np.random.default_rng(0), ((3, 4), (4, 2))
    weights = tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    biases = tuple(np.zeros(outputs, np.float32) for _, outputs in shapes)
    player = NetworkPlayer(Network(weights, biases, "tanh"), "sampled", True, "onehot", "mine")
    save_network(tmp_path / "network.npz", player, {"seed": 7})
    return tmp_path / "network.npz"


def test_a_network_comes_back(file: Path) -> None:
    again = load_network(file)
    assert (again.rule, again.masked, again.observation, again.name) == (
        "sampled", True, "onehot", "mine",
    )  # fmt: skip
    assert [weight.shape for weight in again.network.weights] == [(3, 4), (4, 2)]


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"layers": 10**9}, {}, "layers is 1000000000; there are 4 arrays"),
        ({"layers": -1}, {}, "layers is -1; there are 4 arrays"),
        ({"layers": "two"}, {}, "layers is 'two'; expected a whole number"),
        ({"layers": 1}, {}, "layers is 1; there are 4 arrays"),
        (
            {"layers": 0},
            dict.fromkeys(("weight 0", "weight 1", "bias 0", "bias 1")),
            "a network has at least one layer",
        ),
        ({"masked": "yes"}, {}, "masked is 'yes'; expected true or false"),
        ({"rule": "best"}, {}, "rule is 'best'; allowed are"),
        ({"activation": "x" * 100_000}, {}, "activation is 'xxx"),
        ({"name": None}, {}, "lacks name"),
        ({}, {"weight 0": np.ones((3, 4))}, "weight 0 is float64; expected float32"),
        ({}, {"weight 0": np.ones(3, np.float32)}, "expected 2 dimensions"),
        ({}, {"bias 0": np.full(4, np.nan, np.float32)}, "bias 0 has an entry that is not"),
        ({}, {"bias 0": np.ones(3, np.float32)}, "do not fit"),
        ({}, {"weight 1": np.ones((5, 2), np.float32)}, "do not fit"),
        ({"layers": 2}, {"bias 1": None, "bias 7": np.ones(2, np.float32)}, "not a network"),
    ],
)
def test_what_is_no_network_is_named(
    header: dict[str, Any], arrays: dict[str, Any], message: str, file: Path
) -> None:
    with pytest.raises(StoreError) as caught:
        load_network(forge(file, header, **arrays))
    assert message in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 250


# A function's table is the function, and what plays otherwise is refused


COMBAT_ID = "solvent/FFCombat-v0"


def logits(seen: Any) -> Any:
    """A policy that is a function of the observation."""
    return np.stack((np.zeros(len(seen)), 4 * seen[:, 4] - 1), axis=1)


class RunningMean:
    """Subtracts the mean of all observations so far."""

    def __init__(self) -> None:
        self.sum, self.count = 0.0, 0

    def __call__(self, seen: Any) -> Any:
        self.sum, self.count = self.sum + seen.sum(axis=0), self.count + len(seen)
        return logits(seen - self.sum / self.count)


def one_state_alone(seen: Any) -> Any:
    """Play something else in one state, but only among few others."""
    given = logits(seen)
    given[(seen == seen[:1]).all(axis=1) & (len(seen) < 2), 1] += 1
    return given


def masked(seen: Any, mask: Any) -> Any:
    """Large numbers for what is never played hide nothing."""
    return np.where(mask, logits(seen - seen.mean(axis=0)), -1e9)


UNSTEADY: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    *((make, {"batch_size": size}) for make in (RunningMean, lambda: one_state_alone)
      for size in (8192, 50)),
    *((lambda: masked, {"outputs": outputs, "illegal": illegal, "takes_mask": True})
      for outputs in ("logits", "action_values") for illegal in ("remap", "mask")),
]  # fmt: skip


def test_a_function_of_more_than_the_observation_is_refused_with_a_state(
    small: TabularGame,
) -> None:
    again = r"and then .* for the same observation, of state Combat"
    rows = ((make, {"outputs": "logits", **how}, again) for make, how in UNSTEADY)
    assert_refused(rows, lambda make, how: solvent.score(small, make(), **how))


class Rounded:
    """Adds an error to its logits that depends on the batch, as sums in another order do."""

    def __init__(self, size: float, dtype: Any, outputs: str) -> None:
        self.random, self.size = np.random.default_rng(0), size
        self.dtype, self.outputs = dtype, outputs

    def __call__(self, seen: Any) -> Any:
        given = (seen @ np.array([[0.0, 1], [0, -1], [0, 1], [0, 0.5], [0, 2]])).astype(float)
        given += self.size * self.random.uniform(-1, 1, given.shape)
        return given.argmax(axis=1) if self.outputs == "actions" else given.astype(self.dtype)


@pytest.mark.parametrize(
    ("size", "dtype", "outputs"),
    [
        (1e-6, np.float32, "logits"),
        (1e-6, np.float32, "action_values"),
        (1e-3, np.float16, "logits"),
        (1e-7, np.int64, "actions"),
    ],
)
def test_rounding_that_depends_on_the_batch_passes(size: float, dtype: Any, outputs: str) -> None:
    exact = solvent.score(COMBAT_ID, Rounded(0, float, outputs), outputs=outputs).value
    found = solvent.score(COMBAT_ID, Rounded(size, dtype, outputs), outputs=outputs).value
    assert found == pytest.approx(exact, abs=0.02)


def test_an_action_that_ties_but_for_rounding_may_be_either(small: TabularGame) -> None:
    tied = small.observation[0][np.flatnonzero(small.on_turn(0))[7]]
    random, flips = np.random.default_rng(0), []

    def f(seen: Any) -> Any:
        difference = (seen - tied) @ np.array([1, 2, 3, 4, 5.0]) + random.uniform(-1e-7, 1e-7)
        flips.extend(difference[(seen == tied).all(axis=1)] > 0)
        return (difference > 0).astype(int)

    solvent.score(small, f)
    assert 0 < np.mean(flips) < 1
    # A number of a state cannot be moved a little, so that nothing tells a tie from chance.
    with pytest.raises(ValueError, match="for the same observation, of state Combat"):
        solvent.score(small, lambda at: f(small.observation[0][at]), observation="index")


@pytest.mark.parametrize("name", REFUSED | DICTIONARIES)
def test_a_wrapper_that_is_not_known_is_refused_with_the_way_out(
    name: str, small: TabularGame
) -> None:
    told = f"^{name} is not known .*as a function of its"
    for outer in (lambda env: env, wrappers.RecordEpisodeStatistics):
        env = outer((REFUSED | DICTIONARIES)[name](Env(small)))
        policies = (lambda seen: np.zeros(len(seen), int), TabularPolicy.uniform(small))
        assert_refused(((policy, told) for policy in policies), partial(solvent.score, env))


@pytest.mark.parametrize("wrap", HARMLESS)
def test_harmless_wrappers_pass_and_nothing_is_played_in_them(
    wrap: Wrap, small: TabularGame
) -> None:
    env, twin = (wrap(Env(small)) for _ in range(2))
    seen, other = env.reset(seed=3)[0], twin.reset(seed=3)[0]
    found = solvent.score(env, logits, outputs="logits")
    assert found == solvent.score(small, logits, outputs="logits")
    for action in (0, 1, 0):
        np.testing.assert_array_equal(seen, other)
        if env.unwrapped.episode.over:
            break
        seen, other = env.step(action)[0], twin.step(action)[0]


def test_one_that_draws_or_writes_passes_and_writes_nothing(tmp_path: Path) -> None:
    env = gym.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset(seed=0)
    env.render()
    recorded = wrappers.RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda _: True)
    assert solvent.score(recorded, np.zeros(16, int)).value == 0
    assert not list((tmp_path / "videos").iterdir())


class OtherLake(FrozenLakeEnv):
    """Does something else than its table says: with actions, in what it tells, or at the start."""

    def __init__(self, act: Any = int, tell: Any = lambda *told: told, start: int = 0) -> None:
        super().__init__()
        self.act, self.tell, self.start = act, tell, start

    def reset(self, **kwargs: Any) -> Any:
        _, info = super().reset(**kwargs)
        self.s = self.start
        return self.start, info

    def step(self, action: Any) -> Any:
        seen, reward, ended, *rest = super().step(self.act(action))
        return *self.tell(seen, reward, ended), *rest


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (OtherLake(tell=lambda seen, reward, ended: (seen, reward - 0.25, ended)),
         r"OtherLake gives the reward -0.25 and goes on in state \d+, which its own"),
        (OtherLake(tell=lambda seen, reward, ended: (seen, reward, ended or seen == 4)),
         "OtherLake gives the reward 0 and ends in state 4, which its own table"),
        (OtherLake(act=lambda action: [2, 1, 0, 3][action]),
         r"OtherLake is in state \d+; by its own table .* one of \["),
        (OtherLake(start=14), r"is in state 14; by its own table it has to be in one of \[0\]"),
        (OtherLake(tell=lambda seen, reward, ended: (15 - seen, reward, ended)),
         r"OtherLake shows 1[0-9] in state .*scored for \d"),
        (gym.make("Taxi-v4", fickle_passenger=True), "does not follow its own P"),
    ],
)  # fmt: skip
def test_a_toy_text_environment_that_does_not_follow_its_table_is_refused(
    env: Any, message: str
) -> None:
    states = env.unwrapped.observation_space.n
    policies = (np.zeros(states, int), lambda seen: np.zeros(len(seen), int))
    assert_refused(((policy, message) for policy in policies), partial(solvent.score, env))


def test_the_environment_may_change_what_is_legal_no_more_than_what_is_seen() -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.wrappers import ActionMasker

    env = gym.make(COMBAT_ID)
    told = ActionMasker(env, lambda env: env.unwrapped.action_masks())  # type: ignore[attr-defined]
    expected = solvent.score(COMBAT_ID, logits, outputs="logits", illegal="mask")
    assert solvent.score(told, logits, outputs="logits", illegal="mask") == expected
    other = ActionMasker(env, lambda env: np.array([True, True]))
    with pytest.raises(ValueError, match=r"ActionMasker allows the actions .* in state Combat"):
        solvent.score(other, logits, outputs="logits", illegal="mask")


def test_seats_and_opponents_are_replayed() -> None:
    greed = compile_game(solvent.make_game("greed", limit=9, sides=4))
    pool = [tuple(TabularPolicy.uniform(greed, player=p) for p in (1, 0))]
    for env in (
        Env(greed, pool[0][0]),
        Env(greed, pool[0][1], seat=1),
        Env(greed, pool, seat="random", illegal="raise"),
    ):
        policy = solvent.policy_from(
            env, lambda seen: np.zeros(len(seen), int), player=env.seats[0]
        )
        assert policy.player == env.seats[0]


def linear(seen: Any, actions: int = 2) -> Any:
    """Logits that are linear in the observation; in float32, as networks compute."""
    weights = np.random.default_rng(0).normal(size=(seen.shape[1], actions))
    return seen @ weights.astype(np.float32)


def softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def last_legal(seen: Any, masks: Any) -> Any:
    assert (masks.dtype, len(masks)) == (bool, len(seen))
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("actions", [2, 3])
def test_what_a_function_gives_is_played_as_the_environment_plays_it(
    actions: int, small: TabularGame
) -> None:
    """Illegal actions are the lowest legal one or are hidden; the first of ties counts."""
    game = small if actions == 2 else compile_game(RandomGame(4, "single", cyclic=True))
    mask, live, own = game.mask[0], game.mask[0].any(axis=1), np.eye(actions)
    assert mask.shape[1] == actions
    some = live & ~mask.all(axis=1)
    given = partial(linear, actions=actions)

    def chances(seen: Any) -> Any:
        return softmax(given(seen))

    def rounded(seen: Any) -> Any:
        # Half precision: sums are off by a thousandth at most, by far more than float64's 1e-9.
        return chances(seen).astype(np.float16)

    legal = np.where(mask, given(game.observation[0]).astype(float), -np.inf)
    hidden, sampled = softmax(legal[live]), chances(game.observation[0])
    assert (sampled[some] * ~mask[some]).max() > 0.01, "nothing is illegal, nothing is shown"
    rows = rounded(game.observation[0]).astype(float)
    assert np.abs(rows.sum(axis=1) - 1).max() > 1e-5
    for function, arguments, expected in (
        (given, {"outputs": "logits"}, project(sampled, mask)[live]),
        (rounded, {}, project(rows / rows.sum(axis=1, keepdims=True), mask)[live]),
        (given, {"outputs": "logits", "illegal": "mask"}, hidden),
        (chances, {"illegal": "mask"}, hidden),
        (given, {"outputs": "action_values", "illegal": "mask"}, own[legal[live].argmax(axis=1)]),
        (lambda seen: np.zeros((len(seen), actions)), {"outputs": "action_values"},
         own[mask[live].argmax(axis=1)]),
        (last_legal, {"takes_mask": True, "illegal": "raise"},
         own[actions - 1 - mask[live, ::-1].argmax(axis=1)]),
    ):  # fmt: skip
        found = solvent.policy_from(game, function, **arguments).probabilities[live]
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=str(arguments))


def test_the_only_action_may_be_chosen_by_its_number() -> None:
    for game in ("random-walk", from_arrays([[[0.5, 0.5], [0, 1]]], [[1], [0]], discount=0.5)):
        assert solvent.score(game, lambda seen: np.zeros(len(seen), int)).optimality_gap == 0


def test_a_module_of_pytorch_is_asked_as_it_is_after_training(small: TabularGame) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    net[0].eval()
    policy = solvent.policy_from(small, net, outputs="logits")
    assert [part.training for part in net] == [False, True, True]
    hidden = small.observation[0] @ net[0].weight.detach().numpy().T + net[0].bias.detach().numpy()
    logits = hidden @ net[2].weight.detach().numpy().T + net[2].bias.detach().numpy()
    expected = project(softmax(logits.astype(float)), small.mask[0])
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-6)
    # What a function hands on may know its gradient.
    through = solvent.policy_from(
        small, lambda seen: net[2](net[0](torch.as_tensor(seen))), outputs="logits"
    )
    np.testing.assert_allclose(policy.probabilities, through.probabilities, atol=1e-6)
    with pytest.raises(ValueError, match="switches off dropout"):
        solvent.policy_from(small, lambda seen: net(torch.as_tensor(seen)), outputs="logits")


def rows(*row: float) -> Any:
    """The function that gives the same row for every observation."""
    return lambda seen: np.tile(row, (len(seen), 1))


RANDOM = np.random.default_rng(0)

NO_POLICIES: list[tuple[Any, dict[str, Any], str]] = [
    (rows(0.495, 0.495), {}, r"sum to .*not to 1 within 0\.001.*outputs='logits'"),
    (rows(0.505, 0.505), {}, r"sum to .*not to 1 within 0\.001.*outputs='logits'"),
    (rows(-1, 2), {}, "negative or not numbers"),
    (rows(np.nan, np.nan), {}, "negative or not numbers"),
    (lambda seen: np.full(len(seen), 2), {}, r"takes an action in state Combat.*: 2; there are 2"),
    (lambda seen: np.zeros((len(seen), 1), int), {"outputs": "actions"},
     r"actions are whole numbers of shape \(\d+,\)"),
    (lambda seen: np.zeros(len(seen)), {},
     r"of shape \(\d+,\) for .* expected are probabilities"),
    (rows(0, 1), {"illegal": "mask"}, r"no probability to a legal action .*illegal='remap'"),
    (lambda seen: np.ones(len(seen), int), {"illegal": "mask"},
     r"takes an illegal action .*takes_mask=True"),
    (rows(0, 1), {"illegal": "raise"}, r"probability to an illegal action .*illegal='mask'"),
    (lambda seen: RANDOM.integers(0, 2, len(seen)), {},
     r"and then .* for the same observation, .*probabilities"),
    (lambda seen: RANDOM.normal(size=(len(seen), 2)), {"outputs": "logits"},
     "for the same observation"),
    (lambda seen: (np.zeros((3, 2)), np.zeros(3)), {}, "gave a tuple; expected is one array"),
    (lambda seen: {"logits": np.zeros((3, 2))}, {}, "gave a dict; expected is one array"),
    (lambda seen: "stop", {}, "expected are numbers"),
    (lambda seen: None, {}, "expected are numbers"),
    (lambda seen: np.zeros((3, 2)), {}, r"shape \(3, 2\) for \d+ observations; .* a column for"),
    *((rows(0, worst), {"outputs": outputs}, "without a finite largest one")
      for worst in (np.nan, np.inf) for outputs in ("logits", "action_values")),
    (rows(0, 1), {"outputs": "logit"}, "outputs is 'logit'; .*Did you mean 'logits'"),
    (rows(0, 1), {"illegal": "masked"}, "illegal is 'masked'; .*Did you mean 'mask'"),
    (rows(0, 1), {"observation": "one-hot"}, "is 'one-hot'; .*Did you mean 'onehot'"),
    (rows(0, 1), {"observation": np.zeros((3, 5))},
     r"observation is an array of shape \(3, 5\); .* states"),
    (rows(0, 1), {"player": 2}, "player is 2"),
    (rows(0, 1), {"batch_size": 0}, "batch_size is 0"),
]  # fmt: skip


def test_what_is_no_policy_is_refused(small: TabularGame) -> None:
    assert_refused(NO_POLICIES, lambda given, how: solvent.policy_from(small, given, **how))


# Compiled learners: steps as in the papers, exact values, and less and less to exploit


LEARNERS: dict[str, Callable[[TabularGame], StageLearner]] = {
    "regret-matching": partial(RegretMatching, plus=False),
    "regret-matching+": RegretMatching,
    "fictitious-play": FictitiousPlay,
    "mirror-descent": MirrorDescentSweeps,
}
PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
# Row 2 is played three times in four, and so is column 2; the value is 3/4.
PENNIES = np.array([[3.0, 0.0], [0.0, 1.0]])


# A learner, its steps, and the average strategies of both players by hand.
# Mirror descent's step is 4, its temperature 1, in ranges of 3 points: 4 (3/2 - 1/2) / 3 / (1 + 4)
# apart.
X = np.exp(4 / 15) / (np.exp(4 / 15) + 1)
Y = 1 / (1 + np.exp(4 * (3 * X - (1 - X)) / 15))
# A learner, its steps, and the average strategies of both players by hand.
STEPS: list[tuple[str, int, list[float], list[float]]] = [
    # Both begin uniform: rows get 3/2 and 1/2, so that the first regrets +1/2, the second -1/2.
    ("regret-matching", 1, [0.5, 0.5], [0.5, 0.5]),
    # The second strategies are row 1 and column 2, and the average has both steps once.
    ("regret-matching", 2, [0.75, 0.25], [0.25, 0.75]),
    # Row 2 would have gained 1 then: regrets 1/2 and 1/2. Column 2 stays.
    ("regret-matching", 3, [2 / 3, 1 / 3], [1 / 6, 5 / 6]),
    # With turns, row 1 gains against uniform play; column 2 is the response to it.
    ("regret-matching+", 1, [1, 0], [0, 1]),
    # Against column 2 row 2 gains 1 over row 1, whose regret is 1/2: strategy (1/3, 2/3), which
    # counts twice.
    ("regret-matching+", 2, [1 / 3 + 2 / 9, 4 / 9], [0, 1]),
    # Row 1 against uniform play; then column 2, since rows were (3/4, 1/4) on average.
    ("fictitious-play", 1, [0.75, 0.25], [0.25, 0.75]),
    ("mirror-descent", 1, [X, 1 - X], [Y, 1 - Y]),
]


def test_learners_of_stage_games_take_the_steps_of_the_papers() -> None:
    for name, steps, *expected in STEPS:
        learner = LEARNERS[name](matrix_game(PENNIES))
        learner.learn(steps)
        found = [learner.policy(player).probabilities[0] for player in (0, 1)]
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=f"{name} {steps}")


@pytest.mark.parametrize("name", LEARNERS)
def test_the_page_says_how_close_sweeps_come(name: str) -> None:
    row = re.search(
        rf"^\| 20, 4 \| {re.escape(name)} \| ([\d.]+) \| ([\d.]+) \|", PAGE, re.MULTILINE
    )
    learner = LEARNERS[name](compile_game(Greed(20, 4)))
    for stated in map(float, row.groups()):
        learner.learn(10 if learner.sweeps == 0 else 90)
        assert both_lose(learner) / 2 == pytest.approx(stated, rel=0.05, abs=1e-5)


def both_lose(learner: StageLearner | MinimaxQ) -> float:
    """The sum of both players' exploitability."""
    game, solution = learner.game, solve(learner.game)
    return sum(exploitability(game, learner.policy(player), solution) for player in (0, 1))


def test_more_moves_leave_a_smaller_gap_and_ten_million_less_than_a_thousandth() -> None:
    game = compile_game(FightingFantasy())
    solution = solve(game)
    few, more, most = (
        score(game, q_learning(game, steps=steps), solution).optimality_gap
        for steps in (10_000, 300_000, 10_000_000)
    )
    assert few > 3 * more > 9 * most
    assert most < 0.001


def test_the_other_player_learns_to_minimize() -> None:
    game = compile_game(Pig(target=6))
    folded = against(game, TabularPolicy.uniform(game, player=0))
    learned = q_learning(folded, 1, steps=1_000_000)
    assert learned.player == 1
    result = score(folded, learned)
    assert result.optimality_gap < 0.01
    assert result.normalized > 0.9


DRIVE = compile_game(reduced("drive", MIXED))


@pytest.mark.slow
def test_more_moves_leave_less_to_exploit() -> None:
    losses = []
    for seed in range(2):
        learner = MinimaxQ(DRIVE, seed=seed)
        for moves in (1_000, 1_000_000):
            learner.learn(moves)
            losses.append(both_lose(learner))
        assert DRIVE.at_start(learner.values) == pytest.approx(solve(DRIVE).value, abs=0.05)
    short, long = np.mean([losses[::2], losses[1::2]], axis=1)
    assert long < 0.12
    assert short > 3 * long


def test_it_does_not_matter_how_moves_are_divided() -> None:
    whole, parts, other = (MinimaxQ(DRIVE, seed=seed) for seed in (1, 1, 2))
    for learner, moves in ((whole, (3_000,)), (parts, (1, 999, 2_000)), (other, (3_000,))):
        for number in moves:
            learner.learn(number)
    assert parts.moves == 3_000
    assert (whole.values == parts.values).all()
    assert (whole.values != other.values).any()
