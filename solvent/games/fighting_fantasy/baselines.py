"""Policies for Fighting Fantasy combat: when to test LUCK, as rules a player can remember.

After each round the hero may test LUCK. ``never`` and ``always`` need no explanation; the
offensive policy tests after rounds won, to deal 4 instead of 2, the defensive one after rounds
lost, to lose 1 instead of 2. ``coarse`` and ``tree`` are the two heuristics of Johnston 2022,
section 2.4 and Fig. 4. Without LUCK left nothing can be tested.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from solvent.baselines import Baseline
from solvent.games.fighting_fantasy.rules import (
    DAMAGE,
    KEEP,
    TEST,
    Damage,
    luck_succeeds,
    rules_of,
)
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Ints

NEVER, BOTH, ON_LOST, ON_WON = 0, 1, 2, 3
"""Strategy codes of Johnston 2022, Fig. 3: the rounds after which LUCK is tested."""


class Moments(NamedTuple):
    """Decisions as columns, [S] each; `won` is whether the round just fought was won."""

    difference: Ints
    hero: Ints
    opponent: Ints
    luck: Ints
    won: Bools


Rule: TypeAlias = Callable[[Moments, Damage], Bools]
"""A rule: [S] whether LUCK is tested in each decision."""


def coarse(at: Moments, damage: Damage) -> Bools:
    """Johnston's general principles (2022, Fig. 4 ii), as far as the text gives them.

    The figure itself was not at hand; this is a reconstruction. Section 2.4 says in words: first
    ask whether a test is more likely to fail than to succeed (l < 6.5), then how likely a round
    is won, then how many losses each side can take.

    * A test is likely to fail. LUCK is "reserved for unusual circumstances". Where rounds are hard
      to win, the "overwhelmed" use it on won rounds if the opponent can take more than one hit.
      Otherwise it is kept for the "emergency", a lost round that would be the last unless the
      test succeeds.
    * A test is likely to succeed. Where rounds are easy to win, LUCK is used on lost rounds
      "unless the player can absorb many losses"; otherwise on won rounds, again if the opponent
      can take more than one hit.

    The text gives no bound but 6.5. The others are read off the tree that the paper's method
    grows (:data:`TREE`): rounds are hard to win at a difference of -4 or less and easy
    at 2 or more, many losses are more than four, and with a LUCK of 3 or less nothing is tested.
    """
    chance = np.array([float(luck_succeeds(luck)) for luck in range(at.luck.max() + 1)])[at.luck]
    worthwhile = at.won & (at.opponent > damage.won)
    emergency = ~at.won & (at.hero <= damage.lost) & (at.hero > damage.lost_lucky)
    few_losses = ~at.won & (at.hero <= 4 * damage.lost)
    return np.where(
        chance > 0.5,
        np.where(at.difference >= 2, few_losses, worthwhile),
        (at.luck > 3) & np.where(at.difference <= -4, worthwhile, emergency),
    )


Branch: TypeAlias = "int | tuple[str, float, Branch, Branch]"
"""A strategy code, or a feature, a bound, and the branches below the bound and above it."""

_OVERWHELMED: Branch = ("opponent", 2.5, NEVER, ("difference", -9.5, NEVER, ON_WON))
_EMERGENCY: Branch = ("hero", 2.5, ("hero", 1.5, NEVER, ON_LOST), NEVER)

TREE: Branch = (
    "luck",
    6.5,
    (
        "luck",
        3.5,
        NEVER,
        ("difference", -3.5, ("opponent", 16.5, _OVERWHELMED, NEVER), _EMERGENCY),
    ),
    (
        "difference",
        1.5,
        ("difference", -9.5, NEVER, ("opponent", 2.5, NEVER, ON_WON)),
        ("hero", 8.5, ("difference", 9.5, ("hero", 1.5, ON_WON, ON_LOST), NEVER), NEVER),
    ),
)
"""The tree that the paper's method grows from the optimum (``docs/scripts/fighting_fantasy.py``).

It has 15 leaves and gives 84.7% of all points their optimal code, which saves 57.5% of the errors
of always keeping LUCK. The paper prints "58%".
"""

TREE_THREE: Branch = (
    "luck",
    8.5,
    (
        "hero",
        2.5,
        ("hero", 1.5, NEVER, ("luck", 1.5, NEVER, ON_LOST)),
        NEVER,
    ),
    (
        "difference",
        -1.5,
        ("difference", -9.5, NEVER, ("opponent", 2.5, ("hero", 12.5, ON_LOST, NEVER), ON_WON)),
        ("hero", 9.5, ("hero", 1.5, NEVER, ("difference", 8.5, ON_LOST, NEVER)), NEVER),
    ),
)
"""The same for the variant in which a lucky hit deals 3: 87.7%, 44.3%; the paper prints "45%"."""


def tree(at: Moments, damage: Damage) -> Bools:
    """Johnston's classification tree (2022, Fig. 4 i), learned from the optimum."""
    code = _codes(TREE_THREE if damage == DAMAGE["three"] else TREE, at)
    return np.where(at.won, np.isin(code, (BOTH, ON_WON)), np.isin(code, (BOTH, ON_LOST)))


def _codes(branch: Branch, at: Moments) -> Ints:
    """Return the strategy codes that a branch of a tree gives to decisions, [S]."""
    if isinstance(branch, int):
        return np.full(len(at.won), branch)
    feature, bound, below, above = branch
    return np.where(getattr(at, feature) < bound, _codes(below, at), _codes(above, at))


RULES: Mapping[str, tuple[Rule, str]] = {
    "never": (lambda at, damage: np.zeros_like(at.won), "Never test LUCK."),
    "always": (lambda at, damage: np.ones_like(at.won), "Test LUCK after every round."),
    "offensive": (
        lambda at, damage: at.won,
        "Test LUCK after rounds won, to hurt the opponent more.",
    ),
    "defensive": (lambda at, damage: ~at.won, "Test LUCK after rounds lost, to be hurt less."),
    "coarse": (
        coarse,
        "Johnston's general principles (2022, Fig. 4 ii), as far as the text gives them.",
    ),
    "tree": (
        tree,
        "Johnston's classification tree (2022, Fig. 4 i), learned from the optimum.",
    ),
}
"""The rules by name, each with its description."""

# Rules that ask for the difference of SKILLs, which a combat of given probabilities lacks.
_BY_SKILL = ("coarse", "tree")


def combat_policy(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return one of :data:`RULES` as a policy for a table of Fighting Fantasy combat.

    Args:
        name: The name of the rule.
        game: The table.
        player: The hero, always 0.
    """
    live = np.flatnonzero(~game.terminal)
    states: list[Any] = [game.states[s] for s in live.tolist()]
    difference, hero, opponent, luck = np.array([state[:4] for state in states], np.int64).T
    after_won = np.array([state.round == "won" for state in states], np.bool_)
    at = Moments(difference, hero, opponent, luck, after_won)
    rule, _ = RULES[name]
    tests = np.zeros(game.n_states, np.bool_)
    tests[live] = rule(at, rules_of(game.info).damages)
    tests &= game.mask[0][:, TEST]
    return TabularPolicy.deterministic(game, np.where(tests, TEST, KEEP), name=name)


def suits_combat(name: str, game: TabularGame, player: int) -> bool:
    """Return whether a rule can be followed in a combat.

    Args:
        name: The name of the rule.
        game: The table of a combat.
        player: The hero, always 0.
    """
    by_skill = rules_of(game.info).round_probabilities is None
    return player == 0 and (by_skill or name not in _BY_SKILL)


BASELINES: Mapping[str, Baseline] = {
    name: Baseline(partial(combat_policy, name), partial(suits_combat, name), description)
    for name, (_, description) in RULES.items()
}
