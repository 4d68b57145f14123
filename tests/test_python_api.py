"""What people try first in Python: arrays of a solution, predictions, exact evaluation."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, cast
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from refusals import assert_refused
from stable_baselines3.common.evaluation import evaluate_policy

import solvent
from solvent import TabularGame, TabularPolicy, against, compile_game, exact
from solvent.envs import Env, MaskObservation, pettingzoo_games
from solvent.envs.sampling import observed
from solvent.exact import SolvedTable, best_response
from solvent.exact import score as score_table
from solvent.exact.learning_curve import Evaluation, write_curve

LAKE = "FrozenLake-v1"


class Numbered(NamedTuple):
    """A state of one's own, whose number is not that of a Gymnasium environment."""

    number: int


@pytest.fixture(scope="module")
def lake() -> SolvedTable:
    return cast(SolvedTable, solvent.solve(LAKE, tolerance=1e-9))


def test_arrays_of_a_solution_are_its_values_by_state(lake: SolvedTable) -> None:
    pig = solvent.solve(solvent.make_game("pig", target=8))
    for solved in (lake, pig, solvent.solve("rock-paper-scissors")):
        for s, state in enumerate(solved.table.states):
            assert solved.v[s] == solved.value_of(state)
            if solved.table.terminal[s]:
                assert np.isnan(solved.q[s]).all()
            elif solved.q.ndim == 2:
                player = 0 if solved.table.turn is None else int(solved.table.turn[s])
                values = solved.action_values(state, player)
                legal = np.flatnonzero(~np.isnan(solved.q[s]))
                assert dict(zip(legal.tolist(), solved.q[s][legal], strict=True)) == values
    beats = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert sorted(map(tuple, solved.q[0])) == sorted(map(tuple, beats))


def test_an_optimum_plays_as_a_model_of_stable_baselines3_does(lake: SolvedTable) -> None:
    env = gym.make(LAKE, is_slippery=False)
    optimum = solvent.solve(solvent.make_game(LAKE, is_slippery=False))
    assert evaluate_policy(optimum, env, n_eval_episodes=3, warn=False) == (1.0, 0.0)  # type: ignore[arg-type]
    combat = solvent.solve("ff-combat")
    table = combat.by_state[0]
    actions, _ = combat.predict(table.observation[0])
    assert (actions == combat.solution.policies[0].probabilities.argmax(axis=1)).all()
    states = tuple(Numbered(number) for number in reversed(range(table.n_states)))
    numbered = exact.solve(replace(table, states=states))
    actions, _ = numbered.predict(np.arange(table.n_states))
    assert (actions == numbered.policies[0].probabilities.argmax(axis=1)).all()
    throws = [
        int(solvent.solve("rock-paper-scissors").predict(0, deterministic=False)[0])
        for _ in range(60)
    ]
    assert set(throws) == {0, 1, 2}
    pig = solvent.solve(solvent.make_game("pig", target=8))
    for player in (0, 1):
        assert len(pig.to_dict(player)) == (pig.by_state[0].on_turn(player)).sum()
    assert all(sum(choice.values()) == pytest.approx(1) for choice in lake.to_dict().values())
    assert_refused([
        *((lake.predict, wrong, "no state") for wrong in (99, [0, 99], np.full(16, 1 / 16))),
        *((lake.predict, wrong, "allowed are arrays of numbers") for wrong in (0.5, None, {})),
        (lambda seen: lake.predict(seen, player=1), 0, "player is 1; allowed are whole numbers"),
        (lake.to_dict, 1, "player is 1; allowed are whole numbers"),
        (lambda player: pig.policy(pig.table.states[0], player), 2, "player is 2; allowed are"),
    ], lambda ask, wrong: ask(wrong))  # fmt: skip


@pytest.mark.parametrize("observation", ["vector", "onehot", "index"])
@pytest.mark.parametrize("name", ["gambler", "gridworld", "corridor"])
def test_an_optimum_acts_on_what_the_environment_shows(name: str, observation: str) -> None:
    """The end by a discount looks like the start; gambler has as many one-hot inputs as states."""
    optimum = solvent.solve(solvent.make_game(name, discount=0.9))
    table, solution = optimum.by_state
    acting = table.on_turn(0)
    actions, _ = optimum.predict(observed(table, 0, observation)[acting])
    assert (actions == solution.policies[0].probabilities[acting].argmax(axis=1)).all()


def test_the_policy_gradient_is_the_derivative_of_the_value() -> None:
    table = solvent.make_game(LAKE)
    logits = np.random.default_rng(0).normal(size=(solvent.compile_game(table).n_states, 4))

    def evaluated(logits: np.ndarray) -> Any:
        chances = np.exp(logits)
        policy = chances / chances.sum(axis=1, keepdims=True)
        return solvent.evaluate(solvent.compile_game(table), policy)

    gradient = evaluated(logits).policy_gradient
    for s, a in ((0, 1), (4, 2), (8, 0), (10, 3)):
        step = np.zeros_like(logits)
        step[s, a] = 1e-5
        slope = (evaluated(logits + step).value - evaluated(logits - step).value) / 2e-5
        assert gradient[s, a] == pytest.approx(slope, rel=1e-4, abs=1e-9), (s, a)


def test_an_evaluation_agrees_with_scores_and_bellman_s_equation() -> None:
    uniform = np.full((16, 4), 0.25)
    for discount in (None, 0.9):
        found = solvent.evaluate(LAKE, uniform, discount=discount)
        assert found.value == pytest.approx(solvent.score(LAKE, uniform, discount=discount).value)
        chances = found.policy.probabilities
        assert found.v == pytest.approx(np.nansum(chances * np.nan_to_num(found.q), axis=1))
        # In the environment a critic's rows are by the environment's numbers, as a policy's are;
        # those of a table by its states.
        cells = found.table.states[:16]
        by_number = np.zeros(16)
        by_number[[cell.number for cell in cells]] = found.v[:16]
        for game, critic in ((LAKE, by_number), (solvent.make_game(LAKE), found.v[:16])):
            own = solvent.evaluate(game, uniform, critic=critic, discount=discount)
            assert own.critic_error == pytest.approx(0)
            assert own.bellman_residual == pytest.approx(0, abs=1e-12)

    # A critic sees what the policy sees.
    told = solvent.evaluate(
        LAKE,
        lambda seen: np.full((len(seen), 4), 0.25),
        observation="vector",
        critic=lambda seen: np.full(len(seen), seen.ndim),
    )
    assert told.critic is not None
    assert (told.critic[~told.table.terminal] == 2).all()
    off = solvent.evaluate(LAKE, uniform, critic=lambda seen: np.zeros(len(seen)))
    assert off.critic_error == pytest.approx(np.where(off.table.terminal, 0, -off.v))
    assert np.count_nonzero(off.bellman_residual) == 1  # Beside the goal alone a move is paid.
    rows = [([1, 2, 3], "critic has 3 values")]
    assert_refused(rows, lambda critic: solvent.evaluate(LAKE, uniform, critic=critic))


def test_in_a_game_for_two_a_policy_is_evaluated_against_a_best_response() -> None:
    game = solvent.make_game("pig", target=8)
    table = solvent.compile_game(game)
    for player in (0, 1):
        policy = TabularPolicy.uniform(table, player=player)
        found = solvent.evaluate(game, policy)
        assert found.value == pytest.approx(solvent.score(game, policy).value)
        response = best_response(table, policy).policies[1 - player]
        easy = TabularPolicy.uniform(table, player=1 - player)
        # An opponent that is named takes the place of the environment's.
        for named in (game, Env(table, easy, seat=player)):  # type: ignore[arg-type]
            told = solvent.evaluate(named, policy, opponent=response)
            assert told.value == pytest.approx(found.value)
            assert solvent.evaluate(named, policy, opponent=easy).value > found.value
        rows = (
            (policy, f"opponent is of player {player}, whose policy is"),
            (3, "policy is 3; expected is a TabularPolicy"),
        )
        assert_refused(rows, lambda other, p=policy: solvent.evaluate(game, p, opponent=other))


def test_curves_of_runs_are_drawn_with_the_optimum(tmp_path: Path) -> None:
    rows = [Evaluation(n, v, 0.8 - v, v, 0.8 - v, 1.0) for n, v in ((0, 0.1), (500, 0.6))]
    for run in ("first", "second"):
        write_curve(tmp_path / run / "curve.csv", rows)
    for quantity in ("value", "gap"):
        picture = solvent.plot(tmp_path / "first", tmp_path / "second", quantity=quantity)
        picture.save(tmp_path / "curves.svg")
        drawn = ElementTree.fromstring((tmp_path / "curves.svg").read_text())
        assert len(drawn.findall(".//{*}polyline")) == 4, quantity
        assert picture._repr_svg_() == picture.svg
        assert ("optimum 0.8" in picture.svg) == (quantity == "value")
    # A policy that never ends at a cost has no value; the optimum is known from the other points.
    write_curve(
        tmp_path / "endless" / "curve.csv", [Evaluation(0, -inf, inf, -inf, inf, 1.0), *rows]
    )
    picture = solvent.plot(tmp_path / "endless", quantity="value")
    assert ("nan" in picture.svg, "optimum 0.8" in picture.svg) == (False, True)
    assert_refused([("no runs are given",)], solvent.plot)


# The one door for scores


COMBAT = "solvent/FFCombat-v0"
GREED = {"limit": 9, "sides": 4}


@pytest.fixture(scope="module")
def game() -> TabularGame:
    table: TabularGame = gym.make(COMBAT).unwrapped.game  # type: ignore[attr-defined]
    return table


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(solvent.make_game("greed", **GREED))


def some(width: int, actions: int = 2) -> Any:
    """Logits that are linear in the observation."""
    weights = np.random.default_rng(1).normal(size=(width, actions))
    return lambda seen: seen @ weights


def test_whatever_names_the_game_the_score_is_the_same(
    game: TabularGame, greed: TabularGame
) -> None:
    f = some(5)
    expected = score_table(game, solvent.policy_from(game, f, outputs="logits"))
    envs = [gym.make(COMBAT), gym.make(COMBAT).unwrapped, gym.make_vec(COMBAT, 2), COMBAT]
    envs.append(gym.vector.SyncVectorEnv([lambda: gym.make(COMBAT)] * 2))
    for named in [game, solvent.make_game("ff-combat"), Env(game), *envs]:
        found = solvent.score(named, f, outputs="logits")
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.optimum == pytest.approx(expected.optimum, abs=1e-9)
        assert 0 < found.illegal_mass < 1
    f = some(greed.observation[1].shape[1], greed.mask[1].shape[1])
    agents: Any = pettingzoo_games.greed.env(**GREED)
    second = [solvent.score(named, f, outputs="logits", player=1) for named in (agents, greed)]
    assert second[0] == second[1]


@pytest.mark.parametrize("kind", ["vector", "onehot", "index"])
def test_a_function_sees_what_the_environment_shows(kind: str, game: TabularGame) -> None:
    env = Env(game, observation=kind)
    numbered = np.random.default_rng(0).integers(0, 2, game.n_states)
    seen = solvent.envs.sampling.observed(game, 0, kind)
    known = {row.tobytes(): action for row, action in zip(seen, numbered, strict=True)}

    def f(observations: Any) -> Any:
        return np.array([known[row.tobytes()] for row in observations])

    assert solvent.score(env, f).value == solvent.score(game, numbered).value
    assert solvent.score(game, f, observation=kind).value == solvent.score(game, numbered).value


@pytest.mark.parametrize("seat", [0, 1])
def test_the_opponent_of_an_environment_is_the_opponent(seat: int, greed: TabularGame) -> None:
    uniform = TabularPolicy.uniform(greed, player=1 - seat)
    width, actions = greed.observation[seat].shape[1], greed.mask[seat].shape[1]
    f = some(width, actions)
    env = Env(greed, uniform, seat=seat)  # type: ignore[arg-type]
    found = solvent.score(env, f, outputs="logits", illegal="mask")
    policy = solvent.policy_from(greed, f, outputs="logits", illegal="mask", player=seat)
    left = against(greed, uniform)
    expected = score_table(left, TabularPolicy(policy.probabilities, left.model_hash, seat))
    assert found.value == expected.value
    assert found.optimality_gap == expected.optimality_gap
    assert found.exploitability == pytest.approx(solvent.exploitability(greed, policy), abs=1e-12)
    # A table for the whole game serves as well, and so do both in the whole game.
    assert solvent.score(env, policy).value == found.value
    worst = solvent.score(greed, f, outputs="logits", illegal="mask", player=seat)
    assert worst.optimality_gap == pytest.approx(found.exploitability, abs=1e-12)
    assert worst.value < found.value


def test_several_opponents_are_the_worst_of_them_and_of_two_seats_one_is_named(
    greed: TabularGame,
) -> None:
    f = some(greed.observation[0].shape[1], greed.mask[0].shape[1])

    def scored(named: Any, **seat: int) -> Any:
        return solvent.score(named, f, outputs="logits", **seat)

    first, second = (TabularPolicy.uniform(greed, player=p) for p in (0, 1))
    several: Any = [second, solvent.solve(greed).policies[1]]
    assert scored(Env(greed, several)) == scored(greed)
    random = Env(greed, [(second, first)], seat="random")
    alone = Env(greed, first, seat=1)  # type: ignore[arg-type]
    assert scored(random, player=1) == scored(alone)
    assert_refused([
        (lambda: scored(random), r"seat is 'random'; .*pass player=0 or player=1"),
        (lambda: scored(alone, player=0), r"player is 0; the learner of .* is 1"),
    ])  # fmt: skip


# The optimal actions of FrozenLake, by the number of the square.
MOVES = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]


def test_the_squares_of_a_frozen_lake_have_gymnasiums_numbers() -> None:
    values, env = np.eye(4)[MOVES], gym.make("FrozenLake-v1")
    for policy, outputs in (
        (MOVES, None),
        (np.array(MOVES), "actions"),
        (values, "probabilities"),
        (values * 7 - 3, "action_values"),
        (lambda squares: np.array(MOVES)[squares], None),
    ):
        found = solvent.score("FrozenLake-v1", policy, outputs=outputs)
        assert found.value == pytest.approx(14 / 17, abs=1e-12)
        assert found.optimality_gap == pytest.approx(0, abs=1e-12)
    table = solvent.compile_game(solvent.model.GymnasiumTable.from_env(env))
    for named in ("FrozenLake-v1", env, table):
        located = solvent.locate_gap(named, solvent.policy_from(env, MOVES))
        assert located.gap == pytest.approx(0, abs=1e-12)

    # Taxi numbers 500 states, of which 404 are met.
    taxi = solvent.solve("Taxi-v4")
    numbered = np.zeros(500, int)
    for s in np.flatnonzero(taxi.table.on_turn(0)):
        state: Any = taxi.table.states[s]
        numbered[state.number] = taxi.solution.policies[0].probabilities[s].argmax()
    assert solvent.score("Taxi-v4", numbered).optimality_gap == pytest.approx(0, abs=1e-9)


def test_arrays_are_of_the_states_of_a_table(game: TabularGame) -> None:
    uniform = TabularPolicy.uniform(game)
    # Rows of the end are not read, and float32 is precise enough.
    rows = np.where(game.terminal[:, None], np.nan, uniform.probabilities).astype(np.float32)
    torch = pytest.importorskip("torch")
    for given in (rows, torch.nn.Parameter(torch.as_tensor(rows))):
        assert solvent.score(game, given) == solvent.score(game, uniform)


def test_a_mask_in_the_observation_is_for_a_function_of_both(game: TabularGame) -> None:
    f = some(5)
    env = wrappers.RecordEpisodeStatistics(MaskObservation(gym.make(COMBAT)))
    needed = [(env, r"^MaskObservation .*own environment.*takes_mask=True")]
    assert_refused(needed, lambda named: solvent.score(named, f, outputs="logits"))
    found = solvent.score(
        env.unwrapped,  # type: ignore[arg-type]
        lambda seen, mask: np.where(mask, f(seen), -np.inf),
        outputs="logits",
        takes_mask=True,
    )
    assert found == solvent.score(COMBAT, f, outputs="logits", illegal="mask")
    assert found.illegal_mass == 0


NO_TABLES = [
    (None, "game is None; allowed are a name"),
    ("solvent/FFCombt-v0", "no game or environment 'solvent/FFCombt-v0'; did you mean"),
    ("CartPole-v1", "CartPoleEnv has no P"),
    (
        gym.vector.SyncVectorEnv([lambda: gym.make(COMBAT), lambda: gym.make(COMBAT, luck=2)]),
        "differ in their games, seats, opponents or observations; pass one of them",
    ),
    ("solvent/FootballHalf-v0", "too many states for a table; only a network can be scored"),
]
NO_POLICIES: list[tuple[Any, dict[str, Any], str]] = [
    ("optimal", {}, "policy is 'optimal'; allowed are a TabularPolicy, a function"),
    (None, {}, "policy is None; allowed are"),
    ([[1], [1, 2]], {}, "allowed are a TabularPolicy"),
    (np.zeros((2, 2, 2)), {}, "allowed are a TabularPolicy"),
    (np.zeros((3, 2)), {}, r"shape \(3, 2\); ff-combat has \d+ states"),
    (MOVES, {"observation": "index"}, "observation is 'index'; it is not for an array"),
    (MOVES, {"takes_mask": True}, "takes_mask is True; it is not for an array"),
]
OTHER_SEAT = "is of player 1, but player 0 is scored here"
NOT_FOR_TABLES: list[tuple[dict[str, Any], str]] = [
    ({"outputs": "logits"}, "outputs is 'logits'; it is not for a Tabular"),
    ({"illegal": "mask"}, "illegal is 'mask'; it is not for a Tabular"),
    ({"observation": "index"}, "observation is 'index'; it is not for a Tabular"),
    ({"player": 0}, OTHER_SEAT),
]
TAKES_TABLES: list[Any] = [
    solvent.against,
    solvent.best_response,
    solvent.exploitability,
    solvent.locate_gap,
    solvent.policy_value,
    solvent.state_visitation,
    exact.score,
    lambda game, rows: solvent.nash_conv(game, rows, rows),
    lambda game, rows: solvent.save_policy("never.npz", rows),
]


def test_what_cannot_be_scored_is_refused(game: TabularGame, greed: TabularGame) -> None:
    second = TabularPolicy.uniform(greed, player=1)
    rows = TabularPolicy.uniform(greed).probabilities
    refused = [
        *(((named, lambda seen: seen), {}, message) for named, message in NO_TABLES),
        *(((game, policy), arguments, message) for policy, arguments, message in NO_POLICIES),
        *(((greed, second), arguments, message) for arguments, message in NOT_FOR_TABLES),
        ((Env(greed, second), second), {}, OTHER_SEAT),
        (("FrozenLake-v1", MOVES[:15]), {}, r"array of shape \(15,\); FrozenLake-v1 has 16 states"),
        (("FrozenLake-v1", second), {}, "made for the model"),
        (("FrozenLake-v1", MOVES), {"player": 1}, "player is 1; allowed are whole numbers from 0 "),
        (
            ("FrozenLake-v1", MOVES, solvent.solve("FrozenLake-v1")),
            {},
            "solution is SolvedTable.*; expected is a Solution, such as solvent.solve.table.",
        ),
    ]
    assert_refused(refused, lambda scored, arguments: solvent.score(*scored, **arguments))
    takes = r"expected is a TabularPolicy\. solvent\.score takes"
    assert_refused(((call, takes) for call in TAKES_TABLES), lambda call: call(greed, rows))
    mass = np.full((game.n_states, 2), 0.4) * (game.mask[0] | game.terminal[:, None])
    assert_refused([(game, mass, r"does not sum to 1 .*solvent\.policy_from")], TabularPolicy.of)
