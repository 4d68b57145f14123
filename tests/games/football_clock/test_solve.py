"""Football with a clock, layer by layer: its layers, against other solvers and itself."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from timed_football import CHART, SMALL, TINY_FORMS, tiny

from solvent.exact import Solution, solve
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Place
from solvent.exact.layered.plan import make_plan, values_bytes
from solvent.exact.layered.solve import Workers, proved_errors, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football.chart import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football.solver.points import solve_points
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import Layer
from solvent.games.football_clock.rules import TIMED_FORMS, TimedPosition
from solvent.games.football_clock.solution import NEGLIGIBLE, TimedSolution
from solvent.model import TabularGame, compile_game


def solved(layout: FootballLayers, threads: int = 2) -> LayerStore:
    """All layers of a layout, solved."""
    store = LayerStore(layout)
    solve_layers(store.game, store, workers=Workers(threads))
    return store


def layout_in(store: LayerStore) -> FootballLayers:
    """The layout of the layers in a store."""
    assert isinstance(store.game, FootballLayers)
    return store.game


def place_in(store: LayerStore, state: TimedPosition) -> Place:
    """Where a position's value stands."""
    place = store.game.place(state)
    assert place is not None
    return place


def stored_value(store: LayerStore, state: TimedPosition) -> float:
    """What a store says of a position, to player 0: half-chances, or points still to come."""
    value = store.value_at(place_in(store, state))
    return value if state.offence == 0 else -value


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_value_is_that_of_the_generic_solver(form: str, parameters: dict[str, Any]) -> None:
    """Of both players having the ball, so that it also shows that sides may be swapped."""
    game = tiny(form, **parameters)
    table = compile_game(game, reference=True)
    values = solve(table).values
    store = solved(FootballLayers.of(game))
    half = 0.0 if game.for_points else 0.5
    compared = {0: 0, 1: 0}
    for state, value in zip(table.states, values, strict=True):
        if state.phase in ("call", "kickoff", "free kick"):
            assert stored_value(store, state) + half == pytest.approx(value, abs=1e-12), state
            compared[state.offence] += 1
    assert min(compared.values()) > 50


def value_in_rationals(payoffs: list[list[Fraction]]) -> Fraction:
    """The value of a matrix game in which the column player has one column or two."""
    if len(payoffs[0]) == 1:
        return max(row[0] for row in payoffs)
    # With the first column's chance q, rows are lines; their upper envelope is lowest at a corner.
    corners = {Fraction(0), Fraction(1)}
    for a, b in payoffs:
        for c, d in payoffs:
            if a - b != c - d:
                corners.add((d - b) / ((a - b) - (c - d)))
    return min(max(a * q + b * (1 - q) for a, b in payoffs) for q in corners if 0 <= q <= 1)


@pytest.mark.parametrize(
    ("form", "clock"),
    [
        pytest.param("full", {"half": 30, "timeouts": 1}, marks=pytest.mark.slow),
        ("half", {"half": 45}),
        ("second-half", {"half": 30, "timeouts": 1}),
    ],
)
def test_every_value_is_within_its_error_of_the_rational_one(
    form: str, clock: dict[str, Any]
) -> None:
    game = tiny(form, SMALL, **clock)
    store = solved(FootballLayers.of(game))

    @cache
    def exact(state: TimedPosition) -> Fraction:
        if game.is_terminal(state):
            return Fraction(0)
        mine, theirs = game.legal_actions(state)

        def expected(joint: tuple[int, int]) -> Fraction:
            return sum(
                (
                    branch.probability * (branch.reward + exact(branch.state))
                    for branch in game.transition(state, joint)
                ),
                Fraction(0),
            )

        payoffs = [[expected((own, other)) for other in theirs] for own in mine]
        if len(theirs) > 2:
            # Player 1 has the ball: its calls are the many.
            transposed = [[-payoff for payoff in column] for column in zip(*payoffs, strict=True)]
            return -value_in_rationals(transposed)
        return value_in_rationals(payoffs)

    start = game.initial()[0].state
    half = 0 if game.for_points else Fraction(1, 2)
    exact(start)
    errors = proved_errors(store)
    compared, waiting, seen = 0, [start], {start}
    while waiting:
        state = waiting.pop()
        if state.phase in ("call", "kickoff", "free kick"):
            error = errors[place_in(store, state).layer]
            assert error < 1e-12
            assert abs(Fraction(stored_value(store, state)) + half - exact(state)) <= error, state
            compared += 1
        if not game.is_terminal(state):
            for mine in game.legal_actions(state)[0]:
                for theirs in game.legal_actions(state)[1]:
                    for branch in game.transition(state, (mine, theirs)):
                        if branch.state not in seen:
                            seen.add(branch.state)
                            waiting.append(branch.state)
    assert compared > 50


@pytest.mark.slow
def test_a_long_half_is_the_endless_game() -> None:
    """Expected points of a half tend to those of play without a clock, which costs no time.

    Both are differences of points. A half of T ticks is worth h(s) + c to the side that has the
    ball in situation s, with the endless game's h, when T is large; and c is 0, since swapping the
    sides changes its sign.
    """
    rules = pack_rules(load_chart("standard"), Ruleset())
    endless = solve_points(rules)
    expected = np.append(endless.values, (-endless.kickoff_value, -endless.free_kick_value))
    layout = FootballLayers(rules, ClockRules(timeouts=0, half=3600), "half")
    store = solved(layout)
    misses = [
        float(np.abs(store.read(Layer(2, ticks, 0, 0))[:, 0] - expected).max())
        for ticks in (30, 60, 120, 240)
    ]
    assert misses == sorted(misses, reverse=True)
    # A standard half has 120.
    assert misses[2] < 1e-4
    assert misses[3] < 1e-8


# Layers.


@pytest.fixture(scope="module")
def rules() -> PackedRules:
    return pack_rules(load_chart("standard"), Ruleset())


def test_decided_games_are_not_solved() -> None:
    """With a tick left and a lead of more than any play brings there is nothing to solve."""
    short = pack_rules(load_chart("standard"), Ruleset(field=71))
    store = solved(
        FootballLayers(short, ClockRules(timeouts=0, largest_margin=10), "second-half", 2)
    )
    layout = layout_in(store)
    margin = layout.margin(2)
    far = abs(margin) > 7
    for ticks in (0, 1):
        record, values = store.record(Layer(2, ticks, 0, 0)), store.read(Layer(2, ticks, 0, 0))
        assert record.constant == far.sum() * layout.kickoff_row
        assert record.games + record.constant == layout.kickoff_row * len(margin)
        decided = np.broadcast_to(np.sign(margin[far]) / 2, values[:, far].shape)
        np.testing.assert_array_equal(values[:, far], decided)


def test_the_end_of_a_half(rules: PackedRules) -> None:
    layout = FootballLayers(rules, ClockRules(largest_margin=2), "full")
    assert layout.final(2).tolist() == [-0.5, -0.5, 0, 0.5, 0.5]
    # Who kicks off next has that row; who receives has the opposite of the other side's.
    kicks = np.array([-0.5, -0.4, -0.1, 0.2, 0.5])
    assert layout.final(1, kicks).tolist() == [*kicks, -0.5, -0.2, 0.1, 0.4, 0.5]
    assert FootballLayers(rules, ClockRules(), "half").final(2).tolist() == [0]


@pytest.mark.parametrize("form", TIMED_FORMS)
def test_every_layer_comes_after_those_that_it_reads(rules: PackedRules, form: str) -> None:
    for timeouts, untimed_down in ((0, True), (2, False)):
        layout = FootballLayers(
            rules, ClockRules(timeouts=timeouts, untimed_down=untimed_down), form
        )
        solved: set[Layer] = set()
        for layer in layout.layers:
            assert solved.issuperset(layout.reads(layer))
            solved.add(layer)
        assert len(solved) == len(layout.layers)
        begin = Layer(layout.halves[-1], layout.most_ticks, timeouts, timeouts)
        assert layout.layers[-1] == begin


# Single states, against the generic solver.


@cache
def both_ways(form: str) -> tuple[TimedSolution, TabularGame, Solution]:
    """A tiny game by the layers and by the generic solver."""
    clock = {} if form == "two-minutes" else {"half": 30}
    game = tiny(form, SMALL if form == "full" else CHART, timeouts=1, **clock)
    table = compile_game(game)
    return TimedSolution.of(game), table, solve(table)


@pytest.mark.parametrize("form", ["two-minutes", "half", "full"])
def test_optimal_actions_have_the_value_of_the_state(form: str) -> None:
    solution, table, generic = both_ways(form)
    live = np.random.default_rng(5).permutation(np.flatnonzero(~table.terminal))[:60]
    for s in live.tolist():
        state = table.states[s]
        for player, sign in ((0, 1), (1, -1)):
            values = solution.action_values(state, player)
            chances = solution.policy(state, player)
            assert tuple(values) == tuple(chances) == solution.game.legal_actions(state)[player]
            best = max(sign * value for value in values.values())
            assert best == pytest.approx(sign * generic.values[s], abs=1e-9)
            assert sum(chances.values()) == pytest.approx(1)
            assert all(sign * values[a] > best - NEGLIGIBLE for a, p in chances.items() if p > 0)


def test_a_time_out_that_gains_nothing_is_kept() -> None:
    solution, table, _ = both_ways("two-minutes")
    timeout, even = solution.game.actions.timeout, 0
    for state in [at for at in table.states if at.phase == "time-out"][:400]:
        values = solution.action_values(state, state.asked)
        if abs(values[timeout] - values[timeout + 1]) < NEGLIGIBLE / 2:
            even += 1
            assert solution.policy(state, state.asked) == {timeout: 0.0, timeout + 1: 1.0}
    assert even > 10


# Plans.

PLANNED = [
    ("two-minutes", {"stops": [30], "timeouts": 1}),
    ("half", {}),
    ("second-half", {"half": 30, "timeouts": 2}),
    ("full", {"half": 30, "timeouts": 1}),
]


@pytest.mark.parametrize(("form", "clock"), PLANNED)
def test_a_plan_counts_what_is_then_solved(
    form: str, clock: dict[str, object], tmp_path: Path
) -> None:
    layers = FootballLayers.of(tiny(form, SMALL, **clock))
    plan = make_plan(layers)
    largest = 0

    def measure(*_: object) -> None:
        nonlocal largest
        sizes = [path.stat().st_size for path in (tmp_path / "x").rglob("*") if path.is_file()]
        largest = max(largest, sum(sizes))

    with LayerFolder.create(tmp_path / "x", layers) as store:
        solve_layers(layers, store, on_layer=measure)
    constant = sum(store.record(layer).constant for layer in layers.layers)
    assert plan.games == store.games + constant
    assert plan.layers == len(layers.layers)
    assert plan.states == layers.n_states
    assert plan.disk >= largest - 20_000  # What the manifest has besides records.
    assert values_bytes(layers) < plan.disk
    assert plan.traffic >= values_bytes(layers)
    assert plan.core_seconds > 0


def test_a_plan_knows_how_far_values_can_be_compressed(tmp_path: Path) -> None:
    """It said 2 bytes a value, whatever the game: for the whole game 26 GB, where it takes 3.4."""
    rules, clock = pack_rules(load_chart("standard"), Ruleset()), ClockRules(timeouts=0)
    layers = FootballLayers(rules, clock, "half", 30)
    kept = make_plan(layers).kept
    with LayerFolder.create(tmp_path, layers, "compact") as store:
        solve_layers(layers, store)
    taken = sum(path.stat().st_size for path in tmp_path.rglob("*.zlib"))
    planned = kept["compact"].disk - kept["start"].disk
    assert taken < planned < 1.6 * taken
