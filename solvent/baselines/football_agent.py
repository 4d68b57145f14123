"""The published agent for Football Strategy (McCulloch 2015), in full but for the clock.

Every call is one matrix game. Its payoffs are *utilities*, yards adjusted by five constants, and
both sides mix as the equilibrium of that matrix says. The utility of a result is the sum of

- the yards gained by the offence, counted to where the ball is afterwards, whoever has it; a field
  goal gains none;
- the **first-down bonus**: all of it for a first down or a touchdown, else the share yards gained /
  yards to go of it, at least -1, and a fixed share more if the second or third down that follows is
  favourable;
- the **touchdown** bonus, taken from the offence for a touchdown of the defence; a field goal gets
  3/7 of it;
- minus the **turnover** penalty where the ball is lost, by punting too;
- minus the **safety** penalty;
- on the last down, minus a smaller penalty in place of the turnover's whenever the ball is lost,
  also on downs and by a field goal that is missed.

On the last down the offence takes the best of three: a normal call, punt formation with its fakes,
or a field goal. The agent tries none before. Who may choose between a penalty and a play takes what
is worth more by the same utilities.

The paper gives no figures for the constants, which were found by trial and error against people;
it only says that the turnover's is larger than the touchdown's and the last down's smaller. Nor
does it say what is favourable. The defaults here are ours.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from solvent.exact.kernels.football_answers import Mixes
from solvent.exact.matrix_game import solve_matrix_games
from solvent.games.football.packed import PackedRules
from solvent.model.arrays import Floats, Ints, grouped_sum

FIELD_GOAL_SHARE = 3 / 7
"""What a field goal is worth in units of a touchdown (the paper's section on the matrix)."""

FAVOURABLE_SHARE = 0.25
"""The share of the first-down bonus for a favourable second or third down."""

FAVOURABLE = {2: 5, 3: 2}
"""Yards to go up to which a down is favourable."""


@dataclass(frozen=True)
class Constants:
    """The agent's five constants, in yards.

    Attributes:
        first_down: Added for a first down, or a share of it for a part of the way.
        touchdown: Added for a touchdown.
        turnover: Taken for losing the ball before the last down.
        safety: Taken for a safety.
        last_down: Taken for losing the ball on the last down.

    Raises:
        ValueError: If one is not a finite number.
    """

    first_down: float = 10.0
    touchdown: float = 40.0
    turnover: float = 50.0
    safety: float = 30.0
    last_down: float = 20.0

    def __post_init__(self) -> None:
        """Check that all are numbers."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ValueError(f"{item.name} is {value!r}; allowed are numbers")
            if not np.isfinite(value):
                raise ValueError(f"{item.name} is {value!r}; allowed are finite numbers")

    @property
    def weights(self) -> Floats:
        """What each of :func:`utility_terms` counts."""
        return np.array((1.0, *astuple(self)))


PAPER = Constants()


def agent_mixes(rules: PackedRules, constants: Constants = PAPER) -> Mixes:
    """What the agent calls in every situation, and which penalties it takes.

    Args:
        rules: Chart and ruleset.
        constants: The agent's.

    Returns:
        Mixes [S, A] and [S, m], and the choices [S, C], 1 where the penalty is taken.
    """
    return mixes_of_utilities(rules, *result_utilities(rules, constants))


def mixes_of_utilities(rules: PackedRules, worth: Floats, choices: Floats) -> Mixes:
    """The agent's mixes from what results are worth to it, as :func:`result_utilities` has them."""
    payoffs = call_payoffs(rules, worth)
    plays = rules.chart.plays
    offence = np.zeros(rules.legal.shape)
    defence = np.zeros((len(offence), rules.chart.defences))
    value = np.zeros(len(offence))

    # Situations with the same legal calls have matrices of one shape. What the defence cannot
    # answer, field goal and declaring, is weighed against the call, not mixed with it.
    called = rules.legal.copy()
    punting = rules.situation[:, 3] == 1
    called[:, plays + 1] = False
    called[~punting, plays + 2] = False
    patterns, which = np.unique(called, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        here = np.flatnonzero(which.reshape(-1) == p)
        rows = np.flatnonzero(pattern)
        calls = np.where(rows == plays + 2, plays + 3, rows)
        games = solve_matrix_games(payoffs[np.ix_(here, calls)])
        offence[np.ix_(here, rows)] = games.row_mix
        defence[here] = games.column_mix
        value[here] = games.value

    # The last down in normal and then in punt formation: two blocks in the same order.
    last, formation = np.split(np.arange(len(value))[-2 * int(punting.sum()) :], 2)
    kick = np.where(rules.legal[last, plays + 1], worth[last, field_goal(rules)], -np.inf)
    best = np.argmax([value[last], value[formation], kick], axis=0)
    for option, action in ((1, plays + 2), (2, plays + 1)):
        chosen = last[best == option]
        offence[chosen] = 0.0
        offence[chosen, action] = 1.0
    return Mixes(offence, defence, choices)


def field_goal(rules: PackedRules) -> int:
    """The number of the result that no chart holds, the field goal."""
    return len(rules.chart.results)


def result_utilities(rules: PackedRules, constants: Constants = PAPER) -> tuple[Floats, Floats]:
    """The utility of every result in every situation, and which choices the agent takes.

    Returns:
        [S, R + 2] to the offence, and [S, C] with 1 where the penalty is taken.
    """
    return choose_by_utility(rules, constants.weights @ utility_terms(rules).T)


def choose_by_utility(rules: PackedRules, worth: Floats) -> tuple[Floats, Floats]:
    """The utilities of choices filled in, and who takes what.

    Args:
        rules: Chart and ruleset.
        worth: [(R+2) S] or [S, R + 2] utilities; those of choices are not read.
    """
    worth = worth.reshape(-1, rules.n_results)
    found = np.flatnonzero(rules.option[:, 0] >= 0)
    choices = np.zeros((len(worth), len(found)))
    for c, result in enumerate(found.tolist()):
        penalty, play = worth[:, rules.option[result, 0]], worth[:, rules.option[result, 1]]
        takes = penalty > play if rules.chooser[result] == 0 else penalty < play
        choices[:, c] = takes
        worth[:, result] = np.where(takes, penalty, play)
    return worth, choices


def utility_terms(rules: PackedRules) -> Floats:
    """What a result's utility is the sum of, once weighted by :attr:`Constants.weights`.

    Returns:
        [S (R + 2), 6]: expected yards, share of the first-down bonus, touchdowns, and the three
        losses as negative numbers; results of a situation side by side, choices 0.
    """
    terms = _branch_terms(rules)
    row, rows = branch_row(rules), len(rules.branch_start) - 1
    columns = [grouped_sum(row, rules.probability * column, rows) for column in terms]
    return np.stack(columns, axis=1)


def branch_row(rules: PackedRules) -> Ints:
    """[N] the situation and result of every branch, ``situation * (R + 2) + result``."""
    return np.repeat(np.arange(len(rules.branch_start) - 1), np.diff(rules.branch_start))


def _branch_terms(rules: PackedRules) -> list[Floats]:
    """The terms of every branch, [N] each."""
    at, result = np.divmod(branch_row(rules), rules.n_results)
    down, to_go, to_goal = rules.situation[at, :3].astype(float).T
    next_down, next_to_go, next_to_goal = rules.situation[rules.next, :3].astype(float).T
    goes_on = rules.next >= 0
    kept, lost = goes_on & rules.same_side, goes_on & ~rules.same_side
    kick = result == field_goal(rules)
    scored = ~goes_on & (rules.points > 0)
    touchdown = scored & ~kick
    safety = ~goes_on & (rules.points < 0) & rules.same_side
    conceded = ~goes_on & (rules.points < 0) & ~rules.same_side

    field = rules.ruleset.field
    spot = np.select([kept, lost, scored], [next_to_goal, field - next_to_goal, 0.0], field)
    yards = np.where(kick, 0.0, to_goal - spot)
    # A penalty on first down leaves a first down, but what is left to go says that none was made.
    made = kept & (next_down == 1) & ((down > 1) | (next_to_go != to_go - yards))
    favourable = np.zeros(len(at), bool)
    for number, most in FAVOURABLE.items():
        favourable |= kept & (down < next_down) & (next_down == number) & (next_to_go <= most)
    share = np.where(made, 1.0, np.maximum(yards / to_go, -1.0)) + FAVOURABLE_SHARE * favourable
    last = down == rules.ruleset.downs
    return [
        yards,
        np.where(touchdown, 1.0, np.where(kept, share, 0.0)),
        1.0 * touchdown + FIELD_GOAL_SHARE * (scored & kick) - conceded,
        -1.0 * (~last & (lost | conceded)),
        -1.0 * safety,
        -1.0 * (last & (lost | conceded)),
    ]


def call_payoffs(rules: PackedRules, worth: Floats) -> Floats:
    """Payoff matrices from the worth of results, [S, R + 2] -> [S, n + 4, m]."""
    calls, defences = rules.chart.plays + 4, rules.chart.defences
    cell = np.repeat(np.arange(calls * defences), np.diff(rules.cell_start))
    weight = np.zeros((worth.shape[1], calls * defences))
    np.add.at(weight, (rules.cell_result, cell), rules.cell_probability)
    return np.asarray((worth @ weight).reshape(len(worth), calls, defences))
