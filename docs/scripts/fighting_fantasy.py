"""What Johnston 2022 computes of Fighting Fantasy combat: the strategies, figures 1, 2 and 4.

    python docs/scripts/fighting_fantasy.py

writes ``ff-without-luck.svg`` and ``ff-constant-luck.svg`` into ``docs/games/`` and prints the two
classification trees, which ``solvent.games.fighting_fantasy.baselines`` keeps as data.

Figures 1 and 2 set equations 6 and 13 beside combats that are fought in the vector environment.
The left panel of each has a dot for every start, the probability of victory by the equation along
and the share of victories in the simulation upwards. The right panel has the same probability
against the SKILL difference, lines by the equation and dots by the simulation.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from classification_tree import ClassificationTree, fit_tree
from johnston import (
    victory_with_constant_luck,
    victory_without_luck,
)
from rows_of_two import side_by_side

from solvent import compile_game, solve
from solvent.envs import VectorEnv
from solvent.exact import policy_value
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.baselines import BOTH, ON_LOST, ON_WON, combat_policy
from solvent.games.fighting_fantasy.rules import (
    KEEP,
    TEST,
    Combat,
    luck_succeeds,
    round_probabilities,
)
from solvent.model import TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.report import panel
from solvent.report.panel import ALGORITHMS, Axis, Panel, keys

FOLDER = Path(__file__).parents[1] / "games"

ADVANTAGE = 1e-10
"""Relative gain by a test above which the paper tests LUCK (section 2.3)."""

CP = {"standard": 0.0065, "three": 0.01}
"""Complexity parameters of the paper's tree, and of its tree for the variant damage."""

ROUNDING = 1e-12
"""Relative difference below which two values count as equal."""

SEED = 2022
"""Seed of the simulations."""


FEATURES = ("difference", "luck", "hero", "opponent")
"""What the classification tree asks for, in the paper's order."""


class Box(NamedTuple):
    """All combats with STAMINAs up to 24, LUCK up to 12 and a SKILL difference within -10..10.

    Attributes:
        tests: [21, 24, 24, 13, 2] whether LUCK is tested after a round (won, lost), by difference,
            STAMINAs from 1, and LUCK.
        value: [21, 24, 24, 13] probability of victory before the round.
    """

    tests: Bools
    value: Floats

    @property
    def codes(self) -> Ints:
        """[21, 24, 24, 13] the codes of Fig. 3: never, always, after lost rounds, after won."""
        won, lost = np.moveaxis(self.tests, -1, 0)
        return np.select([won & lost, lost, won], [BOTH, ON_LOST, ON_WON], 0)

    def points(self) -> tuple[Ints, Ints]:
        """Every point of the box, [M, 4] as FEATURES, with its code, [M]."""
        row, hero, opponent, luck = np.indices(self.value.shape).reshape(4, -1)
        return np.stack((row - 10, luck, hero + 1, opponent + 1), axis=1), self.codes.reshape(-1)


def box(damage: str = "standard", *, exact: bool = False) -> Box:
    """Solve the paper's box with the table of the rules.

    LUCK is tested by the paper's rule, given that it is tested by the same rule later on. Close to
    certain victory that rule hides real differences. With `exact` a test is better if it leaves
    less of the defeat probability, where that is the smaller one, by more than rounding.

    A round that cannot end as it did (won at a difference of -10, lost at 10) has a strategy too,
    and the paper's trees are grown from it. Its state is not in the table, so the values that
    follow it decide.

    Args:
        damage: Name of the damage table.
        exact: Compare exactly instead of by the paper's rule.
    """
    return _solved_box(damage, exact)


@cache
def _solved_box(damage: str, exact: bool) -> Box:
    """The same, once for each damage and rule, however they are passed."""
    game = FightingFantasy((-10, 10), (1, 24), (1, 24), (0, 12), damage=damage)
    table = compile_game(game)
    [choices] = np.nonzero(np.diff(table.row_start) == 2)
    keep = table.row_start[choices]
    tested = np.zeros(table.n_states, np.bool_)
    if exact:
        solution = solve(table)
        values, won = solution.values, solution.action_values
        at_the_end = table.terminal[table.next_state]
        lost = -solve(
            replace(table, outcome_reward=table.outcome_reward - at_the_end)
        ).action_values
        tested[choices] = np.where(
            lost[keep] < won[keep],
            lost[keep] > (1 + ROUNDING) * lost[keep + 1],
            won[keep + 1] > (1 + ROUNDING) * won[keep],
        )
    else:
        before = ~tested
        while (tested != before).any():
            before = tested
            policy = TabularPolicy.deterministic(table, np.where(before, TEST, KEEP))
            values = policy_value(table, policy)
            rows = table.expectation(values)
            tested = np.zeros(table.n_states, np.bool_)
            tested[choices] = rows[keep + 1] > (1 + ADVANTAGE) * rows[keep]

    tests, value = np.zeros((21, 24, 24, 13, 2), np.bool_), np.zeros((21, 24, 24, 13))
    live = np.flatnonzero(~table.terminal)
    states = [cast(Combat, table.states[s]) for s in live.tolist()]
    row, hero, opponent, luck = np.array([state[:4] for state in states]).T
    at = row + 10, hero - 1, opponent - 1, luck
    after = np.array([state.round == "lost" for state in states]).astype(np.int64)
    chances = np.array(
        [[float(game.next_round(d).get(r, 0)) for r in ("won", "lost")] for d in range(-10, 11)]
    )
    tests[*at, after] = tested[live]
    np.add.at(value, at, chances[row + 10, after] * values[live])

    value_of = dict(zip(table.states, values.tolist(), strict=True))
    for difference, r, name in ((-10, 0, "won"), (10, 1, "lost")):
        for h, o, x in np.ndindex(24, 24, 13):
            state = Combat(difference, h + 1, o + 1, x, name)
            kept, test = (
                sum(
                    float(out.probability) * (float(out.reward) + value_of.get(out.state, 0.0))
                    for out in game.transition(state, (action,))
                )
                for action in (KEEP, TEST)
            )
            tests[difference + 10, h, o, x, r] = x > 0 and test > (1 + ADVANTAGE) * kept
    return Box(tests, value)


@cache
def paper_tree(damage: str = "standard") -> ClassificationTree:
    """Grow Fig. 4's tree from the strategies by the paper's method.

    Published are "58%" for the standard damage and "45%" for the variant in which a lucky hit
    deals 3. These are not shares of points classified correctly, which are 84.7% and 87.7%, but
    shares of errors saved, 1 - relative error: 57.5% and 44.3%.

    Args:
        damage: Name of the damage table.
    """
    return fit_tree(*box(damage).points(), FEATURES, cp=CP[damage])


class Start(NamedTuple):
    """The statistics with which a combat begins."""

    difference: int
    hero: int
    opponent: int
    luck: int


class Tally(NamedTuple):
    """Combats from one start: how many were fought, and their scores added up."""

    fought: int
    score: float

    @property
    def mean(self) -> float:
        """The mean score, which is the share of victories unless what is kept counts."""
        return self.score / self.fought


def simulate(
    game: FightingFantasy, rule: str, combats: int, seed: int, *, num_envs: int = 1000
) -> Mapping[Start, Tally]:
    """Fight combats, each to its end, and count by start.

    Args:
        game: The combats; starts are drawn from its distribution.
        rule: When LUCK is tested, the name of a baseline.
        combats: How many in each environment. All fight as many, however long they take, so that
            short combats are not counted more often.
        seed: Seed of all dice.
        num_envs: How many environments are stepped together.
    """
    table = compile_game(game)
    tests = combat_policy(rule, table).probabilities.argmax(axis=1)
    env = VectorEnv(table, num_envs, rules=game, observation="index")
    fought, score = np.zeros(table.n_states, np.int64), np.zeros(table.n_states)
    left = np.full(num_envs, combats)
    state, _ = env.reset(seed=seed)
    begun, begins = state, np.zeros(num_envs, np.bool_)
    while left.any():
        state, reward, over, _, _ = env.step(tests[state])
        begun = np.where(begins, state, begun)
        counted = left > 0
        np.add.at(score, begun[counted], reward[counted])
        np.add.at(fought, begun[counted & over], 1)
        left -= counted & over
        begins = over
    env.close()
    tally: dict[Start, Tally] = {}
    for s in np.flatnonzero(fought).tolist():
        start = Start(*cast(Combat, table.states[s])[:4])
        so_far = tally.get(start, Tally(0, 0.0))
        tally[start] = Tally(so_far.fought + int(fought[s]), so_far.score + float(score[s]))
    return tally


def without_luck(start: Start) -> float:
    """Equation 6."""
    won, drawn, lost = map(float, round_probabilities(start.difference))
    return victory_without_luck((won, drawn, lost), start.hero, start.opponent)


def with_constant_luck(start: Start) -> float:
    """Equation 13, errata mended."""
    won, drawn, lost = map(float, round_probabilities(start.difference))
    return victory_with_constant_luck(
        (won, drawn, lost), float(luck_succeeds(start.luck)), start.hero, start.opponent
    )


class Figure(NamedTuple):
    """One of figures 1 and 2.

    Attributes:
        title: Title of the picture.
        game: The combats that are fought.
        rule: When LUCK is tested in them.
        equation: Probability of victory from a start.
        lines: The starts of each line of the right panel, at a difference of 0, by its name.
    """

    title: str
    game: FightingFantasy
    rule: str
    equation: Callable[[Start], float]
    lines: Mapping[str, Start]


FIGURES = {
    "ff-without-luck": Figure(
        "Victory without LUCK: equation 6 and simulation",
        FightingFantasy([-10, 10], {4: 1, 8: 1, 24: 1}, {4: 1, 8: 1, 24: 1}, 0),
        "never",
        without_luck,
        {
            f"{hero} : {opponent}": Start(0, hero, opponent, 0)
            for hero, opponent in ((24, 8), (24, 24), (8, 8), (4, 4), (8, 24))
        },
    ),
    "ff-constant-luck": Figure(
        "Victory if LUCK is tested after every round won and never used up: equation 13 and "
        "simulation",
        FightingFantasy(
            [-6, 6], {8: 1, 24: 1}, {8: 1, 24: 1}, {5: 1, 7: 1, 9: 1, 12: 1}, luck_cost=0
        ),
        "offensive",
        with_constant_luck,
        {f"LUCK {luck}": Start(0, 24, 24, luck) for luck in (12, 9, 7, 5)},
    ),
}


@cache
def simulated(name: str) -> Mapping[Start, Tally]:
    """Fight the combats of a figure: 1,000 for each start on average, as in the paper."""
    figure = FIGURES[name]
    starts = {outcome.state[:4] for outcome in figure.game.initial()}
    return simulate(figure.game, figure.rule, len(starts), SEED, num_envs=1000)


def picture(name: str) -> str:
    """Draw both panels of a figure as one SVG."""
    figure, tally = FIGURES[name], simulated(name)
    differences = sorted({start.difference for start in tally})
    probability = Axis(0.0, 1.0)
    scatter = Panel("formula and simulation", "simulation", probability, probability, "equation")
    scatter.line([0, 1], [0, 1], "#9aa4ac", "equal", dashed=False)
    scatter.dots(
        [figure.equation(start) for start in tally],
        [found.mean for found in tally.values()],
        ALGORITHMS[0],
    )
    curves = Panel(
        "by SKILL difference",
        "probability of victory",
        Axis(float(min(differences)), float(max(differences))),
        probability,
        "SKILL difference",
    )
    for colour, (line, start) in zip(ALGORITHMS, figure.lines.items(), strict=False):
        along = [start._replace(difference=d) for d in differences]
        curves.line(differences, [figure.equation(at) for at in along], colour, line, dashed=False)
        curves.dots(differences, [tally[at].mean for at in along], colour)
    room = panel.WIDTH - panel.LEFT - panel.RIGHT
    legend = keys([*figure.lines], ALGORITHMS[: len(figure.lines)], panel.LEFT, panel.HEIGHT + 6,
                  room)  # fmt: skip
    return side_by_side(
        figure.title,
        [scatter.inside(), curves.inside() + legend],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


if __name__ == "__main__":
    panel.write_pictures(FOLDER, {f"{name}.svg": picture(name) for name in FIGURES})
    for damage in CP:
        print(f"{damage}:\n{paper_tree(damage)}\n")
