"""The command: its answers are the library's, and what goes wrong is one line with exit code 2."""

import json
import re
import subprocess
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from bad_files import CONTENTS, bad_files, forge
from commands import answer, refusal, run, said
from gamebooks import changed, mill

from solvent import __version__, make_game
from solvent.benchmark import progress
from solvent.cli import main
from solvent.cli.parameters import (
    ALGORITHMS,
    game_of_request,
    game_parameters,
    parse_parameters,
    read_game,
)
from solvent.exact import (
    locate_gap,
    save_policy,
    score,
    solve,
)
from solvent.games import Pig
from solvent.games.gamebook.loader import check_book
from solvent.model import Progress, TabularPolicy, compile_game, registry
from solvent.registration import find_environment

SMALL = ["ff-combat", "--stamina", "4", "--opponent-stamina", "4", "--luck", "3"]


@pytest.fixture(scope="module")
def small() -> Any:
    return compile_game(make_game("ff-combat", **parse_parameters(SMALL[1:])))


@pytest.fixture
def policy_file(tmp_path: Path, small: Any) -> Path:
    """Uniform play of the small combat."""
    save_policy(tmp_path / "policy.npz", TabularPolicy.uniform(small))
    return tmp_path / "policy.npz"


def test_neither_a_missing_error_output_nor_an_encoding_without_a_minus_stops_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = TextIOWrapper(BytesIO(), "ascii")
    for name, stream, words, code in (
        ("stderr", None, "solve pig --target 0", 2),
        ("stdout", output, "score first-legal CliffWalking-v1", 0),
    ):
        monkeypatch.setattr(sys, name, stream)
        monkeypatch.setattr(sys, "argv", ["solvent", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
    output.seek(0)
    assert {"−∞", "−13"} < {*output.read().split()}


# The grammar of parameters


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        ("", {}),
        ("--luck 12", {"luck": 12}),
        ("--luck=12", {"luck": 12}),
        ("--skill-difference -3", {"skill_difference": -3}),
        ("--skill-difference -3:3 --luck 0:12", {"skill_difference": [-3, 3], "luck": [0, 12]}),
        ("--opponent hell-demon", {"opponent": "hell-demon"}),
        ("--damage three --luck [2,4]", {"damage": "three", "luck": [2, 4]}),
        ('--luck {"3":1,"9":2}', {"luck": {"3": 1, "9": 2}}),
        ("--signed", {"signed": True}),
        ("--signed --target 20", {"signed": True, "target": 20}),
        ("--signed false", {"signed": False}),
        ("--opponent null", {"opponent": None}),
        ("--map a=b", {"map": "a=b"}),
    ],
)
def test_parameters_are_read(words: str, parameters: dict[str, Any]) -> None:
    assert parse_parameters(words.split()) == parameters


COIN = """
from fractions import Fraction
import numpy as np
from solvent.model import GameInfo, Outcome

class Coin:
    \"\"\"Heads or tails, or leave it.

    Args:
        sides: How many there are.
    \"\"\"

    def __init__(self, sides=2):
        self.sides = sides
        names = (("leave", "toss"),)
        self.info = GameInfo("coin", 1, names, True, (0, 1), ("folklore",), (("sides", sides),))

    def initial(self):
        return (Outcome(Fraction(1), "begin"),)

    def is_terminal(self, state):
        return state != "begin"

    def legal_actions(self, state):
        return ((0, 1),)

    def transition(self, state, joint_action):
        if joint_action == (0,):
            return (Outcome(Fraction(1), "left"),)
        won = Fraction(1, self.sides)
        return (Outcome(won, "won", 1), Outcome(1 - won, "lost"))

    def observe(self, state, player):
        return np.eye(4, dtype=np.float32)[["begin", "left", "won", "lost"].index(state)]

    def draw(self, state):
        return f"The coin: {state}."
"""


@pytest.fixture
def coin(tmp_path: Path) -> str:
    """A file with one game, which nobody declared."""
    path = tmp_path / "coin_game.py"
    path.write_text(COIN)
    return str(path)


def test_every_command_takes_a_game_by_its_place(coin: str, tmp_path: Path) -> None:
    for place in (coin, f"{coin}:Coin"):
        assert answer("solve", place, "--sides", "4", "--json")["value"] == 0.25
    assert "How many there are." in said("list", coin)
    played = said("play", coin, "--seed", "1", input="toss\nq\n")
    assert "Decision 1: toss was best." in played
    save_policy(tmp_path / "p.npz", TabularPolicy.uniform(compile_game(read_game(coin))))
    assert answer("score", str(tmp_path / "p.npz"), coin, "--json")["value"] == 0.25
    page = tmp_path / "coin.html"
    said("report", "--game", coin, "--out", str(page))
    assert "coin: sides 2" in page.read_text()
    assert "has no attribute" in refusal("solve", f"{coin}:Dime")


def test_a_game_without_environments_is_given_one_to_train_in(
    coin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry._registry(), "specs", dict(registry.game_specs()))
    env_id, arguments = find_environment(f"{coin}:Coin", {"sides": 3, "observation": "index"})
    assert (env_id, arguments) == ("here/Coin-v0", {"sides": 3, "observation": "index"})
    assert gym.make(env_id, **arguments).reset(seed=0)[0] in range(4)
    lake, arguments = find_environment("FrozenLake-v1", {"is_slippery": False})
    assert gym.make(lake, **arguments).unwrapped.game.n_states == 16
    for one in ("here/Coin-v0", lake):
        del gym.registry[one]
    assert lake == "here/FrozenLake-v1"


def test_a_policy_says_for_which_game_of_gymnasiums_it_is(coin: str) -> None:
    """Another process, which was given no environment for it, makes the same game."""
    given = {"discount": 0.9, "is_slippery": False, "observation": "onehot"}
    for name in ("here/FrozenLake-v1", "FrozenLake-v1"):
        found = game_of_request({"environment": name, "env_kwargs": given})
        asked = read_game("FrozenLake-v1", ["--discount=0.9", "--is-slippery=false"])
        assert compile_game(found).model_hash == compile_game(asked).model_hash
    # What a file names is never run.
    for place in (coin, f"{coin}:Coin", f"here/{coin}"):
        assert game_of_request({"environment": place, "env_kwargs": {}}) is None


def test_of_a_games_environments_the_one_that_was_asked_for() -> None:
    for words, environment, arguments in (
        ("ff-combat --luck 3", "FFCombat-v0", {"luck": 3}),
        ("solvent/FFCombatRandom-v0 --luck 3", "FFCombatRandom-v0", {"luck": 3}),
        ("pig --target 100", "Pig-v0", {"target": 100}),
        ("pig --target 9 --opponent uniform", "Pig-v0", {"target": 9, "opponent": "uniform"}),
        ("pig --target 9", "Pig-v0", {"target": 9}),
        ("football", "FootballHalf-v0", {"form": "half"}),
        ("football-strategy --form full", "FootballGame-v0", {"form": "full"}),
        ("football-strategy", "FootballStrategy-v0", {}),
        ("book ninth-tide", "NinthTide-v0", {"book": "ninth-tide"}),
    ):
        name, *rest = words.split()
        assert find_environment(name, game_parameters(name, rest)) == (
            f"solvent/{environment}",
            arguments,
        )


# What the commands answer


def test_solve_answers_what_the_solver_does(small: Any) -> None:
    told, solution = answer("solve", *SMALL, "--json"), solve(small)
    for name in ("value", "lower", "upper", "method", "model_hash"):
        assert told[name] == getattr(solution, name)
    assert told["states"] == small.n_states
    assert sum(start["probability"] for start in told["start"]) == pytest.approx(1)
    for start in told["start"]:
        values = start["action_values"]
        assert values.keys() == {"keep", "test luck"}
        assert values[start["best"]] == max(values.values()) == start["value"]


def test_score_answers_what_the_library_does(policy_file: Path, small: Any) -> None:
    told = answer("score", str(policy_file), *SMALL, "--json", "--top", "4")
    policy = TabularPolicy.uniform(small)
    expected = score(small, policy)
    for name, number in (
        ("value", expected.value),
        ("player", policy.player),
        ("optimality_gap", expected.optimality_gap),
        ("worst_start", repr(expected.worst_start)),
        ("gap_sum", pytest.approx(expected.optimality_gap, abs=1e-9)),
    ):
        assert told[name] == number, name
    order = locate_gap(small, policy).ranked(4)
    assert [loss["state"] for loss in told["losses"]] == [repr(small.states[s]) for s in order]


def test_a_score_says_where_the_gap_is_lost(tmp_path: Path, policy_file: Path, small: Any) -> None:
    table = said("score", str(policy_file), *SMALL, "--top", "3").splitlines()
    assert len([line for line in table if re.match(r" *[\d.]+% +\d", line)]) == 3
    assert re.search(r"3 of \d+ losing states, [\d.]+% of the loss", table[-1])
    save_policy(tmp_path / "policy.npz", TabularPolicy.uniform(compile_game(Pig(target=8))))
    pig = ("score", str(tmp_path / "policy.npz"), "pig", "--target", "8")
    for words, told in (
        (("score", "optimal", *SMALL), "nothing is lost anywhere"),
        ((*pig, "--top", "3"), "in each of these: player A, score of player A 0, score of player"),
        (
            ("score", "uniform", "FrozenLake-v1", "--discount", "0.9"),
            "lost from row 0, column 0",
        ),
    ):
        assert told in said(*words)


def test_play_follows_its_input_and_takes_an_opponent(tmp_path: Path) -> None:
    shown = said("play", *SMALL, "--seed", "1", input="?\ntest luck\nq\n")
    assert "With the best play afterwards (chance of winning):" in shown
    assert "Decision 1: test luck" in shown
    save_policy(tmp_path / "theirs.npz", TabularPolicy.uniform(compile_game(Pig(target=10))))
    words = ("play", "pig", "--target", "10", "--player", "1", "--against")
    for opponent in ("uniform", str(tmp_path / "theirs.npz")):
        assert "You are player B." in said(*words, opponent, input="q\n")


def test_the_list_takes_every_name_that_solve_takes() -> None:
    for name, told in (
        ("football", r"football +football-strategy --form half\n(.*\n)*--form +half"),
        ("book", r"--book +red-lamp"),
        ("solvent/Pig-v0", r"--target 20; against optimal; optimum(.*\n)*--target +20 "),
        ("FrozenLake-v1", r"--is-slippery +true"),
        ("pig", r"uniform +Every legal action"),
        ("greed", r"one-in-twenty +A rule to remember"),
        ("ff-combat", r"--opponent +none (.*\n)*.* Names: adult-white-dragon, hell-demon\."),
        ("ff-combat", r"A Spread is a number \(12\), a range \(2:24\) or"),
    ):
        assert re.search(told, said("list", name))


def test_long_work_tells_how_far_it_is_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PERIODS", (0.01, 0.01))
    told, deadline = "", time.monotonic() + 10
    # A folder may have a name that Rich would read as its own markup.
    with progress.solving("a[/b]/game.py") as tell:
        tell(Progress(1, 4, "compiling"))
        while "%" not in told and time.monotonic() < deadline:
            told += capsys.readouterr().err
    assert re.search(r"^compiling a\[/b\]/game\.py 25\.0%, \d+ s", told, re.MULTILINE)


def test_version_and_algorithms() -> None:
    assert said("--version") == f"solvent {__version__}\n"
    algorithms = pytest.importorskip("solvent.training.algorithms")
    assert set(algorithms.SELF_PLAY_ALGORITHMS) == set(ALGORITHMS)


def test_train_then_score_without_naming_the_game(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    out = tmp_path / "run"
    shown = said("train", *SMALL, "--out", str(out), "--timesteps", "512", "--seed", "3")
    assert re.search(r"trained +ppo, seed 3", shown)
    told = answer("score", str(out / "policy_mode.npz"), "--json")
    assert told["parameters"]["stamina"] == 4
    gap = re.search(r"^gap +([\d.e-]+)", shown, re.MULTILINE)
    assert told["optimality_gap"] == pytest.approx(float(gap[1]), abs=1e-8)
    assert "model.zip: not a file" in refusal("score", str(out / "model.zip"), *SMALL)


def test_a_network_that_learned_the_second_seat_is_scored_there(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    nim = ("nim", "--heaps", "[1,2]")
    said("train", *nim, "--seat", "1", "--out", str(tmp_path), "--timesteps", "512")
    assert answer("score", str(tmp_path / "policy.npz"), "--json")["player"] == 1


# What is refused


DEEP, LONG = "[" * 100_000, "x" * 100_000
# Words of a command, and a part of the line with which it refuses them.
REFUSED: list[tuple[str, str]] = [
    ("solve ff-comat", "did you mean 'ff-combat'?"),
    ("solve PIG", "did you mean 'pig'?"),
    ("solve --luck 3", "write the game first"),
    ("solve", "Missing argument 'GAME'"),
    ("train pig --out=", "--out is ''; expected a path"),
    ("slove ff-combat", "No such command 'slove'"),
    ("--loud list", "No such option: --loud"),
    ("solve ff-combat --luk 3", "no parameter of ff-combat; did you mean --luck?"),
    ("solve ff-combat --oppnent x", "did you mean --opponent?"),
    ("solve pig --jsn", "--jsn is no option of `solvent solve` and no parameter of pig; did"),
    ("solve --plna football", "did you mean --plan?"),
    (
        "solve pig --xyzzy 3",
        "see `solvent solve --help`. Parameters: --sides, --signed, --target.",
    ),
    ("play pig --agianst uniform", "did you mean --against?"),
    ("report --gme pig", "did you mean --game?"),
    ("chart make mine --rsk 3", "no parameter of a chart; did you mean --risk?"),
    ("chart show stanard", "Did you mean 'standard'?"),
    ("solve Taxi-v3", "did you mean 'Taxi-v4'?"),
    ("train pig --out x", "say --target 20, as solvent/Pig-v0 has"),
    ("solve ff-combat --opponent hell-deamon", "Did you mean 'hell-demon'?"),
    ("solve ff-combat --opponent hell-demon --skill-difference 3", "exclude each other"),
    ("solve ff-combat --luck 100", "luck is 100; allowed are whole numbers from 0 to 99"),
    ("solve ff-combat --stamina 0", "stamina is 0; allowed are"),
    ("solve ff-combat --stamina 9:3", "stamina is [9, 3]; the range is upside down"),
    ("solve ff-combat --luck NaN", "luck is nan; allowed are"),
    ("solve ff-combat --luck 1e999", "luck is inf; allowed are"),
    ("solve ff-combat --luck 9.5", "luck is 9.5; allowed are"),
    ('solve ff-combat --luck {"3":NaN}', "luck['3'] has weight nan"),
    ("solve ff-combat --luck", "luck is True; allowed are"),
    ("solve ff-combat --damage four", "allowed are a mapping, standard, three"),
    ("solve CartPole-v1", "has no P; only environments that publish it"),
    ("solve FrozenLake-v1 --size 3", "no parameter of FrozenLake-v1"),
    ("play pig --player 2", "player is 2; allowed are whole numbers from 0 to 1"),
    ("play pig --target 10 --against wizard", "opponent for player 1 of pig is 'wizard'"),
    ("train chess --out x", "no game or environment 'chess'; `solvent list` shows all"),
    ("explore greed --limit 8 --policy no-file.npz", "no-file.npz"),
    ("explore greed --limit 8 --port 70000", "port"),
    ("report --in nowhere", "nowhere/results.json: cannot be read"),
    ("report", "name one of the three: --in DIR for a bench, --game GAME for a game, or"),
    ("report --in nowhere --game pig", "name one of the three"),
    ("report --in nowhere --limit 3", "'--limit' belongs to a game"),
    ("report --game greed --limit 0", "limit is 0; allowed are"),
    ("report --game chess", "no game or environment 'chess'; `solvent list` shows all"),
    ("list chess", "no game or environment 'chess'; `solvent list` shows all"),
    ("play football", "38,016,000 states, which take minutes to solve; try `football-short`"),
    ("explore football", "solve it once with `solvent solve football --out DIR`"),
    (
        "score unifrom pig",
        "the policy to score, which is not a file, is 'unifrom'; allowed are",
    ),
    ("score unifrom pig", "Did you mean 'uniform'?"),
    ("score uniform pig --solution OUT", "--solution is for games that are solved layer by layer"),
    ("score POLICY --solution OUT", "--solution is for games that are solved layer by layer"),
    ("score greedy yahtzee --mode", "--mode is for policies in tables and for networks, not for"),
    ("score uniform", "'uniform' is not a file; to score a baseline, give its game after it"),
    ("score POLICY ff-combat --luck 8", "was made for the model"),
    ("score POLICY", "names no game; write the game after the file"),
    ("score POLICY --luck 8", "write the game first"),
    ("score missing.npz pig", "missing.npz: cannot be read"),
    ("solve pig luck=3", "belongs to no parameter"),
    ("solve pig 3", "belongs to no parameter"),
    ("solve pig -luck 3", "belongs to no parameter"),
    ("solve pig --target 3 4", "belongs to no parameter"),
    ("solve pig --target 3 --target 4", "is given twice"),
    ("train ff-combat --out OUT --algorithm pppo", "Did you mean 'ppo'?"),
    ("train ff-combat --out OUT --seed -1", "seed is -1"),
    ("train ff-combat --out OUT --timesteps 0", "timesteps is 0"),
    ("train ff-combat --out OUT --luk 3", "did you mean --luck?"),
    ("train ff-combat --out OUT --seeds 3", "did you mean --seed?"),
    ("train ff-combat --out OUT --observatoin index", "did you mean --observation?"),
    ("solve FrozenLake-v1 --map-name x", "FrozenLake-v1 cannot be made (KeyError"),
    ("solve Taxi-v4 --fickle-passenger", "TaxiEnv does not follow its own P; allowed is False"),
    (
        "solve FrozenLake-v1 --is-slippery False",
        "is_slippery is the text 'False'; allowed are true",
    ),
    ('solve FrozenLake-v1 --desc ["x"]', "FrozenLake-v1"),
    (f"solve FrozenLake-v1 --desc {DEEP}", "nested too deeply"),
    (f"solve ff-combat --luck {DEEP}", "nested too deeply"),
    (f"solve ff-combat --luck {'9' * 5000}", "luck is '999"),
    (f"solve ff-combat --luck {LONG}", "luck is 'xxx"),
    ("solve ff-combat --modifiers 3", "modifiers is 3; allowed is a mapping"),
    ('solve ff-combat --luck {"1":"1e999999999"}', "has weight '1e99"),
    ("solve football-strategy --expected-points 3", "expected_points is 3; allowed"),
    (f"solve {LONG}", "no game or environment 'xxx"),
    (f"list {LONG}", "no game or environment 'xxx"),
    (f"solve pig {LONG}", "the word 'xxx"),
    (f"solve pig --{LONG}", "xxx"),
    (f"play pig --target 4 --against {LONG}", "opponent for player 1 of pig is 'xxx"),
]


def test_bad_input_is_one_line(policy_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    content, out = policy_file.read_bytes(), tmp_path / "out"
    for words, message in REFUSED:
        given, told = (
            text.replace("POLICY", str(policy_file)).replace("OUT", str(out))
            for text in (words, message)
        )
        assert told in refusal(*given.split()), words[:80]
        assert policy_file.read_bytes() == content
        assert not out.exists()


def test_debug_shows_the_traceback() -> None:
    result = run("--debug", "solve", "ff-combat", "--luck", "100")
    assert isinstance(result.exception, ValueError)
    assert "luck is 100" in str(result.exception)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = pytest.importorskip("solvent.training")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", interrupt)
    result = run("train", "ff-combat", "--out", str(tmp_path))
    assert result.exit_code == 130
    told = "interrupted; with --out DIR the same command continues where it stopped"
    assert result.stderr == f"solvent: {told}\n"


def test_an_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in [name for name in sys.modules if name.startswith("solvent.training")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch", None)
    line = refusal("train", "ff-combat", "--out", str(tmp_path))
    assert line == "this needs torch; install it with: pip install 'solvent[train]'"


# The real command


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_real_command_answers_and_refuses() -> None:
    done = command("-m", "solvent", "solve", *SMALL, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["game"] == "ff-combat"
    without_typer = "import sys; sys.modules['typer'] = None; from solvent.cli import main; main()"
    for words, told in (
        (
            ("-m", "solvent", "solve", "ff-combat", "--luck", "-1"),
            "luck is -1; allowed are whole numbers from 0 to 99",
        ),
        (
            ("-c", without_typer),
            "the command needs typer; install it with: pip install 'solvent[cli]'",
        ),
    ):
        failed = command(*words)
        found = failed.returncode, failed.stdout, failed.stderr
        assert found == (2, "", f"solvent: {told}\n")


def test_a_small_table_is_solved_and_games_are_listed_without_loading_what_is_heavy() -> None:
    heavy = ["torch", "stable_baselines3", "numba", "scipy.optimize", "jinja2", "pygame", "sklearn"]
    code = f"""
import sys
from solvent.cli.app import app
app(["solve", "FrozenLake-v1", "--json"], prog_name="solvent", standalone_mode=False)
print([m for m in {heavy} if m in sys.modules], file=sys.stderr)
print(sum(m.startswith("solvent") and ".games" not in m for m in sys.modules), file=sys.stderr)
"""
    loaded, ours = command("-c", code).stderr.splitlines()
    assert loaded == "[]"
    assert int(ours) <= 50, "more modules than a small table needs"
    listing = code.replace('["solve", "FrozenLake-v1", "--json"]', '["list"]')
    assert command("-c", listing).stderr.splitlines()[0] == "[]", "solvent list"


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        ("score FILE", ".npz"),
        ("score FILE pig --target 4", ".npz"),
        ("play pig --target 4 --against FILE", ".npz"),
        ("chart check FILE", ".csv"),
        ("chart points FILE", ".csv"),
        ("solve football-drive --chart FILE", ".json"),
        ("book import FILE --out OUT", ".twee"),
        ("book import FILE --out OUT", ".json"),
        ("report --in FILE", ""),
        ("report --solution FILE", ""),
        ("score optimal --solution FILE", ""),
    ],
)
def test_a_bad_file_is_one_line(command: str, suffix: str, tmp_path: Path) -> None:
    for path in bad_files(tmp_path, suffix):
        # A line of text is a story of one passage, and so on: what is read without an error.
        if (command.split()[0], suffix) == ("book", ".twee") and path.stem in CONTENTS:
            continue
        refusal(*command.replace("FILE", str(path)).replace("OUT", str(tmp_path / "out")).split())


def test_a_book_of_faults_is_not_read_to_the_end(tmp_path: Path) -> None:
    """Neither one of 30,000 unknown keys at one place nor one of many places."""
    keys = [f"unknown{number}: 1" for number in range(30_000)]
    flags = [f"  x{number}: {{{', '.join(keys[:10])}}}" for number in range(500)]
    path = tmp_path / "book.yaml"
    for text, least in (
        ("\n".join([mill(), *keys]), 1),
        (changed(("flags:\n", "\n".join(["flags:", *flags, ""]))), 100),
    ):
        path.write_text(text, encoding="utf-8")
        assert least <= len(check_book(path)) <= 101
        # The faults are the command's output, and their number is its one line of refusal.
        assert run("book", "check", str(path)).stderr.startswith(f"solvent: {path} has ")


@pytest.mark.parametrize(
    "metadata",
    [
        {"request": 3},
        {"request": {"environment": ["a"]}},
        {"request": {"environment": "solvent/Pig-v0", "env_kwargs": [1]}},
        {"request": {"environment": "nothing"}},
        {"request": {}},
    ],
)
def test_metadata_is_not_believed(metadata: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    save_policy(path, TabularPolicy.uniform(compile_game(Pig(target=4))))
    for header, told in (
        ({"metadata": metadata}, str(path)),
        ({"kind": "network"}, "is 'nothing'" if "nothing" in str(metadata) else str(path)),
        ({"kind": "checkpoint"}, "holds a checkpoint, not a policy"),
    ):
        forge(path, header)
        assert told in refusal("score", path)


def test_what_is_printed_fits_and_loses_no_word() -> None:
    games = ("ff-combat", "gamebook", "goofspiel", "greed", "pig", "yahtzee", "football")
    for width, words in (
        *((80, ("list", game)) for game in (*games, "FrozenLake-v1")),
        (60, ("list",)),
        (60, ("chart", "show", "standard")),
    ):
        narrow, wide = (said(*words, env={"COLUMNS": str(columns)}) for columns in (width, 1000))
        assert max(map(len, narrow.splitlines())) <= width, words
        assert set(wide.split()) <= set(narrow.split()), words


def test_pages_of_one_section_are_told_apart_by_the_fields_of_the_book(tmp_path: Path) -> None:
    book = tmp_path / "purse.yaml"
    book.write_text(
        """
format: solvent-gamebook
version: 1
title: The purse
variables: {gold: {initial: 1d6, max: 6}}
endings: {win: {score: 1}, loss: {score: 0}}
sections:
  1:
    choices:
      - {label: pay, branch: [{when: gold > 3, ending: win}, {when: 1, ending: loss}]}
      - {label: leave, ending: loss}
"""
    )
    for words in (["score", "uniform", "book"], ["solve", "book"]):
        told = said(*words, book)
        assert re.search(r"\bplace +gold\b", told), told
