"""What policies get in Yahtzee: equal to what their tables get, and to rollouts."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, run, said

import solvent
from solvent.baselines.network import Network, NetworkPlayer, load_network, save_network
from solvent.games.yahtzee.layers import solved_yahtzee
from solvent.games.yahtzee.rules import Turn, Yahtzee
from solvent.games.yahtzee.scores import score_policy
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.registration import register_envs

register_envs()
GAME = Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8)
FORMS = [GAME, Yahtzee("twos,full-house,yahtzee", dice=3, faces=2, joker="free", rolls=2)]


@cache
def tabulated(game: Yahtzee) -> TabularGame:
    return compile_game(game)


def network(game: Yahtzee, rule: str, *, masked: bool, layers: int = 3) -> NetworkPlayer:
    rng = np.random.default_rng(layers)
    inputs, outputs = len(game.info.observation_labels), len(game.info.actions[0])
    widths = [inputs, *([12] * (layers - 1)), outputs]
    weights = tuple(
        rng.normal(0, 1.5 / np.sqrt(n), (n, m)).astype(np.float32) for n, m in pairwise(widths)
    )
    biases = tuple(rng.normal(size=len(weight.T)).astype(np.float32) for weight in weights)
    return NetworkPlayer(Network(weights, biases, "tanh"), rule, masked, "vector", "net")


def as_table(game: Yahtzee, table: TabularGame, player: NetworkPlayer) -> TabularPolicy:
    """The policy of a network, asked of every state."""
    live = ~table.terminal
    seen = np.stack([game.observe(state, 0) for state in table.states])[live]
    chances = np.zeros(table.mask[0].shape)
    chances[live] = player.choose(player.network(seen), table.mask[0][live])
    return TabularPolicy.of(table, chances, player=0, name="net")


@pytest.mark.parametrize(
    ("game", "rule", "masked", "layers"),
    [
        (FORMS[0], "mode", True, 3),
        (FORMS[0], "sampled", False, 1),
        (FORMS[1], "mode", False, 1),
        (FORMS[1], "sampled", True, 3),
    ],
    ids=str,
)
def test_a_networks_score_is_that_of_its_table(
    game: Yahtzee, rule: str, masked: bool, layers: int
) -> None:
    table, player = tabulated(game), network(game, rule, masked=masked, layers=layers)
    found = score_policy(solved_yahtzee(game), player)
    expected = solvent.score(table, as_table(game, table, player))
    # The first layer is summed in another order, in float32.
    assert found.value == pytest.approx(expected.value, abs=1e-4 if rule == "sampled" else 1e-9)
    assert found.optimum == pytest.approx(expected.optimum, abs=1e-9)
    assert found.error < 1e-8


@pytest.mark.parametrize("game", FORMS, ids=str)
def test_the_scores_of_known_policies(game: Yahtzee) -> None:
    table, solution = tabulated(game), solved_yahtzee(game)
    uniform = solvent.score(table, TabularPolicy.uniform(table)).value
    assert score_policy(solution, "uniform").value == pytest.approx(uniform, abs=1e-10)
    assert score_policy(solution, "optimal").value == pytest.approx(solution.value, abs=1e-10)
    assert uniform < greedy(game)
    assert score_policy(solution, "greedy").value == pytest.approx(greedy(game), abs=1e-10)


def greedy(game: Yahtzee) -> float:
    """The value of always going for the most points in this turn, by the rules alone."""

    @cache
    def best(state: Turn) -> tuple[float, float]:
        """The points of this turn and of the whole game under the greedy choice."""
        if game.is_terminal(state):
            return 0.0, 0.0
        found = []
        for action in sorted(game.legal_actions(state)[0], key=game.order.index):
            now, total = 0.0, 0.0
            for one in game.transition(state, (action,)):
                p, reward = float(one.probability), float(one.reward)
                turn, later = best(one.state)
                now += p * (reward + turn * bool(one.state.dice))
                total += p * (reward + later)
            found.append((now, total))
        most = max(now for now, _ in found)
        return next(one for one in found if one[0] >= most - 1e-9)

    return best(game.initial()[0].state)[1]


def test_the_command_scores_networks_folders_and_policies_by_name(tmp_path: Path) -> None:
    words = ["--boxes", GAME.boxes, "--faces", "2", "--bonus-at", "8"]
    out = str(tmp_path / "solved")
    said("solve", "yahtzee", *words, "--out", out)
    found = answer("score", "optimal", "yahtzee", "--solution", out, "--json")
    assert found["gap"] == pytest.approx(0, abs=1e-10)
    request = {"environment": "solvent/Yahtzee-v0", "env_kwargs": dict(GAME.info.parameters)}
    file = tmp_path / "network.npz"
    player = network(GAME, "sampled", masked=True)
    save_network(file, player, {"request": request})
    told = answer("score", file, "--mode", "--json")
    expected = score_policy(solved_yahtzee(GAME), network(GAME, "mode", masked=True))
    assert told["value"] == pytest.approx(expected.value, abs=1e-12)
    for words_of, message in (
        (["score", str(file), "--out", out], "nothing of it is kept; leave --out out"),
        (["score", "uniform", "yahtzee", *words], "proved to within"),
        (["score", "greed", "yahtzee", *words], "'greed'; allowed are greedy, optimal, uniform"),
    ):
        assert message in run(*words_of).output


def test_a_network_is_trained_without_a_table_and_scored(tmp_path: Path) -> None:
    from solvent.training import train

    kwargs = {"observation": "vector", "boxes": "aces,chance,yahtzee"}
    made = {"n_envs": 16, "n_steps": 16, "batch_size": 64}
    result = train(
        "solvent/Yahtzee-v0",
        "maskable_ppo",
        timesteps=512,
        folder=tmp_path / "run",
        env_kwargs=kwargs,
        hyperparameters=made,
        progress=False,
    )
    sampled, mode = result.networks
    assert load_network(tmp_path / "run" / "network.npz").rule == sampled.rule == "sampled"
    solution = solved_yahtzee(Yahtzee("aces,chance,yahtzee"))
    for player in (sampled, mode):
        assert 0 < score_policy(solution, player).value < solution.value


@pytest.mark.slow
def test_ppo_learns_more_than_uniform_play_knows(tmp_path: Path) -> None:
    from solvent.training import train

    kwargs = {"observation": "vector"}
    steps: dict[str, Any] = {"timesteps": 500_000, "evaluations": 5, "progress": False}
    result = train(
        "solvent/Yahtzee-v0", "maskable_ppo", folder=tmp_path / "run", env_kwargs=kwargs, **steps
    )
    # Uniform play has 46 points on average; a run of twelve times as many steps ends at 214.
    assert result.curve[-1].mean > 100
