"""A drive in American football, the decision process of Patek and Bertsekas.

One team has the ball and calls each play: run, pass, punt or field goal. The drive ends when the
other team gets the ball or somebody scores. The payoff is the points scored minus the points that
the other team can expect with the ball. The model is that of S. D. Patek and D. P. Bertsekas, "Play
selection in American football: a case study in neuro-dynamic programming", 1996, who computed its
optimum as a yardstick for learning.

**State.** ``(to_goal, to_go, down)``, the source's x, y and d: yards to the other team's goal
line, 1 to 100; yards to the line to gain, at most `to_goal`; and the down, 1 to 4. On first down
`to_go` is 10, or `to_goal` if that is less. These are 100 + 3 * 5050 = 15,250 states. A first down
is won only nearer to the goal than the last one, and otherwise the down rises, so no state occurs
twice in a drive.

**Plays.** With P(m) a draw from the Poisson distribution of mean m:

* Run: gains P(6) - 2. In 5% of the cases the ball is lost there.
* Pass: in 45% incomplete; in 45% complete, a gain of P(12) - 2; in 5% intercepted, at a gain of
  P(12) - 2; in 5% a sack, a loss of P(6).
* Punt: the ball is lost 6 P(10) + 6 yards on.
* Field goal: good with probability .95 - .95 `to_goal` / 60, which is 0 from 60 yards on. After a
  miss the ball is lost where it was.

A gain of `to_goal` is a touchdown, a loss beyond the own goal line a safety. A ball that is lost at
or beyond the other team's goal line is a touchback, beyond the own goal line a touchdown for the
other team. Short of the line to gain on fourth down the ball is lost.

**Payoff.** 6.8 points for a touchdown, 3 for a field goal, -2 for a safety, -6.8 for a touchdown of
the other team; less 6.8 z / 100, with z the other team's yards from its own goal line: where the
ball was lost, or 20 after a score or touchback.

**What was decided.** The published value -.9449 of (80, 10, 1) settles two questions. A run that is
fumbled beyond the goal line is a touchback; were it a touchdown, the value would be -.8827. After a
safety the other team's ball counts as well; were it left out, the optimal play on first down would
be a pass from 95 yards on, and the source says run.

**What stays open.** The source does not say where the ball is after a touchdown of the other team.
Here that team has it at its 20, as after all scores, which costs another 1.36 points. If it were a
yard from its goal line, that would cost .068. So the place is a parameter. No optimal play depends
on it. Between the two, 287 values differ by more than 1e-6, all from 98 yards to the goal on, and
by 1.2e-3 at most.

**Probabilities.** They are rationals: the *distribution function* of each Poisson variable is
rounded to a multiple of 2^-48. Probabilities are then positive and sum to 1, and those of any "at
least" are off by at most 2^-49. A variable takes fewer than 64 values, so the distribution of a
play changes by less than 64 * 2^-49 < 2e-13 in total variation, and the value of n plays by less
than n * 2e-13 * 13.6, the distance of the best and the worst payoff.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import GameInfo, JointAction, Outcome, TabularGame, reachable
from solvent.model.arrays import Bools, Ints, grouped_sum
from solvent.model.game import Rules
from solvent.model.parameters import check_integer, shown
from solvent.model.scene import Gridiron, Scene

RUN, PASS, PUNT, KICK = range(4)

DOWNS = 4
# The other team's place after a score or a touchback, in yards from its own goal line.
_TOUCHBACK = 20

TOUCHDOWN, FIELD_GOAL, SAFETY = Fraction(34, 5), Fraction(3), Fraction(-2)

# The value of each yard from its own goal line to the team that gets the ball.
_YARD = TOUCHDOWN / 100

# The shortest distance, in yards, from which no field goal is good.
_RANGE = 60

# Probabilities of Poisson variables are multiples of 1 / _UNIT.
_UNIT = 2**48

# Probabilities of plays are multiples of 1 / _WHOLE; below 2^53, so that a float holds them.
_WHOLE = 20 * _UNIT

ENDINGS = ("", "field goal", "lost", "other's touchdown", "safety", "touchdown")
"""The ends of a drive, in the order in which outcomes are listed; "" before the end."""


class Drive(NamedTuple):
    """The offence's position, or how the drive has ended.

    Attributes:
        to_goal: Yards to the other team's goal line. Once the drive has ended, the other team's
            yards from that line, which is its own.
        to_go: Yards to the line to gain; 0 once the drive has ended.
        down: 1 to 4; 0 once the drive has ended.
        ended: One of :data:`ENDINGS`.
    """

    to_goal: int
    to_go: int
    down: int
    ended: str = ""


@dataclass(frozen=True)
class FootballDrive(Rules):
    """One drive of football: run, pass, punt or kick.

    Args:
        start: Yards to the goal at the first down with which the drive begins, or ``"anywhere"``
            for all states with equal probability.
        field: Length of the field in yards, within 20..100. Shorter ones are for tests.
        their_ball: Place of the ball after a touchdown of the other team, in yards from
            its own goal line, within 1..field.

    Raises:
        ValueError: If a parameter is not allowed.
    """

    start: int | str = 80
    field: int = 100
    their_ball: int = _TOUCHBACK

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer(self.field, "field", _TOUCHBACK, 100)
        check_integer(self.their_ball, "their_ball", 1, self.field)
        _ = self._starts

    @cached_property
    def _starts(self) -> dict[Drive, Fraction]:
        """The states in which a drive may begin, with their probabilities."""
        if self.start == "anywhere":
            states = all_positions(self.field)
            return dict.fromkeys(states, Fraction(1, len(states)))
        if isinstance(self.start, str):
            raise ValueError(
                f"start is {shown(self.start)}; allowed are yards to the goal and 'anywhere'"
            )
        return {first_down(check_integer(self.start, "start", 1, self.field)): Fraction(1)}

    @cached_property
    def info(self) -> GameInfo:
        """Actions and sources."""
        return GameInfo(
            name="football-drive",
            players=1,
            actions=(("run", "pass", "punt", "field goal"),),
            acyclic=True,
            reward_range=(
                float(payoff(Drive(self.their_ball, 0, 0, "other's touchdown"))),
                float(payoff(Drive(_TOUCHBACK, 0, 0, "touchdown"))),
            ),
            sources=("Patek and Bertsekas 1996, Play selection in American football",),
            parameters=(
                ("start", self.start),
                ("field", self.field),
                ("their_ball", self.their_ball),
            ),
            observation_labels=("to goal", "to go", "down", "ended"),
            unit="points",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the states in which a drive may begin."""
        return tuple(Outcome(p, state) for state, p in self._starts.items())

    def transition(self, state: Drive, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Play the down. Outcomes are in the order of their states."""
        [action] = joint_action
        found, weights = self._outcomes(np.array([state[:3]]), action)
        chances: dict[Drive, int] = {}
        for after, weight in zip(map(_drive, found[0].tolist()), weights[0].tolist(), strict=True):
            chances[after] = chances.get(after, 0) + weight
        return tuple(
            Outcome(Fraction(weight, _whole(action)), after, payoff(after))
            for after, weight in sorted(chances.items())
            if weight
        )

    def _outcomes(self, positions: Ints, action: int) -> tuple[Ints, Ints]:
        """Return the states after a play in P positions, one for each of K moves of the ball.

        Args:
            positions: [P, 3] yards to the goal, yards to go and the down.
            action: The play.

        Returns:
            [P, K, 4] to goal, to go, down and the number of the ending, and [P, K] weights in units
            of 1 / :func:`_whole`. Several moves may lead to the same state.
        """
        to_goal, to_go, down = positions.T[:, :, None]
        if action == KICK:
            good = 19 * np.maximum(_RANGE - to_goal, 0)
            lost = np.where([True, False], _TOUCHBACK, to_goal)
            ending = np.array([ENDINGS.index("field goal"), ENDINGS.index("lost")])
            states = np.stack(np.broadcast_arrays(lost, 0, 0, ending), axis=-1)
            return states, np.concatenate((good, 20 * _RANGE - good), axis=1)
        moves = plays(action)
        keeps, yards = (np.array(part) for part in zip(*moves, strict=True))
        weights = np.tile(np.array(list(moves.values())), (len(positions), 1))
        return self._moved(to_goal - yards, to_go - yards, down, keeps), weights

    def _moved(self, to_goal: Ints, to_go: Ints, down: Ints, keeps: Bools) -> Ints:
        """Return the states after the ball has moved, [..., 4].

        Args:
            to_goal: Yards to the goal afterwards.
            to_go: Yards to the line to gain afterwards.
            down: The down that was played.
            keeps: Whether the ball is not lost to a defender.
        """
        cases: list[tuple[Bools, tuple[Ints | int, Ints | int, Ints | int, str]]] = [
            (keeps & (to_goal <= 0), (_TOUCHBACK, 0, 0, "touchdown")),
            (keeps & (to_goal > self.field), (_TOUCHBACK, 0, 0, "safety")),
            (to_goal <= 0, (_TOUCHBACK, 0, 0, "lost")),
            (to_goal > self.field, (self.their_ball, 0, 0, "other's touchdown")),
            (keeps & (to_go <= 0), (to_goal, np.minimum(10, to_goal), 1, "")),
            (keeps & (down < DOWNS), (to_goal, to_go, down + 1, "")),
            (np.ones_like(keeps), (to_goal, 0, 0, "lost")),
        ]
        where = [case for case, _ in cases]
        ends = [(x, y, d, ENDINGS.index(ending)) for _, (x, y, d, ending) in cases]
        columns = (np.select(where, list(column)) for column in zip(*ends, strict=True))
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def is_terminal(self, state: Drive) -> bool:
        """Return True if the drive has ended."""
        return state.ended != ""

    def observe(self, state: Drive, player: int) -> NDArray[np.float32]:
        """Yards to the goal and to go over the length of the field, down / 4, and the ending."""
        return np.array(
            [
                state.to_goal / self.field,
                state.to_go / self.field,
                state.down / DOWNS,
                ENDINGS.index(state.ended) / (len(ENDINGS) - 1),
            ],
            np.float32,
        )

    def place(self, state: Drive) -> str:
        """Return down and distance, or the end of the drive."""
        *_, news = self._drawing(state)
        return f"{news[0].lower()}{news[1:].rstrip('.!')}"

    def scene(self, state: Drive) -> Scene:
        """Return the field, with the ball and the line to gain, and down and distance."""
        ball, gain, news = self._drawing(state)
        return (Gridiron(ball, gain, self.field, news=news),)

    def _drawing(self, state: Drive) -> tuple[int | None, int | None, str]:
        """Return the columns of the ball and of the line to gain, if any, and the news in words."""
        down = ("Over", "First", "Second", "Third", "Fourth")[state.down]
        distance = "goal" if state.to_go == state.to_goal else str(state.to_go)
        news = {
            "": f"{down} and {distance}, {state.to_goal} yards to the goal.",
            "lost": f"The ball is lost, {state.to_goal} yards from the other team's goal.",
            "field goal": "The field goal is good: 3 points.",
            "other's touchdown": "The other team scores a touchdown.",
            "safety": "A safety: 2 points for the other team.",
            "touchdown": "Touchdown!",
        }[state.ended]
        ball = self.field - state.to_goal if state.ended in ("", "lost") else None
        gain = None if state.ended or ball is None else ball + state.to_go
        return ball, gain, news

    def explain(self, action: int, player: int) -> str:
        """Describe an action in a few words."""
        return (
            "some yards, seldom a fumble",
            "more yards, or incomplete, a sack or an interception",
            "give the ball away, far from your goal line",
            f"3 points if it is good; from less than {_RANGE} yards only",
        )[action]

    def tell(
        self, state: Drive | None, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Describe how the ball has moved, and whether it was lost on the way."""
        if state is None:
            return ""
        [action] = joint_action
        after: Drive = outcome.state
        if action == KICK:
            return f"The field goal is {'good' if after.ended == 'field goal' else 'missed'}."
        found, weights = self._outcomes(np.array([state[:3]]), action)
        moves = zip(plays(action), found[0].tolist(), weights[0].tolist(), strict=True)
        ways = {move: weight for move, end, weight in moves if _drive(end) == after}
        [(keeps, yards)] = dice.choices(list(ways), list(ways.values()))
        if action == PUNT:
            return f"A punt of {yards} yards."
        gain = f"gain of {yards}" if yards > 0 else f"loss of {-yards}" if yards else "no gain"
        if keeps:
            downs = ", lost on downs" if after.ended == "lost" else ""
            first = ", first down" if not after.ended and after.down == 1 else ""
            return f"{gain[0].upper()}{gain[1:]}{downs}{first}."
        return f"{'Fumble' if action == RUN else 'Interception'} at {gain}."

    def tabulate(self) -> TabularGame:
        """The arrays of the game, all positions at once (rows as `transition` orders them)."""
        shape = (self.field + 1, self.field + 1, DOWNS + 1, len(ENDINGS))
        size = int(np.prod(shape))
        positions = np.array([state[:3] for state in all_positions(self.field)], np.int64)
        keys, weights = [], []
        for action in (RUN, PASS, PUNT, KICK):
            found, weight = self._outcomes(positions, action)
            row = 4 * np.arange(len(positions))[:, None] + action
            codes = np.ravel_multi_index(tuple(np.moveaxis(found, -1, 0)), shape)
            keys.append((row * size + codes).ravel())
            weights.append(weight.ravel())
        key, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        sums = grouped_sum(inverse, np.concatenate(weights), len(key))
        key, sums = key[sums > 0], sums[sums > 0]
        row, target = np.divmod(key, size)
        # Rows are numbered by position; positions and the codes of states ascend alike.
        live = np.ravel_multi_index((*positions.T, np.zeros(len(positions), int)), shape)
        codes = np.union1d(live, target)
        states = tuple(_drive(s) for s in np.stack(np.unravel_index(codes, shape), 1).tolist())
        acts = np.isin(codes, live)
        next_state = np.searchsorted(codes, target)
        rows = np.bincount(row, minlength=4 * len(positions))
        table = TabularGame(
            info=self.info,
            states=states,
            row_start=np.concatenate(([0], np.cumsum(4 * acts))),
            outcome_start=np.concatenate(([0], np.cumsum(rows))),
            next_state=next_state,
            probability=sums / np.where(row % 4 == KICK, _whole(KICK), _WHOLE),
            outcome_reward=np.array([float(payoff(state)) for state in states])[next_state],
            mask=(np.repeat(acts[:, None], 4, axis=1), acts[:, None]),
            initial=np.array([float(self._starts.get(state, 0)) for state in states]),
            observation=(np.stack([self.observe(state, 0) for state in states]),),
        )
        return reachable(table)


def _drive(columns: Sequence[int]) -> Drive:
    """A state from its columns, see :meth:`FootballDrive._outcomes`."""
    to_goal, to_go, down, ending = columns
    return Drive(to_goal, to_go, down, ENDINGS[ending])


def _whole(action: int) -> int:
    """The sum of the weights of a play's outcomes."""
    return 20 * _RANGE if action == KICK else _WHOLE


def first_down(to_goal: int) -> Drive:
    """First and ten, or first and goal."""
    return Drive(to_goal, min(10, to_goal), 1)


def all_positions(field: int) -> tuple[Drive, ...]:
    """Every position of the offence, sorted: 15,250 on a field of 100 yards."""
    return tuple(
        Drive(to_goal, to_go, down)
        for to_goal in range(1, field + 1)
        for to_go in range(1, to_goal + 1)
        for down in range(1, DOWNS + 1)
        if down > 1 or to_go == min(10, to_goal)
    )


def payoff(state: Drive) -> Fraction:
    """Points scored in the drive, less the value of the ball to the other team; 0 before its end.

    See the module.
    """
    if not state.ended:
        return Fraction(0)
    points = {
        "field goal": FIELD_GOAL,
        "lost": Fraction(0),
        "other's touchdown": -TOUCHDOWN,
        "safety": SAFETY,
        "touchdown": TOUCHDOWN,
    }
    return points[state.ended] - _YARD * state.to_goal


@cache
def poisson(mean: int) -> tuple[int, ...]:
    """The Poisson distribution in units of 1 / _UNIT, from 0 on, as the module describes.

    The distribution function is the sum of mean^k / k! over that of 400 terms, which stands for
    exp(mean) with an error of less than 10^-400.
    """
    ratios = (Fraction(mean, k) for k in range(1, 400))
    terms = list(accumulate(ratios, mul, initial=Fraction(1)))
    whole = sum(terms)
    at_most = [round(below / whole * _UNIT) for below in accumulate(terms)]
    reached = at_most[: at_most.index(_UNIT) + 1]
    return tuple(mass - before for before, mass in pairwise((0, *reached)))


@cache
def plays(action: int) -> dict[tuple[bool, int], int]:
    """Return the moves of the ball by a run, pass or punt, in units of 1 / _WHOLE.

    The keys say whether the offence keeps the ball and how many yards it moves. An offence that
    keeps the ball on fourth down may still lose it on downs.
    """
    branches: list[tuple[bool, int, int]]
    if action == RUN:
        branches = [
            (keeps, k - 2, weight * mass)
            for k, mass in enumerate(poisson(6))
            for keeps, weight in ((True, 19), (False, 1))
        ]
    elif action == PASS:
        branches = [(True, 0, 9 * _UNIT)]
        branches += [(True, -k, mass) for k, mass in enumerate(poisson(6))]
        branches += [
            (keeps, k - 2, weight * mass)
            for k, mass in enumerate(poisson(12))
            for keeps, weight in ((True, 9), (False, 1))
        ]
    else:
        branches = [(False, 6 * k + 6, 20 * mass) for k, mass in enumerate(poisson(10))]
    moves: dict[tuple[bool, int], int] = {}
    for keeps, yards, weight in branches:
        if weight:
            moves[keeps, yards] = moves.get((keeps, yards), 0) + weight
    return moves
