"""A difficulty dial for any game: a check that its chance contains, made harder or easier.

A *check* of a game is a chance event that either succeeds or fails. A game names its own in an
attribute ``checks``, and any predicate over outcomes makes another. A modifier moves the
probability p of success to f(p, m), as :mod:`solvent.model.context` defines it, and keeps what is
likely given success, and what given failure:

    P'(outcome)  =  P(outcome) f(p, m) / p              if it is a success,
                    P(outcome) (1 - f(p, m)) / (1 - p)  if it is a failure.

Since f leaves 0 and 1 where they are and moves nothing else there, the new game has the same
states, actions and outcomes at every setting. So there is a continuous family of games, each with
a known optimum, and a policy for one can be played in all.

The new game is rules again, from which table, environments and solvers follow. Its table is built
by walking through the rules, since a game's own ``tabulate()`` does not know the modifier.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from solvent.model.context import LARGEST_MODIFIER, C, modified_exactly
from solvent.model.game import Alternating, Game, GameInfo, JointAction, ModifiedGame, Outcome
from solvent.model.parameters import check_choice, check_rational

SuccessTest: TypeAlias = Callable[[Any, JointAction, Outcome], bool | None]
"""Maps a state, a joint action and an outcome to whether that is a success of the check; to None
for every outcome of an action that is no such check."""


def with_modifier(
    game: Game, check: str, modifier: Any, *, success: SuccessTest | None = None, c: Any = C
) -> GameInContext:
    """The same game with one of its checks modified.

    Modifiers that are put on one check in a row add up before anything is rounded.

    Args:
        game: The rules.
        check: The name of one of ``game.checks``, or of your own with `success`.
        modifier: -0.15 or ``"-3/20"`` for -15%.
        success: The check, instead of ``game.checks[check]``.
        c: Log-odds of a modifier of 1.

    Raises:
        ValueError: If the game has no check of that name, or a number is out of its range.
    """
    size = check_rational(modifier, "modifier", -LARGEST_MODIFIER, LARGEST_MODIFIER)
    scale = check_rational(c, "c", 0, LARGEST_MODIFIER)
    if success is None:
        checks: Mapping[str, SuccessTest] = getattr(game, "checks", {})
        if not checks:
            raise ValueError(
                f"{game.info.name} names no checks; say with success= what is one of {check!r}"
            )
        success = checks[check_choice(check, f"check of {game.info.name}", checks)]
    if isinstance(game, GameInContext) and (game.check, game.success, game.c) == (
        check,
        success,
        scale,
    ):
        return replace(game, modifier=game.modifier + size)
    kind = AlternatingInContext if isinstance(game, Alternating) else GameInContext
    return kind(game, check, size, success, scale)


@dataclass(frozen=True)
class GameInContext(ModifiedGame):
    """A game with a modified check; :func:`with_modifier` makes them.

    Attributes:
        game: The rules under normal circumstances.
        check: The name of the check.
        modifier: Its modifier.
        success: The check.
        c: Log-odds of a modifier of 1.
    """

    game: Game
    check: str
    modifier: Fraction
    success: SuccessTest
    c: Fraction = C

    @cached_property
    def info(self) -> GameInfo:
        """The game's info, its parameters extended by ``modifiers`` (and ``c``, if it is not C).

        Modifiers are texts such as ``"-3/20"``, since JSON has no rationals.
        """
        parameters = dict(self.game.info.parameters)
        earlier = parameters.get("modifiers", {})
        total = Fraction(earlier.get(self.check, 0)) + self.modifier
        parameters["modifiers"] = {**earlier, self.check: str(total)}
        if self.c != C:
            parameters["c"] = str(self.c)
        return replace(self.game.info, parameters=tuple(parameters.items()))

    @property
    def checks(self) -> Mapping[str, SuccessTest]:
        """The checks of the game; raises AttributeError if it names none."""
        checks: Mapping[str, SuccessTest] = self.game.checks  # type: ignore[attr-defined]
        return checks

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The outcomes of the game in their order; those of a check are weighted anew.

        Raises:
            ValueError: If the check takes only some of the outcomes for its own.
        """
        outcomes = self.game.transition(state, joint_action)
        success = [self.success(state, joint_action, outcome) for outcome in outcomes]
        if None in success:
            if any(held is not None for held in success):
                raise ValueError(
                    f"the check {self.check!r} of {self.game.info.name} is about some outcomes of "
                    f"action {joint_action} in state {state!r} only; it must be about all or none"
                )
            return outcomes
        p = sum((o.probability for o, held in zip(outcomes, success, strict=True) if held), 0)
        p_new = modified_exactly(p, self.modifier, self.c)
        if p_new == p:
            return outcomes
        factor = {True: p_new / p, False: (1 - p_new) / (1 - p)}
        return tuple(
            outcome._replace(probability=outcome.probability * factor[bool(held)])
            for outcome, held in zip(outcomes, success, strict=True)
        )

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        return ""  # The dice of the game have other chances.


class AlternatingInContext(GameInContext):
    """The same of a game in which the players take turns."""

    def turn(self, state: Any) -> int:
        """Delegate to the game."""
        assert isinstance(self.game, Alternating)
        return self.game.turn(state)
