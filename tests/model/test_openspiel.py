"""Games of OpenSpiel's here, and games of ours there, against OpenSpiel's own algorithms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from interpreters import fresh
from random_games import RandomGame
from refusals import assert_refused

import solvent
from solvent.exact import exploitability, nash_conv, score, solve
from solvent.games import Greed, Pig
from solvent.model import (
    TabularGame,
    TabularPolicy,
    against,
    check_game,
    compile_game,
    game_from_openspiel,
    policy_from_openspiel,
    to_openspiel,
)
from solvent.model.openspiel import Position

pyspiel = pytest.importorskip("pyspiel")
policies_of = pytest.importorskip("open_spiel.python.policy")
exploiting = pytest.importorskip("open_spiel.python.algorithms.exploitability")
playing = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")


def uniform(table: Any) -> tuple[TabularPolicy, TabularPolicy]:
    return TabularPolicy.uniform(table, player=0), TabularPolicy.uniform(table, player=1)


@pytest.mark.parametrize("name", ["nim(pile_sizes=1;2;3)", "nim(pile_sizes=2;3,is_misere=false)"])
def test_nash_conv_of_uniform_play_is_openspiels(name: str) -> None:
    table = compile_game(game_from_openspiel(name))
    first, second = uniform(table)
    game = pyspiel.load_game(name)
    expected = exploiting.nash_conv(game, policies_of.UniformRandomPolicy(game))
    assert nash_conv(table, first, second) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.1


def test_rewards_before_the_first_action_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be lost: an episode begins after them."""
    dealt = SimpleNamespace(
        is_chance_node=lambda: False, current_player=lambda: 0, returns=lambda: [1.0]
    )
    start = SimpleNamespace(
        is_chance_node=lambda: True,
        chance_outcomes=lambda: [(0, 1.0)],
        child=lambda action: dealt,
        returns=lambda: [0.0],
    )
    game = game_from_openspiel("nim")
    monkeypatch.setattr(type(game.source), "new_initial_state", lambda _: start)
    with pytest.raises(ValueError, match="chance that comes first gives the reward 1 in"):
        game.initial()


GOOFSPIEL = "goofspiel(num_cards=4,imp_info=false,points_order=descending,players=2)"


def test_goofspiel_of_four_cards() -> None:
    """Both bid at once: uniform bids have a NashConv of 1.5."""
    table = compile_game(game_from_openspiel(GOOFSPIEL))
    solution = solve(table)
    first, second = uniform(table)
    assert nash_conv(table, first, second) == pytest.approx(1.5, abs=1e-9)
    assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-8)
    assert exploitability(table, first, solution) == pytest.approx(0.75, abs=1e-9)
    assert score(table, second, solution).exploitability == pytest.approx(0.75, abs=1e-9)


# Goofspiel is symmetric; cliff walking costs 1 a step, 9 steps on a grid of 8 columns. OpenSpiel
# lets a player hold at 0 in Pig, which is never better than rolling.
VALUES: list[tuple[str, dict[str, Any], Callable[[], float]]] = [
    (GOOFSPIEL, {}, lambda: 0),
    ("cliff_walking", {"limit": False}, lambda: -9),
    ("pig", {"winscore": 8, "limit": False}, lambda: solve(Pig(target=8, signed=True)).value),
]


def test_openspiels_games_have_the_values_that_are_known() -> None:
    """Without the limits on the number of turns that OpenSpiel has and does not show."""
    for name, given, value in VALUES:
        found = solve(compile_game(game_from_openspiel(name, **given))).value
        assert found == pytest.approx(value(), abs=1e-9), name


# OpenSpiel ends oshi-zumo after a number of moves that it does not show: bids of 0 repeat. On a
# board of 2 x 2 what is legal in Go depends on positions that have been there before.
REFUSED: list[tuple[Callable[[], object], str]] = [
    *(
        (partial(game_from_openspiel, name), reason)
        for name, reason in (
            ("kuhn_poker", "it has imperfect information"),
            ("leduc_poker", "it has imperfect information"),
            ("dark_hex(board_size=2)", "it has imperfect information"),
            ("goofspiel(num_cards=4,imp_info=true)", "it has imperfect information"),
            ("deep_sea", "it has imperfect information"),
            ("matrix_pd", "it has general sum"),
            ("matching_pennies_3p", "it has 3 players"),
            ("tictactoe", "Did you mean 'tic_tac_toe'"),
            ("pig(sides=3)", "cannot be loaded"),
        )
    ),
    (
        lambda: compile_game(game_from_openspiel("oshi_zumo(coins=4,size=1,horizon=10)")),
        r"the position ['\"].* can come again in one episode",
    ),
    (
        lambda: compile_game(game_from_openspiel("go(board_size=2)")),
        "stands for different states after the histories",
    ),
    (
        lambda: game_from_openspiel("nim").legal_actions(Position(0, "elsewhere")),
        "the position .* is unknown; allowed are those that initial",
    ),
    (lambda: game_from_openspiel("nim", state="board"), "state is 'board'"),
    (
        lambda: solvent.make_game("openspiel:pig", target=5),
        "openspiel:pig got an unexpected keyword argument 'target'",
    ),
    (lambda: to_openspiel(Pig(target=5)), "can come again in one episode"),
    (lambda: to_openspiel(solvent.make_game("FrozenLake-v1")), "can come again in one episode"),
]


def test_what_no_best_policy_per_state_exists_for_is_refused() -> None:
    assert_refused(REFUSED)
    assert 0 < solve(compile_game(game_from_openspiel("pig(winscore=5)", limit=False))).value < 1


def test_games_for_one_and_in_turn_and_at_once_keep_the_contract() -> None:
    for name in ("nim(pile_sizes=1;2)", "goofspiel(num_cards=2,imp_info=false,players=2)"):
        check_game(game_from_openspiel(name))


def test_by_name_everywhere() -> None:
    from commands import answer, said

    game = solvent.make_game("openspiel:pig", winscore=5, limit=False)
    assert dict(game.info.parameters)["winscore"] == 5
    told = answer("solve", "openspiel:nim", "--pile-sizes", "1;2;3", "--json")
    assert told["value"] == pytest.approx(-1)
    assert "openspiel:pig" in said("solve", "openspiel:pig", "--winscore", "4", "--limit", "false")
    assert "--winscore" in said("list", "openspiel:pig")


# Games of this project in OpenSpiel: its algorithms have to find what is found here


def sequential(game: Any) -> Any:
    """A game of OpenSpiel's in turn, which most of its algorithms want."""
    together = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if together else game


def table_policy(game: Any, table: Any, policies: Any) -> Any:
    """Policies of ours as one of OpenSpiel's: information states are states."""
    index = {repr(state): s for s, state in enumerate(table.states)}

    class Ours(policies_of.Policy):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(game, list(range(table.info.players)))

        def action_probabilities(self, state: Any, player_id: int | None = None) -> Any:
            player = state.current_player() if player_id is None else player_id
            # The last line is the information state of the game at once in its form by turns.
            text = state.information_state_string(player)
            [s] = {index[line] for line in text.splitlines() if line in index}
            row = policies[player].probabilities[s]
            return {a: row[a] for a in state.legal_actions()}

    return Ours()


def for_one() -> TabularGame:
    """What is left of a game for two when the other player's policy is uniform."""
    table = compile_game(Greed(limit=3, sides=2))
    return against(table, TabularPolicy.uniform(table, player=1))


GAMES = [
    Greed(limit=3, sides=2),
    for_one(),
    *(
        RandomGame(seed, kind, False, 3)
        for kind in ("simultaneous", "alternating")
        for seed in (1, 2)
    ),
]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: repr(rules)[:40])
def test_exploitability_is_openspiels(rules: Any) -> None:
    table = rules if isinstance(rules, TabularGame) else compile_game(rules)
    game = sequential(to_openspiel(table))
    uniform = [TabularPolicy.uniform(table, player=player) for player in (0, 1)]
    expected = solvent.nash_conv(table, *uniform)
    assert expected > 0.1
    best = solvent.solve(table).policies
    for policy, found in (
        (policies_of.UniformRandomPolicy(game), expected),
        (table_policy(game, table, uniform), expected),
        (table_policy(game, table, best), 0),
    ):
        assert exploiting.nash_conv(game, policy) == pytest.approx(found, abs=1e-8)


def test_a_policy_of_openspiel_is_worth_here_what_it_is_there() -> None:
    rng = np.random.default_rng(0)
    for rules in (Greed(limit=3, sides=2), RandomGame(1, "simultaneous", False, 3)):
        table = solvent.compile_game(rules)
        game = sequential(to_openspiel(table))
        theirs = policies_of.TabularPolicy(game)
        # One row for each state and player: histories that lead to a state share it.
        assert len(theirs.states) <= sum(int(table.on_turn(player).sum()) for player in (0, 1))
        chances = theirs.action_probability_array
        chances *= rng.uniform(0.1, 1, chances.shape)
        chances /= chances.sum(axis=1, keepdims=True)
        ours = [policy_from_openspiel(table, theirs, player=player) for player in (0, 1)]
        assert (ours[0].probabilities != TabularPolicy.uniform(table).probabilities).any()
        expected = playing.policy_value(game.new_initial_state(), [theirs, theirs])[0]
        assert table.at_start(solvent.policy_value(table, *ours)) == pytest.approx(
            expected, abs=1e-9
        )
        gap = exploiting.nash_conv(game, theirs)
        assert solvent.nash_conv(table, *ours) == pytest.approx(gap, abs=1e-9)


def test_what_a_player_sees_is_the_table_s() -> None:
    table = solvent.compile_game(Greed(limit=3, sides=2))
    game = to_openspiel(table)
    state = game.new_initial_state()
    while state.is_chance_node():
        state = state.child(state.chance_outcomes()[0][0])
    s = table.index[eval(str(state), vars(solvent.games.greed.rules))]
    for player in (0, 1):
        seen = table.observation[player][s]
        np.testing.assert_array_equal(state.observation_tensor(player), seen)
        np.testing.assert_array_equal(state.information_state_tensor(player), seen)
        assert state.information_state_string(player) == repr(table.states[s])
    assert game.observation_tensor_shape() == [table.observation[0].shape[1]]


def test_simulated_episodes_follow_openspiels_own_rules() -> None:
    for rules in (Greed(limit=3, sides=2), RandomGame(1, "simultaneous", False, 3)):
        game = to_openspiel(rules)
        assert game.min_utility() <= 0 <= game.max_utility()
        pyspiel.random_sim_test(game, 20, False, True)


def test_python_ends_well_after_it() -> None:
    """OpenSpiel keeps what is registered until after Python's end, where no function may go."""
    code = "import solvent; from solvent.games import Greed\n"
    code += "print(solvent.model.to_openspiel(Greed(limit=2, sides=2)))"
    fresh(code)
