"""What `solve` tells while it works: phases in their order, rising to their totals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from layered_games import shop

from solvent.exact import solve
from solvent.exact.layered.solve import solve_in_memory
from solvent.games import Pig
from solvent.model import Progress, cache, compile_game

GAME = Pig(target=6)


@pytest.fixture(autouse=True)
def at_every_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "INTERVAL", 0.0)


def told(game: Any) -> dict[str, list[Progress]]:
    """What is told of each phase, the phases in their order."""
    moments: list[Progress] = []
    solve(game, progress=moments.append)
    phases = list(dict.fromkeys(moment.what for moment in moments))
    assert [m.what for m in moments] == sorted((m.what for m in moments), key=phases.index)
    return {what: [m for m in moments if m.what == what] for what in phases}


def assert_rises_to(moments: list[Progress], total: int) -> None:
    assert {moment.total for moment in moments} == {total}
    done = [moment.done for moment in moments]
    assert done[0] == 0
    assert done[-1] == total
    assert all(a <= b for a, b in pairwise(done))
    assert len(set(done)) > 3


def test_a_game_is_compiled_solved_and_proved() -> None:
    states = compile_game(GAME).n_states
    phases = told(GAME)
    assert list(phases) == ["compiling", "solving", "proving"]
    compiled = [m.done for m in phases["compiling"]]
    assert compiled == sorted(set(compiled))
    assert compiled[-1] <= states
    assert {m.total for m in phases["compiling"]} == {None}
    assert_rises_to(phases["solving"], states)
    # Either player's policy is folded into chance, and the other one's gain is bounded.
    assert_rises_to(phases["proving"], 4 * states)


def test_layers_are_told_of_too() -> None:
    layers, moments = shop(), list[Progress]()
    solve_in_memory(layers, progress=moments.append)
    assert {moment.what for moment in moments} == {"solving"}
    assert_rises_to(moments, sum(map(layers.states, layers.layers)))


def test_what_the_function_raises_ends_the_work() -> None:
    def stop(moment: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(GAME, progress=stop)
