"""Baseline policies for Football Strategy: McCulloch's agent, and players with habits.

**The published agent** for Football Strategy (McCulloch 2015) is here in full but for the clock.
Every call is one matrix game. Its payoffs are *utilities*, yards adjusted by constants, and both
sides randomize as the equilibrium of that matrix says. The utility of a result is the sum of

- the yards gained by the offence, counted to where the ball is afterwards, whoever has it; a field
  goal gains none;
- the **first-down bonus**: all of it for a first down or a touchdown; else the share that is
  *prorated*, times yards gained / yards to go, at least -1; and a share more if the second or third
  down that follows is favourable, which it is after a gain of some yards;
- the **touchdown** bonus, taken from the offence for a touchdown of the defence; a field goal gets
  3/7 of it;
- minus the **turnover** penalty where the ball is lost, by punting too;
- minus the **safety** penalty;
- on the last down, minus a smaller penalty in place of the turnover's whenever the ball is lost,
  also on downs and by a field goal that is missed;
- a constant for a penalty, of either side.

On the last down the offence takes the best of three: a normal call, punt formation with its fakes,
or a field goal. The agent tries none before. The side that may choose between a penalty and
a play takes the one with more utility to it.

**The constants.** The paper gives no figures for them, which were found by trial and error against
people. It says that the first-down bonus is prorated "for each yard gained", that a favourable down
gets a fixed share of it, that the turnover's constant is larger than the touchdown's and the last
down's smaller. It does not say what is favourable, nor how much is prorated. But its Tables 1 and 2
print the agent's mixed strategies in one situation, first and ten at the offence's own 20. They
were fitted on the Ball Control chart of the printed game, which is under copyright and no part of
this package. They are matched best by

    first_down 51.8, share 0.02, favourable_share 0.30, favourable_gain 4, turnover 261, penalty -8

with every probability within 1.3 percentage points, 5.0 points in the sum of both tables, and the
same calls of positive probability on both sides; share 0 comes to 5.3. Prorating the whole bonus
comes to 48.5 at best. So the printed agent values the first down by a jump. An owner of the chart
repeats the fit by ``benchmarks/football_constants.py``. The tables do not depend on the other three
constants, since no touchdown, safety or last down is near there: touchdown 40, safety 30 and
last_down 20 are this project's.

**What -8 for a penalty means** was not recorded with the fit. It may be added to the utility of the
penalty's yards, or be the whole utility of a penalty (`penalty_alone`). Without the printed chart
the tables cannot tell: none of its five published cells is a penalty. With the chart they can. On
the standard chart the two readings differ by 120 percentage points in the situation of the tables,
and constants of the one that are fitted to strategies of the other stay more than 5 points away,
while those of the right one match exactly. Until an owner of the chart decides, the agent adds, for
two reasons. The paper modifies the chart "by adding (or subtracting) values to each table entry".
And on the standard chart a best response keeps the defence of the other reading in place by
penalties for ever, so that it has no exploitability.

**Run-heavy and pass-heavy** players call runs and passes in a fixed proportion, all runs alike and
all passes alike; their defence sets itself for runs in the same proportion.

**Tendencies** are those of a player who goes by down and distance, as people do: the shorter the
distance, the more runs; the longer it is, the deeper the run or the pass. The defence expects the
usual run or pass and sets itself for it. The numbers are this project's own.

On the last down players with habits kick a field goal where its chance is at least a third, else
they punt from punt formation; those with tendencies go for a short distance beyond midfield. They
take penalties or plays as McCulloch's agent does. Which plays run follows the model that makes
charts (:mod:`solvent.games.football.chart_model`), and the lower half of the defences is set for
runs.

**By name** there are ``optimal``, the equilibrium by :mod:`solvent.games.football.solver`;
``paper-agent``; ``fitted-agent``, the same with constants fitted to the exact values of the
standard chart; and ``run-heavy``, ``pass-heavy`` and ``tendencies``. All but the first kick off in
the ordinary way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from solvent.baselines import Baseline
from solvent.baselines.named import optimal
from solvent.games.football.chart import PENALTIES
from solvent.games.football.chart_model import LAST_RUN
from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.backup import Strategies, backup_of, contests
from solvent.games.football.solver.solved import football_table
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum

# The value of a field goal in units of a touchdown (the paper's section on the matrix).
_FIELD_GOAL_SHARE = 3 / 7


@dataclass(frozen=True)
class Constants:
    """The agent's constants, in yards unless it says otherwise; the module's text has their source.

    Attributes:
        first_down: Added for a first down.
        touchdown: Added for a touchdown.
        turnover: Taken for losing the ball before the last down.
        safety: Taken for a safety.
        last_down: Taken for losing the ball on the last down.
        penalty: Added for a penalty of either side.
        share: The share of `first_down` that is prorated by yards gained / yards to go. With 1 the
            bonus grows evenly up to the first down, with 0 it is a jump there.
        favourable_share: The share of `first_down` that is added for a favourable second or third
            down.
        favourable_gain: Yards gained from which on the down that follows is favourable.
        penalty_alone: Whether `penalty` is all that a penalty counts, its yards and what follows
            from them included.

    """

    first_down: float = 51.8
    touchdown: float = 40.0
    turnover: float = 261.0
    safety: float = 30.0
    last_down: float = 20.0
    penalty: float = -8.0
    share: float = 0.02
    favourable_share: float = 0.30
    favourable_gain: float = 4.0
    penalty_alone: bool = False

    @property
    def weights(self) -> Floats:
        """The weight of each of :func:`utility_terms`."""
        bonus = self.first_down * np.array((1.0, self.share, self.favourable_share))
        others = self.touchdown, self.turnover, self.safety, self.last_down, self.penalty
        return np.array((1.0, *bonus, *others))


PAPER = Constants()

# From a regression of exact values on the standard chart, which
# ``benchmarks/football_constants.py --values`` repeats.
FITTED = Constants(
    first_down=29.324,
    touchdown=14.834,
    turnover=41.916,
    safety=16.012,
    last_down=39.339,
    penalty=4.040,
    share=0.12526,
    favourable_share=0.20498,
)


def agent_strategies(rules: PackedRules, constants: Constants = PAPER) -> Strategies:
    """Return the agent's calls in every situation, and the penalties it takes.

    Args:
        rules: Chart and ruleset.
        constants: Constants of the agent.

    Returns:
        Strategies [S, A] and [S, m], and the choices [S, C], 1 where the penalty is taken.
    """
    return strategies_of_utilities(rules, utilities(rules, constants))


def strategies_of_utilities(rules: PackedRules, utility: Floats) -> Strategies:
    """Return the agent's strategies for given utilities.

    Args:
        rules: Chart and ruleset.
        utility: [S R] utilities of results to the offence; those of choices are filled in.

    Returns:
        Strategies [S, A] and [S, m], and the choices [S, C], 1 where the penalty is taken.
    """
    backup, plays = backup_of(rules), rules.chart.plays
    # A field goal and declaring punt formation have no reply by the defence, so they are compared
    # with the call and not mixed with it.
    utility, choices = backup.choose(utility)
    found = contests(backup.payoffs(utility), backup.contested, backup.uniform)
    offence, value = found.row_strategy, found.value
    punting = rules.situation[:, 3] == 1

    # The last down in normal and then in punt formation: two blocks in the same order.
    last, formation = np.split(np.arange(len(value))[-2 * int(punting.sum()) :], 2)
    kick = np.where(rules.legal[last, plays + 1], utility[last, rules.arrays.results - 2], -np.inf)
    best = np.argmax([value[last], value[formation], kick], axis=0)
    for option, action in ((1, plays + 2), (2, plays + 1)):
        chosen = last[best == option]
        offence[chosen] = 0.0
        offence[chosen, action] = 1.0
    return Strategies(offence, found.column_strategy, choices)


def utilities(rules: PackedRules, constants: Constants = PAPER) -> Floats:
    """[S R] the utility to the offence of every result but choices, by situation."""
    return constants.weights @ utility_terms(rules, constants).T


def utility_terms(
    rules: PackedRules, constants: Constants = PAPER, situations: slice = slice(None)
) -> Floats:
    """Return the terms of a result's utility, to be weighted by :attr:`Constants.weights`.

    Args:
        rules: Chart and ruleset.
        constants: Say what is favourable, and whether a penalty's constant stands alone.
        situations: The situations, by number.

    Returns:
        [S (R), 9]: expected yards; first downs; yards gained / yards to go, where there is no
        first down; favourable downs; touchdowns; the three losses as negative numbers; penalties.
        Results of a situation are side by side, choices are 0.
    """
    first, last, _ = (rules.arrays.results * s for s in situations.indices(rules.n_situations))
    branches = slice(*rules.arrays.branch_start[[first, last]].tolist())
    row, probability = branch_row(rules)[branches], rules.arrays.branch_probability[branches]
    columns = [
        grouped_sum(row - first, probability * column, last - first)
        for column in _branch_terms(rules, constants, row, branches)
    ]
    return np.stack(columns, axis=1)


def branch_row(rules: PackedRules) -> Ints:
    """[N] the situation and result of every branch, ``situation * R + result``; kicks at last."""
    return np.repeat(
        np.arange(len(rules.arrays.branch_start) - 1), np.diff(rules.arrays.branch_start)
    )


def _branch_terms(
    rules: PackedRules, constants: Constants, row: Ints, branches: slice
) -> list[Floats]:
    """The terms of branches, [N] each; `row` is theirs of :func:`branch_row`."""
    branch = rules.branches[branches]
    points, same, goes_on = branch["points"], branch["same_side"], branch["row"] < len(rules.legal)
    at, result = np.divmod(row, rules.arrays.results)
    down, to_go, to_goal = rules.situation[at, :3].astype(float).T
    next_down, next_to_go, next_to_goal = (
        rules.situation[np.where(goes_on, branch["row"], 0), :3].astype(float).T
    )
    kept, lost = goes_on & same, goes_on & ~same
    kick = result == rules.arrays.results - 2
    scored = ~goes_on & (points > 0)
    touchdown = scored & ~kick
    safety = ~goes_on & (points < 0) & same
    conceded = ~goes_on & (points < 0) & ~same

    field = rules.ruleset.field
    spot = np.select([kept, lost, scored], [next_to_goal, field - next_to_goal, 0.0], field)
    yards = np.where(kick, 0.0, to_goal - spot)
    # A penalty on first down leaves a first down, but what is left to go says that none was made.
    made = kept & (next_down == 1) & ((down > 1) | (next_to_go != to_go - yards))
    follows = kept & (down < next_down) & np.isin(next_down, (2, 3))
    favourable = follows & (yards >= constants.favourable_gain)
    prorated = np.where(kept & ~made, np.maximum(yards / to_go, -1.0), 0.0)
    penalized = np.array([result.kind in PENALTIES for result in rules.chart.results] + [False] * 2)
    last = down == rules.ruleset.downs
    terms = [
        yards,
        1.0 * (touchdown | made),
        prorated,
        1.0 * favourable,
        1.0 * touchdown + _FIELD_GOAL_SHARE * (scored & kick) - conceded,
        -1.0 * (~last & (lost | conceded)),
        -1.0 * safety,
        -1.0 * (last & (lost | conceded)),
    ]
    if constants.penalty_alone:
        terms = [term * ~penalized[result] for term in terms]
    return [*terms, 1.0 * penalized[result]]


# Yards to go up to which a distance is short, and medium.
_SHORT, _MEDIUM = 3, 7

# The share of runs on first, second, and any later down, at short, medium and long distances.
_USUAL_RUNS = ((0.7, 0.6, 0.5), (0.65, 0.5, 0.35), (0.7, 0.25, 0.1))

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
    table = np.array(_USUAL_RUNS)
    down, distance = situation_classes(rules)
    share = table[np.minimum(down, len(table) - 1), distance][:, None]
    depth = np.minimum(to_go / rules.ruleset.first_down, 1.0)
    runs = run_plays(rules)
    calls = np.zeros((len(to_go), rules.chart.plays))
    calls[:, runs] = share * _around(depth, int(runs.sum()))
    calls[:, ~runs] = (1 - share) * _around(depth, int((~runs).sum()))
    defence = _around(1 - share[:, 0], rules.chart.defences)
    goes = (to_go <= _SHORT) & (2 * to_goal <= rules.ruleset.field)
    return _strategies(rules, calls, defence, goes)


def situation_classes(rules: PackedRules) -> tuple[Ints, Ints]:
    """The down from 0 on, and the distance: 0 short, 1 medium, 2 long; [S] each."""
    down, to_go = (rules.situation[:, column].astype(np.int64) for column in (0, 1))
    return down - 1, np.digitize(to_go, (_SHORT + 1, _MEDIUM + 1)).astype(np.int64)


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
    choices = backup_of(rules).choose(utilities(rules))[1]
    return Strategies(offence, np.broadcast_to(defence, (len(offence), defence.shape[1])), choices)


STRATEGIES: Mapping[str, Callable[[PackedRules], Strategies]] = {
    "paper-agent": agent_strategies,
    "fitted-agent": partial(agent_strategies, constants=FITTED),
    "run-heavy": partial(run_or_pass_strategies, 0.8),
    "pass-heavy": partial(run_or_pass_strategies, 0.2),
    "tendencies": habit_strategies,
}
"""Strategies of all baselines except ``optimal``, by name."""


def suits_football(game: TabularGame, player: int = 0) -> bool:
    """Return True for a table of Football Strategy whose rules are known from its parameters.

    Args:
        game: Any table.
        player: Either player; both have the same baselines.
    """
    return football_table(game) is not None


def football_policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """One of :data:`STRATEGIES` as a policy of either player."""
    table = football_table(game)
    assert table is not None
    return table.policy(STRATEGIES[name](table.rules), player, name=name)


def optimal_football(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return a player's equilibrium policy, from football's own solver where it applies.

    The general solver is used instead for two charts until the next score, for a kickoff value that
    is not the endless game's, for a table that is not determined by its parameters or in which one
    side's policy is already fixed, and where football's own solver cannot prove a bracket. Each
    table is solved once.

    Args:
        game: A table of Football Strategy.
        player: 0 or 1.
    """
    folded = any(mask.shape[1] == 1 for mask in game.mask)
    table = None if folded else football_table(game)
    policies = table and table.optimal
    return policies[player] if policies else optimal(game, player)


BASELINES: Mapping[str, Baseline] = {
    "optimal": Baseline(optimal_football, lambda *_: True, "An equilibrium, by the exact solver."),
    **{
        name: Baseline(partial(football_policy, name), suits_football, description)
        for name, description in {
            "paper-agent": "McCulloch's agent (2015): its calls solve a matrix game of yards.",
            "fitted-agent": "McCulloch's agent with constants fitted to exact values of one chart.",
            "run-heavy": "Calls a run in 80% of normal downs.",
            "pass-heavy": "Calls a run in 20% of normal downs.",
            "tendencies": "Follows a coach's habits by down and distance.",
        }.items()
    },
}
