"""Greed, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="greed",
    make="solvent.games.greed.rules:Greed",
    rules=(
        "Roll any number of dice at once; their sum is added to your score. Above the\n"
        "limit you are bust and lose. Rolling none is to stand: the other side has one\n"
        "last turn, then the higher score wins. The limit is 100 unless you say another."
    ),
    environments={
        "solvent/Greed-v0": Environment(
            opponent="optimal",
            optimum=0.5138417330406193,
            model_hash="3da900607f0c55bf731c4ee82629a34a4b264a117a2a2cdafeaeecb0f4afa9ee",
        ),
        # A table of 2,085 states, on which networks are trained in minutes.
        "solvent/GreedSmall-v0": Environment(
            parameters={"limit": 20, "sides": 4},
            opponent="optimal",
            optimum=0.5095828481076085,
            model_hash="c1dc2b7fd943521c818464608ef188c831f8eba2e3187a94471b37f6024fd94a",
        ),
    },
    pettingzoo={},
    baselines="solvent.games.greed.baselines:BASELINES",
    solver="solvent.games.greed.solver:solved_greed",
    pages="solvent.games.greed.report:GreedPages",
)
