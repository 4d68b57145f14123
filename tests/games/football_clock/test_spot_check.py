"""States of football with a clock, solved again from the rules; and the evidence of whole games."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from layered_games import solve_in
from timed_football import SMALL, TINY_FORMS, tiny
from whole_games import FOLDERS, opened

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Place
from solvent.exact.layered.manifest import random_places
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.spot_check import solved_again, spot_check
from solvent.exact.layered.store import LayerStore
from solvent.games.football_clock.layers import FootballLayers

SEED = "spot check of the tests"


def largest_miss(layers: FootballLayers, store: LayerStore, count: int) -> float:
    """By how much random states are farther from the rules than they may be, at most."""

    def stored(place: Place) -> float:
        return store.value_at(place)

    misses = []
    for place in random_places(layers, count, SEED):
        state = layers.state_at(place)
        lower, upper = solved_again(layers, state, stored)
        assert upper - lower < 1e-12
        value = layers.value(state, stored(place))
        gap = store.record(place.layer).largest_gap
        allowed = gap + 2 * layers.rounding(place.layer, store.largest)
        misses.append(max(lower - value, value - upper) - allowed)
    return max(misses)


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_place_has_its_state_and_random_ones_agree_with_the_rules(
    form: str, parameters: dict[str, Any]
) -> None:
    layers = FootballLayers.of(tiny(form, **parameters))
    for layer in layers.layers:
        for at in product(*map(range, layers.shape(layer))):
            place = Place(layer, at)
            state = layers.state_at(place)
            if layer.ticks == 0 and at[0] >= layers.kickoff_row:
                assert state is None  # There are no kicks when no time is left.
            else:
                assert state is not None
                assert layers.place(state) == place
    store = LayerStore(layers)
    solve_layers(layers, store)
    assert largest_miss(layers, store, 60) <= 0


def test_the_value_of_two_given_players_has_no_samples(tmp_path: Path) -> None:
    """Their states stand at places of another kind; asking for them ended every such score."""
    from solvent.games.football_clock.agent import AgentPlayer
    from solvent.games.football_clock.players import PairLayers

    game = tiny("second-half", SMALL, half=30)
    layout = FootballLayers.of(game)
    [outcome] = game.initial()
    pairs = PairLayers.of_pairs(
        layout, start=outcome.state, pairs={"agent": (AgentPlayer(layout), None)}
    )
    solve_in(tmp_path, pairs, keep="start")
    assert LayerFolder.open(tmp_path, pairs).samples == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_the_kept_samples_agree_with_the_rules(folder: Path, count: int) -> None:
    states = spot_check(opened(folder).store, count, SEED)
    assert len(states) == count + 1
    assert [state for state in states if not state.agrees] == []
    assert max(state.allowed for state in states) < 1e-10
