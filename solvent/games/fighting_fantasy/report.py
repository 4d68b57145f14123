"""Maps of Fighting Fantasy combat in the manner of Johnston 2022, figure 3.

A map has a cell for every pair of STAMINAs, at one skill difference and one LUCK. Its colour is
the probability of victory before the next round is fought,

    V  =  P(won) * V(after a won round)  +  P(lost) * V(after a lost round),

and its digit the strategy: 1 tests LUCK after won and lost rounds, 2 after lost rounds only, 3
after won rounds only, none never. Where STAMINA or LUCK left at a victory adds to the score, the
colour is the expected score as a share of the largest one.
"""

import base64
import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from solvent.exact import policy_value
from solvent.games.fighting_fantasy.rules import TEST, Combat, rules_of
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.report.panel import VIRIDIS
from solvent.report.sections import GamePages, Section, beside, script_json
from solvent.report.solved import ScoredAgent, SolvedTask

# Choices that lose less than this count as optimal.
_COSTLY = 1e-9

# Titles of the colour scale without and with weights.
_VICTORY, _SCORE = "probability of victory", "expected score, as a share of the largest"

ABSENT = 65535
"""The code of a cell that play does not reach."""


@dataclass(frozen=True, eq=False)
class CombatGrid:
    """The index of each state of a combat in an array over its four numbers.

    Attributes:
        differences: Skill differences, ascending.
        shape: Numbers of differences, of LUCKs from 0, and of the STAMINAs from 1 of hero and
            opponent.
        states: [C, 2] for each cell the state after a won and after a lost round, -1 if there is
            none.
        weight: [C, 2] the probabilities of the two.
        best: The largest score.
    """

    differences: tuple[int, ...]
    shape: tuple[int, int, int, int]
    states: Ints
    weight: Floats
    best: float

    def codes(self, policy: TabularPolicy) -> Ints:
        """Return [C] the strategies, 0 to 3, of a deterministic policy."""
        tests = (policy.probabilities[self.states, TEST] > 0.5) & (self.states >= 0)
        return np.select([tests.all(axis=1), tests[:, 1], tests[:, 0]], [1, 2, 3], 0)


def grid_of(table: TabularGame) -> CombatGrid:
    """Return the grid of a combat."""
    live = np.flatnonzero(~table.terminal)
    states = [cast(Combat, table.states[s]) for s in live.tolist()]
    difference, hero, opponent, luck = np.array([state[:4] for state in states]).T
    lost = np.array([int(state.round == "lost") for state in states])
    differences = tuple(int(d) for d in np.unique(difference))
    shape = (len(differences), int(luck.max()) + 1, int(hero.max()), int(opponent.max()))
    place = np.searchsorted(differences, difference)
    cell = np.ravel_multi_index((place, luck, hero - 1, opponent - 1), shape)
    place_of = np.full((int(np.prod(shape)), 2), -1)
    place_of[cell, lost] = live
    next_rounds = map(rules_of(table.info).next_round, differences)
    weight = np.array([[float(n.get(r, 0)) for r in ("won", "lost")] for n in next_rounds])
    return CombatGrid(
        differences,
        shape,
        place_of,
        np.repeat(weight, np.prod(shape[1:]), axis=0),
        table.info.reward_range[1],
    )


class CombatPages(GamePages):
    """Combat's own section: the maps of the optimal and the learned strategies."""

    def sections(self, solved: SolvedTask) -> list[Section]:
        script = beside(__file__, "strategy_maps.js")
        return [Section("Strategy maps", _strategy_maps(solved, grid_of(solved.table)), script)]


def _strategy_maps(solved: SolvedTask, grid: CombatGrid) -> str:
    optimal = solved.solution
    data = {
        "differences": grid.differences,
        "shape": grid.shape,
        "colours": VIRIDIS,
        "optimal": _map(grid, optimal.values, grid.codes(optimal.policies[0])),
        "learned": [
            {"name": solved_agent.agent.name, **_learned_map(solved, grid, solved_agent)}
            for solved_agent in solved.agents
        ],
    }
    template = beside(__file__, "strategy_maps.html")
    if not solved.agents:
        template = re.sub(r'<span class="learned-note">.*?</span>', "", template, flags=re.DOTALL)
    if grid.best != 1:
        template = template.replace("probability of\nvictory", _SCORE).replace(_VICTORY, _SCORE)
    return template.replace("{{data}}", script_json(data))


def _learned_map(solved: SolvedTask, grid: CombatGrid, agent: ScoredAgent) -> dict[str, Any]:
    """An agent's map; its codes have 4 added where they differ, 8 where that costs something.

    Its losses are in 255ths of the largest loss, which is in the units of the values.
    """
    [policy], [location] = agent.policies, agent.locations
    codes = grid.codes(policy)
    differs = codes != grid.codes(solved.solution.policies[0])
    loss = np.where(grid.states >= 0, location.loss[grid.states], 0.0).max(axis=1)
    costs = loss > _COSTLY
    drawn = _map(
        grid, policy_value(solved.table, policy), codes + 4 * differs + 4 * (differs & costs)
    )
    most = float(loss.max())
    shares = np.round(loss / most * 255) if most > _COSTLY else np.zeros(len(loss))
    losses = base64.b64encode(shares.astype(np.uint8).tobytes()).decode()
    return {**drawn, "losses": losses, "largest": most / grid.best}


def _map(grid: CombatGrid, values: Floats, codes: Ints) -> dict[str, str]:
    """Encode codes as hexadecimal digits, and values before a round as 16-bit shares of the best.

    Args:
        grid: The grid.
        values: [S] the values of states.
        codes: [C] the codes.
    """
    there = grid.states >= 0
    before = (grid.weight * np.where(there, values[grid.states] / grid.best, 0.0)).sum(axis=1)
    shares = np.where(there.any(axis=1), np.round(before * (ABSENT - 1)), ABSENT)
    return {
        "values": base64.b64encode(shares.astype("<u2").tobytes()).decode(),
        "codes": "".join(f"{code:x}" for code in codes.tolist()),
    }
