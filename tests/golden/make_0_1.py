"""Write the files of version 0.1 that later versions have to read, and what 0.1 made of them.

    python tests/golden/make_0_1.py

It ran with version 0.1, whose modules it imports, before anything moved; nothing else can make
these files again. They are not to be changed: a version that cannot read one of them has to say so
by the name of the version.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import golden_files as files
import golden_streams as streams
from solvent.exact.kernels.timed_football.sheet_folder import SheetFolder
from solvent.exact.kernels.timed_football.solution import layout_for
from solvent.exact.kernels.timed_football.solve import solve_layout

import solvent
from solvent.exact import save_solution
from solvent.training import Normalization


class Stopped(Exception):  # noqa: N818
    pass


def stopped(run: Any, folder: Path, after: int) -> None:
    """Begin a training, and leave it with a checkpoint."""

    def stop(moment: Any) -> None:
        if moment.timesteps > after:
            raise Stopped

    try:
        run(folder, progress=stop)
    except Stopped:
        return
    raise AssertionError(f"{folder} has come to its end")


def write_files(to: Path) -> None:
    combat, greed = files.table("ff-combat", files.FIGHT), files.table("greed", files.GREED)
    solvent.save_policy(to / "policy_0.npz", solvent.solve(combat).policies[0], {"seed": 7})
    optimal, uniform = (
        solvent.solve(greed).policies[1],
        solvent.TabularPolicy.uniform(greed, player=1),
    )
    mixed = (optimal.probabilities + 3 * uniform.probabilities) / 4
    second = solvent.TabularPolicy.of(greed, mixed, player=1, name="mixed")
    solvent.save_policy(to / "policy_1.npz", second)
    save_solution(to / "solution.npz", solvent.solve(files.table("greed", files.BOARD)))
    Normalization(np.linspace(0, 1, 4), np.linspace(1, 2, 4)).save(to / "normalization.npz")
    for ending in ("csv", "json"):
        streams.command("chart", "make", "mine", "--seed", "7", "--out", str(to / f"mine.{ending}"))
    rules = json.dumps(streams.RULES)
    words = ("chart", "points", "standard", "--ruleset", rules, "--out", str(to / "points.json"))
    streams.command(*words)

    files.half("half", to)
    layout = layout_for(solvent.make_game("football-strategy", form="half", **streams.TIMED))
    left = [len(layout.sheets) - 4]

    def stop_solving(*_: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Stopped

    half = SheetFolder.create(to / "half-unfinished", layout)
    with half as store, contextlib.suppress(Stopped):
        solve_layout(layout, store, on_sheet=stop_solving)

    for name, run, after in (
        ("ppo", files.ppo, 300),
        ("dqn", files.dqn, 300),
        ("self-play", files.both_seats, 600),
        ("two-minutes", files.two_minutes, 300),
    ):
        if name != "dqn":
            run(to / name)
        stopped(run, to / f"{name}-unfinished", after)
    files.bench_again(to)
    for folder in to.rglob("tensorboard"):
        shutil.rmtree(folder)
    for file in [*to.glob("bench/**/model.zip"), *to.glob("*-unfinished/model.zip")]:
        file.unlink()


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    to = streams.GOLDEN
    to.mkdir(parents=True)
    write_files(to)
    figures, trained = {}, {}
    for name, read in files.READERS.items():
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = read(Path(shutil.copytree(to, Path(folder) / "golden")))
    for training in streams.TRAININGS:
        with tempfile.TemporaryDirectory() as folder:
            training.run(Path(folder) / "run")
            trained[training.name] = streams.parameters_of(Path(folder) / "run")
    write(to / "figures.json", figures)
    write(to / "trainings.json", trained)
    write(to / "streams.json", {case.name: streams.run_stream(case) for case in streams.STREAMS})


if __name__ == "__main__":
    main()
