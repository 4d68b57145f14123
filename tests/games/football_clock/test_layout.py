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


@pytest.mark.parametrize(
    ("form", "timeouts", "margin", "states"),
    [
        ("two-minutes", 3, 28, 144_460_800),
        ("half", 0, 42, 2_376_000),
        ("half", 3, 42, 38_016_000),
        ("second-half", 0, 42, 201_960_000),
        ("full", 0, 42, 605_880_000),
        ("full", 3, 42, 9_694_080_000),
    ],
)
def test_how_many_states_a_form_has(
    rules: PackedRules, form: str, timeouts: int, margin: int, states: int
) -> None:
    clock = ClockRules(timeouts=timeouts, largest_margin=margin)
    assert FormLayout(rules, clock, form).states == states


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


def test_a_form_that_makes_no_sense(rules: PackedRules) -> None:
    with pytest.raises(ValueError, match="form is 'quarter'"):
        FormLayout(rules, ClockRules(), "quarter")
    with pytest.raises(ValueError, match="two-minutes"):
        FormLayout(rules, ClockRules(stops=()), "two-minutes")
    with pytest.raises(ValueError, match="ticks is 121"):
        FormLayout(rules, ClockRules(), "half", ticks=121)
