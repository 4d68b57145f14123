"""Colonel Blotto: two colonels spread their soldiers over battlefields, unseen.

E. Borel, "La théorie du jeu et les équations intégrales à noyau symétrique", Comptes rendus 173,
1921, asks how to divide a number into three parts so that two of them are larger than the other
player's. In the game as it is usually told, a field is taken by the player who has more soldiers
on it, and a player receives the number of fields taken less those lost; S. Hart, "Discrete Colonel
Blotto and General Lotto games", International Journal of Game Theory 36, 2008, solves it for
equal armies. In an older form, of four regiments against three on two posts, whoever takes a post
also receives a point for each of the other's regiments there (`spoils`; textbooks have it as a
matrix game after S. Karlin, "Mathematical Methods and Theory in Games, Programming, and
Economics", 1959).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    Cell,
    Environment,
    GameInfo,
    GameSpec,
    JointAction,
    Outcome,
    Pieces,
    Prose,
    Rules,
    Scene,
    check_flag,
    check_integer,
    check_integers,
)

MOST_DIVISIONS = 300
"""The most divisions of an army; a table has a state for each pair of divisions."""

Division = tuple[int, ...]


class Battle(NamedTuple):
    """The divisions of both players' soldiers; empty before the battle."""

    first: Division
    second: Division


def divisions(soldiers: int, fields: int) -> Iterator[Division]:
    """Return all divisions of soldiers among fields, in ascending order."""
    if fields == 1:
        yield (soldiers,)
        return
    for here in range(soldiers + 1):
        for rest in divisions(soldiers - here, fields - 1):
            yield (here, *rest)


@dataclass(frozen=True)
class Blotto(Rules):
    """A battle of Colonel Blotto's.

    Args:
        soldiers: Numbers of soldiers of the first and the second side, each 1 to 100.
        fields: Number of battlefields, 2 to 6.
        spoils: Whether taking a field also gives a point for each of the other's soldiers there.

    Raises:
        ValueError: If an argument is not one of those allowed, or an army can be divided in more
            than :data:`MOST_DIVISIONS` ways.
    """

    soldiers: Sequence[int] = (5, 5)
    fields: int = 3
    spoils: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.fields, "fields", 2, 6)
        armies = check_integers(self.soldiers, "soldiers", 1, 100, (2, 2))
        for army in armies:
            ways = comb(army + self.fields - 1, army)
            if ways > MOST_DIVISIONS:
                raise ValueError(
                    f"{army} soldiers can be divided among {self.fields} fields in {ways:,} ways; "
                    f"allowed are {MOST_DIVISIONS}"
                )
        object.__setattr__(self, "soldiers", armies)
        check_flag(self.spoils, "spoils")

    @cached_property
    def divisions(self) -> tuple[tuple[Division, ...], tuple[Division, ...]]:
        """Return all divisions of each player's soldiers, in the order of the actions."""
        first, second = (tuple(divisions(army, self.fields)) for army in self.soldiers)
        return first, second

    start = Battle((), ())

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        most = float(self.fields + (max(self.soldiers) if self.spoils else 0))
        first, second = (tuple("-".join(map(str, d)) for d in own) for own in self.divisions)
        places = range(1, self.fields + 1)
        return GameInfo(
            name="blotto",
            players=2,
            actions=(first, second),
            acyclic=True,
            reward_range=(-most, most),
            sources=("Borel 1921", "Hart 2008", "Karlin 1959"),
            parameters=(
                ("soldiers", list(self.soldiers)),
                ("fields", self.fields),
                ("spoils", self.spoils),
            ),
            observation_labels=(
                *(f"mine on field {k}" for k in places),
                *(f"the other's on field {k}" for k in places),
            ),
            unit="" if self.spoils else "fields",
        )

    def transition(self, state: Battle, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Compare the soldiers on each field."""
        after = Battle(*(own[a] for own, a in zip(self.divisions, joint_action, strict=True)))
        reward = 0
        for mine, other in zip(*after, strict=True):
            if mine > other:
                reward += 1 + (other if self.spoils else 0)
            elif mine < other:
                reward -= 1 + (mine if self.spoils else 0)
        return (Outcome(Fraction(1), after, reward),)

    def is_terminal(self, state: Battle) -> bool:
        """Return whether the battle is over."""
        return state.first != ()

    def observe(self, state: Battle, player: int) -> NDArray[np.float32]:
        """Return the player's and the other's division over the larger army; 0 before."""
        sides = state if player == 0 else state[::-1]
        seen = [n for side in sides for n in (side or (0,) * self.fields)]
        return np.array(seen, np.float32) / np.float32(max(self.soldiers))

    def place(self, state: Battle) -> str:
        """Return both divisions."""
        first, second = ("-".join(map(str, own)) for own in state)
        return f"{first} against {second}" if first else "before the battle"

    def scene(self, state: Battle) -> Scene:
        """Draw the battlefields with the soldiers on them."""
        if not self.is_terminal(state):
            fields = tuple(Cell("?", name=f"battlefield {n + 1}") for n in range(self.fields))
            news = f"{self.soldiers[0]} soldiers against {self.soldiers[1]}"
            return Pieces("battlefields", "cards", fields), Prose("", (news,))
        return tuple(
            Pieces(
                self.player_name(player),
                "cards",
                tuple(Cell(str(n), ("first", "second")[player]) for n in own),
            )
            for player, own in enumerate(state)
        )


SPEC = GameSpec(
    name="blotto",
    make=Blotto,
    rules=(
        "Both divide their soldiers among the battlefields at once. The larger force takes\n"
        "a field; the payoff is the number of fields taken less that of fields lost."
    ),
    environments={
        "solvent/Blotto-v0": Environment(
            opponent="uniform",
            optimum=0.28571428571428564,
            model_hash="565ceefb9d21705accf40d9f18e2b60a148e1c6bd36bcaeac981497209d60a05",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
