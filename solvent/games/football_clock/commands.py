"""Scores of players of football with a clock, and of the published agent, with progress."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from solvent.baselines.network import NetworkPlayer
from solvent.cli.errors import interruptible
from solvent.cli.layered import layer_bar
from solvent.games.football_clock.baselines.scores import (
    SCORED_AGAINST,
    TimedScore,
    layers_named,
    network_layers,
    score_timed,
)
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.layout import layout_for
from solvent.games.football_clock.solver.solution import TimedSolution

if TYPE_CHECKING:
    from solvent.exact import SolvedGame
    from solvent.report.sections import Section


def score_player(
    game: TimedFootball, player: NetworkPlayer | str, solution: Path | None, out: Path | None
) -> TimedScore:
    """Score a player against those known by name and a best response, with progress.

    Args:
        game: Which, with its start.
        player: A network, or the name of a player.
        solution: The folder of the game's solution, which a small form does not need.
        out: A folder for what is scored so far, or None.

    Raises:
        ValueError: If there is no player of that name, or it has no solution to play by.
        StoreError: If the solution is missing, damaged, or of another game, or `out` holds anything
            else than this score.
    """
    if isinstance(player, str):
        name, policy = player, layers_named(player, game, layout_for(game), solution)
        opponents = [] if player == "optimal" else ["optimal"]
    else:
        name, policy = player.name, network_layers(game, player)
        opponents = list(SCORED_AGAINST)
    return score_timed(
        game,
        policy,
        name,
        opponents=opponents,
        solution=solution,
        threads=os.cpu_count() or 1,
        out=out,
        begun=lambda store: layer_bar(store.game, store.missing, "scoring"),
    )


def paper_agent(solution: SolvedGame) -> list[Section] | None:
    """What the published agent gets in a solved form, rated with progress; the sections about it.

    Args:
        solution: Of a form with a clock; of another there are none.
    """
    from solvent.games.football_clock.report.agent import rate_agent
    from solvent.games.football_clock.report.page import paper_agent_sections

    if not isinstance(solution, TimedSolution):
        return None
    layers = solution.layout.layers
    with (
        interruptible("nothing of the published agent's rating is kept"),
        layer_bar(solution.layered, layers, "rating the published agent") as tell,
    ):
        scores = rate_agent(solution, threads=os.cpu_count() or 1, on_layer=tell)
    return paper_agent_sections(solution, scores)
