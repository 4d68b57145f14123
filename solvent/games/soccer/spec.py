"""Littman's soccer, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="soccer",
    make="solvent.games.soccer.rules:Soccer",
    rules=(
        "Both move a square at once, in a random order, or stand. Who walks into the\n"
        "other leaves or loses the ball to it. Carry the ball through the middle of the\n"
        "other's end to score; each step may end the game as a draw."
    ),
    environments={
        "solvent/Soccer-v0": Environment(
            opponent="uniform",
            optimum=0.5536837359270315,
            model_hash="2efdb55884829281e65b716af4026b2363be51527cb6771f2d085163ce042459",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
