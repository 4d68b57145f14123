"""Pig, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

# To 20 instead of 100, whose table takes a minute to build.
SHORT = {"target": 20}

SPEC = GameSpec(
    name="pig",
    make="solvent.games.pig.rules:Pig",
    environments={
        "solvent/Pig-v0": Environment(
            parameters=SHORT,
            opponent="optimal",
            optimum=0.6155585498050428,
            model_hash="895df2bf2e2a5d6a6e51d59ab729c49ac245aab760328941898f8271c4b2042f",
        )
    },
    pettingzoo=SHORT,
    sections="solvent.games.pig.report:pig_sections",
)
