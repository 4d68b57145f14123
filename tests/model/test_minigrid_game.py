"""MiniGrid's environments as games: counted states, the clock, and MiniGrid's own episodes."""

import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from interpreters import fresh
from refusals import assert_refused

import solvent
from solvent.benchmark.suites import Task, task_game
from solvent.model import check_game, compile_game, make_game
from solvent.model.minigrid_game import MiniGridGame
from solvent.model.table_cache import game_identity

minigrid = pytest.importorskip("minigrid")

DOCS = Path(__file__).parents[2] / "docs" / "other-formats.md"
ROWS = re.findall(
    r"^\| `(MiniGrid-\S+)` \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$",
    DOCS.read_text(encoding="utf-8"),
    re.MULTILINE,
)
SMALL = ["MiniGrid-Empty-5x5-v0", "MiniGrid-DoorKey-5x5-v0"]


def of_minigrid(name: str, layout: int = 0) -> Any:
    env = gym.make(name, disable_env_checker=True).unwrapped
    env.reset(seed=layout)
    return env


@pytest.mark.parametrize(
    "row",
    [pytest.param(r, id=r[0], marks=[pytest.mark.slow] if "8x8" in r[0] else []) for r in ROWS],
)
def test_the_table_of_the_page(row: tuple[str, ...]) -> None:
    name, *expected = row
    table = compile_game(make_game(name))
    live = ~table.terminal
    views = len(np.unique(table.observation[0][live], axis=0))
    value = solvent.solve(table).value
    assert [f"{live.sum():,}", f"{views:,}", f"{value:.5f}"] == expected


def test_only_tables_of_minigrid_s_own_classes_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's own class may be edited, and an id may be registered with other arguments."""
    own = type("Own", (minigrid.envs.EmptyEnv,), {})
    name, identities = "MiniGrid-Mine-v0", []
    for entry, size in ((own, 5), ("minigrid.envs:EmptyEnv", 5), ("minigrid.envs:EmptyEnv", 6)):
        spec = EnvSpec(name, entry_point=entry, kwargs={"size": size})
        monkeypatch.setitem(gym.registry, name, spec)
        identities.append(game_identity(make_game(name)))
    assert identities[0] is None
    assert identities[1] != identities[2]
    assert game_identity(make_game(SMALL[0])) == game_identity(make_game(SMALL[0])) is not None


# The fewest moves, by breadth-first search with copies of MiniGrid's environment.
@pytest.mark.parametrize(
    ("name", "layout", "moves"), [(SMALL[0], 0, 5), (SMALL[1], 0, 11), (SMALL[1], 2, 13)]
)
def test_the_optimum_takes_the_shortest_way_of_minigrid(name: str, layout: int, moves: int) -> None:
    env = of_minigrid(name, layout)
    most = env.max_steps
    table = compile_game(make_game(name, layout=layout))
    solution = solvent.solve(table)
    assert solution.value == pytest.approx((1 - 1 / most) ** (moves - 1), abs=1e-12)
    # MiniGrid pays the optimal actions what it pays for the shortest way.
    best, state, over = solution.policies[0].probabilities.argmax(axis=1), 0, False
    for _ in range(moves):
        assert not over
        row = table.row(state, (int(best[state]), 0))
        _, reward, over, _, _ = env.step(int(best[state]))
        state = int(table.next_state[table.outcome_start[row]])
    assert reward == pytest.approx(1 - 0.9 * moves / most)


@pytest.mark.parametrize("name", SMALL)
def test_with_the_full_view_it_is_a_game(name: str) -> None:
    check_game(make_game(name, view="full"))


def test_a_state_shows_what_minigrid_shows() -> None:
    game = make_game(SMALL[1])
    [(_, start, _)] = game.initial()
    env = of_minigrid(SMALL[1])
    shown, _ = env.reset(seed=0)
    seen = game.observe(start, 0)
    image = seen[:-1].reshape(7, 7, 3) * [10, 5, 3]
    np.testing.assert_allclose(image, shown["image"], atol=1e-5)
    assert seen[-1] * 3 == shown["direction"]
    assert game.draw(start) == env.pprint_grid()


def test_a_function_of_minigrids_own_images_is_scored() -> None:
    game = make_game(SMALL[0])
    images = game.images(compile_game(game))
    shown, _ = of_minigrid(SMALL[0]).reset(seed=0)
    np.testing.assert_array_equal(images[0], shown["image"])

    def along_the_wall(seen: Any) -> Any:
        # A wall, which is a 2, is right ahead: turn right.
        return np.where(seen[:, 3, 5, 0] == 2, 1, 2)

    found = solvent.score(game, along_the_wall, observation=images)
    assert found.value == pytest.approx(found.optimum)


def test_an_environment_at_hand_is_its_layout_as_it_is_now() -> None:
    env = gym.make(SMALL[1])
    env.reset(seed=2)
    assert solvent.solve(env).value == solvent.solve(make_game(SMALL[1], layout=2)).value
    # No seed is known for it, and a policy for it is not one for the layout of a seed.
    assert MiniGridGame.from_env(env).info.parameters == (("view", "partial"),)

    def to_the_front(seen: Any) -> Any:
        return np.tile(np.eye(7)[2] * 0.4 + np.eye(7)[1] * 0.6, (len(seen), 1))

    scores = [solvent.score(game, to_the_front) for game in (SMALL[0], gym.make(SMALL[0]))]
    assert scores[0] == scores[1]
    assert 0 < scores[0].value < scores[0].optimum


def test_a_task_of_a_suite_names_a_layout_and_nothing_else() -> None:
    task = Task(environment=SMALL[1], env_kwargs={"layout": 2, "view": "full"})
    assert task_game(task).optimum[0] == solvent.solve(make_game(SMALL[1], layout=2)).value
    wrong = ({"render_mode": "human"}, {"entry_point": "os:system"})
    assert_refused(
        [(parameters, "unexpected keyword argument") for parameters in wrong],
        lambda parameters: task_game(Task(environment=SMALL[1], env_kwargs=parameters)),
    )


def test_a_policys_file_names_the_environment_to_a_process_that_has_not_met_it() -> None:
    code = f"""
from solvent.cli.parameters import game_of_request
for name in ("here/{SMALL[0]}", "{SMALL[0]}"):
    asked = {{"environment": name, "env_kwargs": {{"layout": 2, "observation": "onehot"}}}}
    assert dict(game_of_request(asked).info.parameters)["layout"] == 2
"""
    fresh(code)


def with_a_memory() -> Any:
    """An environment that pays for every second move only, which its grid does not show."""
    env = of_minigrid(SMALL[0])
    moves, kind = [0], type(env)

    def step(self: Any, action: Any) -> Any:
        moves[0] += 1
        shown, reward, *others = kind.step(self, action)
        return shown, reward * (moves[0] % 2), *others

    env.__class__ = type("WithAMemory", (kind,), {"step": step})
    return env


def test_what_a_state_leaves_out_and_random_steps_are_refused() -> None:
    rows = (
        (lambda: MiniGridGame(SMALL[0], source=with_a_memory()), "differs from the states here"),
        (lambda: make_game("MiniGrid-Dynamic-Obstacles-5x5-v0"), "Dynamic-Obstacles"),
        (lambda: make_game(SMALL[0], view="all"), "view is 'all'"),
        (lambda: make_game(SMALL[0], size=10**6), "size is 1000000; allowed .* from 0 to 50"),
    )
    assert_refused(rows, lambda make: compile_game(make()))
