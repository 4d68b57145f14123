"""Games of this project in OpenSpiel: its algorithms have to find what is found here."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from random_games import RandomGame

import solvent
from solvent.games import Greed, Pig
from solvent.model import GymnasiumTable, TabularPolicy, policy_from_openspiel, to_openspiel

pyspiel = pytest.importorskip("pyspiel")


def sequential(game: Any) -> Any:
    """A game of OpenSpiel's in turn, which most of its algorithms want."""
    together = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if together else game


def table_policy(game: Any, table: Any, policies: Any) -> Any:
    """Policies of ours as one of OpenSpiel's: information states are states."""
    from open_spiel.python.policy import Policy

    index = {repr(state): s for s, state in enumerate(table.states)}

    class Ours(Policy):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(game, list(range(table.info.players)))

        def action_probabilities(self, state: Any, player_id: int | None = None) -> Any:
            player = state.current_player() if player_id is None else player_id
            # The last line is the information state of the game at once in its form by turns.
            text = state.information_state_string(player)
            [s] = {index[line] for line in text.splitlines() if line in index}
            row = policies[player].probabilities[s]
            return {a: row[a] for a in state.legal_actions()}

    return Ours()


GAMES = [
    Greed(limit=3, sides=2),
    *(
        RandomGame(seed, kind, False, 3)
        for kind in ("simultaneous", "alternating")
        for seed in (1, 2)
    ),
]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: repr(rules)[:40])
def test_exploitability_is_openspiels(rules: Any) -> None:
    from open_spiel.python.algorithms.exploitability import nash_conv
    from open_spiel.python.policy import UniformRandomPolicy

    table = solvent.compile_game(rules)
    game = sequential(to_openspiel(table))
    uniform = [TabularPolicy.uniform(table, player=player) for player in (0, 1)]
    expected = solvent.nash_conv(table, *uniform)
    assert expected > 0.1
    assert nash_conv(game, UniformRandomPolicy(game)) == pytest.approx(expected, abs=1e-9)
    assert nash_conv(game, table_policy(game, table, uniform)) == pytest.approx(expected, abs=1e-9)
    best = solvent.solve(table).policies
    assert nash_conv(game, table_policy(game, table, best)) == pytest.approx(0, abs=1e-8)


def test_cfr_comes_to_the_value() -> None:
    from open_spiel.python.algorithms.cfr import CFRPlusSolver
    from open_spiel.python.algorithms.exploitability import nash_conv

    table = solvent.compile_game(RandomGame(1, "simultaneous", False, 3))
    game = sequential(to_openspiel(table))
    solver = CFRPlusSolver(game)
    distances = []
    for rounds in (5, 95):
        for _ in range(rounds):
            solver.evaluate_and_update_policy()
        average = solver.average_policy()
        policies = [policy_from_openspiel(table, average, player=player) for player in (0, 1)]
        distances.append(solvent.nash_conv(table, *policies))
        assert nash_conv(game, average) == pytest.approx(distances[-1], abs=1e-9)
    assert distances[1] < 0.02 < distances[0]
    value = table.at_start(solvent.policy_value(table, *policies))
    assert value == pytest.approx(solvent.solve(table).value, abs=distances[1])


def test_a_policy_of_openspiel_for_a_game_in_turn() -> None:
    from open_spiel.python.policy import TabularPolicy as Theirs

    table = solvent.compile_game(Greed(limit=3, sides=2))
    game = to_openspiel(table)
    theirs = Theirs(game)
    # One row for each state and player: histories that lead to a state share it.
    turns = [int(table.on_turn(player).sum()) for player in (0, 1)]
    assert len(theirs.states) <= sum(turns)
    rng = np.random.default_rng(0)
    theirs.action_probability_array *= rng.uniform(0.1, 1, theirs.action_probability_array.shape)
    theirs.action_probability_array /= theirs.action_probability_array.sum(axis=1, keepdims=True)
    from open_spiel.python.algorithms.expected_game_score import policy_value

    ours = [policy_from_openspiel(table, theirs, player=player) for player in (0, 1)]
    assert (ours[0].probabilities != TabularPolicy.uniform(table).probabilities).any()
    expected = policy_value(game.new_initial_state(), [theirs, theirs])[0]
    assert table.at_start(solvent.policy_value(table, *ours)) == pytest.approx(expected, abs=1e-9)


def test_what_a_player_sees_is_the_table_s() -> None:
    table = solvent.compile_game(Greed(limit=3, sides=2))
    game = to_openspiel(table)
    state = game.new_initial_state()
    while state.is_chance_node():
        state = state.child(state.chance_outcomes()[0][0])
    s = table.index[eval(str(state), vars(solvent.games.greed.rules))]
    for player in (0, 1):
        seen = table.observation[player][s]
        np.testing.assert_array_equal(state.observation_tensor(player), seen)
        np.testing.assert_array_equal(state.information_state_tensor(player), seen)
        assert state.information_state_string(player) == repr(table.states[s])
    assert game.observation_tensor_shape() == [table.observation[0].shape[1]]


def test_simulated_episodes_follow_openspiels_own_rules() -> None:
    for rules in (Greed(limit=3, sides=2), RandomGame(1, "simultaneous", False, 3)):
        game = to_openspiel(rules)
        assert game.min_utility() <= 0 <= game.max_utility()
        pyspiel.random_sim_test(game, 20, False, True)


def test_a_game_for_one() -> None:
    from open_spiel.python.algorithms.exploitability import nash_conv
    from open_spiel.python.policy import UniformRandomPolicy

    table = solvent.against(
        solvent.compile_game(Greed(limit=3, sides=2)),
        TabularPolicy.uniform(solvent.compile_game(Greed(limit=3, sides=2)), player=1),
    )
    game = sequential(to_openspiel(table))
    uniform = TabularPolicy.uniform(table)
    gap = solvent.score(table, uniform).optimality_gap
    assert gap > 0.1
    assert nash_conv(game, UniformRandomPolicy(game)) == pytest.approx(gap, abs=1e-9)


def test_games_with_cycles_are_refused() -> None:
    import gymnasium as gym

    for rules in (Pig(target=5), GymnasiumTable.from_env(gym.make("FrozenLake-v1"))):
        with pytest.raises(ValueError, match="can come again in one episode"):
            to_openspiel(rules)


def test_python_ends_well_after_it() -> None:
    """OpenSpiel keeps what is registered until after Python's end, where no function may go."""
    code = "import solvent; from solvent.games import Greed\n"
    code += "print(solvent.model.to_openspiel(Greed(limit=2, sides=2)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
