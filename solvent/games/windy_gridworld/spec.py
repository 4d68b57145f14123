"""The windy gridworld, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="windy-gridworld",
    make="solvent.games.windy_gridworld.rules:WindyGridworld",
    rules=(
        "Each move costs 1. The wind shifts it upward by as many cells as the number\n"
        "below the column that you leave says. Reach G."
    ),
    environments={
        "solvent/WindyGridworld-v0": Environment(
            optimum=-15.0,
            model_hash="de359d29172ef063d4e838e479bfe5048ab244f7be0c483f10172bf93cad212e",
        ),
    },
    choices={"moves": "solvent.games.windy_gridworld.rules:MOVES"},
)
