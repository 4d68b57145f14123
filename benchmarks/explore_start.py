"""Measure how long `solvent explore` takes from the command to the first picture.

    python benchmarks/explore_start.py [--rounds 5] [--json FILE]

Each line is a program that is started anew in every round, in a process of its own. It ends when
its first page has been asked for over HTTP and read to its end, as a browser does. Measured is the
CPU time of the process, user and system:

    an empty page of Flask       the peer: the same library, one route, one line of HTML
    solvent explore GAME         the command's own way: the game solved, its first page with the
                                 state, the actions and why

for Greed, Fighting Fantasy combat, Pig to 20 and a drive of football, each with what an earlier
run has kept in the cache (SOLVENT_CACHE), and of Greed in one line without. The rounds alternate,
and the least counts. A page is checked to show the value of the game.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

READ = """
import threading, urllib.request
threading.Thread(target=server.serve_forever, daemon=True).start()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
text = opener.open(address).read().decode()
server.shutdown()
"""

EMPTY = """
from flask import Flask
from werkzeug.serving import make_server
app = Flask("empty")
app.get("/")(lambda: "<!doctype html><title>empty</title><p>empty")
server = make_server("127.0.0.1", 0, app, threaded=True)
address = f"http://127.0.0.1:{server.server_port}/"
"""

EXPLORE = """
from solvent.cli.parameters import read_game
from solvent.exact import solve
from solvent.explore import Explorer
from solvent.explore.server import make_page_server
solved = solve(read_game(GAME, WORDS))
server, address = make_page_server(Explorer(solved))
"""

SHOWS = """
assert f"{solved.value:.6f}".replace("-", "−") in text
"""

GAMES = {
    "greed": [],
    "ff-combat": [],
    "pig": ["--target", "20"],
    "football-strategy": [],
}


class Program(NamedTuple):
    """A command, and the way it is started."""

    name: str
    code: str
    cache: str


def programs(cache: str) -> list[Program]:
    """All lines, the peer first."""
    listed = [Program("an empty page of Flask", EMPTY + READ, cache)]
    for game, words in GAMES.items():
        code = EXPLORE.replace("GAME", repr(game)).replace("WORDS", repr(words)) + READ + SHOWS
        name = " ".join(["solvent explore", game, *words])
        listed.append(Program(name, code, cache))
        if game == "greed":
            listed.append(Program(f"{name}, nothing kept", code, "off"))
    return listed


def seconds_of(program: Program) -> float:
    """The CPU seconds of a process."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "SOLVENT_CACHE": program.cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", program.code], capture_output=True, text=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program.name}:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    least: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        listed = programs(cache)
        # What is to be compiled is compiled now, and what is kept is kept.
        for program in listed:
            seconds_of(program)
        for program in [program for _ in range(asked.rounds) for program in listed]:
            spent = seconds_of(program)
            least[program.name] = min(spent, least.get(program.name, spent))
    peer = least[listed[0].name]
    print(f"{'CPU seconds to the first page':<44}{'':>7}  ratio")
    for name, spent in least.items():
        print(f"{name:<44}{spent:7.2f}  {spent / peer:5.1f}")
    if asked.json:
        asked.json.write_text(json.dumps({"cpu_seconds": least}, indent=1))


if __name__ == "__main__":
    main()
