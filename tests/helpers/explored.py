"""Solved games and their explorers, each made once, and what a page says."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import Any

from solvent import make_game
from solvent.exact import solve, with_table
from solvent.explore import Explorer, Library, make_app
from solvent.explore.server import make_page_server
from solvent.games.greed.solver import GreedSolution, solve_greed
from solvent.play.line import Line

# Forms of games that are solved at once, by the names that tests use.
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "lake": ("FrozenLake-v1", {}),
    "greed": ("greed", {"limit": 12, "sides": 3}),
    "greed to 20": ("greed", {"limit": 20, "sides": 4}),
    "pig": ("pig", {"target": 12}),
    "yahtzee": ("yahtzee", {"dice": 2, "boxes": ["aces", "twos", "chance"]}),
    "corridor": ("corridor", {"rooms": 4}),
    "goofspiel": ("goofspiel", {"cards": 3}),
    "one shot": ("blotto", {"soldiers": [2, 4], "fields": 2}),
}


class Untabled(GreedSolution):
    """As of a game that is too large for a table."""

    tabled = None


@cache
def solved(name: str) -> Any:
    """The solution of a game, by its table if it has one."""
    if name == "greed without a table":
        return Untabled(**vars(solve_greed(12, 3)))
    own, parameters = GAMES.get(name, (name, {}))
    game = solve(make_game(own, **parameters))
    return game if name.startswith("football") else with_table(game) or game


@cache
def explorer(name: str) -> Explorer:
    return Explorer(solved(name), dice=random.Random(3))


def client(games: str | Explorer) -> Any:
    own = explorer(games) if isinstance(games, str) else games
    return make_app(Library.of(own)).test_client()


def random_line(name: str, seed: int, most: int = 40) -> Line:
    dice = random.Random(seed)
    line = Line(solved(name), dice.choice(solved(name).game.initial()).state)
    while not line.over and len(line.plies) < most:
        legal = line.game.legal_actions(line.state)
        line = line.moved(tuple(dice.choice(own) for own in legal), None, dice)
    return line


def waited(own: Explorer, address: str) -> str:
    """A page, once what it waits for has ended."""
    for _ in range(200):
        text: str = client(own).get(address).text
        if "<progress" not in text:
            return text
    raise AssertionError("the work does not end")


def line_at(own: Explorer, address: str) -> Line:
    return own.line("", [*re.findall(r"line=([^&]*)", address), ""][0])


def numbers(text: str, of: str) -> list[float]:
    [part] = re.findall(of, text, re.DOTALL)
    return [float(value) for value in re.findall(r'<data [^>]*?value="([^"]+)"', part)]


@contextmanager
def served(games: str | Library) -> Iterator[str]:
    """The address of a server that lives as long as the context."""
    if isinstance(games, str):
        games = Library.of(Explorer(solved(games), dice=random.Random(5)))
    server, address = make_page_server(games)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield address.rstrip("/")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
