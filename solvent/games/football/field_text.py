"""A football field in lines of text."""

from __future__ import annotations


def pitch(length: int, ball: int | None, gain: int | None) -> tuple[str, ...]:
    """A football field, played from left to right, in three lines, and below them yard numbers.

    A character stands for two yards. `▒` are the end zones, `|` comes every ten yards, `●` is the
    ball and `¦` the line to gain. Environments paint the lines as one field. A field of 10 yards
    or less has no numbers.

    Args:
        length: Of the field between the goal lines, in yards.
        ball: Yards from the left goal line; None if there is no ball.
        gain: The same of the line to gain; one at the right goal line is not marked.
    """
    width = -(-length // 2)
    grass = ["|" if cell and cell % 5 == 0 else "·" for cell in range(width)]
    if gain is not None and gain < length:
        grass[max(gain, 0) // 2] = "¦"
    edge = "".join(grass)
    if ball is not None:
        grass[min(max(ball, 0) // 2, width - 1)] = "●"
    numbers = "".join(f"{min(yard, length - yard):5d}" for yard in range(10, length, 10))
    rows = (edge, "".join(grass), edge)
    return (*(f"▒▒▒{cells}▒▒▒" for cells in rows), *(["    " + numbers] if numbers else []))
