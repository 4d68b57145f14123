"""Games for two: self-play with its pool and averages, fixed opponents, and mirror descent."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from interruptions import assert_goes_on
from random_games import RandomGame
from reduced_football import reduced
from refusals import assert_refused
from two_players import random_policy

from solvent import (
    TabularGame,
    TabularPolicy,
    against,
    best_response,
    compile_game,
    exploitability,
    load_policy,
    make_game,
    nash_conv,
    policy_value,
    save_policy,
    solve,
)
from solvent.baselines import make_baseline
from solvent.benchmark.run_folder import OPPONENT
from solvent.envs import VectorEnv
from solvent.envs.batches import BothSeats
from solvent.envs.sampling import observed
from solvent.exact import score
from solvent.games import FightingFantasy, Nim, Pig
from solvent.games.greed.rules import Greed, Position
from solvent.training import (
    ALGORITHMS,
    MirrorDescent,
    SelfPlayEvaluation,
    TrainingResult,
    extract,
    read_curve,
    train,
)
from solvent.training.callback import (
    AveragePolicy,
    SelfPlayEnv,
    SnapshotCallback,
    policies_of_seats,
)
from solvent.training.environments import (
    NativeVecEnv,
    exploring_starts,
    free_choice,
    importance,
    with_roles,
    without_roles,
)
from solvent.training.extract import extract_seats
from solvent.training.mirror_descent import JointTransitions

BOTH_SEATS = {"n_envs": 64, "n_steps": 8, "batch_size": 256, "n_epochs": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 32, "n_steps": 16, "batch_size": 128, "n_epochs": 4},
    "masked_dqn": {"n_envs": 16, "batch_size": 64, "learning_starts": 500, "gradient_steps": 1},
    "mirror_descent": {"n_envs": 512, "n_steps": 4, "batch_size": 64, "step_size": 0.5},
}


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(Greed(8, 3))


def start(game: TabularGame, name: str, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments: dict[str, Any] = {
        "timesteps": 2_048,
        "evaluations": 4,
        "refresh": 1000,
        "exploring_starts": 0.2,
        "hyperparameters": SETTINGS[name.removeprefix("maskable_")],
        "progress": False,
    }
    arguments |= {"self_play": True, "seed": 1, **kwargs}
    return train(game, name, folder=folder, **arguments)


@pytest.fixture(scope="module")
def football() -> TabularGame:
    """A small game in which both act at once, so that the learner takes both seats."""
    return compile_game(reduced())


@pytest.fixture(scope="module")
def trained(greed: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    folder = tmp_path_factory.mktemp("self-play")
    return start(greed, "maskable_ppo", folder, timesteps=12_000, refresh=2000)


@pytest.mark.parametrize(
    ("name", "game", "settings"),
    [
        ("masked_dqn", "greed", {}),
        ("maskable_ppo", "football", {"hyperparameters": BOTH_SEATS, "exploring_starts": 0.5}),
        pytest.param(
            "mirror_descent",
            "football",
            {"timesteps": 8_192, "refresh": 1024},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_interrupted_self_play_ends_as_uninterrupted(
    name: str,
    game: str,
    settings: dict[str, Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    run = partial(start, request.getfixturevalue(game), name, **settings)
    steps = settings.get("timesteps", 2_048)
    whole = assert_goes_on(run, tmp_path, steps // 4, 3 * steps // 4)
    assert len(whole.curve) == 5


def test_files_columns_and_scores_are_those_of_the_policies(
    trained: TrainingResult, greed: TabularGame
) -> None:
    first, last = trained.curve[0], trained.curve[-1]
    assert last.gap < first.gap / 2, "it learns"
    for name, policies, scores, prefix in (
        ("policy", trained.policies, trained.scores, ""),
        ("policy_mode", trained.modes, trained.mode_scores, "mode_"),
        ("policy_average", trained.averages, trained.average_scores, "average_"),
    ):
        for seat, policy in enumerate(policies):
            saved = load_policy(trained.folder / f"{name}_{seat}.npz", greed)
            assert saved.player == seat
            np.testing.assert_array_equal(saved.probabilities, policy.probabilities)
            expected = score(greed, policy).exploitability
            assert scores[seat].exploitability == pytest.approx(expected)
            assert getattr(last, f"{prefix}exploitability_{seat}") == pytest.approx(expected)
        if prefix != "average_":
            gap = getattr(last, f"{prefix}gap")
            assert 2 * gap == pytest.approx(nash_conv(greed, *policies))
    assert last.value == pytest.approx(-last.gap)
    assert read_curve(trained.folder / "curve.csv", SelfPlayEvaluation) == trained.curve
    assert not (trained.folder / "checkpoint.npz").exists()


def test_exploring_starts_are_where_both_act_at_once(football: TabularGame) -> None:
    begun = exploring_starts(football, 0.5, free_choice(football)).initial
    both = (football.action_count[0] > 1) & (football.action_count[1] > 1)
    assert begun.sum() == pytest.approx(1)
    assert (begun[both] > 0).all()
    assert begun[~both & (football.initial == 0)].sum() == 0


def test_one_network_plays_both_seats_alike(trained: TrainingResult, greed: TabularGame) -> None:
    first, second = (policy.probabilities for policy in trained.policies)
    compared = 0
    for s, state in enumerate(greed.states):
        twin = Position(1 - state.player, state.scores[::-1], state.phase)
        if state.player == 0 and state.phase != "over" and twin in greed.index:
            np.testing.assert_allclose(first[s], second[greed.index[twin]], atol=1e-6)
            compared += 1
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "maskable_ppo"])
def test_greed_to_20_is_hard_to_exploit(name: str, tmp_path: Path) -> None:
    result = train(
        "solvent/Greed-v0",
        name,
        self_play=True,
        timesteps=2_000_000,
        env_kwargs={"limit": 20, "sides": 4},
        folder=tmp_path,
        progress=False,
    )
    assert result.curve[-1].mode_gap < 0.005
    assert result.mode_scores[0].optimum == pytest.approx(solve(compile_game(Greed(20, 4))).value)


def make(game: TabularGame) -> tuple[Any, SelfPlayEnv]:
    uniform = [TabularPolicy.uniform(game, player=p) for p in (0, 1)]
    env = VectorEnv(
        game, 16, [uniform], seat="random", observation="onehot", autoreset_mode="SameStep"
    )
    averages = [AveragePolicy(game, seat) for seat in (0, 1)]
    venv = SelfPlayEnv(
        env, partial(policies_of_seats, game, "onehot"), averages=averages, size=3, latest=0.5
    )
    settings: dict[str, Any] = {"seed": 0, "device": "cpu", "n_steps": 8, "batch_size": 64}
    return ALGORITHMS["maskable_ppo"].model("MlpPolicy", venv, **settings), venv


def test_the_pool_keeps_the_latest_snapshots() -> None:
    tiny = compile_game(Greed(6, 2))
    model, venv = make(tiny)
    venv.seed(0)
    venv.remember(model)
    assert venv.weights == [1.0]
    callback, played = SnapshotCallback(venv, 128), {}
    for _ in range(5):
        played[model.num_timesteps] = [extract(model, tiny, player=p).sampled for p in (0, 1)]
        model.learn(128, callback=callback, reset_num_timesteps=False)
    # A snapshot is taken when the next transitions are collected, and none were after the end.
    assert venv.weights == [0.25, 0.25, 0.5]
    pool = venv.env.unwrapped.opponents  # type: ignore[attr-defined]
    for steps, past, opponent in zip((256, 384, 512), venv.snapshots, pool, strict=True):
        by_player = {policy.player: policy for policy in opponent}
        for player in (0, 1):
            expected = played[steps][player].probabilities
            for kept in (past.opponent, by_player):
                np.testing.assert_array_equal(kept[player].probabilities, expected)


def test_the_kth_counts_k_squared_times() -> None:
    game = compile_game(RandomGame(0, "simultaneous", cyclic=True))
    policies = [random_policy(game, 1, seed) for seed in range(5)]
    average = AveragePolicy(game, 1)
    for policy in policies:
        average.add(policy)
    weights = np.arange(1, 6) ** 2 / 55
    expected = np.tensordot(weights, [policy.probabilities for policy in policies], axes=1)
    np.testing.assert_allclose(average.policy().probabilities, expected, atol=1e-15)


def start_seat(
    folder: Path, timesteps: int = 4_096, share: float = 0.0, **env_kwargs: Any
) -> TrainingResult:
    return train(
        "solvent/Greed-v0",
        "maskable_ppo",
        timesteps=timesteps,
        exploring_starts=share,
        folder=folder,
        env_kwargs={"limit": 8, "sides": 3, **env_kwargs},
        hyperparameters={"n_envs": 64, "n_steps": 16, "batch_size": 256, "n_epochs": 2},
        evaluations=2,
        progress=False,
    )


@pytest.mark.parametrize(("seat", "opponent"), [(0, "stand-at-80"), (1, "optimal")])
def test_the_score_is_against_the_one_opponent(
    seat: int, opponent: str, greed: TabularGame, tmp_path: Path
) -> None:
    other = make_baseline(opponent, greed, 1 - seat)
    if seat == 0:  # It may be a file.
        opponent = str(tmp_path / "other.npz")
        save_policy(opponent, other)
    result = start_seat(tmp_path, timesteps=15_000, opponent=opponent, seat=seat)
    sign = 1 - 2 * seat
    value = sign * (greed.initial @ policy_value(greed, result.policy, other))
    assert result.policy.player == seat
    assert result.score.value == pytest.approx(value)
    assert result.score.optimum == pytest.approx(sign * best_response(greed, other).value)
    assert result.score.optimality_gap == pytest.approx(result.curve[-1].gap)
    assert result.score.exploitability == pytest.approx(exploitability(greed, result.policy))
    assert result.curve[-1].mode_gap < result.curve[0].mode_gap


def test_among_several_the_worst_opponent_counts(greed: TabularGame, tmp_path: Path) -> None:
    result = start_seat(tmp_path, opponent={"optimal": 1, "uniform": 2})
    assert result.score.optimality_gap == pytest.approx(exploitability(greed, result.policy))
    assert result.score.exploitability == result.score.optimality_gap


@pytest.mark.parametrize("how", ["default", "file"])
def test_an_opponent_that_is_not_named_optimal_but_is_is_on_record(
    how: str, greed: TabularGame, tmp_path: Path
) -> None:
    """None stands for the optimum where a game has a table."""
    file = tmp_path / "other.npz"
    save_policy(file, make_baseline("optimal", greed, 1))
    opponent = None if how == "default" else str(file)
    assert start_seat(tmp_path / how, timesteps=1_024, opponent=opponent).saw == (OPPONENT,)
    assert "saw_solution" in (tmp_path / how / "curve.csv").read_text()


# The forms of a game in training: starts elsewhere and players with roles change no score

GAME = FightingFantasy(stamina=[2, 5], opponent_stamina=[2, 5], luck=[0, 3])


def test_at_stake_is_what_the_worst_choice_loses() -> None:
    table = compile_game(GAME)
    solution = solve(table)
    weights = importance(table, solution)
    for s in range(table.n_states):
        rows = solution.action_values[table.row_start[s] : table.row_start[s + 1]]
        assert weights[s] == (rows.max() - rows.min() if len(rows) else 0)
    assert weights.max() > 0.1
    # Player 1 has something at stake as well; without a choice nothing is.
    pig = compile_game(Pig(target=6))
    left = against(pig, TabularPolicy.uniform(pig, player=0))
    assert importance(left, solve(left)).max() > 0.1
    forced = compile_game(FightingFantasy(stamina=2, opponent_stamina=2, luck=0))
    with pytest.raises(ValueError, match="no choice makes a difference"):
        importance(forced, solve(forced))


def test_a_task_that_needs_them_has_them_and_is_scored_from_its_own_start(tmp_path: Path) -> None:
    """The drive begins with them by itself, and what was used is on record."""
    few, drive = {"n_envs": 8, "n_steps": 16, "batch_size": 64}, {"start": 20, "field": 20}
    table, policies = compile_game(make_game("football-drive", **drive)), []
    rows: list[tuple[dict[str, Any], float]] = [
        ({"hyperparameters": few}, 0.5),
        ({"hyperparameters": few, "exploring_starts": 0.0}, 0.0),
        ({"hyperparameters": few | {"exploring_starts": 0.75}}, 0.75),
    ]
    for arguments, used in rows:
        folder = tmp_path / str(used)
        result = train(
            "solvent/FootballDrive-v0", timesteps=256, env_kwargs=drive,
            evaluations=1, folder=folder, progress=False, **arguments,
        )  # fmt: skip
        request = json.loads((folder / "run.json").read_text())["request"]
        assert request["stakes"] == used
        assert "exploring_starts" not in request["hyperparameters"]
        assert result.policy.model_hash == table.model_hash
        assert result.score.value == pytest.approx(score(table, result.policy).value, abs=1e-12)
        policies.append(result.policy.probabilities)
    assert (policies[0] != policies[1]).any()


@pytest.mark.parametrize("apart", [False, True])
def test_policies_have_the_same_values_with_roles(apart: bool, football: TabularGame) -> None:
    """Players who are kept apart have roles in any game, also where their actions are the same."""
    game = compile_game(Greed(6, 2)) if apart else football
    learned = with_roles(game, apart=apart)
    for player, seen in enumerate(learned.observation):
        np.testing.assert_array_equal(seen[:, :-1], game.observation[player])
        assert (seen[:, -1] == player).all()
    first, second = learned.mask
    assert first.shape == second.shape
    assert not (first & second).any()
    pair = [random_policy(learned, player, player) for player in (0, 1)]
    back = [without_roles(policy, game) for policy in pair]
    assert [policy.probabilities.shape for policy in back] == [m.shape for m in game.mask]
    np.testing.assert_allclose(policy_value(learned, *pair), policy_value(game, *back), atol=1e-12)


def made(game: TabularGame, **kwargs: Any) -> MirrorDescent:
    """A learner that has learned nothing, of some game with roles."""
    env = VectorEnv(BothSeats(with_roles(game), 64, "onehot"), autoreset_mode="SameStep")
    return MirrorDescent("MlpPolicy", NativeVecEnv(env), seed=0, device="cpu", **kwargs)


def at_start(
    learner: MirrorDescent, game: TabularGame, action: tuple[int, int] = (0, 0), reward: float = 0.0
) -> JointTransitions:
    """One play that ends with a pair of actions in the first state, as the learner is now."""
    game = with_roles(game)
    state = np.flatnonzero(game.initial)
    seen = torch.tensor(np.stack([observed(game, k, "onehot")[state] for k in (0, 1)]))
    legal = torch.tensor(np.stack([mask[state] for mask in game.mask]))
    with torch.no_grad():
        both = tuple(learner.policy.log_policy(seen[k], legal[k], k) for k in (0, 1))
    actions, over = torch.tensor([[a] for a in action]), torch.tensor([True])
    return JointTransitions(seen, legal, actions, torch.tensor([reward]), over, both, seen, both)


def stepped(policy: Any, values: Any, size: float, floors: Any, temperature: float) -> Any:
    """A policy after a step, by the formulas of the module's chapter."""
    raised = (policy * np.exp(size * (values - values.max()))) ** (1 / (1 + size * temperature))
    raised /= raised.sum()
    raised = np.maximum(raised, np.where(values > policy @ values, *floors)) * (policy > 0)
    return raised / raised.sum()


def test_a_step_is_that_of_magnetic_mirror_descent_against_where_the_other_goes(
    football: TabularGame,
) -> None:
    """Without lookahead and floors, with a lookahead that is a best response, and with floors."""
    random = np.random.default_rng(4)
    for size, lookahead, temperature, floors in (
        (0.7, 0.0, 0.2, (0.0, 0.0)),
        (0.7, 1e3, 1e-6, (0.0, 0.0)),
        (0.01, 0.5, 1e-6, (0.02, 1e-3)),
    ):
        learner = made(
            football, step_size=size, lookahead=lookahead, temperature=temperature,
            better_floor=floors[0], floor=floors[1],
        )  # fmt: skip
        transitions = at_start(learner, football)
        # Seat 1 responds to seat 0's network; of what both play, much is rarer than the floors.
        network = transitions.log_policy[0].exp().numpy()[0].astype(float)
        x, y = (p.exp().numpy()[0] * random.random(p.shape[1]) ** 9 for p in transitions.log_policy)
        x, y = x / x.sum(), y / y.sum()
        assert min(x[x > 0].min(), y[y > 0].min()) < 1e-3
        values = random.normal(size=(len(x), len(y)))
        given = tuple(torch.tensor(p).float()[None].log() for p in (x, y))
        transitions = transitions._replace(log_policy=given)
        for seat, own, other, payoffs in ((0, x, y, values), (1, y, network, -values.T)):
            ahead = stepped(other, -(own @ payoffs), lookahead, floors, temperature)
            expected = stepped(own, payoffs @ ahead, size, floors, temperature)
            found = learner._target(transitions, seat, torch.tensor(values).float()[None])
            np.testing.assert_allclose(found.numpy()[0], expected, atol=1e-6)


def test_the_critic_learns_what_a_pair_of_actions_pays_and_nothing_after_the_end(
    football: TabularGame,
) -> None:
    learner = made(football, learning_rate=0.01)
    role = football.mask[0].shape[1]
    transitions = at_start(learner, football, (1, role + 2), -1.75)
    for _ in range(200):
        learner._fit_critic(transitions)
    values = learner.policy.joint_values(transitions.seen[0])[0]
    first, second = learner.policy.seat_actions
    assert values[first.index(1), second.index(role + 2)].item() == pytest.approx(-1.75, abs=0.01)


@pytest.mark.slow
def test_self_play_of_both_seats_becomes_harder_to_exploit(
    football: TabularGame, tmp_path: Path
) -> None:
    nim, few = compile_game(Nim([1, 2, 2])), {"n_envs": 256, "n_steps": 4, "batch_size": 64}
    for game, kind, share, settings in (
        (nim, "scores", 0.5, {"timesteps": 32_768, "refresh": 2048, "hyperparameters": few}),
        (football, "average_scores", 0.8, {"timesteps": 8_192, "refresh": 1024}),
    ):
        folder = tmp_path / game.info.name
        found = start(game, "mirror_descent", folder, exploring_starts=0.5, **settings)
        uniform = [TabularPolicy.uniform(game, player=p) for p in (0, 1)]
        reached = sum(one.exploitability for one in getattr(found, kind))
        assert reached < share * nash_conv(game, *uniform)
        # Seats have networks of their own, which a file keeps.
        model = MirrorDescent.load(folder / "model.zip")
        for loaded, kept in zip(extract_seats(model, game), found.policies, strict=True):
            np.testing.assert_array_equal(loaded.sampled.probabilities, kept.probabilities)


def test_what_cannot_be_learned_with_is_refused(football: TabularGame, tmp_path: Path) -> None:
    floors = "allowed are 0 <= floor <= better_floor < 1"
    odd = BOTH_SEATS | {"n_envs": 127}
    assert_refused((
        (lambda: made(football, floor=0.02, better_floor=0.01), floors),
        (lambda: made(football, learning_rate=lambda remaining: remaining), "allowed are numbers"),
        (lambda: start(football, "mirror_descent", tmp_path / "pool", snapshots=2),
         "snapshots is 2; mirror_descent learns from both seats of the same"),
        (lambda: train("solvent/FFCombat-v0", "mirror_descent", folder=tmp_path / "one"),
         "algorithm is 'mirror_descent'; allowed are a2c, dqn, maskable_ppo, masked_dqn, ppo"),
        (lambda: train("solvent/FootballTwoMinutes-v0", "mirror_descent", self_play=True,
                       folder=tmp_path / "two"),
         "mirror_descent needs a game with a table; solvent/FootballTwoMinutes-v0 has none"),
        (lambda: start(football, "ppo", tmp_path / "odd", hyperparameters=odd),
         "n_envs is 127; both seats of an episode need an even"),
        (lambda: train(GAME, hyperparameters={"exploring_starts": 2}, folder=tmp_path / "share"),
         "exploring_starts is 2; allowed are numbers from 0 to 1"),
        (lambda: start_seat(tmp_path / "pair", 64, 0.5, opponent={"uniform": 1, "optimal": 1}),
         r"is 0\.5; it has to be 0 against several"),
    ))  # fmt: skip
