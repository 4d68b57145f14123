"""A Ray cluster of this machine's own processes, whose "machines" can be added and killed."""

import os
import shutil
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

# Of each machine's object store.
STORE_BYTES = 200 * 2**20

# What a machine runs first on which the package is not installed.
LOST_PACKAGE = "import sys\nsys.modules['solvent'] = None\n"


class Machines:
    """A head and other machines, each a set of processes of its own.

    Args:
        head_processors: Of the head, which the driver shares.
    """

    def __init__(self, head_processors: int = 0) -> None:
        # Sockets stand in it, whose paths may not be long.
        self.folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
        # Ray notes the last cluster's address in a folder that it expects to exist.
        (Path(self.folder) / "ray").mkdir()
        self._environment = pytest.MonkeyPatch()
        self._environment.setenv("RAY_TMPDIR", self.folder)
        self.client_port = free_port()
        with careless():
            self._cluster = Cluster(
                initialize_head=True,
                head_node_args={
                    "num_cpus": head_processors,
                    "object_store_memory": STORE_BYTES,
                    "include_dashboard": False,
                    "temp_dir": self.folder,
                    "ray_client_server_port": self.client_port,
                    # The dead are noticed within seconds, but one that is only slow is not dead.
                    "_system_config": {"health_check_period_ms": 500},
                },
            )
        self.added: list[Any] = []

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    @property
    def client_address(self) -> str:
        return f"ray://127.0.0.1:{self.client_port}"

    def add(self, *, runs_first: str = "") -> Any:
        """Add a machine with one processor, and wait until the head knows of it.

        Args:
            runs_first: Python that each of its processes runs before all else.
        """
        environment = {}
        if runs_first:
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            (folder / "sitecustomize.py").write_text(runs_first, encoding="utf-8")
            environment = {"PYTHONPATH": str(folder)}
        with careless():
            machine = self._cluster.add_node(
                num_cpus=1, object_store_memory=STORE_BYTES, env_vars=environment
            )
            self._cluster.wait_for_nodes()
        self.added.append(machine)
        return machine

    def kill(self, machine: Any) -> None:
        """End a machine's processes with SIGKILL."""
        self.added.remove(machine)
        self._cluster.remove_node(machine, allow_graceful=False)

    def kill_head(self) -> None:
        self._cluster.remove_node(self._cluster.head_node, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()
        self._environment.undo()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def careless() -> Iterator[None]:
    """Ray leaves files of its own open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def other_source(folder: Path) -> str:
    """What a machine runs first that has another source of the package, put into a folder."""
    package = Path(sys.modules["solvent"].__file__ or "").parent
    shutil.copytree(package, folder / "solvent", ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "solvent" / "model" / "dice.py").open("a", encoding="utf-8") as file:
        file.write("# Changed.\n")
    return f"import sys\nsys.path.insert(0, {str(folder)!r})\nimport solvent\n"
