"""What people try first in Python: arrays of a solution, predictions, exact evaluation."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import cast
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.evaluation import evaluate_policy

import solvent
from solvent import TabularPolicy
from solvent.exact import SolvedTable, best_response
from solvent.exact.learning_curve import Evaluation, write_curve

LAKE = "FrozenLake-v1"


@pytest.fixture(scope="module")
def lake() -> SolvedTable:
    return cast(SolvedTable, solvent.solve(LAKE, tolerance=1e-9))


def test_arrays_of_a_solution_are_its_values_by_state(lake: SolvedTable) -> None:
    games = (
        lake.game,
        solvent.make_game("pig", target=8),
        solvent.make_game("rock-paper-scissors"),
    )
    for game in games:
        solved = solvent.solve(game)
        for s, state in enumerate(solved.table.states):
            assert solved.v[s] == solved.value_of(state)
            if solved.table.terminal[s]:
                assert np.isnan(solved.q[s]).all()
            elif solved.q.ndim == 2:
                player = 0 if solved.table.turn is None else int(solved.table.turn[s])
                values = solved.action_values(state, player)
                legal = np.flatnonzero(~np.isnan(solved.q[s]))
                assert dict(zip(legal.tolist(), solved.q[s][legal], strict=True)) == values
    beats = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert sorted(map(tuple, solved.q[0])) == sorted(map(tuple, beats))


def test_an_optimum_plays_as_a_model_of_stable_baselines3_does(lake: SolvedTable) -> None:
    env = gym.make(LAKE, is_slippery=False)
    optimum = solvent.solve(solvent.make_game(LAKE, is_slippery=False))
    assert evaluate_policy(optimum, env, n_eval_episodes=3, warn=False) == (1.0, 0.0)  # type: ignore[arg-type]
    combat = solvent.solve("ff-combat")
    table = combat.by_state[0]
    for seen in (table.observation[0], np.eye(table.n_states, dtype=np.float32)):
        actions, _ = combat.predict(seen)
        assert (actions == combat.solution.policies[0].probabilities.argmax(axis=1)).all()
    throws = [
        int(solvent.solve("rock-paper-scissors").predict(0, deterministic=False)[0])
        for _ in range(60)
    ]
    assert set(throws) == {0, 1, 2}
    for wrong in (99, [0, 99], np.zeros(16), np.full(16, 1 / 16)):
        with pytest.raises(ValueError, match="no state"):
            lake.predict(wrong)
    pig = solvent.solve(solvent.make_game("pig", target=8))
    for player in (0, 1):
        assert len(pig.to_dict(player)) == (pig.by_state[0].on_turn(player)).sum()
    assert all(sum(choice.values()) == pytest.approx(1) for choice in lake.to_dict().values())


def test_the_policy_gradient_is_the_derivative_of_the_value() -> None:
    table = solvent.make_game(LAKE)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(solvent.compile_game(table).n_states, 4))

    def evaluated(logits: np.ndarray) -> solvent.scoring.Evaluation:
        chances = np.exp(logits)
        policy = chances / chances.sum(axis=1, keepdims=True)
        return solvent.evaluate(solvent.compile_game(table), policy)

    gradient = evaluated(logits).policy_gradient
    for s, a in ((0, 1), (4, 2), (8, 0), (10, 3)):
        step = np.zeros_like(logits)
        step[s, a] = 1e-5
        slope = (evaluated(logits + step).value - evaluated(logits - step).value) / 2e-5
        assert gradient[s, a] == pytest.approx(slope, rel=1e-4, abs=1e-9), (s, a)


def test_an_evaluation_agrees_with_scores_and_bellman_s_equation() -> None:
    uniform = np.full((16, 4), 0.25)
    for discount in (None, 0.9):
        found = solvent.evaluate(LAKE, uniform, discount=discount)
        assert found.value == pytest.approx(solvent.score(LAKE, uniform, discount=discount).value)
        chances = found.policy.probabilities
        assert found.v == pytest.approx(np.nansum(chances * np.nan_to_num(found.q), axis=1))
        # In the environment a critic's rows are by the environment's numbers, as a policy's are;
        # those of a table by its states.
        cells = found.table.states[:16]
        by_number = np.zeros(16)
        by_number[[cell.number for cell in cells]] = found.v[:16]
        for game, critic in ((LAKE, by_number), (solvent.make_game(LAKE), found.v[:16])):
            own = solvent.evaluate(game, uniform, critic=critic, discount=discount)
            assert own.critic_error == pytest.approx(0)
            assert own.bellman_residual == pytest.approx(0, abs=1e-12)

    def width(seen: np.ndarray) -> np.ndarray:
        return np.full(len(seen), seen.ndim)

    # A critic sees what the policy sees.
    told = solvent.evaluate(
        LAKE, lambda seen: np.full((len(seen), 4), 0.25), observation="vector", critic=width
    )
    assert told.critic is not None
    assert (told.critic[~told.table.terminal] == 2).all()
    off = solvent.evaluate(LAKE, uniform, critic=lambda seen: np.zeros(len(seen)))
    assert off.critic_error == pytest.approx(np.where(off.table.terminal, 0, -off.v))
    assert np.count_nonzero(off.bellman_residual) == 1  # Beside the goal alone a move is paid.
    with pytest.raises(ValueError, match="critic has 3 values"):
        solvent.evaluate(LAKE, uniform, critic=[1, 2, 3])


def test_in_a_game_for_two_a_policy_is_evaluated_against_a_best_response() -> None:
    game = solvent.make_game("pig", target=8)
    table = solvent.compile_game(game)
    for player in (0, 1):
        policy = TabularPolicy.uniform(table, player=player)
        found = solvent.evaluate(game, policy)
        assert found.value == pytest.approx(solvent.score(game, policy).value)
        response = best_response(table, policy).policies[1 - player]
        assert solvent.evaluate(game, policy, opponent=response).value == pytest.approx(found.value)
        easy = solvent.evaluate(
            game, policy, opponent=TabularPolicy.uniform(table, player=1 - player)
        )
        assert easy.value > found.value


def test_curves_of_runs_are_drawn_with_the_optimum(tmp_path: Path) -> None:
    rows = [Evaluation(n, v, 0.8 - v, v, 0.8 - v, 1.0) for n, v in ((0, 0.1), (500, 0.6))]
    for run in ("first", "second"):
        write_curve(tmp_path / run / "curve.csv", rows)
    for quantity in ("value", "gap"):
        picture = solvent.plot(tmp_path / "first", tmp_path / "second", quantity=quantity)
        picture.save(tmp_path / "curves.svg")
        drawn = ElementTree.fromstring((tmp_path / "curves.svg").read_text())
        assert len(drawn.findall(".//{*}polyline")) == 4, quantity
        assert picture._repr_svg_() == picture.svg
        assert ("optimum 0.8" in picture.svg) == (quantity == "value")
    # A policy that never ends at a cost has no value; the optimum is known from the other points.
    write_curve(
        tmp_path / "endless" / "curve.csv", [Evaluation(0, -inf, inf, -inf, inf, 1.0), *rows]
    )
    picture = solvent.plot(tmp_path / "endless", quantity="value")
    assert ("nan" in picture.svg, "optimum 0.8" in picture.svg) == (False, True)
    with pytest.raises(ValueError, match="no runs are given"):
        solvent.plot()
