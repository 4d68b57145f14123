"""The report: a self-contained HTML page about a game or the results of a bench."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
