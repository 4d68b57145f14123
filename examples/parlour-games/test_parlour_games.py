from solvent.model import parametrize_with_game_checks

from parlour_games import Nim, ThreeRolls


@parametrize_with_game_checks([ThreeRolls(), Nim()])
def test_games(game, check):
    check(game)
