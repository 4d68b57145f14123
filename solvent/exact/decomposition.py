"""The values of a whole game, computed component by component.

Components are solved in an order in which each comes after its successors
(:mod:`solvent.exact.components`).

* A state outside all cycles is solved by backward induction: the best row where one player
  chooses, a matrix game where both do. Matrix games that cannot reach each other are solved
  together.
* A cycle is solved by policy iteration where one player chooses (:mod:`solvent.exact.mdp`), and by
  strategy iteration where both do (:mod:`solvent.exact.markov_game`). Value iteration is not used:
  a sweep that changes little does not prove a small error. A game such as Pig has ten thousand
  cycles of a hundred states; then cycles that cannot reach each other are solved together, too.

Nothing is proved here; :func:`solvent.exact.solve` adds the certificate.
"""

from collections.abc import Callable

import numpy as np

from solvent.exact.compilation import induce, transitions_of
from solvent.exact.components import Components, can_reach, components
from solvent.exact.markov_game import component_of, solve_component
from solvent.exact.matrix_game import solve_matrix_games
from solvent.exact.mdp import TIE, best_rows, policy_iteration
from solvent.exact.solution import ImproperGameError
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, grouped_sum, members

MANY = 100
"""Number of cycles from which on those that cannot reach each other are solved together, as if they
were one component. A few are solved more precisely one by one."""


def optimum(
    game: TabularGame,
    *,
    near: bool = True,
    swap: bool = False,
    report: Callable[[int], None] | None = None,
) -> tuple[Floats, tuple[TabularPolicy, TabularPolicy], str]:
    """Return the values of all states, [S], an optimal policy of each player, and the method.

    Args:
        game: Any game for one player or two, with or without cycles.
        near: Whether sweeps alone may solve large cycles in which one player chooses, and cycles in
            which both do begin with the result of Newton's method.
        swap: Whether the players are exchanged in cycles in which both choose.
        report: Called with the number of states solved so far, whenever that rises.

    Raises:
        ImproperGameError: If from some state no end can be reached, or a player does best by
            never ending play.
        CertificateError: If iteration does not converge, or play ends too rarely for floats.
    """
    if components(game).cyclic.any():
        lost = ~can_reach(game, np.ones(game.n_rows, bool), game.terminal)
        if lost.any():
            raise ImproperGameError(
                f"{game.info.name}: from state {game.states[int(np.argmax(lost))]!r} no end of the "
                f"game can be reached"
            )
    values, chosen, weights, method = _solve(game, near=near, swap=swap, report=report)
    return values, _policies(game, chosen, weights), method


def solve_values(game: TabularGame) -> Floats:
    """Return the values of all states, [S], without policies and without a certificate.

    Iteration begins with the rows of largest expected reward.

    Args:
        game: A game in which only one player chooses. Its masks are not read.
    """
    return _solve(game, greedy=True)[0]


def _solve(
    game: TabularGame,
    *,
    greedy: bool = False,
    near: bool = True,
    swap: bool = False,
    report: Callable[[int], None] | None = None,
) -> tuple[Floats, Ints, tuple[Floats, Floats], str]:
    """Solve a game as :func:`optimum` and :func:`solve_values` do.

    Returns:
        values: [S] the values.
        chosen: [S] the row chosen in each state; -1 where both players choose.
        weights: [K] each: the probabilities of both players' actions in those states, by row.
        method: The name of the method.
    """
    both = (game.action_count[0] > 1) & (game.action_count[1] > 1)
    minimizing = game.action_count[1] > 1
    values = np.zeros(game.n_states)
    chosen = np.full(game.n_states, -1)
    weights = (np.zeros(game.n_rows), np.zeros(game.n_rows))
    transitions = transitions_of(game)

    def run_induction(first: int, last: int) -> None:
        states = parts.order[parts.start[first] : parts.start[last]]
        states = states[~game.terminal[states]]
        induce(states, transitions, game.outcome_reward, minimizing, values, chosen, TIE)

    parts, level = _levels(game, both)
    # Runs of plain states go to the compiled loop; the others are solved here.
    plain = ~parts.cyclic & ~both[parts.order[parts.start[:-1]]]
    begin = 0
    for c in np.flatnonzero(~plain).tolist():
        if c < begin:
            continue
        run_induction(begin, c)
        begin = int(np.searchsorted(level, level[c], side="right"))
        states = np.sort(parts.order[parts.start[c] : parts.start[begin]])
        alone = [not (count[states] > 1).any() for count in game.action_count]
        if not parts.cyclic[c]:
            _solve_simultaneous(game, states, values, weights)
        elif any(alone):
            player = 1 if not alone[1] else 0
            component = component_of(game, states, values, player)
            first = best_rows(component, component.r) if greedy else None
            v, policy = policy_iteration(component, first, near=near)
            values[states] = (1 - 2 * player) * v.sum(axis=0)
            chosen[states] = game.row_start[states] + policy - component.transitions.row_start[:-1]
        else:
            component = component_of(game, states, values)
            values[states], *policies = solve_component(component, near=near, swap=swap)
            rows, _ = members(game.row_start, states)
            weights[0][rows], weights[1][rows] = policies
        if report is not None:
            report(int(parts.start[begin]))
    run_induction(begin, len(plain))
    if report is not None:
        report(game.n_states)

    two = all((count > 1).any() for count in game.action_count)
    kinds = {
        "backward induction": plain.any(),
        "matrix games": both.any(),
        f"{'strategy' if two else 'policy'} iteration": parts.cyclic.any(),
    }
    return values, chosen, weights, " + ".join(name for name in kinds if kinds[name])


def _levels(game: TabularGame, both: Bools) -> tuple[Components, Ints]:
    """Reorder components so that those that can be solved together are consecutive.

    These are matrix games, and cycles if there are many.

    Returns:
        The components, each still after its successors, and ascending numbers [C] that components
        share if they are solved together.
    """
    parts = components(game)
    first = parts.order[parts.start[:-1]]
    kind = np.where(parts.cyclic, 0, both[first])
    if parts.cyclic.sum() >= MANY:
        label = np.repeat(np.arange(len(first)), np.diff(parts.start))
        for player, count in enumerate(game.action_count):
            choosing = np.bincount(label, count[parts.order] > 1) > 0
            kind[parts.cyclic & choosing] += 2 + 2 * player
    if not kind.any():
        return parts, np.arange(len(first))
    level = 8 * parts.depth[first] + kind
    by_level = np.argsort(level, kind="stable")
    # Components of kind 0 are solved one by one.
    level = np.cumsum(np.diff(level[by_level], prepend=-1) + (kind[by_level] == 0) > 0)
    places, size = members(parts.start, by_level)
    start = np.concatenate(([0], np.cumsum(size)))
    return Components(parts.order[places], start, parts.cyclic[by_level], parts.depth), level


def _solve_simultaneous(
    game: TabularGame, states: Ints, values: Floats, weights: tuple[Floats, Floats]
) -> None:
    """Solve the matrix games of states that cannot reach each other; write values and weights."""
    shapes = np.column_stack([count[states] for count in game.action_count])
    for m, n in np.unique(shapes, axis=0).tolist():
        alike = states[(shapes == (m, n)).all(axis=1)]
        rows = game.row_start[alike][:, None] + np.arange(m * n)
        outcomes, count = members(game.outcome_start, rows.ravel())
        terms = game.probability[outcomes] * (
            game.outcome_reward[outcomes] + values[game.next_state[outcomes]]
        )
        q = grouped_sum(np.repeat(np.arange(rows.size), count), terms, rows.size)
        games = solve_matrix_games(q.reshape(-1, m, n))
        values[alike] = games.value
        weights[0][rows] = np.repeat(games.row_strategy, n, axis=1)
        weights[1][rows] = np.tile(games.column_strategy, m)


def _policies(
    game: TabularGame, chosen: Ints, weights: tuple[Floats, Floats]
) -> tuple[TabularPolicy, TabularPolicy]:
    """Return policies that take the chosen rows ([S]), or where that is -1 weigh all rows."""
    pair, single = [], np.flatnonzero(chosen >= 0)
    for player in (0, 1):
        action = game.row_action[player]
        probabilities = np.zeros(game.mask[player].shape)
        # Rows that share an action have the same weight, so any of them will do.
        probabilities[game.row_state, action] = weights[player]
        probabilities[single, action[chosen[single]]] = 1.0
        pair.append(TabularPolicy.of(game, probabilities, player=player, name="optimal"))
    return pair[0], pair[1]
