"""The maps of Greed: what is drawn is what the kernel says, and the files need nothing else."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from solvent import make_game
from solvent.exact import locate_gap, solve
from solvent.games import Greed
from solvent.games.greed.kernel import solve_greed
from solvent.games.greed.report import (
    MOST_CELLS,
    STAND,
    chosen,
    dice_colours,
    maps_of,
    picture,
    write_pictures,
)
from solvent.model import TabularPolicy, compile_game
from solvent.report.page import render

SVG = "{http://www.w3.org/2000/svg}"


def drawn(panel: ElementTree.Element, cells: int) -> Any:
    """The colour of every cell, by score of the player on turn and the other's."""
    colours = np.full((cells, cells), "", dtype="<U7")
    for path in panel.iter(f"{SVG}path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d") or ""):
            run = colours[int(x) : int(x) + int(length), int(y)]
            assert (run == "").all()
            run[:] = path.get("stroke")
    return colours


@pytest.mark.parametrize(("limit", "sides"), [(20, 4), (7, 13), (1, 1)])
def test_the_colours_are_the_optimal_numbers_of_dice(limit: int, sides: int) -> None:
    solution = solve_greed(limit, sides)
    for item, dice in zip(
        maps_of(solution), (solution.normal_roll, solution.last_roll), strict=True
    ):
        palette = dice_colours(item.most)
        assert len(set(palette)) == item.most + 1
        root = ElementTree.fromstring(picture(item))
        found = drawn(root.findall(f"{SVG}g")[0], limit + 1)
        assert found.tolist() == [[palette[n] for n in row] for row in dice.tolist()]
        assert (found == STAND).any()


def test_large_limits_are_thinned_and_stay_small() -> None:
    item = maps_of(solve_greed(300, 20))[0]
    assert item.step == 2
    assert len(item.dice) == 151 <= MOST_CELLS
    assert len(picture(item)) < 300_000


def test_pictures_are_written_and_need_nothing_else(tmp_path: Path) -> None:
    paths = write_pictures(tmp_path, limit=20, sides=4)
    assert [path.name for path in paths] == ["greed-normal.svg", "greed-last-turn.svg"]
    for path in paths:
        text = path.read_text()
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}
        assert "href" not in text
        for words in ("score of the player on turn", "score of the other", "20 with 4-sided dice"):
            assert words in text
    with pytest.raises(ValueError, match="limit is 0"):
        write_pictures(tmp_path, limit=0)


def test_the_pictures_in_the_documentation_are_those_of_the_solver(tmp_path: Path) -> None:
    docs = Path(__file__).parents[3] / "docs" / "games"
    for path in write_pictures(tmp_path):
        assert (docs / path.name).read_text() == path.read_text()
        assert path.stat().st_size < 200_000


def test_the_page_holds_the_numbers_of_every_cell() -> None:
    text = render(make_game("greed", limit=20, sides=4))
    found = re.findall(
        r'data-map="([\w-]+)".*?<script type="application/json">(.*?)</script>', text, re.DOTALL
    )
    solution = solve_greed(20, 4)
    expected = {
        "greed-normal": (solution.normal_roll, solution.normal),
        "greed-last-turn": (solution.last_roll, solution.last),
    }
    assert [name for name, _ in found] == list(expected)
    for name, content in found:
        data = json.loads(content)
        dice, rating = (
            np.frombuffer(base64.b64decode(data[key]), "<u2").reshape(21, 21)
            for key in ("dice", "rating")
        )
        assert (dice == expected[name][0]).all()
        assert np.abs(rating / 65535 - expected[name][1]).max() < 1e-5


def test_what_an_agent_chooses_is_marked_where_it_loses() -> None:
    game = compile_game(Greed(9, 4))
    solution = solve(game)
    for player in (0, 1):
        best = solution.policies[player]
        dice, costly = chosen(game, best, locate_gap(game, best, solution), "last")
        assert not costly
        assert dice[9, 9] == -1 or dice[9, 9] == 0
        stand = TabularPolicy.of(
            game, np.eye(game.mask[player].shape[1])[[0] * game.n_states], player=player
        )
        dice, costly = chosen(game, stand, locate_gap(game, stand, solution), "last")
        assert set(np.unique(dice)) == {-1, 0}
        kernel = solve_greed(9, 4)
        missed = {
            (a, q)
            for a, q in np.argwhere(dice == 0).tolist()
            if 0 not in kernel.optimal_rolls(a, q, last=True)
        }
        assert set(costly) == missed
        assert missed
        ratings = {pair: kernel.ratings(*pair, last=True) for pair in missed}
        assert costly == {pair: pytest.approx(own.max() - own[0]) for pair, own in ratings.items()}


def test_too_large_a_game_has_its_maps_alone() -> None:
    text = render(make_game("greed", limit=150))
    assert f"{solve_greed(150).value:.6f}" in text
    assert "too large for a table of its outcomes, so baselines are not scored" in text
    assert "<h3>Baselines</h3>" not in text
    assert text.count("data-map=") == 2
