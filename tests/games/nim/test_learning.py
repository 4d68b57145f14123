"""Mirror descent where players take turns: Nim."""

from __future__ import annotations

from pathlib import Path

from solvent import exploitability
from solvent.games import Nim
from solvent.model import TabularPolicy, compile_game
from solvent.training import train


def test_mirror_descent_learns_both_seats_where_players_take_turns(tmp_path: Path) -> None:
    game = compile_game(Nim([1, 2, 2]))
    trained = train(
        game,
        "mirror_descent",
        self_play=True,
        seed=1,
        timesteps=32_768,
        evaluations=2,
        refresh=2048,
        hyperparameters={"n_envs": 256, "n_steps": 4, "batch_size": 64},
        folder=tmp_path,
        progress=False,
    )
    uniform = sum(exploitability(game, TabularPolicy.uniform(game, player=p)) for p in (0, 1))
    assert 2 * trained.exploitability < 0.5 * uniform
