"""A small game's table sampled as a game without one is: a simulator in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Simulation
from solvent.envs.kernels import draw_actions
from solvent.model import Game, TabularGame, TabularPolicy, compile_game
from solvent.model.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class TableSampler:
    """Makes simulations of a game for two; whoever has one legal action has no choice."""

    rules: Game

    @cached_property
    def table(self) -> TabularGame:
        return compile_game(self.rules)

    def simulation(self, n: int, observation: str = "vector") -> TableSimulation:
        return TableSimulation(self.rules, self.table, n)


class TableSimulation(Simulation):
    """`n` episodes; ``arrays["state"]`` are numbers of states of the table."""

    def __init__(self, rules: Game, table: TabularGame, n: int) -> None:
        self.rules, self.table = rules, table
        self.arrays = {"state": np.full(n, -1), "stream": np.zeros(n, np.uint64)}
        self.n_actions = table.mask[0].shape[1]
        self.observation_space = spaces.Box(-1.0, 1.0, table.observation[0].shape[1:])
        self._seen, self._choice = np.stack(table.observation), np.stack(table.action_count) > 1
        mask = np.stack(table.mask) & self._choice[..., None]
        mask[~self._choice, 0] = True
        self._legal = (mask | table.terminal[:, None]).astype(np.int8)

    def _draw(self, chosen: Ints, probabilities: Floats) -> Ints:
        drawn = np.zeros(len(self.arrays["state"]), np.int64)
        draw_actions(chosen, probabilities, self.arrays["stream"], drawn)
        return drawn[chosen]

    def begin(self, chosen: Ints) -> None:
        initial = np.tile(self.table.initial, (len(chosen), 1))
        self.arrays["state"][chosen] = self._draw(chosen, initial)

    def move(self, chosen: Ints, first: Ints, second: Ints, reward: Floats) -> None:
        table, at = self.table, self.arrays["state"][chosen]
        # An action's rank is the number of legal ones below it; without a choice it is 0.
        ranks = [
            np.where(self._choice[p, at], np.cumsum(table.mask[p], 1)[at, actions[chosen]] - 1, 0)
            for p, actions in enumerate((first, second))
        ]
        row = table.row_start[at] + ranks[0] * table.action_count[1][at] + ranks[1]
        start, length = table.outcome_start[row], np.diff(table.outcome_start)[row]
        nth = np.arange(length.max(initial=1))
        inside = nth < length[:, None]
        outcomes = np.where(inside, start[:, None] + nth, 0)
        outcome = start + self._draw(chosen, np.where(inside, table.probability[outcomes], 0.0))
        reward[chosen] += table.outcome_reward[outcome]
        self.arrays["state"][chosen] = table.next_state[outcome]

    def acts(self, chosen: Ints, player: Ints) -> Bools:
        return self._choice[player, self.arrays["state"][chosen]]

    def over(self) -> Bools:
        return self.table.terminal[self.arrays["state"]]

    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        return self._seen[player, self.arrays["state"][chosen]]

    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        return self._legal[player, self.arrays["state"][chosen]]

    def state(self, i: int) -> Any:
        return self.table.states[self.arrays["state"].item(i)]


@dataclass(frozen=True)
class TablePlayer:
    """A player of such simulations who has a policy for each seat."""

    policies: tuple[TabularPolicy, TabularPolicy]
    name = "table"

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        probabilities = np.stack([policy.probabilities for policy in self.policies])
        return probabilities[player, simulation.arrays["state"][chosen]]
