"""Best responses in football, and strategies as policies, against the generic solver."""

from __future__ import annotations

import numpy as np
import pytest
from reduced_football import RULES, random_chart, reduced

from solvent.exact import ImproperGameError, best_response
from solvent.games import Pig
from solvent.games.football.chart import Chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import BY_VALUE, Strategies, backup_of
from solvent.games.football.solver.points import solve_points
from solvent.games.football.solver.responses import (
    ATTACK,
    DEFEND,
    best_response_drive,
    best_response_points,
)
from solvent.games.football.solver.table import FootballTable, football_table
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.model.arrays import Bools, Floats

RULESET = Ruleset.read(RULES)
SEEDS = (0, 1, 2, 6, 13, 20)


def rules_of(chart: Chart) -> PackedRules:
    return pack_rules(chart, RULESET)


def random_strategies(rules: PackedRules, seed: int) -> Strategies:
    random = np.random.default_rng(seed)
    uniform = backup_of(rules).uniform
    return Strategies(
        _weighted(random, rules.legal),
        _weighted(random, uniform.defence > 0),
        random.random(uniform.choices.shape),
    )


def _weighted(random: np.random.Generator, legal: Bools) -> Floats:
    weights = legal * random.random(legal.shape)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_a_response_in_a_drive_is_the_generic_one() -> None:
    for seed in SEEDS:
        game = reduced("drive", random_chart(seed), to_goal=[1, 8])
        rules = rules_of(game.loaded_chart)
        strategies = random_strategies(rules, seed)
        table = compile_game(game)
        calls = [(s, state) for s, state in enumerate(table.states) if state.phase == "call"]
        index = [rules.index(Situation(*state.situation)) for _, state in calls]
        assert len(index) > 30
        for player in (0, 1):
            role = 1 - player
            found = best_response_drive(rules, game.loaded_points, strategies, role)
            generic = best_response(table, FootballTable.of(table, game).policy(strategies, player))
            wanted = (1 - 2 * role) * generic.values[[s for s, _ in calls]]
            assert found.values(role)[index] == pytest.approx(wanted, abs=1e-8)
            assert 0 < found.errors(role)[index].min()
            assert found.errors(role)[index].max() < 1e-8


def test_a_response_until_the_next_score_is_the_generic_one() -> None:
    for seed in SEEDS:
        chart = random_chart(seed)
        rules = rules_of(chart)
        points = solve_points(rules).expected_points(rules)
        strategies = random_strategies(rules, seed)
        found = best_response_points(rules, points, strategies)
        game = FootballStrategy(chart, "points", RULESET, kickoff_value=points.kickoff)
        table = compile_game(game)
        # Player 1, who kicks off, keeps to the strategies; then player 0 does, and kicks to its
        # response.
        translated = FootballTable.of(table, game)
        received = [
            best_response(table, translated.policy(strategies, 1, kick=kick)).value
            for kick in (0, 1)
        ]
        assert min(received) == pytest.approx(found.receiving, abs=1e-8)
        kicked = best_response(table, translated.policy(strategies, 0)).value
        assert -kicked == pytest.approx(found.kicking, abs=1e-8)


def test_nothing_is_gained_against_the_equilibrium() -> None:
    for seed in SEEDS:
        rules = rules_of(random_chart(seed))
        solution = solve_points(rules)
        points = solution.expected_points(rules)
        by_value = np.full(backup_of(rules).uniform.choices.shape, BY_VALUE)
        optimal = Strategies(solution.offence_strategy, solution.defence_strategy, by_value)
        both = best_response_points(rules, points, optimal)
        for role, sign in ((ATTACK, 1), (DEFEND, -1)):
            drive = best_response_drive(rules, points, optimal, role)
            for found in (drive, both):
                assert found.values(role) == pytest.approx(sign * solution.values, abs=1e-8)
        assert both.receiving == pytest.approx(solution.kickoff_value, abs=1e-8)
        assert both.kicking == pytest.approx(-solution.kickoff_value, abs=1e-8)


def test_a_predictable_defence_that_fouls_at_its_goal_can_be_kept_there_for_ever() -> None:
    chart = Chart.from_codes("fouls", [["off1"], ["1"]], ["punt4"], ["punt6"])
    rules = rules_of(chart)
    points = reduced("drive", chart).loaded_points
    with pytest.raises(ImproperGameError, match="play need not end"):
        best_response_drive(rules, points, backup_of(rules).uniform, ATTACK)


def football(form: str) -> FootballTable:
    strategy = reduced(form)
    return FootballTable.of(compile_game(strategy), strategy)


def random_policy(game: TabularGame, player: int) -> TabularPolicy:
    weight = np.random.default_rng(player).random(game.mask[player].shape) * game.mask[player]
    total = np.where(game.terminal, 1.0, weight.sum(axis=1))
    return TabularPolicy.of(game, weight / total[:, None], player=player)


def test_strategies_made_of_a_policy_make_the_policy() -> None:
    for form in ("drive", "points"):
        table = football(form)
        states = np.array([state.phase != "kickoff" for state in table.game.states])
        for player in (0, 1):
            policy = random_policy(table.game, player)
            again = table.policy(table.strategies(policy), player)
            assert again.probabilities[states] == pytest.approx(
                policy.probabilities[states], abs=1e-15
            )


def test_other_tables_are_refused() -> None:
    for game in (compile_game(Pig(5)), compile_game(reduced("play"))):
        with pytest.raises(ValueError, match="no table of Football Strategy's drive or points"):
            football_table(game)
    # The parameters of this table do not name its chart.
    with pytest.raises((ValueError, OSError), match="reduced"):
        football_table(football("drive").game)
