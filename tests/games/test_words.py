"""What people read and see of each game, compared with the texts that are kept in words.txt.

A change of a word, a drawing or a click shows as a difference of that file, to be read and, if it
is meant, to be copied.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from solvent.games import (
    Blackjack,
    Blotto,
    CarRental,
    Corridor,
    DynaMaze,
    EquipmentReplacement,
    FightingFantasy,
    FootballDrive,
    Gambler,
    Goofspiel,
    Greed,
    Gridworld,
    Inventory,
    Nim,
    Pig,
    Racetrack,
    RandomWalk,
    RockPaperScissors,
    Soccer,
    TicTacToe,
    WindyGridworld,
)
from solvent.games.soccer import DRAWN, OFF, PLAYING
from solvent.model.scene import Grid
from solvent.model.text import state_text

KEPT = Path(__file__).with_name("words.txt")

# Each game, and states of it as tuples.
GAMES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (
        Blackjack(),
        [(14, 1, True), (13, 9, False), (21, 7, True, True), (0, 0, False, False)],
    ),
    (Blotto([2, 4], 2), [((), ()), ((2, 0), (1, 3))]),
    (CarRental(), [(5, 20)]),
    (Corridor(rooms=3), [(1,), (3,), (-1,)]),
    (DynaMaze(), [(1, 4)]),
    (EquipmentReplacement(horizon=3, worst=3), [(2, 1)]),
    (FightingFantasy(1, 3, 4, 5), [(1, 3, 4, 5, "won"), (1, 2, 4, 5, "lost")]),
    (FightingFantasy(1, 3, 4, 0), [(1, 3, 0, 0, "over"), (1, 0, 2, 0, "over")]),
    (
        FightingFantasy(0, 3, 4, 5, round_probabilities=["1/2", "1/6", "1/3"]),
        [(0, 3, 4, 5, "lost")],
    ),
    (
        FootballDrive(),
        [
            (80, 10, 1, ""),
            (4, 4, 3, ""),
            (30, 5, 4, ""),
            (60, 0, 0, "lost"),
            *((80, 0, 0, end) for end in ("field goal", "other's touchdown", "safety")),
            (80, 0, 0, "touchdown"),
        ],
    ),
    (Gambler(goal=10), [(5,), (0,)]),
    (Goofspiel(3), [(2, (3,), (1, 3), (2, 3)), (0, (), (), ())]),
    (
        Greed(20),
        [
            (0, (7, 12), "play"),
            (1, (7, 19), "last"),
            (1, (20, 20), "last"),
            (0, (23, 12), "over"),
            (0, (12, 12), "over"),
        ],
    ),
    (Gridworld(), [(1, 4)]),
    (Inventory(), [(3, 1)]),
    (Nim([1, 3]), [((1, 3), 1)]),
    (Nim([1], misere=True), [((0,), 1)]),
    (Pig(10), [(0, (0, 0), 0), (1, (5, 2), 4), (1, (5, 7), 3), (1, (5, 10), 0)]),
    (Racetrack(("..F", "S.F")), [(1, 1, 1, 0), (-1, -1, 0, 0)]),
    (RandomWalk(), [(3,)]),
    (RockPaperScissors(), [(-1, -1), (1, 0), (0, 1), (1, 1)]),
    (
        Soccer(),
        [
            ((1, 3), (2, 1), 1, PLAYING),
            (OFF, OFF, -1, 0),
            (OFF, OFF, -1, 1),
            (OFF, OFF, -1, DRAWN),
        ],
    ),
    (TicTacToe(), [((1, 2, 0, 0, 0, 0, 0, 0, 0),), ((1, 1, 1, 2, 2, 0, 0, 0, 0),)]),
    (WindyGridworld(), [(3, 9)]),
]


def lines(game: Any, states: list[tuple[Any, ...]]) -> Iterator[str]:
    """What a game says of itself and of some states, line by line."""
    players = range(game.info.players)
    yield f"{game.info.name}: {', '.join(game.player_name(player) for player in players)}"
    for player in players:
        for number, name in enumerate(game.info.actions[player]):
            yield f"  {name}: {game.explain(number, player)}".rstrip(": ")
    yield from (f"  {field}: {', '.join(own)}" for field, own in game.entry_names().items())
    for values in states:
        state = type(game.initial()[0].state)(*values)
        yield f"  {tuple(state)} {state_text(game, state)}"
        yield from (f"    | {line}" for line in game.draw(state).splitlines())
        yield from (f"    {type(part).__name__} {written(part)}" for part in game.scene(state))


def written(part: Any) -> str:
    """A part of a scene as text, without the plain squares of a board."""
    if isinstance(part, Grid):
        cells = enumerate(cell for row in part.rows for cell in row)
        part = (len(part.rows), {n: cell for n, cell in cells if any(cell)}, *part[1:])
    return json.dumps(part, ensure_ascii=False, default=sorted)


def test_words_and_pictures_are_those_that_are_kept(tmp_path: Path) -> None:
    found = [line for game, states in GAMES for line in lines(game, states)]
    new = tmp_path / "words.txt"
    new.write_text("\n".join([*found, ""]), encoding="utf-8")
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    assert found == kept, f"read the difference; if it is meant, copy {new} to {KEPT}"


def test_numbers_in_states_are_whole() -> None:
    """A 3.0 is equal to a 3, but reads otherwise where a state is written."""
    for game, _ in GAMES:
        for state in [outcome.state for outcome in game.initial()][:5]:
            joint = tuple(own[-1] for own in game.legal_actions(state))
            states = [state, *(outcome.state for outcome in game.transition(state, joint))]
            assert not re.search(r"\d\.\d|np\.|Fraction", repr(states)), game.info.name
