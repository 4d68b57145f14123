"""What a policy chooses in a state, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from solvent.model import TabularGame, TabularPolicy


def choice_text(
    game: TabularGame, policy: TabularPolicy, state: int, most: int | None = None
) -> str:
    """The actions that a policy may choose in a state: ``keep``, or ``roll 75%, keep 25%``.

    Of more than `most`, the most probable ones and dots.
    """
    names = game.info.actions[policy.player]
    return strategy_text(names, dict(enumerate(policy.probabilities[state].tolist())), most)


def strategy_text(
    names: Sequence[str], chances: Mapping[int, float], most: int | None = None
) -> str:
    """Action probabilities in words, as :func:`choice_text` has them.

    Args:
        names: Of all actions.
        chances: By action.
        most: How many are named at most; all if left out.
    """
    chosen = {action: chance for action, chance in chances.items() if chance >= 5e-4}
    if len(chosen) == 1:
        return str(names[next(iter(chosen))])
    texts = [
        f"{names[action]} {100 * chance:.{0 if chance >= 0.01 else 1}f}%"
        for action, chance in sorted(chosen.items(), key=lambda one: -one[1])
    ]
    return ", ".join(texts[:most] + (["…"] if most is not None and len(texts) > most else []))
