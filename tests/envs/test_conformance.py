"""Every kind of environment over every simulator keeps the same contracts, on toy games.

An environment of Gymnasium is held against the model: the support and the frequencies of what
follows, and the expected return. The vector environment is held against the single one bit for bit,
so that what is found of the one is true of the other. PettingZoo's are held against the model too.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from parlour_games import parlour
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import parallel_to_aec
from random_games import RandomGame
from random_tables import legal_actions_played
from scipy import stats
from side_by_side import assert_equal, assert_steps_equal
from table_simulation import TablePlayer, TableSampler
from two_players import random_pool

from solvent.envs import Env, VectorEnv
from solvent.envs.batches import BothSeats
from solvent.envs.pettingzoo_env import AGENTS, TabularAECEnv, TabularParallelEnv
from solvent.exact import policy_value
from solvent.model import (
    Game,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    discounted,
    project,
)
from solvent.model.arrays import Bools, Floats
from solvent.model.game import Alternating


class ByTurns(RandomGame):
    """Odd states are player 0's, even ones player 1's."""

    def turn(self, state: int) -> int:
        return 1 - state % 2


NIM = parlour().Nim()
BY_TURNS = ByTurns(5, "alternating", cyclic=False)
AT_ONCE = RandomGame(4, "simultaneous", cyclic=True)
SHORT_NIM = discounted(NIM, "3/4")
SHORT_AT_ONCE = discounted(AT_ONCE, "3/4")
WEIGHTS = [1.0, 2.0]


def remapped(game: TabularGame, player: int) -> TabularPolicy:
    """What any action with the same probability, illegal ones included, comes to."""
    mask = game.mask[player]
    anything = np.full(mask.shape, 1 / mask.shape[1])
    return TabularPolicy.of(game, project(anything, mask), player=player)


@dataclass(frozen=True)
class Case:
    """A learner's environments, and the game in which the opponents are folded into chance.

    Attributes:
        single: Makes one environment.
        many: Makes a vector environment of a number of them.
        player: The learner's seat.
        folded: A table and its probability for each opponent.
        acts: [S] where the learner is asked for an action, ends excepted.
    """

    single: Callable[..., Any]
    many: Callable[..., VectorEnv]
    player: int
    folded: list[tuple[TabularGame, float]]
    acts: Bools

    @property
    def table(self) -> TabularGame:
        """A table in which states and the learner's legal actions are looked up."""
        return self.folded[0][0]

    @property
    def exact(self) -> float:
        """The expected return of random actions, illegal ones included."""
        values = [
            weight * game.at_start(policy_value(game, remapped(game, self.player)))
            for game, weight in self.folded
        ]
        return float(sum(values)) * (1 - 2 * self.player)

    def moved(self, game: TabularGame, at: Floats, action: int | None = None) -> Floats:
        """[S] the distribution of states one move later.

        Args:
            game: One of `folded`.
            at: [S] the distribution before.
            action: The learner's, legal; the lowest legal one of each state unless given.
        """
        weight = np.zeros(game.n_rows)
        for s in np.flatnonzero(at):
            joint = [int(mask[s].argmax()) for mask in game.mask]
            if action is not None:
                joint[self.player] = action
            weight[game.row(s, (joint[0], joint[1]))] = at[s]
        chance = weight[game.outcome_row] * game.probability
        return np.bincount(game.next_state, chance, game.n_states)

    def seen(self, game: TabularGame, at: Floats) -> Floats:
        """[S] the distribution of the state that the learner is shown, which is its next turn."""
        shown, rests = np.zeros(game.n_states), self.acts | game.terminal
        while at.sum() > 1e-12:
            shown += at * rests
            at = self.moved(game, at * ~rests)
        return shown


def one_player(rules: Game, player: int) -> Case:
    table = compile_game(rules)
    return Case(
        lambda **more: Env(table, seat=player, **more),
        lambda n, **more: VectorEnv(table, n, seat=player, **more),
        player, [(table, 1.0)], ~table.terminal,
    )  # fmt: skip


def in_seat(rules: Game, player: int, simulator: str) -> Case:
    sampler = TableSampler(rules)
    table = sampler.table
    policies = random_pool(table, 2)
    game: Any = table if simulator == "table" else sampler
    pool: Any = policies if simulator == "table" else [TablePlayer(pair) for pair in policies]
    fixed: dict[str, Any] = {"weights": WEIGHTS, "seat": player}
    return Case(
        lambda **more: Env(game, pool, **fixed | more),
        lambda n, **more: VectorEnv(game, n, pool, **fixed | more),
        player,
        [
            (against(table, pair[1 - player]), weight / sum(WEIGHTS))
            for pair, weight in zip(policies, WEIGHTS, strict=True)
        ],
        table.on_turn(player) if simulator == "table" else table.action_count[player] > 1,
    )  # fmt: skip


CASES = {
    "three rolls": one_player(parlour().ThreeRolls(), 0),
    "one player": one_player(RandomGame(1, "single", cyclic=True), 0),
    "one player in seat 1": one_player(RandomGame(2, "opponent", cyclic=True), 1),
    "three rolls, discounted": one_player(discounted(parlour().ThreeRolls(), "19/20"), 0),
    "nim, discounted, in seat 1": in_seat(SHORT_NIM, 1, "table"),
    "at once, discounted, in seat 0": in_seat(SHORT_AT_ONCE, 0, "table"),
} | {
    f"{name} in seat {player} by {simulator}": in_seat(rules, player, simulator)
    for name, rules in (
        ("nim", NIM),
        ("at once", AT_ONCE),
        ("by turns", BY_TURNS),
    )
    for player in (0, 1)
    for simulator in ("table", "simulation")
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_case
def test_gymnasiums_checks_have_nothing_to_say(case: Case) -> None:
    # Warnings are errors here, so this is the whole test.
    check_env(case.single(), skip_render_check=True)


def episodes(env: Any, seed: int | None, count: int) -> list[Any]:
    """Everything that an environment tells in some episodes, of which only the first has a seed."""
    rng = np.random.default_rng(0)
    log: list[Any] = []
    for episode in range(count):
        log.append(env.reset(seed=seed if episode == 0 else None))
        while not env.episode.over:
            log.append(env.step(int(rng.integers(env.action_space.n))))
    return log


@every_case
def test_a_seed_decides_whole_episodes(case: Case) -> None:
    env = case.single()
    first = episodes(env, 5, 20)
    # Without a seed the stream goes on, or begins anywhere.
    others = episodes(env, None, 20), episodes(case.single(), None, 20), episodes(env, 6, 20)
    assert not any(data_equivalence(first, other, exact=True) for other in others)
    for again in (env, case.single()):
        assert data_equivalence(first, episodes(again, 5, 20), exact=True)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@every_case
def test_many_environments_are_as_many_single_ones_bit_for_bit(
    case: Case, mode: AutoresetMode
) -> None:
    seats = [{}, {"seat": "random"}] if len(case.folded) > 1 and case.player else [{}]
    for seat in seats:
        many = case.many(10, autoreset_mode=mode, **seat)
        sync: Any = SyncVectorEnv([lambda seat=seat: case.single(**seat)] * 10, autoreset_mode=mode)
        assert_equal(many.reset(seed=7), sync.reset(seed=7))
        ended, _ = assert_steps_equal(many, sync, 20, seed=0)
        assert ended > 10


def assert_frequencies(states: Any, expected: Floats) -> bool:
    """Whether there was more than one possibility, all of which came as often as expected."""
    counts = np.bincount(states, minlength=len(expected))
    support = expected > 1e-12
    assert (counts[~support] == 0).all()
    if support.sum() > 1:
        # 1e-4, since there are dozens of tests, all at fixed seeds.
        total = expected[support] / expected.sum() * len(states)
        assert stats.chisquare(counts[support], total).pvalue > 1e-4
    return bool(support.sum() > 1)


@every_case
def test_what_follows_has_the_support_and_frequencies_of_the_model(case: Case) -> None:
    n, table = 2000, case.table
    env = case.many(n, autoreset_mode="Disabled")
    env.reset(seed=1)
    begun = env.get_state()
    starts = sum(weight * case.seen(game, game.initial) for game, weight in case.folded)
    tested = int(assert_frequencies(begun["state"], starts))
    # Illegal actions are among them: the lowest legal one is played in their place.
    played = legal_actions_played(table.mask[case.player])
    for s in np.flatnonzero(case.acts & ~table.terminal)[:4]:
        at = np.eye(table.n_states)[s]
        for action in range(played.shape[1]):
            env.set_state(begun | {
                name: np.full_like(begun[name], value)
                for name, value in (("state", s), ("over", False), ("owed", 0.0))
                if name in begun
            })  # fmt: skip
            env.step(np.full(n, action))
            opponents = begun.get("opponent", np.zeros(n))
            for k, (game, _) in enumerate(case.folded):
                expected = case.seen(game, case.moved(game, at, int(played[s, action])))
                after = env.get_state()["state"][opponents == k]
                tested += assert_frequencies(after, expected)
    assert tested


@every_case
def test_rewards_add_up_to_the_expected_return(case: Case) -> None:
    n, count = 1000, 4
    env = case.many(n, autoreset_mode="SameStep")
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    returns, running, left = [], np.zeros(n), np.full(n, count)
    # The first to end would be the short ones, so each environment counts as many episodes.
    while left.any():
        _, reward, over, *_ = env.step(rng.integers(0, env.single_action_space.n, n))
        running += reward
        returns += running[over & (left > 0)].tolist()
        left -= over & (left > 0)
        running[over] = 0
    error = np.std(returns) / np.sqrt(n * count)
    assert 0 < error < 0.1
    assert abs(np.mean(returns) - case.exact) < 3.3 * error


@every_case
def test_an_illegal_action_is_remapped_and_flagged_or_raises(case: Case) -> None:
    env, strict = case.single(), case.single(illegal="raise")
    rng, met = np.random.default_rng(0), 0
    for seed in range(25):
        _, info = env.reset(seed=seed)
        strict.reset(seed=seed)
        while not env.episode.over:
            mask = info["action_mask"]
            assert (env.action_masks() == mask).all()
            twin = copy.deepcopy(env)
            assert twin.episode.shared[-1] is env.episode.shared[-1]
            *expected, told = twin.step(int(mask.argmax()))
            assert told["illegal_action"] is False
            for wrong in np.flatnonzero(mask == 0)[:1].tolist():
                met += 1
                flagged = (*expected, told | {"illegal_action": True})
                assert data_equivalence(copy.deepcopy(env).step(wrong), flagged, exact=True)
                with pytest.raises(ValueError, match=f"action {wrong} is not legal in state"):
                    strict.step(wrong)
            action = int(rng.choice(np.flatnonzero(mask)))
            strict.step(action)
            info = env.step(action)[4]
    some = (~case.table.mask[case.player])[case.acts & ~case.table.terminal].any()
    assert met > 5 if some else met == 0


BOTH_SEATS = {
    "nim": NIM,
    "at once": AT_ONCE,
    "by turns": BY_TURNS,
    "nim, discounted": SHORT_NIM,
    "at once, discounted": SHORT_AT_ONCE,
}


@pytest.mark.parametrize("rules", BOTH_SEATS.values(), ids=BOTH_SEATS)
def test_both_seats_share_an_episode_and_have_the_exact_values(rules: Game) -> None:
    m, table = 4000, compile_game(rules)
    env, twin = (VectorEnv(BothSeats(table, m), autoreset_mode="SameStep") for _ in range(2))
    rng, illegal = np.random.default_rng(0), 0
    ends = [{row.tobytes() for row in table.observation[p][table.terminal]} for p in (0, 1)]
    for one in (env, twin):
        one.reset(seed=3)
    running, returns, left = np.zeros(m), [], np.full(m, 2)
    while left.any():
        mask, actions = env.action_masks(), rng.integers(0, env.single_action_space.n, 2 * m)
        played = np.where(mask[np.arange(2 * m), actions], actions, mask.argmax(axis=1))
        seen, reward, over, _, infos = env.step(actions)
        assert_equal((seen, reward, over), twin.step(played)[:3])
        at = env.get_state()["state"]
        assert (seen == np.concatenate([shown[at] for shown in table.observation])).all()
        for i in np.flatnonzero(over)[::100]:
            assert infos["final_obs"][i].tobytes() in ends[i // m]
        flags = infos.get("final_info", infos)["illegal_action"] & over | infos["illegal_action"]
        assert (flags == (played != actions)).all()
        illegal += int(flags.sum())
        ended = over[:m]
        assert (reward[:m] == -reward[m:]).all()
        assert (ended == over[m:]).all()
        running += reward[:m]
        returns += running[ended & (left > 0)].tolist()
        left -= ended & (left > 0)
        running[ended] = 0
    exact = table.at_start(policy_value(table, remapped(table, 0), remapped(table, 1)))
    assert illegal > m
    assert abs(np.mean(returns) - exact) < 3.3 * np.std(returns) / np.sqrt(2 * m)


AGENTS_OF = {
    "nim by table": lambda **more: TabularAECEnv(NIM, **more),
    "nim by simulation": lambda **more: TabularAECEnv(TableSampler(NIM), **more),
    "by turns by table": lambda **more: TabularAECEnv(BY_TURNS, **more),
    "by turns by simulation": lambda **more: TabularAECEnv(TableSampler(BY_TURNS), **more),
    "at once by table": lambda **more: TabularParallelEnv(AT_ONCE, **more),
    "at once by simulation": lambda **more: TabularParallelEnv(TableSampler(AT_ONCE), **more),
    "nim, discounted": lambda **more: TabularAECEnv(SHORT_NIM, **more),
    "at once, discounted": lambda **more: TabularParallelEnv(SHORT_AT_ONCE, **more),
}
both_agents = pytest.mark.parametrize("make", AGENTS_OF.values(), ids=AGENTS_OF)


@pytest.mark.parametrize("mask", ["info", "obs"])
@both_agents
def test_pettingzoos_checks_pass(make: Callable[..., Any], mask: str) -> None:
    make = partial(make, mask=mask)
    env = make()
    with warnings.catch_warnings():
        # What it says of every observation with a mask that is not in its own list, and of these
        # games: one observes a single number, and 0 is among the observations of both.
        for message in (
            "Observation is not a NumPy array",
            "Observation space for each agent probably should be",
            "Observation is a single number",
            "Observation numpy array is all zeros",
        ):
            warnings.filterwarnings("ignore", message)
        if isinstance(env, TabularParallelEnv):
            parallel_api_test(env, num_cycles=100)
            parallel_seed_test(make, num_cycles=100)
            env = parallel_to_aec(env)
        else:
            seed_test(make, num_cycles=100)
        api_test(env, num_cycles=100)


def joint_step(env: Any, rng: np.random.Generator) -> tuple[dict[str, int], Any, Any]:
    """Random actions of the agents that are asked, and the rewards and infos that follow."""
    asked = AGENTS if isinstance(env, TabularParallelEnv) else [env.agent_selection]
    actions = {agent: int(rng.integers(env.action_space(agent).n)) for agent in asked}
    if isinstance(env, TabularParallelEnv):
        _, rewards, _, _, infos = env.step(actions)
        return actions, rewards, infos
    env.step(actions[env.agent_selection])
    return actions, env.rewards, env.infos


def follows(rules: Game, state: Any, joint: tuple[int, ...], chance: bool) -> set[Any]:
    """What may follow in the rules: states and rewards.

    Args:
        rules: The game.
        state: Of it.
        joint: Legal actions.
        chance: Whether play goes on to a state in which somebody has a choice.
    """
    found = set()
    for outcome in rules.transition(state, joint):
        after, reward = outcome.state, float(outcome.reward)
        only = () if rules.is_terminal(after) else rules.legal_actions(after)
        if chance and only and all(len(legal) == 1 for legal in only):
            forced = tuple(legal[0] for legal in only)
            found |= {(s, reward + r) for s, r in follows(rules, after, forced, chance)}
        else:
            found.add((after, reward))
    return found


@both_agents
def test_agents_play_the_model(make: Callable[..., Any]) -> None:
    """Masks, rewards and successors are the rules', and a seed decides all episodes."""
    env, twin = make(mask="info"), make(mask="info")
    rules, table = env.rules, compile_game(env.rules)
    rng, same = (np.random.default_rng(3) for _ in range(2))
    returns = []
    for episode in range(300):
        for one in (env, twin):
            one.reset(seed=11 if episode == 0 else None)
        total = 0.0
        while not rules.is_terminal(state := env.episode.state):
            legal = rules.legal_actions(state)
            actions, rewards, infos = told = joint_step(env, rng)
            assert data_equivalence(told, joint_step(twin, same), exact=True)
            joint = []
            for agent, allowed in zip(AGENTS, legal, strict=True):
                action = actions.get(agent, allowed[0])
                joint.append(action if action in allowed else allowed[0])
                if agent in actions:
                    assert infos[agent]["illegal_action"] is (action not in allowed)
            after = env.episode.state, rewards["player_0"]
            assert after in follows(rules, state, tuple(joint), env.game is None)
            assert rewards["player_1"] == -rewards["player_0"]
            for player, agent in enumerate(AGENTS):
                if isinstance(env, TabularAECEnv):
                    assert (env.observe(agent) == rules.observe(after[0], player)).all()
                mask = infos[agent]["action_mask"]
                now = () if rules.is_terminal(after[0]) else rules.legal_actions(after[0])
                waits = isinstance(rules, Alternating) and rules.turn(after[0]) != player
                expected = range(len(mask)) if not now else () if waits else now[player]
                assert np.flatnonzero(mask).tolist() == list(expected)
            total += rewards["player_0"]
        returns.append(total)
    exact = table.at_start(policy_value(table, remapped(table, 0), remapped(table, 1)))
    assert abs(np.mean(returns) - exact) < 3.3 * np.std(returns) / np.sqrt(len(returns))
