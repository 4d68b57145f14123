"""What a policy is worth against a best response, for those who ask again and again.

A learning curve of self-play asks for this number at every point. :func:`best_response` answers
it with a policy and a certificate, for which it builds the folded game; where no play returns to
a state and at most one player chooses in each, one pass over the states gives the same values.
"""

from __future__ import annotations

from solvent.exact.components import components
from solvent.exact.evaluation import best_response, without_negligible
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats


def response_values(game: TabularGame, policy: TabularPolicy, *, tolerance: float = 1e-9) -> Floats:
    """The values when the other player answers a policy in the best way.

    Args:
        game: A game for two.
        policy: Either player's.
        tolerance: As for :func:`best_response`.

    Returns:
        [S] values to player 0, those of ``best_response(game, policy)``.

    Raises:
        ValueError: If the policy is for another game.
        ImproperGameError: If play that is paid on the way need not end.
        CertificateError: As :func:`best_response`.
    """
    from solvent.exact.kernels.response import respond

    policy.check_is_for(game)
    parts = components(game)
    other = 1 - policy.player
    first, second = (count > 1 for count in game.action_count)
    if parts.cyclic.any() or (first & second).any():
        return best_response(game, policy, tolerance=tolerance).values
    policy = without_negligible(policy)
    return respond(
        parts.order,
        game.row_start,
        game.outcome_start,
        game.next_state,
        game.probability,
        game.outcome_reward,
        policy.probabilities[game.row_state, game.row_action[policy.player]],
        (first, second)[other],
        other == 1,
    )
