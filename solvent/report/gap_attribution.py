"""Gap attribution: the states in which a gap arises."""

from dataclasses import dataclass
from typing import Any

from solvent.exact import GapLocation, Solution
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.text import choice_text


@dataclass(frozen=True, slots=True)
class LosingState:
    """A state in which a policy loses value.

    Attributes:
        state: The state.
        chosen: The policy's choice there.
        best: An optimal policy's choice there.
        contribution: Expected loss there in an episode.
        share: The contribution as a share of the policy's total loss.
        visits: Expected number of visits in an episode.
        loss: The loss of one visit.
    """

    state: Any
    chosen: str
    best: str
    contribution: float
    share: float
    visits: float
    loss: float


def losing_states(
    game: TabularGame,
    policy: TabularPolicy,
    solution: Solution,
    location: GapLocation,
    most: int = 10,
    actions: int | None = None,
    rules: Game | None = None,
) -> tuple[LosingState, ...]:
    """Return the states in which a policy loses most, the costliest first.

    Args:
        game: The game.
        policy: The policy of either player.
        solution: The solution of `game`.
        location: The location of the policy's gap.
        most: The largest number of states to return.
        actions: The largest number of actions to name in a state, all if left out.
        rules: The rules, for words of their own for the actions of a state.
    """
    optimal = solution.policies[policy.player]
    total = float(location.contribution.sum())
    return tuple(
        LosingState(
            state=game.states[state],
            chosen=choice_text(game, policy, state, actions, rules),
            best=choice_text(game, optimal, state, actions, rules),
            contribution=float(location.contribution[state]),
            share=float(location.contribution[state]) / total,
            visits=float(location.visits[state]),
            loss=float(location.loss[state]),
        )
        for state in location.ranked(most)
    )
