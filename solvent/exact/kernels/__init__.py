"""Loops of the solvers, each module loaded when it is first used: ``kernels.chain`` loads one."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
