"""Sheets: how many states there are, which columns are whose, and what is solved before what."""

from __future__ import annotations

import numpy as np
import pytest

from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.layout import FORMS, FormLayout, Layer


@pytest.fixture(scope="module")
def rules() -> PackedRules:
    return pack_rules(load_chart("standard"), Ruleset())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("timeouts", [0, 2])
@pytest.mark.parametrize("untimed_down", [False, True])
def test_every_layer_comes_after_those_that_it_reads(
    rules: PackedRules, form: str, timeouts: int, untimed_down: bool
) -> None:
    layout = FormLayout(rules, ClockRules(timeouts=timeouts, untimed_down=untimed_down), form)
    solved: set[Layer] = set()
    for layer in layout.layers:
        assert solved.issuperset(layout.reads(layer))
        solved.add(layer)
    assert len(solved) == len(layout.layers)
    begin = Layer(layout.halves[-1], layout.most_ticks, timeouts, timeouts)
    assert layout.layers[-1] == begin


def test_changing_sides_reverses_the_columns(rules: PackedRules) -> None:
    layout = FormLayout(rules, ClockRules(largest_margin=9), "full")
    for half in layout.halves:
        margin, receives = layout.margin(half), layout.receives(half)
        assert (margin == -margin[::-1]).all()
        if half == 1:
            assert (receives + receives[::-1] == 1).all()
        for column in range(layout.columns(half)):
            found = layout.column(half, int(margin[column]), receives=bool(receives[column]))
            assert found == column


def test_points_move_the_margin_up_to_the_largest(rules: PackedRules) -> None:
    layout = FormLayout(rules, ClockRules(largest_margin=9), "full")
    for half in layout.halves:
        margin, receives = layout.margin(half), layout.receives(half)
        for points in (-7, -2, 0, 3, 6):
            after = layout.after_points(half, points)
            assert (margin[after] == np.clip(margin + points, -9, 9)).all()
            assert (receives[after] == receives).all()


def test_the_end_of_a_half(rules: PackedRules) -> None:
    layout = FormLayout(rules, ClockRules(largest_margin=2), "full")
    assert layout.final(2).tolist() == [-0.5, -0.5, 0, 0.5, 0.5]
    # Who kicks off next has that row; who receives has the opposite of the other side's.
    kicks = np.array([-0.5, -0.4, -0.1, 0.2, 0.5])
    assert layout.final(1, kicks).tolist() == [*kicks, -0.5, -0.2, 0.1, 0.4, 0.5]
    assert FormLayout(rules, ClockRules(), "half").final(2).tolist() == [0]
