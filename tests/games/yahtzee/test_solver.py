"""The solution of Yahtzee and scores of policies: those of tables, of rollouts, of the page."""

import json
import pickle
import re
import runpy
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, run, said
from layered_games import solve_in
from tree_checks import assert_solved_as_table

import solvent
from solvent import TabularPolicy, compile_game, register_envs
from solvent.baselines.network import Network, NetworkPlayer, load_network, save_network
from solvent.exact import StoreError
from solvent.games.yahtzee.layers import YahtzeeLayers, YahtzeeSolution
from solvent.games.yahtzee.rules import BOXES, Turn, Yahtzee
from solvent.games.yahtzee.scores import score_policy
from solvent.model.registry import game_specs

# The solution of Yahtzee: equal to that of tables, and to what is published and on the page


SMALL = [
    Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8),
    Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8, joker="free"),
    Yahtzee("twos,full-house,yahtzee", dice=5, faces=2, bonus_at=6, joker="none"),
    Yahtzee("small-straight,yahtzee", dice=4, faces=4, rolls=2),
    Yahtzee("aces,three-of-a-kind,chance", dice=3, faces=3, bonus_at=2, yahtzee_bonus=0),
    Yahtzee("aces,small-straight,yahtzee,chance", dice=2, faces=3, rolls=1, bonus_at=0),
]


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_the_layers_are_the_table_state_by_state(game: Yahtzee) -> None:
    solved = YahtzeeSolution.of(game)
    assert solved.upper - solved.lower < 1e-10
    assert_solved_as_table(solved, game, within=1e-10)


@pytest.fixture(scope="module")
def official() -> YahtzeeSolution:
    return YahtzeeSolution.of(Yahtzee())


def test_compact_values_are_right_but_for_their_rounding(tmp_path: Path) -> None:
    game = SMALL[0]
    sent = pickle.loads(pickle.dumps(YahtzeeLayers(game)))  # noqa: S301
    solve_in(tmp_path, sent, keep="compact")
    exact, compact = YahtzeeSolution.of(game), YahtzeeSolution.open(tmp_path)
    assert (compact.game, compact.value) == (game, exact.value)
    for state in compile_game(game).states[::17]:
        if state.open:
            error = abs(compact.value_of(state) - exact.value_of(state))
            assert error <= compact.error_of(state) < 0.02
    with pytest.raises(StoreError, match=r"other values of .*joker$"):
        YahtzeeSolution.open(tmp_path, Yahtzee(joker="free"))


@pytest.mark.parametrize(
    "state",
    [
        Turn((1, 1, 1, 1, 3), 0, ("aces", "yahtzee"), 0, False),
        Turn((1, 1, 1, 1, 2), 3, ("aces", "yahtzee"), 0, False),
        Turn((2, 1, 1, 1, 1), 1, ("aces", "yahtzee"), 0, False),
        # Cards that cannot be reached: of other boxes, rolls, points or bonuses.
        Turn((), 3, ("yahtzee", "aces"), 0, False),
        Turn((), 3, ("aces", "aces", "yahtzee"), 0, False),
        Turn((), 4, ("aces", "yahtzee"), 0, False),
        Turn((), 3, ("aces", "yahtzee"), -2, False),
        Turn((), 3, ("aces", "yahtzee"), 3, False),
        Turn((), 3, ("aces", "yahtzee"), 9, False),
        Turn((), 3, ("aces", "yahtzee"), 0, True),
        Turn((1, 1, 1, 1, 2), 1, ("aces", "yahtzee"), 3, False),
    ],
)
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match="is not a state of yahtzee"):
        YahtzeeSolution.of(SMALL[0]).value_of(state)


DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "textbook" / "yahtzee.md").read_text(encoding="utf-8")
FACTS = {
    cells[0]: tuple(cells[1:])
    for line in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)
    if len(cells := line.split(" | ")) == 5
}


def ours(fact: str) -> float:
    return float(FACTS[fact][2].replace(",", ""))


def published(fact: str) -> float:
    return float(FACTS[fact][1])


def bounds(fact: str) -> list[float]:
    """The least and the largest of a number that is printed as a range."""
    return [float(text) for text in FACTS[fact][2].split(" to ")]


@pytest.fixture(scope="module")
def free() -> YahtzeeSolution:
    return YahtzeeSolution.of(Yahtzee(joker="free"))


def check_value(fact: str, solution: YahtzeeSolution, digits: int) -> None:
    assert ours(fact) == pytest.approx(solution.value, abs=5e-10)
    # The published number has so many digits after the point, not rounded in one of the sources.
    assert abs(solution.value - published(fact)) < 10.0**-digits
    assert solution.upper - solution.lower < float(FACTS[fact][3])


def test_the_official_game(official: YahtzeeSolution) -> None:
    check_value("expected score, official rules", official, 4)
    layers, rules = official.layers, official.layers.rules
    assert ours("cards that can be reached, full ones included") == (
        layers.n_states + layers.states(len(BOXES))
    )
    assert ours("largest score") == published("largest score") == official.game.most
    assert FACTS["rolls of five dice, and dice that may be kept of them"][2] == (
        f"{len(rules.dice) - rules.base}, {len(rules.dice)}"
    )
    for text in (f"{layers.n_states:,} *cards*", f"{756 * layers.n_states // 10**6} million"):
        assert text in PAGE


@pytest.mark.slow
def test_the_games_of_others(free: YahtzeeSolution) -> None:
    check_value("expected score, jokers go anywhere", free, 4)
    plain = YahtzeeSolution.of(Yahtzee(joker="none", yahtzee_bonus=0))
    check_value("expected score, no jokers, no bonus for a further Yahtzee", plain, 2)


@cache
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "scripts" / "yahtzee.py"))


@pytest.mark.slow
def test_the_distribution_of_points_is_that_of_every_way_to_play() -> None:
    solution = YahtzeeSolution.of(Yahtzee("twos,full-house,yahtzee", dice=3, faces=2, rolls=2))
    game = solution.game

    @cache
    def points_to_come(state: Turn) -> Counter[int]:
        if game.is_terminal(state):
            return Counter({0: 1.0})
        spread: Counter[int] = Counter()
        [action] = [a for a, chance in solution.policy(state, 0).items() if chance]
        for outcome in game.transition(state, (action,)):
            for points, p in points_to_come(outcome.state).items():
                spread[points + int(outcome.reward)] += p * float(outcome.probability)
        return spread

    [start] = game.initial()
    found = script()["distribution"](solution, "optimal")
    expected = points_to_come(start.state)
    np.testing.assert_allclose(found, [expected[n] for n in range(len(found))], atol=1e-12)
    mean, _ = script()["mean_and_deviation"](found)
    assert mean == pytest.approx(solution.value, abs=1e-9)


@pytest.fixture(scope="module")
def found(official: YahtzeeSolution) -> dict[str, Any]:
    return {name: script()["distribution"](official, name) for name in ("optimal", "greedy")}


@pytest.mark.slow
def test_the_distribution_of_the_score(
    found: dict[str, Any], official: YahtzeeSolution, free: YahtzeeSolution
) -> None:
    moments = script()["mean_and_deviation"]
    deviation = round(moments(found["optimal"])[1], 5)
    assert bounds("standard deviation, official rules")[0] == deviation
    greedy = score_policy(official, "greedy")
    fact = "expected score of greedy play, official rules"
    assert ours(fact) == pytest.approx(greedy.value, abs=5e-10)
    assert moments(found["greedy"])[0] == pytest.approx(greedy.value, abs=1e-9)
    assert greedy.error < float(FACTS[fact][3])
    of_verhoeff = script()["distribution"](free, "optimal")
    deviation = "standard deviation, jokers go anywhere"
    assert bounds(deviation)[0] == round(moments(of_verhoeff)[1], 5)
    assert round(bounds(deviation)[1], 4) == published(deviation)
    official_median, other_median = (
        np.searchsorted(np.cumsum(scores), 0.5) for scores in (found["optimal"], of_verhoeff)
    )
    assert official_median == 248
    # Only thirteen Yahtzees in the best order: possible, and hardly ever.
    assert 0 < found["optimal"][1575] < 1e-18
    fact = "median, jokers go anywhere"
    assert ours(fact) == published(fact) == other_median


@pytest.mark.slow
def test_the_deviations_and_the_figure_are_those_of_the_script(
    official: YahtzeeSolution, free: YahtzeeSolution, found: dict[str, Any]
) -> None:
    for rules, solution in (("official rules", official), ("jokers go anywhere", free)):
        assert bounds(f"standard deviation, {rules}") == [
            round(one, 5) for one in script()["deviations"](solution)
        ]
    kept = (DOCS / "textbook" / "yahtzee-scores.svg").read_text(encoding="utf-8")
    drawn, expected = (
        [float(number) for line in re.findall(r'<polyline[^>]* points="([^"]+)"', svg)
         for number in re.split("[ ,]", line)]
        for svg in (script()["picture"](found), kept)
    )  # fmt: skip
    # A unit in the last place may be rounded otherwise elsewhere.
    assert drawn == pytest.approx(expected, abs=0.11)
    assert len(drawn) == 2 * 2 * 501


# What policies get in Yahtzee: equal to what their tables get, and to rollouts


register_envs()
GAME = Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8)
FORMS = [GAME, Yahtzee("twos,full-house,yahtzee", dice=3, faces=2, joker="free", rolls=2)]


def network(game: Yahtzee, rule: str, *, masked: bool, layers: int = 3) -> NetworkPlayer:
    rng = np.random.default_rng(layers)
    inputs, outputs = len(game.info.observation_labels), len(game.info.actions[0])
    widths = [inputs, *([12] * (layers - 1)), outputs]
    weights = tuple(
        rng.normal(0, 1.5 / np.sqrt(n), (n, m)).astype(np.float32) for n, m in pairwise(widths)
    )
    biases = tuple(rng.normal(size=len(weight.T)).astype(np.float32) for weight in weights)
    return NetworkPlayer(Network(weights, biases, "tanh"), rule, masked, "vector", "net")


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
    table, player = compile_game(game), network(game, rule, masked=masked, layers=layers)
    found = score_policy(YahtzeeSolution.of(game), player)
    # The policy of the network, asked of every state.
    live = ~table.terminal
    seen = np.stack([game.observe(state, 0) for state in table.states])[live]
    chances = np.zeros(table.mask[0].shape)
    chances[live] = player.choose(player.network(seen), table.mask[0][live])
    expected = solvent.score(table, TabularPolicy.of(table, chances))
    # The first layer is summed in another order, in float32.
    assert found.value == pytest.approx(expected.value, abs=1e-4 if rule == "sampled" else 1e-9)
    assert found.optimum == pytest.approx(expected.optimum, abs=1e-9)
    assert found.error < 1e-8


@pytest.mark.parametrize("game", FORMS, ids=str)
def test_the_scores_of_known_policies(game: Yahtzee) -> None:
    table, solution = compile_game(game), YahtzeeSolution.of(game)
    known = {"optimal": solution.value, "greedy": greedy(game)}
    assert solvent.score(table, TabularPolicy.uniform(table)).value < known["greedy"]
    for name, value in known.items():
        assert score_policy(solution, name).value == pytest.approx(value, abs=1e-10), name


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
    save_network(file, network(GAME, "sampled", masked=True), {"request": request})
    told = answer("score", file, "--mode", "--json")
    expected = score_policy(YahtzeeSolution.of(GAME), network(GAME, "mode", masked=True))
    assert told["value"] == pytest.approx(expected.value, abs=1e-12)
    for words_of, message in (
        (["score", str(file), "--out", out], "nothing of it is kept; leave --out out"),
        (["score", "greedy", "yahtzee", *words], "proved to within"),
        (["score", "greed", "yahtzee", *words], "'greed'; allowed are greedy, optimal"),
    ):
        assert message in run(*words_of).output


def test_a_network_is_trained_without_a_table_and_scored(tmp_path: Path) -> None:
    from solvent.training import train

    result = train(
        "solvent/Yahtzee-v0",
        "maskable_ppo",
        timesteps=512,
        folder=tmp_path / "run",
        env_kwargs={"observation": "vector", "boxes": "aces,chance,yahtzee"},
        hyperparameters={"n_envs": 16, "n_steps": 16, "batch_size": 64},
        progress=False,
    )
    sampled, mode = result.networks
    assert load_network(tmp_path / "run" / "network.npz").rule == sampled.rule == "sampled"
    solution = YahtzeeSolution.of(Yahtzee("aces,chance,yahtzee"))
    for player in (sampled, mode):
        assert 0 < score_policy(solution, player).value < solution.value


@pytest.mark.slow
def test_ppo_learns_more_than_uniform_play_knows(tmp_path: Path) -> None:
    from solvent.training import train

    result = train(
        "solvent/Yahtzee-v0",
        "maskable_ppo",
        timesteps=500_000,
        folder=tmp_path / "run",
        env_kwargs={"observation": "vector"},
        evaluations=5,
        progress=False,
    )
    # Uniform play has 46 points on average; a run of twelve times as many steps ends at 214.
    assert result.curve[-1].mean > 100


def test_the_scores_of_trained_networks_on_the_page_are_those_that_are_kept() -> None:
    kept = json.loads((DOCS / "evidence" / "yahtzee.json").read_text(encoding="utf-8"))
    scores = [f"{run['value']:.2f}" for run in kept["runs"]]
    assert (
        f"Tuned MaskablePPO reaches {scores[0]}, {scores[1]} and {scores[2]} with three seeds "
        f"(`docs/evidence/yahtzee.json`), greedy play "
        f"{ours('expected score of greedy play, official rules'):.2f} and the optimum "
        f"{kept['optimum']:.2f}." in " ".join(PAGE.split())
    )
    assert kept["optimum"] == game_specs()["yahtzee"].environments["solvent/Yahtzee-v0"].optimum
