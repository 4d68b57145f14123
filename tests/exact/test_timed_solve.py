"""Football with a clock, solved sheet by sheet, against the generic solver and against itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from timed_football import TINY_FORMS, tiny

from solvent.exact import solve
from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.solve import solve_layout
from solvent.exact.kernels.timed_football.store import SheetStore
from solvent.games.football.packed import pack_rules
from solvent.games.football.timed import TimedFootball
from solvent.games.football.timed_position import TimedPosition
from solvent.model import compile_game
from solvent.model.arrays import Floats


def layout_of(game: TimedFootball) -> Layout:
    """The sheets of a game."""
    rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
    return Layout(rules, game.loaded_clock, game.form)


def solved(layout: Layout) -> SheetStore:
    """All sheets of a layout, solved."""
    store = SheetStore(layout)
    solve_layout(layout, store)
    return store


def stored_value(store: SheetStore, state: TimedPosition) -> float:
    """What a store says of a position, to player 0: half-chances, or points still to come."""
    layout, side = store.layout, state.offence
    sheet = Sheet(state.half, state.ticks, state.timeouts[side], state.timeouts[1 - side])
    row = {"kickoff": layout.kickoff_row, "free kick": layout.kickoff_row + 1}.get(state.phase)
    column = layout.column(
        state.half,
        state.margin if side == 0 else -state.margin,
        receives=state.receiver == side,
    )
    row = layout.rules.index(state.situation) if row is None else row
    value = float(store.read(sheet)[row, column])
    return value if side == 0 else -value


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_value_is_that_of_the_generic_solver(form: str, parameters: dict[str, Any]) -> None:
    game = tiny(form, **parameters)
    table = compile_game(game, reference=True)
    values = solve(table).values
    store = solved(layout_of(game))
    half = 0.0 if game.for_points else 0.5
    compared = 0
    for state, value in zip(table.states, values, strict=True):
        if state.phase in ("call", "kickoff", "free kick"):
            assert stored_value(store, state) + half == pytest.approx(value, abs=1e-12), state
            compared += 1
    assert compared > 100
