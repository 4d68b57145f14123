"""Plant small errors in the rules and the solvers, one at a time, and list what no test finds.

`mutmut <https://mutmut.readthedocs.io>`_ makes the errors and runs the tests. It starts Python and
imports everything once and forks for each error, so that one costs tenths of a second. This script
gives it a folder for each group of ``groups.toml``, with the group's modules and the test files
that guard them, and adds up what it found. A folder keeps its results: what is done is not done
again unless its function changes, so that a run can be ended at any time and taken up later.

What mutmut leaves alone: decorated functions (properties, compiled kernels), constants of modules
and class bodies.

Errors that change nothing a user could see stand in ``equivalent.toml``, each with the reason. They
are named by their function and the lines that change, since mutmut's own numbers shift.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
WORK = PROJECT / "build" / "mutation"
# mutmut's exit codes of a test that fails, of tests that never end and of a crash.
KILLED = {1, 3, 36, 24, -24, 152, 255, -11, -9}

SETTINGS = """
[tool.mutmut]
source_paths = ["solvent"]
only_mutate = {modules}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider"]
also_copy = ["docs", "README.md"]
process_isolation = "forkserver"
timeout_multiplier = 5.0
timeout_constant = 5.0
use_git_change_detection = false
"""


def main() -> None:
    groups = tomllib.loads((HERE / "groups.toml").read_text("utf-8"))
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("groups", nargs="*", default=list(groups), help=", ".join(groups))
    parser.add_argument(
        "--sample", type=int, metavar="N", help="N errors drawn from all groups named, not all"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--again", action="store_true", help="test again what survived")
    parser.add_argument("--report", action="store_true", help="run nothing, print what is known")
    given = parser.parse_args()
    unknown = [name for name in given.groups if name not in groups]
    if unknown:
        parser.error(f"no group {unknown}")
    if not given.report:
        drawn = draw(groups, given)
        for name in given.groups:
            if drawn is None or drawn[name]:
                run(name, groups[name], given, drawn[name] if drawn else [])
    sys.exit(report({name: groups[name] for name in given.groups}))


def draw(groups: dict[str, Any], given: argparse.Namespace) -> dict[str, list[str]] | None:
    """The sample by group, of all errors that mutmut can plant in the groups named."""
    if given.sample is None:
        return None
    known = []
    for name in given.groups:
        with contextlib.chdir(folder_of(name, groups[name])):  # mutmut reads its settings there.
            for module in groups[name]["modules"]:
                errors = mutate_file_contents(module, Path(module).read_text("utf-8")).mutant_names
                known += [(name, get_mutant_name(Path(module), error)) for error in errors]
    found: dict[str, list[str]] = {name: [] for name in given.groups}
    for name, error in random.Random(given.seed).sample(known, min(given.sample, len(known))):
        found[name].append(error)
    return found


def folder_of(name: str, group: dict[str, list[str]]) -> Path:
    """The folder in which mutmut works on a group, with its settings."""
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    for linked in ("solvent", "tests", "docs", "README.md"):
        if not (folder / linked).is_symlink():
            (folder / linked).symlink_to(PROJECT / linked)
    settings = SETTINGS.format(
        modules=json.dumps(group["modules"]), tests=json.dumps(group["tests"])
    )
    (folder / "pyproject.toml").write_text(
        (PROJECT / "pyproject.toml").read_text("utf-8") + settings, encoding="utf-8"
    )
    return folder


def run(
    name: str, group: dict[str, list[str]], given: argparse.Namespace, wanted: list[str]
) -> None:
    """Let mutmut test the errors wanted, or all of a group, unless they are tested already."""
    folder = folder_of(name, group)
    if given.again:
        known = Equivalent()
        wanted = [
            key
            for module in group["modules"]
            for key, code in results(folder, {"modules": [module]}).items()
            if code not in {*KILLED, None} and not known.holds(key, change(folder, module, key))
        ]
        if not wanted:
            return
    elif wanted:
        tested = results(folder, group)
        if all(tested.get(error) is not None for error in wanted):
            return
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(given.processes)]
    subprocess.run([*command, *wanted], cwd=folder, check=True)


def results(folder: Path, group: dict[str, list[str]]) -> dict[str, int | None]:
    """mutmut's exit code of every mutant of a group, None where it is not tested."""
    found: dict[str, int | None] = {}
    for module in group["modules"]:
        meta = folder / "mutants" / f"{module}.meta"
        if meta.is_file():
            found.update(json.loads(meta.read_text("utf-8"))["exit_code_by_key"])
    return found


def change(folder: Path, module: str, key: str) -> tuple[str, ...]:
    """The lines that a mutant takes away and puts in, as ``mutmut show`` prints them."""
    with contextlib.chdir(folder):
        shown = get_diff_for_mutant(key, path=module)
    return tuple(
        f"{line[0]} {line[1:].strip()}"
        for line in shown.splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    )


def function_of(key: str) -> str:
    """``solvent.model.dice.dice_sum`` of mutmut's name of a mutant."""
    module, _, name = key.partition("__mutmut_")[0].rpartition(".")
    return f"{module}.{name.replace('xǁ', '').replace('ǁ', '.').removeprefix('x_')}"


class Equivalent:
    def __init__(self) -> None:
        known = tomllib.loads((HERE / "equivalent.toml").read_text("utf-8"))
        self.named = {(entry["function"], tuple(entry["change"])) for entry in known["equivalent"]}
        self.everywhere = [(entry["take"], entry["put"]) for entry in known["everywhere"]]

    def holds(self, key: str, lines_changed: tuple[str, ...]) -> bool:
        """Whether a mutant is named, or does no more than to put one text for another."""
        if (function_of(key), lines_changed) in self.named:
            return True
        if len(lines_changed) != 2:
            return False
        before, after = (line[2:] for line in lines_changed)
        return any(
            before[:at] + put + before[at + len(take) :] == after
            for take, put in self.everywhere
            for at in range(len(before))
            if before.startswith(take, at)
        )


def report(groups: dict[str, Any]) -> int:
    """Print the survivors and the score of each module; 1 if less than 95% is found in all."""
    known = Equivalent()
    lines, total = [], Counter[str]()
    for name, group in groups.items():
        folder = WORK / name
        for module in group["modules"]:
            count = Counter[str]()
            for key, code in results(folder, {"modules": [module]}).items():
                if code in KILLED:
                    count["killed"] += 1
                elif code is None:
                    count["untested"] += 1
                else:
                    lines_changed = change(folder, module, key)
                    if known.holds(key, lines_changed):
                        count["equivalent"] += 1
                    else:
                        count["survived"] += 1
                        print(function_of(key), *lines_changed, sep="\n    ")
            total += count
            lines.append((module, count))
    print(
        f"\n{'module':44}{'tested':>8}{'killed':>8}{'equivalent':>12}{'survived':>10}{'score':>8}"
    )
    for module, count in [*lines, ("total", total)]:
        tested = count["killed"] + count["equivalent"] + count["survived"]
        relevant = tested - count["equivalent"]
        score = f"{count['killed'] / relevant:8.1%}" if relevant else f"{'–':>8}"
        print(
            f"{module:44}{tested:8}{count['killed']:8}{count['equivalent']:12}"
            f"{count['survived']:10}{score}"
        )
    return int(total["survived"] > 0.05 * (total["killed"] + total["survived"]))


if __name__ == "__main__":
    main()
