"""Measures of how hard a game is to learn, computed from its table without sampling.

One player learns; chance, and an opponent whose policy is fixed, are part of the game. V* and Q*
are the optimal values, d* and d_u the expected numbers of visits under the optimal policy that the
solver found and under uniform play.

**Action gaps.** In a state with a choice, the gap is V*(s) minus the largest Q*(s, a) of a
suboptimal action; there is none if every action is optimal. Its quantiles weigh each state by
d*(s): they show how small the differences are that a learner must detect during optimal play.

**Effective horizon.** Let Q_1 be the action values of uniform play, and Q_{k+1} the result of one
step of value iteration on Q_k: expected reward plus the largest Q_k of the next state. The horizon
is the smallest k for which every policy that is greedy for Q_k is optimal from the start (Laidlaw,
Russell and Dragan 2023, "Bridging RL theory and practice with the effective horizon", NeurIPS, who
add a term for the number of samples; expectations here are exact). A horizon of 1 means that it is
optimal to take the action that would be best if play were uniform afterwards. Action values that
differ by less than 1e-9 of the largest one of their state count as equal.

**Concentrability.** Divide both measures of visits by their sums. The largest ratio d*(s) / d_u(s)
says how rarely uniform play visits the states of optimal play (Munos 2003, "Error bounds for
approximate policy iteration", ICML; Rashidinejad et al. 2021, "Bridging offline reinforcement
learning and imitation learning", NeurIPS, take such a ratio of state-action pairs, which is at
least as large). The mean weighs ratios by d*.

**Diameter.** The largest, over pairs of states (s, t), of the least expected number of moves from s
to t (Jaksch, Ortner and Auer 2010, "Near-optimal regret bounds for reinforcement learning",
definition 1). Since games here end, play restarts: an end is followed by the start at once, which
counts no move. Terminal states are not among the pairs, and moves of an opponent count, too.
*Reach* is the same from the start alone: the least expected number of moves, restarts included, to
the state that is hardest to reach. Both solve one game for each state, so they are left out above a
limit.
"""

from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from solvent.exact.components import free_rows, reached, staying_rows
from solvent.exact.decomposition import solve_values
from solvent.exact.evaluation import policy_value, state_visitation
from solvent.exact.solution import ImproperGameError, Solution, check_solution
from solvent.model import GameInfo, TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats

TIE = 1e-9
"""Relative difference up to which action values count as equal."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

LARGEST = 10_000_000
"""Largest number of states times outcomes for which one game per state is solved, in a minute."""

# The largest effective horizon that is tried.
_FARTHEST = 1000


@dataclass(frozen=True)
class Hardness:
    """Exact measures of how hard a game is to learn; the module defines them.

    Attributes:
        game: Name of the game.
        value: The optimum at the start, to the player who learns.
        states: Number of states that can be reached and are not terminal.
        decisions: Number of those in which the player has a choice.
        length_optimal: Expected number of the player's moves under the optimum.
        length_uniform: Length under uniform play; infinite if an episode need not end.
        gap_uniform: Optimality gap of uniform play.
        gap_constant: Least gap of a policy that always takes one action, or the lowest legal one
            where that is illegal, as environments do.
        constant: The name of that action.
        action_gaps: Pairs of a share of the visits to decisions, and the action gap that this share
            does not exceed; states in which all actions are optimal are left out.
        ties: Share of the visits to decisions in which all actions are optimal.
        effective_horizon: Smallest k for which every greedy policy of Q_k is optimal, Q_1 being the
            values of uniform play; None if it exceeds 1,000 or uniform play has no value.
        concentrability: Largest ratio of the shares of visits under the optimum and uniform play.
        mean_concentrability: Mean ratio, weighted by the visits of the optimum.
        diameter: Expected number of moves between the states farthest apart; None if not computed.
        reach: Expected number of moves from the start to the farthest state; None if not computed.
    """

    game: str
    value: float
    states: int
    decisions: int
    length_optimal: float
    length_uniform: float
    gap_uniform: float
    gap_constant: float
    constant: str
    action_gaps: tuple[tuple[float, float], ...]
    ties: float
    effective_horizon: int | None
    concentrability: float
    mean_concentrability: float
    diameter: float | None
    reach: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the measures by name, as plain values for JSON; quantiles by their shares."""
        return {**asdict(self), "action_gaps": {str(q): gap for q, gap in self.action_gaps}}

    def __repr__(self) -> str:
        """Return a table of all measures."""
        rows = []
        for name, value in self.to_dict().items():
            if isinstance(value, dict):
                value = ", ".join(f"{share}: {gap:.4g}" for share, gap in value.items())
            shown = f"{value:z.6g}" if isinstance(value, float) else str(value)
            rows.append(f"{name.replace('_', ' '):22}{shown}")
        return "\n".join(rows)


def measure_hardness(
    game: TabularGame, solution: Solution, *, player: int = 0, largest: int = LARGEST
) -> Hardness:
    """Measure how hard a game is to learn for one player.

    Args:
        game: A game in which only this player has a choice.
        solution: Solution of the game.
        player: The player who learns, 0 or 1.
        largest: Number of states times number of outcomes up to which diameter and reach are
            computed.

    Raises:
        ValueError: If the other player has a choice, or the solution is for another game.
        ImproperGameError: If an episode under the optimum need not end.
    """
    check_solution(solution, game)
    if (game.action_count[1 - player] > 1).any():
        raise ValueError(
            f"{game.info.name} has a second player who chooses; allowed are one-player games, and "
            f"environments with an opponent"
        )
    sign = 1 - 2 * player
    live = reached(game) & ~game.terminal
    choosing = live & (game.action_count[player] > 1)
    uniform = TabularPolicy.uniform(game, player=player)
    visits = state_visitation(game, solution.policies[player])
    try:
        visits_uniform: Floats | None = state_visitation(game, uniform)
    except ImproperGameError:
        visits_uniform = None
    acting = game.on_turn(player)
    q = sign * solution.action_values
    optimal = _equal_to_best(game, q)
    constants = [
        _value(game, TabularPolicy.constant(game, action, player=player))
        for action in range(game.mask[player].shape[1])
    ]
    best = int(np.argmax(constants))
    optimum = sign * solution.value
    met = np.flatnonzero(live & (visits > 0))
    share = visits[met] / visits[live].sum()
    ratios = np.full(len(met), inf)
    if visits_uniform is not None:
        with np.errstate(divide="ignore"):
            ratios = share / (visits_uniform[met] / visits_uniform[live].sum())
    gaps, ties = _action_gaps(game, q, optimal, visits * choosing)
    small = live.sum() * len(game.next_state) <= largest
    diameter, reach = _diameter(game, live) if small else (None, None)
    return Hardness(
        game=game.info.name,
        value=optimum,
        states=int(live.sum()),
        decisions=int(choosing.sum()),
        length_optimal=float(visits[acting].sum()),
        length_uniform=inf if visits_uniform is None else float(visits_uniform[acting].sum()),
        # Rounding may leave an optimal policy above the optimum.
        gap_uniform=max(optimum - _value(game, uniform), 0.0),
        gap_constant=max(optimum - constants[best], 0.0),
        constant=game.info.actions[min(player, len(game.info.actions) - 1)][best],
        action_gaps=gaps,
        ties=ties,
        effective_horizon=_effective_horizon(game, uniform, optimal, solution.values),
        concentrability=float(ratios.max(initial=0.0)),
        mean_concentrability=float(share @ ratios),
        diameter=diameter,
        reach=reach,
    )


def _value(game: TabularGame, policy: TabularPolicy) -> float:
    """Return the value of a policy at the start, to its player; minus infinity if it has none."""
    try:
        value = (1 - 2 * policy.player) * game.at_start(policy_value(game, policy))
    except ImproperGameError:
        return -inf
    return -inf if np.isnan(value) else value


def _largest(game: TabularGame, row_values: Floats) -> Floats:
    """Return the largest value ([K]) of each state's rows, [S]; 0 in terminal states."""
    best = np.zeros(game.n_states)
    filled = np.flatnonzero(~game.terminal)
    best[filled] = np.maximum.reduceat(row_values, game.row_start[filled]) if len(filled) else 0
    return best


def _equal_to_best(game: TabularGame, row_values: Floats) -> Bools:
    """Return whether each row's value is the largest of its state, up to rounding, [K]."""
    best = _largest(game, row_values)
    scale = _largest(game, np.abs(row_values))
    return np.asarray(row_values >= (best - TIE * scale)[game.row_state])


def _action_gaps(
    game: TabularGame, q: Floats, optimal: Bools, weight: Floats
) -> tuple[tuple[tuple[float, float], ...], float]:
    """Return quantiles of the action gaps, and the share of the weight of states without one."""
    second = _largest(game, np.where(optimal, -inf, q))
    gap = _largest(game, q) - second
    has_gap = np.isfinite(gap) & (weight > 0)
    if not has_gap.any():
        return (), 1.0
    weights = weight[has_gap]
    sizes = np.quantile(gap[has_gap], QUANTILES, weights=weights, method="inverted_cdf")
    found = tuple(zip(QUANTILES, sizes.tolist(), strict=True))
    return found, max(0.0, float(1 - weights.sum() / weight.sum()))


def _effective_horizon(
    game: TabularGame, uniform: TabularPolicy, optimal: Bools, optimum: Floats
) -> int | None:
    """Return the smallest k for which every policy greedy for Q_k is optimal; None if unknown."""
    sign = 1 - 2 * uniform.player
    try:
        values = sign * policy_value(game, uniform)
    except ImproperGameError:
        return None
    if not np.isfinite(values).all():
        return None
    # A policy that stays in such rows for ever has the value 0, which is optimal there.
    worthless = np.abs(optimum) <= TIE * np.abs(optimum).max(initial=0)
    idle = free_rows(game) & worthless[game.row_state]
    for k in range(1, _FARTHEST + 1):
        q = sign * game.expectation(sign * values)
        greedy = _equal_to_best(game, q)
        taken = greedy & reached(game, greedy)[game.row_state]
        if not ((taken & ~optimal).any() or (staying_rows(game, taken)[1] & ~idle).any()):
            return k
        values = np.where(game.terminal, 0.0, _largest(game, q))
    return None


def _diameter(game: TabularGame, live: Bools) -> tuple[float, float]:
    """Return the diameter and the reach: one game is solved for each state as the target."""
    restart, end = game.n_states, game.n_states + 1
    starts = np.flatnonzero((game.initial > 0) & ~game.terminal)
    # An end becomes the state `restart`, which leads to the initial states and counts no move. Of
    # these it leads to none that have ended, since play restarts until it begins.
    begins = game.initial[starts] / game.initial[starts].sum()
    towards = np.where(game.terminal[game.next_state], restart, game.next_state)
    count = np.append(np.diff(game.row_start), [1, 0])
    states = range(game.n_states + 2)
    width = int(count.max())
    common: dict[str, Any] = {
        "info": GameInfo("distances", 1, (tuple(map(str, range(width))),), False, (-inf, 0), ()),
        "states": states,
        "row_start": np.append(0, np.cumsum(count)),
        "outcome_start": np.append(game.outcome_start, len(towards) + len(starts)),
        "probability": np.append(game.probability, begins),
        "mask": (np.arange(width) < count[:, None], (count > 0)[:, None]),
        "initial": np.append(game.initial, [0, 0]),
    }
    source = game.row_state[game.outcome_row]
    diameter = reach = 0.0
    for target in np.flatnonzero(live).tolist():
        there = source == target
        distances = TabularGame(
            next_state=np.append(np.where(there, end, towards), starts),
            outcome_reward=np.append(np.where(there, 0.0, -1.0), np.zeros(len(starts))),
            **common,
        )
        try:
            moves = -solve_values(distances)
        except ImproperGameError:
            return inf, inf
        diameter = max(diameter, float(moves[:-2][live].max()))
        reach = max(reach, float(moves[restart]))
    return diameter, reach
