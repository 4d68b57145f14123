"""Values of players of football with a clock: on layers, in play and in tables."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layered_games import solve_in
from scipy.stats import chisquare
from timed_football import RULES, SMALL, TINY_FORMS, evaluate_pairs, tiny

from solvent import TabularGame, TabularPolicy, compile_game
from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.batch_simulator import Player, Simulation
from solvent.exact import StoreError, nash_conv, policy_value
from solvent.exact.scoring import response_values
from solvent.games import TimedFootball
from solvent.games.football.situation import Situation
from solvent.games.football_clock.agent import AgentPlayer, ClockManagement
from solvent.games.football_clock.layers import Asked, FootballLayers, Layer
from solvent.games.football_clock.players import (
    BEST_RESPONSE,
    PairEvaluation,
    PlayerLayers,
    optimal_player,
    score_player,
)
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.games.football_clock.solution import TimedSolution
from solvent.model.arrays import Floats

QUICK: tuple[tuple[str, dict[str, Any]], ...] = (
    ("half", {"half": 30, "timeouts": 1}),
    ("second-half", {"half": 30}),
    ("second-half", {"half": 30, "timeouts": 1, "chart": SMALL, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL}),
    # Its plays score more points than any usual one.
    ("half", {"half": 30, "rules": {**RULES, "touchdown": 20, "safety": 7}, "chart": SMALL}),
    ("two-minutes", {"timeouts": 1, "chart": SMALL}),
    ("half", {"half": 30, "untimed_down": False}),
    ("full", {"half": 30, "chart": SMALL, "timeouts": 1}),
)
IDS = [f"{form} {parameters.get('timeouts', 0)}" for form, parameters in QUICK]
LONG = ("half 1", "second-half 0", "full 1")
NUMBERS = [
    pytest.param(n, marks=[pytest.mark.slow] * (name == "full 1")) for n, name in enumerate(IDS)
]


@cache
def made(number: int) -> tuple[TimedFootballSampler, TabularGame]:
    form, parameters = QUICK[number]
    sampler = TimedFootballSampler(tiny(form, **parameters))
    return sampler, compile_game(sampler.rules)


def written(sampler: TimedFootballSampler, states: Sequence[Any]) -> Any:
    simulation = sampler.simulation(len(states))
    for i, state in enumerate(states):
        sampler.write(simulation.records, i, state)
    return simulation


class Anyhow:
    """Plays each state with probabilities of its own, which follow from what is seen there."""

    name = "anyhow"

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def action_probabilities(self, simulation: Simulation, chosen: Any, player: Any) -> Floats:
        seen, legal = simulation.observe(chosen, player), simulation.legal(chosen, player)
        weights = np.random.default_rng(self.seed).normal(size=(seen.shape[1], legal.shape[1]))
        chances = legal * (1.01 + np.sin(30 * seen.astype(float) @ weights))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def tables_of(number: int, player: Player) -> list[TabularPolicy]:
    """What a player answers in every state, in both seats."""
    sampler, table = made(number)
    simulation, everyone = written(sampler, table.states), np.arange(table.n_states)
    policies = []
    for seat in (0, 1):
        who, chances = np.full(table.n_states, seat), np.zeros(table.mask[seat].shape)
        acts = simulation.acts(everyone, who)
        chances[acts] = player.action_probabilities(simulation, everyone[acts], who[acts])
        chances[~acts & ~table.terminal, 0] = 1.0
        policies.append(TabularPolicy.of(table, chances, player=seat, name=player.name))
    return policies


def network_of(
    sampler: TimedFootballSampler,
    seed: int = 3,
    *,
    masked: bool = True,
    rule: str = "sampled",
    observation: str = "vector",
) -> NetworkPlayer:
    rng = np.random.default_rng(seed)
    [inputs] = sampler.simulation(1, observation).observation_space.shape
    widths = [inputs, 12, 12, len(sampler.rules.actions.names)]
    weights = tuple((rng.normal(size=shape) / 2).astype(np.float32) for shape in pairwise(widths))
    biases = tuple(rng.normal(size=width).astype(np.float32) for width in widths[1:])
    return NetworkPlayer(Network(weights, biases, "relu"), rule, masked, observation)


@pytest.mark.parametrize(
    "number",
    [
        # The best response takes long where no one leads as yet.
        pytest.param(n, marks=pytest.mark.slow if name in LONG else [])
        for n, name in enumerate(IDS)
    ],
    ids=IDS,
)
def test_nobody_gains_against_the_optimal_player(number: int) -> None:
    sampler, table = made(number)
    player = optimal_player(sampler.rules)
    assert nash_conv(table, *tables_of(number, player)) == pytest.approx(0, abs=1e-12)


# Whether a network is masked, how it chooses, and what it sees.
KINDS = [(True, "sampled", "onehot"), (False, "sampled", "vector"), (False, "mode", "onehot")]


@pytest.mark.parametrize("number", NUMBERS, ids=IDS)
def test_players_on_layers_are_worth_what_they_are_worth_in_a_table(number: int) -> None:
    """Against another player and against a best response, in both seats."""
    sampler, table = made(number)
    layout = FootballLayers(sampler.rules)
    even = 0.0 if layout.game.for_points else 1.0
    masked, rule, observation = KINDS[number % len(KINDS)]
    network = network_of(sampler, masked=masked, rule=rule, observation=observation)
    management = ClockManagement(threshold=(15, 300)[number % 2])
    agent, anyhow = AgentPlayer(layout, management=management), Anyhow(1)
    # A network computes in float32.
    for x, y, near in ((network, anyhow, 1e-6), (agent, agent, 1e-12), (anyhow, Anyhow(2), 1e-12)):
        mine, others = tables_of(number, x), tables_of(number, y)
        first, second = (
            one if one is agent else PlayerLayers(sampler.rules, one) for one in (x, y)
        )
        pairs = [(first, second), (first, None), (None, first)]
        start = sampler.rules.initial()[0].state
        played, answered, answers = evaluate_pairs(sampler.rules, start, pairs)
        expected = [
            policy_value(table, mine[0], others[1]),
            policy_value(table, others[0], mine[1]),
            *(response_values(table, policy) for policy in mine),
        ]
        values = [table.at_start(one) for one in expected]
        assert (played.first, even - played.second) == pytest.approx(values[:2], abs=near)
        assert (answered.first, even - answered.second) == pytest.approx(values[2:], abs=near)
        assert (even - answers.second, answers.first) == pytest.approx(values[2:], abs=near)


# Scores, kept in a folder and against rounded solutions.


def numbers(values: Iterable[PairEvaluation]) -> list[tuple[float, float]]:
    return [(value.first, value.second) for value in values]


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("second-half", timeouts=1, half=30, chart=SMALL)


def test_pairs_get_what_they_get_alone_and_a_policy_is_asked_once(
    game: TimedFootball, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = game.initial()[0].state
    x, y, z = (PlayerLayers(game, Anyhow(seed)) for seed in (1, 2, 3))
    pairs = [(x, y), (x, None), (z, x), (None, z)]
    alone = [numbers(evaluate_pairs(game, start, [pair]))[0] for pair in pairs]
    asked, strategies = [], x.strategies

    def counted(layer: Layer, *rest: Any) -> Any:
        asked.append(layer)
        return strategies(layer, *rest)

    monkeypatch.setattr(x, "strategies", counted)
    assert numbers(evaluate_pairs(game, start, pairs)) == alone
    # The tiny field is one block.
    assert len(asked) == len(set(asked)) == len(FootballLayers(game).layers)


def test_a_score_goes_on_where_it_was_interrupted(
    game: TimedFootball, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = network_of(TimedFootballSampler(game))
    whole = numbers(score_player(game, network).against.values())
    seen: list[Layer] = []

    @contextmanager
    def bar(*_: object) -> Iterator[Callable[[Layer], None]]:
        def tell(layer: Layer) -> None:
            seen.append(layer)
            if len(seen) == 3:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr("solvent.cli.layered.layer_bar", bar)
    with pytest.raises(KeyboardInterrupt):
        score_player(game, network, out=tmp_path)
    # The second time nothing is left to do.
    for _ in range(2):
        again = score_player(game, network, out=tmp_path)
        assert numbers(again.against.values()) == whole
        assert len(seen) == len(set(seen)) == len(FootballLayers(game).layers)
    with pytest.raises(StoreError, match="scored"):
        score_player(game, network_of(TimedFootballSampler(game), seed=1), out=tmp_path)


def test_what_a_rounded_solution_gives_away_is_bounded(game: TimedFootball, tmp_path: Path) -> None:
    solve_in(tmp_path, FootballLayers(game), keep="compact")
    solution, score = TimedSolution.open(tmp_path, game), score_player(game, "optimal", tmp_path)
    [bound] = score.bounds.values()
    assert 1e-5 < bound < 1e-2
    answered = score.against[BEST_RESPONSE]
    for gets, value in ((answered.first, solution.value), (answered.second, 1 - solution.value)):
        assert value - bound <= gets <= value + solution.error
    assert score_player(game, "optimal").bounds == {}


def test_a_large_form_is_not_solved_on_the_spot() -> None:
    with pytest.raises(ValueError, match=r"201,960,000 states.*--form second-half .*--out DIR"):
        optimal_player(TimedFootball(form="second-half", timeouts=0))


# The published agent's clock management


@cache
def layout() -> FootballLayers:
    return FootballLayers(TimedFootball(form="second-half"))


@cache
def agent() -> AgentPlayer:
    return AgentPlayer(layout())


# Yards to the goal, the result, ticks and time-outs left, whether the side has the ball and
# whether it needs a kick, and by how much the average falls.
FALLS: tuple[tuple[int, str, int, int, bool, bool, float], ...] = (
    # 40 yards in 60 seconds are two plays of 20 yards; 10 gained leave 30 for one play.
    (40, "10", 4, 0, True, False, 20 - 30),
    # A play without a gain that takes 15 seconds leaves 40 yards and one play and a half.
    (40, "inc", 4, 0, True, False, 20 - 40 / 1.5),
    # A time-out is one play more.
    (40, "10", 4, 1, True, False, 40 / 3 - 30 / 2),
    # From 40 yards a field goal is more likely from the 38.
    (40, "10", 4, 0, True, True, 2 / 2),
    (48, "2", 4, 0, True, True, 3 / 2 - 1),
    # Punted 35 yards from 80 the ball is on the own 45: 55 yards in 10 - 4 plays, or after first
    # down and 2 yards 57 in 9 - 3.
    (80, "2", 20, 0, False, False, 55 / 6 - 57 / 6),
    # Losing the ball changes nothing, nor does a touchdown.
    (40, "int10r8", 4, 0, True, False, 0),
    (40, "44", 4, 0, True, False, 0),
)


def test_a_play_has_to_gain_the_average_of_the_plays_that_are_left() -> None:
    plain, rules = AgentPlayer(layout(), management=ClockManagement(weight=1.0)), layout().rules
    codes = [result.code for result in rules.chart.results]
    for to_goal, code, ticks, timeouts, has_ball, kick, fall in FALLS:
        change = plain.average_change(ticks, timeouts, has_ball=has_ball, kick=kick)
        by_result = change.reshape(-1, rules.arrays.results)
        found = by_result[rules.index(Situation(1, 10, to_goal)), codes.index(code)]
        assert found == pytest.approx(fall), (to_goal, code, ticks)


def asked(layer: Layer, *, mine: bool, margin: int) -> Asked:
    before, after, column = layer.ticks - 2, layer.ticks, layout().column(2, margin)
    row, team = np.array([5]), np.array([mine])
    return Asked(layer, before, after, False, True, row, team, np.array([[column]]))


@pytest.mark.parametrize(
    ("margin", "mine", "called"),
    [(-1, True, 1), (-1, False, 1), (0, True, 1), (0, False, 0), (1, True, 0), (1, False, 0)],
)
def test_time_outs(margin: int, mine: bool, called: int) -> None:
    late = asked(Layer(2, 10, 1, 1), mine=mine, margin=margin)
    early = asked(Layer(2, 21, 1, 1), mine=mine, margin=margin)
    # What would be left with it is what counts, since that is all that is known in a play.
    for moment, wanted in ((late, called), (early, 0), (early._replace(saved=20), called)):
        assert np.all(agent().timeouts(moment) == wanted)


def test_onside_kicks_come_late_from_behind() -> None:
    kicks = agent().onside(Layer(2, 8, 0, 0))
    np.testing.assert_array_equal(kicks, (layout().margin(2) < 0).astype(float))
    assert not agent().onside(Layer(2, 9, 0, 0)).any()


# The compiled plays against the rules, state by state


# The last has two halves and time-outs like the one before, which is the largest.
SIMULATED = (*TINY_FORMS, ("full", {"half": 15, "stops": [], "chart": SMALL, "timeouts": 1}))

FORMS = [
    pytest.param(n, marks=[pytest.mark.slow] if n == len(TINY_FORMS) - 1 else [])
    for n in range(len(SIMULATED))
]


@cache
def sampler(number: int) -> TimedFootballSampler:
    form, parameters = SIMULATED[number]
    return TimedFootballSampler(tiny(form, **parameters))


@cache
def live_states(number: int) -> tuple[Any, ...]:
    game = sampler(number).rules
    return tuple(s for s in compile_game(game).states if not game.is_terminal(s))


@pytest.mark.parametrize("number", FORMS)
def test_observations_and_legal_actions_are_those_of_the_rules(number: int) -> None:
    made, states = sampler(number), live_states(number)
    simulation, everyone = written(made, states), np.arange(len(states))
    assert tuple(map(simulation.state, range(len(states)))) == states
    for player in (0, 1):
        who = np.full(len(states), player)
        seen = np.stack([made.rules.observe(state, player) for state in states])
        np.testing.assert_array_equal(simulation.observe(everyone, who), seen)
        legal = np.zeros((len(states), simulation.n_actions), np.int8)
        for i, state in enumerate(states):
            legal[i, list(made.rules.legal_actions(state)[player])] = 1
        np.testing.assert_array_equal(simulation.legal(everyone, who), legal)
        np.testing.assert_array_equal(simulation.acts(everyone, who), legal.sum(axis=1) > 1)
    # One-hot observations say the same.
    some, varying = everyone[:500], made.most > made.least
    entries, seen = (simulation.observe(some, 0 * some, form) for form in ("vector", "onehot"))
    assert set(np.unique(seen)) == {0, 1}
    assert (seen.sum(axis=1) == varying.sum()).all()
    assert len(np.unique(seen, axis=0)) == len(np.unique(entries[:, varying], axis=0))


def outcomes(
    made: TimedFootballSampler, state: Any, joint_action: tuple[int, int], streams: np.ndarray
) -> list[tuple[Any, float]]:
    """Where copies of a state go, each with its own stream, and what player 0 is paid."""
    n = len(streams)
    simulation, paid = written(made, [state] * n), np.zeros(n)
    simulation.arrays["stream"][:] = streams
    first, second = (np.full(n, action) for action in joint_action)
    simulation.move(np.arange(n), first, second, paid)
    return [(simulation.state(i), paid.item(i)) for i in range(n)]


@pytest.mark.parametrize("number", FORMS)
def test_every_move_leads_where_the_rules_lead_and_as_often(number: int) -> None:
    made, states = sampler(number), live_states(number)
    rng, tested = np.random.default_rng(number), 0
    for k in rng.choice(len(states), 60, replace=False).tolist():
        legal = made.rules.legal_actions(states[k])
        joint = (int(rng.choice(legal[0])), int(rng.choice(legal[1])))
        expected: Counter[Any] = Counter()
        for outcome in made.rules.transition(states[k], joint):
            expected[outcome.state, float(outcome.reward)] += float(outcome.probability)
        n = 400 if len(expected) > 1 else 2
        streams = rng.integers(1, 2**64, n, dtype=np.uint64)
        counts = Counter(outcomes(made, states[k], joint, streams))
        assert counts.keys() <= expected.keys()
        if len(expected) > 1:
            tested += 1
            often = [counts[key] for key in expected], [n * p for p in expected.values()]
            assert chisquare(*often).pvalue > 1e-5, (states[k], joint)
    assert tested > 2


@pytest.mark.parametrize(("form", "timeouts"), [("full", 3), ("half", 0)])
def test_whole_games_are_played_by_the_rules(form: str, timeouts: int) -> None:
    game = TimedFootball(form=form, timeouts=timeouts)
    simulation, rng = TimedFootballSampler(game).simulation(1), np.random.default_rng(1)
    simulation.arrays["stream"][:] = 7
    only, seen = np.zeros(1, np.int64), set()
    simulation.begin(only)
    assert simulation.state(0) in [outcome.state for outcome in game.initial()]
    while not game.is_terminal(before := simulation.state(0)):
        first, second = (rng.choice(legal, 1) for legal in game.legal_actions(before))
        paid = np.zeros(1)
        simulation.move(only, first, second, paid)
        following = game.transition(before, (int(first[0]), int(second[0])))
        after = (simulation.state(0), paid.item())
        assert after in [(o.state, float(o.reward)) for o in following]
        seen.add(before.phase)
    assert seen >= {"call", "kickoff"}
    assert ("time-out" in seen) == (timeouts > 0)
