"""The drive that begins in any position, which takes seconds to make."""

from __future__ import annotations

import pytest

from solvent.exact import Solution, solve
from solvent.games.football_drive.rules import FootballDrive
from solvent.model import TabularGame, compile_game


@pytest.fixture(scope="session")
def anywhere() -> TabularGame:
    return compile_game(FootballDrive(start="anywhere"))


@pytest.fixture(scope="session")
def solved_anywhere(anywhere: TabularGame) -> Solution:
    return solve(anywhere)
