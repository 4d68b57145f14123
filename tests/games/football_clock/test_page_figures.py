"""The figures of the page about football with a clock."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doc_pages import DOCS, table_rows
from layered_games import solve_in
from timed_football import SMALL, TINY_FORMS, evaluate_pairs, tiny

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import LayerPlace
from solvent.exact.layered.manifest import random_places
from solvent.exact.layered.plan import disk_bytes, gigabytes, make_plan, values_bytes, window_bytes
from solvent.exact.layered.solve import LayeredSolution, solve_layers
from solvent.exact.layered.spot_check import solved_again, spot_check
from solvent.exact.layered.store import LayerStore, rounded_off
from solvent.games import TimedFootball
from solvent.games.football_clock.agent import AgentPlayer
from solvent.games.football_clock.layers import FootballLayers, Layer, Players
from solvent.games.football_clock.players import PairLayers
from solvent.games.football_clock.report import LastHalf
from solvent.games.football_clock.solution import OptimalPlayer, TimedSolution
from solvent.model.arrays import Floats

PAGE = (DOCS / "football-clock.md").read_text(encoding="utf-8")
NOTES = (DOCS / "notes" / "football.md").read_text(encoding="utf-8")


# The evidence of whole games: manifests that the repository keeps, each found by itself.
FOLDERS = sorted((DOCS / "evidence").glob("football-*"))


def opened(folder: Path) -> LayeredSolution:
    """The evidence in a folder, which has to be of the game as it is played by default."""
    found = LayerFolder.open(folder, FootballLayers, manifest_only=True).game
    game = TimedFootball(form=found.game.form, timeouts=found.clock.timeouts)
    store = LayerFolder.open(folder, FootballLayers(game), manifest_only=True)
    return LayeredSolution(store, game)


SOLVED = {
    (form, 0 if timeouts == "none" else int(timeouts)): cells
    for form, timeouts, *cells in table_rows(NOTES, "form | time-outs")
}
SIZES = {form: cells[:3] for form, cells in SOLVED.items()}
GAMES = {form: cells[3] for form, cells in SOLVED.items()}
FOUND = {form: cells[4:7] for form, cells in SOLVED.items()}


def layout_of(form: str, timeouts: int) -> FootballLayers:
    return FootballLayers(TimedFootball(form=form, timeouts=timeouts))


@pytest.mark.parametrize(("form", "timeouts"), SIZES)
def test_sizes(form: str, timeouts: int) -> None:
    layout, (states, layers, disk) = layout_of(form, timeouts), SIZES[form, timeouts]
    assert (states, layers) == (f"{layout.n_states:,}", f"{len(layout.layers):,}")
    number, unit = disk.split()
    size = values_bytes(layout) / {"MB": 1e6, "GB": 1e9}[unit]
    assert float(number) == pytest.approx(size, rel=0.05)


def test_the_room_of_the_whole_game_that_is_kept_compact() -> None:
    layers = layout_of("full", 3)
    assert f"the folder holds {gigabytes(disk_bytes(layers, keep='start'))} more" in PAGE
    off = f"{rounded_off(layers.bound(layers.layers[0])):.1e}".replace("e-0", "e-")
    assert f"by at most {off} of a chance" in PAGE
    assert f"takes {SIZES['full', 3][2]} if all is kept" in PAGE


@pytest.mark.slow
def test_the_plan_of_the_whole_game_that_is_kept_compact() -> None:
    layout = layout_of("full", 3)
    disk, more = make_plan(layout, keep="compact").disk, window_bytes(layout)
    said = f"the folder holds {gigabytes(more)} more; `--plan` allows {gigabytes(disk)} for both"
    assert said in PAGE


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_evidence_has_the_figures_of_the_page(folder: Path) -> None:
    """The value is the kept sample of the start; its bound follows from all recorded gaps."""
    solution = opened(folder)
    key = solution.game.form, solution.game.loaded_clock.timeouts
    shown = f"{solution.value:.9f}", f"{solution.error:.1e}", f"{solution.store.largest_gap:.1e}"
    assert [*shown] == FOUND[key]
    layout = solution.layered
    counted = f"{layout.n_states:,}", f"{len(layout.layers):,}", f"{solution.store.games:,}"
    assert [*counted] == [*SIZES[key][:2], GAMES[key]]


def agent_table() -> dict[tuple[str, int, bool], tuple[str, str, str]]:
    """The value and the agent's, against the optimal player and the best response, as written.

    The key's last entry is whether it begins with the ball or the kickoff's return. A row without a
    form goes on with the last one.
    """
    rows, form, timeouts = {}, "", 0
    for name, begins, optimal, answer in table_rows(NOTES, "form | it begins"):
        if name.startswith("with "):
            timeouts = int(name.split()[1])
        elif name:
            form, timeouts = name.strip("`").split("`")[0], 0
        gets, possible = optimal.removesuffix(")").replace("the value is ", "").split(" (")
        rows[form, timeouts, begins.startswith("with ")] = possible, gets, answer
    return rows


AGENT = agent_table()

# Two figures each, by what it says before them, and against whom.
Pairs = dict[tuple[str, str], tuple[str, str]]


def agent_values() -> Pairs:
    found: Pairs = {}
    for (form, timeouts, first), row in AGENT.items():
        if first:
            other = AGENT[form, timeouts, False]
            for n, against in ((1, "optimal player"), (2, "best response")):
                found[label_of(form, timeouts), against] = row[n], other[n]
    page = " ".join(NOTES.split())
    leads = re.findall(r"(?:four points, it gets|seven it gets) (0\.\d+)[^.\d]* and (0\.\d+)", page)
    for lead, pair in zip((4, 7), leads, strict=True):
        found[f"`second-half`, {lead} points ahead", "optimal player"] = pair
    return found


def label_of(form: str, timeouts: int) -> str:
    """How the table of changes names a form."""
    return f"`{form}`" + (f", {timeouts} time-outs" if timeouts else "")


def test_what_is_possible_for_the_agent_is_the_value() -> None:
    assert len(AGENT) == 8
    assert len(agent_values()) == len(AGENT) + 2
    for (form, timeouts, first), texts in AGENT.items():
        possible, optimal, answer = map(float, texts)
        assert answer < optimal < possible
        if (form, timeouts) in FOUND:
            value, even = float(FOUND[form, timeouts][0]), 0 if form == "half" else 1
            digits = 2 if form == "half" else 4
            assert possible == round(value if first else even - value, digits)


@pytest.fixture(scope="module")
def solved(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TimedSolution]:
    """A form, solved in a folder. The whole game takes ten minutes of a processor and 6.1 GB."""
    form, timeouts = request.param
    game = TimedFootball(form=form, timeouts=timeouts)
    layers, folder = FootballLayers(game), tmp_path_factory.mktemp("solved")
    free = shutil.disk_usage(folder).free
    if free < 1.1 * values_bytes(layers):
        pytest.skip(
            f"{form} takes {values_bytes(layers) / 1e9:.1f} GB of disk, {free / 1e9:.1f} are free"
        )
    with LayerFolder.create(folder / form, layers) as store:
        solve_layers(layers, store)
        yield TimedSolution(store, game)
    shutil.rmtree(folder)


RATED = list(dict.fromkeys((form, timeouts) for form, timeouts, _ in AGENT))
BOTH = [game for game in FOUND if game in RATED]


def forms(games: Iterable[tuple[str, int]]) -> pytest.MarkDecorator:
    """Tests of solved forms. Those of both tests come first: each is then solved once for both."""
    order = [*BOTH, *(game for game in games if game not in BOTH)]
    names = [f"{form}, {timeouts} time-outs" for form, timeouts in order]
    return pytest.mark.parametrize("solved", order, indirect=True, ids=names)


@pytest.mark.slow
@forms(FOUND)
def test_what_was_found_is_found_again(solved: TimedSolution) -> None:
    form, timeouts = solved.layout.game.form, solved.layout.clock.timeouts
    value, error, gap = FOUND[form, timeouts]
    assert solved.value == pytest.approx(float(value), abs=5.1e-10)
    assert solved.error < 2 * float(error)
    assert solved.store.largest_gap < 10 * float(gap)
    assert f"{solved.store.games:,}" == GAMES[form, timeouts]


def timeout_worths(whose: str) -> Iterator[tuple[int, int, str]]:
    """Ticks, lead and figure of a table of the value of a time-out to a side."""
    heading, _, *lines = NOTES[NOTES.index(f"| the side {whose} is |") :].splitlines()
    ticks = [int(m) * 4 + int(s) // 15 for m, s in re.findall(r"(\d+):(\d\d)", heading)]
    for line in lines[: lines.index("")]:
        name, *figures = (cell.strip() for cell in line.strip("|").split("|"))
        points, _, where = name.partition(" ")
        lead = 0 if name == "tied" else int(points) * {"behind": -1, "ahead": 1}[where]
        for left, figure in zip(ticks, figures, strict=True):
            yield left, lead, figure


@pytest.mark.slow
@pytest.mark.parametrize("solved", [("two-minutes", 3)], indirect=True, ids=str)
def test_what_a_time_out_is_worth(solved: TimedSolution) -> None:
    worth, checked = LastHalf(solved).timeout_value(offence=True), 0
    middle = worth.shape[1] // 2
    for ticks, lead, figure in timeout_worths("with the ball"):
        if ticks <= len(worth):
            found = f"{100 * worth[ticks - 1, middle + lead]:.2f}".replace("-0.00", "0.00")
            assert figure == found, (ticks, lead)
            checked += 1
    assert checked == 10
    assert np.unravel_index(worth.argmax(), worth.shape) == (7 - 1, middle - 1)
    assert LastHalf(solved).timeout_value(offence=False).max() < worth.max()
    said = f"The value of a time-out is largest, {100 * worth.max():.1f}%, for a side that is a"
    assert f"{said} point behind" in " ".join(NOTES.split())


@pytest.mark.slow
@forms(RATED)
def test_the_agent_gets_what_the_page_says(solved: TimedSolution) -> None:
    layout, begin = solved.layout, solved.layout.place(solved.start)
    assert begin is not None
    form, label = layout.game.form, label_of(layout.game.form, layout.clock.timeouts)
    optimal, agent = OptimalPlayer(solved), AgentPlayer(layout)
    pairs: list[Players] = [(agent, optimal), (agent, None)]
    at_start: list[Floats] = []

    def keep(layer: Layer, values: Sequence[Floats]) -> None:
        if layer == begin.layer:
            at_start.extend(values)

    results = evaluate_pairs(layout.game, solved.start, pairs, on_layer=keep)

    def ahead(lead: int, pair: int) -> tuple[float, float]:
        """What the agent gets in both seats with a lead in the place of a tie."""
        mine = at_start[pair][0, begin.at[0], layout.column(2, lead)]
        others = at_start[pair][1, begin.at[0], layout.column(2, -lead)]
        seats = 0.5 + float(mine), 0.5 - float(others)
        return seats if solved.start.offence == 0 else seats[::-1]

    found, against = agent_values(), ("optimal player", "best response")
    expected = {
        (label, name): (results[n].first, results[n].second) for n, name in enumerate(against)
    }
    if form == "second-half":
        for lead in (4, 7):
            expected[f"{label}, {lead} points ahead", against[0]] = ahead(lead, 0)
    for key, pair in expected.items():
        for text, number in zip(found[key], pair, strict=True):
            # Several strategies of the optimal player are optimal; another may be found.
            near = 1e-3 if key[1] == "optimal player" and form != "half" else 0.0
            digits = len(text.split(".")[1])
            assert float(text) == pytest.approx(number, rel=0, abs=near + 0.51 * 10**-digits), key


# States of football with a clock, solved again from the rules


SEED = "spot check of the tests"


def largest_miss(layers: FootballLayers, store: LayerStore, count: int) -> float:
    """By how much random states are farther from the rules than they may be, at most."""
    misses = []
    for place in random_places(layers, count, SEED):
        state = layers.state_at(place)
        lower, upper = solved_again(layers, state, store.value_at)
        assert upper - lower < 1e-12
        value = layers.value(state, store.value_at(place))
        gap = store.record(place.layer).largest_gap
        allowed = gap + 2 * layers.rounding(place.layer, store.largest)
        misses.append(max(lower - value, value - upper) - allowed)
    return max(misses)


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_place_has_its_state_and_random_ones_agree_with_the_rules(
    form: str, parameters: dict[str, Any]
) -> None:
    layers = FootballLayers(tiny(form, **parameters))
    for layer in layers.layers:
        for at in product(*map(range, layers.shape(layer))):
            state = layers.state_at(LayerPlace(layer, at))
            # There are no kicks when no time is left.
            assert (state is None) == (layer.ticks == 0 and at[0] >= layers.kickoff_row)
            assert state is None or layers.place(state) == LayerPlace(layer, at)
    store = LayerStore(layers)
    solve_layers(layers, store)
    assert largest_miss(layers, store, 60) <= 0


def test_the_value_of_two_given_players_has_no_samples(tmp_path: Path) -> None:
    """Their states stand at places of another kind; asking for them ended every such score."""
    game = tiny("second-half", SMALL, half=30)
    given = {"agent": (AgentPlayer(FootballLayers(game)), None)}
    pairs = PairLayers(game, start=game.initial()[0].state, pairs=given)
    solve_in(tmp_path, pairs, keep="start")
    assert LayerFolder.open(tmp_path, pairs).samples == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_the_kept_samples_agree_with_the_rules(folder: Path, count: int) -> None:
    states = spot_check(opened(folder).store, count, SEED)
    assert len(states) == count + 1
    assert [state for state in states if not state.agrees] == []
    assert max(state.allowed for state in states) < 1e-10
