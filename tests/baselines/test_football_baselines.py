"""Football's baselines: what they are, and the figures that the documentation states of them."""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from reduced_football import MIXED, NO_CHOICE, random_chart, reduced

from solvent.baselines import BASELINES, FOOTBALL_PLAYERS, baseline_names
from solvent.baselines.football import (
    MIXES,
    equilibrium_mixes,
    largest_miss,
    optimal_football,
)
from solvent.baselines.football_agent import Constants, agent_mixes
from solvent.baselines.football_fit import TUNED, fit_constants, tune_constants
from solvent.baselines.football_habits import (
    habit_mixes,
    run_defences,
    run_or_pass_mixes,
    run_plays,
)
from solvent.baselines.football_losses import FootballLosses
from solvent.baselines.football_tendencies import TendencyLearner
from solvent.baselines.minimax_q import MinimaxQ
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import best_response, policy_value, solve
from solvent.exact.kernels.football import solve_points
from solvent.exact.kernels.football_answers import Mixes
from solvent.exact.kernels.football_table import FootballTable
from solvent.games import FootballStrategy, Pig
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.model import TabularPolicy, compile_game

CHART = random_chart(1)

PAGE = Path(__file__).parents[2] / "docs" / "games" / "football-strategy.md"
KICK_OFF_LINE = Situation(1, 10, 80)


@cache
def standard() -> PackedRules:
    return pack_rules(load_chart("standard"), Ruleset())


@cache
def losses() -> FootballLosses:
    rules = standard()
    return FootballLosses(rules, solve_points(rules).expected_points(rules), KICK_OFF_LINE)


@cache
def mixes(name: str) -> Mixes:
    rules = standard()
    if name == "uniform":
        situations, defences = rules.n_situations, rules.chart.defences
        return Mixes(
            rules.legal / rules.legal.sum(axis=1, keepdims=True),
            np.full((situations, defences), 1 / defences),
            0.5 * all_penalties(rules),
        )
    return agent_mixes(rules, TUNED) if name == "tuned" else MIXES[name](rules)


def all_penalties(rules: PackedRules) -> np.ndarray:
    return np.ones((rules.n_situations, int((rules.option[:, 0] >= 0).sum())))


def small(form: str = "drive", chart: Chart = CHART) -> FootballTable:
    strategy = reduced(form, chart)
    return FootballTable.of(compile_game(strategy), strategy)


def test_the_names_are_registered_for_football_only() -> None:
    assert set(FOOTBALL_PLAYERS) == set(MIXES) <= set(BASELINES)
    assert not set(FOOTBALL_PLAYERS) & set(baseline_names(compile_game(Pig(5))))
    # What this table is, its parameters do not say: it has no file.
    assert not set(FOOTBALL_PLAYERS) & set(baseline_names(small().game))


@pytest.mark.parametrize("chart", [CHART, MIXED, random_chart(6)], ids=lambda chart: chart.name)
@pytest.mark.parametrize("player", [0, 1])
def test_all_are_legal_and_no_better_than_the_optimum(chart: Chart, player: int) -> None:
    football = small("drive", chart)
    value = solve(football.game).value
    for name, maker in MIXES.items():
        policy = football.policy(maker(football.rules), player, name=name)
        answered = best_response(football.game, policy).value
        assert (value - answered) * (1 - 2 * player) > -1e-9, name


def test_the_kernels_equilibrium_is_one_of_the_table() -> None:
    football = small()
    found, kick = equilibrium_mixes(football)
    both = [football.policy(found, player, kick=kick) for player in (0, 1)]
    assert largest_miss(football.game, both[0], both[1]) < 1e-9
    start = football.game.at_start(policy_value(football.game, *both))
    assert start == pytest.approx(solve(football.game).value, abs=1e-9)
    spoiled = football.policy(MIXES["run-heavy"](football.rules), 1)
    assert largest_miss(football.game, both[0], spoiled) > 1e-3


def test_a_table_that_is_not_of_its_parameters_is_left_to_the_general_solver() -> None:
    football = small("points", MIXED)
    value = solve(football.game).value
    for player in (0, 1):
        policy = optimal_football(football.game, player)
        assert policy.player == player
        assert best_response(football.game, policy).value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(("name", "share"), [("run-heavy", 0.8), ("pass-heavy", 0.2)])
def test_runs_and_passes_in_a_fixed_proportion(name: str, share: float) -> None:
    rules, found = standard(), mixes(name)
    open_field = (rules.situation[:, 0] < 4) & (rules.situation[:, 2] > 20)
    offence = found.offence[open_field, : rules.chart.plays]
    np.testing.assert_allclose(offence[:, run_plays(rules)].sum(axis=1), share)
    np.testing.assert_allclose(found.defence[:, run_defences(rules)].sum(axis=1), share)
    assert run_plays(rules).sum() == 8
    # Near the goal passes are barred, and the legal ones keep their proportion to runs.
    np.testing.assert_allclose(found.offence.sum(axis=1), 1)


def test_on_the_last_down_players_with_habits_kick() -> None:
    rules = standard()
    for maker in (partial(run_or_pass_mixes, 0.5), habit_mixes):
        offence = maker(rules).offence
        for at, action in (
            (Situation(4, 9, 60), 22),
            (Situation(4, 9, 60, True), 22),
            (Situation(4, 9, 38), 21),
            (Situation(4, 9, 39), 22),
        ):
            assert offence[rules.index(at), action] == 1
    short = rules.index(Situation(4, 2, 40))
    assert habit_mixes(rules).offence[short, :20].sum() == pytest.approx(1)
    assert run_or_pass_mixes(0.5, rules).offence[short, 22] == 1


def test_tendencies_follow_down_and_distance() -> None:
    rules, found = standard(), mixes("tendencies")
    runs = run_plays(rules)

    def run_share(*at: int) -> float:
        return float(found.offence[rules.index(Situation(*at)), :20][runs].sum())

    def depth(*at: int) -> float:
        return float(found.defence[rules.index(Situation(*at))] @ np.arange(10))

    assert run_share(3, 1, 50) == pytest.approx(0.7)
    assert run_share(3, 9, 50) == pytest.approx(0.1)
    assert run_share(1, 10, 80) == pytest.approx(0.5)
    assert depth(3, 1, 50) < depth(1, 10, 80) < depth(3, 9, 50)


def test_fitted_constants_are_near_those_of_the_page() -> None:
    [stated] = re.findall(r"fitted: ((?:[\d.]+, ){4}[\d.]+\d)", PAGE.read_text())
    assert fit_constants(standard()).weights[1:] == pytest.approx(
        [float(constant) for constant in stated.split(", ")], abs=0.05
    )


def test_tuning_lowers_the_loss() -> None:
    strategy = reduced("drive", random_chart(0))
    rules = pack_rules(strategy.loaded_chart, strategy.loaded_ruleset)
    small_losses = FootballLosses(rules, strategy.loaded_points, Situation(1, 3, 4))
    seen: list[float] = []
    first = Constants(1, 2, 3, 1, 1)
    tuned = tune_constants(
        small_losses, first, evaluations=25, progress=lambda _, lost: seen.append(lost)
    )
    found = agent_mixes(rules, tuned)
    assert len(seen) <= 26
    assert small_losses.of_offence(found) + small_losses.of_defence(found) == pytest.approx(
        min(seen)
    )
    assert min(seen) < seen[0] - 1e-3


@pytest.mark.parametrize("player", [0, 1])
def test_a_player_with_habits_is_found_out(player: int) -> None:
    football = small()
    sign = 1 - 2 * player
    rules = football.rules
    weight = rules.legal * np.arange(rules.legal.shape[1], 0, -1) ** 2.0
    often = np.tile([0.7, 0.2, 0.1], (rules.n_situations, 1))
    habits = Mixes(weight / weight.sum(axis=1, keepdims=True), often, 0.5 * all_penalties(rules))
    opponent = football.policy(habits, 1 - player)

    def value(policy: TabularPolicy) -> float:
        pair = (policy, opponent) if player == 0 else (opponent, policy)
        return sign * football.game.at_start(policy_value(football.game, *pair))

    learner = TendencyLearner(football, opponent, seed=1)
    learner.watch(3000)
    safe = value(TendencyLearner(football, opponent, trust=0).policy())
    best = sign * best_response(football.game, opponent).value
    assert learner.drives == 3000
    assert safe < value(learner.policy()) <= best + 1e-9
    assert value(learner.policy()) > safe + 0.8 * (best - safe)


def test_who_never_trusts_plays_the_equilibrium() -> None:
    football = small()
    opponent = football.policy(habit_mixes(football.rules), 1)
    policy = TendencyLearner(football, opponent, trust=0).policy()
    equilibrium = football.policy(equilibrium_mixes(football)[0], 0)
    np.testing.assert_allclose(policy.probabilities, equilibrium.probabilities, atol=1e-12)


@pytest.mark.parametrize("trust", [-0.1, 1.5, float("nan")])
def test_trust_is_a_share(trust: float) -> None:
    football = small()
    with pytest.raises(ValueError, match=r"trust is .*; allowed are numbers from 0 to 1"):
        TendencyLearner(football, TabularPolicy.uniform(football.game), trust=trust)


def test_tendencies_are_learned_in_drives() -> None:
    football = small("points", MIXED)
    with pytest.raises(ValueError, match="tendencies are learned in drives, not in 'points'"):
        TendencyLearner(football, TabularPolicy.uniform(football.game))


def test_the_page_states_what_the_published_agent_loses_per_drive() -> None:
    found = mixes("paper-agent")
    row = f"| `paper-agent` | {losses().of_offence(found):.3f} | {losses().of_defence(found):.3f} |"
    assert row in PAGE.read_text()


def test_the_environment_states_what_a_best_response_gets_from_the_agent() -> None:
    drive, against_agent = (
        ENVIRONMENTS[f"solvent/Football{name}-v0"] for name in ("Strategy", "Agent")
    )
    assert against_agent.opponent == "paper-agent"
    best = drive.optimum + losses().of_defence(mixes("paper-agent"))
    assert against_agent.optimum == pytest.approx(best, abs=1e-8)


@pytest.mark.slow
def test_the_page_states_what_every_baseline_loses() -> None:
    names = ("paper-agent", "fitted-agent", "tuned", "uniform")
    habits = ("pass-heavy", "run-heavy", "tendencies")
    rows = [
        f"| `{name}` | {losses().of_offence(found):.3f} | {losses().of_defence(found):.3f} "
        f"| {losses().until_score(found):.2f} |"
        for name in (*names, *habits)
        for found in [mixes(name)]
    ]
    stated = PAGE.read_text().splitlines()
    assert not [row for row in rows if row not in stated], "\n".join(rows)


def test_habits_do_without_runs_or_passes() -> None:
    rules = pack_rules(NO_CHOICE, reduced("drive", NO_CHOICE).loaded_ruleset)
    for name in ("run-heavy", "pass-heavy", "tendencies"):
        found = MIXES[name](rules)
        np.testing.assert_allclose(found.offence.sum(axis=1), 1)
        np.testing.assert_allclose(found.defence.sum(axis=1), 1)


def test_the_page_states_what_the_agent_loses_in_punt_formation() -> None:
    rules = standard()
    agent = mixes("paper-agent")
    found = solve_points(rules)
    formation = rules.situation[:, 3:] == 1
    defence = np.where(formation, agent.defence, found.defence_mix)
    mixed = Mixes(found.offence_mix, defence, agent.choices)
    assert f"lose {losses().of_defence(mixed):.2f} of it" in " ".join(PAGE.read_text().split())


@pytest.mark.slow
def test_the_page_states_what_a_learner_gains_from_tendencies() -> None:
    rules = standard()
    strategy = FootballStrategy(
        "standard", expected_points=solve_points(rules).expected_points(rules)
    )
    football = FootballTable.of(compile_game(strategy), strategy)
    columns: list[list[str]] = []
    for player in (0, 1):
        opponent = football.policy(habit_mixes(rules), 1 - player)

        def value(policy: TabularPolicy, opponent: TabularPolicy = opponent) -> str:
            pair = sorted((policy, opponent), key=lambda one: one.player)
            worth = football.game.at_start(policy_value(football.game, *pair))
            return f"{worth if policy.player == 0 else -worth:.2f}"

        column = [value(TendencyLearner(football, opponent, trust=0).policy())]
        learner = TendencyLearner(football, opponent)
        for drives in (10, 100, 1000, 10000):
            learner.watch(drives - learner.drives)
            column.append(value(learner.policy()))
        column.append(f"{(1 - 2 * player) * best_response(football.game, opponent).value:.2f}")
        for trust in (0.1, 0.5):
            careful = TendencyLearner(football, opponent, trust=trust)
            careful.watch(1000)
            policy = careful.policy()
            side = losses().of_offence if player == 0 else losses().of_defence
            column.append(f"{value(policy)}, {side(football.mixes(policy)):.2f}")
        columns.append(column)
    labels = ("the equilibrium", "after 10 drives", "after 100", "after 1,000", "after 10,000",
              "the best response", "trust 0.1", "trust 0.5")  # fmt: skip
    rows = [f"| {label} | {a} | {b} |" for label, a, b in zip(labels, *columns, strict=True)]
    stated = PAGE.read_text().splitlines()
    assert not [row for row in rows if row not in stated], "\n".join(rows)


@pytest.mark.slow
def test_the_page_states_what_minimax_q_loses() -> None:
    rules = standard()
    strategy = FootballStrategy(
        "standard", expected_points=solve_points(rules).expected_points(rules)
    )
    football = FootballTable.of(compile_game(strategy), strategy)
    learner, rows = MinimaxQ(football.game), []
    for moves in (100_000, 1_000_000, 10_000_000):
        learner.learn(moves - learner.moves)
        first, second = (football.mixes(learner.policy(p, exploration=0.01)) for p in (0, 1))
        rows.append(
            f"| {moves:,} | {losses().of_offence(first):.2f} | {losses().of_defence(second):.2f} |"
        )
    stated = PAGE.read_text().splitlines()
    assert not [row for row in rows if row not in stated], "\n".join(rows)
