"""Games written down from first state to last, to be compared with the files in tests/golden."""

from collections.abc import Iterable
from typing import Any


def written(state: Any) -> str:
    """A state without the fields that have their defaults."""
    usual = type(state)._field_defaults
    shown = {n: v for n, v in state._asdict().items() if n not in usual or v != usual[n]}
    return ", ".join(f"{name} {value!r}" for name, value in shown.items())


def transcript(game: Any, walk: Iterable[tuple[tuple[str, ...], int]], start: int = 0) -> str:
    """A walk through a game, with every branch that could have been.

    Args:
        game: The rules.
        walk: For each move the names of the players' actions, empty where there is no choice, and
            the number of the branch that is taken.
        start: The number of the start that is taken.
    """
    starts = game.initial()
    lines = [*(_branch(o, " ") for o in starts), ""] if len(starts) > 1 else []

    def arrive(state: Any) -> None:
        lines.extend([written(state), *(f"    | {line}" for line in game.draw(state).splitlines())])

    state = starts[start].state
    for names, branch in walk:
        arrive(state)
        joint = tuple(
            game.info.actions[player].index(name) if name else 0
            for player, name in enumerate(names)
        )
        for action, legal in zip(joint, game.legal_actions(state), strict=True):
            assert action in legal, (state, names)
        lines += [f"player {player}: {name}" for player, name in enumerate(names) if name]
        branches = game.transition(state, joint)
        lines += [_branch(o, ">" if i == branch else " ") for i, o in enumerate(branches)]
        lines.append("")
        state = branches[branch].state
    arrive(state)
    return "\n".join(lines) + "\n"


def _branch(outcome: Any, mark: str) -> str:
    reward = float(outcome.reward)
    return f"  {mark} {outcome.probability!s:>7}  {written(outcome.state)}; reward {reward:g}"
