"""Charts, maps of states and numbers in words: what is drawn and written is what is true."""

import base64
import json
import math
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import inf, nan
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
from doc_pages import DOCS, check_figure
from hypothesis import given
from hypothesis import strategies as st
from random_games import RandomGame

from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord
from solvent.exact import SolvedTable, locate_gap, solve
from solvent.exact.learning_curve import Evaluation
from solvent.games import FightingFantasy
from solvent.games.gridworld import JUMPS
from solvent.games.windy_gridworld import WIND
from solvent.model import GymnasiumTable, TabularPolicy, compile_game, make_game
from solvent.model.text import exact, four_decimals, interval, precise, small, tick, whole
from solvent.report import state_map
from solvent.report.charts import gap_band_panel, panels
from solvent.report.gap_attribution import losing_states
from solvent.report.panel import LABEL, Axis, algorithm_marks, gap_axis, spread
from solvent.report.solved import ScoredAgent, SolvedTask
from solvent.report.state_map import NONE, signs, state_map_section

# Charts, maps of colours and numbers in words: what is drawn and written is what is true


def test_every_gap_is_drawn_in_its_order(text: str, tasks: Any) -> None:
    """All gaps are drawn, smaller ones farther to the right, and those that count as 0 at 0."""
    drawn = re.findall(r'<svg class="chart distances".*?</svg>', text, re.DOTALL)
    # The first chart is of all tasks together.
    for svg, task in zip(drawn[1:], tasks, strict=True):
        chart = ElementTree.fromstring(svg)
        dots = [path for path in chart.iter("path") if path.get("data-gap")]
        gaps = [float(dot.get("data-gap") or "nan") for dot in dots]
        records = (*task["agents"], *task["baselines"])
        expected = [one[key] for one in records for key in ("gap", "mode_gap") if key in one]
        assert sorted(gaps) == pytest.approx(sorted(expected), abs=1e-15)
        assert "0" in map(small, gaps)
        places = []
        for dot, gap in zip(dots, gaps, strict=True):
            [place] = re.findall(r"translate\(([\d.]+) ", dot.get("transform") or "")
            places.append(float(place))
            assert str(dot[0].text).endswith(f": gap {small(gap)}")
        in_order = [at for _, at in sorted(zip(gaps, places, strict=True), key=itemgetter(0))]
        assert in_order == sorted(places, reverse=True)
        at_zero = [at for gap, at in zip(gaps, places, strict=True) if small(gap) == "0"]
        assert places.count(max(places)) == len(at_zero)


MARKS = algorithm_marks(["dqn"])
STEPS = [0, 100, 200, 300]
GAPS = [inf, inf, 40.0, 0.0]
OPTIMUM = -13.0


def cliff() -> tuple[TaskRecord, dict[str, list[Evaluation]]]:
    """A training along the cliff that at first never ends an episode."""
    curve = [
        Evaluation(step, OPTIMUM - gap, gap, OPTIMUM - gap, gap, 1.0)
        for step, gap in zip(STEPS, GAPS, strict=True)
    ]
    last = (OPTIMUM - GAPS[-1], GAPS[-1], 1.0, GAPS[-1])
    agent = AgentRecord("dqn 0", "dqn", 0, *last, *last, STEPS[-1], 1.0, "dqn-0")
    baselines = (
        BaselineRecord("uniform", -60000.0, 59987.0, 0.0, 59987.0),
        BaselineRecord("first-legal", -inf, inf, -inf, inf),
    )
    task = TaskRecord(
        "CliffWalking-v1", "CliffWalking-v1", {}, OPTIMUM, (OPTIMUM, OPTIMUM), (agent,), baselines
    )
    return task, {"dqn 0": curve}


def curve_drawn(text: str) -> tuple[list[float], dict[str, float]]:
    """The heights of a curve's points, and the heights of the axis's labels."""
    chart = ElementTree.fromstring(text)
    [line] = [line for line in chart.iter("polyline") if line.get("class") == "mode"]
    heights = [float(point.partition(",")[2]) for point in line.get("points", "").split()]
    labels = {
        label.text or "": float(label.get("y", "")) - 4
        for label in chart.iter("text")
        if label.get("text-anchor") == "end"
    }
    return heights, labels


def test_numbers_without_bound_have_a_lane_of_their_own() -> None:
    task, curves = cliff()
    value, gap = panels(task, curves, MARKS)
    # SVG counts downwards: values without bound are at the bottom, gaps at the top.
    for text, infinite, down in ((value, "−∞", 1), (gap, "∞", -1)):
        heights, labels = curve_drawn(text)
        assert heights[:2] == pytest.approx([labels[infinite]] * 2, abs=0.1)
        finite = [down * height for label, height in labels.items() if label != infinite]
        assert max(finite) < down * labels[infinite]
        assert max(down * height for height in heights[2:]) < down * labels[infinite] - 10
        assert 'class="break"' in text
        # A point of the greedy policy and one of the sampled policy at each of the two steps.
        assert text.count("h0") == 4
    # What is not proved has no place.
    curves["dqn 0"][1] = replace(curves["dqn 0"][1], mode_gap=nan)
    assert len(curve_drawn(panels(task, curves, MARKS)[1])[0]) == 3


@pytest.mark.parametrize(
    ("last", "told"), [(nan, "not proved"), (inf, "∞ (play need not end)"), (0.5, "0.5")]
)
def test_a_curve_ends_in_words(last: float, told: str) -> None:
    task, curves = cliff()
    curves["dqn 0"][-1] = replace(curves["dqn 0"][-1], mode_gap=last)
    value, gap = panels(task, curves, MARKS)
    assert "<title>dqn 0: −13 in the end, as recorded</title>" in value
    assert f"<title>dqn 0: {told} in the end, as recorded</title>" in gap
    band = f"dqn: interquartile mean {told} in the end, as recorded"
    assert band in gap_band_panel(task, curves, MARKS).drawn()


# The parts of figures: statistics, axes, places, numbers and colours


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
)
def test_linear_ticks_are_few_round_and_within_the_axis(low: float, span: float) -> None:
    axis = Axis(low, low + span)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 11
    slack = 1e-6 * span + 4 * math.ulp(max(abs(axis.low), abs(axis.high)))
    assert all(axis.low - slack <= t <= axis.high + slack for t in ticks)
    steps = np.diff(ticks)
    assert steps == pytest.approx(np.full(len(steps), steps[0]), rel=1e-3)


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-15, 1e9)), min_size=1))
def test_what_counts_as_0_and_nothing_else_is_at_0(gaps: list[float]) -> None:
    axis = gap_axis(gaps)
    for gap in gaps:
        assert (axis.share(gap) == 0) == (small(gap) == "0")
        if small(gap) != "0":
            assert axis.share(gap) >= axis.zero * (1 - 1e-9)
            power = (axis.share(gap) - axis.zero) / (1 - axis.zero)
            assert axis.low * (axis.high / axis.low) ** power == pytest.approx(gap, rel=1e-6)
    assert axis.share(-1e-13) == 0
    assert len(axis.ticks()) <= 9


@given(st.lists(st.floats(0, 200), min_size=1, max_size=12))
def test_labels_are_moved_apart_within_the_chart(places: list[float]) -> None:
    places = sorted(places)
    moved = spread(places, 0, 200)
    assert all(later - earlier >= LABEL - 1e-9 for earlier, later in pairwise(moved))
    assert 0 <= moved[0] <= moved[-1] <= 200
    if all(later - earlier >= LABEL for earlier, later in pairwise(places)):
        assert moved == places


def test_numbers_in_words() -> None:
    narrow = "\N{NARROW NO-BREAK SPACE}"
    rows: tuple[tuple[Callable[..., str], dict[float, str]], ...] = (
        (small, {0.0012345: "0.00123", 0.99996: "1.00", 0.00999999: "0.0100", -0.0321: "-0.0321",
                 0.0000123: "1.23×10⁻⁵", 3e-16: "0", 12.3456: "12.3", 1234.5: "1234",
                 math.nan: "–", inf: "unbounded"}),
        (exact, {0.7372926: "0.737293", -0.25: "−0.250000", -inf: "−∞", inf: "∞", math.nan: "–"}),
        (precise, {1 / 3: "0.333333333", -inf: "−∞", inf: "unbounded", -0.25: "−0.25"}),
        (four_decimals, {-0.98765: "−0.9877"}),
        (whole, {1234567: f"1{narrow}234{narrow}567"}),
        (tick, {0: "0", 250_000: "250k", 1.5e6: "1.5M", 1e-5: "10⁻⁵", -2e-4: "−2×10⁻⁴"}),
        (tick, {-1500: "−1.5k", -0.5: "−0.5", inf: "∞", -inf: "−∞"}),
    )  # fmt: skip
    for written, numbers in rows:
        assert [written(number) for number in numbers] == list(numbers.values()), written
    for number, nothing in (
        (exact, "0.000000"),
        (four_decimals, "0.0000"),
        (small, "0"),
        (precise, "0"),
    ):
        assert [number(noise) for noise in (-1e-16, -0.0, 1e-16)] == [nothing] * 3
    assert precise(-1e-15, 0.0) == "−1e−15"
    assert interval(-0.25, -0.0) == "[−0.25, 0]"


def test_the_worst_states_are_those_that_lose_most() -> None:
    game = compile_game(FightingFantasy(skill_difference=[-1, 1], stamina=5, opponent_stamina=5))
    uniform, solution = TabularPolicy.uniform(game), solve(game)
    location = locate_gap(game, uniform, solution)
    worst = losing_states(game, uniform, solution, location, most=7)
    expected = np.sort(location.contribution)[::-1][:7]
    assert [state.contribution for state in worst] == pytest.approx(expected)
    for state in worst:
        assert state.visits * state.loss == pytest.approx(state.contribution)
        assert state.share == pytest.approx(state.contribution / location.gap)
        assert (state.chosen, state.best) in (
            ("keep 50%, test luck 50%", best) for best in ("keep", "test luck")
        )


# The pictures of checks are those of the script, and need nothing else


def test_the_pictures_in_the_documentation_are_those_of_the_function(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "scripts" / "check_pictures.py"))
    for path in script["write_pictures"](tmp_path):
        check_figure(path.read_text(), DOCS / path.name, 20_000)
        assert f"]({path.name})" in (DOCS / "checks.md").read_text(encoding="utf-8")


# The map of values and policy: what the page embeds is the solution, for any kind of game


def lake(**parameters: Any) -> GymnasiumTable:
    return cast(GymnasiumTable, make_game("FrozenLake-v1", **parameters))


def solved_task(game: Any) -> SolvedTask:
    """Without a record, whose baselines take long to score."""
    solved = cast(SolvedTable, solve(game))
    return SolvedTask(game, solved.table, solved.solution, cast(Any, None))


class Embedded:
    """The numbers of a section, read back as the script reads them."""

    def __init__(self, html: str) -> None:
        [text] = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
        self.data = json.loads(text)
        self.fields = {
            field["name"]: [field["values"][n] for n in self.read(field["place"], "<u2")]
            for field in self.data["fields"]
        }
        self.value = self.read(self.data["value"], "<f4")
        self.states = self.data["states"]

    @staticmethod
    def read(text: str, kind: str) -> Any:
        return np.frombuffer(base64.b64decode(text), kind)

    def choices(self, seat: int = 0) -> Any:
        """Actions, values, probabilities (or None) and ties; [N, K], and [N] for the last."""
        own = self.data["choices"][seat]
        shape = self.states, -1
        return (
            self.read(own["action"], "<u2").reshape(shape),
            self.read(own["value"], "<f4").reshape(shape),
            self.read(own["chance"], "<f4").reshape(shape) if own["chance"] else None,
            self.read(own["tied"], "<u2"),
        )

    def at(self, **fields: Any) -> int:
        [cell] = [
            n
            for n in range(self.data["cells"])
            if all(self.fields[name][n] == str(value) for name, value in fields.items())
        ]
        return cell


def test_the_frozen_lake_is_a_grid_with_its_values_and_arrows() -> None:
    solved = solved_task(lake())
    found = Embedded(state_map_section(solved).html)
    assert [found.data["fields"][n]["name"] for n in found.data["axes"]] == ["column", "row"]
    assert found.value[found.at(row=0, column=0)] == pytest.approx(14 / 17, abs=1e-7)
    assert found.data["start"] == [found.at(row=0, column=0)]
    named = zip(*(found.data[name] for name in ("actions", "signs", "arrows")), strict=True)
    assert [*named] == [
        ("left", "l", "←"),
        ("down", "d", "↓"),
        ("right", "r", "→"),
        ("up", "u", "↑"),
    ]
    actions, _, chances, _ = found.choices()
    assert chances is None
    for number, over in cast(Any, solved.table.states):
        cell = found.at(row=number // 4, column=number % 4)
        assert over == (cell >= found.states) == (number in {5, 7, 11, 12, 15})
        assert not over or found.value[cell] == (number == 15)
    # Beside the goal it is best to head for the wall: no slip leads back up then.
    assert found.data["arrows"][actions[found.at(row=3, column=2), 0]] == "↓"


# Columns and lines of the picture, downward, that an arrow points to.
ARROWS = {
    "←": (-1, 0), "→": (1, 0), "↑": (0, -1), "↓": (0, 1),
    "↖": (-1, -1), "↗": (1, -1), "↙": (-1, 1), "↘": (1, 1),
}  # fmt: skip

BOARDS = {
    "gridworld": make_game("gridworld"),
    "windy": make_game("windy-gridworld"),
    "windy, king": make_game("windy-gridworld", moves="king"),
    "Dyna maze": make_game("dyna-maze"),
    "lake": lake(is_slippery=False),
    "one row": lake(desc=["SFG"], is_slippery=False),
    "one column": replace(
        lake(desc=["SFG"], is_slippery=False),
        actions=("up", "nowhere", "down", "no"),
        board={"row": range(3), "column": range(1)},
    ),
    "cliff": make_game("CliffWalking-v1"),
    "taxi": make_game("Taxi-v4"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_the_arrow_of_an_optimal_action_points_to_where_it_leads(name: str) -> None:
    solved = solved_task(BOARDS[name])
    table, found = solved.table, state_map.state_map(solved)
    across, line = (found.fields[n] for n in state_map.axes(found))
    assert (across.name, line.name) == ("column", "row")  # With these names, lines are downward.
    place = np.stack((across.place, line.place), axis=1)
    last = place.max(axis=0)
    cell = {int(s): n for n, s in enumerate(np.concatenate((found.states, found.ends)))}
    arrows = signs(state_map.action_names(table.info), arrows=True)
    followed = 0
    for s in found.states.tolist():
        action = int(found.choices[0]["action"][cell[s], 0])
        after = int(table.next_state[table.outcome_start[table.row(s, (action, 0))]])
        state = table.states[s]
        if arrows[action] not in ARROWS or (name == "gridworld" and state in JUMPS):
            continue
        wind = WIND[state.column] if name.startswith("windy") else 0
        pointed = place[cell[s]] + ARROWS[arrows[action]]
        assert (pointed >= 0).all()
        assert (pointed <= last).all()
        blown = np.clip(pointed - (0, wind), 0, last)
        assert blown.tolist() == place[cell[after]].tolist(), state
        followed += 1
    assert followed >= min(len(found.states), 20) * 0.9


def test_what_is_no_board_has_no_arrows() -> None:
    # Left and right of a player in soccer are not those of the picture.
    found = Embedded(state_map_section(solved_task(make_game("soccer"))).html)
    assert not {found.data["fields"][n]["name"] for n in found.data["axes"]} & {"row", "column"}
    assert not set(found.data["signs"]) & set(ARROWS)
    # The car's end is beyond the track, and not a row above it.
    track = Embedded(state_map_section(solved_task(make_game("racetrack", track="bend"))).html)
    assert [track.data["fields"][n]["name"] for n in track.data["axes"]] == ["column", "row"]
    assert track.data["states"] == track.data["cells"]
    assert "-1" not in track.fields["row"]


def test_actions_that_are_as_good_are_counted() -> None:
    solved = solved_task(lake(desc=["SFF", "FFF", "FFG"], is_slippery=False))
    *_, tied = Embedded(state_map_section(solved).html).choices()
    assert set(tied.tolist()) == {4}  # Nothing costs time, so that every way leads to the goal.
    table = GymnasiumTable({0: {0: [(1, 0, 1, True)], 1: [(1, 0, 0, True)]}}, [1])
    assert Embedded(state_map_section(solved_task(table)).html).choices()[-1].tolist() == [1]


@pytest.mark.parametrize(
    ("game", "names"),
    [
        (lake(), [""]),
        (RandomGame(3, "simultaneous", cyclic=True), ["player A", "player B"]),
    ],
)
def test_each_player_has_a_map_of_all_states(game: Any, names: list[str]) -> None:
    solved = cast(SolvedTable, solve(game))
    found = Embedded(state_map_section(solved_task(game)).html)
    live = np.flatnonzero(~solved.table.terminal)
    assert found.value[: len(live)].tolist() == solved.v[live].astype("f4").tolist()
    assert [choice["name"] for choice in found.data["choices"]] == names
    for player in range(len(names)):
        actions, values, chances, _ = found.choices(player)
        for n, s in enumerate(live.tolist()):
            state = solved.table.states[s]
            worth, chosen = solved.action_values(state, player), solved.policy(state, player)
            legal = actions[n] != NONE
            assert set(actions[n][legal].tolist()) == set(worth)
            assert values[n][legal] == pytest.approx(
                [worth[a] for a in actions[n][legal]], rel=1e-6
            )
            if chances is not None:
                assert chances[n][legal] == pytest.approx([chosen[a] for a in actions[n][legal]])
            assert chosen[int(actions[n, 0])] == max(chosen.values())


def test_a_large_game_is_shown_in_part_and_says_so() -> None:
    taxi = solved_task(make_game("Taxi-v4"))
    whole, part = state_map.state_map(taxi), state_map.state_map(taxi, most_bytes=6000)
    assert (len(whole.states), bool(whole.omitted)) == (400, False)
    assert f"Of 404 cells {len(part.value)} are shown" in part.omitted
    assert 0 < len(part.value) < 404
    assert part.choices[0]["action"].shape == (len(part.states), 1)
    # Slices are whole: 25 squares each, or 24 and an end where the passenger is delivered.
    _, count = np.unique([part.fields[2].place, part.fields[3].place], axis=1, return_counts=True)
    assert set(count.tolist()) <= {25, 26}
    assert (part.value[: len(part.states)] == taxi.solution.values[part.states]).all()


def test_what_an_agent_chooses_and_loses_is_there() -> None:
    solved = solved_task(lake())
    policy = TabularPolicy.deterministic(solved.table, np.full(solved.table.n_states, 2))
    location = locate_gap(solved.table, policy, solved.solution)
    agent: Any = SimpleNamespace(name="to the <right>")
    item = ScoredAgent(agent, (), (policy,), (location,))
    found = Embedded(state_map_section(replace(solved, agents=(item,))).html)
    [learned] = found.data["agents"]
    [seat] = learned["seats"]
    losses = location.loss[~solved.table.terminal].astype("f4")
    assert set(found.read(seat["chosen"], "<u2").tolist()) == {2}
    assert found.read(seat["loss"], "<f4").tolist() == losses.tolist()
    assert losses.max() > 0.1
    assert all(found.data["colours"])


def test_two_states_on_one_place_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small = solved_task(lake())
    monkeypatch.setattr(GymnasiumTable, "coordinates", lambda self, s: {"row": 0, "column": 0})
    with pytest.raises(ValueError, match="two states on one place"):
        state_map_section(small)
