"""Rules of thumb for a drive in football: a play for each down, and little more.

Patek and Bertsekas 1996 rate 1,296 policies that follow rules of thumb of an expert, the best of
them at -1.26. How these rules read was not at hand. The family here has as many members, with
two bounds that are this project's choice: a distance of up to 2 yards is *short*, and the other
team's goal is *near* from up to 40 yards.

* On first and on second down, run or pass, always the same (2 * 2).
* On third down, run or pass, for short and for long distances (2 * 2).
* On fourth down, run, pass, or a kick, for short and for long distances near the goal and far from
  it (3^4). The kick is a field goal near the goal and a punt far from it.

Since the best of these reaches -1.206, more than -1.26, it is another family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from solvent.games.football_drive import KICK, PASS, PUNT, RUN
from solvent.model import TabularGame, TabularPolicy

SHORT = 2
"""The longest distance to the line to gain, in yards, that is called short."""

NEAR = 40
"""The longest distance to the other team's goal line, in yards, that is called near."""


class RuleOfThumb(NamedTuple):
    """A play for each case, by its number; on fourth down the case says near or far as well."""

    first: int
    second: int
    third_short: int
    third_long: int
    near_short: int
    near_long: int
    far_short: int
    far_long: int


DRIVE_RULES: Mapping[str, RuleOfThumb] = {
    "always-run": RuleOfThumb(RUN, RUN, RUN, RUN, RUN, RUN, RUN, RUN),
    "always-pass": RuleOfThumb(PASS, PASS, PASS, PASS, PASS, PASS, PASS, PASS),
    "kick-on-fourth": RuleOfThumb(RUN, PASS, RUN, PASS, KICK, KICK, PUNT, PUNT),
    "run-or-punt": RuleOfThumb(RUN, RUN, RUN, RUN, RUN, RUN, RUN, PUNT),
}
"""Rules by name. ``run-or-punt`` is the best of the family."""


def rules_of_thumb() -> Iterator[RuleOfThumb]:
    """All 1,296 rules of the family."""
    for rule in product(*[(RUN, PASS)] * 4, *[(RUN, PASS, KICK)] * 2, *[(RUN, PASS, PUNT)] * 2):
        yield RuleOfThumb(*rule)


def rule_policy(rule: RuleOfThumb, game: TabularGame, name: str) -> TabularPolicy:
    """A rule as a policy for a table of the drive."""
    states: list[Any] = list(game.states)
    to_goal, to_go, down = np.array([state[:3] for state in states], np.int64).T
    short, near = to_go <= SHORT, to_goal <= NEAR
    actions = np.select(
        [
            down == 1,
            down == 2,
            (down == 3) & short,
            down == 3,
            near & short,
            near,
            short,
        ],
        rule[:-1],
        rule.far_long,
    )
    return TabularPolicy.deterministic(game, actions, name=name)


def drive_policy(name: str, game: TabularGame) -> TabularPolicy:
    """One of :data:`DRIVE_RULES` as a policy for a table of the drive."""
    return rule_policy(DRIVE_RULES[name], game, name)
