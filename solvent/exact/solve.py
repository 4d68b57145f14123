"""The optimum of any finite zero-sum game, component by component, with a certificate.

States are solved in an order in which every state comes after all that it can lead to
(:mod:`solvent.exact.components`).

* A state outside all cycles is solved by backward induction: the best row where one player
  chooses, a matrix game where both do. Matrix games of which none leads to another are solved
  together.
* Inside a cycle, strategy iteration: player 0 fixes a policy, player 1 answers with a best
  response found by policy iteration with linear solves, player 0 improves where that gives
  strictly more (:mod:`solvent.exact.strategy_iteration`). Value iteration is not used: that a
  sweep changes little does not bound the error.
"""

from __future__ import annotations

import numpy as np

from solvent.exact.certificate import bracket
from solvent.exact.components import Components, cannot_end, components, reached
from solvent.exact.evaluation import expectation
from solvent.exact.matrix_game import solve_matrix_games
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.exact.strategy_iteration import TIE, Cycle
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges, grouped_sum


def solve(game: TabularGame, *, tolerance: float = 1e-9) -> Solution:
    """Find the value of every state and an optimal policy of each player, and prove it.

    Policies that end play for certain are compared. Where rewards cancel in a loop (+1, then -1)
    going round for ever has no value, so it is not among them.

    Args:
        game: Any game for one player or two, with or without cycles.
        tolerance: Widest bracket accepted, in units of the largest value or reward that play from
            the start can meet, or of 1 if that is larger.

    Returns:
        The solution with its bracket; where both players mix, the policies are optimal up to the
        accuracy of the matrix games.

    Raises:
        ImproperGameError: If from some state no end can be reached, or a player does best by
            never ending; the message names a state.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
    """
    parts = components(game)
    endless = cannot_end(game, np.ones(game.n_rows, bool)) if parts.cyclic.any() else np.zeros(1)
    if endless.any():
        state = game.states[int(np.argmax(endless))]
        raise ImproperGameError(
            f"{game.info.name}: from state {state!r} no end of the game can be reached"
        )
    values, weights, method = _solve_states(game, parts)
    policies = _policies(game, weights)
    lower, upper = bracket(game, values, policies)
    if not upper - lower <= tolerance and not upper - lower <= tolerance * (
        scale := _scale(game, values)
    ):
        raise CertificateError(
            f"{game.info.name}: the value lies in [{lower!r}, {upper!r}], which is wider than "
            f"{tolerance * scale:.1e}; a larger tolerance= accepts it"
        )
    return Solution(
        # The proof can be tighter than the iteration was: a value outside the bracket is wrong.
        value=min(max(float(game.initial @ values), lower), upper),
        values=values,
        action_values=expectation(game, values),
        policies=policies,
        lower=lower,
        upper=upper,
        method=method,
        model_hash=game.model_hash,
    )


def solve_values(game: TabularGame) -> Floats:
    """The values of all states, [S], without policies and without a certificate.

    Args:
        game: A game in which only player 0 chooses; iteration begins with the largest rewards.
    """
    return _solve_states(game, components(game), greedy=True)[0]


def _solve_states(
    game: TabularGame, parts: Components, *, greedy: bool = False
) -> tuple[Floats, tuple[Floats, Floats], str]:
    """Values [S], both players' probabilities of rows' actions (each [K]), and the method."""
    from solvent.exact.kernels.induction import induce

    both = (game.action_count[0] > 1) & (game.action_count[1] > 1)
    minimizing = game.action_count[1] > 1
    values = np.zeros(game.n_states)
    chosen = np.full(game.n_states, -1)
    weights = (np.zeros(game.n_rows), np.zeros(game.n_rows))

    def run_induction(first: int, last: int) -> None:
        states = parts.order[parts.start[first] : parts.start[last]]
        states = states[~game.terminal[states]]
        induce(
            states, game.row_start, game.outcome_start, game.next_state, game.probability,
            game.outcome_reward, minimizing, values, chosen, TIE,
        )  # fmt: skip

    parts, level = _levels(parts, both)
    # Runs of plain states go to the compiled loop; what is between them is solved here.
    plain = ~parts.cyclic & ~both[parts.order[parts.start[:-1]]]
    begin = 0
    for c in np.flatnonzero(~plain).tolist():
        if c < begin:
            continue
        run_induction(begin, c)
        begin = c + 1
        if parts.cyclic[c]:
            states = parts.order[parts.start[c] : parts.start[c + 1]]
            Cycle(game, states, values).solve(weights, greedy=greedy)
        else:
            begin = int(np.searchsorted(level, level[c], side="right"))
            states = parts.order[parts.start[c] : parts.start[begin]]
            _solve_simultaneous(game, states, values, weights)
    run_induction(begin, len(plain))

    induced = chosen[chosen >= 0]
    for player in (0, 1):
        action = game.row_action[player]
        same = np.zeros(game.n_states, np.int64)
        same[game.row_state[induced]] = action[induced]
        solved_here = (chosen >= 0)[game.row_state]
        weights[player][solved_here] = (action == same[game.row_state])[solved_here]
    kinds = [
        name
        for name, present in (
            ("backward induction", plain.any()),
            ("matrix games", both.any()),
            ("strategy iteration", parts.cyclic.any()),
        )
        if present
    ]
    return values, weights, " + ".join(kinds)


def _levels(parts: Components, both: Bools) -> tuple[Components, Ints]:
    """Components reordered so that matrix games that can be solved at once are consecutive.

    Returns:
        The components, each still after all that it can lead to, and ascending numbers [C] that
        components with both players choosing outside of cycles share if none leads to another.
    """
    first = parts.order[parts.start[:-1]]
    at_once = both[first] & ~parts.cyclic
    if not at_once.any():
        return parts, np.arange(len(first))
    level = 2 * parts.depth[first] + at_once
    by_level = np.argsort(level, kind="stable")
    size = np.diff(parts.start)[by_level]
    order = parts.order[concatenated_ranges(parts.start[by_level], size)]
    start = np.concatenate(([0], np.cumsum(size)))
    return Components(order, start, parts.cyclic[by_level], parts.depth), level[by_level]


def _solve_simultaneous(
    game: TabularGame, states: Ints, values: Floats, weights: tuple[Floats, Floats]
) -> None:
    """Solve matrix games in states of which none leads to another."""
    shapes = np.column_stack([count[states] for count in game.action_count])
    for m, n in np.unique(shapes, axis=0).tolist():
        alike = states[(shapes == (m, n)).all(axis=1)]
        rows = game.row_start[alike][:, None] + np.arange(m * n)
        count = game.outcome_start[rows + 1] - game.outcome_start[rows]
        outcomes = concatenated_ranges(game.outcome_start[rows].ravel(), count.ravel())
        terms = game.probability[outcomes] * (
            game.outcome_reward[outcomes] + values[game.next_state[outcomes]]
        )
        q = grouped_sum(np.repeat(np.arange(rows.size), count.ravel()), terms, rows.size)
        games = solve_matrix_games(q.reshape(-1, m, n))
        values[alike] = games.value
        weights[0][rows] = np.repeat(games.row_mix, n, axis=1)
        weights[1][rows] = np.tile(games.column_mix, m)


def _policies(
    game: TabularGame, weights: tuple[Floats, Floats]
) -> tuple[TabularPolicy, TabularPolicy]:
    pair = []
    for player in (0, 1):
        probabilities = np.zeros(game.mask[player].shape)
        # Rows that share an action carry the same weight, so any of them tells it.
        probabilities[game.row_state, game.row_action[player]] = weights[player]
        pair.append(TabularPolicy.of(game, probabilities, player=player, name="optimal"))
    return pair[0], pair[1]


def _scale(game: TabularGame, values: Floats) -> float:
    """The largest value or reward that play from the start can meet, at least 1."""
    met = reached(game)
    rewards = np.abs(game.outcome_reward[met[game.row_state[game.outcome_row]]]).max(initial=0)
    return max(1.0, float(rewards), float(np.abs(values[met]).max()))
