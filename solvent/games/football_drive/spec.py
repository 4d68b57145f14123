"""A single drive of football, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="football-drive",
    make="solvent.games.football_drive.rules:FootballDrive",
    rules=(
        "You have the ball for one drive: four downs to gain ten yards by run or pass. A\n"
        "touchdown is 6.8 points, a field goal 3; a punt gives the ball away. At the end\n"
        "you lose 0.068 points for each yard of field position you give the other team."
    ),
    environments={
        "solvent/FootballDrive-v0": Environment(
            optimum=-0.944881148276792,
            model_hash="148e139f66590dc69a43fb0fc33b2a1275149527283f749a01c7fc492c91af3b",
        )
    },
    baselines="solvent.games.football_drive.baselines:BASELINES",
)
