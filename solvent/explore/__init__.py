"""Explore a solved game in a browser, with nothing but this machine involved.

``solvent explore GAME`` serves the pages on the loopback address. They are generic over
:class:`~solvent.exact.SolvedGame`: a state set by its fields, with the value of each action in it
and why; an episode against the optimum, with the odds and the mistakes that cost most; maps of
value and policy; a policy from a file beside the optimum; value iteration and Q-learning as they
go. What only one game has, its spec adds (``explorer`` of
:class:`solvent.model.registry.GameSpec`).

Pages are HTML written by the server, and work without scripts except for the interactive map.
Flask (the extra ``web``) is the library: pure Python, no files from other servers, typed, with a
client for tests.
"""

from solvent.explore.explorer import Explorer
from solvent.explore.live_grid import write_live_grid
from solvent.explore.pages import write_map, write_replay
from solvent.explore.server import make_app, serve

__all__ = ["Explorer", "make_app", "serve", "write_live_grid", "write_map", "write_replay"]
