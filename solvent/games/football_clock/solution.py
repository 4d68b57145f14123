"""The solution of a form: the value of every position, and the optimal player.

In stores the chance of winning and half that of a tie stand less one half, which makes them
antisymmetric; here they are as one says them, between 0 and 1. Points are the same in both.

**The optimal player.** A solution holds values. The strategies of a layer's states are those of the
matrix games that were solved for it, and are solved again when they are asked for: a block of a
layer, or one state of an environment from the values of what may follow there
(:class:`OptimalPlayer`).

What is best is not always unique. Strategies are those that the solver finds; of time-outs, kicks
and choices with the same value, no time-out, the normal kick and the play on layers; in single
states no time-out, and otherwise the first of two. Where the game is decided, whatever is called,
both call their first.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, cast

import numpy as np

from solvent.envs.batch_simulator import Simulation
from solvent.exact.layered.game import Block, LayerPlace
from solvent.exact.layered.solve import LayeredSolution
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK
from solvent.games.football.rules import FORMS
from solvent.games.football.solver.backup import backup_of
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.games.football_clock.backup import RoleStrategies, backup
from solvent.games.football_clock.forms import football_strategy
from solvent.games.football_clock.layers import (
    Asked,
    FootballLayers,
    Layer,
    LayerContext,
    LayerProblem,
    LayerStrategies,
    equilibrium,
    kick_values,
    values_seen,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model.arrays import Floats, Ints
from solvent.model.game import Game
from solvent.model.parameters import as_options
from solvent.model.progress import OnProgress

SOLVED_IN_MEMORY = 150_000_000
"""Most states of a form that is solved on the spot; more take too long."""

NEGLIGIBLE = 1e-9
"""Decisions that differ by less are as good as each other."""


@dataclass(frozen=True, eq=False)
class TimedSolution(LayeredSolution):
    """A form of football with a clock, solved.

    Of decisions that are equally good its policies take the plain one: no time-out, the ordinary
    kickoff.

    Args:
        store: All its layers, in memory or in a folder.
        game: Game of the same form, with the start that is meant.

    Raises:
        ValueError: If a layer is not solved.
    """

    layered_game = FootballLayers

    @property
    def layout(self) -> FootballLayers:
        """The layers and the places of states in them."""
        return cast(FootballLayers, self.layered)

    def game_with(self, parameters: Mapping[str, Any]) -> TimedFootball:
        solved = {**dict(self.game.info.parameters), "chart": self.game.loaded_chart}
        asked = {**solved, **parameters}
        form = asked["form"]
        # Asked first, since such a form would refuse the clock of the solution, which nobody wrote.
        if form in FORMS or not isinstance(game := football_strategy(**asked), TimedFootball):
            raise ValueError(f"--solution is for football with a clock, not for form {form!r}")
        return game

    @cached_property
    def start(self) -> TimedPosition:
        """The position with which the game begins."""
        [outcome] = self.game.initial()
        return cast(TimedPosition, outcome.state)

    def policy(self, state: TimedPosition, player: int) -> Mapping[int, float]:
        """Return the probability of every legal action in an optimal strategy of a player."""
        if state.phase == "call":
            return super().policy(state, player)
        sign = 1 if player == 0 else -1
        values = {a: sign * value for a, value in self.action_values(state, player).items()}
        good = [a for a, value in values.items() if value > max(values.values()) - NEGLIGIBLE]
        chosen = good[-1 if state.phase == "time-out" else 0]
        return {action: float(action == chosen) for action in values}

    def _payoffs(self, state: TimedPosition) -> Floats:
        if state.phase != "call":
            return super()._payoffs(state)
        rules, place = self.layout.rules, cast(LayerPlace, self.layout.place(state))
        row, column = place.at
        matrices, arrays = backup_of(rules), rules.arrays
        leads, following = matrices.leads(np.array([row])), np.zeros(len(arrays.successor))
        only = np.unique(leads.indices)
        found = self._context(place.layer).values(0, only, slice(column, column + 1))
        following[: len(found)] = found[:, 0] + self._even
        results, _ = matrices.choose(leads @ following)
        if state.down == rules.ruleset.downs and not state.punting:
            declared = self.values(place.layer)[row + self.layout.lines, column]
            results[0, -1] = declared + self._even
        legal = arrays.row_call[arrays.row_start[row] : arrays.row_start[row + 1]]
        payoffs: Floats = matrices.calls(results)[0, legal]
        return payoffs if state.offence == 0 else 2 * self._even - payoffs.T

    @cached_property
    def _context(self) -> Callable[[Layer], LayerContext]:
        """Equilibria by layer; those of the layers asked for last are kept."""
        read = lru_cache(maxsize=None)(self.values)
        return lru_cache(maxsize=1024)(lambda layer: equilibrium(self.layout, layer, read))

    @property
    def _even(self) -> float:
        """Added to a stored value to make it a chance of winning; 0 for points."""
        return 0.0 if self.layout.game.for_points else 0.5

    def following(self, state: TimedPosition) -> Floats:
        """[U] the values to the offence of what may follow a call, as one says them.

        Args:
            state: A position in which both sides call.
        """
        place = cast(LayerPlace, self.layout.place(state))
        column = slice(place.at[1], place.at[1] + 1)
        found = equilibrium(self.layout, place.layer, self.values).values(columns=column)
        return np.asarray(found[:, 0] + self._even)


def solved_football(
    game: Game, *, progress: OnProgress | None = None
) -> TimedSolution | SolvedFootball | None:
    """Solve a form of football by its kernels; None if its table is the better way.

    Args:
        game: The rules.
        progress: Called with the states solved so far, if there is a clock.

    Raises:
        ValueError: If the form is too large for that.
        ResourceError: If it takes more memory than there is.
    """
    if not isinstance(game, TimedFootball):
        return solve_football(game)
    if game.positions > SOLVED_IN_MEMORY:
        options = as_options(dict(game.info.parameters))
        raise ValueError(
            f"form {game.form!r} has {game.positions:,} states, which takes a while; solve it with "
            f"`solvent solve football-strategy {options} --out DIR`, then play it or report it "
            f"with --solution DIR and the same parameters"
        )
    return TimedSolution.of(game, progress=progress)


class OptimalPlayer:
    """The optimal player: it solves the matrix games of a state, or of a block of a layer.

    Args:
        solution: Solution of the game.
    """

    name = "optimal"

    def __init__(self, solution: TimedSolution) -> None:
        self.solution = solution
        self.layout, self.read = solution.layout, solution.values
        self._lock = Lock()
        self._problem = lru_cache(maxsize=1)(lambda at: self.layout.problem(at, self.read))

    def strategies(self, layer: Layer, block: Block) -> LayerStrategies:
        rules = self.layout.rules
        shape = rules.ruleset.downs + 1, block[1] - block[0], self.layout.columns(layer.half)
        widths = rules.legal.shape[1], rules.chart.defences, len(rules.arrays.chooser)
        offence, defence, choices = (np.zeros((*shape, width)) for width in widths)
        with self._lock:  # Threads wait for what one of them computes.
            problem: LayerProblem = self._problem(layer)
        solved = backup(
            rules,
            problem.values,
            block,
            constant=problem.constant,
            strategies=(offence, defence, choices),
        )
        numbers = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(-1, shape[2])
        taken = choices.reshape(numbers.size, -1)
        return LayerStrategies(
            RoleStrategies(offence.reshape(numbers.size, -1), taken, numbers),
            RoleStrategies(defence.reshape(numbers.size, -1), taken, numbers),
            solved.largest_gap,
        )

    def onside(self, layer: Layer) -> Floats:
        kicks = kick_values(self.layout, self._problem(layer).values)
        return np.asarray(kicks[ONSIDE_KICK] > kicks[NORMAL_KICK], float)

    def timeouts(self, asked: Asked) -> Floats:
        half, own, other = asked.layer.half, asked.layer.own, asked.layer.other
        called = self._following(asked, Layer(half, asked.saved, own - 1, other))
        if asked.after or asked.untimed:
            declined = self._following(asked, self.layout.moment(half, asked.after, own, other))
        else:
            declined = equilibrium(self.layout, asked.layer, self.read).final()[asked.column]
        if asked.first and other:
            again = self._following(asked, Layer(half, asked.saved, own, other - 1))
            declined = np.minimum(declined, again)
        return (called > declined).astype(float)

    def _following(self, asked: Asked, moment: Layer) -> Floats:
        """[U, C] the values of what follows to the side that is asked, at a moment of its own."""
        ours, theirs = self.read(moment), self.read(moment.swapped)
        return values_seen(ours, theirs, asked.row, asked.mine, asked.column)

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        strategies = np.zeros((len(chosen), simulation.n_actions))
        for own, i, seat in zip(strategies, chosen.tolist(), player.tolist(), strict=True):
            strategy = self.solution.policy(simulation.state(i), seat)
            own[[*strategy]] = [*strategy.values()]
        return strategies
