"""The map of values and policy: what the page embeds is the solution, for any kind of game."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import gymnasium as gym
import numpy as np
import pytest
from random_games import RandomGame
from two_players import OneShot

from solvent import make_game
from solvent.exact import SolvedTable, locate_gap, solve
from solvent.games.gridworld import JUMPS
from solvent.games.windy_gridworld import WIND
from solvent.model import TabularPolicy
from solvent.model.gymnasium_table import GymnasiumTable
from solvent.report import state_map
from solvent.report.solved import ScoredAgent, SolvedTask
from solvent.report.state_map import NONE, signs, state_map_section


def lake(**parameters: Any) -> GymnasiumTable:
    return GymnasiumTable.from_env(gym.make("FrozenLake-v1", **parameters))


def solved_task(game: Any) -> SolvedTask:
    """Without a record, whose baselines take long to score."""
    solved = cast(SolvedTable, solve(game))
    return SolvedTask(cast(Any, None), game, solved.table, solved.solution, ())


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
        """The cell with these values."""
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
    assert found.data["actions"] == ["left", "down", "right", "up"]
    assert found.data["signs"] == ["l", "d", "r", "u"]
    assert found.data["arrows"] == ["←", "↓", "→", "↑"]
    actions, values, chances, _ = found.choices()
    assert chances is None
    policy = solved.solution.policies[0].probabilities
    holes = {5, 7, 11, 12}
    for s, (number, over) in enumerate(cast(Any, solved.table.states)):
        cell = found.at(row=number // 4, column=number % 4)
        assert over == (cell >= found.states) == (number in {*holes, 15})
        if over:
            assert found.value[cell] == (number == 15)
            continue
        assert found.value[cell] == np.float32(solved.solution.values[s])
        assert actions[cell, 0] == policy[s].argmax()
        assert sorted(actions[cell]) == [0, 1, 2, 3]
        row = solved.table.row_start[s]
        assert values[cell].tolist() == [
            np.float32(solved.solution.action_values[row + a]) for a in actions[cell]
        ]
    # Beside the goal it is best to head for the wall: no slip leads back up then.
    assert found.data["arrows"][actions[found.at(row=3, column=2), 0]] == "↓"


ARROWS = {
    "←": (-1, 0), "→": (1, 0), "↑": (0, -1), "↓": (0, 1),
    "↖": (-1, -1), "↗": (1, -1), "↙": (-1, 1), "↘": (1, 1),
}  # fmt: skip
"""Columns and lines of the picture, downward, that an arrow points to."""

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
    "cliff": GymnasiumTable.from_env(gym.make("CliffWalking-v1")),
    "taxi": GymnasiumTable.from_env(gym.make("Taxi-v4")),
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
        row = table.row(s, (action, 0))
        after = int(table.next_state[table.outcome_start[row]])
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
    found = Embedded(state_map_section(solved).html)
    *_, tied = found.choices()
    assert set(tied.tolist()) == {4}  # Nothing costs time, so that every way leads to the goal.
    table = GymnasiumTable({0: {0: [(1, 0, 1, True)], 1: [(1, 0, 0, True)]}}, [1])
    assert Embedded(state_map_section(solved_task(table)).html).choices()[-1].tolist() == [1]


@pytest.mark.parametrize("game", [OneShot(), RandomGame(3, "simultaneous", cyclic=True)])
def test_two_who_act_at_once_have_a_map_each(game: Any) -> None:
    solved = cast(SolvedTable, solve(game))
    found = Embedded(state_map_section(solved_task(game)).html)
    live = np.flatnonzero(~solved.table.terminal)
    assert [choice["name"] for choice in found.data["choices"]] == ["player A", "player B"]
    for player in (0, 1):
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


def test_states_without_fields_are_wrapped_into_rows() -> None:
    number = 45
    chain = {s: {0: [(1.0, min(s + 1, number - 1), 1.0, s == number - 2)]} for s in range(number)}
    found = Embedded(state_map_section(solved_task(GymnasiumTable(chain, [1] + [0] * 44))).html)
    assert list(found.fields) == ["state from", "and"]
    assert found.data["fields"][0]["values"] == ["0", "20", "40"]
    for n in range(found.states):
        state = int(found.fields["state from"][n]) + int(found.fields["and"][n])
        assert found.data["texts"][state] == str(state)
        assert found.value[n] == number - 1 - state


def test_a_large_game_is_shown_in_part_and_says_so() -> None:
    taxi = solved_task(GymnasiumTable.from_env(gym.make("Taxi-v4")))
    whole = state_map.state_map(taxi)
    assert not whole.omitted
    assert len(whole.states) == 400
    part = state_map.state_map(taxi, most_bytes=6000)
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
    solved = SolvedTask(solved.task, solved.game, solved.table, solved.solution, (item,))
    found = Embedded(state_map_section(solved).html)
    [learned] = found.data["agents"]
    [seat] = learned["seats"]
    live = np.flatnonzero(~solved.table.terminal)
    assert found.read(seat["chosen"], "<u2").tolist() == [2] * len(live)
    assert found.read(seat["loss"], "<f4").tolist() == location.loss[live].astype("f4").tolist()
    assert (found.read(seat["loss"], "<f4") > 0.1).any()
    assert all(found.data["colours"])
    assert len(set(state_map.action_colours([np.arange(30)], 30))) == 30


class Overlaid(GymnasiumTable):
    """A board that is too small."""

    def coordinates(self, state: Any) -> dict[str, Any]:
        return {"row": 0, "column": 0}


def test_two_states_on_one_place_are_refused() -> None:
    game = lake()
    with pytest.raises(ValueError, match="two states on one place"):
        state_map_section(solved_task(Overlaid(game.transitions, game.start)))
