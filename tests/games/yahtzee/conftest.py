"""The official game, solved once."""

from __future__ import annotations

import pytest

from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.layers import YahtzeeSolution, solved_yahtzee


@pytest.fixture(scope="session")
def official() -> YahtzeeSolution:
    return solved_yahtzee(Yahtzee())
