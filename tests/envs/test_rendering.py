"""Pictures: size, contents, and that they follow the state."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.envs import Env
from solvent.envs.rendering import CELL, GAUGES, MARGIN, Screen
from solvent.games import FightingFantasy
from solvent.games.football.field import BALL, END_ZONE, GRASS, TO_GAIN, paint_pitch, pitch

COMBAT = FightingFantasy(stamina=12, opponent_stamina=(3, 12), luck=4)


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def share_of(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((picture == colour).all(axis=2).sum())


def test_a_picture_is_an_rgb_array_of_constant_size() -> None:
    env = Env(COMBAT, render_mode="rgb_array")
    shapes = set()
    for seed in range(20):
        env.reset(seed=seed)
        over = False
        while not over:
            picture = env.render()
            shapes.add((picture.dtype, picture.ndim, picture.shape))
            over = env.step(1)[2]
        shapes.add((picture.dtype, picture.ndim, env.render().shape))
    [(dtype, dimensions, _)] = shapes
    assert (dtype, dimensions) == (np.uint8, 3)
    assert len(np.unique(picture)) > 10


def test_a_gauge_is_as_long_as_its_share() -> None:
    screen = Screen(columns=12, rows=2, title="test")
    lengths = []
    for text in ("░░░░░░░░░░", "█████░░░░░", "██████████"):
        picture = screen.picture(text)
        middle = picture[MARGIN + CELL[1] // 2]
        lengths.append(int((middle == GAUGES[0]).all(axis=1).sum()))
    assert lengths == [0, 5 * CELL[0], 10 * CELL[0]]


def test_a_window_opens_follows_the_play_and_closes() -> None:
    import pygame

    env = Env(COMBAT, render_mode="human")
    env.metadata = env.metadata | {"render_fps": 1000}
    env.reset(seed=0)
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(0)
    second = pygame.surfarray.array3d(pygame.display.get_surface())
    assert (first != second).any()
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_a_football_field_is_painted_with_ball_and_line_to_gain() -> None:
    lines = pitch(100, ball=36, gain=46)
    screen = Screen(columns=len(lines[0]), rows=4, title="test", painter=paint_pitch)
    picture = screen.picture("\n".join(lines))
    # Two yards are a cell, after the margin and three cells of end zone.
    middle = picture[MARGIN + CELL[1] * 3 // 2]
    left, yard = MARGIN + 3 * CELL[0], CELL[0] / 2
    [to_gain] = {round((x - left) / yard) for x in np.flatnonzero((middle == TO_GAIN).all(axis=1))}
    assert to_gain == 46
    ball = np.flatnonzero((middle == BALL).all(axis=1))
    assert (ball.mean() - left) / yard == pytest.approx(36, abs=1)
    assert share_of(picture, END_ZONE) == pytest.approx(2 * 3 * 3 * CELL[0] * CELL[1], rel=0.05)
    grass = sum(share_of(picture, green) for green in GRASS)
    assert grass == pytest.approx(50 * 3 * CELL[0] * CELL[1], rel=0.05)
    # The yard numbers stand under their lines, which are at the left of the cell.
    for text, yards in (("10", 10), ("50", 50)):
        assert lines[3].index(text) + 1 == 3 + yards // 2
