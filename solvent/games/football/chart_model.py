"""The model that makes original charts from a seed and a few parameters.

**Depth and focus.** Play p of n has depth t = (p - 1) / (n - 1): 0 is a plunge into the line, 1
the longest pass. Defence d of m has focus f = (d - 1) / (m - 1): the depth it is set for. A
defence that expects the play does well, so a cell is the better for the offence the larger its

    surprise  =  |t - f|  +  chance of +-noise

**Ladders.** Every play has a ladder of results from its worst to its best: a run fumbles, loses
yards, gains a few or breaks away; a pass is intercepted, ends in a sack, falls incomplete, or is
caught. How much of the ladder each of these takes, and the gains at its rungs, are straight lines
in t (:data:`LADDERS`). The cells of a play are ranked by surprise and take
rungs from the bottom to the top: the results of a play are the same whatever the seed, against
*which* defence they stand is drawn. So no play is better than its ladder, none is dominated by
construction, and a long pass is a gamble whatever the chart.

**Dice.** With `dice` > 0 a cell holds, instead of one rung, the distribution of the sum of so many
dice: the middle total stands on the cell's own rung, the least and the greatest go 3/5 of the way
from there to the ladder's ends, the others lie evenly between.

**Trimmings.** A few cells become penalties (on the offence on the lower half of a ladder, on the
defence on the upper half), and some gains end out of bounds.

**Kicks.** The quick kick is shorter than the punt. The first fifth of the defences rush the kick
and may block it; the higher the letter, the longer the return, and the last fifth may drop it.

Everything is integer arithmetic on the raw output of PCG64, whose stream NumPy guarantees, so a
seed gives the same chart everywhere. Depths, foci and rungs count in thousandths.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from string import ascii_uppercase
from typing import TypeAlias

import numpy as np

from solvent.games.football.chart import Cell, Chart, Result, ordered_cell, parse_cell
from solvent.model.dice import dice_sum
from solvent.model.parameters import check_integer

LAST_RUN = 400
"""Depth in thousandths: plays below it run."""

PUBLISHED = {(1, "D"): "1", (2, "B"): "fum", (3, "D"): "2", (4, "B"): "2", (4, "E"): "5"}
"""The cells of Football Strategy that McCulloch 2015 (MAICS) prints, by play and defence."""


@dataclass(frozen=True)
class ChartParameters:
    """The parameters of a generated chart, all of them whole numbers.

    Args:
        seed: Seed of the random stream, from 0.
        plays: Number of plays, from 5.
        defences: Number of defences, from 3.
        run_tenths: Tenths of a yard added to what runs gain.
        pass_tenths: Tenths of a yard added to what passes gain.
        risk: Size of turnovers' share of a ladder, 100 is the model's own.
        incomplete: Size of the share of incompletions and sacks; 100 is the model's own.
        noise: Effect of chance on the surprise, in thousandths.
        penalties: Percentage of results that become penalties.
        dice: Dice per cell; 0 for a single result.
        published: 1 to put in the five cells of :data:`PUBLISHED`.

    Raises:
        ValueError: If one is not a whole number or out of its range.
    """

    seed: int = 0
    plays: int = 20
    defences: int = 10
    run_tenths: int = 0
    pass_tenths: int = 0
    risk: int = 100
    incomplete: int = 100
    noise: int = 400
    penalties: int = 8
    dice: int = 0
    published: int = 0

    def __post_init__(self) -> None:
        """Check the ranges."""
        ranges = {
            "seed": (0, 2**63 - 1),
            "plays": (5, 99),
            "defences": (3, 26),
            "run_tenths": (-50, 50),
            "pass_tenths": (-100, 100),
            "risk": (0, 200),
            "incomplete": (0, 150),
            "noise": (0, 2000),
            "penalties": (0, 50),
            "dice": (0, 5),
            "published": (0, 1),
        }
        for name, (low, high) in ranges.items():
            check_integer(getattr(self, name), name, low, high)
        if self.published and self.defences < 5:
            raise ValueError(f"defences is {self.defences}; the published cells need 5")

    @property
    def command(self) -> str:
        """The options of ``solvent chart make`` that repeat this chart."""
        return " ".join(
            f"--{field.name.replace('_', '-')} {getattr(self, field.name)}"
            for field in fields(self)
        )


def make_chart(name: str, parameters: ChartParameters) -> Chart:
    """The chart of these parameters; its source says how to make it again."""
    draw = _draws(parameters.seed)
    plays = [_play(number, parameters, draw) for number in range(parameters.plays)]
    quick_kick, punt = _kicks(parameters.defences, draw)
    if parameters.published:
        for (play, letter), code in PUBLISHED.items():
            plays[play - 1][ascii_uppercase.index(letter)] = parse_cell(code)
    source = f"an original; solvent chart make {shlex.quote(name)} {parameters.command}"
    return Chart(name, tuple(map(tuple, plays)), quick_kick, punt, source)


Draw: TypeAlias = Callable[[int], int]
"""Draws a number in 0..bound - 1, uniform except for a bias below 2^-50."""


def _draws(seed: int) -> Draw:
    """Whole numbers from the raw stream of PCG64."""
    bits = np.random.PCG64(seed)
    return lambda bound: int(bits.random_raw()) * bound >> 64


@dataclass(frozen=True)
class Ladder:
    """A play's results from worst to best, by rung 0..999.

    Attributes:
        turnover: Number of rungs at the bottom that lose the ball.
        sack: Number of rungs after them that lose yards behind the line, passes only.
        incomplete: Number of rungs after them that fall incomplete.
        long: Number of rungs at the top that are long gains.
        low: Tenths of a yard at the lowest rung between.
        typical: Tenths of a yard at the middle one.
        top: Tenths of a yard at the highest; from the middle on, gains grow with the square.
        passes: Whether turnovers are interceptions.
    """

    turnover: int
    sack: int
    incomplete: int
    long: int
    low: int
    typical: int
    top: int
    passes: bool

    def result(self, rung: int) -> Result:
        """Return the result on a rung."""
        if rung < self.turnover:
            if not self.passes:
                return Result("fumble", rung * 4 // self.turnover)
            back = 20 - 20 * (rung + 1) // self.turnover
            return Result("interception", _yards(self.typical), return_yards=back)
        rung -= self.turnover
        if rung < self.sack:
            return Result("gain", -3 - 7 * (self.sack - rung) // self.sack)
        rung -= self.sack
        if rung < self.incomplete:
            return Result("incomplete")
        gains = 1000 - self.turnover - self.sack - self.incomplete
        rung -= self.incomplete
        if rung >= gains - self.long:
            return Result("long-gain")
        height = rung * 1000 // (gains - self.long)
        if height < 500:
            return Result("gain", _yards(self.low + (self.typical - self.low) * height // 500))
        steep = (height - 500) ** 2
        return Result("gain", _yards(self.typical + (self.top - self.typical) * steep // 250_000))


def _yards(tenths: int) -> int:
    return (tenths + 5) // 10


LADDERS = (
    ((18, 36), (0, 0), (0, 0), (0, 40), (-5, -55), (35, 40), (85, 225)),
    ((24, 78), (80, 120), (250, 480), (0, 60), (25, 155), (75, 285), (155, 505)),
)
"""The first seven attributes of a :class:`Ladder`: from the plunge to the widest run, steadier to
wilder, and from the shortest pass to the longest, surer to riskier."""


def ladder(depth: int, parameters: ChartParameters) -> Ladder:
    """The ladder of a play of this depth, in thousandths."""
    passes, first, last = (True, LAST_RUN, 1000) if depth >= LAST_RUN else (False, 0, LAST_RUN)
    along = (depth - first) * 1000 // (last - first)
    shares = [start + (end - start) * along // 1000 for start, end in LADDERS[passes]]
    sizes = parameters.risk, parameters.incomplete, parameters.incomplete
    tenths = parameters.pass_tenths if passes else parameters.run_tenths
    turnover, sack, incomplete = (
        n * size // 100 for n, size in zip(shares[:3], sizes, strict=True)
    )
    low, typical, top = (share + tenths for share in shares[4:])
    return Ladder(turnover, sack, incomplete, shares[3], low, typical, top, passes)


def _play(number: int, parameters: ChartParameters, draw: Draw) -> list[Cell]:
    """The cells of a play: its defences ranked by surprise, each on its rung."""
    defences, noise = parameters.defences, parameters.noise
    depth = number * 1000 // (parameters.plays - 1)
    surprise = [
        abs(depth - defence * 1000 // (defences - 1)) + draw(2 * noise + 1) - noise
        for defence in range(defences)
    ]
    order = sorted(range(defences), key=surprise.__getitem__)
    rungs = ladder(depth, parameters)
    cells: dict[int, Cell] = {}
    for rank, defence in enumerate(order):
        centre = (rank * 1000 + draw(1000)) // defences
        cells[defence] = _cell(centre, depth, rungs, parameters, draw)
    return [cell for _, cell in sorted(cells.items())]


def _cell(centre: int, depth: int, rungs: Ladder, parameters: ChartParameters, draw: Draw) -> Cell:
    branches = []
    for total, probability in dice_sum(parameters.dice).items():
        above_middle = 2 * total - 7 * parameters.dice  # Within +-5 per die.
        room = centre if above_middle < 0 else 999 - centre
        rung = centre + 3 * room * above_middle // max(25 * parameters.dice, 1)
        result = _trimmed(rungs.result(rung), rung, depth, parameters.penalties, draw)
        branches.append((probability, result))
    return ordered_cell(branches)


WIDE = 200
"""Depth from which a gain may end out of bounds."""


def _trimmed(result: Result, rung: int, depth: int, penalties: int, draw: Draw) -> Result:
    """The result, or a penalty in its place, or its gain ending out of bounds."""
    called, kind, outside = draw(100), draw(3), draw(5)
    if result.kind == "gain" and result.yards > 3 and depth >= WIDE and outside == 0:
        result = replace(result, out_of_bounds=True)
    if called >= penalties:
        return result
    if rung < 500:
        penalty = Result("offence-penalty", (5, 15, 10)[kind])
    else:
        penalty = Result("defence-penalty", (5, 15, 5)[kind], first_down=kind == 1)
    return Result("choice", options=(penalty, result)) if kind == 2 else penalty


def _kicks(defences: int, draw: Draw) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """The columns of the quick kick and the punt."""
    quick_kick, punt = [], []
    for defence in range(defences):
        focus = defence * 1000 // (defences - 1)
        rushes, returns = focus < 200, focus >= 800
        quick = f"punt{33 + draw(6)}r{draw(3)}"
        kicked = 42 + draw(8) - 3 * rushes
        long = f"punt{kicked}r{focus * 10 // 1000 + draw(4)}"
        quick_kick.append(parse_cell(f"{quick}*35 | block*1" if rushes else quick))
        if rushes:
            long = f"{long}*34 | block*2"
        elif returns:
            long = f"{long}*35 | punt{kicked}fum*1"
        punt.append(parse_cell(long))
    return tuple(quick_kick), tuple(punt)
