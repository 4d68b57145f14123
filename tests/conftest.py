"""A folder of results as a bench writes it, of perturbed optimal policies of small games.

And torch on one thread, so that trainings repeat.
"""

import gc
import importlib.util
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest

import solvent
from solvent import TabularGame, compile_game, make_game, solve

if importlib.util.find_spec("hypothesis"):
    from hypothesis import settings

    # Imported here, as after gc.freeze() it is too late: Hypothesis looks for who refers to an
    # object.
    # What else runs at the same time may make an example slow.
    settings.register_profile("whole", deadline=None)
    settings.register_profile("fewer", max_examples=40, deadline=None)

COMBAT = {"skill_difference": [-1, 1], "stamina": 6, "opponent_stamina": 5, "luck": 4}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """What is imported and collected stays: no search for garbage looks through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Caches and logs are in a folder of this run of tests, shared by its workers and programs."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOLVENT_CACHE", str(run / "cache"))
        patch.setenv("SB3_LOGDIR", str(run / "log"))  # Otherwise one in /tmp for each learner.
        yield


# Set while a whole run of tests finds no kernel compiled.
COMPILING = "SOLVENT_TESTS_COMPILE"


def pytest_configure(config: pytest.Config) -> None:
    """Set the number of examples; see, before there are workers, what is to be compiled.

    Hypothesis reads its own option later, which therefore counts.
    """
    if importlib.util.find_spec("hypothesis"):
        settings.load_profile("fewer" if "not slow" in config.getoption("markexpr") else "whole")
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    place = os.environ.get("NUMBA_CACHE_DIR") or Path(solvent.__file__).parent
    if whole and not any(Path(place).rglob("*.nbi")):
        os.environ[COMPILING] = "1"


@pytest.fixture(autouse=True, scope="session")
def compiled(own_cache: None) -> None:
    """Workers that start with nothing compiled share the work, or each would do all of it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and COMPILING in os.environ:
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for compile_some in COMPILES[int(worker[2:]) :: workers]:
            compile_some()


def _steps(env_id: str) -> None:
    import gymnasium as gym

    env = gym.make_vec(env_id, 2, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    env.step(np.zeros(2, np.int64))


# What needs most of the kernels, the longest first.
COMPILES = (
    lambda: solve(make_game("pig", target=8)),
    lambda: solve(make_game("football-strategy")),
    lambda: _steps("solvent/FootballHalf-v0"),
    lambda: solvent.solve("FrozenLake-v1"),
    lambda: _steps("solvent/GreedSmall-v0"),
    lambda: _steps("solvent/FFCombat-v0"),
)


@pytest.fixture(scope="session")
def small() -> TabularGame:
    """A combat of a few hundred states, in some of which testing luck is illegal."""
    return compile_game(make_game("ff-combat", stamina=4, opponent_stamina=[3, 5], luck=[0, 3]))


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Combat with four agents; for two, Pig and Greed."""
    from submitted import write_tasks

    return write_tasks(
        tmp_path_factory.mktemp("results"),
        ("solvent/FFCombat-v0", False, COMBAT, [("ppo", 3), ("dqn", 1)]),
        ("solvent/Pig-v0", True, {"target": 8}, [("ppo", 1)]),
        ("solvent/Greed-v0", True, {"limit": 9, "sides": 4}, [("ppo", 2)]),
    )
