"""Algorithms of anyone, and the main job: everything scored, the same table after interruptions."""

import csv
import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import own_algorithms
import pytest
from interruptions import stopped
from refusals import assert_refused

from solvent.baselines.gate import tabulated
from solvent.benchmark.algorithms import (
    Budget,
    MakeEnv,
    Run,
    RunCallback,
    as_algorithm,
    find_algorithm,
    perform,
)
from solvent.benchmark.bench import bench
from solvent.benchmark.policies import (
    Learned,
    best_constant,
    figures_of_run,
    learned_policies,
    run_policies,
    task_record,
)
from solvent.benchmark.records import (
    BenchRecord,
    TaskRecord,
    read_bench,
    write_results,
)
from solvent.benchmark.run_folder import (
    OPPONENT,
    STARTS,
    RunFolder,
    saw_solution,
    seen_of_solution,
)
from solvent.benchmark.suites import Setting, Suite, Task, task_game
from solvent.benchmark.summary import as_csv, as_json, summarize
from solvent.benchmark.tabular import FICTITIOUS_PLAY, REGRET_MATCHING, TABULAR_MIRROR_DESCENT
from solvent.exact import ImproperGameError, StoreError, load_policy, save_policy, score, solve
from solvent.exact.learning_curve import read_curve
from solvent.model import TabularPolicy
from solvent.report.page import render

# The main job: everything scored, and the same table however often it was interrupted


ENV = "solvent/FFCombat-v0"
GREED_ID = "solvent/GreedSmall-v0"
SMALL = {"stamina": 4, "opponent_stamina": [3, 5], "luck": [0, 3]}
COMBAT = Task(environment=ENV, env_kwargs=SMALL, timesteps=500, name="combat")
SEEDED = replace(COMBAT, seeds={"walk": 2, "fails": 2})
NONTERMINATING = Task(
    environment="FrozenLake-v1",
    env_kwargs={"desc": ["SF", "FF"]},
    timesteps=500,
    name="nonterminating",
)


def without_times(bench: BenchRecord) -> tuple[TaskRecord, ...]:
    return tuple(
        replace(item, agents=tuple(replace(agent, cpu_seconds=0.0) for agent in item.agents))
        for item in bench.tasks
    )


def lines_of(log: str) -> list[str]:
    """What a bench has told, without the clock."""
    assert all(re.match(r"\[\d:\d\d:\d\d\] ", line) for line in log.splitlines())
    return [line.partition("] ")[2] for line in log.splitlines()]


def test_results_are_the_scores_of_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [Task(environment=ENV, timesteps=2_500, seeds={"q_learning": 2})]
    returned = bench(tmp_path, tasks, workers=1)
    capsys.readouterr()
    assert read_bench(tmp_path) == returned
    [item] = json.loads((tmp_path / "results.json").read_text())["tasks"]
    game = task_game(Task(environment=ENV)).table
    solution = solve(game)
    assert (item["env"], item["game"], item["optimum"]) == (ENV, game.info.name, solution.value)
    assert item["bracket"][0] <= item["optimum"] <= item["bracket"][1]
    assert [agent["name"] for agent in item["agents"]] == ["q_learning 0", "q_learning 1"]
    for agent in item["agents"]:
        folder = tmp_path / agent["folder"]
        for prefix, file in (("", "policy.npz"), ("mode_", "policy_mode.npz")):
            found = score(game, load_policy(folder / file, game), solution)
            assert {
                "value": agent[f"{prefix}value"],
                "optimality_gap": agent[f"{prefix}gap"],
                "normalized": agent[f"{prefix}normalized"],
                "worst_start_gap": agent[f"{prefix}worst_start_gap"],
            } == pytest.approx(
                {
                    name: getattr(found, name)
                    for name in ("value", "optimality_gap", "normalized", "worst_start_gap")
                },
                abs=1e-12,
            )
        assert read_curve(folder / "curve.csv")[-1].timesteps == agent["timesteps"]
    baselines = {entry["name"]: entry for entry in item["baselines"]}
    assert baselines["uniform"]["value"] == pytest.approx(0.5889, abs=5e-5)
    assert baselines["uniform"]["normalized"] == 0
    assert baselines["optimal"]["gap"] == pytest.approx(0, abs=1e-12)

    # Called again, it only reads.
    times = {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}
    assert bench(tmp_path, tasks, workers=1) == returned
    assert sum(line.startswith("kept ") for line in lines_of(capsys.readouterr().out)) == 2
    assert times == {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}


@pytest.mark.slow
def test_killed_halfway_it_ends_with_the_same_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = f"Task(environment={ENV!r}, timesteps=60_000, seeds=dict(ppo=2, dqn=1))"
    tasks, out = [eval(call)], tmp_path / "killed"
    whole = bench(tmp_path / "whole", tasks, progress=False)
    log, _ = stopped(
        "from solvent.benchmark.suites import Task\n"
        "from solvent.benchmark.bench import bench\n"
        f"bench({str(out)!r}, [{call}])\n",
        lambda: any(len(f.read_text().splitlines()) > 8 for f in out.rglob("curve.csv")),
    )
    assert not (out / "results.json").exists(), "it ended before it could be killed"
    told = [line.split()[0] for line in lines_of(log)]
    assert told[0] == "training"
    assert "started" in told
    assert "kept" not in told
    assert list(out.rglob("checkpoint.npz"))
    # The workers notice that their parent is gone, and write nothing any more.
    before, deadline = {}, time.monotonic() + 300
    while before != (now := {f: f.read_bytes() for f in out.rglob("curve.csv")}):
        assert time.monotonic() < deadline, "a worker lives on"
        before = now
        time.sleep(1)
    capsys.readouterr()
    assert without_times(bench(out, tasks)) == without_times(whole)
    assert any(line.startswith("resumed") for line in lines_of(capsys.readouterr().out))


def test_an_interrupted_bench_does_not_wait_for_a_run_that_reports_nothing(tmp_path: Path) -> None:
    _, told = stopped(
        "import signal\n"
        "from solvent.benchmark.bench import bench\n"
        "from solvent.benchmark.suites import Task\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"task = Task(environment={GREED_ID!r}, timesteps=500)\n"
        f"bench({str(tmp_path)!r}, [task], {{'own': {own_algorithms.__file__ + ':sleeps'!r}}})\n",
        lambda: any(tmp_path.rglob("asleep.txt")),
        signal.SIGINT,
    )
    assert told.endswith("KeyboardInterrupt\n")


def test_a_failure_costs_nobody_else_and_is_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception, a script that leaves, a process that dies, a damaged folder, and no optimum."""
    damaged = tmp_path / SEEDED.name / "damaged-0"
    damaged.mkdir(parents=True)
    (damaged / "run.json").write_text("damaged")
    algorithms = {
        "dies": own_algorithms.dies,
        "walk": own_algorithms.walk,
        "fails": own_algorithms.fails,
        "leaves": own_algorithms.leaves,
        "goes_on": f"{own_algorithms.__file__}:goes_on",
        "damaged": own_algorithms.walk,
    }
    first = bench(tmp_path, [NONTERMINATING, SEEDED], algorithms, workers=1)
    told = lines_of(capsys.readouterr().out)
    assert read_bench(tmp_path) == first
    [task] = first.tasks
    assert (task.name, [agent.name for agent in task.agents]) == ("combat", ["walk 0", "walk 1"])
    errors = {(one.task, one.algorithm, one.seed): one.error for one in first.failures}
    for algorithm, seed, message in (
        ("fails", 0, "RuntimeError: no seed 0"),
        ("fails", 1, "RuntimeError: no seed 1"),
        ("leaves", 0, "SystemExit: no data"),
        ("dies", 0, "its process died, as one does that runs out of memory"),
        ("goes_on", 0, "RuntimeError: halfway"),
    ):
        assert errors.pop(("combat", algorithm, seed)) == message
        assert f"failed    combat {algorithm} {seed}: {message}" in told
    assert re.match(r"StoreError: .*run\.json: not the rec", errors.pop(("combat", "damaged", 0)))
    assert {name for name, *_ in errors} == {NONTERMINATING.name}
    assert len(errors) == 6
    assert all(error.startswith("ImproperGameError: ") for error in errors.values())
    assert any(line.startswith("failed    nonterminating: no optimum is proved") for line in told)
    assert not list((tmp_path / NONTERMINATING.name).rglob("own"))
    assert SEEDED.name in render(tmp_path)
    with pytest.raises(ImproperGameError):
        bench(tmp_path / "alone", [NONTERMINATING], {"dies": own_algorithms.dies}, progress=False)

    # What died could not clear its folder, and is not mended.
    mended = algorithms | dict.fromkeys(("fails", "leaves"), own_algorithms.walk)
    del mended["dies"]
    again = bench(tmp_path, [SEEDED], mended, workers=1, progress=False)
    agents = again.tasks[0].agents
    assert [agent.name for agent in agents] == [
        "walk 0", "walk 1", "fails 0", "fails 1", "leaves 0", "goes_on 0",
    ]  # fmt: skip
    assert agents[:2] == task.agents
    # A hyperparameter without a name is the same in every process.
    assert "Network object" in agents[-1].hyperparameters["network"]
    assert agents[-1].hyperparameters["by"] == {"(1, 2)": 3}
    assert [one.algorithm for one in again.failures] == ["damaged"]


def test_of_a_suite_an_algorithm_does_what_it_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = Task(environment=GREED_ID, self_play=True, timesteps=300)
    algorithms = {"walk": own_algorithms.walk}
    suite = Suite("mine", "My own", (SEEDED, both))
    found = bench(tmp_path / "suite", suite, algorithms, workers=1)
    assert [len(task.agents) for task in found.tasks] == [2, 0]
    assert (found.suite.name, len(found.suite.hash)) == ("mine", 64)
    told = lines_of(capsys.readouterr().out)
    assert "left out  GreedSmall-v0-self-play walk: it does not learn by self-play" in told
    again = bench(tmp_path / "suite", suite, algorithms, seeds=1, workers=1)
    assert [len(task.agents) for task in again.tasks] == [1, 0]
    assert bench(tmp_path / "suite", suite, algorithms, workers=1, progress=False) == found
    text = render(tmp_path / "suite")
    assert all(f'id="{task.name}"' in text and task.title in text for task in found.tasks)
    assert "GreedSmall-v0 by self-play" in text
    path = tmp_path / "suite" / "results.json"
    path.write_text(path.read_text().replace(found.tasks[0].model_hash, "ab" * 32))
    with pytest.raises(StoreError, match="is of the model abababababab"):
        render(tmp_path / "suite")
    path.write_text("somebody else's")
    assert_refused((
        (lambda: bench(tmp_path / "suite", suite, algorithms, workers=1, progress=False),
         r"results.json: not JSON, .*; remove it, or name another"),
        (lambda: bench(tmp_path / "none", Suite("mine", "", (both,)), algorithms),
         "there is nothing to do"),
    ))  # fmt: skip
    assert path.read_text() == "somebody else's"


def test_what_cannot_be_done_is_refused_at_once(tmp_path: Path) -> None:
    def inner(make: Any, seed: int, budget: Any, callback: Any) -> None:
        raise AssertionError

    walk, bare = own_algorithms.walk, Task(environment=ENV)
    unknown = Task(environment="solvent/FF-v0", seeds={"ppo": 1})
    cases: list[tuple[Task, Any, str]] = [
        (replace(bare, seeds={"pop": 1}), None, "algorithm is 'pop'"),
        (unknown, None, "no game or environment 'solvent/FF-v0'"),
        (SEEDED, {"mine": inner}, r"mine cannot be sent .*file\.py:mine"),
        (bare, {"walk": walk}, "task FFCombat-v0 has no budget"),
        (SEEDED, {"../x": walk}, "the name of an algorithm is"),
    ]
    assert_refused(cases, lambda task, entrants: bench(tmp_path, [task], entrants, progress=False))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_cluster_does_what_processes_do(tmp_path: Path) -> None:
    from ray_machines import Machines

    brief = replace(SEEDED, seeds={"q_learning": 2})
    here = bench(tmp_path / "here", [brief], progress=False)
    machines = Machines()
    try:
        machines.add()
        there = bench(tmp_path / "there", [brief], on=machines.address, progress=False)
        assert without_times(there) == without_times(here)
        assert read_bench(tmp_path / "there") == there
        # What is finished is read back, not done again.
        assert bench(tmp_path / "there", [brief], on=machines.address, progress=False) == there
    finally:
        machines.close()


# Algorithms of anyone: found by name or place, asked for what they can do, scored exactly


FILE = Path(own_algorithms.__file__)
GREED = Task(environment=GREED_ID, timesteps=500)
BOTH = Task(environment=GREED_ID, self_play=True, timesteps=500)
SWEPT = replace(BOTH, env_kwargs={"limit": 9, "sides": 4}, timesteps=20_000)
SWEEPING = {
    "fictitious_play": FICTITIOUS_PLAY,
    "regret_matching": REGRET_MATCHING,
    "tabular_mirror_descent": TABULAR_MIRROR_DESCENT,
}
CLIFF = Task(environment="CliffWalking-v1", timesteps=500)


def run_of(task: Task, source: Any, seed: int = 0) -> Run:
    name = source if isinstance(source, str) else getattr(source, "__name__", "mine")
    return Run(task, name, source, seed)


def test_an_algorithm_is_found_where_it_is() -> None:
    for place, hyperparameters, kinds in (
        (f"{FILE}:walk", {"share": 0.5}, (True, False, False)),
        ("own_algorithms:walk", {"share": 0.5}, (True, False, False)),
        (f"{FILE}:takes_turns", {}, (False, True, False)),
        (f"{FILE}:SWEEPS", {}, (True, False, True)),
    ):
        found = find_algorithm(place)
        assert found.hyperparameters() == hyperparameters
        assert (found.one_seat, found.self_play, found.uses_model) == kinds


def test_a_run_is_recorded_in_full(tmp_path: Path) -> None:
    record = perform(tmp_path, run_of(COMBAT, own_algorithms.walk))
    game = task_game(COMBAT)
    rows = np.tile([0.75, 0.25], (game.table.n_states, 1))
    # What it gives to illegal actions is played as the lowest legal one.
    rows = np.where(game.table.mask[0].all(axis=1)[:, None], rows, game.table.mask[0])
    expected = score(game.table, TabularPolicy.of(game.table, rows), game.solution)
    assert record.value == pytest.approx(expected.value, abs=1e-12)
    assert (record.hyperparameters, record.timesteps) == ({"share": 0.5}, 500)
    assert record.system["versions"]["solvent"]
    assert record.system["hardware"]["processors"] >= 1
    [point] = read_curve(tmp_path / record.folder / "curve.csv")
    assert (point.timesteps, point.gap) == (500, record.gap)
    longer = replace(COMBAT, timesteps=501)
    with pytest.raises(ValueError, match=r"holds another training: its task\['timesteps'\] is 500"):
        perform(tmp_path, run_of(longer, own_algorithms.walk))


@pytest.mark.parametrize(
    ("task", "source"),
    [
        (BOTH, own_algorithms.takes_turns),
        (BOTH, "minimax_q"),
        (GREED, "q_learning"),
        (replace(GREED, env_kwargs={"seat": 1}), "q_learning"),
        (GREED, own_algorithms.SWEEPS),
        (CLIFF, "q_learning"),
    ],
)
def test_every_kind_of_task_is_scored(task: Task, source: Any, tmp_path: Path) -> None:
    record, (optimum, lower, upper) = (
        perform(tmp_path, run_of(task, source)),
        task_game(task).optimum,
    )
    assert (record.exploitability is not None) == task.self_play
    assert record.gap >= -1e-12
    assert lower <= optimum <= upper
    if not task.self_play:
        assert record.mode_gap == pytest.approx(optimum - record.mode_value, abs=1e-9)
    assert record.uses_model == (source is own_algorithms.SWEEPS)


@pytest.mark.parametrize("name", SWEEPING)
def test_sweeps_over_the_table_take_a_step_for_each_state(name: str, tmp_path: Path) -> None:
    game = task_game(SWEPT)
    states = int((~game.table.terminal).sum())
    record = perform(tmp_path, run_of(SWEPT, SWEEPING[name]))
    assert record.uses_model
    assert record.timesteps == 20_000 // states * states
    curve = read_curve(tmp_path / record.folder / "curve.csv")
    assert len(curve) == 20
    assert all(point.timesteps % states == 0 for point in curve)
    uniform = [TabularPolicy.uniform(game.table, player=seat) for seat in (0, 1)]
    both = [Learned(one, one) for one in uniform]
    assert record.gap < figures_of_run(game, both)["gap"] / 20
    assert SWEEPING[name].refusal(task_game(replace(SWEPT, timesteps=states - 1))) == (
        f"a sweep takes {states:,} timesteps; the budget has {states - 1:,}"
    )
    assert SWEEPING[name].refusal(task_game(GREED)) == "it learns by self-play only"


def test_the_best_constant_policy_is_found_by_trying_all() -> None:
    for task in (COMBAT, GREED, BOTH):
        game = task_game(task)
        table, found = game.table, best_constant(game.table, game.solution, game.seats)
        gaps = []
        for seat in game.seats:
            every = []
            for action in range(table.mask[seat].shape[1]):
                # Illegal actions count for the lowest legal one, as environments play them.
                one, _ = tabulated(
                    table,
                    lambda seen, action=action: np.full(len(seen), action),
                    table.observation[0],
                    player=seat,
                )
                every.append(score(table, one, game.solution).optimality_gap)
            gaps.append(min(every))
        assert found.gap == pytest.approx(np.mean(gaps), abs=1e-12)


def test_what_an_algorithm_keeps_is_gone_on_with_also_when_all_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(replace(COMBAT, timesteps=450), own_algorithms.checkpoints)
    with pytest.raises(KeyboardInterrupt):
        perform(tmp_path, run)
    monkeypatch.setattr("solvent.benchmark.algorithms.save_policy", own_algorithms.interrupts)
    with pytest.raises(KeyboardInterrupt):
        perform(tmp_path, run)
    monkeypatch.undo()
    [*_, before] = read_curve(tmp_path / run.folder / "curve.csv")
    record = perform(tmp_path, run)
    curve = read_curve(tmp_path / run.folder / "curve.csv")
    assert [point.timesteps for point in curve] == [100, 200, 300, 400, 500]
    assert record.timesteps == before.timesteps == 500
    assert all(one.seconds <= two.seconds for one, two in pairwise([*curve, curve[-1]]))
    assert curve[-1].seconds >= before.seconds


def test_environments_are_those_of_the_task() -> None:
    one, two, cliff = (
        MakeEnv(task_game(task), as_algorithm(source, "mine"))
        for task, source in (
            (GREED, own_algorithms.walk),
            (BOTH, own_algorithms.takes_turns),
            (CLIFF, own_algorithms.SWEEPS),
        )
    )
    assert one(observation="index").observation_space.n == task_game(GREED).table.n_states
    assert one.vector(3).num_envs == 3
    assert two.aec().possible_agents
    assert cliff.vector(2).num_envs == 2
    assert cliff().reset(seed=0)[0] is not None
    assert cliff.table.model_hash == task_game(CLIFF).table.model_hash
    assert_refused((
        (lambda: one.table, "says that it uses the model"),
        (two, "is self-play and has"),
        (one.aec, "is for self-play"),
    ))  # fmt: skip


def test_the_callback_tells_and_records(tmp_path: Path) -> None:
    told: list[Any] = []
    game, algorithm = task_game(COMBAT), as_algorithm(own_algorithms.walk, "walk")
    callback = RunCallback(game, algorithm, Budget(1000), tmp_path, "mine", told.append)
    uniform = TabularPolicy.uniform(game.table)
    # A learner is not told how good its policy is.
    assert callback(uniform, 400) is None
    [point] = read_curve(tmp_path / "curve.csv")
    callback.progress(600)
    callback.note(rate=0.1)
    assert callback.hyperparameters == {"share": 0.5, "rate": 0.1}
    assert [(m.timesteps, m.total, m.evaluation) for m in told] == [
        (400, 1000, point), (600, 1000, point),
    ]  # fmt: skip
    assert callback.folder.is_dir()
    with pytest.raises(ValueError, match="timesteps is -1"):
        callback(uniform, -1)


NO_ALGORITHMS: list[tuple[Any, str]] = [
    ("pop", "algorithm is 'pop'"),
    ("missing.py:walk", r"missing\.py: there is no such file"),
    (f"{FILE}:none", "the algorithm .* cannot be loaded: AttributeError"),
    (f"{FILE}", "for one function of the file"),
    (f"{FILE}:FILE_", "cannot be loaded"),
    ("own_algorithms:np", "allowed are a function of make, seed, budget, callback"),
    ("own_algorithms:Algorithm", "allowed are a function"),
    (lambda make, seed: None, "the algorithm mine: an algorithm is a function of make"),
    (lambda make, seed, budget, callback, rate: None, "parameters with defaults"),
]
NO_POLICIES: list[tuple[Any, str]] = [
    (3, "returned 3; allowed are a TabularPolicy, an array"),
    (lambda seen: np.full(len(seen), 9), r"takes an action in state .*: 9; there are 2"),
    (lambda seen: np.zeros((len(seen), 2)), "gives probabilities that sum to 0, not to 1"),
    (lambda seen: np.zeros((len(seen), 3)), r"expected are probabilities of shape"),
    (np.ones((3, 2)), "has shape"),
]
NO_TASKS: list[tuple[Task, str]] = [
    (Task(environment="solvent/FF-v0"), "task FF-v0: no game or environment 'solvent/FF-v0'"),
    (Task(environment="solvent/FootballHalf-v0"), "allowed are those that sample a table"),
    (Task(environment=ENV, self_play=True), "is a game for one"),
    (Task(environment="FrozenLake-v1", self_play=True), "self-play needs a game for two"),
    (Task(environment="Blackjack-v1"), "has no P"),
    (Task(environment=ENV, env_kwargs={"opponents": 1}), "unexpected keyword argument 'opponents'"),
    # A file is not to ask for a billion environments.
    (Task(environment=ENV, env_kwargs={"num_envs": 10**9}),
     "multiple values for argument 'num_envs'"),
    (Task(environment=GREED_ID, env_kwargs={"seat": "random"}), "seat is 'random'"),
    (Task(environment="my_game.py:Mine"), "environment is 'my_game.py:Mine'.*registered names"),
    (Task(environment="nim"), "environment is 'nim'.*solvent/Nim-v0"),
]  # fmt: skip


def test_what_is_no_algorithm_no_policy_and_no_task_is_refused(tmp_path: Path) -> None:
    def algorithm(given: Any) -> None:
        find_algorithm(given) if isinstance(given, str) else as_algorithm(given, "mine")

    greed, combat = task_game(GREED), task_game(COMBAT)
    # The opponent is folded into chance, so that a policy of its seat would have no gap.
    for name in ("policy.npz", "policy_mode.npz"):
        save_policy(tmp_path / name, TabularPolicy.uniform(greed.table, player=1))
    run = Run(COMBAT, "ppo", "ppo", 0, Setting({"exploring_starts": 0.5}))
    for check, cases in (
        (algorithm, NO_ALGORITHMS),
        (partial(learned_policies, combat), NO_POLICIES),
        (task_game, NO_TASKS),
        (partial(perform, tmp_path), [(run, "exploring_starts is no setting of a benchmark")]),
        (partial(run_policies, tmp_path), [(greed, "is a policy of player 1, not of 0")]),
    ):
        assert_refused(cases, check)


# Whether a learner saw the solution is computed from the record of its run

ON_GREED: dict[str, Any] = {
    "environment": "solvent/Greed-v0",
    "env_kwargs": {},
    "stakes": 0.0,
}


def test_what_was_seen_is_read_off_the_record() -> None:
    """Rows of settings, among them those of version 0.1, which named no weights."""
    rows: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({}, ()),
        ({"stakes": 0.0}, ()),
        ({"stakes": 0.5}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "importance"}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "uniform"}, ()),
        ({"stakes": 0.5, "start_weights": "of a later version"}, (STARTS,)),
        (ON_GREED, (OPPONENT,)),
        (ON_GREED | {"env_kwargs": {"opponent": "uniform"}}, ()),
        (
            ON_GREED | {"env_kwargs": {"opponent": {"uniform": 1, "optimal": 1}}},
            (OPPONENT,),
        ),
        (ON_GREED | {"env_kwargs": {"opponent": ["optimal"]}}, ()),
        (ON_GREED | {"stakes": 0.5}, (STARTS, OPPONENT)),
        ({"environment": "solvent/Greed-v0", "env_kwargs": {}, "exploring": 0.1}, ()),
        ({"environment": "solvent/FootballHalf-v0", "env_kwargs": {"opponent": "self-play"}}, ()),
        ({"environment": "somebody/Else-v0", "env_kwargs": {"opponent": None}}, ()),
    ]
    for settings, seen in rows:
        assert seen_of_solution(settings) == seen, settings
        assert saw_solution(settings) is bool(seen)


def test_the_record_the_curve_and_every_table_say_what_a_run_was_told(tmp_path: Path) -> None:
    """An algorithm that the solution told where to begin, and that hides it."""
    task = Task(
        environment=ENV,
        env_kwargs={"stamina": 4, "opponent_stamina": 6, "luck": 3},
        timesteps=64,
    )
    run = Run(task, "is_told", own_algorithms.is_told, 0)
    agent = perform(tmp_path, run)
    record = replace(task_record(task_game(task)), agents=(agent,))
    write_results(tmp_path, BenchRecord((record,)))
    assert read_bench(tmp_path).tasks == (record,)
    assert (agent.algorithm, agent.name) == ("is_told+solution", "is_told+solution 0")
    assert json.loads((tmp_path / agent.folder / "run.json").read_text())["saw"] == [STARTS]
    curve = (tmp_path / agent.folder / "curve.csv").read_text()
    assert {row["saw_solution"] for row in csv.DictReader(curve.splitlines())} == {"1"}
    assert perform(tmp_path, run) == agent
    page, summary = render(tmp_path), summarize([record])
    for text in ('data-agent="is_told+solution 0"', "is_told+solution</th>"):
        assert text in page
    for table in (as_csv(summary), as_json(summary)):
        assert "is_told+solution" in table
        assert "is_told" not in table.replace("is_told+solution", "")
    # Results of version 0.2 name no weights, which were those of importance.
    old = replace(agent, algorithm="dqn", name="dqn 0", hyperparameters={"stakes": 0.5})
    write_results(tmp_path, BenchRecord((replace(record, agents=(old,)),)))
    [found] = read_bench(tmp_path).tasks[0].agents
    assert (found.algorithm, found.name) == ("dqn+solution", "dqn+solution 0")


def trains(*trainings: dict[str, Any]) -> Callable[[RunCallback], None]:
    """What an algorithm leaves that trains networks with these settings."""

    def leave(callback: RunCallback) -> None:
        for number, training in enumerate(trainings):
            request = {"environment": GREED_ID, "env_kwargs": {"opponent": "uniform"}} | training
            folder = RunFolder(callback.folder / str(number), request)
            folder.folder.mkdir()
            folder.write({"timesteps": 1, "cpu_seconds": 0.0})

    return leave


def plays(vector: bool, **arguments: Any) -> Callable[[RunCallback], None]:
    """What an algorithm does that makes an environment, or several, with these arguments."""
    return lambda callback: (partial(callback.make.vector, 2) if vector else callback.make)(
        **arguments
    )


def test_a_run_says_what_its_trainings_and_its_environments_were_given(tmp_path: Path) -> None:
    """The opponent of the task, here the uniform one, is the same for everybody."""
    uniform, optimal = {"opponent": "uniform"}, {"opponent": "optimal"}
    rows: list[tuple[Callable[[RunCallback], None], tuple[str, ...]]] = [
        (trains({"stakes": 0.5}, {"stakes": 0.0}), (STARTS,)),
        (trains({"env_kwargs": optimal}), (OPPONENT,)),
        (trains({"env_kwargs": {"opponent": "one.npz"}} | optimal), (OPPONENT,)),
        (trains({"env_kwargs": uniform} | optimal), ()),
        (trains({"env_kwargs": uniform}, {"stakes": 0.5, "start_weights": "uniform"}), ()),
        *((plays(vector, **arguments), seen) for vector in (False, True) for arguments, seen in (
            ({}, ()),
            (uniform, ()),
            ({"opponent": "stand-at-80"}, ()),
            (optimal, (OPPONENT,)),
            ({"opponent": None}, (OPPONENT,)),
            ({"opponent": {"uniform": 1, "optimal": 1}}, (OPPONENT,)),
        )),
    ]  # fmt: skip
    task = Task(environment=GREED_ID, env_kwargs={"limit": 5, "sides": 2} | uniform, timesteps=64)
    walk = as_algorithm(own_algorithms.walk, "walk")
    for number, (does, seen) in enumerate(rows):
        callback = RunCallback(task_game(task), walk, Budget(64), tmp_path / str(number), "mine")
        does(callback)
        assert seen_of_solution(callback.settings) == seen, number
