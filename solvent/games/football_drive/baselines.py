"""Rules of thumb for a drive in football: a play for each down, distance and half of the field.

Patek and Bertsekas 1996 evaluate the 1,296 policies that an expert's rules of thumb allow. On first
down they pass. On second down they run if the distance to the line to gain is short, and otherwise
pass. On third and fourth down the play depends on whether the distance is short, and on whether the
other team's goal is near, at most 40 yards away:

* On third down, run or pass in each of the four cases (2^4).
* On fourth down, run, pass or kick in each of the four cases (3^4). The kick is a field goal near
  the goal and a punt far from it.

They print -1.26 for the best of these policies, and call a distance short if it is less than 3
yards. If 1 and 2 yards are short, the best policy has the value -1.311276 here, and -1.262774 if 3
yards are short as well. So the printed number belongs to at most 3 yards, the default here.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from solvent.baselines import Baseline
from solvent.games.football_drive.rules import KICK, PASS, PUNT, RUN
from solvent.model import TabularGame, TabularPolicy

# The longest short distance to the line to gain, in yards, by the published value.
_SHORT = 3

# The longest distance to the other team's goal line, in yards, that is called near.
_NEAR = 40


class RuleOfThumb(NamedTuple):
    """A play for each of eleven cases.

    Attributes:
        plays: [11] the play on first down; on second down with a short and with a longer distance
            to the line to gain; and on third and then on fourth down, near the other team's goal
            with a short and a longer distance, and far from it with a short and a longer one.
        short: The longest distance that is short, in yards.
    """

    plays: tuple[int, ...]
    short: int = _SHORT


DRIVE_RULES: Mapping[str, RuleOfThumb] = {
    "always-run": RuleOfThumb((RUN,) * 11),
    "always-pass": RuleOfThumb((PASS,) * 11),
    "kick-on-fourth": RuleOfThumb(
        (RUN, PASS, PASS, RUN, PASS, RUN, PASS, KICK, KICK, PUNT, PUNT), short=2
    ),
    "run-or-punt": RuleOfThumb((*(RUN,) * 10, PUNT), short=2),
    "patek-bertsekas": RuleOfThumb((PASS, RUN, PASS, RUN, PASS, RUN, PASS, RUN, KICK, RUN, PUNT)),
}
"""Rules by name. ``patek-bertsekas`` is the best of their 1,296."""


def rule_policy(rule: RuleOfThumb, game: TabularGame, name: str = "rule") -> TabularPolicy:
    """Return a rule as a policy for a table of the drive.

    Args:
        rule: The rule.
        game: The table.
        name: Name of the policy.
    """
    states: list[Any] = list(game.states)
    to_goal, to_go, down = np.array([state[:3] for state in states], np.int64).T
    short, near = to_go <= rule.short, to_goal <= _NEAR
    # The number of the case. Where the drive has ended, any number will do.
    case = 2 * ~near + ~short
    field = np.select([down <= 1, down == 2, down == 3], [0 * down, 1 + ~short, 3 + case], 7 + case)
    return TabularPolicy.deterministic(game, np.array(rule.plays)[field], name=name)


def _policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    return rule_policy(DRIVE_RULES[name], game, name)


BASELINES: Mapping[str, Baseline] = {
    name: Baseline(partial(_policy, name), lambda game, player: player == 0, description)
    for name, description in {
        "always-run": "Runs on every down.",
        "always-pass": "Passes on every down.",
        "kick-on-fourth": "Kicks on every fourth down: a field goal near the goal, else a punt.",
        "run-or-punt": "Runs, and punts on fourth and long far from the goal.",
        "patek-bertsekas": "The best of the 1,296 rules of thumb of Patek and Bertsekas (1996).",
    }.items()
}
