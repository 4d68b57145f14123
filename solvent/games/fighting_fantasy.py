"""Fighting Fantasy combat with its luck gamble.

The rules are Algorithm 1 of I. G. Johnston, "Optimal strategies in the Fighting Fantasy gaming
system", European Journal of Operational Research (2022), doi 10.1016/j.ejor.2022.01.039, after
S. Jackson and I. Livingstone, *The Warlock of Firetop Mountain*.

Hero and opponent each roll two dice and add their SKILL. The higher sum wins the round and the
loser's STAMINA falls by 2; equal sums change nothing. After a round is won or lost, and before
its damage counts, the hero may test LUCK: two dice are rolled, the test succeeds if they show at
most the current LUCK, and LUCK falls by 1 either way. A successful test makes a won round deal 4
(unsuccessful: 1) and a lost round cost 1 (unsuccessful: 3). Who falls to 0 STAMINA has lost.

**State.** ``(difference, hero, opponent, luck, round)``: the hero's SKILL minus the opponent's,
both STAMINAs, LUCK, and whether the round just fought was ``"won"`` or ``"lost"`` (``"over"``
once the combat has ended). The decision is taken there.

**Errata.** Draws change nothing, so they are conditioned out: the next round that is not drawn is
won with probability p_w / (1 - p_d). Equations 17-20 of the paper print p_w and p_l without the
division; taken literally they give 0.318 where the paper reports 0.28 and 0.78 for the Hell
Demon, and the author's own program divides. Equation 2 prints p_d as P(X + difference < 0) and
the list of inequalities prints X1 + X2 for a draw; both should read X1 - X2 + difference = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    GameInfo,
    JointAction,
    Outcome,
    TabularGame,
    dice_sum,
    probability_at_most,
    reachable,
)
from solvent.model.arrays import Ints
from solvent.model.difficulty import SuccessTest
from solvent.model.drawing import gauge
from solvent.model.parameters import Spread, check_choice, check_integer, spread

KEEP, TEST = 0, 1
"""The two actions: leave the damage as it is, or test LUCK."""

SOURCES = (
    "Johnston 2022, doi 10.1016/j.ejor.2022.01.039, Algorithm 1 and equations 1-20",
    "Gascoigne 1985, Out of the Pit (statistics of the named opponents)",
)


class Combat(NamedTuple):
    """A moment of a combat; `round` is ``"won"``, ``"lost"`` or ``"over"``."""

    difference: int
    hero: int
    opponent: int
    luck: int
    round: str


class Opponent(NamedTuple):
    """An opponent's statistics."""

    skill: int
    stamina: int


OPPONENTS: Mapping[str, Opponent] = {
    "adult-white-dragon": Opponent(skill=15, stamina=22),
    "hell-demon": Opponent(skill=14, stamina=12),
}
"""Opponents that Johnston 2022, section 2.3, quotes from *Out of the Pit*."""


@dataclass(frozen=True, slots=True)
class Damage:
    """STAMINA lost by the loser of a round: without a test of LUCK, and with one.

    Attributes:
        won: To the opponent, no test.
        won_lucky: To the opponent, successful test.
        won_unlucky: To the opponent, unsuccessful test.
        lost: To the hero, no test.
        lost_lucky: To the hero, successful test.
        lost_unlucky: To the hero, unsuccessful test.
    """

    won: int = 2
    won_lucky: int = 4
    won_unlucky: int = 1
    lost: int = 2
    lost_lucky: int = 1
    lost_unlucky: int = 3

    def __post_init__(self) -> None:
        """Refuse damage that would let a combat go on for ever, or heal."""
        for item in fields(self):
            least = 1 if item.name in ("won", "lost") else 0
            check_integer(getattr(self, item.name), f"damage.{item.name}", least, 99)


DAMAGE: Mapping[str, Damage] = {
    "standard": Damage(),
    # The adapted system of Johnston 2022, section 2.4.
    "three": Damage(won_lucky=3),
}


@dataclass(frozen=True)
class FightingFantasy:
    """One combat, or a distribution over combats to begin with.

    Wherever a :data:`~solvent.model.parameters.Spread` is taken, an integer means that value, a
    pair ``[low, high]`` any value between with equal probability, and a mapping of values to
    weights that distribution.

    Args:
        skill_difference: Hero's SKILL minus the opponent's, within -20..20.
        stamina: The hero's STAMINA at the start, within 1..99.
        opponent_stamina: The opponent's, within 1..99.
        luck: The hero's LUCK at the start, within 0..99.
        damage: ``"standard"``, ``"three"`` (a lucky hit deals 3), or a mapping of fields of
            :class:`Damage` to STAMINA.
        stamina_above: A victory counts only with more STAMINA than this left (s* in section 3).
        luck_above: A victory counts only with more LUCK than this left (l* in section 3).

    Raises:
        ValueError: If a parameter is not of its kind or out of its range.
    """

    skill_difference: Spread = 0
    stamina: Spread = 12
    opponent_stamina: Spread = 12
    luck: Spread = 9
    damage: str | Mapping[str, int] | Damage = "standard"
    stamina_above: int = 0
    luck_above: int = -1

    def __post_init__(self) -> None:
        """Check every parameter, so that no error comes from deeper inside."""
        _ = self._starts
        _ = self._damage
        check_integer(self.stamina_above, "stamina_above", 0, 98)
        check_integer(self.luck_above, "luck_above", -1, 98)

    @cached_property
    def _starts(self) -> tuple[dict[int, Fraction], ...]:
        """The distributions of difference, hero, opponent and luck."""
        return (
            spread(self.skill_difference, "skill_difference", -20, 20),
            spread(self.stamina, "stamina", 1, 99),
            spread(self.opponent_stamina, "opponent_stamina", 1, 99),
            spread(self.luck, "luck", 0, 99),
        )

    @cached_property
    def _damage(self) -> Damage:
        if isinstance(self.damage, Damage):
            return self.damage
        if isinstance(self.damage, str):
            return DAMAGE[check_choice(self.damage, "damage", DAMAGE)]
        if not isinstance(self.damage, Mapping):
            raise ValueError(f"damage is {self.damage!r}; allowed are a name or a mapping")
        names = [item.name for item in fields(Damage)]
        for name in self.damage:
            check_choice(name, "damage", names)
        return Damage(**self.damage)

    @cached_property
    def _maxima(self) -> tuple[int, int, int]:
        """The largest STAMINAs and LUCK that can occur."""
        _, hero, opponent, luck = self._starts
        return max(hero), max(opponent), max(luck)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        return GameInfo(
            name="ff-combat",
            players=1,
            actions=(("keep", "test luck"),),
            acyclic=True,
            reward_range=(0.0, 1.0),
            sources=SOURCES,
            parameters=tuple(
                (item.name, _plain(getattr(self, item.name))) for item in fields(self)
            ),
            observation_labels=("skill difference", "hero", "opponent", "luck", "round"),
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Every start, with its first round already fought."""
        differences, heroes, opponents, lucks = (d.items() for d in self._starts)
        return tuple(
            Outcome(p_d * p_s * p_o * p_l * p_round, Combat(d, stamina, opponent, luck, result))
            for (d, p_d), (stamina, p_s), (opponent, p_o), (luck, p_l) in product(
                differences, heroes, opponents, lucks
            )
            for result, p_round in decided_round(d).items()
        )

    def legal_actions(self, state: Combat) -> tuple[tuple[int, ...], ...]:
        """LUCK can be tested while any is left."""
        return ((KEEP, TEST),) if state.luck > 0 else ((KEEP,),)

    def transition(self, state: Combat, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Deal the damage of the round, then fight on until a round is not drawn."""
        damage = self._damage
        won = state.round == "won"
        if joint_action[0] == KEEP:
            cases = [(Fraction(1), damage.won if won else damage.lost, state.luck)]
        else:
            q = luck_succeeds(state.luck)
            lucky = damage.won_lucky if won else damage.lost_lucky
            unlucky = damage.won_unlucky if won else damage.lost_unlucky
            cases = [(q, lucky, state.luck - 1), (1 - q, unlucky, state.luck - 1)]

        branches: dict[Combat, Fraction] = {}
        for probability, points, luck in cases:
            hero = state.hero if won else max(state.hero - points, 0)
            opponent = max(state.opponent - points, 0) if won else state.opponent
            fallen = hero == 0 or opponent == 0
            following = {"over": Fraction(1)} if fallen else decided_round(state.difference)
            for name, p_round in following.items():
                target = Combat(state.difference, hero, opponent, luck, name)
                branches[target] = branches.get(target, Fraction(0)) + probability * p_round
        return tuple(
            Outcome(probability, target, self._payoff(target))
            for target, probability in branches.items()
            if probability > 0
        )

    @property
    def checks(self) -> Mapping[str, SuccessTest]:
        """The test of LUCK, for :func:`solvent.model.difficulty.with_modifier`."""
        return {"luck": self._luck_held}

    def _luck_held(self, state: Combat, joint_action: JointAction, outcome: Outcome) -> bool | None:
        """Whether a test of LUCK succeeded, told by its damage; None if there was none.

        Where both results are fatal they are one outcome, and a test of it cannot fail.
        """
        if joint_action[0] != TEST:
            return None
        if state.round == "won":
            return bool(outcome.state.opponent == max(state.opponent - self._damage.won_lucky, 0))
        return bool(outcome.state.hero == max(state.hero - self._damage.lost_lucky, 0))

    def _payoff(self, state: Combat) -> int:
        """1 for a victory that counts, else 0."""
        victory = state.round == "over" and state.opponent == 0
        return int(victory and state.hero > self.stamina_above and state.luck > self.luck_above)

    def is_terminal(self, state: Combat) -> bool:
        """Whether hero or opponent has fallen."""
        return state.round == "over"

    def observe(self, state: Combat, player: int) -> NDArray[np.float32]:
        """Difference / 20, STAMINAs and LUCK over their maxima, and 1 won, -1 lost, 0 over."""
        hero, opponent, luck = self._maxima
        return np.array(
            [
                state.difference / 20,
                state.hero / hero,
                state.opponent / opponent,
                state.luck / max(luck, 1),
                {"won": 1, "lost": -1, "over": 0}[state.round],
            ],
            np.float32,
        )

    def draw(self, state: Combat) -> str:
        """Three gauges and what has just happened."""
        hero, opponent, luck = self._maxima
        if state.round == "over":
            news = "The opponent falls. Victory!" if state.opponent == 0 else "The hero falls."
        else:
            news = f"This round is {state.round}."
        return "\n".join(
            (
                f"SKILL difference {state.difference:+d}",
                f"hero      {gauge(state.hero, hero)}",
                f"opponent  {gauge(state.opponent, opponent)}",
                f"LUCK      {gauge(state.luck, luck)}",
                news,
            )
        )

    def tabulate(self) -> TabularGame:
        """The arrays of the game, all states at once (rows as `transition` orders them)."""
        return _tabulate(self)


def ff_combat(
    opponent: str | None = None,
    *,
    skill: int = 12,
    opponent_skill: int | None = None,
    skill_difference: Spread | None = None,
    stamina: Spread = 12,
    opponent_stamina: Spread | None = None,
    luck: Spread = 9,
    damage: str | Mapping[str, int] = "standard",
    stamina_above: int = 0,
    luck_above: int = -1,
) -> FightingFantasy:
    """A combat described the way a gamebook does, by the statistics of both sides.

    Args:
        opponent: A name of :data:`OPPONENTS`, or None for one of your own.
        skill: The hero's SKILL, within 0..20.
        opponent_skill: SKILL of your own opponent, within 0..20; the hero's if left out.
        skill_difference: Instead of both SKILLs, their difference as a :data:`Spread`.
        stamina: The hero's STAMINA at the start, within 1..99, as a :data:`Spread`.
        opponent_stamina: The same of your own opponent; 12 if left out.
        luck: The hero's LUCK at the start, within 0..99, as a :data:`Spread`.
        damage: ``"standard"``, ``"three"`` (a lucky hit deals 3), or a mapping of fields of
            :class:`Damage` to STAMINA.
        stamina_above: A victory counts only with more STAMINA than this left.
        luck_above: A victory counts only with more LUCK than this left.

    Raises:
        ValueError: If a parameter is out of its range, or a named opponent is given statistics.
    """
    skill = check_integer(skill, "skill", 0, 20)
    if opponent is not None:
        named = OPPONENTS[check_choice(opponent, "opponent", OPPONENTS)]
        for name, value in (
            ("opponent_skill", opponent_skill),
            ("opponent_stamina", opponent_stamina),
            ("skill_difference", skill_difference),
        ):
            if value is not None:
                raise ValueError(f"{name} is {value!r}, but opponent {opponent!r} brings its own")
        opponent_skill, opponent_stamina = named
    if skill_difference is None:
        other = skill if opponent_skill is None else opponent_skill
        skill_difference = skill - check_integer(other, "opponent_skill", 0, 20)
    elif opponent_skill is not None:
        raise ValueError(
            f"opponent_skill is {opponent_skill!r} and skill_difference {skill_difference!r}; "
            f"give one of them"
        )
    return FightingFantasy(
        skill_difference=skill_difference,
        stamina=stamina,
        opponent_stamina=12 if opponent_stamina is None else opponent_stamina,
        luck=luck,
        damage=damage,
        stamina_above=stamina_above,
        luck_above=luck_above,
    )


@cache
def round_probabilities(difference: int) -> tuple[Fraction, Fraction, Fraction]:
    """Probabilities that a round is won, drawn and lost (equations 1-3, the draw mended).

    X is the difference of two sums of two dice; the round is won if X + difference > 0.
    """
    total = dice_sum(2)
    pmf: dict[int, Fraction] = {}
    for (a, p_a), (b, p_b) in product(total.items(), total.items()):
        pmf[a - b] = pmf.get(a - b, Fraction(0)) + p_a * p_b
    won = sum((p for x, p in pmf.items() if x + difference > 0), Fraction(0))
    drawn = pmf.get(-difference, Fraction(0))
    return won, drawn, 1 - won - drawn


@cache
def decided_round(difference: int) -> dict[str, Fraction]:
    """How the next round that is not drawn ends; impossible results are left out."""
    won, drawn, lost = round_probabilities(difference)
    results = {"won": won / (1 - drawn), "lost": lost / (1 - drawn)}
    return {name: probability for name, probability in results.items() if probability > 0}


@cache
def luck_succeeds(luck: int) -> Fraction:
    """q(l), the probability that two dice show at most `luck`."""
    return probability_at_most(luck, 2)


def _tabulate(game: FightingFantasy) -> TabularGame:
    """Build the arrays without walking through the states one by one.

    The grid of all (difference, hero, opponent, luck, round) is taken whole; each action has at
    most four outcomes there, and afterwards what cannot be reached is dropped. Probabilities are
    quotients of exact integers, so each is the float nearest to its rational.
    """
    differences = np.array(sorted(game._starts[0]))
    top_hero, top_opponent, top_luck = game._maxima
    damage = game._damage
    rounds = ("won", "lost", "over")
    shape = (len(differences), top_hero + 1, top_opponent + 1, top_luck + 1, len(rounds))
    grid = np.indices(shape).reshape(len(shape), -1)
    d, hero, opponent, luck, phase = grid
    both_stand = (hero > 0) & (opponent > 0)
    live = np.flatnonzero(both_stand & (phase < 2))
    over = np.flatnonzero(((hero > 0) != (opponent > 0)) & (phase == 2))
    d, hero, opponent, luck, phase = grid[:, live]

    # Integer weights: of a decided round out of decided[d], of a test out of 36.
    pmf = [round_probabilities(int(x)) for x in differences]
    win = np.array([int(w * 1296) for w, _, _ in pmf])[d]
    lose = np.array([int(x * 1296) for _, _, x in pmf])[d]
    lucky = np.array([int(luck_succeeds(x) * 36) for x in range(top_luck + 1)])[luck]
    won = phase == 0

    def branches(points: Ints, luck_left: Ints, weight: Ints) -> list[tuple[Ints, Ints]]:
        """The two outcomes (target, integer weight) that follow damage of so many points."""
        new_hero = np.where(won, hero, np.maximum(hero - points, 0))
        new_opponent = np.where(won, np.maximum(opponent - points, 0), opponent)
        fallen = (new_hero == 0) | (new_opponent == 0)
        at = (d, new_hero, new_opponent, luck_left)
        first = np.ravel_multi_index((*at, np.where(fallen, 2, 0)), shape)
        second = np.ravel_multi_index((*at, np.where(fallen, 2, 1)), shape)
        return [
            (first, weight * np.where(fallen, win + lose, win)),
            (second, weight * np.where(fallen, 0, lose)),
        ]

    whole = np.full_like(luck, 36)
    keep = branches(np.where(won, damage.won, damage.lost), luck, whole)
    less = np.maximum(luck - 1, 0)
    good = branches(np.where(won, damage.won_lucky, damage.lost_lucky), less, lucky)
    bad = branches(np.where(won, damage.won_unlucky, damage.lost_unlucky), less, 36 - lucky)
    for slot in (0, 1):  # Success and failure may lead to the same state: merge them.
        same = bad[slot][0] == good[slot][0]
        good[slot] = (good[slot][0], good[slot][1] + np.where(same, bad[slot][1], 0))
        bad[slot] = (bad[slot][0], np.where(same, 0, bad[slot][1]))
    none = [(keep[0][0], np.zeros_like(luck))] * 2
    slots = (*keep, *none, *good, *bad)
    target = np.stack([t for t, _ in slots], axis=1).reshape(-1, 2, 4)
    weight = np.stack([w for _, w in slots], axis=1).reshape(-1, 2, 4)
    weight[luck == 0, TEST] = 0

    states = np.sort(np.concatenate((live, over)))
    index = np.full(grid.shape[1], -1)
    index[states] = np.arange(len(states))
    legal = weight.any(axis=2)
    branch = weight > 0
    row_count = np.zeros(len(states), np.int64)
    row_count[index[live]] = legal.sum(axis=1)
    next_state = index[target[branch]]
    fields_of = grid[:, states]
    counts = (
        (fields_of[4] == 2)
        & (fields_of[2] == 0)
        & (fields_of[1] > game.stamina_above)
        & (fields_of[3] > game.luck_above)
    )
    mask = np.zeros((len(states), 2), bool)
    mask[index[live]] = legal
    named = [
        Combat(int(differences[i]), int(h), int(o), int(x), rounds[r])
        for i, h, o, x, r in fields_of.T.tolist()
    ]
    initial = np.zeros(len(states))
    place = {int(x): i for i, x in enumerate(differences)}
    for outcome in game.initial():
        s = outcome.state
        at = (place[s.difference], s.hero, s.opponent, s.luck, rounds.index(s.round))
        initial[index[np.ravel_multi_index(at, shape)]] = float(outcome.probability)
    sign = np.array([1, -1, 0])[fields_of[4]]
    observation = np.stack(
        (
            differences[fields_of[0]] / 20,
            fields_of[1] / top_hero,
            fields_of[2] / top_opponent,
            fields_of[3] / max(top_luck, 1),
            sign,
        ),
        axis=1,
    ).astype(np.float32)
    return reachable(
        TabularGame(
            info=game.info,
            states=tuple(named),
            row_start=np.concatenate(([0], np.cumsum(row_count))),
            outcome_start=np.concatenate(([0], np.cumsum(branch.sum(axis=2)[legal]))),
            next_state=next_state,
            probability=weight[branch]
            / np.broadcast_to((36 * (win + lose))[:, None, None], branch.shape)[branch],
            outcome_reward=counts[next_state].astype(float),
            mask=(mask, (row_count > 0)[:, None]),
            initial=initial,
            observation=(observation,),
        )
    )


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, Damage):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): v if isinstance(v, (int, float)) else str(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [int(v) for v in value]
    return value if isinstance(value, str) else int(value)
