"""Pig, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

# To 20 instead of 100: a table of thousands of states, not of a million.
SHORT = {"target": 20}

SPEC = GameSpec(
    name="pig",
    make="solvent.games.pig.rules:Pig",
    rules=(
        "Roll a die as often as you like and add up what it shows; a 1 ends your turn,\n"
        "and its total is lost. Hold to add the total to your score and pass the die. The\n"
        "first to reach the target wins."
    ),
    environments={
        "solvent/Pig-v0": Environment(
            parameters=SHORT,
            opponent="optimal",
            optimum=0.6155585498050428,
            model_hash="895df2bf2e2a5d6a6e51d59ab729c49ac245aab760328941898f8271c4b2042f",
        )
    },
    pettingzoo=SHORT,
    pages="solvent.games.pig.report:PigPages",
)
