"""Expectation: the exact optimum of a game, and exact numbers about any policy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
