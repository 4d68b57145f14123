"""Nim, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="nim",
    make="solvent.games.nim.rules:Nim",
    rules=(
        "Take any number of objects from one heap, in turns. Who takes the last one wins,\n"
        "or in misère play loses."
    ),
    environments={
        "solvent/Nim-v0": Environment(
            opponent="optimal",
            optimum=1.0,
            model_hash="60700d389af34272939f74a371d87744d48f20c5c2e841a8b490317e49cbc48a",
        ),
        "solvent/NimMisere-v0": Environment(
            parameters={"misere": True},
            opponent="optimal",
            optimum=1.0,
            model_hash="cf280b89e7a94867ea2c481cb44c72ec5a53538ce31e751a55da2ff5156a6c95",
        ),
    },
    pettingzoo={},
)
