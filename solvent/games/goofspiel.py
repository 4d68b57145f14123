"""Goofspiel, the game of pure strategy.

Each player has cards of 1 to n, and there are prizes of 1 to n. A prize is turned up, both bid a
card for it at once, the higher card wins the prize from the other player, and equal cards win
nothing. The cards bid are gone. What counts is the difference of points: so in S. M. Ross,
"Goofspiel, the game of pure strategy", Journal of Applied Probability 8, 1971, who shows that
against bids at random it is best to bid the card that equals the prize, and in G. C. Rhoads and L.
Bartholdi, "Computer solution to the game of pure strategy", Games 3(4), 2012, who solve the game of
thirteen cards. Prizes come in a random order there; here they may also come in a fixed one.

The points so far are no part of the state: with differences of points they do not matter to what
follows.
"""

from collections.abc import Mapping, Sequence
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
    check_choice,
    check_integer,
)

RANDOM, ASCENDING, DESCENDING = "random", "ascending", "descending"
# The possible orders of the prizes.
_ORDERS = (RANDOM, ASCENDING, DESCENDING)

Cards = tuple[int, ...]


class Bidding(NamedTuple):
    """The current prize, the prizes to come, and the cards in both hands, all ascending."""

    prize: int
    prizes: Cards
    first: Cards
    second: Cards


@dataclass(frozen=True)
class Goofspiel(Rules):
    """Goofspiel for two.

    Args:
        cards: Number of cards of each player, 2 to 7.
        order: Order in which the prizes come: ``"random"``, ``"ascending"`` or ``"descending"``.
    """

    cards: int = 5
    order: str = RANDOM

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.cards, "cards", 2, 7)
        check_choice(self.order, "order", _ORDERS)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        # At best a player loses only the prize of 1; nobody can win them all.
        most = float(sum(self._every) - 2)
        names = tuple(f"bid {card}" for card in self._every)
        return GameInfo(
            name="goofspiel",
            players=2,
            actions=(names, names),
            acyclic=True,
            reward_range=(-most, most),
            sources=("Ross 1971", "Rhoads and Bartholdi 2012"),
            parameters=(("cards", self.cards), ("order", self.order)),
            observation_labels=(
                *(f"my {card}" for card in self._every),
                *(f"the other's {card}" for card in self._every),
                *(f"prize {card} to come" for card in self._every),
                "prize",
            ),
            unit="points",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the full hands, with the first prize turned up."""
        every = tuple(self._every)
        return self._turned_up(every, every, every)

    def _turned_up(self, prizes: Cards, first: Cards, second: Cards) -> tuple[Outcome, ...]:
        """Return the distribution of the next prize, given the remaining ones."""
        if not prizes:
            return (Outcome(Fraction(1), Bidding(0, (), (), ())),)
        up = {RANDOM: prizes, ASCENDING: prizes[:1], DESCENDING: prizes[-1:]}[self.order]
        return tuple(
            Outcome(Fraction(1, len(up)), Bidding(prize, _without(prizes, prize), first, second))
            for prize in up
        )

    def legal_actions(self, state: Bidding) -> tuple[tuple[int, ...], ...]:
        """Return the cards in hand."""
        return tuple(tuple(card - 1 for card in hand) for hand in (state.first, state.second))

    def transition(self, state: Bidding, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The higher card wins the prize, and the next one is turned up."""
        mine, other = (action + 1 for action in joint_action)
        reward = state.prize * ((mine > other) - (mine < other))
        hands = _without(state.first, mine), _without(state.second, other)
        return tuple(
            Outcome(after.probability, after.state, reward)
            for after in self._turned_up(state.prizes, *hands)
        )

    def is_terminal(self, state: Bidding) -> bool:
        """Return whether all prizes are gone."""
        return state.prize == 0

    def observe(self, state: Bidding, player: int) -> NDArray[np.float32]:
        """Return the hands, the player's own first, the prizes to come, and the scaled prize."""
        mine, other = (state.first, state.second)[:: 1 - 2 * player]
        held = [card in cards for cards in (mine, other, state.prizes) for card in self._every]
        return np.array([*held, state.prize / self.cards], np.float32)

    @property
    def _every(self) -> range:
        return range(1, self.cards + 1)

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the prizes and the hands."""
        hands = (f"hand of {self.player_name(player)}" for player in (0, 1))
        return {"": ("prize", "prizes to come", *hands)}

    def scene(self, state: Bidding) -> Scene:
        """Draw the prizes and both hands."""
        if self.is_terminal(state):
            return (Prose("", ("All prizes are gone.",)),)
        hands = [
            Pieces(
                f"hand of {self.player_name(player)}",
                "cards",
                tuple(
                    Cell(str(card), ("first", "second")[player], None if player else card - 1)
                    for card in hand
                ),
            )
            for player, hand in enumerate((state.first, state.second))
        ]
        prizes = (
            Cell(str(state.prize), "goal"),
            *(Cell(str(prize), "pit") for prize in state.prizes),
        )
        return (Pieces("the prize, and those to come", "cards", prizes), *hands)


def _without(cards: Cards, card: int) -> Cards:
    return tuple(other for other in cards if other != card)


SPEC = GameSpec(
    name="goofspiel",
    make=Goofspiel,
    rules=(
        "A prize is turned up, and both bid one of their cards for it at once. The higher\n"
        "card takes the prize from the other player, equal cards nothing; both are gone.\n"
        "The payoff is the difference of points when all prizes are gone."
    ),
    environments={
        "solvent/Goofspiel-v0": Environment(
            opponent="uniform",
            optimum=4.0,
            model_hash="d86ada7f9074476c50552f3a7f20d4a4248658b677a042aa4f3fb172fa0f5a1a",
        ),
        "solvent/GoofspielSmall-v0": Environment(
            parameters={"cards": 4},
            opponent="uniform",
            optimum=2.5,
            model_hash="5611a099c7f3cd954244183697bd0e96f16a8a8d7846a77c30d0b607f5404857",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
