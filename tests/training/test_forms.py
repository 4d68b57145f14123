"""The forms of a game in training: starts elsewhere and players with roles change no score."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reduced_football import reduced
from two_players import random_policy

from solvent.exact import policy_value, score, solve
from solvent.games import FightingFantasy, Greed, Pig
from solvent.model import TabularGame, TabularPolicy, against, compile_game, one_hot
from solvent.training import TrainingResult, train
from solvent.training.environments import importance, with_roles, without_roles

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


def test_training_is_scored_from_the_games_own_start(tmp_path: Path) -> None:
    table = compile_game(GAME)
    small = {"n_envs": 8, "n_steps": 16, "batch_size": 64}

    def run(folder: Path, stakes: float) -> TrainingResult:
        return train(
            table,
            timesteps=2000,
            exploring_starts=stakes,
            folder=folder,
            hyperparameters=small,
            progress=False,
            evaluations=2,
        )

    result = run(tmp_path, 0.5)
    assert result.policy.model_hash == table.model_hash
    assert result.score.value == pytest.approx(score(table, result.policy).value, abs=1e-12)
    assert (run(tmp_path / "usual", 0.0).policy.probabilities != result.policy.probabilities).any()
    with pytest.raises(ValueError, match=r"its stakes is 0\.5, not 0\.25"):
        run(tmp_path, 0.25)


def start_greed(folder: Path, opponent: Any, stakes: float) -> TrainingResult:
    return train(
        "solvent/Greed-v0",
        "maskable_ppo",
        timesteps=2000,
        env_kwargs={"limit": 5, "sides": 2, "opponent": opponent, "seat": 1},
        hyperparameters={"n_envs": 8, "n_steps": 16, "batch_size": 64},
        exploring_starts=stakes,
        folder=folder,
        evaluations=2,
        progress=False,
    )


def test_against_one_opponent_the_stakes_are_those_of_the_best_answer_to_it(tmp_path: Path) -> None:
    result = start_greed(tmp_path / "stakes", "uniform", 0.5)
    usual = start_greed(tmp_path / "usual", "uniform", 0.0)
    assert (result.policy.probabilities != usual.policy.probabilities).any()
    greed = compile_game(Greed(5, 2))
    left = against(greed, TabularPolicy.uniform(greed, player=0))
    own = replace(result.policy, model_hash=left.model_hash)
    assert result.score.value == pytest.approx(score(left, own).value, abs=1e-12)
    assert result.score.optimum == pytest.approx(-solve(left).value)


def test_a_task_that_needs_them_has_them(tmp_path: Path) -> None:
    """The drive begins with them by itself, and what was used is on record."""
    few = {"n_envs": 8, "n_steps": 16, "batch_size": 64}
    rows: list[tuple[dict[str, Any], float]] = [
        ({"hyperparameters": few}, 0.5),
        ({"hyperparameters": few, "exploring_starts": 0.25}, 0.25),
        ({"hyperparameters": few | {"exploring_starts": 0.75}}, 0.75),
    ]
    for arguments, used in rows:
        folder = tmp_path / str(used)
        train(
            "solvent/FootballDrive-v0", timesteps=128, env_kwargs={"start": 20, "field": 20},
            evaluations=1, folder=folder, progress=False, **arguments,
        )  # fmt: skip
        request = json.loads((folder / "run.json").read_text())["request"]
        assert request["stakes"] == used
        assert "exploring_starts" not in request["hyperparameters"]


def test_a_share_that_cannot_be_had_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"exploring_starts is 2; allowed are numbers from 0 to 1"):
        train(GAME, hyperparameters={"exploring_starts": 2}, folder=tmp_path)
    with pytest.raises(ValueError, match=r"is 0\.5; it has to be 0 against several"):
        start_greed(tmp_path, {"uniform": 1, "optimal": 1}, 0.5)


@pytest.fixture(scope="module")
def football() -> TabularGame:
    return compile_game(reduced())


@pytest.mark.parametrize("apart", [False, True])
def test_policies_have_the_same_values_with_roles(apart: bool, football: TabularGame) -> None:
    """Players who are kept apart have roles in any game, also where their actions are the same."""
    game = compile_game(Greed(6, 2)) if apart else football
    learned = with_roles(game, apart=apart)
    first, second = learned.mask
    assert first.shape == second.shape
    assert not (first & second).any()
    pair = [random_policy(learned, player, player) for player in (0, 1)]
    back = [without_roles(policy, game) for policy in pair]
    assert [policy.probabilities.shape for policy in back] == [m.shape for m in game.mask]
    np.testing.assert_allclose(policy_value(learned, *pair), policy_value(game, *back), atol=1e-12)


def test_the_network_is_told_its_role(football: TabularGame) -> None:
    seen = with_roles(football).observation
    for player in (0, 1):
        np.testing.assert_array_equal(seen[player][:, :-1], football.observation[player])
        assert (seen[player][:, -1] == player).all()
    live = np.tile(~football.terminal, 2)
    rows = np.concatenate(one_hot(with_roles(football)).observation)[live]
    assert len(np.unique(rows, axis=0)) == len(rows)
