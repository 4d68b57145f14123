"""The last down as a map: go for it, punt or kick a field goal, from every place on the field.

The offence has three ways, each with an exact value: a normal call (the chart's plays and the
quick kick, mixed), declaring punt formation (from which some plays are called as fakes), and a
field goal. With the values of all that may follow, each is one matrix game or one expectation.

**The break-even chance.** Going for it gains a first down or scores with some chance p. Its mean
value is a if it does and b if it does not. It would equal the value k of the best kick if the
chance were (k - b) / (a - b).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from solvent.games.football.packed import PackedRules
from solvent.games.football.situation import Situation
from solvent.games.football.solver.backup import (
    against_defence,
    alike_in,
    backup_of,
    contests,
)
from solvent.model.arrays import Floats, Ints
from solvent.report.panel import CIVIDIS, VIRIDIS, Axis, CellMap, named_legend, shaded

WAYS = ("go for it", "quick kick", "punt formation", "field goal")


WAY_COLOURS = ("#0072b2", "#56b4e9", "#e69f00", "#009e73")


GO, QUICK_KICK, PUNT, KICK = range(len(WAYS))


# Longer distances are not drawn.
_MOST_TO_GO = 30


class FourthDowns(NamedTuple):
    """The last down in some situations; arrays end with their shape.

    Attributes:
        values: [4, ...] of :data:`WAYS` against the defence's optimal strategy; NaN where one is
            not allowed.
        way: [...] the best of them, -1 where there is no such situation; a normal call counts as a
            quick kick where that is at least half of its mixed strategy.
        margin: [...] what the second best way loses, going for it and the quick kick being one;
            NaN where there is one way only.
        fake: [...] the chance of a fake in punt formation, NaN where that is not best.
        chance: [...] the chance that going for it gains a first down or scores, with both mixed
            strategies.
        made: [...] the value if it does.
        failed: [...] the value if it does not.
    """

    values: Floats
    way: Ints
    margin: Floats
    fake: Floats
    chance: Floats
    made: Floats
    failed: Floats

    @property
    def needed(self) -> Floats:
        """The chance from which on going for it is better than the best kick; NaN if none is."""
        kick = np.fmax.reduce(self.values[QUICK_KICK:])
        gain = np.where(self.made > self.failed, self.made - self.failed, np.nan)
        return np.asarray((kick - self.failed) / gain)


def fourth_downs(
    rules: PackedRules, following: Floats, situations: Sequence[Situation]
) -> FourthDowns:
    """Solve the last down in some situations.

    Args:
        rules: The chart and the ruleset.
        following: [U] the values of successors to the offence; those of declaring punt formation,
            which come last, may be left out.
        situations: [n] situations of the last down, in normal formation.

    Returns:
        Arrays that end with [n].
    """
    plays, backup = rules.chart.plays, backup_of(rules)

    def numbers(*, punting: bool) -> Ints:
        return np.array([rules.index(one._replace(punting=punting)) for one in situations])

    def choose(at: Ints, following: Floats, taken: Floats | None = None) -> tuple[Floats, Floats]:
        """The values of results, [n, R], and the choices as they are made."""
        return backup.choose(backup.leads(at)[:, : len(following)] @ following, taken)

    normal, declared = numbers(punting=False), numbers(punting=True)
    legal = rules.legal[normal]
    results, taken = choose(normal, following)
    payoffs, called = backup.calls(results), legal[:, : plays + 1]
    called_best = contests(payoffs[:, : plays + 1], alike_in(called))
    offence, defence = called_best.row_strategy, called_best.column_strategy
    against = against_defence(payoffs, defence)[:, : plays + 1]
    against = np.where(called, against, np.nan)

    punts = backup.calls(choose(declared, following)[0])
    # The plays, the quick kick, and the punt itself.
    chosen = np.r_[: plays + 1, plays + 3]
    may_call = rules.legal[declared][:, np.r_[: plays + 1, plays + 2]]
    punting = contests(punts[:, chosen], alike_in(may_call))

    values = np.stack(
        (
            np.fmax.reduce(against[:, :plays], axis=1),
            against[:, plays],
            np.where(legal[:, plays + 2], punting.value, np.nan),
            np.where(legal[:, plays + 1], results[:, -2], np.nan),
        )
    )
    ways = np.nan_to_num((called_best.value, *values[PUNT:]), nan=-np.inf)
    best, ranked = np.argmax(ways, axis=0), np.sort(ways, axis=0)
    kinds = [best == 1, best == 2, offence[:, plays] >= 0.5]
    way, margin = np.select(kinds, [PUNT, KICK, QUICK_KICK], GO), ranked[2] - ranked[1]

    # Where only a kick is called, going for it is the best of the plays.
    own = offence[:, :plays]
    best = np.nan_to_num(against[:, :plays], nan=-np.inf).argmax(axis=1)
    own = np.where(own.any(axis=1, keepdims=True), own, np.eye(plays)[best])
    pairs = own[:, :, None] * defence[:, None, :] / own.sum(axis=1)[:, None, None]
    made = _is_made(rules)[: len(following)]
    gains = (choose(normal, of, taken)[0] for of in (made, made * following))
    chance, good, total = (
        (pairs * backup.calls(one)[:, :plays]).sum(axis=(1, 2)) for one in (*gains, results)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        means = good / chance, (total - good) / (1 - chance)
    return FourthDowns(
        values,
        way,
        np.where(np.isfinite(margin), margin, np.nan),
        np.where(way == PUNT, punting.row_strategy[:, :plays].sum(axis=1), np.nan),
        chance,
        *means,
    )


def everywhere(rules: PackedRules, following: Floats) -> FourthDowns:
    """Solve the last down everywhere: [X, Y] by yards from the own goal line and yards to go.

    Args:
        rules: The chart and the ruleset.
        following: [U] the values of successors to the offence.
    """
    field, downs = rules.ruleset.field, rules.ruleset.downs
    shape = field - 1, min(_MOST_TO_GO, field - 1)
    places = [(x, y) for x in range(shape[0]) for y in range(min(shape[1], shape[0] - x))]
    at = tuple(np.array(places).T)
    found = fourth_downs(
        rules, following, [Situation(downs, y + 1, field - 1 - x) for x, y in places]
    )

    def spread(numbers: Any) -> Any:
        none: Any = -1 if numbers.dtype.kind == "i" else np.nan
        filled = np.full((*numbers.shape[:-1], *shape), none)
        filled[(..., *at)] = numbers
        return filled

    return FourthDowns(*map(spread, found))


def maps(found: FourthDowns, last: str) -> list[CellMap]:
    """The maps of the last down; those that would be of one colour are left out.

    Args:
        found: The last down everywhere.
        last: The last down as it is called.
    """
    wide, high = found.way.shape
    told: dict[str, Floats] = dict(zip(WAYS, found.values, strict=True))
    told |= {"chance of making it": found.chance, "break-even": found.needed}
    drawn: list[tuple[str, Ints, Sequence[str], str, Mapping[str, Floats]]] = [
        ("best way", found.way, WAY_COLOURS, named_legend(WAYS, WAY_COLOURS), told)
    ]
    needed = np.clip(found.needed, 0.0, 1.0)
    for name, numbers, scale in (
        ("break-even chance of going for it", needed, VIRIDIS),
        ("chance of a fake where punt formation is best", found.fake, VIRIDIS),
        ("lost by the second best way", found.margin, CIVIDIS),
    ):
        most = float(np.nanmax(numbers, initial=0.0))
        if most > 0:
            own = {"chance of making it": found.chance} if numbers is needed else {}
            drawn.append((name, *shaded(numbers, scale, most), {name: numbers, **own}))
    labels = [
        {round(n) - 1: f"{n:g}" for n in Axis(1, size).ticks() if n == int(n)}
        for size in (wide, high)
    ]
    lines = [
        f"its own {x}" if 2 * x <= wide else f"the other's {wide + 1 - x}"
        for x in range(1, wide + 1)
    ]
    return [
        CellMap(
            name,
            level,
            colours,
            legend,
            axes=("yards from the own goal line", "yards to go"),
            labels=(labels[0], labels[1]),
            columns=[f"at {line}" for line in lines],
            rows=[f"{last} and {y}" for y in range(1, high + 1)],
            told=numbers,
        )
        for name, level, colours, legend, numbers in drawn
    ]


def _is_made(rules: PackedRules) -> Floats:
    """[U] 1 for a first down of the side that was on offence, and for its score."""
    successor, ruleset = rules.arrays.successor, rules.ruleset
    down = np.append(rules.situation[:, 0], (0, 0))[successor["row"]]
    first = successor["same_side"] & (down == 1)
    return np.asarray(first | (successor["points"] > ruleset.touchdown / 2), float)
