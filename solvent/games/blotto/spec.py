"""Colonel Blotto, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="blotto",
    make="solvent.games.blotto.rules:Blotto",
    rules=(
        "Both divide their soldiers among the battlefields at once. Who has more on a\n"
        "field takes it; what counts is fields taken less fields lost."
    ),
    environments={
        "solvent/Blotto-v0": Environment(
            opponent="uniform",
            optimum=0.28571428571428564,
            model_hash="565ceefb9d21705accf40d9f18e2b60a148e1c6bd36bcaeac981497209d60a05",
        ),
    },
    pettingzoo={},
    simultaneous=True,
)
