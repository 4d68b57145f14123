"""The random walk of Sutton and Barto, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="random-walk",
    make="solvent.games.random_walk.rules:RandomWalk",
    rules=(
        "A walker goes left or right by chance until it leaves the row: on the right for\n"
        "1, on the left for nothing, or for -1. There is nothing to choose."
    ),
    environments={
        "solvent/RandomWalk-v0": Environment(
            optimum=0.5,
            model_hash="5b4a967302f04c9033f8d4e6ebbc3e4ef73e6064da9b2ed931b5ff7477dfe5fa",
        ),
        "solvent/RandomWalk19-v0": Environment(
            parameters={"states": 19, "left": -1},
            optimum=0.0,
            model_hash="d179dbf0f7c175ddef4fb1dd51ea790c4931f67eb33760b08efc8ccbce7c141a",
        ),
    },
)
