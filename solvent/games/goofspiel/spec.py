"""Goofspiel, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="goofspiel",
    make="solvent.games.goofspiel.rules:Goofspiel",
    rules=(
        "A prize is turned up, and both bid one of their cards for it at once. The higher\n"
        "card takes the prize from the other player, equal cards nothing; both are gone.\n"
        "What counts is the difference of points when all prizes are gone."
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
    hyperparameters="solvent.games.goofspiel",
)
