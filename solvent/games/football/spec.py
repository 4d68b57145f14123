"""Football Strategy in all its forms, with a clock and without, as the toolkit knows it."""

from solvent.model.registry import Command, Environment, GameSpec

# The hash of the model of a drive.
_MODEL = "14e27ad1a940f371381aff7e5cc97048119b16b76ceb2f96581325bdda11c622"

SPEC = GameSpec(
    name="football-strategy",
    make="solvent.games.football_clock.forms:football_strategy",
    rules=(
        "The offence calls a play or a kick, the defence a letter, at the same time; the\n"
        "chart (`solvent chart show`) says what comes of it. Four downs to gain ten yards.\n"
        "A touchdown is 6 points and mostly 1 more, a field goal 3, a safety 2 for the\n"
        "other side."
    ),
    environments={
        "solvent/FootballStrategy-v0": Environment(
            opponent="optimal", optimum=0.4276550008965, model_hash=_MODEL
        ),
        "solvent/FootballAgent-v0": Environment(
            opponent="paper-agent", optimum=4.056183788860, model_hash=_MODEL
        ),
        "solvent/FootballTwoMinutes-v0": Environment(
            parameters={"form": "two-minutes"}, opponent="uniform"
        ),
        "solvent/FootballHalf-v0": Environment(parameters={"form": "half"}, opponent="uniform"),
        "solvent/FootballSecondHalf-v0": Environment(
            parameters={"form": "second-half"}, opponent="uniform"
        ),
        "solvent/FootballGame-v0": Environment(parameters={"form": "full"}, opponent="uniform"),
    },
    pettingzoo={},
    simultaneous=True,
    shorthands={
        "football": {"form": "half"},
        "football-short": {"form": "half", "timeouts": 0},
    },
    choices={
        "form": "solvent.games.football_clock.rules:ALL_FORMS",
        "chart": "solvent.games.football.chart:SHIPPED",
    },
    players="solvent.games.football_clock.players:PLAYERS",
    baselines="solvent.games.football.baselines:BASELINES",
    solver="solvent.games.football_clock.solution:solved_football",
    layered="solvent.games.football_clock.solution:TimedSolution",
    scorer="solvent.games.football_clock.players:score_player",
    simulator="solvent.games.football_clock.simulation:sampler_of",
    pages="solvent.games.football_clock.report:TimedFootballPages",
    commands={
        "chart": Command(
            "solvent.games.football.commands:chart_commands",
            "Make, check and show charts of football games.",
        )
    },
)
