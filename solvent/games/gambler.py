"""The gambler's problem: stake a capital on a coin until it is lost or has reached the goal.

On each toss the gambler stakes a whole number of dollars, at most what is still missing. Heads pays
the stake, tails loses it. The value is the chance of reaching the goal.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Example 4.3 and Figure 4.3, with a goal of 100 and heads of probability 0.4. The book also
allows a stake of 0, which changes nothing. It names no start; here it is half of the goal unless
another is given.

If heads is less likely than tails, bold play is optimal, to stake as much as is allowed (L. E.
Dubins and L. J. Savage, "How to Gamble If You Must", McGraw-Hill 1965). So the value of half the
goal is the probability of heads. Many other stakes are as good; Figure 4.3 shows the smallest ones.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any, NamedTuple

from solvent.model import (
    WINS,
    Environment,
    GameInfo,
    GameSpec,
    Gauge,
    JointAction,
    Outcome,
    Rules,
    Scene,
    check_integer,
    check_rational,
)


class Capital(NamedTuple):
    """The gambler's capital."""

    dollars: int


@dataclass(frozen=True)
class Gambler(Rules):
    """The gambler's problem.

    Args:
        heads: The probability of heads, more than 0 and less than 1.
        goal: The capital that is to be reached, within 2..1000.
        capital: Capital at the start, less than the goal; half of it, rounded down, if left out.
    """

    heads: float | str | Rational = 0.4
    goal: int = 100
    capital: int | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.goal, "goal", 2, 1000)
        if not 0 < self._chance < 1:
            raise ValueError(f"heads is {self.heads}; allowed are numbers between 0 and 1")
        if self.capital is not None:
            check_integer(self.capital, "capital", 1, self.goal - 1)

    @cached_property
    def _chance(self) -> Fraction:
        """The probability of heads."""
        return check_rational(self.heads, "heads", 0, 1)

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        return GameInfo(
            name="gambler",
            players=1,
            actions=(tuple(f"stake {dollars}" for dollars in range(1, self.goal // 2 + 1)),),
            acyclic=False,
            reward_range=(0.0, 1.0),
            sources=(
                "Sutton and Barto 2018, Example 4.3",
                "Dubins and Savage 1965, How to Gamble If You Must",
            ),
            parameters=(
                ("heads", self.heads if isinstance(self.heads, float) else str(self.heads)),
                ("goal", self.goal),
                ("capital", self.capital),
            ),
            observation_labels=("capital",),
            unit=WINS,
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the initial capital."""
        dollars = self.goal // 2 if self.capital is None else self.capital
        return (Outcome(Fraction(1), Capital(dollars)),)

    def legal_actions(self, state: Capital) -> tuple[tuple[int, ...], ...]:
        """Return all stakes from 1 to the capital, or to the amount missing if that is less."""
        return (tuple(range(min(state.dollars, self.goal - state.dollars))),)

    def transition(self, state: Capital, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Win or lose the stake."""
        stake = joint_action[0] + 1
        won, lost = state.dollars + stake, state.dollars - stake
        return (
            Outcome(self._chance, Capital(won), int(won == self.goal)),
            Outcome(1 - self._chance, Capital(lost)),
        )

    def is_terminal(self, state: Capital) -> bool:
        """Return whether the capital is 0 or the goal."""
        return state.dollars in (0, self.goal)

    @cached_property
    def scale(self) -> Any:
        """The goal."""
        return self.goal

    def scene(self, state: Capital) -> Scene:
        """Draw the capital as a bar."""
        return (Gauge("capital", state.dollars, self.goal),)


SPEC = GameSpec(
    name="gambler",
    make=Gambler,
    rules=(
        "Stake part of your capital on heads, again and again: heads pays the stake,\n"
        "tails loses it. You win at the goal, and lose when you have nothing left."
    ),
    environments={
        "solvent/Gambler-v0": Environment(
            optimum=0.4,
            model_hash="f98f9a02fd0f7ce58c93078003512d2740a6f49ec572f825d48b8bd7d097eaf9",
        ),
    },
)
