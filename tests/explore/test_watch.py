"""The page that shows the algorithms of solvent.tabular at work, beside the exact values."""

from __future__ import annotations

import html
import re
from typing import cast

import numpy as np
import pytest
from explored import client, solved

from solvent.exact.evaluation import policy_value
from solvent.explore import learning
from solvent.explore.learning import EPISODES, MOST_SWEEPS, Course, methods_for, settings_of
from solvent.model import TabularPolicy
from solvent.tabular import ALGORITHMS


def shown(name: str, address: str) -> str:
    """The text of a page."""
    answer = client(name).get(f"/learn?{address}")
    assert answer.status_code == 200, answer.text
    return cast(str, answer.text)


OWN_OF_TWO = {one.name for one in ALGORITHMS.values() if one.takes == "table for two"}
BANDITS = {"simple_bandit", "ucb", "gradient_bandit"}


def test_every_algorithm_that_fits_is_offered_and_no_other() -> None:
    everything = set(ALGORITHMS)
    assert len(everything) >= 30
    for name, missing in (
        ("lake", OWN_OF_TWO | BANDITS),
        ("greed", BANDITS),
        ("rock-paper-scissors", set()),
    ):
        page = shown(name, "")
        assert set(re.findall(r'<option value="([a-z]\w+)"', page)) == everything - missing


@pytest.mark.parametrize("name", ["lake", "greed", "rock-paper-scissors"])
def test_every_algorithm_runs_and_its_page_has_its_numbers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MOST_STEPS", 1_000)
    game = solved(name)
    for method, algorithm in methods_for(game.table).items():
        course = Course(game, method, 1)
        frame = course.frame(3)
        learning.course_of.cache_clear()
        page = shown(name, f"method={method}&seed=1&frame=3")
        title = re.sub(r"\s", " ", re.findall(r"<h1>(.*?)</h1>", page, re.DOTALL)[0])
        assert html.unescape(title) == algorithm.title
        assert float(re.findall(r'id="distance" value="([^"]*)"', page)[0]) == frame.distance
        for setting in settings_of(method):
            assert f'type="range" name="{setting}"' in page, method
        assert np.isfinite(frame.values[~game.table.terminal]).all(), method
        # Planning comes nearer with every sweep, and an exact policy has no gap.
        if algorithm.unit == "sweeps" and method != "policy_evaluation":
            assert frame.distance <= course.frames[0].distance + 1e-12, method


def test_settings_are_used_and_kept_in_the_links() -> None:
    page = shown("lake", "method=n_step_td&of=n_step_td&alpha=0.25&n=7&seed=3&frame=4")
    assert re.search(r'name="alpha"[^>]*value="0.25"', page)
    [following] = re.findall(r'id="next"[^>]*href="([^"]*)"', page)
    assert {"alpha=0.25", "n=7", "seed=3", "frame=5"} <= set(re.split("[?&;]|amp;", following))
    course = Course(solved("lake"), "n_step_td", 3, (("alpha", 0.25), ("n", 7)))
    assert f'id="distance" value="{course.frame(4).distance}"' in page
    # The settings of another algorithm, chosen before, are not asked of this one.
    assert re.search(
        r'name="alpha"[^>]*value="0.1"', shown("lake", "method=td_lambda&of=sarsa&alpha=0")
    )
    # A field with two values reads as yes and no.
    assert ">yes</option>" in shown("blackjack", "frame=1")
    for wrong in ("alpha=2", "alpha=x", "n=0", "n=1e3"):
        assert client("lake").get(f"/learn?method=n_step_td&{wrong}").status_code == 400


def test_prediction_is_measured_from_the_policy_that_it_evaluates() -> None:
    game = solved("lake")
    course = Course(game, "td", 0)
    uniform = policy_value(game.table, TabularPolicy.uniform(game.table))
    np.testing.assert_allclose(course.exact, uniform)
    live = ~game.table.terminal
    for frame in (course.frame(3), course.frame(9)):
        errors = (frame.values - uniform)[live]
        assert frame.distance == pytest.approx(np.sqrt((errors**2).mean()))
    assert course.frame(9).distance < course.frame(1).distance


@pytest.mark.parametrize("name", ["greed", "lake"])
def test_value_iteration_ends_at_the_exact_values(name: str) -> None:
    game = solved(name)
    course = Course(game, "value_iteration", 0)
    last = course.frame(MOST_SWEEPS + 1)
    errors = (last.values - game.solution.values)[~game.table.terminal]
    assert last.distance == pytest.approx(np.sqrt((errors**2).mean()), abs=1e-12)
    if name == "lake":
        # It has cycles: sweep by sweep nearer, never there.
        distances = [frame.distance for frame in course.frames]
        assert distances == sorted(distances, reverse=True)
        assert 0 < distances[-1] < 0.1
        assert course.ended == f"No more than {MOST_SWEEPS} sweeps are shown."
    else:
        assert last.distance == pytest.approx(0, abs=1e-9)
        assert course.ended == "It has converged."


@pytest.mark.parametrize("method", ["q_learning", "sarsa"])
@pytest.mark.parametrize("name", ["lake", "greed"])
def test_what_learns_is_valued_exactly_and_gets_nearer(
    name: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MOST_STEPS", 10_000)
    game = solved(name)
    course = Course(game, method, 1)
    last = course.frame(MOST_SWEEPS)
    gaps = [frame.distance for frame in course.frames]
    assert gaps == pytest.approx([game.value - frame.start for frame in course.frames], abs=1e-9)
    assert min(gaps) >= 0
    assert last.distance < 0.75 * gaps[0]
    assert [frame.count for frame in course.frames[:-1]] == list(EPISODES[: len(gaps) - 1])
    # How far it has come does not depend on who has looked.
    again = Course(game, method, 1)
    assert again.frame(2).distance == gaps[1]
    assert again.frame(MOST_SWEEPS).values.tolist() == last.values.tolist()
    assert "steps no more is shown" in again.ended
    # Two players are left with one; nothing is lost by that.
    assert ("plays optimally" in course.note) == (name == "greed")
