"""Pictures of a game, made from the text that its rules draw.

The text is laid on a grid of cells. A run of ``█`` and ``░`` becomes a gauge, painted as a bar
(:func:`solvent.model.scene.gauge`), and what stands between ``▒`` is painted by the game, if its
spec names a ``painter``. A phrase,
which two blanks or a gauge end, is written from the cell in which it begins; without a word or a
number of two characters it is a piece of a board, and each character stands in the middle of its
own cell. So the columns of a drawing stay aligned in the font that pygame brings along, which is
not one of fixed width, and no other font is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from gymnasium import logger
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from solvent.model import Game
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import load, spec_of

if TYPE_CHECKING:
    import pygame

RENDER_MODES = ("ansi", "rgb_array", "human")

CELL = (13, 36)
"""Width and height of a cell, in pixels."""

MARGIN = 32
FONT_SIZE = 26

BACKGROUND = (24, 26, 31)
PANEL = (33, 36, 43)
TEXT = (222, 225, 230)
TRACK = (58, 63, 74)
GAUGES = ((79, 193, 166), (232, 115, 92), (240, 191, 76), (124, 156, 242))
"""Colours of the gauges from the top down, over and over."""

_RUN = re.compile(r"(?P<gauge>[█░]+)|(?P<framed>▒+[^▒]+▒+)|[^\s█░]+(?: [^\s█░]+)*")
_WORD = re.compile(r"\w\w|\w/\w")


def check_render_mode(mode: str | None, allowed: Sequence[str], rules: Game | None) -> str | None:
    """Return `mode` if it is None or one of `allowed`.

    Raises:
        ValueError: If it is neither, or there are no rules that could draw.
    """
    if mode is None:
        return None
    check_choice(mode, "render_mode", allowed)
    if rules is None:
        raise ValueError(
            f"render_mode is {shown(mode)}, but a table cannot be drawn; pass its game as rules="
        )
    return mode


class Screen:
    """Paints the drawings of one game, all in one size.

    Args:
        columns: Width of the grid in cells; what is wider is cut off.
        rows: Height of the grid in cells.
        title: Title of the window.
        painter: Paints what stands between ``▒`` in a line, given the surface, the pixels of the
            line's cells, and the text; without one it is written.
    """

    def __init__(
        self,
        columns: int,
        rows: int,
        title: str,
        painter: Callable[[pygame.Surface, pygame.Rect, str], None] | None = None,
    ) -> None:
        self.size = (columns * CELL[0] + 2 * MARGIN, rows * CELL[1] + 2 * MARGIN)
        self._title, self._painter = title, painter
        self._window: pygame.Surface | None = None
        self._clock: Any = None

    @classmethod
    def for_states(cls, rules: Game, states: Iterable[Any]) -> Screen:
        """A screen as large as the largest drawing of these states.

        The size does not depend on the state that is shown, as makers of videos require.
        """
        drawings = [rules.draw(state).split("\n") for state in states]
        columns = max(len(line) for lines in drawings for line in lines)
        spec = spec_of(rules)
        painter = load(spec.painter) if spec and spec.painter else None
        return cls(columns, max(map(len, drawings)), f"Solvent: {rules.info.name}", painter)

    def picture(self, text: str) -> NDArray[np.uint8]:
        """A drawing as an RGB array [height, width, 3]."""
        import pygame

        pixels = pygame.surfarray.array3d(self._paint(text))
        return np.ascontiguousarray(pixels.transpose(1, 0, 2))

    def show(self, text: str, frames_per_second: float) -> None:
        """Put a drawing in the window, which is opened the first time, and wait for the frame."""
        import pygame

        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._window = pygame.display.set_mode(self.size)
            self._clock = pygame.time.Clock()
        self._window.blit(self._paint(text), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(frames_per_second)

    def close(self) -> None:
        """Close the window, if it was opened."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None

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
                    _paint_gauge(surface, cells, share, GAUGES[gauges % len(GAUGES)])
                    gauges += 1
                elif run["framed"] and self._painter:
                    self._painter(surface, cells, run[0])
                elif _WORD.search(run[0]):
                    glyphs = font.render(run[0], True, TEXT)
                    surface.blit(glyphs, glyphs.get_rect(midleft=cells.midleft))
                else:
                    for column, character in enumerate(run[0], run.start()):
                        glyphs = font.render(character, True, TEXT)
                        cell = _cells(row, column, 1)
                        surface.blit(glyphs, glyphs.get_rect(center=cell.center))
        return surface


class Drawn:
    """An environment that shows the state in which it is, and can be copied while it does.

    Attributes:
        episode: The episode or the episodes to sample.
        rules: The rules that draw the states, or None.
        render_mode: None, or one of :data:`RENDER_MODES`.
        metadata: Has ``"render_fps"``.
    """

    episode: Any
    rules: Game | None
    render_mode: str | None
    metadata: dict[str, Any]
    _begun = False
    _screen: Screen | None = None

    def _check_begun(self) -> None:
        if not self._begun:
            raise ResetNeeded("the episode has not begun; call reset() first")

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that the learner may take."""
        seats: tuple[int, ...] = self.episode.seats
        return seats

    @property
    def opponents(self) -> tuple[Any, ...]:
        """The opponents in the pool: each a policy against each of the seats, or a player."""
        opponents: tuple[Any, ...] = self.episode.opponents
        return opponents

    def set_opponents(self, opponents: Any, weights: Sequence[float] | None = None) -> None:
        """Replace the pool; episodes that are under way draw their opponents anew and go on.

        Args:
            opponents: Policies or players for the other seat, as for :class:`solvent.envs.Env`.
            weights: A positive number for each opponent, in proportion to which they are drawn;
                equal ones unless given.

        Raises:
            ValueError: If the learner has no opponents, one is for another game or for the
                learner's own seat, or the weights are not as above.
        """
        if not self.opponents:
            raise ValueError("the learner has no opponents to replace")
        self.episode.set_opponents(opponents, weights)

    def render(self) -> Any:
        """Draw the state: text, an RGB array [height, width, 3] of uint8, or a window.

        Returns:
            A vector environment returns a tuple with a drawing for each environment.

        Raises:
            ResetNeeded: If the episode has not begun.
        """
        if self.render_mode is None or self.rules is None:
            logger.warn("render() was called, but no render_mode was given to the environment")
            return None
        self._check_begun()
        return self._drawn(self.episode.state)

    def _drawn(self, state: Any) -> Any:
        """The drawing of a state; None if it is shown in the window."""
        assert self.rules is not None
        text = self.rules.draw(state)
        if self.render_mode == "ansi":
            return text
        if self._screen is None:
            self._screen = Screen.for_states(self.rules, self.episode.examples())
        if self.render_mode == "rgb_array":
            return self._screen.picture(text)
        return self._screen.show(text, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that plays on by itself; what never changes is shared, a window is not."""
        memo.update((id(shared), shared) for shared in self.episode.shared)
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the window."""
        return {**self.__dict__, "_screen": None}


def _cells(row: int, column: int, width: int) -> pygame.Rect:
    """The pixels of `width` cells beside one another."""
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
