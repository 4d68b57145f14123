"""Baselines: policies known without training a network, by name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.cache import Packed, kept
from solvent.model.parameters import check_choice, shown
from solvent.model.registry import GameSpec, game_specs, load, spec_of
from solvent.model.table_cache import names_files
from solvent.model.transforms import discounted_policy, undiscounted


class Baseline(NamedTuple):
    """A policy that is known without learning.

    Attributes:
        make: A function from a game and a player to that player's policy.
        suits: A function from a game and a player to whether the baseline exists for them. A game's
            own baselines receive tables of that game only. It always exists by default.
        description: Description of how it plays, in one short sentence.
    """

    make: Callable[[TabularGame, int], TabularPolicy]
    suits: Callable[[TabularGame, int], bool] = lambda game, player: True
    description: str = ""


def optimal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the solver's policy, with the normalized score 1."""
    # An environment without this opponent needs no solver, whose libraries take long to import.
    from solvent.exact import cached_solution

    return replace(cached_solution(game).policies[player], name="optimal")


def _learned(game: TabularGame, player: int) -> TabularPolicy:
    from solvent.baselines.q_learning import q_learning

    return q_learning(game, player)


GENERIC: Mapping[str, Baseline] = {
    "optimal": Baseline(optimal, description="The optimum, by the exact solver."),
    "uniform": Baseline(
        lambda game, player: TabularPolicy.uniform(game, player=player),
        description="Every legal action is equally probable.",
    ),
    "first-legal": Baseline(
        lambda game, player: replace(
            TabularPolicy.constant(game, 0, player=player), name="first-legal"
        ),
        description="Always the first legal action.",
    ),
    "q-learning": Baseline(
        _learned,
        lambda game, player: not bool((game.action_count[1 - player] > 1).any()),
        "Tabular Q-learning, without a network.",
    ),
}
"""The generic baselines, available in any game that they suit."""


def own_baselines(spec: GameSpec | None) -> Mapping[str, Baseline]:
    """Return the baselines that a game's spec adds."""
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
    """Return the generic baselines and the game's own, which take precedence.

    In a discounted game the game's own baselines play as in the undiscounted game, which is passed
    to them. Own baselines that replace a generic one, such as an optimum, are left out there.
    """
    own = own_baselines(spec_of(game))
    if game.info.discount != 1:
        own = {name: _at_discount(one) for name, one in own.items() if name not in GENERIC}
    return {**GENERIC, **own}


def _at_discount(baseline: Baseline) -> Baseline:
    """Return the baseline of a game as one of the discounted game."""
    return Baseline(
        lambda game, player: discounted_policy(baseline.make(undiscounted(game), player), game),
        lambda game, player: baseline.suits(undiscounted(game), player),
        baseline.description,
    )


def all_baselines() -> Mapping[str, Baseline]:
    """Return the generic baselines and those of all games, by name."""
    own = [own_baselines(spec) for spec in game_specs().values()]
    return {name: one for group in (GENERIC, *own) for name, one in group.items()}


def baseline_names(game: TabularGame, player: int = 0) -> tuple[str, ...]:
    """Return the names of the baselines that a game has for a player."""
    return tuple(name for name, entry in baselines_of(game).items() if entry.suits(game, player))


def make_baseline(
    name: str, game: TabularGame, player: int = 0, what: str | None = None
) -> TabularPolicy:
    """Make a baseline by name.

    Args:
        name: One of :func:`baseline_names`.
        game: The game to play.
        player: The player whose policy it is, 0 or 1.
        what: Name of the baseline in error messages.

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
    own = spec is not None and (spec.baselines or "").startswith("solvent.")
    if not own or names_files(game.info):
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
        made,
        lambda policy: Packed({"name": policy.name}, {"probabilities": policy.probabilities}),
        lambda packed: TabularPolicy(
            packed.arrays["probabilities"], game.model_hash, player, packed.header["name"]
        ),
    )


def baseline_policies(
    game: TabularGame, names: Iterable[str] | None = None, player: int = 0
) -> dict[str, TabularPolicy]:
    """Make baselines of a game by name, all of them unless `names` is given.

    Raises:
        ValueError: As :func:`make_baseline`.
        ModuleNotFoundError: As :func:`make_baseline`.
    """
    wanted = baseline_names(game, player) if names is None else names
    return {name: make_baseline(name, game, player) for name in wanted}
