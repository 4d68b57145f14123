"""Gamebooks, as the toolkit knows them."""

from solvent.model.registry import Command, Environment, GameSpec

SPEC = GameSpec(
    name="gamebook",
    make="solvent.games.gamebook.library:open_book",
    rules=(
        "You read a story in sections and choose how it goes on: ways, purchases, fights.\n"
        "Dice decide the rest. Every ending has a score; get to the best you can."
    ),
    environments={
        "solvent/Gamebook-v0": Environment(
            optimum=0.7348611111111111,
            model_hash="98ded35411af78607f522d6a5e50202772fbf0aef6a728cef865d73e3bdc2821",
        ),
        "solvent/NinthTide-v0": Environment(
            parameters={"book": "ninth-tide"},
            optimum=0.627629889784241,
            model_hash="9edce05cf58a21221cb1e510ec1f462aadc8a568e7551cb7617855c6abb79f02",
        ),
    },
    shorthands={"book": {"book": ...}},
    choices={"book": "solvent.games.gamebook.library:book_names"},
    baselines="solvent.games.gamebook.library:BASELINES",
    pages="solvent.games.gamebook.report:GamebookPages",
    commands={
        "book": Command(
            "solvent.games.gamebook.commands:book_commands",
            "Check or solve a gamebook file, or make one from a Twine story.",
        )
    },
)
