"""Drawings of a football field: lines of text, and a picture painted from them.

A character stands for two yards, the first of which is at its left edge. So that is where lines and
ball are painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pygame

# Two greens, in turns every ten yards.
_GRASS = ((47, 122, 66), (42, 111, 60))

END_ZONE = (38, 70, 124)
LINE = (226, 232, 226)
TO_GAIN = (250, 204, 60)
BALL = (134, 76, 42)

# Characters between two yard lines.
_STRIPE = 5


def pitch(length: int, ball: int | None, gain: int | None) -> tuple[str, ...]:
    """A football field, played from left to right, in three lines, and below them yard numbers.

    `▒` are the end zones, `|` comes every ten yards, `●` is the
    ball and `¦` the line to gain. Environments paint the lines as one field. A field of 10 yards
    or less has no numbers.

    Args:
        length: Length of the field between the goal lines, in yards.
        ball: Yards from the left goal line; None if there is no ball.
        gain: Column of the line to gain; one at the right goal line is not marked.
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


def paint_pitch(surface: pygame.Surface, cells: pygame.Rect, text: str) -> None:
    """Paint one line of a field; lines below one another join.

    Args:
        surface: Surface to paint on.
        cells: The pixels of the line.
        text: The line, a character for each equal part of `cells`.
    """
    import pygame

    width = cells.width // len(text)

    def part(first: int, count: int) -> pygame.Rect:
        return pygame.Rect(cells.left + first * width, cells.top, count * width, cells.height)

    def line(column: int, colour: tuple[int, int, int], thickness: int) -> None:
        left = part(column, 1).left - thickness // 2
        pygame.draw.rect(surface, colour, (left, cells.top, thickness, cells.height))

    pygame.draw.rect(surface, END_ZONE, cells)
    left = len(text) - len(text.lstrip("▒"))
    right = len(text.rstrip("▒"))
    for stripe, first in enumerate(range(left, right, _STRIPE)):
        pygame.draw.rect(surface, _GRASS[stripe % 2], part(first, min(_STRIPE, right - first)))
    for column in range(left + _STRIPE, right, _STRIPE):
        line(column, LINE, 1)
    for column in (left, right):
        line(column, LINE, 3)
    for column in (i for i, mark in enumerate(text) if mark == "¦"):
        line(column, TO_GAIN, 3)
    for column in (i for i, mark in enumerate(text) if mark == "●"):
        ball = pygame.Rect(0, 0, 22, 14)
        ball.center = part(column, 1).midleft
        pygame.draw.ellipse(surface, BALL, ball)
