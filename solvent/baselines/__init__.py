"""Policies that are known without training a network, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from solvent.baselines.baseline import Baseline
from solvent.baselines.generic import first_legal, optimal, uniform
from solvent.model import TabularGame, TabularPolicy
from solvent.model.parameters import check_choice


def _any_game(game: TabularGame, player: int) -> bool:
    return True


def _only_one_chooses(game: TabularGame, player: int) -> bool:
    return not bool((game.action_count[1 - player] > 1).any())


def _learned(game: TabularGame, player: int) -> TabularPolicy:
    from solvent.baselines.q_learning import q_learning

    return q_learning(game, player)


GENERIC: Mapping[str, Baseline] = {
    "optimal": Baseline(optimal, _any_game),
    "uniform": Baseline(uniform, _any_game),
    "first-legal": Baseline(first_legal, _any_game),
    "q-learning": Baseline(_learned, _only_one_chooses),
}
"""The baselines that every game may have."""

_OF_GAMES = {
    "gamebook": "solvent.games.gamebook.baselines",
    "ff-combat": "solvent.games.fighting_fantasy.baselines",
    "football-drive": "solvent.games.football_drive.baselines",
    "football-strategy": "solvent.games.football.baselines.players",
    "greed": "solvent.games.greed.baselines",
}


def _of_game(name: str) -> Mapping[str, Baseline]:
    """The generic baselines and a game's own, which take precedence."""
    own = import_module(_OF_GAMES[name]).BASELINES if name in _OF_GAMES else {}
    return {**GENERIC, **own}


def _all() -> Mapping[str, Baseline]:
    """The generic baselines and those of all games."""
    return {name: one for game in _OF_GAMES for name, one in _of_game(game).items()}


def __getattr__(name: str) -> Any:
    """Gather the baselines of all games when they are first asked for."""
    if name == "BASELINES":
        return _all()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def baseline_names(game: TabularGame, player: int = 0) -> tuple[str, ...]:
    """The names of the baselines that a game has for a player."""
    return tuple(
        name for name, entry in _of_game(game.info.name).items() if entry.suits(game, player)
    )


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
    if name not in _of_game(game.info.name):
        check_choice(name, "baseline", _all())
    check_choice(name, f"baseline of {game.info.name}", baseline_names(game, player))
    return _of_game(game.info.name)[name].make(game, player)


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
    "GENERIC",
    "Baseline",
    "baseline_names",
    "baseline_policies",
    "make_baseline",
]
