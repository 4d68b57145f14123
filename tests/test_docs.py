"""The README and the pages of the documentation: complete, and what they show is what runs."""

import doctest
import importlib
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest
from commands import answer, run, said
from doc_pages import DOCS, blocks_of, check_sentences

import solvent
from solvent import tabular
from solvent.baselines import gate
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact.hardness import LARGEST
from solvent.games.greed.solver import solve_greed
from solvent.model import cache

ROOT = Path(__file__).parents[1]
PAGES = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]

# The first line of a block that needs the names or files of the one before it.
CONTINUES = "# continues the block above\n"

# What lies beside the reader of a page: a file of the page.
FILES = {"gamebook-format.md": "tests/golden/mill.yaml"}

# Blocks that take minutes.
SLOW = {"python.md": (0,), "football-clock.md": (0, 1), "games/football-charts.md": (0,)}

# Pages that train, and how their trainings are made shorter.
SHORTER = {
    "training.md": [
        ('folder="runs/', 'timesteps=4_096, folder="runs/'),
        ("200_000", "16_384"),
        ("20_000", "8_192"),
    ],
    "microscope.md": [("50_000", "8_192"), ("20_000", "2_048")],
}

# What a newcomer reads: at most 800 words a page.
GUIDES = (
    "index.md", "quickstart.md", "score-your-own.md", "training.md", "games.md", "explorer.md",
    "teaching.md", "adding-a-game.md", "concepts.md", "cli.md", "microscope.md", "hardness.md",
)  # fmt: skip

# What a page needs besides, which is not there for every platform.
NEEDED = {
    "other-formats.md": ("minigrid", "pyspiel", "stormpy"),
    "textbook/outside-the-model.md": ("pyspiel",),
}


BLOCKS = {(page, n): block for page in PAGES for n, block in enumerate(blocks_of(page, "python"))}


def pasted(page: str, n: int) -> str:
    """What a reader pastes to run a block: the block, after those that it says it continues."""
    block = BLOCKS[page, n]
    return pasted(page, n - 1) + block if block.startswith(CONTINUES) else block


@pytest.mark.parametrize(
    ("page", "n"),
    [
        pytest.param(
            page, n, marks=[pytest.mark.slow] if page in SHORTER or n in SLOW.get(page, ()) else []
        )
        for page, n in BLOCKS
    ],
)
def test_every_block_runs_alone(
    page: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in NEEDED.get(page, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    if page in FILES:
        (tmp_path / Path(FILES[page]).name).symlink_to(ROOT / FILES[page])
    code = pasted(page, n)
    # A fresh interpreter knows the environments only after this; here another test has done it.
    assert re.search(r"^(import|from) solvent\b", code, re.MULTILINE)
    for long, short in SHORTER.get(page, []):
        code = code.replace(long, short)
    exec(compile(code, page, "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize(("page", "n"), [("matrix-games.md", 2), ("simple-solver.md", 1)])
def test_a_block_prints_what_the_page_shows(
    page: str, n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(pasted(page, n), page, "exec"), {"__name__": "documentation"})
    text = (DOCS / page).read_text("utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = map(textwrap.dedent, re.findall(r"^(?: {4}.*\n)+", outside, re.M))
    assert capsys.readouterr().out == "".join([*blocks_of(page, "text"), *indented])


def test_the_lines_of_the_page_on_python_give_what_it_shows() -> None:
    text = (DOCS / "python.md").read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", None, 0)
    if find_spec("pandas") is None:
        test.examples = [one for one in test.examples if "to_frame" not in one.source]
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 20
    assert results.failed == 0


def test_the_guides_are_short_and_every_page_of_the_navigation_exists() -> None:
    for page in GUIDES:
        assert len((DOCS / page).read_text("utf-8").split()) <= 800, page
    named = re.findall(r"^ +- .*?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    assert sorted(named) == sorted(PAGES)


# The reference of the documentation is complete, and no link of the built site is broken

DOCUMENTED = (
    "model", "exact", "envs", "baselines", "training", "report", "grading", "play", "games",
    "tabular", "explore",
)  # fmt: skip


def test_the_reference_has_every_name_of_the_front_door() -> None:
    top = (DOCS / "reference" / "solvent.md").read_text("utf-8")
    names = set(solvent.__all__) - {"__version__"}
    assert {name for name in names if f"[`{name}`][solvent.{name}]" not in top} == set()


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    # Pages include what stands in the last four.
    included = ("benchmarks/results", "examples", "tests/golden", "tests/tools")
    for name in ("docs", "solvent", *included):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    if not (tmp_path / "docs" / "maps").is_dir():
        pytest.skip("the embedded pages are not written; make docs writes them")
    environment = {**os.environ, "PYTHONPATH": "docs/scripts"}
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    subprocess.run(build, cwd=tmp_path, env=environment, check=True)
    subprocess.run(
        [sys.executable, DOCS / "scripts" / "links.py", "site"], cwd=tmp_path, check=True
    )
    for package in DOCUMENTED:
        page = (tmp_path / "site" / "reference" / f"{package}.html").read_text(encoding="utf-8")
        for name in importlib.import_module(f"solvent.{package}").__all__:
            assert f'.{name}"' in page


# What the quickstart and the page about the command show is what happens


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=block.splitlines()[0])
        for page in ("quickstart.md", "cli.md", "gamebook-format.md")
        for block in blocks_of(page, "console")
    ],
)
def test_the_command_prints_what_the_page_shows(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The example of the pages about gamebooks.
    shutil.copy(DOCS.parent / "tests" / "golden" / "mill.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    prompt, *expected = block.splitlines()
    program, *words = shlex.split(prompt.removeprefix("$ "))
    assert program == "solvent"
    result = run(*words)
    # What tells how far long work is depends on the machine; it is on the error output, too.
    output = result.stderr if result.exit_code else result.stdout
    # The last digits of a bracket depend on the machine's arithmetic.
    given = [line.rstrip() for line in output.rstrip().splitlines()]
    shown, wanted = (re.sub(r"(\d\.\d{12})\d+", r"\1", "\n".join(x)) for x in (given, expected))
    assert shown == wanted


def test_the_review_of_the_quickstart_is_one_that_play_gives() -> None:
    page = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    shown = re.search(r"^    Decision 6: .*\n(?:    .*\n)+", page, re.MULTILINE)
    told = said("play", "ff-combat", "--seed", "3", input="1\n0\n1\n0\n0\n0\n0\n")
    assert told.endswith(textwrap.dedent(shown[0]))


def test_the_limits_that_pages_state_are_those_of_the_code() -> None:
    check_sentences("cli.md", (
        f"longer than {cache.LONG} CPU seconds are stored",
        f"at most {cache.MOST_BYTES / 2**30:g} GiB",
    ))  # fmt: skip
    check_sentences("score-your-own.md", [f"its own `P` in {gate.EPISODES} replayed episodes"])
    check_sentences("hardness.md", {"exceed `largest` (ten million)": LARGEST == 10_000_000})


# The README runs: its Python is a doctest, its figures are the solver's

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
GAMES = (DOCS / "games.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs() -> None:
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 6
    assert results.failed == 0


def test_every_command_is_described_and_those_of_the_readme_and_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make ([a-z-]+)", TEXT, re.MULTILINE))
    assert {"bench", "install", "test"} <= named <= targets
    there = re.findall(r"^│ (\w+) ", said("--help").partition("Commands")[2], re.M)
    used = set(re.findall(r"(?:^    |^\$ |`)solvent ([a-z]+)", TEXT, re.MULTILINE))
    assert {"solve", "play", "train", "score"} <= used <= set(there)
    described = re.findall(r"^\| `solvent (\w+)", (DOCS / "cli.md").read_text("utf-8"), re.M)
    assert sorted(described) == sorted(there)


def test_the_picture_is_what_its_script_draws_of_the_agent_of_the_readme() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "scripts" / "lake_picture.py"))
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert (ROOT / picture).read_text(encoding="utf-8") == script["picture"]()
    [gap] = re.findall(r"^value .* gap ([\d.]+)$", TEXT, re.MULTILINE)
    assert TEXT.count(gap) == 2
    assert f"gap {gap}" in script["picture"]()
    assert f"steps={script['STEPS']:_}, seed={script['SEED']}" in TEXT


def optimum(row: str) -> str:
    """The figure in the column of optima of a row of the table of games."""
    [line] = [line for line in GAMES.splitlines() if line.startswith((f"| {row}", f"| [{row}"))]
    return line.split("|")[4].split()[0]


def test_the_optima_of_all_games_are_the_solvers() -> None:
    for row, env, digits in (
        ("Fighting Fantasy", "FFCombat", 6),
        ("the same", "FFCombatRandom", 6),
        ("Football drive", "FootballDrive", 6),
        ("Yahtzee for one", "Yahtzee", 4),
        ("Puterman's problems", "Inventory", 4),
        ("Gamebooks", "Gamebook", 6),
        ("Football Strategy", "FootballStrategy", 6),
    ):
        value = ENVIRONMENTS[f"solvent/{env}-v0"].optimum
        assert optimum(row).replace("−", "-") == f"{value:.{digits}f}", row
    books = (DOCS / "games" / "gamebook.md").read_text(encoding="utf-8")
    [row] = [line for line in GAMES.splitlines() if line.startswith("| [Gamebooks")]
    [states] = re.findall(r"([\d,]+) states", row)
    assert f"| `ninth-tide` | 173 | {states.replace(',', '')} |" in books
    assert f"{ENVIRONMENTS['solvent/NinthTide-v0'].optimum:.6f} (*The Ninth Tide*" in row
    assert optimum("Greed") == f"{solve_greed().value:.6f}"
    # The page of the game has the same figure; the slow test of that page solves for it.
    page = (DOCS / "games" / "pig.md").read_text(encoding="utf-8")
    assert f"| 100 | false | 961092 | {optimum('Pig')} |" in page


@pytest.mark.parametrize(
    ("name", "env"),
    [("FrozenLake", "FrozenLake-v1"), ("Taxi", "Taxi-v4"), ("CliffWalking", "CliffWalking-v1")],
)
def test_the_optima_of_other_environments_are_the_solvers(name: str, env: str) -> None:
    found = re.search(rf"{name} (−?[\d./]+)", GAMES)
    numerator, _, denominator = found[1].replace("−", "-").rstrip(".").partition("/")
    stated = float(numerator) / float(denominator or 1)
    assert solvent.solve(env).value == pytest.approx(stated, abs=1e-9)


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert len(links) > 8
    assert [link for link in links if not (ROOT / link).is_file()] == []


# The page on speed says with which versions it was measured


def test_the_versions_on_pages_are_the_pinned_ones() -> None:
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", pins, re.MULTILINE))
    _, _, versions = (DOCS / "benchmarks.md").read_text("utf-8").partition("## Versions")
    stated = re.findall(r"(\w+) (\d+\.\d+\.\d+)", versions)
    assert len(stated) == 12
    for name, version in stated:
        assert pinned[name.lower()] == version, name
    assert f"`torch=={pinned['torch']}`" in (DOCS / "quickstart.md").read_text("utf-8")


# Every line of the page of optimal values computes the number beside it

OPTIMAL_VALUES = (DOCS / "optimal-values.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_has_its_value() -> None:
    rows = re.findall(
        r"^\| .* \| (\S+)[^|]* \| `solvent (solve [^`]+)` \|$", OPTIMAL_VALUES, re.MULTILINE
    )
    assert len(rows) == 20
    for stated, command in rows:
        value = answer(*command.split(), "--json")["value"]
        digits = len(stated.partition(".")[2])
        assert value == pytest.approx(float(stated), abs=0.5001 * 10.0**-digits), command


def test_the_limit_of_steps_costs_what_the_page_says() -> None:
    for name, steps in (("4x4", 100), ("8x8", 200)):
        table = solvent.compile_game(solvent.make_game("FrozenLake-v1", map_name=name))
        values = next(islice(tabular.value_iteration(table), steps - 1, None)).V
        assert f"{table.at_start(values):.6f}" in OPTIMAL_VALUES


# The page on the algorithms: all are on it, with pictures and numbers as they are computed

TABULAR = (DOCS / "tabular.md").read_text(encoding="utf-8")


def test_the_table_has_every_algorithm() -> None:
    names = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", TABULAR.split("## Exact")[0], re.MULTILINE)
    assert sorted(names) == sorted(tabular.ALGORITHMS)
    assert set(names) <= set(tabular.__all__)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS / "scripts"))
    return importlib.import_module("tabular_pictures")


def stroke_points(svg: str) -> list[float]:
    return [
        float(n) for line in re.findall(r' points="([^"]+)"', svg) for n in re.split("[ ,]", line)
    ]


def test_the_picture_of_a_matrix_game_is_what_the_script_draws(script: ModuleType) -> None:
    drawn = script.matrix().svg("Exploitability in a matrix game", logarithmic=True)
    kept = (DOCS / "tabular-matrix.svg").read_text(encoding="utf-8")
    assert len(stroke_points(kept)) > 1000
    assert stroke_points(drawn) == pytest.approx(stroke_points(kept), abs=0.5)


@pytest.mark.slow
def test_step_sizes_stall_as_the_page_says(script: ModuleType) -> None:
    [sentence] = re.findall(r"After 3,000 episodes the error is (.*)\.$", TABULAR, re.MULTILINE)
    stated = [float(number) for number in re.findall(r"0\.\d{3}", sentence)]
    sizes = script.step_sizes()
    assert [line[-1] for line in sizes.means.values()] == pytest.approx(stated, abs=0.0006)
    kept = (DOCS / "tabular-step-sizes.svg").read_text(encoding="utf-8")
    assert stroke_points(sizes.svg(logarithmic=True)) == pytest.approx(stroke_points(kept), abs=0.5)


# The pages on other tools: their recipes are what `make tools` runs, at the versions named


def test_every_recipe_is_included_on_one_page_and_run() -> None:
    pages = "".join((DOCS / name).read_text("utf-8") for name in ("tools.md", "score-your-own.md"))
    recipes = re.findall(r'^```{.python title="(.+?)"}\n--8<-- "(.+?)"\n```', pages, re.MULTILINE)
    tools = ROOT / "tests" / "tools"
    files = sorted({*tools.glob("*.py")} - {*tools.glob("test_*.py"), tools / "conftest.py"})
    names = [file.relative_to(ROOT).as_posix() for file in files]
    assert sorted(recipes) == [(name, name) for name in names]
    tests = "".join(file.read_text("utf-8") for file in tools.glob("test_*.py"))
    assert [file.stem for file in files if f'"{file.stem}' not in tests] == []
