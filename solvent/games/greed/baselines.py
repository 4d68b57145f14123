"""Policies for Greed that a player could follow, and the player of a published game.

``stand-at-80``, ``stand-at-90``
    Stand once the score is that many hundredths of the limit; before that, roll so many dice that
    the expected score comes as near to it as possible. In the last turn stand unless behind, else
    aim at the middle of the scores that win.
``largest-safe-roll``
    As many dice as cannot go bust, none if one could. In the last turn stand when ahead.
``one-step-lookahead``
    The roll that is best if the player stood right after it and the other then made the best of
    the last turn, known in optimal stopping as the one-stage look-ahead rule. In the last turn
    this is the optimum.
``expected-score``
    The roll with the largest expected score, a bust counting as 0; the other player is ignored.
``one-in-twenty``
    A rule to remember, read from the optimum. Stand, unless behind, once the points left are no
    more than 3/5 of the sides of a die. Otherwise roll as many dice as go bust at most once in 20
    times, and at least one. In the last turn stand when ahead. Otherwise roll so many dice that the
    expected score comes nearest to the middle of the scores that win: at least one when behind,
    and at most one if no more points are left than a die has sides.
``sample-game``
    The README of Addis's own program (github.com/pure-chance/greed) prints one game at (100, 6)
    of two players, Alice and Blair, both of whom open with 25 dice. It says nothing about why
    they moved as they did. The policy makes the six published moves in the six positions of that
    game and is optimal everywhere else, so that its exploitability is what the published moves
    cost. Two of them, 5 dice at 74 to 89 and 2 dice at 89 to 90, are optimal.

A policy is made from a *plan*, [2, M+1, M+1]: the number of dice in ordinary play (0) and in the
last turn (1), by the score of the player on turn and the other one's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from solvent.baselines import Baseline
from solvent.games.greed.rules import STAND, Greed, Position, most_dice
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints

Plan: TypeAlias = Callable[[Greed], Ints]
"""A function from the rules to a plan."""

SAMPLE_GAME: Mapping[tuple[int, int], int] = {
    (0, 0): 25,
    (0, 74): 25,
    (74, 89): 5,
    (89, 90): 2,
    (90, 95): 3,
    (95, 100): 2,
}
"""Dice rolled in the published game, lost by a bust at 100 to 104: by (own score, other's)."""

RISK = 1 / 20
"""The largest probability of a bust that ``one-in-twenty`` accepts."""

TIE = 1e-12
"""Rolls whose ratings differ by less than this are tied; the fewest dice are taken."""


def stand_at(hundredths: int, game: Greed) -> Ints:
    """Approach a share of the limit and stand there."""
    own, other = _scores(game)
    target = -(-game.limit * hundredths // 100)
    ordinary = np.where(own >= target, STAND, _dice_towards(target, game))
    middle = (other + 1 + game.limit) / 2
    return np.stack((ordinary, np.where(own >= other, STAND, _dice_towards(middle, game))))


def largest_safe_roll(game: Greed) -> Ints:
    """Never risk a bust."""
    own, other = _scores(game)
    safe = (game.limit - own) // game.sides
    return np.stack((safe, np.where(own > other, STAND, safe)))


def one_step_lookahead(game: Greed) -> Ints:
    """Stand, or stand after one more roll."""
    from solvent.games.greed.kernel import solve_greed, sum_chances

    solution = solve_greed(game.limit, game.sides)
    plan = np.zeros((2, game.limit + 1, game.limit + 1), np.int64)
    plan[1] = solution.last_roll
    chances = sum_chances(game.most_dice(0), game.sides, game.limit)
    for own in range(game.limit + 1):
        room = game.limit - own
        rolls = chances[: game.most_dice(own) + 1, : room + 1]
        rated = (1 - solution.last[:, own:]) @ rolls.T
        plan[0, own] = (rated >= rated.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
    return plan


def expected_score(game: Greed) -> Ints:
    """Look at nothing but one's own next score."""
    from solvent.games.greed.kernel import sum_chances

    plan = np.zeros((2, game.limit + 1, game.limit + 1), np.int64)
    chances = sum_chances(game.most_dice(0), game.sides, game.limit)
    for own in range(game.limit + 1):
        room = game.limit - own
        expected = chances[: game.most_dice(own) + 1, : room + 1] @ np.arange(own, game.limit + 1)
        plan[:, own] = (expected >= expected.max() - TIE).argmax()
    return plan


def one_in_twenty(game: Greed) -> Ints:
    """The rule of thumb that the optimum suggests."""
    from solvent.games.greed.kernel import sum_chances

    own, other = _scores(game)
    room = game.limit - own
    most = most_dice(room, game.sides)
    safe = sum_chances(game.most_dice(0), game.sides, game.limit).cumsum(axis=1)
    # More dice go bust more often, so the rolls that are allowed are the first ones.
    allowed = (1 - safe <= RISK + TIE).sum(axis=0) - 1
    ordinary = np.minimum(np.maximum(allowed, 1)[room], most)
    stands = (5 * room <= 3 * game.sides) & (own >= other)
    middle = (other + 1 + game.limit) / 2
    towards = np.minimum(np.rint(2 * (middle - own) / (game.sides + 1)).astype(np.int64), most)
    towards = np.where(own < other, np.maximum(towards, 1), towards)
    towards = np.where(room <= game.sides, np.minimum(towards, 1), towards)
    return np.stack((np.where(stands, STAND, ordinary), np.where(own > other, STAND, towards)))


def sample_game(game: Greed) -> Ints:
    """The moves of the published game, and optimal ones elsewhere."""
    from solvent.games.greed.kernel import solve_greed

    solution = solve_greed(game.limit, game.sides)
    plan = np.stack((solution.normal_roll, solution.last_roll)).astype(np.int64)
    for position, dice in SAMPLE_GAME.items():
        plan[0][position] = dice
    return plan


PLANS: Mapping[str, Plan] = {
    "stand-at-80": partial(stand_at, 80),
    "stand-at-90": partial(stand_at, 90),
    "largest-safe-roll": largest_safe_roll,
    "one-step-lookahead": one_step_lookahead,
    "expected-score": expected_score,
    "one-in-twenty": one_in_twenty,
    "sample-game": sample_game,
}


def suits_greed(name: str, game: TabularGame, player: int) -> bool:
    """Return whether a table of Greed has the limit and sides that one of :data:`PLANS` is for.

    Args:
        name: Name of the plan.
        game: The table.
        player: Either player, as a plan serves both.
    """
    return name != "sample-game" or rules_of(game) == Greed(100, 6)


def greed_policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return one of :data:`PLANS` as a policy of either player for a table of Greed."""
    return policy_of(PLANS[name](rules_of(game)), game, player, name)


BASELINES: Mapping[str, Baseline] = {
    name: Baseline(partial(greed_policy, name), partial(suits_greed, name), description)
    for name, description in {
        "stand-at-80": "Rolls towards 80% of the limit and stands there.",
        "stand-at-90": "Rolls towards 90% of the limit and stands there.",
        "largest-safe-roll": "As many dice as cannot go bust.",
        "one-step-lookahead": "The best roll if the player stood right after it.",
        "expected-score": "The roll with the largest expected score; a bust counts 0.",
        "one-in-twenty": "A rule to remember: at most one bust in twenty rolls.",
        "sample-game": "The six moves of Addis's printed game, and optimal ones elsewhere.",
    }.items()
}


def policy_of(plan: Ints, game: TabularGame, player: int, name: str) -> TabularPolicy:
    """Return a plan as a policy of either player for a table of Greed."""
    positions = cast(Sequence[Position], game.states)
    actions = np.full(game.n_states, STAND)
    for index in np.flatnonzero(game.on_turn(player)).tolist():
        _, scores, phase = positions[index]
        actions[index] = plan[int(phase == "last"), scores[player], scores[1 - player]]
    return TabularPolicy.deterministic(game, actions, player=player, name=name)


def rules_of(game: TabularGame) -> Greed:
    """Return the rules from which a table of Greed was made."""
    return Greed(**dict(game.info.parameters))


def _scores(game: Greed) -> tuple[Ints, Ints]:
    """Return the own and the other score in every cell of a plan, [M+1, M+1] each."""
    own, other = np.indices((game.limit + 1, game.limit + 1))
    return own, other


def _dice_towards(target: Floats | float, game: Greed) -> Ints:
    """Return the useful number of dice, at least 1, with expected score nearest to a target."""
    own, _ = _scores(game)
    wanted = np.rint(2 * (target - own) / (game.sides + 1)).astype(np.int64)
    return np.minimum(np.maximum(wanted, 1), most_dice(game.limit - own, game.sides))
