"""Football with a clock, simulated: many episodes at once, compiled, for the environments.

There are too many states to tabulate, so the episodes read the packed rules
(:class:`solvent.games.football.packed.PackedRules`) and the clock. Everything here agrees with the
rules in :mod:`solvent.games.football_clock.rules`.

An episode is in one of the *phases*

=========== ========================================================================================
CALL        Both sides call, in the situation ``row``.
CHOICE      The side that was offended takes the penalty or the play; ``choice`` is the result.
TIMEOUT     A result has been seen, and ``row`` and ``offence`` are what follows it. ``asked`` may
            call a time-out: ``saved`` ticks are left with it and ``ticks`` without.
KICKOFF     ``offence`` chooses its kick.
FREE_KICK   ``offence`` kicks; nobody has a choice.
OVER        Play has ended.
=========== ========================================================================================

Rows are those of a layer: the situations, then a kickoff and a free kick. A call draws two numbers,
one if it leads to a choice; a choice and a kick draw one, and a time-out none.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Simulation
from solvent.envs.kernels import advance, draw_of, pick
from solvent.envs.sampling import inverse_cdf
from solvent.exact.compilation import kernel
from solvent.games.football.packed import Arrays, PackedRules, pack_rules
from solvent.games.football.situation import Situation, situation_at
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model import Game
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_choice

in_line = kernel(largest=-1, forceinline=True)
"""Decorates what the loops call once for each episode."""

CALL, CHOICE, TIMEOUT, KICKOFF, FREE_KICK, OVER = range(6)

# The fields of an episode beside its random numbers.
_FIELDS = (
    *("phase", "half", "ticks", "margin", "receiver", "offence", "left0", "left1"),
    *("row", "choice", "asked", "other_too", "saved", "untimed"),
)

EPISODE = np.dtype([("stream", np.uint64), *((name, np.int32) for name in _FIELDS)])
"""The state of an episode: 64 bytes, a line of the processor's cache.

============= ======================================================================================
``stream``    the state of the random numbers
``phase``     one of the module's table
``half``      1 or 2; 2 in every form but ``"full"``
``ticks``     left in the half; when a time-out may be called, what will be left without it
``margin``    player 0's points less player 1's, as far as they count; 0 where points count
``receiver``  the player who receives the kickoff of the second half, in the first; else -1
``offence``   the player who has the ball, is about to kick it, or will after a time-out
``left0``     time-outs of player 0
``left1``     time-outs of player 1
``row``       see the module; 0 when it is over
``choice``    the number of the result that waits for a choice, -1 if none does
``asked``     the player who may call a time-out, else -1
``other_too`` 1 if the other player is asked when this one declines, else 0
``saved``     ticks left in the half if a time-out is called
``untimed``   1 if an untimed down follows when none is called, else 0
============= ======================================================================================
"""

RESULT = np.dtype([(name, np.int32) for name in ("chooser", "penalty", "play", "number")])
"""A result: who takes a choice (0 the offence, 1 the defence, -1 if it is none), between which
results, and its number among the choices."""


class EpisodeArrays(NamedTuple):
    """The arrays that the episodes read.

    With S situations, R results (the field goal and the declaration included), n plays and D
    entries of an observation; distributions are thresholds (:mod:`solvent.envs.sampling`).

    Attributes:
        packed: :class:`solvent.games.football.packed.Arrays`.
        mixed_threshold: [entries] int64, of the entries of cells with more than one result.
        threshold: [N] int64, of branches.
        result: [R] :data:`RESULT`.
        row: [S+2, 4] int16 down, yards to go, yards to the goal, and whether punt formation is on.
        legal: [S, n+3] the offence's legal actions.
        left: [T+1, groups, 3] int32 how the clock stands after the successors of a group: ticks
            left without a time-out, those left with one, and whether an untimed down follows.
        start: [1] :data:`EPISODE`, the state in which an episode begins.
        first: [D] int64, the indicator of the value 0 of each entry. An entry that is always 0 has
            none: -1.
        share: [D'+1] float32, what each indicated value is in a vector; the last is 0.
        number: [1] numbers of the chart, the first actions of their kinds, those of the clock, and
            of a touchdown with its extra point.
    """

    packed: Arrays
    mixed_threshold: Ints
    threshold: Ints
    result: NDArray[Any]
    row: NDArray[np.int16]
    legal: Bools
    left: NDArray[np.int32]
    start: NDArray[Any]
    first: Ints
    share: NDArray[np.float32]
    number: NDArray[Any]


@kernel(largest=-1)
def begin(chosen: Ints, episodes: Any, rules: EpisodeArrays) -> None:
    """Put the chosen episodes into the state in which they begin; each draws one number."""
    for i in chosen:
        x = advance(episodes[i].stream)
        episodes[i] = rules.start[0]
        episodes[i].stream = x


@kernel(largest=-1)
def step(
    chosen: Ints, first: Ints, second: Ints, episodes: Any, rules: EpisodeArrays, paid: Floats
) -> None:
    """Play the players' legal actions in the chosen episodes, none of which is over.

    Args:
        chosen: [k] indices of episodes.
        first: [n] of player 0, not read where that player has no choice.
        second: [n] of player 1, likewise.
        episodes: [n] :data:`EPISODE`, changed.
        rules: Rules of the game.
        paid: [n], to which the rewards of player 0 are added.
    """
    for i in chosen:
        paid[i] += played(i, first[i], second[i], episodes, rules)


@in_line
def played(i: int, first: int, second: int, episodes: Any, rules: Any) -> float:
    """Play both players' actions in an episode; the reward of player 0."""
    number, packed, at = rules.number[0], rules.packed, episodes[i]
    offence = at.offence
    if at.phase == TIMEOUT:
        return _answered(i, first if at.asked == 0 else second, episodes, rules)
    own, other = (first, second) if offence == 0 else (second, first)
    k = _called(i, own, other, episodes, rules)
    if k < 0:
        return 0.0
    x = advance(at.stream)
    at.stream = x
    start = packed.branch_start[k]
    j = start + pick(draw_of(x), rules.threshold, start, packed.branch_start[k + 1] - start)
    after = packed.successor[packed.branch_successor[j]]

    # The score and the ball.
    scored = after.points if offence == 0 else -after.points
    at.offence = offence if after.same_side else 1 - offence
    at.row = after.row
    paid = 0.0
    if number.for_points:
        paid = float(scored)
    else:
        most = number.largest_margin
        at.margin = max(-most, min(most, at.margin + scored))

    # Time, and who is asked for a time-out.
    left, saved = rules.left[at.ticks, after.group, 0], rules.left[at.ticks, after.group, 1]
    untimed = rules.left[at.ticks, after.group, 2] == 1
    if saved != left:
        offence_has = (at.left0 if offence == 0 else at.left1) > 0
        other_has = (at.left1 if offence == 0 else at.left0) > 0
        if offence_has or other_has:
            at.phase = TIMEOUT
            at.ticks = left
            at.asked = offence if offence_has else 1 - offence
            at.other_too = offence_has and other_has
            at.saved = saved
            at.untimed = untimed
            return paid
    return float(paid + _goes_on(i, left, untimed, episodes, rules))


@in_line
def _called(i: int, own: int, other: int, episodes: Any, rules: Any) -> int:
    """Return where the branches begin if one of them is to be drawn, otherwise -1.

    Args:
        i: An episode in which nobody is asked for a time-out.
        own: The action of the side with the ball or the kick.
        other: The other side's.
        episodes: The episodes; changed in place.
        rules: Rules of the game.
    """
    number, packed, at = rules.number[0], rules.packed, episodes[i]
    if at.phase == CALL:
        call = own + (own == number.plays + 2 and rules.row[at.row, 3] == 1)
        result = packed.cell[call, other - number.first_letter]
        x = advance(at.stream)
        at.stream = x
        mixed = result - packed.results
        if mixed >= 0:
            start = packed.mixed_start[mixed]
            count = packed.mixed_start[mixed + 1] - start
            entry = pick(draw_of(x), rules.mixed_threshold, start, count)
            result = packed.mixed_result[start + entry]
        if rules.result[result].chooser >= 0:
            at.phase = CHOICE
            at.choice = result
            return -1
        if result == packed.results - 1:
            # Punt formation has been declared; no play has been played.
            at.stream = advance(at.stream)
            at.row += len(packed.alike)
            return -1
    elif at.phase == CHOICE:
        waits = rules.result[at.choice]
        action = own if waits.chooser == 0 else other
        result = waits.penalty if action == number.first_option else waits.play
        at.choice = -1
    else:
        kick = own - number.first_kick if at.phase == KICKOFF else 2
        return int(number.situations * packed.results + kick)
    return int(at.row * packed.results + result)


@in_line
def _answered(i: int, action: int, episodes: Any, rules: Any) -> float:
    """The side that is asked calls a time-out or not; the reward of player 0."""
    at = episodes[i]
    asked, calls = at.asked, action == rules.number[0].first_timeout
    if not calls and at.other_too == 1:
        at.asked = 1 - asked
        at.other_too = 0
        return 0.0
    left, untimed = at.ticks, at.untimed == 1
    if calls:
        at.left0 -= asked == 0
        at.left1 -= asked == 1
        left, untimed = at.saved, False
    at.asked = -1
    at.other_too = 0
    at.saved = 0
    at.untimed = 0
    return float(_goes_on(i, left, untimed, episodes, rules))


@in_line
def _goes_on(i: int, left: int, untimed: bool, episodes: Any, rules: Any) -> float:
    """The half goes on with what follows, or it is over; the reward of player 0."""
    at = episodes[i]
    at.ticks = left
    if left == 0:
        if not untimed:
            return float(_half_over(i, episodes, rules))
        at.left0 = 0
        at.left1 = 0
    situations = rules.number[0].situations
    at.phase = CALL if at.row < situations else KICKOFF + (at.row - situations)
    return 0.0


@in_line
def _half_over(i: int, episodes: Any, rules: Any) -> float:
    """The second half begins, or the game is over and is paid."""
    number, at = rules.number[0], episodes[i]
    first_half = at.half == 1
    at.phase = KICKOFF if first_half else OVER
    at.ticks = number.half_ticks if first_half else 0
    at.offence = 1 - at.receiver if first_half else 0
    at.left0 = number.timeouts if first_half else 0
    at.left1 = number.timeouts if first_half else 0
    at.row = number.situations if first_half else 0
    at.half = 2
    at.receiver = -1
    if first_half or number.for_points:
        return 0.0
    return 0.5 * float((at.margin > 0) + (at.margin >= 0))


@kernel(largest=-1)
def choices(
    chosen: Ints,
    player: Ints,
    episodes: Any,
    rules: EpisodeArrays,
    acts: Bools,
    mask: NDArray[np.int8],
) -> None:
    """Fill `acts` [k], whether a player of a chosen episode has a choice, and its legal actions.

    Args:
        chosen: [k] indices of episodes.
        player: [k] the player of each.
        episodes: States of the episodes.
        rules: Rules of the game.
        acts: [k], filled.
        mask: [k, A] zeros, filled with 1 for each legal action. A player without a choice has
            action 0; once the episode is over all are legal.
    """
    number = rules.number[0]
    for e in range(len(chosen)):
        at, first, count = episodes[chosen[e]], 0, 1
        phase, mine = at.phase, at.offence == player[e]
        if phase == CALL and mine:
            count = number.plays + 3
        elif phase == CALL:
            first, count = number.first_letter, rules.packed.cell.shape[1]
        elif phase == CHOICE and mine == (rules.result[at.choice].chooser == 0):
            first, count = number.first_option, 2
        elif phase == TIMEOUT and at.asked == player[e]:
            first, count = number.first_timeout, 2
        elif phase == KICKOFF and mine:
            first, count = number.first_kick, 2
        elif phase == OVER:
            count = mask.shape[1]
        acts[e] = phase == CALL or (count == 2 and phase != OVER)
        for action in range(first, first + count):
            mask[e, action] = 1
        if phase == CALL and mine:
            for action in range(count):
                mask[e, action] = rules.legal[at.row, action]


@kernel(largest=-1)
def observe(
    chosen: Ints,
    player: Ints,
    episodes: Any,
    rules: EpisodeArrays,
    indicators: bool,
    entry: Ints,
    out: Any,
) -> None:
    """Fill the observation of a player of each chosen episode.

    Args:
        chosen: [k] indices of episodes.
        player: [k] which player of each.
        episodes: States of the episodes.
        rules: Rules of the game.
        indicators: Whether every entry is as many indicators as it has values.
        entry: [D], overwritten.
        out: [k, D] or [k, D'], filled.
    """
    number = rules.number[0]
    for e in range(len(chosen)):
        who, at = player[e], episodes[chosen[e]]
        row, live = at.row, at.phase != OVER
        entry[0] = not live
        for d in range(4):
            entry[1 + d] = rules.row[row, d] if live else 0
        entry[5] = live and at.offence == who
        entry[6] = live and row == number.situations
        entry[7] = live and row == number.situations + 1
        entry[8] = at.half == 2
        entry[9] = at.ticks
        entry[10] = min(at.ticks, number.last_ticks)
        entry[11] = at.left0 if who == 0 else at.left1
        entry[12] = at.left1 if who == 0 else at.left0
        entry[13] = at.receiver == who
        d = 14
        if not number.for_points:
            lead = at.margin if who == 0 else -at.margin
            entry[14] = lead
            entry[15] = max(-number.score, min(number.score, lead))
            d = 16
        entry[d] = at.asked == who
        entry[d + 1] = at.asked == 1 - who
        entry[d + 2] = at.other_too
        entry[d + 3] = at.saved
        entry[d + 4] = at.untimed
        for c in range(d + 5, len(entry)):
            entry[c] = 0
        if at.choice >= 0:
            entry[d + 5 + rules.result[at.choice].number] = 1

        if indicators:
            for c in range(out.shape[1]):
                out[e, c] = 0.0
            for d in range(len(entry)):
                shown = rules.first[d] + entry[d]
                if shown >= 0:
                    out[e, shown] = 1.0
        else:
            for d in range(len(entry)):
                out[e, d] = rules.share[rules.first[d] + entry[d]]


# The phases of a position, numbered as the kernel does.
_PHASES = ("call", "choice", "time-out", "kickoff", "free kick", "over")


class TimedFootballSampler:
    """Football with a clock, prepared for sampling; made once for many environments.

    Args:
        rules: The game.

    Attributes:
        rules: The game.
        packed: Rules of the game, as arrays.
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
        start = np.zeros(1, EPISODE)
        self.write(start, 0, begins.state)
        self.arrays = _rules_of(self, start)

    def simulation(self, n: int, observation: str = "vector") -> "TimedFootballSimulation":
        return TimedFootballSimulation(self, n, observation)

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
            "phase": _PHASES.index(state.phase),
            "left0": state.timeouts[0],
            "left1": state.timeouts[1],
            "row": row,
            "choice": codes.index(state.choice) if state.choice else -1,
        }
        for name in _FIELDS:
            records[name][i] = own[name] if name in own else getattr(state, name)

    def read(self, record: Any) -> TimedPosition:
        """Return where an episode stands, as a position of the rules."""
        at: dict[str, Any] = {name: int(record[name]) for name in _FIELDS}
        phase, row, choice = _PHASES[at.pop("phase")], at.pop("row"), at.pop("choice")
        situations = self.packed.n_situations
        on_field = phase != "over" and row < situations
        situation = situation_at(self.packed.ruleset, row) if on_field else Situation(0, 0, 0)
        comes = "call" if row < situations else _PHASES[KICKOFF + row - situations]
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


class TimedFootballSimulation(Simulation):
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
        self.records = np.zeros(n, EPISODE)
        self._share()
        self.entry = np.zeros(len(sampler.most), np.int64)
        self.n_actions = len(self.rules.info.actions[0])
        self.form = check_choice(observation, "observation", ("vector", "onehot"))
        low = -1.0 if (sampler.least < 0).any() and observation == "vector" else 0.0
        self.observation_space = spaces.Box(low, 1.0, (self._width(observation),), np.float32)

    def _share(self) -> None:
        self.arrays = {name: self.records[name] for name in ("stream", *_FIELDS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a pickled state; views do not know what they were views of."""
        self.__dict__.update(state)
        self._share()

    def _width(self, observation: str) -> int:
        arrays = self.sampler.arrays
        return len(arrays.first) if observation == "vector" else len(arrays.share) - 1

    def begin(self, chosen: Ints) -> None:
        begin(chosen, self.records, self.sampler.arrays)

    def move(self, chosen: Ints, first: Ints, second: Ints, paid: Floats) -> None:
        step(chosen, first, second, self.records, self.sampler.arrays, paid)

    def acts(self, chosen: Ints, player: Ints) -> Bools:
        return self._choices(chosen, player)[0]

    def over(self) -> Bools:
        return np.asarray(self.records["phase"] == OVER)

    def observe(
        self, chosen: Ints, player: Ints, observation: str | None = None
    ) -> NDArray[np.float32]:
        form, rules = observation or self.form, self.sampler.arrays
        seen = np.empty((len(chosen), self._width(form)), np.float32)
        observe(chosen, player, self.records, rules, form == "onehot", self.entry, seen)
        return seen

    def legal(self, chosen: Ints, player: Ints) -> NDArray[np.int8]:
        return self._choices(chosen, player)[1]

    def _choices(self, chosen: Ints, player: Ints) -> tuple[Bools, NDArray[np.int8]]:
        acts, mask = np.empty(len(chosen), bool), np.zeros((len(chosen), self.n_actions), np.int8)
        choices(chosen, player, self.records, self.sampler.arrays, acts, mask)
        return acts, mask

    def state(self, i: int) -> Any:
        return self.sampler.read(self.records[i])

    def index_ranges(self) -> dict[str, range]:
        clock, packed = self.sampler.rules.loaded_clock, self.sampler.packed
        flag, perhaps, ticks = range(2), range(-1, 2), range(clock.half_ticks + 1)
        left, most = range(clock.timeouts + 1), clock.largest_margin
        return {
            "phase": range(OVER + 1),
            "half": range(3),
            "offence": flag,
            "other_too": flag,
            "untimed": flag,
            "asked": perhaps,
            "receiver": perhaps,
            "ticks": ticks,
            "saved": ticks,
            "left0": left,
            "left1": left,
            "margin": range(-most, most + 1),
            "row": range(packed.n_situations + 2),
            "choice": range(-1, packed.arrays.results),
        }

    def check_values(self, saved: Mapping[str, NDArray[Any]]) -> None:
        super().check_values(saved)
        phase, takers = saved["phase"], self.sampler.arrays.result["chooser"][saved["choice"]]
        kicks = saved["row"] >= self.sampler.packed.n_situations
        wrong = kicks & ((phase == CALL) | (phase == CHOICE)) | (phase == CHOICE) & (takers < 0)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(
                f"saved episode {at} waits for a call or a choice that does not exist: row "
                f"{saved['row'][at]}, choice {saved['choice'][at]}"
            )


def _rules_of(sampler: TimedFootballSampler, start: NDArray[Any]) -> EpisodeArrays:
    """Return the arrays that the kernel reads.

    Args:
        sampler: Sampler of the game.
        start: [1] the state in which an episode begins.
    """
    game, packed = sampler.rules, sampler.packed
    clock, chart, actions = game.loaded_clock, game.loaded_chart, game.actions
    arrays = packed.arrays
    row = np.zeros((packed.n_situations + 2, 4), np.int16)
    row[:-2] = packed.situation
    first, share = _indicators(sampler.most, sampler.least)
    numbers = {
        "plays": chart.plays,
        "situations": packed.n_situations,
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
    result = np.full(packed.arrays.results, -1, RESULT)
    result["chooser"][arrays.chosen_result] = arrays.chooser
    result["penalty"][arrays.chosen_result], result["play"][arrays.chosen_result] = arrays.option.T
    result["number"][arrays.chosen_result] = np.arange(len(arrays.chooser))
    left = [
        [clock.left(ticks, seconds, penalty=penalty) for seconds, penalty in packed.groups]
        for ticks in range(clock.half_ticks + 1)
    ]
    return EpisodeArrays(
        packed=arrays,
        mixed_threshold=inverse_cdf(arrays.mixed_probability, arrays.mixed_start),
        threshold=inverse_cdf(arrays.branch_probability, arrays.branch_start),
        result=result,
        row=row,
        legal=packed.legal,
        left=np.array(left, np.int32),
        start=start,
        first=first,
        share=share,
        number=np.array([tuple(numbers.values())], [(n, type(v)) for n, v in numbers.items()]),
    )


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
