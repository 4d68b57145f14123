"""A reduced football against OpenSpiel's value iteration, which knows its rules only by sampling.

OpenSpiel is given the readable rules, state by state, as one of its own games; this project
solves the table. Neither sees the other's arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reduced_football import CHARTS, MIXED, RULES, reduced

from solvent.exact import solve
from solvent.games.football.chart import Chart
from solvent.games.football.rules import FootballStrategy
from solvent.model import compile_game

pyspiel = pytest.importorskip("pyspiel")


def game_for_openspiel(rules: FootballStrategy, name: str) -> Any:
    """The drive, whose only reward comes at its end, as a game of OpenSpiel."""
    game_type = pyspiel.GameType(
        short_name=name,
        long_name=name,
        dynamics=pyspiel.GameType.Dynamics.SIMULTANEOUS,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )
    width = max(map(len, rules.info.actions))
    low, high = rules.info.reward_range
    game_info = pyspiel.GameInfo(
        num_distinct_actions=width,
        max_chance_outcomes=1000,
        num_players=2,
        min_utility=float(low),
        max_utility=float(high),
        utility_sum=0.0,
        max_game_length=10_000,
    )

    class Drive(pyspiel.State):  # type: ignore[misc]
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.branches: Any = rules.initial()
            self.position: Any = None
            self.paid = 0.0

        def current_player(self) -> int:
            if self.branches:
                return int(pyspiel.PlayerId.CHANCE)
            over = rules.is_terminal(self.position)
            return int(pyspiel.PlayerId.TERMINAL if over else pyspiel.PlayerId.SIMULTANEOUS)

        def _legal_actions(self, player: int) -> list[int]:
            return sorted(rules.legal_actions(self.position)[player])

        def chance_outcomes(self) -> list[tuple[int, float]]:
            return [(k, float(branch.probability)) for k, branch in enumerate(self.branches)]

        def _apply_action(self, action: int) -> None:
            branch = self.branches[action]
            self.branches, self.position = None, branch.state
            assert branch.reward == 0 or rules.is_terminal(branch.state)
            self.paid = float(branch.reward)

        def _apply_actions(self, actions: list[int]) -> None:
            self.branches = rules.transition(self.position, tuple(actions))

        def is_terminal(self) -> bool:
            return not self.branches and rules.is_terminal(self.position)

        def returns(self) -> list[float]:
            return [self.paid, -self.paid] if self.is_terminal() else [0.0, 0.0]

        def __deepcopy__(self, memo: Any) -> Drive:
            other = Drive(self.get_game())
            other.branches, other.position, other.paid = self.branches, self.position, self.paid
            return other

        def __str__(self) -> str:
            return f"{self.position!r} {self.paid!r}" if self.is_terminal() else repr(self.position)

    class DriveGame(pyspiel.Game):  # type: ignore[misc]
        def __init__(self, params: Any = None) -> None:
            super().__init__(game_type, game_info, params or {})

        def new_initial_state(self) -> Drive:
            return Drive(self)

    pyspiel.register_game(game_type, DriveGame)
    return pyspiel.load_game(name)


@pytest.mark.parametrize(
    "chart",
    [MIXED, CHARTS[1], pytest.param(CHARTS[0], marks=pytest.mark.slow)],
    ids=lambda chart: chart.name,
)
def test_values_of_a_reduced_drive(chart: Chart) -> None:
    from open_spiel.python.algorithms.value_iteration import value_iteration

    rules = reduced("drive", chart, RULES)
    game = game_for_openspiel(rules, f"solvent_drive_{chart.name}")
    theirs = value_iteration(game, depth_limit=-1, threshold=1e-9, cyclic_game=True)
    table = compile_game(rules)
    ours = solve(table)
    compared = [s for s, over in enumerate(table.terminal.tolist()) if not over]
    assert len(compared) > 5
    np.testing.assert_allclose(
        [ours.values[s] for s in compared],
        [theirs[repr(table.states[s])] for s in compared],
        rtol=0,
        atol=1e-7,
    )
