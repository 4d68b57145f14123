"""Pictures: size, contents, and that they follow the state."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest

from solvent.envs import TabularEnv
from solvent.envs.rendering import CELL, GAUGES, MARGIN, PANEL, TEXT, Screen
from solvent.games import FightingFantasy, Pig
from solvent.model import compile_game

COMBAT = FightingFantasy(stamina=12, opponent_stamina=(3, 12), luck=4)


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def share_of(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((picture == colour).all(axis=2).sum())


def test_a_picture_is_an_rgb_array_of_constant_size() -> None:
    env = TabularEnv(COMBAT, render_mode="rgb_array")
    shapes = set()
    for seed in range(20):
        env.reset(seed=seed)
        over = False
        while not over:
            picture = env.render()
            assert picture.dtype == np.uint8
            assert picture.flags.c_contiguous
            assert len(np.unique(picture)) > 10
            shapes.add(picture.shape)
            over = env.step(1)[2]
        shapes.add(env.render().shape)
    [(height, width, channels)] = shapes
    assert channels == 3
    assert height < width


def test_a_gauge_is_as_long_as_its_share() -> None:
    screen = Screen(columns=12, rows=2, title="test")
    lengths = []
    for text in ("░░░░░░░░░░", "█████░░░░░", "██████████"):
        picture = screen.picture(text)
        middle = picture[MARGIN + CELL[1] // 2]
        lengths.append(int((middle == GAUGES[0]).all(axis=1).sum()))
    assert lengths == [0, 5 * CELL[0], 10 * CELL[0]]


def test_gauges_have_different_colours() -> None:
    picture = Screen(columns=4, rows=3, title="test").picture("████\n████\n████")
    for colour in GAUGES[:3]:
        assert share_of(picture, colour) > 100


def test_words_are_written_and_what_is_too_wide_is_cut_off() -> None:
    screen = Screen(columns=10, rows=1, title="test")
    written, blank = screen.picture("a word"), screen.picture(" ")
    assert share_of(written, TEXT) > 20
    assert share_of(blank, TEXT) == 0
    assert screen.picture("words " * 100).shape == blank.shape


def test_the_characters_of_a_board_stand_in_their_columns() -> None:
    picture = Screen(columns=9, rows=2, title="test").picture(". X . X O\nO X X . .")
    for row in range(2):
        for column in range(9):
            cell = picture[
                MARGIN + row * CELL[1] : MARGIN + (row + 1) * CELL[1],
                MARGIN + column * CELL[0] : MARGIN + (column + 1) * CELL[0],
            ]
            assert (cell != PANEL).any() == (column % 2 == 0)


def test_text_mode_is_the_drawing_of_the_rules() -> None:
    env = TabularEnv(COMBAT, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == COMBAT.draw(env.state)


def test_a_window_opens_follows_the_play_and_closes() -> None:
    import pygame

    env = TabularEnv(COMBAT, render_mode="human")
    env.metadata = env.metadata | {"render_fps": 1000}
    env.reset(seed=0)
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(0)
    second = pygame.surfarray.array3d(pygame.display.get_surface())
    assert (first != second).any()
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_rendering_without_a_mode_warns() -> None:
    env = TabularEnv(COMBAT)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="no render_mode was given"):
        assert env.render() is None


def test_the_screen_fits_every_state() -> None:
    for rules in (COMBAT, Pig(target=12)):
        table = compile_game(rules)
        size = Screen.for_game(rules, table).size
        for state in table.states:
            lines = rules.draw(state).split("\n")
            assert len(lines) * CELL[1] + 2 * MARGIN <= size[1]
            assert max(map(len, lines)) * CELL[0] + 2 * MARGIN <= size[0]


def test_a_video_wrapper_can_collect_frames() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make("solvent/FFCombat-v0", render_mode="rgb_array_list")
        env.reset(seed=0)
        env.step(0)
        assert len(env.render()) == 2
