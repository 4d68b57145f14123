"""The Dyna maze, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="dyna-maze",
    make="solvent.games.dyna_maze.rules:DynaMaze",
    rules="Go around the walls # to the goal G, which pays 1; the sooner, the better.",
    environments={
        "solvent/DynaMaze-v0": Environment(
            optimum=0.513342083279505,
            model_hash="bfc889516c8e64b81773ce00d50329ad97310889fcff5f7e30047a5baeca8d8c",
        ),
    },
    discount=0.95,
)
