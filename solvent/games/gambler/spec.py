"""The gambler's problem, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="gambler",
    make="solvent.games.gambler.rules:Gambler",
    rules=(
        "Stake part of your capital on heads, again and again: heads pays the stake,\n"
        "tails loses it. You win at the goal, and lose when you have nothing left."
    ),
    environments={
        "solvent/Gambler-v0": Environment(
            optimum=0.4,
            model_hash="f98f9a02fd0f7ce58c93078003512d2740a6f49ec572f825d48b8bd7d097eaf9",
        ),
    },
)
