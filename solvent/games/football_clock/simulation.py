"""Football with a clock as plays that the generic environments sample."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.kernels.drawing import draw_actions
from solvent.envs.random_stream import inverse_cdf
from solvent.envs.simulation import Simulation, Uniform
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.situation import Situation
from solvent.games.football_clock import episode_kernel as kernel
from solvent.games.football_clock.packed import pack_clock
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
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
        arrays: What the kernel reads.
        starts: The states in which a play may begin.
    """

    def __init__(self, rules: TimedFootball) -> None:
        self.rules = rules
        self.packed: PackedRules = pack_rules(rules.loaded_chart, rules.loaded_ruleset)
        begins = rules.initial()
        self.starts = kernel.Episodes.of(len(begins))
        for k, outcome in enumerate(begins):
            self.write(self.starts, k, outcome.state)
        self.arrays = _rules_of(
            rules, self.packed, np.array([float(outcome.probability) for outcome in begins])
        )

    def plays(self, n: int, observation: str = "vector") -> TimedFootballPlays:
        """Plays that have not begun; the arguments are those of :class:`TimedFootballPlays`."""
        return TimedFootballPlays(self, n, observation)

    def examples(self) -> list[TimedPosition]:
        """The states of some plays in which everything is called alike."""
        n = 16
        plays = self.plays(n)
        plays.arrays["stream"][:] = np.arange(1, n + 1)
        plays.begin(np.arange(n))
        uniform, states, live = Uniform(), [], np.arange(n)
        while len(live):
            states += [plays.state(i) for i in live.tolist()]
            actions = np.zeros((2, n), np.int64)
            for player in (0, 1):
                who = np.full(len(live), player)
                acts = plays.acts(live, who)
                acting = live[acts]
                strategies = uniform.mixes(plays, acting, who[acts])
                draw_actions(acting, strategies, plays.arrays["stream"], actions[player])
            plays.move(live, actions[0], actions[1], np.zeros(n))
            live = live[~plays.over()[live]]
        return states

    @cached_property
    def most(self) -> NDArray[np.int32]:
        """[D] the most that each entry of an observation can be, before it is scaled."""
        game, clock = self.rules, self.rules.loaded_clock
        rules, score = game.loaded_ruleset, self.arrays.score
        flag = 1
        lead = [] if game.for_points else [clock.largest_margin, score]
        return np.array(
            [
                *(flag, rules.downs, rules.field, rules.field, flag, flag, flag, flag, flag),
                *(clock.half_ticks, self.arrays.last_ticks, clock.timeouts, clock.timeouts, flag),
                *lead,
                *(flag, flag, flag, clock.half_ticks, flag),
                *(flag for _ in game.choices),
            ],
            np.int32,
        )

    @cached_property
    def least(self) -> NDArray[np.int32]:
        """[D] the least of each; leads may be negative."""
        is_lead = np.zeros(len(self.most), bool)
        is_lead[14 : 14 + 2 * (not self.rules.for_points)] = True
        return np.where(is_lead, -self.most, 0).astype(np.int32)

    def write(self, plays: kernel.Episodes, i: int, state: TimedPosition) -> None:
        """Make a play stand where a position of the rules says."""
        comes = state.follows or state.phase
        row = 0
        if comes in ("kickoff", "free kick"):
            row = self.packed.n_situations + (comes == "free kick")
        elif state.phase != "over":
            row = self.packed.index(state.situation)
        choice = -1
        if state.choice:
            codes = [result.code for result in self.rules.loaded_chart.results]
            choice = codes.index(state.choice)
        numbers = {
            "phase": PHASES.index(state.phase),
            "left0": state.timeouts[0],
            "left1": state.timeouts[1],
            "row": row,
            "choice": choice,
        }
        for name in kernel.Episodes._fields[1:]:
            getattr(plays, name)[i] = numbers[name] if name in numbers else getattr(state, name)

    def read(self, plays: kernel.Episodes, i: int) -> TimedPosition:
        """Where a play stands, as a position of the rules."""
        at = {name: int(getattr(plays, name)[i]) for name in kernel.Episodes._fields[1:]}
        phase, row = PHASES[at["phase"]], at["row"]
        situations = self.packed.n_situations
        on_field = phase != "over" and row < situations
        situation = self.packed.situation_at(row) if on_field else Situation(0, 0, 0)
        comes = "call" if row < situations else PHASES[kernel.KICKOFF + row - situations]
        choice = at["choice"]
        return TimedPosition(
            phase=phase,
            half=at["half"],
            ticks=at["ticks"],
            margin=at["margin"],
            timeouts=(at["left0"], at["left1"]),
            receiver=at["receiver"],
            offence=at["offence"],
            **situation._asdict(),
            choice=self.rules.loaded_chart.results[choice].code if choice >= 0 else "",
            follows=comes if phase == "time-out" else "",
            asked=at["asked"],
            other_too=bool(at["other_too"]),
            saved=at["saved"],
            untimed=bool(at["untimed"]),
        )


class TimedFootballPlays(Simulation):
    """Plays of football with a clock.

    Args:
        sampler: Of the game.
        n: How many plays.
        observation: ``"vector"`` as the rules give it, or ``"onehot"``, in which every entry of it
            is as many indicators as it has values. There are too many states to number them.
    """

    def __init__(self, sampler: TimedFootballSampler, n: int, observation: str) -> None:
        self.sampler = sampler
        self.rules = sampler.rules
        self.plays = kernel.Episodes.of(n)
        self.arrays = self.plays._asdict()
        self.n_actions = len(self.rules.info.actions[0])
        self._form = check_choice(observation, "observation", OBSERVATIONS)
        least, most = sampler.least, sampler.most
        values = np.where(most > least, most - least + 1, 0)
        self._first = np.where(values > 0, np.cumsum(values) - values, -1)
        self._indicators = int(values.sum())
        low = -1.0 if (least < 0).any() and observation == "vector" else 0.0
        width = len(most) if observation == "vector" else self._indicators
        self.observation_space = spaces.Box(low, 1.0, (width,), np.float32)

    def begin(self, chosen: Ints) -> None:
        kernel.begin(chosen, self.plays, self.sampler.starts, self.sampler.arrays)

    def move(self, chosen: Ints, first: Ints, second: Ints, paid: Floats) -> None:
        kernel.step(chosen, first, second, self.plays, self.sampler.arrays, paid)

    def acts(self, chosen: Ints, player: Ints) -> Bools:
        acts = np.empty(len(chosen), bool)
        kernel.acting(chosen, player, self.plays, self.sampler.arrays, acts)
        return acts

    def over(self) -> Bools:
        over: Bools = self.plays.phase == kernel.OVER
        return over

    def entries(self, chosen: Ints, player: Ints) -> NDArray[np.int32]:
        """[k, D] what a player of each chosen play sees, in whole numbers."""
        seen = np.empty((len(chosen), len(self.sampler.most)), np.int32)
        kernel.observe(chosen, player, self.plays, self.sampler.arrays, seen)
        return seen

    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        entries = self.entries(chosen, player)
        if (observation or self._form) == "vector":
            return (entries / np.maximum(self.sampler.most, 1)).astype(np.float32)
        indicators = np.zeros((len(chosen), self._indicators), np.float32)
        kernel.indicate(entries, self.sampler.least, self._first, indicators)
        return indicators

    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        mask = np.empty((len(chosen), self.n_actions), np.int8)
        kernel.legal(chosen, player, self.plays, self.sampler.arrays, mask)
        return mask

    def state(self, i: int) -> Any:
        return self.sampler.read(self.plays, i)


def _rules_of(game: TimedFootball, packed: PackedRules, start: Floats) -> kernel.Rules:
    """What the kernel reads; `start` [K] are the chances of the states in which a play begins."""
    clock, ruleset, chart, actions = (
        game.loaded_clock,
        game.loaded_ruleset,
        game.loaded_chart,
        game.actions,
    )
    is_choice = packed.chooser >= 0
    return kernel.Rules(
        **packed.among(kernel.Rules._fields),
        **pack_clock(packed, clock, for_points=game.for_points)._asdict(),
        cell_threshold=inverse_cdf(packed.cell_probability, packed.cell_start),
        threshold=inverse_cdf(packed.probability, packed.branch_start),
        kick_threshold=inverse_cdf(packed.kick_probability, packed.kick_start),
        start_threshold=inverse_cdf(start, np.array([0, len(start)])),
        plays=chart.plays,
        defences=chart.defences,
        situations=packed.n_situations,
        first=np.array([actions.defence, actions.choice, actions.kick, actions.timeout]),
        choice_number=np.where(is_choice, np.cumsum(is_choice) - 1, -1).astype(np.int32),
        last_ticks=clock.stops[-1] // clock.tick if clock.stops else clock.half_ticks,
        score=ruleset.touchdown + 1,
        largest_margin=clock.largest_margin,
        timeouts=clock.timeouts,
    )


def sampler_of(game: Game) -> TimedFootballSampler | None:
    """What samples a form of football with a clock; None for one without, which has a table."""
    return TimedFootballSampler(game) if isinstance(game, TimedFootball) else None
