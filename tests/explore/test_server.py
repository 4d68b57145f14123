"""The server: who can reach it, what it says of a port that is taken, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest
from typer.testing import CliRunner

from solvent import make_game
from solvent.cli.app import app
from solvent.exact import solve
from solvent.explore import Explorer
from solvent.explore.server import is_loopback, make_page_server, serve

GAME = {"limit": 8, "sides": 2}
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# What a shell has started in the background ignores SIGINT, and so do its children.
INTERRUPTED = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("solvent", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(solve(make_game("greed", **GAME)))


def test_nothing_but_the_loopback_address_is_listened_on_and_refusals_name_it(
    explorer: Explorer,
) -> None:
    server, address = make_page_server(explorer)
    with closing(server.socket):
        name, port = server.socket.getsockname()
        assert (name, address) == ("127.0.0.1", f"http://127.0.0.1:{port}/")
        with pytest.raises(ValueError, match=f"port {port}: .*another --port"):
            make_page_server(explorer, port=port)
    # An address for documentation, which no machine has, and what is none. No name server is asked.
    for host in ("203.0.113.7", "x" * 300):
        with pytest.raises(ValueError, match="cannot listen on"):
            make_page_server(explorer, host=host)


def test_which_addresses_only_this_machine_can_reach() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.0.5", "lab.example")))


def test_a_host_that_others_can_reach_is_warned_of(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from werkzeug.serving import BaseWSGIServer

    def interrupted(self: BaseWSGIServer, poll_interval: float = 0.5) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BaseWSGIServer, "serve_forever", interrupted)
    told: list[str] = []
    serve(explorer, host="0.0.0.0", browser=False, tell=told.append)
    assert "Warning: 0.0.0.0 is not the loopback address" in told[0]
    told.clear()
    serve(explorer, browser=False, tell=told.append)
    assert len(told) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for one process")
def test_the_command_serves_until_it_is_interrupted() -> None:
    words = ["explore", "greed", *(f"--{name}={value}" for name, value in GAME.items())]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *words, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    line = process.stdout.readline()
    [address] = re.findall(r"greed at (http://127\.0\.0\.1:\d+/)", line)
    with OPENER.open(address, timeout=120) as answer:
        assert b"Hide values" in answer.read()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("greed --limit=8 --policy no-file.npz", "no-file.npz"),
        ("greed --limit=8 --port 70000", "port"),
        ("yahtzee --export yahtzee.png", "end in .html"),
        ("yahtzee --export .", "is a directory"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_line(
    words: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--export" in words:  # What cannot be written is refused before the game is solved.
        monkeypatch.setattr("solvent.cli.work.solve_game", None)
    done = CliRunner().invoke(app, ["explore", *words.split(), "--no-browser"])
    assert (done.exit_code, "Traceback" in done.stderr) == (2, False)
    assert message in " ".join(done.stderr.replace("│", " ").split())
