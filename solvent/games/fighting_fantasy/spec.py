"""Combat of Fighting Fantasy, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="ff-combat",
    make="solvent.games.fighting_fantasy.rules:ff_combat",
    rules=(
        "Each round both roll two dice and add SKILL; the lower total loses 2 STAMINA.\n"
        "Whoever is at 0 has lost. You may test LUCK with two dice: with LUCK or less,\n"
        "your hit costs 4 and theirs 1; with more, 1 and 3. Each test uses up 1 LUCK."
    ),
    environments={
        "solvent/FFCombat-v0": Environment(
            optimum=0.7372926032646748,
            model_hash="3b07081722a35f0050bcde64d65da6ae6e371b1b567d9d18e638be5fe7abb301",
        ),
        "solvent/FFCombatRandom-v0": Environment(
            parameters={
                "skill_difference": [-3, 3],
                "stamina": [2, 24],
                "opponent_stamina": [2, 24],
                "luck": [0, 12],
            },
            optimum=0.5563283613569667,
            model_hash="582a3b260bd640a272beb7b9cc7fa561608d2b5e7edf9bcd6b8d36a25c1dcc02",
        ),
    },
    choices={
        "opponent": "solvent.games.fighting_fantasy.rules:OPPONENTS",
        "damage": "solvent.games.fighting_fantasy.rules:DAMAGE",
    },
    baselines="solvent.games.fighting_fantasy.baselines:BASELINES",
    pages="solvent.games.fighting_fantasy.report:CombatPages",
)
