"""The racetrack, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="racetrack",
    make="solvent.games.racetrack.rules:Racetrack",
    rules=(
        "Change your velocity up and to the right by at most 1 each step; sometimes that\n"
        "fails. Each step costs 1. Cross the finish F; off the track you start anew."
    ),
    environments={
        "solvent/Racetrack-v0": Environment(
            optimum=-11.694577426507943,
            model_hash="26652929e2fc4a415acaab545060cb10f997e2390bcfc3b8c488b250dc915293",
        ),
        "solvent/RacetrackBend-v0": Environment(
            parameters={"track": "bend"},
            optimum=-4.260179147195957,
            model_hash="647129a6a6e226965e9b9dafc726cb553f819e15d715fc9aa6168f57a45448ed",
        ),
    },
    choices={"track": "solvent.games.racetrack.rules:TRACKS"},
)
