"""A single drive of football, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="football-drive",
    make="solvent.games.football_drive.rules:FootballDrive",
    environments={"solvent/FootballDrive-v0": Environment(optimum=-0.944881148276792)},
    painter="solvent.games.football.field_picture:paint_pitch",
    baselines="solvent.games.football_drive.baselines:BASELINES",
    hyperparameters="solvent.games.football_drive",
)
