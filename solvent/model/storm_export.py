"""A game for one player as a model of Storm's, so that Storm can check what is found here.

Storm's ways of computing values are not those of this project, nor is its code. Two of them give a
bracket that holds: interval iteration and optimistic value iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvent.model.tabular import TabularGame


def to_storm(table: TabularGame) -> Any:
    """A table as a sparse decision process of ``stormpy``.

    Its value is that of the property ``R{"reward"}max=? [C]``, the largest total reward. Storm
    wants rewards that are not negative. A start over several states is one more state, the first,
    with one action.

    Args:
        table: A game in which player 1 has no choice.

    Returns:
        A ``stormpy.models.SparseMdp`` with the labels ``init`` and ``end`` and the rewards
        ``reward``. Its states are those of the table, after the one for the start if there is one;
        those that end the episode loop.

    Raises:
        ValueError: If player 1 has a choice.
        ModuleNotFoundError: If stormpy is not installed (``pip install 'solvent[prism]'``).
    """
    from stormpy import datastructures, models

    if (table.action_count[1] > 1).any():
        raise ValueError(
            f"{table.info.name}: player 1 has a choice; allowed are games for one, such as "
            f"solvent.against leaves"
        )
    starts = np.flatnonzero(table.initial)
    extra = int(len(starts) > 1)
    entries: list[tuple[int, int, float]] = [
        (0, int(s) + 1, float(table.initial[s])) for s in starts if extra
    ]
    rewards = [0.0] * extra
    groups = [0] * extra
    for state in range(table.n_states):
        groups.append(len(rewards))
        for row in range(*table.row_start[state : state + 2].tolist()):
            into: dict[int, float] = {}
            for n in range(*table.outcome_start[row : row + 2].tolist()):
                target = int(table.next_state[n]) + extra
                into[target] = into.get(target, 0.0) + float(table.probability[n])
            entries += [(len(rewards), target, into[target]) for target in sorted(into)]
            rewards.append(float(table.reward[row]))
        if table.terminal[state]:
            entries.append((len(rewards), state + extra, 1.0))
            rewards.append(0.0)
    builder = datastructures.SparseMatrixBuilder[float](
        rows=len(rewards),
        columns=len(groups),
        entries=len(entries),
        has_custom_row_grouping=True,
        row_groups=len(groups),
    )
    rows, columns, values = zip(*entries, strict=True)
    builder.add_next_values(list(rows), list(columns), list(values), groups)
    labels = models.StateLabeling(len(groups))
    labels.add_label("init")
    labels.add_label_to_state("init", 0 if extra else int(starts[0]))
    labels.add_label("end")
    for state in np.flatnonzero(table.terminal).tolist():
        labels.add_label_to_state("end", state + extra)
    return models.SparseMdp[float](
        models.SparseModelComponents[float](
            transition_matrix=builder.build(),
            state_labeling=labels,
            reward_models={
                "reward": models.SparseRewardModel[float](
                    optional_state_action_reward_vector=rewards
                )
            },
        )
    )
