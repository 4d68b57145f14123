"""A submission is what it says, or is refused with the reason, and its runs can be done again."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bad_files import rewrite_json
from commands import said
from refusals import assert_refused
from submitted import SUITE, WORDS, bench_here

from solvent.benchmark.bench import bench
from solvent.benchmark.policies import UNIT, GreedyActions, Learned, SampledShares
from solvent.benchmark.records import read_bench, write_results
from solvent.benchmark.submissions import (
    LARGEST_FILE,
    SAME,
    Card,
    check_submission,
    pack_submission,
    read_card,
    read_submission,
    train_again,
    write_card,
)
from solvent.benchmark.suites import Setting, Suite, find_suite, suite_seeds, task_game
from solvent.exact import ArraySchema, Schema, StoreError, read_archive, save_policy, write_archive
from solvent.model import TabularPolicy

COMBAT, GREED = (task.name for task in SUITE.tasks)


@pytest.fixture
def copy(submission: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(submission, tmp_path / "submission"))


def test_what_is_packed_is_what_was_learned(bench_folder: Path, submission: Path) -> None:
    stated, checked = read_submission(submission), check_submission(submission, SUITE)
    assert stated.card.seeds == tuple(range(10))
    assert stated.card.algorithm == "steady"
    bench = read_bench(bench_folder)
    for own, claimed, found in zip(bench.tasks, stated.tasks, checked.tasks, strict=True):
        learned = [agent for agent in own.agents if agent.algorithm == "steady"]
        assert found.optimum == pytest.approx(own.optimum, abs=1e-12)
        for one, two, three in zip(learned, claimed.agents, found.agents, strict=True):
            # The greedy policy is the same; the sampled one of self-play is rounded.
            judged = one.value if own.for_two else one.mode_value
            assert two.value == pytest.approx(judged, abs=1e-4)
            assert (two.value == judged) is not own.for_two
            assert own.for_two or two.mode_value == two.value
            assert (two.setting, two.hyperparameters) == (Setting(tuning=stated.card.tuning), {})
            assert three.value == pytest.approx(two.value, abs=1e-12)
            assert (three.timesteps, three.cpu_seconds) == (one.timesteps, one.cpu_seconds)


def test_packing_keeps_a_distribution_near_to_what_it_was_and_every_greedy_action() -> None:
    game = task_game(SUITE.tasks[1]).table
    mixed = np.random.default_rng(0).random(game.mask[1].shape) ** 6 * game.mask[1]
    mixed /= np.maximum(mixed.sum(1, keepdims=True), 1e-300)
    for probabilities in (mixed, TabularPolicy.uniform(game, player=1).probabilities):
        policy = TabularPolicy.of(game, probabilities, player=1)
        learned = Learned(policy, policy.mode())
        shares, actions = SampledShares(game, 1), GreedyActions(game, 1)
        back = shares.unpacked(shares.packed(learned)).sampled
        assert np.abs(back.probabilities - policy.probabilities).max() < 1 / UNIT
        greedy = actions.unpacked(actions.packed(learned))
        for found in (greedy.sampled, greedy.mode):
            assert np.array_equal(found.probabilities, policy.mode().probabilities)


POLICIES, SELF_PLAY = (f"policies/{name}.npz" for name in (COMBAT, GREED))


@contextmanager
def contents(folder: Path) -> Iterator[Any]:
    """What a submission holds, to be changed: its card, its claims and its policies.

    The checksum is made anew, as anybody can.
    """
    read = partial(read_archive, schema=Schema("policies", {}, {"*": ArraySchema()}))
    (header, arrays), (header_of_two, shares) = map(read, (folder / POLICIES, folder / SELF_PLAY))
    card, claims = (json.loads((folder / f"{n}.json").read_text()) for n in ("card", "results"))
    tasks = claims["tasks"]
    held = SimpleNamespace(header=header, arrays=arrays, card=card, claims=claims, tasks=tasks)
    held.shares = shares
    held.agent = tasks[0]["agents"][4]
    yield held
    write_archive(folder / POLICIES, header, arrays)
    write_archive(folder / SELF_PLAY, header_of_two, shares)
    for name, content in (("card", card), ("results", claims)):
        (folder / f"{name}.json").write_text(json.dumps(content))


def linked(folder: Path) -> None:
    elsewhere = (folder / POLICIES).rename(folder.parent / "elsewhere.npz")
    (folder / POLICIES).symlink_to(elsewhere)


# What was done to the files of a submission, and what is said of it.
FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a missing policy": (
        lambda f: (f / POLICIES).unlink(), f"{COMBAT}.npz: cannot be read (No such file"
    ),
    "a link": (linked, f"'{POLICIES}' is no regular file"),
    "a link to a folder": (
        lambda f: (f / "policies").symlink_to((f / "policies").rename(f.parent / "elsewhere")),
        "'policies' is no regular file or folder",
    ),
    "a pipe": (
        lambda f: ((f / "card.json").unlink(), os.mkfifo(f / "card.json")),
        "card.json: cannot be read",
    ),
    "no card": (lambda f: (f / "card.json").unlink(), "card.json: cannot be read"),
    "claims that would fill the memory": (
        lambda f: os.truncate(f / "results.json", 2**25 + 1),
        "results.json: cannot be read (larger than 33,554,432 bytes)",
    ),
    "a large file": (
        lambda f: os.truncate(f / POLICIES, LARGEST_FILE + 1),
        ".npz' has more than 67,108,864 bytes",
    ),
    "a missing task": (
        lambda f: (
            rewrite_json(f / "results.json", lambda c: c["tasks"].pop()),
            (f / "policies" / f"{GREED}.npz").unlink(),
        ),
        f"with the tasks ['{COMBAT}']; this one is small",
    ),
}  # fmt: skip

# What was done to its contents.
CONTENTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a key that commands a terminal": (
        lambda s: s.agent.update(setting={"\x1b[2J\n": 1}),
        "agents.4.setting.\\x1b[2J\\n is 1; unexpected",
    ),
    "another suite's hash on the card": (
        lambda s: s.card.update(suite_hash="0" * 64),
        "the card says small 000000000000",
    ),
    "another suite": (
        lambda s: (s.card.update(suite_hash="0" * 64), s.claims["suite"].update(hash="0" * 64)),
        "was made for the suite small 000000000000 with the tasks",
    ),
    "a missing seed": (
        lambda s: s.tasks[1]["agents"].pop(3), f"'{GREED}' has the seeds [0, 1, 2, 4"
    ),
    "a seed twice": (
        lambda s: s.tasks[1]["agents"].append(s.tasks[1]["agents"][0]),
        f"'{GREED}' has the seeds",
    ),
    "a run that failed": (
        lambda s: s.claims["failures"].append(
            {"task": COMBAT, "algorithm": "steady", "seed": 10, "error": "x"}),
        "the run of seed 10",
    ),
    "another algorithm": (
        lambda s: s.agent.update(algorithm="ppo"), "seed 4: is of 'ppo', not of steady"
    ),
    "another game": (
        lambda s: s.tasks[0].update(model_hash="0" * 64),
        f"{COMBAT}: is of ('solvent/FFCombat-v0', '0000",
    ),
    "easier terms": (
        lambda s: s.tasks[0]["task"].update(timesteps=10**6), f"{COMBAT}: is of ('solvent/FFC"
    ),
    "another optimum": (
        lambda s: s.tasks[0].update(optimum=0.5), "optimum is stated as 0.5, but computed as"
    ),
    "a greater value": (
        lambda s: s.agent.update(value=s.agent["value"] + 1e-5), "agents.4.value is stated as"
    ),
    "a greater score": (
        lambda s: s.agent.update(mode_normalized=s.agent["mode_normalized"] + 1e-5),
        "mode_normalized is stated as",
    ),
    "a score without bound": (
        lambda s: s.agent.update(normalized=float("inf")), "normalized is stated as inf"
    ),
    "a score that is no number": (
        lambda s: s.agent.update(normalized=float("nan")), "is stated as nan"
    ),
    "a smaller exploitability": (
        lambda s: s.tasks[1]["agents"][0].update(exploitability=[0, 0]),
        "agents.0.exploitability.0 is stated as 0",
    ),
    "no exploitability": (
        lambda s: s.tasks[1]["agents"][0].pop("exploitability"),
        "agents.0.exploitability is stated as None",
    ),
    "more steps than allowed": (
        lambda s: s.agent.update(timesteps=1_000 + 2**15 + 1),
        "seed 4: took 33,769 steps; the suite allows 1,000",
    ),
    "the model, unsaid": (
        lambda s: s.agent.update(uses_model=True),
        "seed 4: uses the model; the card says that no learner did",
    ),
    "the solution, unsaid": (
        lambda s: s.agent.update(
            algorithm="steady+solution",
            hyperparameters={"stakes": 0.5, "start_weights": "importance"}),
        "seed 4: saw the solution; the card says that no learner did",
    ),
    "steps below 0": (lambda s: s.agent.update(timesteps=-1), "timesteps is -1"),
    "time that is no number": (
        lambda s: s.agent.update(cpu_seconds=float("nan")), "cpu_seconds is nan"
    ),
    "probabilities that do not sum to 1": (
        lambda s: s.shares["sampled_1"][4].fill(65_535),
        "seed 4, seat 1: gives shares that sum to",
    ),
    "an illegal action": (
        lambda s: s.arrays["greedy_0"].__setitem__((4, 0), 255),
        "seed 4, seat 0: takes the action 255, which is not legal, in state",
    ),
    "a sampled policy of one seat": (
        lambda s: s.arrays.update(sampled_0=s.arrays["greedy_0"]), "'sampled_0', which no"
    ),
    "a card of an earlier version": (
        lambda s: s.card.pop("settings"),
        "card.json: lacks settings, and cards of earlier versions are not read; pack the runs",
    ),
    "numbers of another type": (
        lambda s: s.arrays.update(greedy_0=s.arrays["greedy_0"].astype(float)),
        "greedy_0 is float64; expected uint8",
    ),
    "a policy of fewer states": (
        lambda s: s.arrays.update(greedy_0=s.arrays["greedy_0"][:, :-1]),
        "greedy_0 has the shape",
    ),
    "a further array": (
        lambda s: s.arrays.update(greedy_1=np.zeros((10, 3), np.uint8)), "'greedy_1', which no"
    ),
    "a missing array": (lambda s: s.shares.pop("sampled_1"), "lacks sampled_1"),
    "policies of other seeds": (
        lambda s: s.header.update(seeds=list(range(1, 11))), "seeds is [1, 2"
    ),
    "policies of another model": (
        lambda s: s.header.update(model_hash="0" * 64), "model_hash is '0000"
    ),
    # Both policies of a run in the place of another's: the figures tell.
    "swapped runs": (
        lambda s: s.arrays.update(
            {name: np.roll(array, 1, axis=0) for name, array in s.arrays.items()}),
        "agents.0.value is stated as",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [*FILES, *CONTENTS])
def test_what_was_tampered_with_is_refused_with_the_reason(copy: Path, name: str) -> None:
    tamper, reason = (FILES | CONTENTS)[name]
    with nullcontext(copy) if name in FILES else contents(copy) as held:
        tamper(held)
    with pytest.raises(StoreError) as caught:
        check_submission(copy, SUITE)
    message = str(caught.value)
    assert reason in message
    assert str(copy) in message
    assert "\n" not in message
    assert len(message) < 500 + len(str(copy))


def test_an_entry_whose_authors_saw_the_solution_is_named_so(
    bench_folder: Path, tmp_path: Path
) -> None:
    pack_submission(
        bench_folder, "steady", tmp_path / "out", SUITE, **WORDS | {"saw_solution": True}
    )
    checked = check_submission(tmp_path / "out", SUITE)
    assert checked.card.algorithm == "steady+solution"
    names = {(agent.algorithm, agent.name) for task in checked.tasks for agent in task.agents}
    assert names == {("steady+solution", f"steady+solution {seed}") for seed in range(10)}


def test_a_suite_of_the_submitters_own_is_not_read(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that begins as an installed suite's and ends as a file's, which lies here."""
    name = "core@1.toml"
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(SUITE_FILE.replace('"small"', f'"{name}"'))
    with contents(copy) as held:
        held.card.update(suite=name)
        held.claims["suite"].update(name=name)
    with pytest.raises(StoreError, match="its budget has to be a number of steps"):
        check_submission(copy)


def test_a_submission_is_written_completely_or_not_at_all(
    bench_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(folder: Path, card: Any) -> None:
        assert (folder / "results.json").exists()
        raise OSError(28, "No space left on device")

    # The last file fails, and neither a part of the folder nor a temporary one stays.
    monkeypatch.setattr("solvent.benchmark.submissions.write_card", fails)
    with pytest.raises(StoreError, match=r"out: cannot be written \(No space left on device\)"):
        pack_submission(bench_folder, "steady", tmp_path / "out", SUITE, **WORDS)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_saw_the_solution_says_so_in_a_submission(
    bench_folder: Path, tmp_path: Path
) -> None:
    """The mark follows from the record of the run, whatever the words say."""
    folder = Path(shutil.copytree(bench_folder, tmp_path / "bench"))
    told = {"stakes": 0.5, "start_weights": "importance", "n_steps": 5}
    rewrite_json(
        folder / "results.json",
        lambda c: [a.update(hyperparameters=told) for t in c["tasks"] for a in t["agents"]],
    )
    out = tmp_path / "out"
    pack_submission(folder, "steady+solution", out, SUITE, **WORDS)
    assert read_card(out).saw_solution
    rewrite_json(out / "card.json", lambda card: card.update(saw_solution=False))
    with pytest.raises(StoreError, match="saw the solution; the card says that no learner did"):
        read_submission(out)


def test_it_is_checked_against_the_suite_that_it_is_for(copy: Path) -> None:
    longer = replace(SUITE.tasks[0], timesteps=2_000)
    rows = (
        (None, "suite is 'small'; allowed are"),
        (Suite("other", SUITE.title, SUITE.tasks), "this one is other"),
        (Suite("small", SUITE.title, (longer, SUITE.tasks[1])), "figures cannot be compared"),
    )
    assert_refused(rows, partial(check_submission, copy), StoreError)


def test_only_whole_results_are_packed(bench_folder: Path, tmp_path: Path) -> None:
    cases: list[tuple[Callable[[Path], Any], str, str, str]] = [
        (lambda f: None, "steady", "..", "is not an empty folder"),
        (lambda f: None, "stady", "out", "algorithm is 'stady'; allowed are steady, wild_one"),
        (lambda f: rewrite_json(f / "results.json", lambda c: c["tasks"][1]["agents"].pop(0)),
         "steady", "out", f"steady has the seeds .* in {GREED}; expected"),
        (lambda f: rewrite_json(f / "results.json", lambda c: c.pop("suite")),
         "steady", "out", "names no suite"),
        # A policy of another game in the place of one of the bench's.
        (lambda f: shutil.copy(f / GREED / "steady-3" / "policy_0.npz",
                               f / COMBAT / "steady-3" / "policy.npz"),
         "steady", "out", "was made for the model"),
        (lambda f: rewrite_json(f / "results.json", lambda c: c["tasks"][1]["agents"][2].update(
            setting={"settings": {"n_steps": 5}, "tuning": ""})),
         "steady", "out", f"{GREED}/steady-2 were made by different settings; train all runs"),
    ]  # fmt: skip
    for number, (damage, algorithm, out, message) in enumerate(cases):
        folder = Path(shutil.copytree(bench_folder, tmp_path / f"bench-{number}"))
        damage(folder)
        with pytest.raises((StoreError, ValueError), match=message):
            pack_submission(folder, algorithm, tmp_path / out, SUITE, **WORDS)


CARD = Card(
    algorithm="ppo+solution",
    suite="core",
    suite_hash="ab" * 32,
    seeds=(0, 1, 5),
    authors="Ä. Author & others",
    code="https://example.org/ppo?a=1#b",
    source="0123456789ab",
    budget="a million steps",
    tuning="30 trials",
    settings={"n_steps": 64, "policy_kwargs": "dict(net_arch=[64])"},
    hardware="one processor",
    uses_model=False,
    saw_solution=True,
    solvent="0.2.0",
)


def test_a_card_comes_back(tmp_path: Path) -> None:
    write_card(tmp_path, CARD)
    assert read_card(tmp_path) == CARD
    write_card(tmp_path, replace(CARD, code=""))
    assert read_card(tmp_path).code == ""
    written = json.loads((tmp_path / "card.json").read_text())
    assert set(written) == {"format", "proved", "stated", *asdict(CARD)}
    assert written.items() >= SAME.items()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "<script>alert(1)</script>"}, "algorithm is '<script>"),
        (
            {"algorithm": "../../etc/passwd"},
            "algorithm is '../../etc/passwd'; expected up to 60 letters",
        ),
        (
            {"algorithm": "ppo"},
            "algorithm is ppo; the name of one that saw the solution ends in +solution",
        ),
        ({"authors": " "}, "authors is ' '; expected a text"),
        ({"authors": ""}, "authors is ''; expected a text"),
        ({"source": "0123456789AB"}, "source is '0123456789AB'; expected 12 hexadecimal digits"),
        ({"suite": "/tmp/own.toml"}, "suite is '/tmp/own.toml'; expected up to 60 letters"),
        ({"suite_hash": "AB" * 32}, "suite_hash is 'ABAB"),
        ({"code": "javascript:alert(1)"}, "code is 'javascript:alert(1)'; expected a link"),
        ({"code": 'https://x" onclick="alert(1)'}, "expected a link"),
        (
            {"authors": "a\nb"},
            "authors is 'a\\nb'; expected a text of up to 300 characters that can be printed",
        ),
        ({"authors": "a\u202eb"}, "characters that can be printed"),
        ({"hardware": "\x1b[2J"}, "characters that can be printed"),
        ({"hardware": "x" * 301}, "characters that can be printed"),
        ({"budget": 7}, "budget is 7; input should be a valid string"),
        ({"uses_model": "no"}, "uses_model is 'no'; input should be a valid boolean"),
        ({"settings": [1]}, "settings is [1]; input should be a"),
        ({"saw_solution": 0}, "saw_solution is 0; input should be a valid boolean"),
        ({"seeds": []}, "seeds is (); expected 1 to 1000 whole numbers"),
        ({"seeds": [0, 10**400]}, "seeds is "),
        ({"seeds": [0, True]}, "seeds.1 is True"),
        ({"seeds": [-1]}, "seeds is (-1,)"),
        ({"seeds": [1, 0]}, "in ascending order"),
        ({"seeds": [1, 1]}, "in ascending order"),
        ({"seeds": list(range(1001))}, "expected 1 to 1000 whole numbers"),
        ({"seeds": {"0": 1}}, "seeds is {'0': 1}"),
        ({"format": 1}, "format is 1; expected 3"),
        (
            {"proved": "That it has learned."},
            "proved is 'That it has learned.'; expected 'The poli",
        ),
        ({"run": "rm -rf"}, "run is 'rm -rf'; unexpected"),
    ],
)
def test_a_card_that_is_not_allowed(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_card(tmp_path, CARD)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(StoreError) as caught:
        read_card(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


SUITE_FILE = """
format = 1
name = "small"
title = "One short combat"
[[tasks]]
environment = "solvent/FFCombat-v0"
timesteps = 500
env_kwargs = { stamina = 4, opponent_stamina = [3, 5], luck = [0, 3] }
"""

MINE = """
import numpy as np


def mine(make, seed, budget, callback):
    '''Learns nothing, and splits the states by chance.'''
    share = np.random.default_rng(seed).normal(size=99)
    return lambda seen: (seen @ share[: seen.shape[1]] > 0).astype(int)
"""

CHANGED = MINE.replace("share = ", "share = -1 * ")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A suite and an algorithm by their files, and the submission of its runs."""
    folder = tmp_path_factory.mktemp("honest")
    file, code = folder / "small.toml", folder / "mine.py"
    file.write_text(SUITE_FILE)
    code.write_text(MINE)
    suite, place = find_suite(str(file)), f"{code}:mine"
    bench_here(folder / "bench", suite, "mine", place, 3)
    pack_submission(folder / "bench", "mine", folder / "mine", suite, authors="A. Author")
    return SimpleNamespace(suite=suite, file=file, place=place, submission=folder / "mine")


def test_runs_of_changed_code_are_not_gone_on_with_nor_packed(honest: Any, tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "bench"
    file.write_text(MINE)
    before = bench(out, honest.suite, [f"{file}:mine"], seeds=1, workers=1, progress=False)
    file.write_text(CHANGED)
    after = bench(out, honest.suite, [f"{file}:mine"], seeds=2, workers=1, progress=False)
    [failure], [new], [old] = after.failures, after.tasks[0].agents, before.tasks[0].agents
    assert failure.seed == old.seed != new.seed
    assert "holds another training: its source is" in failure.error
    # A table with both, as an earlier bench made it.
    task = replace(after.tasks[0], agents=(old, new))
    write_results(out, replace(after, tasks=(task,), failures=()))
    with pytest.raises(StoreError, match=f"{old.folder} and {new.folder} were made by different"):
        pack_submission(out, "mine", tmp_path / "mine", honest.suite, authors="A. Author")
    assert not (tmp_path / "mine").exists()


def test_the_runs_of_a_submission_end_as_they_did(honest: Any) -> None:
    checked = check_submission(honest.submission, honest.suite)
    assert checked.doubts == ()
    assert checked.card.seeds == tuple(sorted(suite_seeds(checked.card.suite_hash, 3)))
    assert sorted(train_again(checked, 5, honest.place, honest.suite)) == [
        ("FFCombat-v0", seed) for seed in checked.card.seeds
    ]
    words = ["--suite", honest.file, "--rerun", "2", "--algorithm", honest.place]
    told = said("submit", "check", honest.submission, *words)
    assert told.count("trained again: FFCombat-v0, seed ") == 2


def test_another_budget_and_settings_are_packed_and_run_again(honest: Any, tmp_path: Path) -> None:
    setting, tier = Setting({"epsilon": 0.9}, "hand"), honest.suite.with_timesteps(200)
    out = tmp_path / "bench"
    record = bench_here(out, tier, "q_learning", "q_learning", 1, setting)
    [agent] = record.tasks[0].agents
    assert agent.setting == setting
    assert agent.hyperparameters["epsilon"] == 0.9
    pack_submission(out, "q_learning", tmp_path / "q", honest.suite, authors="A. Author")
    checked = check_submission(tmp_path / "q", honest.suite)
    assert checked.card.suite == "small@200"
    assert list(train_again(checked, 1, suite=honest.suite)) == [("FFCombat-v0", agent.seed)]
    wrong = {"q_learning": Setting({"epsilons": 0.9})}
    with pytest.raises(ValueError, match="hyperparameter is 'epsilons'; allowed are"):
        bench(tmp_path / "no", tier, ["q_learning"], settings=wrong, progress=False)


def test_only_a_person_says_where_code_is(honest: Any, tmp_path: Path) -> None:
    checked = check_submission(honest.submission, honest.suite)
    named = replace(checked, card=replace(checked.card, algorithm="mine.py"))
    (tmp_path / "mine.py").write_text(CHANGED)
    assert_refused((
        (checked, None, r"algorithm is 'mine'; allowed are a2c, "),
        (named, None, r"algorithm is 'mine.py'; allowed are a2c, "),
        (checked, f"{tmp_path / 'mine.py'}:mine",
         r"was made by code of the source \w+; .*mine.py:mine has"),
    ), lambda submission, place: next(train_again(submission, 1, place, honest.suite)))  # fmt: skip


def test_the_optimum_packed_as_if_learned_is_proved_doubted_and_found_out(
    honest: Any, tmp_path: Path
) -> None:
    game = task_game(honest.suite.tasks[0])
    budget = honest.suite.tasks[0].timesteps
    for name, policy, doubt in (
        ("uniform", TabularPolicy.uniform(game.table), "the policies of the seeds {} are equal"),
        ("optimum", game.solution.policies[0], "3 of 3 policies are optimal"),
    ):
        bench, packed = tmp_path / name / "bench", tmp_path / name / "packed"
        shutil.copytree(honest.file.parent / "bench", bench)
        record = read_bench(bench)
        [task] = record.tasks
        for agent in task.agents:
            for file in ("policy.npz", "policy_mode.npz"):
                save_policy(bench / agent.folder / file, policy)
        agents = (replace(task.agents[0], timesteps=5 * budget), *task.agents[1:])
        write_results(bench, replace(record, tasks=(replace(task, agents=agents),)))
        pack_submission(bench, "mine", packed, honest.suite, authors="A. A.")
        checked = check_submission(packed, honest.suite)
        assert checked.doubts == (
            f"FFCombat-v0: {doubt.format(list(checked.card.seeds))}",
            f"FFCombat-v0: 1 of 3 runs took more steps than the budget of {budget:,}, up to "
            f"{5 * budget:,}",
        )
    assert [agent.mode_gap for agent in checked.tasks[0].agents] == pytest.approx([0] * 3, abs=1e-9)
    with pytest.raises(StoreError, match="trained again, it ends with other policies or steps"):
        next(train_again(checked, 1, honest.place, honest.suite))
