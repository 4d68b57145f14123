"""The cells of gridworlds, which are the states of several games."""

from typing import NamedTuple


class Cell(NamedTuple):
    """A cell, counted from the top left."""

    row: int
    column: int
