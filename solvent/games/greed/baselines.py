"""Policies for Greed that a person could follow, and the moves of a published game.

``stand-at-80``, ``stand-at-90``
    Stand at 80% (90%) of the limit or more. Below that, roll the number of dice whose expected
    score comes nearest to it. In the last turn, aim at the middle of the winning scores when
    behind, and stand otherwise.
``largest-safe-roll``
    As many dice as cannot go bust, possibly none. In the last turn stand when ahead.
``one-step-lookahead``
    The best roll on the assumption that the player then stands and the opponent plays the last
    turn optimally: the one-stage look-ahead rule of optimal stopping. In the last turn this is the
    optimum.
``expected-score``
    The roll with the largest expected score, a bust counting as 0; the other player is ignored.
``one-in-twenty``
    A rule to remember, read from the optimum. Stand if not behind and within 3/5 of a die's sides
    of the limit. Otherwise roll as many dice as go bust with probability at most 1/20, and at least
    one. In the last turn stand when ahead. Otherwise roll the number of dice whose expected score
    comes nearest to the middle of the winning scores: at least one when behind, and at most one
    within a die's sides of the limit.
``sample-game``
    The README of Addis's program (github.com/pure-chance/greed) prints one game at (100, 6). Both
    of its players, Alice and Blair, open with 25 dice; it does not say why they moved as they did.
    The policy makes the six published moves in the six positions of that game and is optimal
    everywhere else, so its exploitability is what the published moves cost. Two of them, 5 dice at
    74 to 89 and 2 dice at 89 to 90, are optimal.

A policy is made from a *plan*, [2, M+1, M+1]: the number of dice before (0) and in (1) the last
turn, by the score of the player on turn and the opponent's.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from solvent.baselines import Baseline
from solvent.games.greed.rules import STAND, Greed, Position, most_dice
from solvent.games.greed.solver import TIE, solve_greed, sum_chances
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
"""Dice rolled in the published game by (own score, other's). The last roll went bust at 104."""

# The largest probability of a bust that ``one-in-twenty`` accepts.
_RISK = 1 / 20


def stand_at(hundredths: int, game: Greed) -> Ints:
    """Roll towards a share of the limit and stand there."""
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
    """Stand now, or after one more roll."""
    solution = solve_greed(game.limit, game.sides)
    return np.stack((_best_rolls(1 - solution.last.T, game), solution.last_roll))


def expected_score(game: Greed) -> Ints:
    """Maximize the player's own next score."""
    own, _ = _scores(game)
    best = _best_rolls(own, game)
    return np.stack((best, best))


def one_in_twenty(game: Greed) -> Ints:
    """The rule of thumb that the optimum suggests."""
    own, other = _scores(game)
    room = game.limit - own
    most = most_dice(room, game.sides)
    safe = sum_chances(game.most_dice(0), game.sides, game.limit).cumsum(axis=1)
    # More dice go bust more often, so the allowed rolls are those with the fewest dice.
    allowed = (1 - safe <= _RISK + TIE).sum(axis=0) - 1
    ordinary = np.minimum(np.maximum(allowed, 1)[room], most)
    stands = (5 * room <= 3 * game.sides) & (own >= other)
    middle = (other + 1 + game.limit) / 2
    towards = np.minimum(np.rint(2 * (middle - own) / (game.sides + 1)).astype(np.int64), most)
    towards = np.where(own < other, np.maximum(towards, 1), towards)
    towards = np.where(room <= game.sides, np.minimum(towards, 1), towards)
    return np.stack((np.where(stands, STAND, ordinary), np.where(own > other, STAND, towards)))


def sample_game(game: Greed) -> Ints:
    """The moves of the published game, and optimal ones elsewhere."""
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
    """Return whether one of :data:`PLANS` applies to a table of Greed.

    Args:
        name: Name of the plan.
        game: The table.
        player: Either player; a plan serves both.
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


def _best_rolls(value: Floats | Ints, game: Greed) -> Ints:
    """Return the rolls with the largest expected value, [M+1, M+1]; a bust counts 0.

    Args:
        value: [M+1, M+1] value of a position after the roll, by own and other score.
        game: The rules.
    """
    chances = sum_chances(game.most_dice(0), game.sides, game.limit)
    best = np.zeros(value.shape, np.int64)
    for own in range(game.limit + 1):
        rated = chances[: game.most_dice(own) + 1, : game.limit - own + 1] @ value[own:]
        best[own] = (rated >= rated.max(axis=0) - TIE).argmax(axis=0)
    return best


def _dice_towards(target: Floats | float, game: Greed) -> Ints:
    """Return the number of dice, from 1 to the most useful, whose expected score is nearest."""
    own, _ = _scores(game)
    wanted = np.rint(2 * (target - own) / (game.sides + 1)).astype(np.int64)
    return np.minimum(np.maximum(wanted, 1), most_dice(game.limit - own, game.sides))
