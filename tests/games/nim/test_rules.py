"""The rules of Nim, and Bouton's theorem in every position."""

from __future__ import annotations

from functools import reduce
from operator import xor

import pytest

from solvent import solve
from solvent.games import Nim
from solvent.games.nim import Heaps
from solvent.model import compile_game

GAME = Nim([1, 3])


def test_a_move_takes_any_number_from_one_heap() -> None:
    assert GAME.moves == ((0, 1), (1, 1), (1, 2), (1, 3))
    assert GAME.info.actions[0][2] == "take 2 from heap 2"
    [after] = GAME.transition(Heaps((1, 3), 0), (2, 0))
    assert (after.state, after.reward) == (Heaps((1, 1), 1), 0)
    [after] = GAME.transition(Heaps((1, 3), 1), (0, 0))
    assert (after.state, after.reward) == (Heaps((0, 3), 0), 0)


def lost(heaps: tuple[int, ...], misere: bool) -> bool:
    """Bouton's theorem: whether the player on turn loses."""
    balanced = reduce(xor, heaps) == 0
    return not balanced if misere and max(heaps) <= 1 else balanced


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", [[3, 4, 5], [1, 1, 1, 2], [15, 6], [1, 1, 1, 1, 1]])
def test_boutons_theorem_in_every_position(heaps: list[int], misere: bool) -> None:
    table = compile_game(Nim(heaps, misere))
    solution = solve(table)
    for state, value in zip(table.states, solution.values.tolist(), strict=True):
        if any(state.heaps):
            wins = 1 if state.player == 0 else -1
            assert value == (-wins if lost(state.heaps, misere) else wins), state
