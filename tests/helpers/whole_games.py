"""The evidence of whole games of football with a clock: manifests that the repository keeps.

Another folder below ``docs/evidence`` is found by itself, and all tests of evidence take it.
"""

from __future__ import annotations

from pathlib import Path

from solvent import make_game
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import LayeredSolution
from solvent.games.football_clock.layers import FootballLayers

FOLDERS = sorted((Path(__file__).parents[2] / "docs" / "evidence").glob("football-*"))


def opened(folder: Path) -> LayeredSolution:
    """The evidence in a folder, which has to be of the game as it is played by default."""
    found = LayerFolder.open(folder, FootballLayers, manifest_only=True).game
    game = make_game("football-strategy", form=found.form, timeouts=found.clock.timeouts)
    store = LayerFolder.open(folder, FootballLayers.of(game), manifest_only=True)
    return LayeredSolution(store, game)
