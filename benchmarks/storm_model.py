"""A one-player game as a model for Storm, which solves it by other methods and other code.

Two of Storm's methods give a bracket that holds: interval iteration and optimistic value iteration.
It needs stormpy, which the extra `prism` installs.
"""

from typing import Any

import numpy as np

from solvent.model import TabularGame


def to_storm(table: TabularGame) -> Any:
    """Return a table as a sparse decision process of ``stormpy``.

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
    """
    from stormpy import datastructures, models

    if (table.action_count[1] > 1).any():
        raise ValueError(
            f"{table.info.name}: player 1 has a choice; allowed are one-player games, such as the "
            f"result of solvent.against"
        )
    starts = np.flatnonzero(table.initial)
    extra = int(len(starts) > 1)
    # Storm's rows: the probabilities of their targets, and their rewards.
    leads = [{s + 1: float(table.initial[s]) for s in starts.tolist()}] * extra
    rewards, groups = [0.0] * extra, [0] * extra
    for state in range(table.n_states):
        groups.append(len(leads))
        for row in range(*table.row_start[state : state + 2].tolist()):
            leads.append({})
            for n in range(*table.outcome_start[row : row + 2].tolist()):
                target = int(table.next_state[n]) + extra
                leads[-1][target] = leads[-1].get(target, 0.0) + float(table.probability[n])
        if table.terminal[state]:
            leads.append({state + extra: 1.0})
        rewards += table.reward[slice(*table.row_start[state : state + 2])].tolist() or [0.0]
    entries = [(row, t, lead[t]) for row, lead in enumerate(leads) for t in sorted(lead)]
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
