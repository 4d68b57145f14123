"""Rock-paper-scissors, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="rock-paper-scissors",
    make="solvent.games.rock_paper_scissors.rules:RockPaperScissors",
    rules=(
        "Both throw at once. Rock beats scissors, paper beats rock, scissors beat paper;\n"
        "what each victory counts may differ."
    ),
    environments={
        "solvent/RockPaperScissors-v0": Environment(
            opponent="first-legal",
            optimum=1.0,
            model_hash="786762d631cca910c9c17835e4ed65e6d85e50074c9d3377b253be65dd8566a7",
        ),
    },
    pettingzoo={},
    simultaneous=True,
    hyperparameters="solvent.games.rock_paper_scissors",
)
