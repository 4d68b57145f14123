"""Blackjack with an infinite deck, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="blackjack",
    make="solvent.games.blackjack.rules:Blackjack",
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
