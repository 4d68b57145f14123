"""Explore solved games in a browser, with nothing but this machine involved.

``solvent explore`` serves the pages on the loopback address: a gallery of all games, and for each a
board on which every position, move and mistake has its exact value. The pages are generic over
:class:`~solvent.exact.SolvedGame`; what a position looks like a game says as data
(:meth:`solvent.model.game.Words.scene`), and its spec may add sections (``explorer`` of
:class:`solvent.model.registry.GameSpec`).

Pages are HTML written by the server, and work without scripts except for the interactive map.
Flask (the extra ``web``) is the library: pure Python, no files from other servers, typed, with a
client for tests.
"""

from solvent.explore.explorer import Explorer
from solvent.explore.server import Library, make_app, serve

__all__ = [
    "Explorer",
    "Library",
    "make_app",
    "serve",
]
