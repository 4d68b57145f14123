"""What is learned in an environment: whose policy, in which game, against whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvent.model import TabularGame, against
from solvent.model.parameters import shown


@dataclass(frozen=True, eq=False)
class LearnedSeat:
    """What is learned in an environment against opponents who do not change.

    Attributes:
        game: The game that is played.
        left: The game that a policy is scored on: against one opponent, what is left for the
            learner when it is folded into chance; against several, of which the learner does
            not know which it meets, the game itself, that is, against the worst opponent.
        player: Whose policy is learned.
        observation: What the learner sees: ``"vector"``, ``"onehot"`` or ``"index"``.
    """

    game: TabularGame
    left: TabularGame
    player: int
    observation: str


def learned_seat(env: Any, player: int | None = None) -> LearnedSeat:
    """What is learned in an environment of this package.

    Args:
        env: A single environment or a vector environment, which samples a table.
        player: Whose policy, where the learner takes either seat; elsewhere the environment says
            it.

    Raises:
        ValueError: If the environment samples no table, the learner takes either seat and `player`
            does not say which, or `player` is not the learner.
    """
    native = env.unwrapped
    if not isinstance(native.game, TabularGame):
        raise ValueError(
            f"{shown(env)} has too many states for a table; only a network can be scored there, "
            f"layer by layer (`solvent score network.npz --solution DIR`)"
        )
    # A single environment has an episode, and a vector environment many.
    sampled = getattr(native, "episode", None) or getattr(native, "simulator", None)
    alone = (getattr(sampled, "player", 0),)
    seats: tuple[int, ...] = getattr(native, "seats", alone)
    if player is None and len(seats) > 1:
        raise ValueError(
            "seat is 'random'; a policy is learned for 0 or 1 here, and for both by self-play: "
            "say player=0 or player=1"
        )
    player = seats[0] if player is None else player
    if player not in seats:
        raise ValueError(f"player is {shown(player)}; the learner of {shown(env)} is {seats[0]}")
    left: TabularGame = native.game
    opponents: tuple[Any, ...] = getattr(native, "opponents", ())
    if len(opponents) == 1:
        left = against(left, opponents[0][seats.index(player)])
    return LearnedSeat(native.game, left, player, getattr(sampled, "observation", "vector"))
