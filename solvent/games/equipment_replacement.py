"""Equipment that wears out: when to replace it.

Every period the owner of a machine sees its wear and goes on with it or replaces it at once. It
earns an income, operating it costs more the more it is worn, and in the course of the period it
wears by some steps. After the last period it is sold for scrap. The model is that of M. L.
Puterman, "Markov Decision Processes", 1994, section 4.7.5, which proves that a *control limit* is
optimal: in each period there is a wear from which on the machine is replaced. The book leaves the
numbers open; those here are our own, and the wear has a worst state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from solvent.model import (
    Environment,
    GameInfo,
    GameSpec,
    Gauge,
    Outcome,
    Rules,
    Scene,
    check_integer,
    check_integers,
    merged,
)

OPERATE, REPLACE = 0, 1


class Machine(NamedTuple):
    """The beginning of a period: the periods left, including this one, and the wear."""

    left: int
    wear: int


@dataclass(frozen=True)
class EquipmentReplacement(Rules):
    """A machine wears out and may be replaced at the start of every period.

    Args:
        horizon: Periods, 1 to 1000.
        worst: The largest wear, 1 to 1000; a machine with this wear wears no further.
        wearing: Weights of wearing by 0, 1, 2, ... steps in a period.
        income: Income of a period.
        operating: Cost of a period for each step of wear.
        price: Price of a new machine.
        scrap: Price of a new machine when sold after the last period; each step of wear takes off
            1, down to 0.
        wear: Wear at the start.

    Raises:
        ValueError: If an argument is not one of those allowed.
    """

    horizon: int = 12
    worst: int = 10
    wearing: Sequence[int] = (3, 4, 2, 1)
    income: int = 10
    operating: int = 2
    price: int = 12
    scrap: int = 8
    wear: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.horizon, "horizon", 1, 1000)
        check_integer(self.worst, "worst", 1, 1000)
        for name in ("income", "operating", "price", "scrap"):
            check_integer(getattr(self, name), name, 0, 10**6)
        check_integer(self.wear, "wear", 0, self.worst)
        wearing = check_integers(self.wearing, "wearing", 0, 10**6)
        check_integer(sum(wearing), "the sum of wearing", 1, 10**12)

    @property
    def info(self) -> GameInfo:
        """Return the actions and sources."""
        costs = self.operating * self.worst + self.price
        return GameInfo(
            name="equipment-replacement",
            players=1,
            actions=(("operate", "replace"),),
            acyclic=True,
            reward_range=(
                float(self.horizon * (self.income - costs)),
                float(self.horizon * self.income + self.scrap),
            ),
            sources=("Puterman 1994, Markov Decision Processes, section 4.7.5",),
            parameters=tuple({**vars(self), "wearing": list(self.wearing)}.items()),
            observation_labels=("periods left", "wear"),
            unit="units of profit",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the state at the beginning of the first period."""
        return (Outcome(Fraction(1), Machine(self.horizon, self.wear)),)

    def transition(self, state: Machine, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        """Replace the machine if chosen, earn and pay, and let it wear."""
        [action] = joint_action
        wear = 0 if action == REPLACE else state.wear
        earned = self.income - self.operating * wear - (self.price if action == REPLACE else 0)
        last, parts = state.left == 1, sum(self.wearing)
        after = [min(wear + steps, self.worst) for steps in range(len(self.wearing))]
        return merged(
            [
                Outcome(
                    Fraction(weight, parts),
                    Machine(state.left - 1, worn),
                    earned + (max(self.scrap - worn, 0) if last else 0),
                )
                for worn, weight in zip(after, self.wearing, strict=True)
                if weight
            ]
        )

    def is_terminal(self, state: Machine) -> bool:
        """Return whether no period is left."""
        return state.left == 0

    @cached_property
    def scale(self) -> Any:
        """The largest numbers of periods left and of wear."""
        return self.horizon, self.worst

    def scene(self, state: Machine) -> Scene:
        """Draw the periods left and the wear as bars."""
        return (
            Gauge("periods left", state.left, self.horizon),
            Gauge("wear", state.wear, self.worst, kind="second"),
        )


SPEC = GameSpec(
    name="equipment-replacement",
    make=EquipmentReplacement,
    rules=(
        "A machine earns an income, and costs more the more it is worn. Go on with it or\n"
        "replace it, each period; at the end it is sold for scrap."
    ),
    environments={
        "solvent/EquipmentReplacement-v0": Environment(
            optimum=68.93941871890003,
            model_hash="d7b4f3a7889d40927b424c2f24c2de852cdedf2dbad2421c204f92f0ab0b7517",
        ),
    },
)
