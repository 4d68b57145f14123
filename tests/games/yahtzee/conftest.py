"""The official game, solved once."""

from __future__ import annotations

import pytest

from solvent.games.yahtzee.layers import YahtzeeSolution, solved_yahtzee
from solvent.games.yahtzee.rules import Yahtzee


@pytest.fixture(scope="session")
def official() -> YahtzeeSolution:
    return solved_yahtzee(Yahtzee())
