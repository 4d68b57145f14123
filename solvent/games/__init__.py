"""The games: a file each, or a folder if there is more than the rules, with a `SPEC` each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
