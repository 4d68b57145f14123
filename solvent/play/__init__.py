"""Play a game in the terminal, with the optimum at hand.

At every decision a person may ask for the value of each action. At the end every decision gets a
cost. Let V* and Q* be the exact values against the opponent's policy. Taking action a in state s
cost V*(s) - Q*(s, a), and the person's return is

    return  =  V*(start)  -  the cost of all decisions  +  chance,

which separates bad luck from bad choices. Here the start is the first state of the episode.

In a state in which both players act at once, the best choice is a mixed strategy. None of its
actions costs anything, because each has the value V* against the opponent's mixed strategy.
"""

from __future__ import annotations

import builtins
import random
import secrets
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from solvent.exact import SolvedGame, SolvedTable, solve
from solvent.model import Game, TabularGame, TabularPolicy, against, cached_table
from solvent.model.cache import OnProgress
from solvent.model.parameters import shown
from solvent.model.registry import make_game, spec_of
from solvent.play.session import (
    MOST_ADVISED,
    MOST_LISTED,
    NEGLIGIBLE,
    Decision,
    Record,
    Session,
    Strategy,
)

__all__ = [
    "MOST_ADVISED",
    "MOST_LISTED",
    "NEGLIGIBLE",
    "Decision",
    "Record",
    "Session",
    "play",
]


def play(
    game: Game | SolvedGame | str,
    *,
    player: int = 0,
    opponent: TabularPolicy | None = None,
    seed: int | None = None,
    input: Callable[[str], str] | None = None,
    output: Callable[[str], object] = print,
    solving: Callable[[], AbstractContextManager[OnProgress | None]] = nullcontext,
) -> Record:
    """Let a person play one episode of a game.

    Args:
        game: The name of a game or its rules, which are solved first, or a solved game.
        player: The person's side, 0 or 1, in a game for two.
        opponent: Policy of the other side, for a game that has a table. By default the opponent
            plays optimally.
        seed: Seed of the dice. By default a new seed is drawn, and shown at the end.
        input: The function that asks a question and returns the answer. It raises EOFError when
            the input ends. The default calls the built-in ``input``, and echoes answers that come
            from a file or a pipe.
        output: The function that shows a text.
        solving: The function that shows the progress of solving. It returns a context manager,
            which is open while the game is solved and yields the function to call with the
            progress, or None.

    Returns:
        The decisions with their costs. An episode left by ``q``, the end of the input or Ctrl-C
        has no result.

    Raises:
        ValueError: If there is no such player, or `opponent` is not a policy of the other
            side in this game.
        TooManyStatesError: If the game is too large for the table that the opponent needs.
    """
    if isinstance(game, str):
        game = make_game(game)
    rules = game if isinstance(game, Game) else game.game
    info = rules.info
    if player not in range(info.players):
        allowed = " and ".join(str(p) for p in range(info.players))
        raise ValueError(f"player is {shown(player)}; allowed in {info.name} are {allowed}")
    if opponent is not None:
        if info.players == 1:
            raise ValueError(f"{info.name} is a game for one; it has no opponent")
        if opponent.player == player:
            raise ValueError(f"policy {opponent.name!r} is for player {player}, which is you")
    with solving() as progress:
        solved, strategy = _prepared(game, player, opponent, progress)
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    rival = "plays optimally" if opponent is None else f"plays {opponent.name!r}"
    spec = spec_of(rules)
    kind: type[Session] = (spec and spec.ask("play", rules)) or Session
    session = kind(
        solved,
        player,
        strategy,
        random.Random(drawn),
        ask=input or partial(_ask, output),
        show=output,
        rival=rival,
    )
    record = session.play()
    if seed is None:
        output(f"To roll the same dice again, use --seed {drawn}.")
    return record


def _prepared(
    game: Game | SolvedGame,
    player: int,
    opponent: TabularPolicy | None,
    progress: OnProgress | None,
) -> tuple[SolvedGame, Strategy]:
    """Return the game solved against the opponent, and the opponent's strategy."""
    if opponent is None:
        solved = solve(game, progress=progress) if isinstance(game, Game) else game
        return solved, partial(solved.policy, player=1 - player)
    rules = game if isinstance(game, Game) else game.game
    table = game.table if isinstance(game, SolvedTable) else cached_table(rules, progress=progress)
    left = against(table, opponent)
    solution = solve(left, progress=progress)
    return SolvedTable(rules, left, solution), partial(_chances, table, opponent)


def _ask(output: Callable[[str], object], prompt: str) -> str:
    """Ask for an answer, and echo it if it does not come from a terminal."""
    answer = builtins.input(prompt)
    if not sys.stdin.isatty():
        output(answer)
    return answer


def _chances(table: TabularGame, policy: TabularPolicy, state: Any) -> Mapping[int, float]:
    """The probabilities of a policy's legal actions in a state."""
    index = table.index[state]
    legal = table.mask[policy.player][index].nonzero()[0]
    chances = policy.probabilities[index, legal]
    return dict(zip(legal.tolist(), chances.tolist(), strict=True))
