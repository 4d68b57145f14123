"""Self-play: interrupted or not the same, exact columns, and a pool of what it was."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.benchmark.progress import Moment
from solvent.exact import StoreError, load_policy, nash_conv, score, solve
from solvent.games import FightingFantasy
from solvent.games.greed.rules import Greed, Position
from solvent.model import TabularGame, compile_game
from solvent.training import SelfPlayEvaluation, TrainingResult, read_curve, train_self_play
from solvent.training.exploring_starts import exploring_starts, free_choice

STEPS = 4_096
ENOUGH_TO_LEARN = 12_000
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 64, "n_steps": 16, "batch_size": 128, "n_epochs": 4},
    "masked_dqn": {"n_envs": 16, "batch_size": 64, "learning_starts": 500, "gradient_steps": 1},
}


class Interrupted(Exception):  # noqa: N818
    pass


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(Greed(8, 3))


def start(game: TabularGame, name: str, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments = {
        "timesteps": STEPS,
        "evaluations": 4,
        "refresh": 1000,
        "exploring": 0.2,
        "hyperparameters": SETTINGS[name.removeprefix("maskable_")],
        "progress": False,
    }
    return train_self_play(game, name, seed=1, folder=folder, **(arguments | kwargs))


@pytest.fixture(scope="module")
def trained(greed: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return start(
        greed,
        "maskable_ppo",
        tmp_path_factory.mktemp("self-play"),
        timesteps=ENOUGH_TO_LEARN,
        refresh=2000,
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_interrupted_self_play_ends_as_uninterrupted(
    name: str, greed: TabularGame, tmp_path: Path
) -> None:
    whole = start(greed, name, tmp_path / "whole")
    assert len(whole.curve) == 5

    def stop_after(evaluations: int) -> Any:
        def report(moment: Moment) -> None:
            last = moment.evaluation
            if last is not None and last.timesteps >= evaluations * STEPS // 4:
                raise Interrupted

        return report

    for evaluations in (1, 3):
        with pytest.raises(Interrupted):
            start(greed, name, tmp_path / "parts", progress=stop_after(evaluations))
        assert json.loads((tmp_path / "parts" / "run.json").read_text())["result"] is None
    parts = start(greed, name, tmp_path / "parts")
    for a, b in zip(whole.policies + whole.modes, parts.policies + parts.modes, strict=True):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
    assert whole.scores == parts.scores
    assert [replace(p, seconds=0) for p in whole.curve] == [
        replace(p, seconds=0) for p in parts.curve
    ]


def test_the_columns_are_exact_exploitabilities(
    trained: TrainingResult, greed: TabularGame
) -> None:
    last = trained.curve[-1]
    for (first, second), prefix in ((trained.policies, ""), (trained.modes, "mode_")):
        assert 2 * getattr(last, f"{prefix}gap") == pytest.approx(nash_conv(greed, first, second))
        for seat, policy in enumerate((first, second)):
            assert getattr(last, f"{prefix}exploitability_{seat}") == pytest.approx(
                score(greed, policy).exploitability
            )
    assert trained.exploitability == pytest.approx(last.gap)
    assert trained.mode_exploitability == pytest.approx(last.mode_gap)
    assert last.value == pytest.approx(-last.gap)
    assert read_curve(trained.folder / "curve.csv", SelfPlayEvaluation) == trained.curve


def test_it_learns(trained: TrainingResult) -> None:
    assert trained.curve[-1].gap < trained.curve[0].gap / 2


def test_each_seat_has_its_files(trained: TrainingResult, greed: TabularGame) -> None:
    for seat in (0, 1):
        for name, policies in (("policy", trained.policies), ("policy_mode", trained.modes)):
            saved = load_policy(trained.folder / f"{name}_{seat}.npz", greed)
            assert saved.player == seat
            np.testing.assert_array_equal(saved.probabilities, policies[seat].probabilities)
    assert not (trained.folder / "checkpoint.npz").exists()


def test_one_network_plays_both_seats_alike(trained: TrainingResult, greed: TabularGame) -> None:
    compared = 0
    for state in greed.states:
        assert isinstance(state, Position)
        twin = Position(1 - state.player, state.scores[::-1], state.phase)
        if state.player == 0 and state.phase != "over" and twin in greed.index:
            np.testing.assert_allclose(
                trained.policies[0].probabilities[greed.index[state]],
                trained.policies[1].probabilities[greed.index[twin]],
                atol=1e-6,
            )
            compared += 1
    assert compared > 50


def test_a_finished_training_is_read_back(trained: TrainingResult, greed: TabularGame) -> None:
    again = start(greed, "maskable_ppo", trained.folder, timesteps=ENOUGH_TO_LEARN, refresh=2000)
    assert again.scores == trained.scores
    assert again.curve == trained.curve
    with pytest.raises(ValueError, match=r"holds another training: its refresh is 2000, not 3000"):
        start(greed, "maskable_ppo", trained.folder, timesteps=ENOUGH_TO_LEARN, refresh=3000)


def test_scores_are_those_of_the_policies_whatever_the_record_states(
    greed: TabularGame, trained: TrainingResult, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(trained.folder, tmp_path / "run"))
    record = json.loads((folder / "run.json").read_text())
    names = ("scores", "mode_scores", "average_scores")
    for stated in (record["result"][name][seat] for name in names for seat in (0, 1)):
        stated["exploitability"] -= 1e-6
    (folder / "run.json").write_text(json.dumps(record))
    again = start(greed, "maskable_ppo", folder, timesteps=ENOUGH_TO_LEARN, refresh=2000)
    for name in names:
        assert getattr(again, name) == getattr(trained, name)


def test_a_damaged_record_is_refused(greed: TabularGame, tmp_path: Path) -> None:
    start(greed, "ppo", tmp_path, timesteps=2000)
    record = json.loads((tmp_path / "run.json").read_text())
    record["result"]["scores"] = []
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(StoreError, match=r"run\.json: not the record of a training"):
        start(greed, "ppo", tmp_path, timesteps=2000)


def test_exploring_starts_are_a_share_of_all_states(greed: TabularGame) -> None:
    begun = exploring_starts(greed, 0.25, free_choice(greed))
    assert begun.initial.sum() == pytest.approx(1)
    assert (begun.initial[~greed.terminal] > 0).all()
    assert not begun.initial[greed.terminal].any()
    at_start = begun.initial[greed.initial > 0]
    assert at_start == pytest.approx(0.75 + 0.25 / (~greed.terminal).sum())
    np.testing.assert_array_equal(
        exploring_starts(greed, 0, free_choice(greed)).initial, greed.initial
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": FightingFantasy(2, 2, 2)}, "ff-combat is a game for one"),
        ({"game": "solvent/Greeed-v0"}, "environment is .* Did you mean 'solvent/Greed-v0'"),
        ({"game": Greed(4, 2), "env_kwargs": {"limit": 3}}, "env_kwargs has limit"),
        ({"algorithm": "pppo"}, "algorithm is 'pppo'"),
        ({"past_selves": -1}, "snapshots is -1"),
        ({"latest": 0.0}, "latest is 0.0; allowed are numbers above 0 and up to 1"),
        ({"latest": float("nan")}, "latest is nan"),
        ({"exploring": 1.5}, "exploring_starts is 1.5; allowed are numbers from 0 to 1"),
        ({"refresh": 0}, "refresh is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"env_kwargs": {"observation": "pixels"}}, "observation is 'pixels'"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    game = arguments.pop("game", Greed(4, 2))
    with pytest.raises(ValueError, match=message) as error:
        train_self_play(game, folder=tmp_path / "run", progress=False, **arguments)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "maskable_ppo"])
def test_greed_to_20_is_hard_to_exploit(name: str, tmp_path: Path) -> None:
    result = train_self_play(
        "solvent/Greed-v0",
        name,
        timesteps=2_000_000,
        env_kwargs={"limit": 20, "sides": 4},
        folder=tmp_path,
        progress=False,
    )
    assert result.mode_exploitability < 0.005
    assert result.mode_scores[0].optimum == pytest.approx(solve(compile_game(Greed(20, 4))).value)
