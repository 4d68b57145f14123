"""The solution of a form: the value of every position, and the optimal player.

In stores the chance of winning and half that of a tie stand less one half, which makes them
antisymmetric; here they are as one says them, between 0 and 1. Points are the same in both.

**The optimal player.** A solution holds values. The strategies of a layer's states are those of the
matrix games that were solved for it, and are solved again when they are asked for: a block of a
layer from the supports of a tick nearer to the end (:class:`OptimalLayers`), or one state of an
environment from the values of what may follow there, in some microseconds (:class:`OptimalPlayer`).

What is best is not always unique. Strategies are those that the solver finds; of time-outs, kicks
and choices with the same value, no time-out, the normal kick and the play on layers; in single
states no time-out, and otherwise the first of two. Where the game is decided, whatever is called,
both call their first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Simulation
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Block, WarmStart
from solvent.exact.layered.solution import LayeredSolution, solve_in_memory
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, Arrays
from solvent.games.football.rules import FORMS
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.games.football_clock.backup import (
    Equilibria,
    backup,
    payoffs_of,
    rate_situation,
    rows_of,
    solve_games,
    workspace,
)
from solvent.games.football_clock.episode_kernel import CALL, CHOICE, TIMEOUT
from solvent.games.football_clock.layers import (
    BEST,
    NEVER,
    FootballLayers,
    LayerProblem,
    equilibrium,
    kick_values,
    layer_problem,
    settled,
)
from solvent.games.football_clock.layout import (
    Asked,
    FormLayout,
    Layer,
    LayerStrategies,
    RoleStrategies,
    place_of,
)
from solvent.games.football_clock.rules import TimedFootball, TimedPosition, football_strategy
from solvent.games.football_clock.simulation import States, TimedFootballPlays, states_of
from solvent.model.arrays import Bools, Floats, Ints
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

    @classmethod
    def open(
        cls, folder: str | Path, game: TimedFootball | None = None, *, verify: bool = False
    ) -> TimedSolution:
        """Open a solution in a folder.

        Args:
            folder: Folder of the solution.
            game: The game that it must solve, with the start that is meant; any game, from its
                usual start, if None.
            verify: Whether to check all layers now, not each when it is first read.

        Raises:
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        layered = FootballLayers if game is None else FootballLayers.of(game)
        store = LayerFolder.open(folder, layered, verify=verify)
        assert isinstance(store.game, FootballLayers)
        return cls(store, game or store.game.game)

    @classmethod
    def of(cls, game: TimedFootball, *, progress: OnProgress | None = None) -> TimedSolution:
        """Solve a form in memory.

        Args:
            game: The rules, with the start that is meant.
            progress: Called with the states solved so far.

        Raises:
            ResourceError: If it takes more memory than there is.
        """
        return cls(solve_in_memory(FootballLayers.of(game), progress=progress), game)

    @property
    def layout(self) -> FormLayout:
        """The layout of the states."""
        layered = self.layered
        assert isinstance(layered, FootballLayers)
        return layered.layout

    @cached_property
    def start(self) -> TimedPosition:
        """The position with which the game begins."""
        [outcome] = self.game.initial()
        start: TimedPosition = outcome.state
        return start

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
        layout, (layer, row, column, side) = self.layout, place_of(self.layout, state)
        values = self.following(state)[:, None]
        declared = np.zeros(1)
        if state.down == layout.rules.ruleset.downs and not state.punting:
            declared = self.values(layer)[row + layout.lines, column : column + 1] + self._even
        [contested], [certain] = payoffs_of(layout.rules, values, row, declared)
        alike = np.repeat(certain[:, None], contested.shape[1], axis=1)
        payoffs = np.concatenate((contested, alike))
        return payoffs if side == 0 else 2 * self._even - payoffs.T

    @property
    def _even(self) -> float:
        """Added to a stored value to make it a chance of winning; 0 for points."""
        return 0.0 if self.layout.for_points else 0.5

    def following(self, state: TimedPosition) -> Floats:
        """[U] the values to the offence of what may follow a call, as one says them.

        Args:
            state: A position in which both sides call.
        """
        layer, _, column, _ = place_of(self.layout, state)
        only = slice(column, column + 1)
        found = equilibrium(self.layout, layer, self.values, only).values()[:, 0]
        return np.asarray(found + self._even)


def opened_football(folder: Path, parameters: Mapping[str, Any]) -> TimedSolution:
    """Return the solution in a folder, with the start that is asked for.

    Args:
        folder: Folder of the solution.
        parameters: Parameters of the game; those left out are as it was solved.

    Raises:
        ValueError: If a parameter is not allowed.
        StoreError: If there is none in the folder, or it is one of another game.
    """
    solution = TimedSolution.open(folder)
    solved = {**dict(solution.game.info.parameters), "chart": solution.game.loaded_chart}
    asked = {**solved, **parameters}
    form = asked["form"]
    # Asked first, since such a form would refuse the clock of the solution, which nobody wrote.
    if form in FORMS or not isinstance(game := football_strategy(**asked), TimedFootball):
        raise ValueError(f"--solution is for football with a clock, not for form {form!r}")
    return TimedSolution.open(folder, game)


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


class OptimalLayers:
    """Plays by the values of a solution.

    Args:
        layout: Layout of the form.
        read: Gives the values of a layer, such as :meth:`TimedSolution.values`.
    """

    def __init__(self, layout: FormLayout, read: Callable[[Layer], Floats]) -> None:
        self.layout = layout
        self.read = read
        self._lock = Lock()
        self._known: tuple[Layer, LayerProblem] | None = None

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        rules = self.layout.rules
        shape = rules.ruleset.downs + 1, block[1] - block[0], self.layout.columns(layer.half)
        widths = rules.legal.shape[1], rules.chart.defences, len(rules.arrays.chooser)
        offence, defence, choices = (np.zeros((*shape, width)) for width in widths)
        problem = self._problem(layer)
        solved = backup(
            self.layout.rules,
            problem.values,
            block,
            constant=problem.constant,
            start=start,
            strategies=(offence, defence, choices),
        )
        numbers = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(-1, shape[2])
        taken = choices.reshape(numbers.size, -1)
        return LayerStrategies(
            RoleStrategies(offence.reshape(numbers.size, -1), taken, numbers),
            RoleStrategies(defence.reshape(numbers.size, -1), taken, numbers),
            solved.start,
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
            declined = equilibrium(self.layout, asked.layer, self.read).final(0)[asked.column]
        if asked.first and other:
            again = self._following(asked, Layer(half, asked.saved, own, other - 1))
            declined = np.minimum(declined, again)
        return (called > declined).astype(float)

    def _following(self, asked: Asked, moment: Layer) -> Floats:
        """[U, C] the values of what follows to the side that is asked, at a moment of its own."""
        rows, mine = asked.row[:, None], asked.mine[:, None]
        ours, theirs = self.read(moment), self.read(moment.swapped)
        opposite = ours.shape[1] - 1 - asked.column
        return np.where(mine, ours[rows, asked.column], -theirs[rows, opposite])

    def _problem(self, layer: Layer) -> LayerProblem:
        """The values of what follows a layer, kept until another layer is asked for."""
        with self._lock:
            if self._known is None or self._known[0] != layer:
                self._known = layer, layer_problem(self.layout, layer, self.read)
            return self._known[1]


class OptimalPlayer:
    """Plays optimally in environments: it solves the matrix of each state.

    Args:
        solution: Solution of the game; all of it is read into memory when a state is first asked.

    Attributes:
        layers: Layers of the player as it is scored.
    """

    name = "optimal"

    def __init__(self, solution: TimedSolution) -> None:
        self.solution = solution
        self.layers = OptimalLayers(solution.layout, solution.values)

    @cached_property
    def _known(self) -> Known:
        return known_from(self.solution)

    def mixes(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        assert isinstance(simulation, TimedFootballPlays)
        strategies = np.zeros((len(chosen), simulation.n_actions))
        records, actions = simulation.records[chosen], simulation.sampler.rules.actions
        numbers = simulation.sampler.arrays.result["number"][records["choice"]]
        layout = self.solution.layout
        decide(
            layout.rules.arrays,
            self._known,
            states_of(simulation, layout, chosen),
            records,
            records["offence"] == player,
            numbers.astype(np.int64),
            (actions.defence, actions.choice, actions.kick, actions.timeout),
            strategies,
        )
        return strategies


class Known(NamedTuple):
    """A solution as the loops over single states read it.

    Attributes:
        values: [layers, S + 2, C] of all layers, in the layout's order.
        layer: [2, T+1, N+1, N+1] the place of a layer, by half - 1, ticks and time-outs.
        swapped: [layers] the place of the layer with the time-outs of the sides exchanged.
        moments: [layers, groups, 3] where the plays of a group lead if nobody calls a time-out, the
            side that was on offence does, and the other one does; -1 where that is no layer.
        final: [2, C] of the end of a half.
        shifted: [2, 2 P + 1, C] the column after from -P to P points.
        columns: [2] how many there are in each half.
        reward: Reward of a point.
    """

    values: Floats
    layer: Ints
    swapped: Ints
    moments: Ints
    final: Floats
    shifted: Ints
    columns: Ints
    reward: float


def known_from(solution: TimedSolution) -> Known:
    """Read a solution into memory, 8 bytes for each state and column."""
    layout, layers = solution.layout, solution.layout.layers
    most = max(map(layout.columns, layout.halves))
    timeouts = layout.clock.timeouts + 1
    values = np.zeros((len(layers), layout.rows, most))
    layer = np.full((2, layout.most_ticks + 1, timeouts, timeouts), -1)
    for place, at in enumerate(layers):
        values[place, :, : layout.columns(at.half)] = solution.values(at)
        layer[at.half - 1, at.ticks, at.own, at.other] = place
    places = {at: place for place, at in enumerate(layers)}
    final, columns = np.zeros((2, most)), np.zeros(2, np.int64)
    shifted = np.zeros((2, 2 * layout.rules.most_points + 1, most), np.int64)
    for half in layout.halves:
        columns[half - 1] = own = layout.columns(half)
        moment = equilibrium(layout, Layer(half, 0, 0, 0), solution.values)
        final[half - 1, :own] = moment.final(0)
        shifted[half - 1, :, :own] = layout.shifted(half)
    return Known(
        values=values,
        layer=layer,
        swapped=np.array([places[at.swapped] for at in layers]),
        moments=np.array(
            [
                [
                    [-1 if at is None else places[at] for at in layout.moments_after(before, group)]
                    for group in layout.rules.groups
                ]
                for before in layers
            ]
        ),
        final=final,
        shifted=shifted,
        columns=columns,
        reward=float(layout.for_points),
    )


@njit(cache=True)
def decide(
    rules: Arrays,
    known: Known,
    states: States,
    episodes: NDArray[Any],
    mine: Bools,
    choice: Ints,
    first: tuple[int, int, int, int],
    strategies: Floats,
) -> None:
    """Fill the optimal strategies of players in single states.

    Args:
        rules: The rules.
        known: The solution.
        states: [k] the states; while a time-out may be called, those that follow.
        episodes: [k] records of the episodes.
        mine: [k] whether the player has the ball or the kick, or will.
        choice: [k] the number of the choice that waits, in the order of the chart's choices.
        first: The first actions of the defence, and for choices, kicks and time-outs.
        strategies: [k, A] zeros, filled.
    """
    following, by_row = np.empty((len(rules.successor), 1)), np.empty((rows_of(rules), 1))
    m, calls = rules.cell.shape[1], rules.row_action.max() + 1
    memory, value, alone = workspace(rules, 1), np.zeros(1), np.zeros((1, 1, 1, 2), np.uint32)
    offence, defence = np.zeros((1, 1, 1, calls)), np.zeros((1, 1, 1, m))
    games = Equilibria(
        np.zeros(1, np.bool_), alone, offence, defence, np.zeros((1, 1, 1, len(rules.chooser)))
    )
    letter, option, kick, timeout = first
    for i in range(len(strategies)):
        phase = episodes[i].phase
        if phase == CALL:
            _rate_state(rules, known, states, i, following, by_row)
            alone[:] = 0
            offence[:] = 0.0
            solve_games(rules, games, memory, by_row, states.row[i], 0, 0, value)
            if mine[i]:
                strategies[i, :calls] = offence[0, 0, 0]
            else:
                strategies[i, letter : letter + m] = defence[0, 0, 0]
            continue
        if phase == TIMEOUT:
            called, declined = _rate_timeout(known, states, i, episodes[i], mine[i])
            # A time-out that changes nothing in the value is kept.
            strategies[i, timeout + (declined >= called)] = 1.0
            continue
        if phase == CHOICE:
            _rate_state(rules, known, states, i, following, by_row)
            one = by_row[rules.option[choice[i], 0], 0]
            two = by_row[rules.option[choice[i], 1], 0]
        else:
            one = _rate_kick(rules, known, states, i, 0)
            two = _rate_kick(rules, known, states, i, 1)
        better = two > one if mine[i] else two < one
        strategies[i, (option if phase == CHOICE else kick) + better] = 1.0


@njit(cache=True)
def _rate_kick(rules: Arrays, known: Known, states: States, i: int, kick: int) -> float:
    """The value of a kind of kickoff to the kicker."""
    value, k = 0.0, len(rules.branch_start) - 4 + kick
    for j in range(rules.branch_start[k], rules.branch_start[k + 1]):
        follows = _follow(rules, known, states, i, rules.branch_successor[j])
        value += rules.branch_probability[j] * follows
    return value


@njit(cache=True)
def _rate_timeout(
    known: Known, states: States, i: int, asked: Any, same: bool
) -> tuple[float, float]:
    """The values of calling a time-out and of not calling one, to the side that is asked.

    Args:
        known: The solution.
        states: The states that follow; their ticks are those that are left without a time-out.
        i: Number of the state.
        asked: Record of the episode.
        same: Whether the side that is asked has the ball or the kick then.
    """
    half, row, ticks = states.half[i], states.row[i], states.ticks[i]
    # From here on as the side that is asked sees it.
    column = states.column[i] if same else known.columns[half - 1] - 1 - states.column[i]
    own = states.own[i] if same else states.other[i]
    other = states.other[i] if same else states.own[i]
    places = known.layer[half - 1]
    saved = places[asked.saved]
    called = _value(known, saved[own - 1, other], half, row, column, same)
    if ticks == 0 and not asked.untimed:
        plain = known.final[half - 1, column]
    else:
        place = places[ticks, own, other] if ticks else places[0, 0, 0]
        plain = _value(known, place, half, row, column, same)
    answered, calls = plain, NEVER
    if asked.other_too:
        answered, calls = _value(known, saved[own, other - 1], half, row, column, same), BEST
    return called, settled(plain, plain, answered, NEVER, calls)


@njit(cache=True)
def _rate_state(
    rules: Arrays, known: Known, states: States, i: int, following: Floats, by_row: Floats
) -> None:
    """Write the values of results and cells in a state."""
    s, half = states.row[i], states.half[i]
    results = rules.results
    for b in range(rules.branch_start[s * results], rules.branch_start[(s + 1) * results - 1]):
        u = rules.branch_successor[b]
        following[u, 0] = _follow(rules, known, states, i, u)
    # In punt formation the same line of the last down stands for itself: it declares nothing.
    declared = min(s + len(rules.alike), len(rules.contested) - 1)
    place = known.layer[half - 1, states.ticks[i], states.own[i], states.other[i]]
    by_row[:] = 0.0
    rate_situation(rules, s, following, known.values[place, declared, states.column[i]], by_row)


@njit(cache=True)
def _follow(rules: Arrays, known: Known, states: States, i: int, u: int) -> float:
    """The value of a successor to the side that was on offence, time-outs included."""
    half, at = states.half[i], rules.successor[u]
    place = known.layer[half - 1, states.ticks[i], states.own[i], states.other[i]]
    column = known.shifted[half - 1, at.points + known.shifted.shape[1] // 2, states.column[i]]
    plain, own, other = known.moments[place, at.group]
    none: float = known.final[half - 1, column]
    if plain >= 0:
        none = _value(known, plain, half, at.row, column, at.same_side)
    ours, theirs = none, none
    if own >= 0:
        ours = _value(known, own, half, at.row, column, at.same_side)
    if other >= 0:
        theirs = _value(known, other, half, at.row, column, at.same_side)
    calls = BEST if own >= 0 else NEVER, BEST if other >= 0 else NEVER
    return float(known.reward * at.points + settled(none, ours, theirs, calls[0], calls[1]))


@njit(cache=True)
def _value(known: Known, place: int, half: int, row: int, column: int, same: bool) -> float:
    """The value of a row to a side, whose ball it is if `same`, in a layer as that side sees it."""
    value: float
    if same:
        value = known.values[place, row, column]
    else:
        value = -known.values[known.swapped[place], row, known.columns[half - 1] - 1 - column]
    return value
