"""Reinforcement-learning environments with known solutions.

Importing the package registers its environments with Gymnasium and PettingZoo. Solvers and
everything else are loaded when they are first used.
"""

import lazy_loader

from solvent.registration import register_envs

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register_envs()
