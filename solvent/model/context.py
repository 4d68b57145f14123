"""Checks in context: a probability of success, and circumstances that make it easier or harder.

A check has a base probability p, of success under normal circumstances. A circumstance has a
modifier m, which depends neither on p nor on other circumstances, and changes p to

    f(p, m)  =  p e^(c m) / (1 + p (e^(c m) - 1)),

that is, it multiplies the odds p / (1 - p) by e^(c m), or adds c m to their logarithm:

    logit f(p, m)  =  logit p + c m          with logit p = log(p / (1 - p)).

So modifiers act on probabilities as a group that adds:

- f(f(p, m), n) = f(p, m + n), in either order; f(p, 0) = p; f(f(p, m), -m) = p.
- 0 and 1 are fixed: what cannot fail cannot fail in the dark either.
- f(p, -m) = 1 - f(1 - p, m): hindering the climber is helping the wall.
- From p to q leads the one modifier (logit q - logit p) / c, :func:`modifier_between`.

**Calibration.** With c = 4.2 a modifier m turns 50% into about 50% + m. So to find the modifier of
a circumstance, ask what 50% would become in it (``modifier_between(0.5, p)``); between 30% and 70%
the answer less 50% is within 0.4% of it.

**Success.** A draw r, uniform in [0, 1), succeeds if r < p.

**When to roll at all.** An event should be tested if its probability times its importance is
greater than a threshold. Walking across a room can fail, but hardly ever,
and little would come of it. On a ledge it fails as rarely, but a failure is important enough for a
roll (:meth:`Check.needs_roll`).

**The target's side.** Whether an action takes effect is evaluated where it arrives, once everything
that bears on it is known. Seen from there, an action of probability p is a check of escaping it, of
probability 1 - p and with opposite modifiers (:meth:`Check.target_side`); by the symmetry above it
is the same event. An action can have several targets, and each may have its own ways of escaping.
:func:`resolve_at_targets` finds the best way of each target. A target without any makes the check
that the action implies.

**In exact arithmetic** f(p, m) is irrational for every rational p in (0, 1) and every rational
m != 0, so it must be rounded: :func:`modified_exactly` returns the nearest multiple of 1 / 10^9
strictly between 0 and 1. There are no ties, the symmetry above holds as an equality, and a check
that can succeed never becomes one that cannot. The multiple is found with decimals of as many
digits as it takes to be sure of it, so that it is the same on every machine.

Source: OSDL documentation, "Resolving Actions", after Hirinkaël's threshold system.

**Errata of the source.** It gives c only through a table, whose digits are those of c = 4.2 cut
off, not rounded; the comment on its formula, p exp(x) / (1 + p (exp(x) - 1)), lacks c, for x is
c m. It says that the increase by m equals the decrease by -m, which holds at 50% alone: 25% becomes
54.03% by +30% and 8.64% by -30%, that is +29.03 and -16.36 points. What is equal is the increase at
p and the decrease at 1 - p. It lets r = p succeed, which would make a check of probability 0
succeed at times. Its relation for the calibration, m = 1 / (1 + exp(-p_new)), leads the other way,
from a modifier to a probability (and lacks c); meant is m = log(p_new / (1 - p_new)) / c.

**The difficulty of any game** can be changed by a modifier of one of its checks
(:func:`with_modifier`). A *check* of a game is a chance event that either succeeds or fails. A game
names its own in an attribute ``checks``, and any predicate over outcomes makes another. A modifier
moves the probability p of success to f(p, m), as above, and keeps the distributions of outcomes
given success and given failure:

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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache, cached_property
from math import floor
from typing import Any, TypeAlias

import numpy as np

from solvent.model.game import Alternating, Game, GameInfo, JointAction, ModifiedGame, Outcome
from solvent.model.parameters import check_choice, check_integer, check_rational, shown

C = Fraction(21, 5)
"""The increase of the log-odds by a modifier of 1 (100%)."""

DENOMINATOR = 10**9
"""Denominator of the rationals to which modified probabilities are rounded in exact arithmetic."""

LARGEST_MODIFIER = 100
"""Modifiers may not exceed this, 10000%, in exact arithmetic; nor may c."""


def modified(p: Any, modifier: Any) -> Any:
    """f(p, m), the probability of success in context, in floats.

    Args:
        p: The base probability, a number or an array.
        modifier: The sum of all modifiers (0.1 is +10%), a number or an array that broadcasts
            with `p`.

    Returns:
        A float, or an array if either argument is one. 0 and 1 stay exactly 0 and 1.

    Raises:
        ValueError: If `p` is outside [0, 1], or `modifier` is not finite.
    """
    base = np.asarray(p, np.float64)
    if not np.all((base >= 0) & (base <= 1)):
        raise ValueError(f"p is {shown(p)}; a probability is within 0..1")
    size = np.asarray(modifier, np.float64)
    if not np.all(np.isfinite(size)):
        raise ValueError(f"modifier is {shown(modifier)}; allowed are finite numbers")
    x = float(C) * size
    # The factor e^-|x| cannot overflow; kept from underflowing, it leaves 0 and 1 where they are.
    factor = np.exp(-np.minimum(np.abs(x), 700))
    harder, easier = np.where(x < 0, factor, 1), np.where(x < 0, 1, factor)
    result = base * harder / (base * harder + (1 - base) * easier)
    return result if result.ndim else float(result)


def modified_exactly(p: Any, modifier: Any, c: Any = C, denominator: int = DENOMINATOR) -> Fraction:
    """f(p, m) as a rational: the nearest multiple of 1 / `denominator` strictly within 0..1.

    Where nothing is modified (m = 0, or p = 0 or 1) the result is `p`, not rounded.

    Args:
        p: The base probability; a float means the decimal that it prints.
        modifier: The sum of all modifiers, likewise.
        c: Log-odds of a modifier of 1, likewise.
        denominator: Denominator of the result, at least 2.

    Raises:
        ValueError: If an argument is not a rational number or out of its range.
    """
    return _modified_exactly(
        check_rational(p, "p", 0, 1),
        check_rational(modifier, "modifier", -LARGEST_MODIFIER, LARGEST_MODIFIER),
        check_rational(c, "c", 0, LARGEST_MODIFIER),
        check_integer(denominator, "denominator", 2, 10**100),
    )


@cache
def _modified_exactly(p: Fraction, modifier: Fraction, c: Fraction, denominator: int) -> Fraction:
    x = c * modifier
    if x == 0 or p in (0, 1):
        return p
    digits = 30 + len(str(denominator))
    while True:
        # Each of the few operations is rounded correctly, to a relative error of 10^(1 - digits);
        # only that of x is magnified, |x| <= 10^4 times, by the exponential.
        context = Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX)
        exponential = context.exp(_decimal(-x, context))
        odds_against = context.multiply(_decimal((1 - p) / p, context), exponential)
        close = Fraction(context.divide(Decimal(1), context.add(Decimal(1), odds_against)))
        slack = Fraction(1, 10 ** (digits - 6))
        low, high = (floor((close + s) * denominator + Fraction(1, 2)) for s in (-slack, slack))
        if low == high:
            return Fraction(min(max(low, 1), denominator - 1), denominator)
        digits *= 2


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def modifier_between(p: Any, p_new: Any) -> Any:
    """The modifier that turns `p` into `p_new`: (logit p_new - logit p) / c.

    Args:
        p: The probability before, a number or an array.
        p_new: The probability after, a number or an array that broadcasts with `p`.

    Returns:
        A float, or an array if either argument is one.

    Raises:
        ValueError: If `p` or `p_new` is not strictly between 0 and 1, which no modifier moves or
            reaches.
    """
    result = (_logit(p_new, "p_new") - _logit(p, "p")) / float(C)
    return result if np.ndim(result) else float(result)


def _logit(p: Any, name: str) -> Any:
    value = np.asarray(p, np.float64)
    if not np.all((value > 0) & (value < 1)):
        raise ValueError(f"{name} is {shown(p)}; allowed are numbers strictly between 0 and 1")
    return np.log(value) - np.log1p(-value)


@dataclass(frozen=True)
class Check:
    """A named check with the circumstances in which it is made.

    Args:
        name: Name of the attempted action.
        base: Probability of success under normal circumstances; a float means the decimal that it
            prints, a text such as ``"4/5"`` or ``"0.8"`` the rational it spells.
        modifiers: Pairs of a name and a size, likewise; they add.

    Raises:
        ValueError: If a number is not rational or out of its range.
    """

    name: str
    base: Any
    modifiers: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Read every number as a rational."""
        most = LARGEST_MODIFIER
        sizes = (
            (name, check_rational(size, f"modifier {name!r}", -most, most))
            for name, size in self.modifiers
        )
        base = check_rational(self.base, f"base of {self.name!r}", 0, 1)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "modifiers", tuple(sizes))

    @property
    def modifier(self) -> Fraction:
        """The sum of all modifiers."""
        return sum((size for _, size in self.modifiers), Fraction(0))

    @property
    def probability(self) -> Fraction:
        """The probability of success in context, as :func:`modified_exactly` rounds it."""
        return modified_exactly(self.base, self.modifier)

    def given(self, *modifiers: tuple[str, Any]) -> Check:
        """The same check with more circumstances."""
        return replace(self, modifiers=(*self.modifiers, *modifiers))

    def needs_roll(self, threshold: Any, *, failure: Any = 1, success: Any = 0) -> bool:
        """Return whether the check should be rolled: its failure or its success is significant.

        An event that is not significant is taken not to happen.

        Args:
            threshold: The largest product of probability and importance that needs no roll.
            failure: The importance of failing, from 0 on, in any unit.
            success: The importance of succeeding, where success is what would change the story.

        Raises:
            ValueError: If the threshold or an importance is not a number from 0 to 10^9.
        """
        named = {"threshold": threshold, "failure": failure, "success": success}
        least, lost, won = (check_rational(v, name, 0, 10**9) for name, v in named.items())
        return max((1 - self.probability) * lost, self.probability * won) > least

    def target_side(self) -> Check:
        """The check of escaping this action: it succeeds exactly as often as the action fails."""
        against = tuple((name, -size) for name, size in self.modifiers)
        return Check(f"escaping {self.name}", 1 - self.base, against)

    def explain(self) -> str:
        """One line, such as ``80% climbing; wounded -35%, night +10%: 59.3%``."""
        named = ", ".join(f"{name} {_percent(size, '+')}" for name, size in self.modifiers)
        context = f"; {named}" if named else ""
        return f"{_percent(self.base)} {self.name}{context}: {_percent(self.probability)}"


def resolve_at_targets(action: Check, reactions: Mapping[str, Iterable[Check]]) -> dict[str, Check]:
    """Return the check by which each target of an action can escape it.

    A target's reaction is a check of escaping such an action under normal circumstances; the
    circumstances of the action count against it. Of several reactions the target chooses the one
    that succeeds most often, the first among equals. A target without a reaction escapes as often
    as the action fails by itself.

    Args:
        action: The action, with its circumstances.
        reactions: Checks with which each target can react, by target.

    Returns:
        By target, the check to roll; the action takes effect on those that fail it.
    """
    escape = action.target_side()
    checks = {}
    for target, own in reactions.items():
        tried = [reaction.given(*escape.modifiers) for reaction in own]
        checks[target] = max(tried, key=lambda check: check.probability, default=escape)
    return checks


def _percent(value: Fraction, sign: str = "") -> str:
    """A number as a percentage of up to two decimals; only a certainty reads 0% or 100%."""
    if not sign and 0 < value < Fraction(1, 20_000):
        return "less than 0.01%"
    if not sign and Fraction(19_999, 20_000) <= value < 1:
        return "more than 99.99%"
    return f"{float(100 * value):{sign}.2f}".rstrip("0").rstrip(".") + "%"


SuccessTest: TypeAlias = Callable[[Any, JointAction, Outcome], bool | None]
"""Maps a state, a joint action and an outcome to whether the outcome is a success of the check; to
None for every outcome of an action that does not make the check."""


def with_modifier(
    game: Game, check: str, modifier: Any, *, success: SuccessTest | None = None
) -> GameInContext:
    """Return the same game with one of its checks modified.

    Repeated modifiers of one check add up before anything is rounded.

    Args:
        game: The rules.
        check: The name of one of ``game.checks``, or any name for the check `success`.
        modifier: The modifier to add, such as -0.15 or ``"-3/20"`` for -15%.
        success: The check, instead of ``game.checks[check]``.

    Raises:
        ValueError: If the game has no check of that name, or a number is out of its range.
    """
    size = check_rational(modifier, "modifier", -LARGEST_MODIFIER, LARGEST_MODIFIER)
    if success is None:
        checks: Mapping[str, SuccessTest] = getattr(game, "checks", {})
        if not checks:
            raise ValueError(
                f"{game.info.name} names no checks; define the check {check!r} with success="
            )
        success = checks[check_choice(check, f"check of {game.info.name}", checks)]
    if isinstance(game, GameInContext) and (game.check, game.success) == (check, success):
        return replace(game, modifier=game.modifier + size)
    kind = AlternatingInContext if isinstance(game, Alternating) else GameInContext
    return kind(game, check, size, success)


@dataclass(frozen=True)
class GameInContext(ModifiedGame):
    """A game with a modified check; :func:`with_modifier` makes them.

    Attributes:
        game: The rules under normal circumstances.
        check: The name of the check.
        modifier: Modifier of the check.
        success: The check.
    """

    game: Game
    check: str
    modifier: Fraction
    success: SuccessTest

    @cached_property
    def info(self) -> GameInfo:
        """The game's info, its parameters extended by ``modifiers``.

        Modifiers are texts such as ``"-3/20"``, since JSON has no rationals.
        """
        parameters = dict(self.game.info.parameters)
        earlier = parameters.get("modifiers", {})
        total = Fraction(earlier.get(self.check, 0)) + self.modifier
        parameters["modifiers"] = {**earlier, self.check: str(total)}
        return replace(self.game.info, parameters=tuple(parameters.items()))

    @property
    def checks(self) -> Mapping[str, SuccessTest]:
        """The checks of the game; raises AttributeError if it names none."""
        checks: Mapping[str, SuccessTest] = self.game.checks  # type: ignore[attr-defined]
        return checks

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the outcomes of the game in their order; those of a check get new probabilities.

        Raises:
            ValueError: If the check applies to only some of the outcomes.
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
        p_new = modified_exactly(p, self.modifier)
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
