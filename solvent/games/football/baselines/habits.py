"""Football players with habits: fixed shares of runs and passes, and tendencies by situation.

**Run-heavy and pass-heavy** players call runs and passes in a fixed proportion, all runs alike and
all passes alike; their defence sets itself for runs in the same proportion.

**Tendencies** are those of a player who goes by down and distance, as people do: the shorter the
distance, the more runs; the longer it is, the deeper the run or the pass. The defence expects the
usual run or pass and sets itself for it. The numbers are this project's own.

On the last down all of them kick a field goal where its chance is at least a third, else they
punt from punt formation; those with tendencies go for a short distance beyond midfield. They take
penalties or plays as McCulloch's agent does (:mod:`solvent.games.football.baselines.agent`).

Which plays run follows the model that makes charts (:mod:`solvent.games.football.chart_model`), and
the lower half of the defences is set for runs.
"""

from __future__ import annotations

import numpy as np

from solvent.games.football.baselines.agent import result_utilities
from solvent.games.football.chart_model import LAST_RUN
from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.backup import Strategies
from solvent.model.arrays import Bools, Floats, Ints

SHORT, MEDIUM = 3, 7
"""Yards to go up to which a distance is short, and medium."""

USUAL_RUNS = ((0.7, 0.6, 0.5), (0.65, 0.5, 0.35), (0.7, 0.25, 0.1))
"""The share of runs on first, second, and any later down, at short, medium and long distances."""

SURE_FIELD_GOAL = 1 / 3


def run_or_pass_strategies(run_share: float, rules: PackedRules) -> Strategies:
    """Return strategies with a fixed share of runs, and of defences against runs.

    Args:
        run_share: Share of runs; the others are passes.
        rules: Chart and ruleset.
    """
    situations = rules.n_situations
    share = np.full((situations, 1), run_share)
    runs, stops = run_plays(rules), run_defences(rules)
    calls = share * runs / runs.sum() + (1 - share) * ~runs / max((~runs).sum(), 1)
    defence = share * stops / stops.sum() + (1 - share) * ~stops / max((~stops).sum(), 1)
    defence /= defence.sum(axis=1, keepdims=True)
    return _strategies(rules, calls, defence, np.zeros(situations, bool))


def habit_strategies(rules: PackedRules) -> Strategies:
    """Tendencies by down and distance."""
    _, to_go, to_goal, _ = rules.situation.astype(np.int64).T
    table = np.array(USUAL_RUNS)
    down, distance = situation_classes(rules)
    share = table[np.minimum(down, len(table) - 1), distance][:, None]
    depth = np.minimum(to_go / rules.ruleset.first_down, 1.0)
    runs = run_plays(rules)
    calls = np.zeros((len(to_go), rules.chart.plays))
    calls[:, runs] = share * _around(depth, int(runs.sum()))
    calls[:, ~runs] = (1 - share) * _around(depth, int((~runs).sum()))
    defence = _around(1 - share[:, 0], rules.chart.defences)
    goes = (to_go <= SHORT) & (2 * to_goal <= rules.ruleset.field)
    return _strategies(rules, calls, defence, goes)


def situation_classes(rules: PackedRules) -> tuple[Ints, Ints]:
    """The down from 0 on, and the distance: 0 short, 1 medium, 2 long; [S] each."""
    down, to_go = (rules.situation[:, column].astype(np.int64) for column in (0, 1))
    return down - 1, np.digitize(to_go, (SHORT + 1, MEDIUM + 1)).astype(np.int64)


def run_plays(rules: PackedRules) -> Bools:
    """Return a mask of the plays that run, [n]."""
    plays = np.arange(rules.chart.plays)
    return np.asarray(1000 * plays < LAST_RUN * max(rules.chart.plays - 1, 1))


def run_defences(rules: PackedRules) -> Bools:
    """Return a mask of the defences that are set for runs, [m]."""
    return np.asarray(2 * np.arange(rules.chart.defences) < rules.chart.defences)


def _around(centre: Floats, size: int) -> Floats:
    """Distributions [S, size] that fall to both sides of a centre in [0, 1], to 0 within a half."""
    place = (np.arange(size) + 0.5) / size
    weight = np.maximum(0.5 - np.abs(place - np.clip(centre, 0, 1)[:, None]), 0.0) + 1e-3
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _strategies(rules: PackedRules, calls: Floats, defence: Floats, goes: Bools) -> Strategies:
    """Plays restricted to legal ones, with kicks on the last down.

    Args:
        rules: Chart and ruleset.
        calls: [S, n] how often each play is called.
        defence: [S, m].
        goes: [S] whether no kick is wanted even on the last down.
    """
    plays = rules.chart.plays
    offence = np.zeros(rules.legal.shape)
    offence[:, :plays] = calls * rules.legal[:, :plays]
    # A chart may have no run or no legal pass.
    nothing = ~offence.any(axis=1)
    offence[nothing, :plays] = rules.legal[nothing, :plays]
    offence /= offence.sum(axis=1, keepdims=True)

    down, _, to_goal, punting = rules.situation.T
    chance = np.array(
        [float(rules.ruleset.field_goal_chance(x)) for x in range(rules.ruleset.field)]
    )[to_goal]
    kicks = (down == rules.ruleset.downs) & ~goes
    field_goal = kicks & (chance >= SURE_FIELD_GOAL) & (punting == 0)
    for where, action in ((field_goal, plays + 1), (kicks & ~field_goal, plays + 2)):
        offence[where] = 0.0
        offence[where, action] = 1.0
    _, choices = result_utilities(rules)
    return Strategies(offence, np.broadcast_to(defence, (len(offence), defence.shape[1])), choices)
