"""What successors are worth at a moment, all columns at once."""

from __future__ import annotations

from numba import njit

from solvent.model.arrays import Bools, Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def rate_moment(
    worth: Floats,
    row: Ints,
    same_side: Bools,
    score: Ints,
    shifted: Ints,
    paid: Floats,
    values: Floats,
    swapped: Floats,
) -> None:
    """Write what successors are worth to the side that was on offence, if play goes on at a moment.

    Args:
        worth: [U, C], written.
        row: [U] of the layer.
        same_side: [U] whether the side that was on offence has the ball or kicks.
        score: [U] index of the points.
        shifted: [points, C] columns to which the points lead.
        paid: [points] what they are worth by themselves.
        values: [S+2, C] of the moment's layer.
        swapped: [S+2, C] of the layer with the time-outs of the sides exchanged.
    """
    columns = values.shape[1]
    for u in range(len(row)):
        at, scored = row[u], score[u]
        for c in range(columns):
            follows = shifted[scored, c]
            if same_side[u]:
                worth[u, c] = paid[scored] + values[at, follows]
            else:
                worth[u, c] = paid[scored] - swapped[at, columns - 1 - follows]
