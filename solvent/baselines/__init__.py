"""Policies that are known without training a network, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from solvent.baselines.generic import first_legal, optimal, uniform
from solvent.games.fighting_fantasy.baselines import RULES, combat_policy
from solvent.games.football_drive.baselines import DRIVE_RULES, drive_policy
from solvent.games.gamebook.baselines import first_visit
from solvent.games.greed.baselines import PLANS, greed_policy, suits_greed
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_choice


class Baseline(NamedTuple):
    """A policy that can be had for the asking.

    Attributes:
        make: From a game and a player to that player's policy.
        suits: Whether it is one for a game and a player.
    """

    make: Callable[[TabularGame, int], TabularPolicy]
    suits: Callable[[TabularGame, int], bool]


def _any_game(game: TabularGame, player: int) -> bool:
    return True


def _only_one_chooses(game: TabularGame, player: int) -> bool:
    return not bool((game.action_count[1 - player] > 1).any())


def _is_combat(game: TabularGame, player: int) -> bool:
    return game.info.name == "ff-combat" and player == 0


def _learned(game: TabularGame, player: int) -> TabularPolicy:
    from solvent.baselines.q_learning import q_learning

    return q_learning(game, player)


def _is_drive(game: TabularGame, player: int) -> bool:
    return game.info.name == "football-drive" and player == 0


def _is_book(game: TabularGame, player: int) -> bool:
    return game.info.name == "gamebook" and player == 0


def _drive_rule(name: str, game: TabularGame, player: int) -> TabularPolicy:
    return drive_policy(name, game)


def _optimal(game: TabularGame, player: int) -> TabularPolicy:
    if game.info.name == "football-strategy":
        from solvent.games.football.baselines.players import optimal_football

        return optimal_football(game, player)
    return optimal(game, player)


def _suits_football(game: TabularGame, player: int) -> bool:
    if game.info.name != "football-strategy":
        return False
    from solvent.games.football.baselines.players import suits_football

    return suits_football(game)


def _football(name: str, game: TabularGame, player: int) -> TabularPolicy:
    from solvent.games.football.baselines.players import football_policy

    return football_policy(name, game, player)


def _combat_rule(name: str, game: TabularGame, player: int) -> TabularPolicy:
    return combat_policy(name, game)


FOOTBALL_PLAYERS = ("paper-agent", "fitted-agent", "run-heavy", "pass-heavy", "tendencies")
"""Those of :mod:`solvent.games.football.baselines.players`, which takes a while to import."""

BASELINES: Mapping[str, Baseline] = {
    "optimal": Baseline(_optimal, _any_game),
    "uniform": Baseline(uniform, _any_game),
    "first-legal": Baseline(first_legal, _any_game),
    "q-learning": Baseline(_learned, _only_one_chooses),
    "first-visit": Baseline(first_visit, _is_book),
    **{name: Baseline(partial(_combat_rule, name), _is_combat) for name in RULES},
    **{name: Baseline(partial(_drive_rule, name), _is_drive) for name in DRIVE_RULES},
    **{name: Baseline(partial(_football, name), _suits_football) for name in FOOTBALL_PLAYERS},
    **{name: Baseline(partial(greed_policy, name), partial(suits_greed, name)) for name in PLANS},
}
"""Every baseline. Which of them a game has, :func:`baseline_names` says."""


def baseline_names(game: TabularGame, player: int = 0) -> tuple[str, ...]:
    """The names of the baselines that a game has for a player."""
    return tuple(name for name, entry in BASELINES.items() if entry.suits(game, player))


def make_baseline(name: str, game: TabularGame, player: int = 0) -> TabularPolicy:
    """A baseline by name.

    Args:
        name: One of :func:`baseline_names`.
        game: The game it is to play.
        player: Whose policy, 0 or 1.

    Raises:
        ValueError: If no baseline has that name, or the game has none of that name.
        ModuleNotFoundError: If the baseline needs a package that is not installed.
    """
    entry = BASELINES[check_choice(name, "baseline", BASELINES)]
    check_choice(name, f"baseline of {game.info.name}", baseline_names(game, player))
    return entry.make(game, player)


def baseline_policies(
    game: TabularGame, names: Iterable[str] | None = None, player: int = 0
) -> dict[str, TabularPolicy]:
    """Baselines of a game by name, all of them unless `names` says which.

    Raises:
        ValueError: As :func:`make_baseline`.
        ModuleNotFoundError: As :func:`make_baseline`.
    """
    wanted = baseline_names(game, player) if names is None else names
    return {name: make_baseline(name, game, player) for name in wanted}


__all__ = [
    "BASELINES",
    "Baseline",
    "baseline_names",
    "baseline_policies",
    "make_baseline",
]
