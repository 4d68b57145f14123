"""The pages on the benchmark and the microscope have what is computed, and their scripts work."""

import importlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classification_tree import fit_tree
from commands import said
from doc_pages import DOCS, check_sentences, table_rows
from learned_model import learned_model
from rich.console import Console

from solvent import TabularPolicy, compile_game, exploitability, policy_value, solve
from solvent.benchmark.algorithms import find_algorithm
from solvent.benchmark.bench import bench
from solvent.benchmark.records import read_bench
from solvent.benchmark.suites import Suite, Task, find_suite, read_settings
from solvent.games.fighting_fantasy.rules import Combat, FightingFantasy
from solvent.games.greed.rules import Greed
from solvent.model.registry import declared_names
from solvent.training.algorithms import SELF_PLAY_ALGORITHMS

PAGE = (DOCS / "benchmark.md").read_text(encoding="utf-8")
ENTERING = (DOCS / "own-algorithm.md").read_text(encoding="utf-8")


def block(title: str) -> str:
    title = re.escape(title)
    return re.search(rf'```\w+ title="{title}"\n(.*?)```', PAGE + ENTERING, re.DOTALL)[1]


def ours_of(group: str) -> set[str]:
    """The names of a group of entry points that this package declares."""
    return {n for n, at in declared_names(group).items() if at.value.startswith("solvent.")}


def test_the_page_names_every_suite_and_algorithm(tmp_path: Path) -> None:
    named = set(re.findall(r"^\| `([\w-]+)` \| [^|]*\|$", PAGE.split("## Alg")[0], re.M))
    assert named >= ours_of("solvent.suites")
    file = tmp_path / "mine.toml"
    file.write_text(block("mine.toml"))
    tasks = [task.name for task in find_suite(str(file)).tasks]
    assert tasks == ["FFCombat-v0", "GreedSmall-v0-self-play"]
    for name in ("core", "core-mini"):
        [row] = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
        steps = {f"{task.timesteps:,}" for task in find_suite(name).tasks}
        assert steps == {*re.findall(r"(\d+,000) steps each", row)}
    assert f"--seeds 10 --out mini   # {10 * len(find_suite('core-mini').tasks)} runs" in PAGE
    told = {
        name: "yes" in ending
        for cells, *_, ending in table_rows(PAGE, "name | learns | tasks | told the model")
        for name in re.findall(r"\w+", re.sub(r"\(.*?\)", "", cells))
    }
    ours = ours_of("solvent.algorithms")
    assert {*SELF_PLAY_ALGORITHMS} < told.keys() == ours
    assert {name: find_algorithm(name).uses_model for name in ours} == told


ROOT = DOCS.parent


@pytest.mark.slow
def test_the_algorithm_of_the_page_is_entered(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(block("mine.py"))
    task = Task(environment="solvent/FFCombat-v0", timesteps=3_000)
    place = f"{tmp_path / 'mine.py'}:greedy_bandit"
    found = bench(tmp_path / "out", Suite("one", "One", (task,)), [place], progress=False)
    [agent] = found.tasks[0].agents
    assert (agent.hyperparameters, agent.timesteps) == ({"epsilon": 0.1}, 3_000)


@pytest.mark.slow
def test_one_command_enters_a_file_of_ones_own(tmp_path: Path) -> None:
    own = f"{ROOT / 'examples' / 'own_ppo.py'}:own_ppo"
    words = ["--suite", "quick", "--timesteps", "4096", "--algorithm", own, "--out", tmp_path]
    said("bench", *words)
    found = read_bench(tmp_path)
    assert found.suite.name == "quick@4096"
    agents = [agent for task in found.tasks for agent in task.agents]
    assert {agent.algorithm for agent in agents} == {"own_ppo"}
    # It learns one seat, and leaves self-play out.
    assert all(bool(task.agents) != task.for_two for task in found.tasks)
    assert agents[0].hyperparameters["learning_rate"] == 2e-3
    assert "own_ppo" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_search_goes_on_and_its_winner_is_a_setting(tmp_path: Path) -> None:
    import tune

    suite = tmp_path / "mine.toml"
    suite.write_text(
        'format = 1\nname = "mine"\ntitle = "One lake"\n\n'
        '[[tasks]]\nenvironment = "FrozenLake-v1"\ntimesteps = 2000\nseeds = { q_learning = 1 }\n'
    )
    asked = ["--suite", str(suite), "--algorithm", "q_learning", "--jobs", "1"]
    tune.main([*asked, "--out", str(tmp_path), "--trials", "2"])
    first = (tmp_path / "q_learning.jsonl").read_text().splitlines()
    winner = tune.main([*asked, "--out", str(tmp_path), "--trials", "4"])
    lines = [json.loads(line) for line in (tmp_path / "q_learning.jsonl").read_text().splitlines()]
    trials = [line for line in lines if line["kind"] == "trial"]
    assert len(trials) == 4
    assert [json.loads(line) for line in first] == lines[: len(first)]
    assert winner.settings in [line["settings"] for line in trials]
    assert "4 trials on mine" in (tmp_path / "q_learning.toml").read_text()


# The verdicts of benchmarks/microscope.py, on runs of which the statistics are known

EVIDENCE = ROOT / "docs" / "evidence" / "microscope.json"


@pytest.fixture
def script() -> Any:
    pytest.importorskip("stable_baselines3")
    return importlib.import_module("microscope")


def test_the_page_has_the_results_that_are_kept(script: Any) -> None:
    results = json.loads(EVIDENCE.read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "microscope-results.md").read_text(encoding="utf-8")
    lines = "\n".join(script.page_lines(results))
    assert f"{script.BEGIN}\n{lines}\n{script.END}" in page
    assert EVIDENCE.stat().st_size < 1_000_000
    # The verdicts follow from the numbers, which are kept in few digits.
    named = [
        {
            **one,
            "readings": [
                {
                    **dict(zip(script.READING, own, strict=True)),
                    "gradient": slope and dict(zip(script.GRADIENT, slope, strict=True)),
                }
                for own, slope in zip(
                    one["readings"], one["gradients"] or [None] * len(one["readings"]), strict=True
                )
            ],
        }
        for one in results["runs"]
    ]
    for found, kept in zip(script.verdicts(named), results["verdicts"], strict=True):
        for name in ("claim", "here_verdict", "like_these_verdict", "runs", "missing"):
            assert getattr(found, name) == kept[name], kept["claim"]
        for name in ("value", "here", "like_these", "by_task", "told"):
            assert getattr(found, name) == pytest.approx(kept[name], abs=0.01), kept["claim"]
    # A run of which no gradient is known is missing.
    ppo = next(one for one in named if one["algorithm"] == "ppo")
    unknown = [reading | {"gradient": None} for reading in ppo["readings"]]
    assert script.gradients([*named, ppo | {"readings": unknown}]).missing == 1
    # The runs are those of the command, and the settings those of the file it names.
    (algorithms, seeds), *_ = re.findall(r"--algorithms ([\w ]+) --seeds (\d+)", page)
    assert Counter(one["algorithm"] for one in results["runs"]) == dict.fromkeys(
        algorithms.split(), len(script.TASKS) * int(seeds)
    )
    chosen = read_settings(EVIDENCE.with_suffix(".toml"))
    for algorithm, used in results["settings"].items():
        settings = chosen[algorithm.removeprefix("double_")].settings
        assert used.items() >= settings.items(), algorithm
    now = find_suite(results["suite"]).algorithms
    gap = script.READING.index("greedy_gap")
    gaps = [one["readings"][-1][gap] for one in script.by_task(results)["FamilyGap-v0", "ppo"]]
    check_sentences("microscope-results.md", {
        "which differ for A2C and DQN":
            {n for n, own in chosen.items() if own.settings != now[n].settings} == {"a2c", "dqn"},
        "greedy policy of nine runs in ten": (gaps.count(0), len(gaps)) == (9, 10),
    })  # fmt: skip


def test_the_page_says_why_networks_fall_short_on_core(script: Any) -> None:
    results = json.loads((DOCS / "evidence/microscope-core.json").read_text(encoding="utf-8"))
    runs, suite = script.by_task(results), find_suite("core")
    rows = [
        line
        for (task, algorithm), own in runs.items()
        for line in script.parts_line(f"`{task}` | {algorithm}", own, results["runs"])
    ]
    assert "\n".join(rows) in (DOCS / "microscope-results.md").read_text(encoding="utf-8")
    for algorithm, used in results["settings"].items():
        assert used.items() >= suite.algorithms[algorithm].settings.items(), algorithm
    for name in ("ppo", "a2c"):
        for one in runs["FootballDrive-v0", name]:
            assert (one["parts"][0], *one["parts"][2:4]) == (0.4789, 0.4789, 0)
    before = {task: own[0]["readings"][0][2] for (task, _), own in runs.items()}
    parts = [one["parts"][1] / before[one["task"]] for one in results["runs"]]
    assert 0.001 < max(parts) < 0.002

    game = compile_game("solvent/FootballDrive-v0")
    uniform = game.expectation(policy_value(game, TabularPolicy.uniform(game)))
    lost = -uniform[game.row_state == game.initial.argmax()]
    bias = script.READING.index("bias")
    exact = {
        (task, algorithm): max(one["parts"][5] / one["parts"][0] for one in own)
        for (task, algorithm), own in runs.items()
    }
    rental = max(exact["CarRental-v0", name] for name in ("ppo", "dqn"))
    combat = max(share for (task, _), share in exact.items() if task == "FFCombatRandom-v0")
    biases = [[one[bias] for one in own["readings"]] for own in runs["CarRental-v0", "dqn"]]
    low = [-one["readings"][-1][bias] for one in runs["CarRental-v0", "a2c"]]
    ppo, a2c = (results["exploring_starts"][name] for name in ("ppo", "a2c"))
    check_sentences("microscope-results.md", (
        "a run on first down has the value −{:.2f}, a pass −{:.2f}, and a punt, which ends the "
        "drive, −{:.2f}".format(*lost[:3]),
        f"with exact advantages or targets at most {rental:.0%} of them is left",
        f"by at least {min(own[1] for own in biases):,.0f} dollars in mid-training and "
        f"{min(own[-1] for own in biases):,.0f} at the end, where the optimum is "
        f"{runs['CarRental-v0', 'dqn'][0]['optimum']:.0f}",
        f"A2C's critic is about {min(low):.0f} dollars too low",
        f"with exact advantages or targets at most {combat:.0%} of a gap is left",
        "PPO's gaps are {:.3f}, {:.3f} and {:.3f} points instead of 0.479".format(*ppo),
        "leaves the punt ({:.3f}, {:.3f}, {:.3f})".format(*a2c),
    ))  # fmt: skip


def test_the_page_has_the_gaps_of_the_goals_that_are_kept() -> None:
    pytest.importorskip("stable_baselines3")
    script = importlib.import_module("learning")
    from solvent.training.algorithms import tuned

    results = json.loads((DOCS / "evidence" / "learning-goals.json").read_text(encoding="utf-8"))
    page = (DOCS / "experiments.md").read_text(encoding="utf-8")
    combat, *others = script.TRIED
    tables = [[line for env in each for line in script.tried_lines(results, env)]
              for each in ([combat], others)]  # fmt: skip
    for rows in (script.goal_lines(results), *tables):
        assert "|\n" + "\n".join(rows) + "\n\n" in page
    reached = set()
    for env, goal in script.GOALS.items():
        assert results[env]["tried"].keys() == script.TRIED[env].keys()
        # Where a learner was chosen by these seeds, fresh ones decide.
        known = results[env].get("fresh", results[env]["tried"])
        if min(map(np.mean, known.values())) <= goal:
            reached.add(env)
    assert reached == {"solvent/FootballDrive-v0"}, "the page says which goals are reached"
    starts, drive = (results[f"solvent/{env}-v0"] for env in ("FFCombatRandom", "FootballDrive"))
    own, seen, levels = starts["microscope"], drive["microscope"], "tuned settings, levels observed"
    assert (own["gap"], own["worst"]) == (starts["tried"][levels][0], starts["worst"][levels][0])
    assert seen["gap"] == drive["tried"][levels][0]
    tuned_gaps, _, *falling = drive["tried"].values()
    assert max(map(max, falling)) < min(tuned_gaps)
    found = results[combat]
    assert (found["tuned"], found["changed"]) == (tuned("ppo", combat), script.CHANGED[combat])
    assert found["before"].keys() == found["after"].keys() == found["levels"].keys()
    assert max(map(int, found["after"])) < 2**24, "a seed that settings were chosen with"
    assert found["microscope"]["saw"] == ["exact advantages"]

    means = [np.mean(gaps) for gaps in drive["tried"].values()]
    (few, fresh), (long, fresh_drive) = (
        next(iter(one["fresh"].items())) for one in (starts, drive)
    )
    each, each_drive = (", ".join(f"{gap:.4f}" for gap in gaps) for gaps in (fresh, fresh_drive))
    sampled, faster = drive["sampled"], found["tried"]["the same, learning rate 0.004"]
    check_sentences("experiments.md", (
        "a mean of {with_exact_advantages:.5f} instead of {gap:.4f} and "
        "{worst_with_exact_advantages:.3f} from the worst start instead of {worst:.3f}"
        .format(**own),
        f"three times the steps it is {np.mean(starts['tried'][few]):.4f} on these seeds. "
        f"Seeds 0 to 2, used for no choice, have {each}, a mean of {np.mean(fresh):.4f}",
        f"levels has a gap of {seen['gap']:.4f}, and of {seen['with_exact_advantages']:.4f}",
        f"leave {means[3]:.4f} with levels and {means[2]:.4f} without",
        f"a mean of {np.mean(drive['tried'][long]):.4f}. Seeds 0 to 2, used for no choice, have "
        f"{each_drive}, a mean of {np.mean(fresh_drive):.4f}: the goal is reached",
        f"with 30 million steps leave {drive['short_rollouts']:.4f}",
        f"with gaps of {min(sampled):.3f} to {max(sampled):.3f}",
        f"a mean of {np.mean(faster[:3]):.4f} on the first three seeds and of "
        f"{np.mean(faster):.4f} on all seven",
    ))  # fmt: skip


def test_the_choice_that_costs_most_from_random_starts_is_between_two_that_are_plain() -> None:
    table = compile_game(
        FightingFantasy(skill_difference=3, stamina=[2, 3], opponent_stamina=2, luck=8)
    )
    values = solve(table).action_values
    keep, test = (
        {stamina: values[table.row_start[table.index[Combat(3, stamina, 2, 8, "lost")]] + action]
         for stamina in (2, 3)}
        for action in (0, 1)
    )  # fmt: skip
    assert keep[2] == 0 < test[2]
    assert f"costs {keep[3] - test[3]:.3f}" in (DOCS / "experiments.md").read_text("utf-8")


@pytest.mark.slow
def test_exact_advantages_leave_nothing_of_the_gap_in_combat() -> None:
    """The changed settings lose less than the tuned ones, and estimation is what they lose by."""
    pytest.importorskip("stable_baselines3")
    script = importlib.import_module("learning")
    found = script.pursue(Console(quiet=True), "solvent/FFCombat-v0", [10], 500_000)
    assert found["after"]["10"][0] < found["before"]["10"][0] / 2
    assert found["microscope"]["gap"] == found["after"]["10"][0]
    assert found["microscope"]["with_exact_advantages"] < 1e-4


# Methods that only scripts use: models learned from samples, and classification trees


def test_a_learned_model_has_the_frequencies_of_its_samples() -> None:
    game = compile_game(Greed(5, 3))
    counts = learned_model(game, 5).probability * 5
    np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
    lost = {}
    for samples in (3, 300):
        found = solve(learned_model(game, samples)).policies
        policies = [TabularPolicy.of(game, found[p].probabilities, player=p) for p in (0, 1)]
        lost[samples] = np.mean([exploitability(game, one) for one in policies])
    assert lost[300] < min(0.02, lost[3] / 3)


def test_a_split_of_a_tree_stays_if_and_only_if_it_saves_its_price() -> None:
    x, y = np.indices((30, 30)).reshape(2, -1)
    classes = np.digitize(x, (10, 20))
    # The corner of 9 points takes two splits; always answering 0 or 1 misclassifies 600.
    classes[(x >= 27) & (y >= 27)] = 3
    features = np.stack((x, y), axis=1)
    trees = [fit_tree(features, classes, ("x", "y"), cp=price / 600) for price in (4.4, 4.6)]
    assert [tree.n_leaves for tree in trees] == [5, 3]
    assert trees[1].accuracy(features, classes) == pytest.approx(1 - 9 / 900)
    points = np.array([[0, 5], [9, 0], [10, 29], [19, 1], [20, 1], [400, -3]])
    assert trees[1].predict(points).tolist() == [0, 0, 1, 1, 2, 2]
