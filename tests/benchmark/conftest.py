"""A bench of two algorithms on two tasks, and the submissions that are packed from it."""

from pathlib import Path

import pytest
from submitted import SUITE, WORDS, write_bench

from solvent.benchmark.submissions import pack_submission


@pytest.fixture(scope="session")
def bench_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    write_bench(folder, 10)
    return folder


@pytest.fixture(scope="session")
def submission(bench_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("submissions") / "steady"
    pack_submission(bench_folder, "steady", folder, SUITE, **WORDS)
    return folder


@pytest.fixture(scope="session")
def wild_submission(bench_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("submissions") / "wild"
    pack_submission(bench_folder, "wild_one", folder, SUITE, **{**WORDS, "uses_model": True})
    return folder
