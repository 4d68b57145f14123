"""Football with a clock as plays that the generic environments sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Player, Simulation, Uniform
from solvent.envs.batches import SimulatedSeatBatch
from solvent.envs.kernels import draw_actions
from solvent.envs.sampling import inverse_cdf
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.situation import Situation
from solvent.games.football_clock import episode_kernel as kernel
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model import Game
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_choice

OBSERVATIONS = ("vector", "onehot")

PHASES = ("call", "choice", "time-out", "kickoff", "free kick", "over")
"""The phases of a position, numbered as the kernel does."""


class TimedFootballSampler:
    """Football with a clock, prepared for sampling; made once for many environments.

    Args:
        rules: The game.

    Attributes:
        rules: The game.
        packed: Its rules as arrays.
        arrays: The arrays that the kernel reads.
        most: [D] the most that each entry of an observation can be, before it is scaled.
        least: [D] the least of each; leads may be negative.
    """

    def __init__(self, rules: TimedFootball) -> None:
        self.rules = rules
        self.packed: PackedRules = pack_rules(rules.loaded_chart, rules.loaded_ruleset)
        [begins] = rules.initial()
        entries = rules.entries(begins.state, 0)
        self.most = np.array([entry.most for entry in entries])
        self.least = np.array([entry.least for entry in entries])
        start = np.zeros(1, kernel.EPISODE)
        self.write(start, 0, begins.state)
        self.arrays = _rules_of(self, start)

    def plays(self, n: int, observation: str = "vector") -> TimedFootballPlays:
        return TimedFootballPlays(self, n, observation)

    def learners(
        self,
        n: int,
        opponents: Sequence[Player],
        weights: Sequence[float] | None,
        seats: tuple[int, ...],
        observation: str,
    ) -> SimulatedSeatBatch:
        return SimulatedSeatBatch(self, n, opponents, weights, seats, observation)

    def examples(self) -> list[TimedPosition]:
        """Return the states of some episodes under the uniform policy."""
        plays, live = self.plays(16), np.arange(16)
        states: list[TimedPosition] = []
        plays.arrays["stream"][:] = live + 1
        plays.begin(live)
        while len(live):
            states += map(plays.state, live.tolist())
            actions = np.zeros((2, 16), np.int64)
            for player, action in enumerate(actions):
                chances = Uniform().mixes(plays, live, np.full(len(live), player))
                draw_actions(live, chances, plays.arrays["stream"], action)
            plays.move(live, actions[0], actions[1], np.zeros(16))
            live = live[~plays.over()[live]]
        return states

    def write(self, records: NDArray[Any], i: int, state: TimedPosition) -> None:
        """Make an episode stand where a position of the rules says."""
        comes = state.follows or state.phase
        row = 0
        if comes in ("kickoff", "free kick"):
            row = self.packed.n_situations + (comes == "free kick")
        elif state.phase != "over":
            row = self.packed.index(state.situation)
        codes = [result.code for result in self.rules.loaded_chart.results]
        own = {
            "phase": PHASES.index(state.phase),
            "left0": state.timeouts[0],
            "left1": state.timeouts[1],
            "row": row,
            "choice": codes.index(state.choice) if state.choice else -1,
        }
        for name in kernel.FIELDS:
            records[name][i] = own[name] if name in own else getattr(state, name)

    def read(self, record: Any) -> TimedPosition:
        """Return where an episode stands, as a position of the rules."""
        at: dict[str, Any] = {name: int(record[name]) for name in kernel.FIELDS}
        phase, row, choice = PHASES[at.pop("phase")], at.pop("row"), at.pop("choice")
        situations = self.packed.n_situations
        on_field = phase != "over" and row < situations
        situation = self.packed.situation_at(row) if on_field else Situation(0, 0, 0)
        comes = "call" if row < situations else PHASES[kernel.KICKOFF + row - situations]
        return TimedPosition(
            phase,
            timeouts=(at.pop("left0"), at.pop("left1")),
            choice=self.rules.loaded_chart.results[choice].code if choice >= 0 else "",
            follows=comes if phase == "time-out" else "",
            other_too=bool(at.pop("other_too")),
            untimed=bool(at.pop("untimed")),
            **at,
            **situation._asdict(),
        )


class TimedFootballPlays(Simulation):
    """Episodes of football with a clock.

    Args:
        sampler: Sampler of the game.
        n: Number of episodes.
        observation: ``"vector"`` as the rules give it, or ``"onehot"``, in which every entry of it
            is as many indicators as it has values. There are too many states to number them.
    """

    def __init__(self, sampler: TimedFootballSampler, n: int, observation: str) -> None:
        self.sampler = sampler
        self.rules = sampler.rules
        self.records = np.zeros(n, kernel.EPISODE)
        self.arrays = {name: self.records[name] for name in ("stream", *kernel.FIELDS)}
        self.entry = np.zeros(len(sampler.most), np.int64)
        self.n_actions = len(self.rules.info.actions[0])
        self.form = check_choice(observation, "observation", OBSERVATIONS)
        low = -1.0 if (sampler.least < 0).any() and observation == "vector" else 0.0
        self.observation_space = spaces.Box(low, 1.0, (self._width(observation),), np.float32)

    def _width(self, observation: str) -> int:
        arrays = self.sampler.arrays
        return len(arrays.first) if observation == "vector" else len(arrays.share) - 1

    def begin(self, chosen: Ints) -> None:
        kernel.begin(chosen, self.records, self.sampler.arrays)

    def move(self, chosen: Ints, first: Ints, second: Ints, paid: Floats) -> None:
        kernel.step(chosen, first, second, self.records, self.sampler.arrays, paid)

    def acts(self, chosen: Ints, player: Ints) -> Bools:
        acts: Bools = self._menus(chosen, player) > kernel.NOTHING
        return acts

    def over(self) -> Bools:
        over: Bools = self.records["phase"] == kernel.OVER
        return over

    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        form, rules = observation or self.form, self.sampler.arrays
        seen = np.empty((len(chosen), self._width(form)), np.float32)
        kernel.observe(chosen, player, self.records, rules, form == "onehot", self.entry, seen)
        return seen

    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        return self.sampler.arrays.mask[self._menus(chosen, player)]

    def _menus(self, chosen: Ints, player: Ints) -> Ints:
        menu = np.empty(len(chosen), np.int64)
        kernel.menus(chosen, player, self.records, self.sampler.arrays, menu)
        return menu

    def state(self, i: int) -> Any:
        return self.sampler.read(self.records[i])


def _rules_of(sampler: TimedFootballSampler, start: NDArray[Any]) -> kernel.Rules:
    """Return the arrays that the kernel reads.

    Args:
        sampler: Sampler of the game.
        start: [1] the state in which an episode begins.
    """
    game, packed = sampler.rules, sampler.packed
    clock, chart, actions = game.loaded_clock, game.loaded_chart, game.actions
    arrays = packed.arrays
    mask, row = _menus_of(game, packed)
    first, share = _indicators(sampler.most, sampler.least)
    numbers = {
        "plays": chart.plays,
        "defences": chart.defences,
        "situations": packed.n_situations,
        "lines": len(arrays.alike),
        "results": packed.n_results,
        "first_letter": actions.defence,
        "first_option": actions.choice,
        "first_kick": actions.kick,
        "first_timeout": actions.timeout,
        "half_ticks": clock.half_ticks,
        "last_ticks": clock.last_ticks,
        "score": game.loaded_ruleset.touchdown + 1,
        "largest_margin": clock.largest_margin,
        "timeouts": clock.timeouts,
        "for_points": int(game.for_points),
    }
    result = np.full(packed.n_results, -1, kernel.RESULT)
    result["chooser"][arrays.chosen_result] = arrays.chooser
    result["penalty"][arrays.chosen_result], result["play"][arrays.chosen_result] = arrays.option.T
    result["number"][arrays.chosen_result] = np.arange(len(arrays.chooser))
    left = [
        [clock.left(ticks, seconds, penalty=penalty) for seconds, penalty in packed.groups]
        for ticks in range(clock.half_ticks + 1)
    ]
    return kernel.Rules(
        cell=arrays.cell.ravel(),
        mixed_start=arrays.mixed_start,
        mixed_threshold=inverse_cdf(arrays.mixed_probability, arrays.mixed_start),
        mixed_result=arrays.mixed_result,
        branch_start=arrays.branch_start.astype(np.int32),
        threshold=inverse_cdf(arrays.branch_probability, arrays.branch_start),
        branch_successor=arrays.branch_successor,
        successor=arrays.successor,
        result=result,
        row=row,
        left=np.array(left, np.int32),
        start=start,
        mask=mask,
        first=first,
        share=share,
        number=np.array([tuple(numbers.values())], [(n, type(v)) for n, v in numbers.items()]),
    )


def _menus_of(
    game: TimedFootball, packed: PackedRules
) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """The actions of each menu, [M, A], and what the kernel reads of each row, [S+2, 5]."""
    actions, defences = game.actions, game.loaded_chart.defences
    rows = [row.tobytes() for row in packed.legal]
    number = {row: menu for menu, row in enumerate(dict.fromkeys(rows), kernel.OFFENCE)}
    mask = np.zeros((kernel.OFFENCE + len(number), len(game.info.actions[0])), np.int8)
    mask[kernel.ANYTHING] = 1
    mask[kernel.NOTHING, 0] = 1
    mask[kernel.DEFENCE, actions.defence : actions.defence + defences] = 1
    for kind, first in (
        (kernel.OPTIONS, actions.choice),
        (kernel.KICKS, actions.kick),
        (kernel.TIMEOUTS, actions.timeout),
    ):
        mask[kind, first : first + 2] = 1
    own = np.frombuffer(b"".join(number), bool).reshape(len(number), -1)
    mask[kernel.OFFENCE :, : own.shape[1]] = own
    row = np.zeros((packed.n_situations + 2, 5), np.int16)
    row[:-2, :4], row[:-2, 4] = packed.situation, [number[legal] for legal in rows]
    return mask, row


def _indicators(most: Ints, least: Ints) -> tuple[Ints, NDArray[np.float32]]:
    """Return the position of each entry's indicator of 0, [D], and each indicator's value."""
    values = np.where(most > least, most - least + 1, 0)
    first = np.where(values > 0, np.cumsum(values) - values - least, -1)
    ranges = zip(least.tolist(), most.tolist(), strict=True)
    shares = [np.arange(low, high + 1) / high for low, high in ranges if low < high]
    return first, np.concatenate([*shares, [0.0]]).astype(np.float32)


def sampler_of(game: Game) -> TimedFootballSampler | None:
    """Return a sampler of a form with a clock; None for one without, which has a table."""
    return TimedFootballSampler(game) if isinstance(game, TimedFootball) else None
