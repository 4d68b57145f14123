"""A function's table is the function, and what plays otherwise is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from wrapped_envs import DICTIONARIES, HARMLESS, REFUSED, Wrap

import solvent
from solvent import policy_from
from solvent.envs import Env
from solvent.model import TabularGame, TabularPolicy, compile_game, from_arrays, project

COMBAT = "solvent/FFCombat-v0"


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
    for make, arguments in UNSTEADY:
        with pytest.raises(ValueError, match=again):
            solvent.score(small, make(), **{"outputs": "logits", **arguments})


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
    exact = solvent.score(COMBAT, Rounded(0, float, outputs), outputs=outputs).value
    found = solvent.score(COMBAT, Rounded(size, dtype, outputs), outputs=outputs).value
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


@pytest.fixture(scope="module")
def small() -> TabularGame:
    """A combat of a few hundred states, in some of which testing luck is illegal."""
    rules = solvent.make_game("ff-combat", stamina=4, opponent_stamina=[3, 5], luck=[0, 3])
    return compile_game(rules)


@pytest.mark.parametrize("name", REFUSED | DICTIONARIES)
def test_a_wrapper_that_is_not_known_is_refused_with_the_way_out(
    name: str, small: TabularGame
) -> None:
    for outer in (lambda env: env, wrappers.RecordEpisodeStatistics):
        env = outer((REFUSED | DICTIONARIES)[name](Env(small)))
        for policy in (lambda seen: np.zeros(len(seen), int), TabularPolicy.uniform(small)):
            with pytest.raises(ValueError, match=f"^{name} is not known .*as a function of what"):
                solvent.score(env, policy)


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


def test_one_that_draws_or_writes_passes_and_writes_nothing(tmp_path: Any) -> None:
    env = gym.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset(seed=0)
    env.render()
    recorded = wrappers.RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda _: True)
    assert solvent.score(recorded, np.zeros(16, int)).value == 0
    assert not list((tmp_path / "videos").iterdir())


class MirroredLake(FrozenLakeEnv):
    """Plays left for right; its table does not."""

    def step(self, action: Any) -> Any:
        return super().step([2, 1, 0, 3][action])


class ElsewhereLake(FrozenLakeEnv):
    """Begins in another square than its table says."""

    def reset(self, **kwargs: Any) -> Any:
        _, info = super().reset(**kwargs)
        self.s = 14
        return 14, info


class MisnumberedLake(FrozenLakeEnv):
    def step(self, action: Any) -> Any:
        seen, *rest = super().step(action)
        return 15 - seen, *rest


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (MirroredLake(), r"MirroredLake is in state \d+, where by its own table .* one of \["),
        (ElsewhereLake(), r"is in state 14, where by its own table it has to be in one of \[0\]"),
        (MisnumberedLake(), r"MisnumberedLake shows 1[0-9] in state .*scored for \d"),
        (gym.make("Taxi-v4", fickle_passenger=True), "TaxiEnv is in state .* by its own table"),
    ],
)
def test_a_toy_text_environment_that_does_not_follow_its_table_is_refused(
    env: Any, message: str
) -> None:
    states = env.unwrapped.observation_space.n
    for policy in (np.zeros(states, int), lambda seen: np.zeros(len(seen), int)):
        with pytest.raises(ValueError, match=message):
            solvent.score(env, policy)


def test_the_environment_may_change_what_is_legal_no_more_than_what_is_seen() -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.wrappers import ActionMasker

    env = gym.make(COMBAT)
    told = ActionMasker(env, lambda env: env.unwrapped.action_masks())  # type: ignore[attr-defined]
    expected = solvent.score(COMBAT, logits, outputs="logits", illegal="mask")
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


def linear(seen: Any) -> Any:
    """Logits that are linear in the observation; in float32, as networks compute."""
    return seen @ np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)


def softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def test_logits_are_played_as_the_environment_plays_them(small: TabularGame) -> None:
    mask, forced = small.mask[0], small.action_count[0] == 1
    sampled = softmax(linear(small.observation[0]).astype(float))
    policy = policy_from(small, linear, outputs="logits")
    np.testing.assert_allclose(policy.probabilities, project(sampled, mask), atol=1e-12)
    assert forced.any()
    assert (sampled[forced, 1] > 0.01).any(), "nothing is illegal, so the test shows nothing"


def test_the_only_action_may_be_chosen_by_its_number() -> None:
    for game in ("random-walk", from_arrays([[[0.5, 0.5], [0, 1]]], [[1], [0]], discount=0.5)):
        score = solvent.score(game, lambda seen: np.zeros(len(seen), int))
        assert score.optimality_gap == 0


def test_rows_in_single_precision_are_divided_by_their_sum(small: TabularGame) -> None:
    def rounded(seen: Any) -> Any:
        # Half precision: sums are off by a thousandth at most, by far more than float64's 1e-9.
        return softmax(linear(seen)).astype(np.float16)

    policy = policy_from(small, rounded)
    live = ~small.terminal
    rows = rounded(small.observation[0]).astype(float)
    assert np.abs(rows.sum(axis=1) - 1).max() > 1e-5
    np.testing.assert_allclose(policy.probabilities.sum(axis=1)[live], 1, atol=1e-12)
    expected = project(rows / rows.sum(axis=1, keepdims=True), small.mask[0])
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-12)


@pytest.mark.parametrize("outputs", ["probabilities", "logits", "action_values"])
def test_masked_is_chosen_among_legal_actions_only(small: TabularGame, outputs: str) -> None:
    given = linear if outputs != "probabilities" else (lambda seen: softmax(linear(seen)))
    policy = policy_from(small, given, outputs=outputs, illegal="mask").probabilities
    logits = np.where(small.mask[0], linear(small.observation[0]).astype(float), -np.inf)
    live = ~small.terminal
    if outputs == "action_values":
        expected = np.eye(2)[logits[live].argmax(axis=1)]
    else:
        expected = softmax(logits[live])
    np.testing.assert_allclose(policy[live], expected, atol=1e-6)


def test_the_lowest_of_the_largest_action_values_is_chosen(small: TabularGame) -> None:
    tied = policy_from(small, lambda seen: np.zeros((len(seen), 2)), outputs="action_values")
    assert (tied.probabilities[~small.terminal] == [1, 0]).all()


def test_a_function_may_be_told_what_is_legal(small: TabularGame) -> None:
    def last_legal(seen: Any, masks: Any) -> Any:
        assert masks.dtype == bool
        assert len(masks) == len(seen)
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    policy = policy_from(small, last_legal, takes_mask=True, illegal="raise")
    live = ~small.terminal
    both = small.mask[0].all(axis=1)
    assert (policy.probabilities[both] == [0, 1]).all()
    assert (policy.probabilities[live & ~both] == [1, 0]).all()


def test_a_module_of_pytorch_is_asked_as_it_is_after_training(small: TabularGame) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    net[0].eval()
    policy = policy_from(small, net, outputs="logits")
    assert [part.training for part in net] == [False, True, True]
    hidden = small.observation[0] @ net[0].weight.detach().numpy().T + net[0].bias.detach().numpy()
    logits = hidden @ net[2].weight.detach().numpy().T + net[2].bias.detach().numpy()
    expected = project(softmax(logits.astype(float)), small.mask[0])
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-6)
    # What a function hands on may know its gradient.
    through = policy_from(
        small, lambda seen: net[2](net[0](torch.as_tensor(seen))), outputs="logits"
    )
    np.testing.assert_allclose(policy.probabilities, through.probabilities, atol=1e-6)
    with pytest.raises(ValueError, match="switches off dropout"):
        policy_from(small, lambda seen: net(torch.as_tensor(seen)), outputs="logits")


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
    (lambda seen: (np.zeros((3, 2)), np.zeros(3)), {}, "gave a tuple; one array is expected"),
    (lambda seen: {"logits": np.zeros((3, 2))}, {}, "gave a dict; one array is expected"),
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
    for function, arguments, message in NO_POLICIES:
        with pytest.raises(ValueError, match=message):
            policy_from(small, function, **arguments)
