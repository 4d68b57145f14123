"""Pictures of a game, made from the text that its rules draw.

The text is laid on a grid of cells. A run of ``█`` and ``░`` becomes a gauge, painted as a bar
(:func:`solvent.model.scene.gauge`). Text between ``▒`` becomes a line of a football field
(:func:`solvent.model.scene.pitch`). The rest consists of phrases, which end at two blanks or a
gauge. A phrase with a word or number of at least two characters is written from its first cell on.
Any other phrase is part of a board, and each character is centred in its own cell. So the columns
of a drawing stay aligned in the font that comes with pygame, although its characters differ in
width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from solvent.model import Game, TabularGame

if TYPE_CHECKING:
    import pygame

CELL = (13, 36)
"""Width and height of a cell, in pixels."""

MARGIN = 32
FONT_SIZE = 26

BACKGROUND = (24, 26, 31)
PANEL = (33, 36, 43)
TEXT = (222, 225, 230)
TRACK = (58, 63, 74)
# Colours of the gauges from the top down, over and over.
_GAUGES = ((79, 193, 166), (232, 115, 92), (240, 191, 76), (124, 156, 242))

# Two greens, in turns every ten yards.
_GRASS = ((47, 122, 66), (42, 111, 60))

_END_ZONE = (38, 70, 124)
_LINE = (226, 232, 226)
_TO_GAIN = (250, 204, 60)
_BALL = (134, 76, 42)

# Characters between two yard lines.
_STRIPE = 5

_RUN = re.compile(r"(?P<gauge>[█░]+)|(?P<pitch>▒+[^▒]+▒+)|[^\s█░]+(?: [^\s█░]+)*")
_WORD = re.compile(r"\w\w|\w/\w")


# Number of states of a table whose drawings are measured.
_MEASURED = 4096


def measured_states(rules: Game, game: TabularGame | None) -> Sequence[Any]:
    """Return a fixed sample of states that includes the largest drawings.

    Args:
        rules: The game. If it has no table, it may have a method ``examples()`` that returns them.
        game: Its table, of which the sample is spread evenly, or None.
    """
    if game is not None:
        return cast(Sequence[Any], game.states[:: -(-game.n_states // _MEASURED)])
    starts = [outcome.state for outcome in rules.initial()]
    return [*starts, *getattr(rules, "examples", list)()]


class Screen:
    """Paints the drawings of one game, all in one size.

    The size does not depend on the state that is shown, as makers of videos require.

    Args:
        rules: The game.
        states: States that include the largest drawings; longer lines are cut off.
    """

    def __init__(self, rules: Game, states: Iterable[Any]) -> None:
        drawings = [rules.draw(state).split("\n") for state in states]
        columns = max(len(line) for lines in drawings for line in lines)
        rows = max(map(len, drawings))
        self.size = (columns * CELL[0] + 2 * MARGIN, rows * CELL[1] + 2 * MARGIN)
        self._title = f"Solvent: {rules.info.name}"

    def picture(self, text: str) -> NDArray[np.uint8]:
        """Return a drawing as an RGB array [height, width, 3]."""
        import pygame

        pixels = pygame.surfarray.array3d(self._paint(text))
        return np.ascontiguousarray(pixels.transpose(1, 0, 2))

    def show(self, text: str, frames_per_second: float) -> None:
        """Show a drawing in the window, opened if it is not, and wait for the frame to end."""
        import pygame

        pygame.display.init()
        window = pygame.display.get_surface()
        if window is None or window.get_size() != self.size:
            pygame.display.set_caption(self._title)
            window = pygame.display.set_mode(self.size)
        window.blit(self._paint(text), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        pygame.time.wait(round(1000 / frames_per_second))

    def _paint(self, text: str) -> pygame.Surface:
        import pygame

        pygame.font.init()
        font = pygame.font.Font(None, FONT_SIZE)
        surface = pygame.Surface(self.size)
        surface.fill(BACKGROUND)
        panel = surface.get_rect().inflate(-MARGIN, -MARGIN)
        pygame.draw.rect(surface, PANEL, panel, border_radius=10)

        gauges = 0
        for row, line in enumerate(text.split("\n")):
            for run in _RUN.finditer(line):
                cells = _cells(row, run.start(), len(run[0]))
                if run["gauge"]:
                    share = run[0].count("█") / len(run[0])
                    _paint_gauge(surface, cells, share, _GAUGES[gauges % len(_GAUGES)])
                    gauges += 1
                elif run["pitch"]:
                    _paint_pitch(surface, cells, run[0])
                elif _WORD.search(run[0]):
                    glyphs = font.render(run[0], True, TEXT)
                    surface.blit(glyphs, glyphs.get_rect(midleft=cells.midleft))
                else:
                    for column, character in enumerate(run[0], run.start()):
                        glyphs = font.render(character, True, TEXT)
                        cell = _cells(row, column, 1)
                        surface.blit(glyphs, glyphs.get_rect(center=cell.center))
        return surface


def _cells(row: int, column: int, width: int) -> pygame.Rect:
    """Return the rectangle of `width` adjacent cells, in pixels."""
    import pygame

    return pygame.Rect(MARGIN + column * CELL[0], MARGIN + row * CELL[1], width * CELL[0], CELL[1])


def _paint_gauge(
    surface: pygame.Surface, cells: pygame.Rect, share: float, colour: tuple[int, int, int]
) -> None:
    import pygame

    track = cells.inflate(0, -CELL[1] // 2)
    pygame.draw.rect(surface, TRACK, track, border_radius=4)
    filled = pygame.Rect(track.topleft, (round(track.width * share), track.height))
    if filled.width:
        pygame.draw.rect(surface, colour, filled, border_radius=4)
        # A lighter upper edge, so that the bar stands out from its track.
        light = tuple(min(255, part + 40) for part in colour)
        edge = pygame.Rect(filled.left + 3, filled.top + 2, max(filled.width - 6, 0), 2)
        pygame.draw.rect(surface, light, edge)


def _paint_pitch(surface: pygame.Surface, cells: pygame.Rect, text: str) -> None:
    """Paint one line of a football field, each character on an equal part of the cells."""
    import pygame

    width = cells.width // len(text)

    def part(first: int, count: int) -> pygame.Rect:
        return pygame.Rect(cells.left + first * width, cells.top, count * width, cells.height)

    def line(column: int, colour: tuple[int, int, int], thickness: int) -> None:
        left = part(column, 1).left - thickness // 2
        pygame.draw.rect(surface, colour, (left, cells.top, thickness, cells.height))

    pygame.draw.rect(surface, _END_ZONE, cells)
    left = len(text) - len(text.lstrip("▒"))
    right = len(text.rstrip("▒"))
    for stripe, first in enumerate(range(left, right, _STRIPE)):
        pygame.draw.rect(surface, _GRASS[stripe % 2], part(first, min(_STRIPE, right - first)))
    for column in range(left + _STRIPE, right, _STRIPE):
        line(column, _LINE, 1)
    for column in (left, right):
        line(column, _LINE, 3)
    for column in (i for i, mark in enumerate(text) if mark == "¦"):
        line(column, _TO_GAIN, 3)
    for column in (i for i, mark in enumerate(text) if mark == "●"):
        ball = pygame.Rect(0, 0, 22, 14)
        ball.center = part(column, 1).midleft
        pygame.draw.ellipse(surface, _BALL, ball)
