"""Tic-tac-toe, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="tic-tac-toe",
    make="solvent.games.tic_tac_toe.rules:TicTacToe",
    rules=(
        "Set a mark on one of nine squares in turns, crosses first. Three in a row, a\n"
        "column or a diagonal win; a full board without them is a draw."
    ),
    environments={
        "solvent/TicTacToe-v0": Environment(
            opponent="optimal",
            optimum=0.0,
            model_hash="631e065829e629f38482c348dba41e85c1d6508d5dceccc974a811998dd6dcfe",
        ),
    },
    pettingzoo={},
)
