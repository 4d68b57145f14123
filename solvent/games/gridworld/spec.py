"""The gridworld of Sutton and Barto, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="gridworld",
    make="solvent.games.gridworld.rules:Gridworld",
    rules=(
        "Go from cell to cell for ever; bumping into the edge costs 1. Every move from A\n"
        "pays 10 and leads to a, from B it pays 5 and leads to b."
    ),
    environments={
        "solvent/Gridworld-v0": Environment(
            optimum=17.328616541720592,
            model_hash="0703c44c171dcba3927942354d0eb8e0f8ad54588620a517fbe25f4cc90a941b",
        ),
    },
    discount=0.9,
)
