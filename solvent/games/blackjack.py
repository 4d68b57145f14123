"""Blackjack with an infinite deck: hit or stick, against a dealer without a choice.

Face cards count 10, an ace 1 or 11. Player and dealer have two cards each, of which one of the
dealer's is seen. The player hits, asks for another card, or sticks; beyond 21 the player has lost.
After that the dealer hits up to 16 and sticks on 17 and more. The hand nearer to 21 wins; the
return is 1, 0 or -1. Cards are drawn with replacement. An ace that counts 11 without going beyond
21 is usable.

R. S. Sutton and A. G. Barto, "Reinforcement Learning: An Introduction", second edition, MIT Press
2018, Examples 5.1 and 5.3. A player whose first two cards make 21 has a natural, and wins unless
the dealer has one too. Below 12 a card can only help, so the player gets one without being asked,
as the book's 200 states have it. ``natural=False`` makes a natural a 21 like any other, which is
what Gymnasium's ``Blackjack-v1`` does unless it is told otherwise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

from solvent.model import (
    Cell,
    Environment,
    GameInfo,
    GameSpec,
    Gauge,
    JointAction,
    Outcome,
    Pieces,
    Prose,
    Rules,
    Scene,
    check_flag,
    merged,
)

STICK, HIT = 0, 1
GOAL, DEALER_STICKS, PLAYER_ASKED = 21, 17, 12

CARDS = {card: Fraction(4 if card == 10 else 1, 13) for card in range(1, 11)}
"""The probability of each card; an ace is 1."""


class Hand(NamedTuple):
    """The player's sum, the dealer's card, and flags for a usable ace and a natural."""

    total: int
    dealer: int
    usable: bool
    natural: bool = False


OVER = Hand(0, 0, False)
"""The end of the hand."""


def add(total: int, usable: bool, card: int) -> tuple[int, bool]:
    """Return a sum, and whether an ace in it is usable, after another card."""
    total += card
    if card == 1 and total + 10 <= GOAL:
        return total + 10, True
    if usable and total > GOAL:
        return total - 10, False
    return total, usable


@cache
def drawn_to(least: int, total: int, usable: bool) -> dict[tuple[int, bool], Fraction]:
    """Return the distribution of a sum, and its usable ace, after drawing cards up to `least`."""
    if total >= least:
        return {(total, usable): Fraction(1)}
    found: dict[tuple[int, bool], Fraction] = {}
    for card, p in CARDS.items():
        for last, q in drawn_to(least, *add(total, usable, card)).items():
            found[last] = found.get(last, Fraction(0)) + p * q
    return found


@cache
def dealers_natural(card: int) -> Fraction:
    """Return the probability that the dealer's two cards make 21."""
    return {1: CARDS[10], 10: CARDS[1]}.get(card, Fraction(0))


@dataclass(frozen=True)
class Blackjack(Rules):
    """Blackjack with an infinite deck.

    Args:
        natural: Whether two cards that make 21 win against any other 21.
    """

    natural: bool = True

    scale = (GOAL, 10, 1, 1)

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_flag(self.natural, "natural")

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        return GameInfo(
            name="blackjack",
            players=1,
            actions=(("stick", "hit"),),
            # A usable ace that becomes 1 takes 10 off, but there is only one of them.
            acyclic=True,
            reward_range=(-1.0, 1.0),
            sources=("Sutton and Barto 2018, Examples 5.1 and 5.3",),
            parameters=(("natural", self.natural),),
            observation_labels=("sum", "dealer's card", "usable ace", "natural"),
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Deal two cards (more if below 12), and a card of the dealer's."""
        found = []
        for (dealer, p), (first, q), (second, r) in product(CARDS.items(), repeat=3):
            total, usable = add(*add(0, False, first), second)
            natural = self.natural and total == GOAL
            for asked, s in drawn_to(PLAYER_ASKED, total, usable).items():
                found.append(Outcome(p * q * r * s, Hand(asked[0], dealer, asked[1], natural)))
        return tuple(sorted(merged(found), key=lambda outcome: outcome.state))

    def legal_actions(self, state: Hand) -> tuple[tuple[int, ...], ...]:
        """Return stick and hit; with a natural there is no choice."""
        return ((STICK,) if state.natural else (STICK, HIT),)

    def transition(self, state: Hand, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Deal the dealer's cards, or another card to the player."""
        if joint_action == (HIT,):
            return self._hit(state)
        if state.natural:
            both = dealers_natural(state.dealer)
            results = {1: 1 - both, 0: both}
        else:
            results = {1: Fraction(0), 0: Fraction(0), -1: Fraction(0)}
            for (last, _), p in drawn_to(DEALER_STICKS, *add(0, False, state.dealer)).items():
                dealers = last if last <= GOAL else 0
                results[(state.total > dealers) - (state.total < dealers)] += p
        return tuple(Outcome(p, OVER, result) for result, p in results.items() if p)

    def _hit(self, state: Hand) -> tuple[Outcome, ...]:
        lost, outcomes = Fraction(0), []
        for card, p in CARDS.items():
            total, usable = add(state.total, state.usable, card)
            if total > GOAL:
                lost += p
            else:
                outcomes.append(Outcome(p, Hand(total, state.dealer, usable)))
        return (*outcomes, Outcome(lost, OVER, -1)) if lost else tuple(outcomes)

    def is_terminal(self, state: Hand) -> bool:
        """Return whether the hand is over."""
        return state == OVER

    def explain(self, action: int, player: int) -> str:
        """Return a short description of an action."""
        return ("take no more cards; the dealer draws", "take another card")[action]

    def scene(self, state: Hand) -> Scene:
        """Draw the dealer's card and the player's sum."""
        if self.is_terminal(state):
            return (Prose("", ("The hand is over.",)),)
        note = ", a natural" if state.natural else ", with a usable ace" if state.usable else ""
        card = "A" if state.dealer == 1 else str(state.dealer)
        return (
            Pieces(
                "the dealer", "cards", (Cell(card, "second"), Cell("?", "wall", name="face down"))
            ),
            Gauge(f"your sum{note}", state.total, 21),
        )


SPEC = GameSpec(
    name="blackjack",
    make=Blackjack,
    rules=(
        "Hit for another card or stick. Whoever is nearer to 21 wins, but beyond 21 you\n"
        "have lost; an ace counts 1 or 11. The dealer sticks on 17 and more."
    ),
    environments={
        "solvent/Blackjack-v0": Environment(
            optimum=-0.04311310541347701,
            model_hash="5a267b0378f2bb569a94a3b2ac3bb75f82c8477f771a5f0a0ed78ac76fcf403b",
        ),
    },
)
