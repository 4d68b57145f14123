"""Yahtzee for one player, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="yahtzee",
    make="solvent.games.yahtzee.rules:Yahtzee",
    rules=(
        "Roll five dice, then twice more those that you choose, and fill one of thirteen\n"
        "boxes with what they score. 63 points in the upper section earn 35 more, another\n"
        "Yahtzee 100 if the box for it holds 50."
    ),
    environments={"solvent/Yahtzee-v0": Environment(optimum=254.58772873449593)},
    choices={"joker": "solvent.games.yahtzee.rules:JOKERS"},
    solver="solvent.games.yahtzee.layers:YahtzeeSolution.of",
    layered="solvent.games.yahtzee.layers:YahtzeeSolution",
    simulator="solvent.games.yahtzee.episodes:sampler_of",
    scorer="solvent.games.yahtzee.scores:score_player",
)
