"""Rock-paper-scissors, in which each victory may count differently.

Both players throw at once. Rock beats scissors, paper beats rock, scissors beat paper; equal throws
are a draw. With what a victory of rock, paper and scissors counts, r, p and s, the payoffs to the
row player are

    .          rock   paper   scissors
    rock          0      -p          r
    paper         p       0         -s
    scissors     -r       s          0

Each row balances if x(paper) p = x(scissors) r and so on, hence the only equilibrium strategy gives
rock, paper and scissors weights in proportion to s, r and p: the probability of a throw is in
proportion to the reward for a victory *over the throw that beats it*. The value is 0, since the
game is symmetric (J. von Neumann and O. Morgenstern, "Theory of Games and Economic Behavior", 1944,
section 17.11).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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
    check_integers,
)

THROWS = ("rock", "paper", "scissors")
# No throw yet.
_OPEN = -1


class Hands(NamedTuple):
    """The throws of both players."""

    first: int
    second: int


@dataclass(frozen=True)
class RockPaperScissors(Rules):
    """One throw of rock-paper-scissors.

    Args:
        wins: Points for a victory of rock, of paper and of scissors, whole numbers from 1 to
            1000.
    """

    wins: Sequence[int] = (1, 1, 1)

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "wins", check_integers(self.wins, "wins", 1, 1000, (3, 3)))

    start = Hands(_OPEN, _OPEN)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        most = float(max(self.wins))
        return GameInfo(
            name="rock-paper-scissors",
            players=2,
            actions=(THROWS, THROWS),
            acyclic=True,
            reward_range=(-most, most),
            sources=("von Neumann and Morgenstern 1944, section 17.11",),
            parameters=(("wins", list(self.wins)),),
            observation_labels=("my throw", "other throw"),
        )

    def transition(self, state: Hands, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Compare the throws."""
        first, second = joint_action
        ahead = (first - second) % 3
        reward = {0: 0, 1: self.wins[first], 2: -self.wins[second]}[ahead]
        return (Outcome(Fraction(1), Hands(first, second), reward),)

    def is_terminal(self, state: Hands) -> bool:
        """Return whether both players have thrown."""
        return state.first != _OPEN

    def observe(self, state: Hands, player: int) -> NDArray[np.float32]:
        """Return both throws, in thirds; 0 before."""
        mine, other = state if player == 0 else state[::-1]
        return np.array([(mine + 1) / 3, (other + 1) / 3], np.float32)

    def place(self, state: Hands) -> str:
        """Return both throws."""
        both = f"{THROWS[state.first]} against {THROWS[state.second]}"
        return both if self.is_terminal(state) else "before the throw"

    def scene(self, state: Hands) -> Scene:
        """Draw what can be thrown, or both throws."""
        if not self.is_terminal(state):
            return (Pieces("", "cards", tuple(Cell(name, "", k) for k, name in enumerate(THROWS))),)
        throws = Cell(THROWS[state.first], "first"), Cell(THROWS[state.second], "second")
        ahead = (state.first - state.second) % 3
        result = f"{self.player_name(ahead - 1)} wins." if ahead else "A draw."
        return Pieces("", "cards", throws), Prose("", (result,))


SPEC = GameSpec(
    name="rock-paper-scissors",
    make=RockPaperScissors,
    rules=(
        "Both throw at once. Rock beats scissors, paper beats rock, scissors beat paper;\n"
        "what each victory counts may differ."
    ),
    environments={
        "solvent/RockPaperScissors-v0": Environment(
            opponent="first-legal",
            optimum=1.0,
            model_hash="786762d631cca910c9c17835e4ed65e6d85e50074c9d3377b253be65dd8566a7",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
