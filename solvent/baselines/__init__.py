"""Policies that are known without training a network, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from solvent.baselines.baseline import Baseline
from solvent.baselines.generic import first_legal, optimal, uniform
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.cache import Packed, kept
from solvent.model.discount import discounted_policy, undiscounted
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import GameSpec, game_specs, load, spec_of
from solvent.model.table_cache import names_files


def _any_game(game: TabularGame, player: int) -> bool:
    return True


def _only_one_chooses(game: TabularGame, player: int) -> bool:
    return not bool((game.action_count[1 - player] > 1).any())


def _learned(game: TabularGame, player: int) -> TabularPolicy:
    from solvent.baselines.q_learning import q_learning

    return q_learning(game, player)


GENERIC: Mapping[str, Baseline] = {
    "optimal": Baseline(optimal, _any_game, "The optimum, by the exact solver."),
    "uniform": Baseline(uniform, _any_game, "Every legal action is equally probable."),
    "first-legal": Baseline(first_legal, _any_game, "Always the first legal action."),
    "q-learning": Baseline(_learned, _only_one_chooses, "Tabular Q-learning, without a network."),
}
"""The baselines that every game may have."""


def _own(spec: GameSpec | None) -> Mapping[str, Baseline]:
    """The baselines that a game's spec adds."""
    if spec is None or spec.baselines is None:
        return {}
    found: Mapping[str, Baseline] = load(spec.baselines)
    if not isinstance(found, Mapping):
        raise ValueError(
            f"{spec.baselines}, the baselines of the game {spec.name}, is {shown(found)}; expected "
            f"a mapping of names to Baselines"
        )
    return found


def baselines_of(game: Game | TabularGame) -> Mapping[str, Baseline]:
    """The generic baselines and the game's own, which take precedence.

    In a discounted game they do as in the game without the discount, of which they are told; there
    an optimum of the game's own is not the optimum.
    """
    own = _own(spec_of(game))
    if game.info.discount != 1:
        own = {name: _at_discount(one) for name, one in own.items() if name not in GENERIC}
    return {**GENERIC, **own}


def _at_discount(baseline: Baseline) -> Baseline:
    """The baseline of a game as one of the discounted game."""

    def made(game: TabularGame, player: int) -> TabularPolicy:
        return discounted_policy(baseline.make(undiscounted(game), player), game)

    def suits(game: TabularGame, player: int) -> bool:
        return baseline.suits(undiscounted(game), player)

    return Baseline(made, suits, baseline.description)


def all_baselines() -> Mapping[str, Baseline]:
    """The generic baselines and those of all games, by name."""
    own = [_own(spec) for spec in game_specs().values()]
    return {name: one for group in (GENERIC, *own) for name, one in group.items()}


def baseline_names(game: TabularGame, player: int = 0) -> tuple[str, ...]:
    """The names of the baselines that a game has for a player."""
    return tuple(name for name, entry in baselines_of(game).items() if entry.suits(game, player))


def make_baseline(
    name: str, game: TabularGame, player: int = 0, what: str | None = None
) -> TabularPolicy:
    """A baseline by name.

    Args:
        name: One of :func:`baseline_names`.
        game: The game it is to play.
        player: Whose policy, 0 or 1.
        what: What an error calls it.

    Raises:
        ValueError: If no baseline has that name, or the game has none of that name.
        ModuleNotFoundError: If the baseline needs a package that is not installed.
    """

    def made() -> TabularPolicy:
        baseline = baselines_of(game).get(name)
        if baseline is None or not baseline.suits(game, player):
            # Only now are all the others asked whether they suit.
            names = baseline_names(game, player)
            check_choice(name, what or f"baseline of {game.info.name}", names)
        assert baseline is not None
        return baseline.make(game, player)

    spec = spec_of(game)
    if spec is None or spec.baselines is None or names_files(game.info):
        return made()
    identity = {
        "what": "baseline",
        "name": name,
        "model": game.model_hash,
        "parameters": dict(game.info.parameters),
        "player": player,
    }
    return kept(
        identity,
        [spec.baselines.partition(".")[0].partition(":")[0]],
        made,
        lambda policy: Packed({"name": policy.name}, {"probabilities": policy.probabilities}),
        lambda packed: TabularPolicy(
            packed.arrays["probabilities"], game.model_hash, player, packed.header["name"]
        ),
    )


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
    "GENERIC",
    "Baseline",
    "all_baselines",
    "baseline_names",
    "baseline_policies",
    "baselines_of",
    "make_baseline",
]
