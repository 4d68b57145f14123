"""A discount wherever a game is named: makers, specs, environments, scores and the command."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from commands import answer, said
from parlour_games import parlour
from refusals import assert_refused

import solvent
from solvent.baselines import Baseline, baseline_names, baselines_of, make_baseline
from solvent.exact import save_policy, score, solve
from solvent.model import (
    DISCOUNT_END,
    TabularGame,
    TabularPolicy,
    compile_game,
    discounted,
)
from solvent.model import registry as games
from solvent.model.registry import Environment, GameSpec, game_specs, make_game, spec_of
from solvent.report.sections import GamePages, pages_of

NIM = parlour().Nim()
COMBAT = {"stamina": 5, "opponent_stamina": 6, "luck": 5}
WORDS = ["ff-combat", "--stamina", "5", "--opponent-stamina", "6", "--luck", "5"]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Registers specs that are forgotten after the test."""
    known = {name: spec for name, spec in game_specs().items() if name != NIM.info.name}
    monkeypatch.setattr(games._registry(), "specs", known)
    return games.register_game


def nim_spec(**more: Any) -> GameSpec:
    return GameSpec(name=NIM.info.name, make=type(NIM), **more)


def test_a_game_by_name_takes_a_discount() -> None:
    game, plain = make_game("ff-combat", **COMBAT, discount=0.9), make_game("ff-combat", **COMBAT)
    assert game == discounted(plain, 0.9)
    # What it says of itself makes it again.
    assert make_game("ff-combat", **dict(game.info.parameters)) == game
    assert make_game("ff-combat", **COMBAT, discount=1) == plain
    wrong = [
        ("ff-combat", {"discount": 2}, "^discount is 2; allowed are numbers above 0 and up to")
    ]
    assert_refused(wrong, lambda name, given: make_game(name, **given))


def found(*arguments: Any) -> Any:
    """Something that would serve the game without a discount."""
    return object()


def test_a_game_without_a_table_has_no_discount(registered: Any) -> None:
    registered(nim_spec(simulator=f"{__name__}:found", discount=0.5))
    assert make_game(NIM.info.name, discount=1) is not None
    # The source's own discount is refused by its number, too.
    rows = (
        ({"discount": 0.9}, "^discount is 0.9; .* with these parameters has"),
        ({}, "^discount is 0.5; .* with these parameters has"),
    )
    assert_refused(rows, lambda given: make_game(NIM.info.name, **given))


def test_a_spec_says_which_objective_the_source_has(registered: Any) -> None:
    registered(
        nim_spec(discount=0.5, environments={"here/Nim-v0": Environment(opponent="uniform")})
    )
    solvent.register_envs()
    for given, discount in (({}, 0.5), ({"discount": 0.25}, 0.25), ({"discount": 1}, 1)):
        assert make_game(NIM.info.name, **given).info.discount == discount
        assert gym.make("here/Nim-v0", **given).unwrapped.game.info.discount == discount
    del gym.registry["here/Nim-v0"]


def test_a_parameter_of_the_game_s_own_goes_first(registered: Any) -> None:
    registered(GameSpec(name=NIM.info.name, make=lambda discount=0.5: NIM))
    assert make_game(NIM.info.name, discount=0.9).info.discount == 1


def refuse(*arguments: Any) -> Any:
    raise AssertionError("this is for the game without a discount")


def test_what_knows_no_discount_is_not_asked(registered: Any) -> None:
    spec = nim_spec(**dict.fromkeys(("solver", "pages"), f"{__name__}:refuse"))
    registered(spec)
    game = discounted(NIM, 0.5)
    left = spec_of(game)
    assert (left.solver, left.simulator) == (None, None)
    assert type(pages_of(game)) is GamePages
    assert spec_of(NIM) == spec
    assert solve(game).value == solve(compile_game(game)).value


def test_baselines_of_a_game_do_in_it_as_without() -> None:
    plain = compile_game(make_game("ff-combat", **COMBAT))
    table = discounted(plain, 0.9)
    assert baseline_names(table) == baseline_names(plain)
    own = [name for name in baselines_of(plain) if name not in ("optimal", "uniform", "q-learning")]
    assert len(own) > 1
    for name in own:
        found, alike = (make_baseline(name, game) for game in (table, plain))
        assert (found.probabilities[:-1] == alike.probabilities).all(), name
        assert found.model_hash == table.model_hash
    # The optimum is that of the objective.
    gap = score(table, make_baseline("optimal", table)).optimality_gap
    assert gap == pytest.approx(0, abs=1e-12)


def test_an_optimum_of_the_game_s_own_is_not_that_of_another_objective(registered: Any) -> None:
    registered(nim_spec(baselines=f"{__name__}:OWN"))
    table = compile_game(discounted(NIM, 0.5))
    assert make_baseline("optimal", table).name == "optimal"
    plain = make_baseline("takes-least", table)
    assert (plain.probabilities.sum(axis=1)[:-1] == ~table.terminal[:-1]).all()


def least(game: TabularGame, player: int) -> TabularPolicy:
    assert DISCOUNT_END not in game.states
    return TabularPolicy.deterministic(game, game.mask[player].argmax(axis=1), player=player)


OWN = {
    "optimal": Baseline(refuse, lambda game, player: True),
    "takes-least": Baseline(least, lambda game, player: True),
}


# Environments


def test_an_environment_s_optimal_opponent_is_that_of_the_objective() -> None:
    env = gym.make("solvent/Pig-v0", target=6, discount=0.5)
    [[opponent]] = env.unwrapped.opponents  # type: ignore[attr-defined]
    table = compile_game(make_game("pig", target=6, discount=0.5))
    assert score(table, opponent).optimality_gap == pytest.approx(0, abs=1e-9)


# Scores


def test_who_learned_without_the_discount_is_scored_for_it() -> None:
    table = solvent.compile_game("CliffWalking-v1")
    numbers = np.array([cell.number for cell in table.states])
    best = solve(discounted(table, 0.9)).policies[0].probabilities[:-1].argmax(axis=1)
    actions = np.zeros(48, np.int64)
    actions[numbers[~table.terminal]] = best[~table.terminal]
    for game, policy, discount in (
        ("CliffWalking-v1", actions, 0.9),
        ("CliffWalking-v1", lambda n: actions[n], 0.9),
        (table, TabularPolicy.deterministic(table, best), "9/10"),
    ):
        result = solvent.score(game, policy, discount=discount)
        assert result.discount == 0.9
        assert result.optimum == pytest.approx(-(1 - 0.9**13) / (1 - 0.9), abs=1e-9)
        assert result.optimality_gap == pytest.approx(0, abs=1e-9)
    # Left for ever costs 1 a move, which is 10 at this discount.
    for discount, value in ((0.9, -10), (None, -np.inf), (1, -np.inf)):
        left = solvent.score("CliffWalking-v1", np.full(48, 3), discount=discount)
        assert left.value == pytest.approx(value)


def test_against_an_opponent_the_objective_is_that_of_both() -> None:
    env = gym.make("solvent/Pig-v0", target=6, opponent="uniform")
    game: TabularGame = env.unwrapped.game  # type: ignore[attr-defined]
    found = solvent.score(env, TabularPolicy.uniform(game), discount=0.5)
    # The same, folded and discounted in the environment.
    other = gym.make("solvent/Pig-v0", target=6, opponent="uniform", discount=0.5)
    table: TabularGame = other.unwrapped.game  # type: ignore[attr-defined]
    expected = solvent.score(other, TabularPolicy.uniform(table))
    for name in ("value", "optimum", "exploitability", "discount"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-9), name


# The command


def test_the_command_takes_a_discount_of_any_game(tmp_path: Path) -> None:
    found = answer("solve", *WORDS, "--discount", "0.9", "--json")
    assert found["discount"] == found["parameters"]["discount"] == 0.9
    table = compile_game(make_game("ff-combat", **COMBAT, discount=0.9))
    assert found["value"] == solve(table).value
    lake = answer("solve", "FrozenLake-v1", "--discount", ".99", "--json")
    assert lake["value"] == pytest.approx(0.542026, abs=5e-7)
    assert answer("solve", "FrozenLake-v1", "--json")["discount"] == 1
    # A policy of the game without a discount is scored for the objective that is asked for.
    save_policy(
        tmp_path / "plain.npz",
        TabularPolicy.uniform(compile_game(make_game("ff-combat", **COMBAT))),
    )
    scored = answer("score", str(tmp_path / "plain.npz"), *WORDS, "--discount", "0.9", "--json")
    assert scored["value"] == pytest.approx(score(table, TabularPolicy.uniform(table)).value)
    assert "discounted wins" in said("solve", "pig", "--target", "6", "--discount", "0.9")


def test_the_command_says_what_is_unbounded(tmp_path: Path) -> None:
    table = solvent.compile_game("CliffWalking-v1")
    left = TabularPolicy.deterministic(table, np.full(table.n_states, 3), name="left")
    save_policy(tmp_path / "left.npz", left)
    words = ("score", tmp_path / "left.npz", "CliffWalking-v1")
    assert "−∞  (play need not end, and costs for ever)" in said(*words)
    found = answer(*words, "--json")
    assert (found["unbounded"], found["value"]) == (True, None)


def test_a_game_that_is_solved_in_layers_has_a_discount_if_it_has_a_table() -> None:
    plain = make_game("inventory")
    assert solve(make_game("inventory", discount=0.9)).value == pytest.approx(
        solve(discounted(compile_game(plain), 0.9)).value
    )
    assert answer("solve", "inventory", "--discount", "0.9", "--json")["discount"] == 0.9
