"""Football with a clock, layer by layer: its layers, against other solvers and itself."""

import dataclasses
import json
import shutil
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from commands import answer, run, said
from layered_games import refusal, rewrite, solve_in
from timed_football import CHART, CLOCK, RULES, SMALL, TINY_FORMS, tiny

from solvent import TabularGame, compile_game
from solvent.baselines.network import Network, NetworkPlayer, save_network
from solvent.exact import Solution, StoreError, solve
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.plan import make_plan, values_bytes
from solvent.exact.layered.solve import Workers, proved_errors, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games import FootballStrategy
from solvent.games.football.chart import csv_text, load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football.solver.points import solve_points
from solvent.games.football_clock.layers import FootballLayers, Layer, equilibrium
from solvent.games.football_clock.rules import TIMED_FORMS, TimedFootball, TimedPosition
from solvent.games.football_clock.solution import NEGLIGIBLE, TimedSolution
from solvent.model.text import precise


def solved(layout: FootballLayers) -> LayerStore:
    store = LayerStore(layout)
    solve_layers(layout, store, workers=Workers(2))
    return store


def stored(store: LayerStore, state: TimedPosition) -> tuple[float, Any]:
    """What a store says of a position, to player 0: half-chances, or points still to come.

    And the layer in which it stands.
    """
    place = store.game.place(state)
    assert place is not None
    value = store.value_at(place)
    return value if state.offence == 0 else -value, place.layer


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_value_is_that_of_the_generic_solver(form: str, parameters: dict[str, Any]) -> None:
    """Of both players having the ball, so that it also shows that sides may be swapped."""
    game = tiny(form, **parameters)
    table, store = compile_game(game, reference=True), solved(FootballLayers(game))
    half, compared = 0.0 if game.for_points else 0.5, [0, 0]
    for state, value in zip(table.states, solve(table).values, strict=True):
        if state.phase in ("call", "kickoff", "free kick"):
            assert stored(store, state)[0] + half == pytest.approx(value, abs=1e-12), state
            compared[state.offence] += 1
    assert min(compared) > 50


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
    store = solved(FootballLayers(game))

    @cache
    def exact(state: TimedPosition) -> Fraction:
        if game.is_terminal(state):
            return Fraction(0)
        mine, theirs = game.legal_actions(state)
        payoffs = [
            [
                Fraction(sum(b.probability * (b.reward + exact(b.state)) for b in branches))
                for branches in (game.transition(state, (own, other)) for other in theirs)
            ]
            for own in mine
        ]
        if len(theirs) > 2:
            # Player 1 has the ball: its calls are the many.
            transposed = [[-payoff for payoff in column] for column in zip(*payoffs, strict=True)]
            return -value_in_rationals(transposed)
        return value_in_rationals(payoffs)

    half, compared = 0 if game.for_points else Fraction(1, 2), 0
    errors = proved_errors(store)
    for state in compile_game(game, reference=True).states:
        if state.phase in ("call", "kickoff", "free kick"):
            value, layer = stored(store, state)
            assert errors[layer] < 1e-12
            assert abs(Fraction(value) + half - exact(state)) <= errors[layer], state
            compared += 1
    assert compared > 50


@pytest.mark.slow
def test_a_long_half_is_the_endless_game() -> None:
    """Expected points of a half tend to those of play without a clock, which costs no time.

    Both are differences of points. A half of T ticks is worth h(s) + c to the side that has the
    ball in situation s, with the endless game's h, when T is large; and c is 0, since swapping the
    sides changes its sign.
    """
    endless = solve_points(pack_rules(load_chart("standard"), Ruleset()))
    expected = np.append(endless.values, (-endless.kickoff_value, -endless.free_kick_value))
    layout = FootballLayers(TimedFootball(form="half", clock=ClockRules(timeouts=0, half=3600)))
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


def test_decided_games_are_not_solved() -> None:
    """With a tick left and a lead of more than any play brings there is nothing to solve."""
    clock = ClockRules(timeouts=0, largest_margin=10).shortened(2)
    game = TimedFootball(form="second-half", ruleset=Ruleset(field=71), clock=clock)
    layout = FootballLayers(game)
    store, margin = solved(layout), layout.margin(2)
    far = abs(margin) > 7
    for layer in (Layer(2, 0, 0, 0), Layer(2, 1, 0, 0)):
        record, values = store.record(layer), store.read(layer)
        assert record.games == layout.kickoff_row * (len(margin) - far.sum())
        decided = np.broadcast_to(np.sign(margin[far]) / 2, values[:, far].shape)
        np.testing.assert_array_equal(values[:, far], decided)


def test_the_end_of_a_half() -> None:
    layout = FootballLayers(TimedFootball(form="full", clock=ClockRules(largest_margin=2)))
    # Who kicks off next has that row; who receives has the opposite of the other side's.
    kicks = np.array([-0.5, -0.4, -0.1, 0.2, 0.5])
    values = np.zeros(layout.shape(layout.second_half))
    values[layout.kickoff_row] = kicks

    def end(layout: FootballLayers, half: int) -> list[float]:
        found: list[float] = (
            equilibrium(layout, Layer(half, 1, 0, 0), lambda _: values).final().tolist()
        )
        return found

    assert end(layout, 2) == [-0.5, -0.5, 0, 0.5, 0.5]
    assert end(layout, 1) == [*kicks, -0.5, -0.2, 0.1, 0.4, 0.5]
    assert end(FootballLayers(TimedFootball(form="half")), 2) == [0]


@pytest.mark.parametrize("form", TIMED_FORMS)
def test_every_layer_comes_after_those_that_it_reads(form: str) -> None:
    for timeouts, untimed_down in ((0, True), (2, False)):
        clock = ClockRules(timeouts=timeouts, untimed_down=untimed_down)
        layout = FootballLayers(TimedFootball(form=form, clock=clock))
        order = {layer: n for n, layer in enumerate(layout.layers)}
        assert len(order) == len(layout.layers)
        assert all(order[read] < n for layer, n in order.items() for read in layout.reads(layer))
        begin = Layer(layout.halves[-1], layout.game.start_ticks, timeouts, timeouts)
        assert layout.layers[-1] == begin


# Single states, against the generic solver.


@cache
def both_ways(form: str) -> tuple[TimedSolution, TabularGame, Solution]:
    clock = {} if form == "two-minutes" else {"half": 30}
    game = tiny(form, SMALL if form == "full" else CHART, timeouts=1, **clock)
    table = compile_game(game)
    return TimedSolution.of(game), table, solve(table)


@pytest.mark.parametrize("form", ["two-minutes", "half", "full"])
def test_optimal_actions_have_the_value_of_the_state(form: str) -> None:
    solution, table, generic = both_ways(form)
    live = np.random.default_rng(5).permutation(np.flatnonzero(~table.terminal))[:60]
    for s, (player, sign) in product(live.tolist(), ((0, 1), (1, -1))):
        state = table.states[s]
        values, chances = solution.action_values(state, player), solution.policy(state, player)
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


@pytest.mark.parametrize(
    ("form", "clock"),
    [
        ("two-minutes", {"stops": [30], "timeouts": 1}),
        ("half", {}),
        ("second-half", {"half": 30, "timeouts": 2}),
        ("full", {"half": 30, "timeouts": 1}),
    ],
)
def test_a_plan_counts_what_is_then_solved(
    form: str, clock: dict[str, object], tmp_path: Path
) -> None:
    layers = FootballLayers(tiny(form, SMALL, **clock))
    plan, taken = make_plan(layers), []

    def measure(*_: object) -> None:
        files = (path for path in (tmp_path / "x").rglob("*") if path.is_file())
        taken.append(sum(path.stat().st_size for path in files))

    with LayerFolder.create(tmp_path / "x", layers) as store:
        solve_layers(layers, store, on_layer=measure)
    assert (plan.layers, plan.states) == (len(layers.layers), layers.n_states)
    assert store.games <= plan.games == sum(map(layers.states, layers.layers))
    assert plan.disk >= max(taken) - 20_000  # What the manifest has besides records.
    assert values_bytes(layers) < plan.disk
    assert plan.traffic >= values_bytes(layers)
    assert plan.core_seconds > 0


@pytest.mark.slow
def test_a_plan_knows_how_far_values_can_be_compressed(tmp_path: Path) -> None:
    """It said 2 bytes a value, whatever the game: for the whole game 26 GB, where it takes 3.4."""
    clock = ClockRules(timeouts=0).shortened(30)
    layers = FootballLayers(TimedFootball(form="half", clock=clock))
    compact, start = (make_plan(layers, keep=keep).disk for keep in ("compact", "start"))
    solve_in(tmp_path, layers, keep="compact")
    taken = sum(path.stat().st_size for path in tmp_path.rglob("*.zlib"))
    assert taken < compact - start < 1.6 * taken


# Football with a clock in a folder: solved, gone on with, opened and scored by the command


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("half", SMALL, timeouts=1)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that stand for the same game."""
    chart = tmp_path_factory.mktemp("chart") / "small.csv"
    chart.write_text(csv_text(SMALL))
    return [
        *("solve", "football-strategy", "--form", "half", "--chart", str(chart)),
        *("--ruleset", json.dumps(RULES), "--clock", json.dumps({**CLOCK, "timeouts": 1})),
    ]


@pytest.fixture(scope="module")
def original(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its finished solution, not to be changed."""
    folder = tmp_path_factory.mktemp("solutions") / "original"
    assert run(*words, "--out", str(folder)).exit_code == 0
    return folder


def test_a_solution_is_opened_without_its_game_and_by_another_name_of_the_chart(
    original: Path, game: TimedFootball
) -> None:
    solution = TimedSolution.open(original)
    assert solution.start == game.initial()[0].state
    assert solution.game.loaded_chart.hash == game.loaded_chart.hash
    assert solution.layout.clock == game.loaded_clock
    renamed = dataclasses.replace(game, chart=dataclasses.replace(SMALL, name="renamed"))
    assert TimedSolution.open(original, renamed).value == solution.value
    with pytest.raises(ValueError, match=r"^football-strategy .*is not solved layer by layer$"):
        TimedSolution.open(original, FootballStrategy(chart="standard"))


def test_the_solution_of_another_game_is_refused(
    original: Path, game: TimedFootball, tmp_path: Path
) -> None:
    layers = FootballLayers(game)
    solve_in(tmp_path / "half-done", layers, stop_before=len(layers.layers) - 3)
    for other, message in (
        (tiny("second-half", SMALL, timeouts=1), ".*form"),
        (tiny("half", CHART, timeouts=1), ".*chart"),
        (tiny("half", SMALL, {**RULES, "safety": 3}, timeouts=1), "ruleset$"),
        (tiny("half", SMALL, timeouts=0), "clock$"),
        (tiny("half", SMALL, timeouts=1, stops=[30]), "clock$"),
        (tiny("half", SMALL, timeouts=1, half=60, untimed_down=False), "clock, ticks$"),
    ):
        for folder in (original, tmp_path / "half-done"):
            with pytest.raises(StoreError, match=f"is a solution with other values of {message}"):
                LayerFolder.create(folder, FootballLayers(other))


ODD: tuple[Any, ...] = (None, True, -1, 1e308, float("nan"), "x\ny" * 999, [], {}, {"a": [1]})


def test_no_entry_of_a_manifest_is_believed(original: Path, tmp_path: Path) -> None:
    """Whatever stands in the place of an entry, the folder is refused in one line."""
    folder = Path(shutil.copytree(original, tmp_path / "solution"))
    whole = (folder / "manifest.json").read_bytes()
    record = ["sheets", "half2/t003-1-1"]
    entries = [
        *([name] for name in ("form", "ticks", "rows", "columns", "dtype", "chart", "ruleset")),
        *(["chart", name] for name in ("hash", "csv")),
        *(["ruleset", name] for name in ("hash", "parameters")),
        *(["ruleset", "parameters", name] for name in ("field", "kickoff", "barred")),
        *(["clock", name] for name in ("tick", "half", "stops", "timeouts", "largest_margin")),
        *(["clock"], record),
        *([*record, name] for name in ("sha256", "largest_gap", "games")),
    ]
    # A clock without stops is a clock.
    changes = [(at, odd) for at in entries for odd in ODD if (at[-1], odd) != ("stops", [])]
    changes.append((["chart", "csv"], csv_text(load_chart("dice"))))
    for path, odd in changes:

        def put(description: dict[str, Any], path: list[str] = path, odd: Any = odd) -> None:
            reduce(dict.__getitem__, path[:-1], description)[path[-1]] = odd

        (folder / "manifest.json").write_bytes(whole)
        rewrite(folder, put)
        message = refusal(lambda: LayerFolder.open(folder, FootballLayers))
        assert message.startswith(str(folder)), (path, odd)


# The command.


def test_interrupted_it_says_how_to_go_on_and_goes_on(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, out, problem = [], tmp_path / "x", FootballLayers.problem

    def interrupt(layout: FootballLayers, layer: Layer, read: Any) -> Any:
        begun.append(layer)
        if len(begun) == 5:
            raise KeyboardInterrupt
        return problem(layout, layer, read)

    with monkeypatch.context() as patch:
        patch.setattr(FootballLayers, "problem", interrupt)
        result = run(*words, "--out", out)
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("solvent: interrupted; with --out DIR")
    assert answer(*words, "--out", out, "--json")["layers_solved_now"] == 13 - 4


def test_known_players_are_scored_in_the_game_of_a_solution(
    words: list[str], original: Path
) -> None:
    value = TimedSolution.open(original).value
    score = ("score", "--solution", original)
    optimal, agent = (answer(*score, "--json", name) for name in ("optimal", "paper-agent"))
    assert optimal["value"] == value
    assert optimal["proved to within"] == TimedSolution.open(original).error
    assert optimal["against"]["best response"][:2] == pytest.approx([value, -value], abs=1e-12)
    answered, against_optimal = (agent["against"][name][0] for name in ("best response", "optimal"))
    assert answered < against_optimal < value - 1e-3
    assert agent["exploitability"] == pytest.approx(-agent["against"]["best response"][2])
    assert precise(against_optimal) in run(*score, "paper-agent").stdout
    # A game that is named has to be the one that is scored.
    assert answer(*score, "--json", "paper-agent", *words[1:]) == agent
    other = json.dumps({**CLOCK, "timeouts": 2})
    line = commands.refusal(*score, "--json", "paper-agent", *words[1:-1], other)
    assert "is a solution with other values of clock" in line


def test_a_network_is_scored_on_the_game_on_which_it_was_trained(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    network = Network((np.eye(3, dtype=np.float32),), (np.zeros(3, np.float32),), "relu")
    request = {"environment": "solvent/FootballHalf-v0", "env_kwargs": {"timeouts": 0}}
    for metadata, message in (
        ({"request": request}, "network.npz is for another game: its clock is"),
        ({}, "does not say on which game it was trained"),
    ):
        save_network(path, NetworkPlayer(network, "mode", True, "vector"), metadata)
        assert message in commands.refusal("score", path, "football", "--timeouts", "1")


def test_the_command_plays_by_a_solution_or_makes_one(words: list[str], original: Path) -> None:
    played = ("play", "football", "--seed", "3")
    answers = "1\nA\nkickoff\ntake the play\nno time-out\n" * 60
    opened = said(*played, "--solution", original, input=answers)
    assert "Optimum at the start" in opened
    assert said(*played, *words[2:], input=answers) == opened
    for more, message in (
        (["--timeouts", "3"], "timeouts is 3, but clock has 1"),
        (["--form", "drive"], "with a clock, not for form 'drive'"),
        (["--form", "full"], "is a solution with other values of"),
    ):
        assert message in commands.refusal(*played, *more, "--solution", original)
