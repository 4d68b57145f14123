"""Fighting Fantasy combat with its luck gamble.

The rules are Algorithm 1 of I. G. Johnston, "Optimal strategies in the Fighting Fantasy gaming
system", European Journal of Operational Research (2022), doi 10.1016/j.ejor.2022.01.039, after
S. Jackson and I. Livingstone, *The Warlock of Firetop Mountain*.

Hero and opponent each roll two dice and add their SKILL. The higher sum wins the round and the
loser's STAMINA falls by 2; equal sums change nothing. After a round is won or lost, and before
its damage counts, the hero may test LUCK: two dice are rolled, the test succeeds if they show at
most the current LUCK, and LUCK falls by 1 either way. A successful test makes a won round deal 4
(unsuccessful: 1) and a lost round cost 1 (unsuccessful: 3). A fighter with 0 STAMINA has lost.

**State.** ``(difference, hero, opponent, luck, round)``: the hero's SKILL minus the opponent's,
both STAMINAs, LUCK, and whether the round just fought was ``"won"`` or ``"lost"`` (``"over"``
once the combat has ended). The decision is taken there.

**Other systems.** Johnston's analysis needs only the probabilities (p_w, p_d, p_l) that a round
is won, drawn and lost. They can be given instead of the SKILLs: any three rationals that sum to 1,
with p_d below 1. The difference of a state is then 0. If p_w or p_l is 0, the game has no states
whose round was won, or none whose round was lost.

**Constant LUCK.** Section 2.2 simplifies the game to tests that use up no LUCK, so that all of them
succeed with the same probability; equation 13 is about it.

**Score.** A victory counts 1. Section 3 proposes to keep some resource for what comes after, either
by counting a victory only with more STAMINA and LUCK left than s* and l*, or "by expanding the
definition of the score": each point of STAMINA or LUCK left after a victory that counts can add a
weight to it. Both change only the reward at the end.

**Errata.** Draws change nothing, so they are conditioned out: the next round that is not drawn is
won with probability p_w / (1 - p_d). Equations 17-20 of the paper print p_w and p_l without the
division; taken literally they give 0.318 where the paper reports 0.28 and 0.78 for the Hell
Demon, and the author's own program divides. Equation 2 prints p_d as P(X + difference < 0) and
the list of inequalities prints X1 + X2 for a draw; both should read X1 - X2 + difference = 0.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.model import (
    WINS,
    GameInfo,
    JointAction,
    Outcome,
    Rules,
    TabularGame,
    compile_game,
    dice_sum,
    probability_at_most,
)
from solvent.model.context import SuccessTest
from solvent.model.game import merged
from solvent.model.parameters import (
    Spread,
    check_choice,
    check_integer,
    check_rational,
    shown,
    spread,
)
from solvent.model.scene import Gauge, Prose, Scene
from solvent.model.transforms import part

KEEP, TEST = 0, 1
"""The two actions: leave the damage as it is, or test LUCK."""

# The results of a round, and the number by which each is observed.
_ROUNDS: Mapping[str, int] = {"won": 1, "lost": -1, "over": 0}

Rounds: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""Probabilities (p_w, p_d, p_l) that a round is won, drawn and lost."""

Case: TypeAlias = tuple[Fraction, int, int]
"""Probability, STAMINA lost by the loser of a round, and the LUCK left."""

# The largest weight of a point of STAMINA or LUCK that is left at a victory.
_LARGEST_WEIGHT = 100

# Parameters that a game's description lists only if they differ from the default.
_EXTENSIONS = ("round_probabilities", "stamina_weight", "luck_weight", "luck_cost")

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
    """An opponent's statistics; a SKILL of None is the hero's."""

    skill: int | None
    stamina: Spread


OPPONENTS: Mapping[str, Opponent] = {
    "adult-white-dragon": Opponent(skill=15, stamina=22),
    "hell-demon": Opponent(skill=14, stamina=12),
}
"""Opponents that Johnston 2022, section 2.3, quotes from *Out of the Pit*."""


@dataclass(frozen=True, slots=True)
class Damage:
    """STAMINA lost by the loser of a round: without a test of LUCK, and with one.

    Attributes:
        won: STAMINA that the opponent loses without a test.
        won_lucky: STAMINA that the opponent loses after a successful test.
        won_unlucky: STAMINA that the opponent loses after a failed test.
        lost: STAMINA that the hero loses without a test.
        lost_lucky: STAMINA that the hero loses after a successful test.
        lost_unlucky: STAMINA that the hero loses after a failed test.
    """

    won: int = 2
    won_lucky: int = 4
    won_unlucky: int = 1
    lost: int = 2
    lost_lucky: int = 1
    lost_unlucky: int = 3

    def __post_init__(self) -> None:
        """Check that no damage is negative, and that rounds without a test cost STAMINA."""
        for item in fields(self):
            least = 1 if item.name in ("won", "lost") else 0
            check_integer(getattr(self, item.name), f"damage.{item.name}", least, 99)

    def cases(self, *, won: bool, test: bool, luck: int, cost: int = 1) -> list[Case]:
        """Return the possible costs of a round: probability, STAMINA lost, and the LUCK left.

        Args:
            won: Whether the hero has won the round.
            test: Whether LUCK is tested.
            luck: LUCK before the test.
            cost: LUCK that a test uses up.
        """
        if not test:
            return [(Fraction(1), self.won if won else self.lost, luck)]
        q, left = luck_succeeds(luck), luck - cost
        lucky = self.won_lucky if won else self.lost_lucky
        unlucky = self.won_unlucky if won else self.lost_unlucky
        return [(q, lucky, left), (1 - q, unlucky, left)]


DAMAGE: Mapping[str, Damage] = {
    "standard": Damage(),
    # The adapted system of Johnston 2022, section 2.4.
    "three": Damage(won_lucky=3),
}


def read_damage(value: Any) -> Damage:
    """Return the damage for one of the names in :data:`DAMAGE`, or for a mapping of its fields.

    Raises:
        ValueError: If it is neither, or a number is out of its range.
    """
    match value:
        case Damage():
            return value
        case Mapping():
            names = [item.name for item in fields(Damage)]
            return Damage(**{check_choice(n, "damage", names): value[n] for n in value})
    return DAMAGE[check_choice(value, "damage", [*DAMAGE, "a mapping"])]


@dataclass(frozen=True)
class FightingFantasy(Rules):
    """One combat, or a distribution over combats to begin with.

    A :data:`~solvent.model.parameters.Spread` is an integer, a pair ``[low, high]`` for a uniform
    distribution over that range, or a mapping of values to weights.

    Args:
        skill_difference: Hero's SKILL minus the opponent's, within -20..20.
        stamina: The hero's STAMINA at the start, within 1..99.
        opponent_stamina: The opponent's, within 1..99.
        luck: The hero's LUCK at the start, within 0..99.
        damage: ``"standard"``, ``"three"`` (a lucky hit deals 3), or a mapping of fields of
            :class:`Damage` to STAMINA.
        stamina_above: A victory counts only with more STAMINA than this left (s* in section 3).
        luck_above: A victory counts only with more LUCK than this left (l* in section 3).
        round_probabilities: Instead of a difference, (p_w, p_d, p_l): the probabilities that a
            round is won, drawn and lost. Three rationals within 0..1 that sum to 1, p_d below 1: a
            float means the decimal that it prints, and a text such as ``"1/3"`` is a fraction.
        stamina_weight: Score of each point of STAMINA left after a victory that counts; a rational
            within 0..100, written in the same ways.
        luck_weight: Score of each point of LUCK left after such a victory; the same.
        luck_cost: LUCK that a test uses up, 1 or 0. Where it is 0, tested rounds must cost STAMINA
            too, or a combat could go on for ever.

    Raises:
        ValueError: If a parameter has the wrong type or is out of range, or both
            `skill_difference` and `round_probabilities` are given.
    """

    skill_difference: Spread = 0
    stamina: Spread = 12
    opponent_stamina: Spread = 12
    luck: Spread = 9
    damage: str | Mapping[str, int] | Damage = "standard"
    stamina_above: int = 0
    luck_above: int = -1
    round_probabilities: Sequence[Any] | None = None
    stamina_weight: Any = 0
    luck_weight: Any = 0
    luck_cost: int = 1

    def __post_init__(self) -> None:
        """Check every parameter."""
        _ = self._starts, self.damages, self._rounds, self._weights
        check_integer(self.stamina_above, "stamina_above", 0, 98)
        check_integer(self.luck_above, "luck_above", -1, 98)
        check_integer(self.luck_cost, "luck_cost", 0, 1)
        for item in fields(Damage):
            if self.luck_cost == 0 == getattr(self.damages, item.name):
                raise ValueError(
                    f"damage.{item.name} is 0 and luck_cost 0; with tests that change nothing a "
                    f"combat could go on for ever"
                )

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
    def _rounds(self) -> Rounds | None:
        """The given probabilities of a round, or None if they follow from the difference."""
        if self.round_probabilities is None:
            return None
        if self.skill_difference != 0:
            raise ValueError(
                f"skill_difference is {self.skill_difference!r} and round_probabilities "
                f"{shown(self.round_probabilities)}; give one of them"
            )
        return check_rounds(self.round_probabilities)

    def next_round(self, difference: int) -> Mapping[str, Fraction]:
        """Return the distribution of the next decided round, without impossible results."""
        return decided(self._rounds or round_probabilities(difference))

    @cached_property
    def _weights(self) -> tuple[Fraction, Fraction]:
        """Return the weights of a point of STAMINA and of LUCK left at a victory."""
        return (
            check_rational(self.stamina_weight, "stamina_weight", 0, _LARGEST_WEIGHT),
            check_rational(self.luck_weight, "luck_weight", 0, _LARGEST_WEIGHT),
        )

    @cached_property
    def damages(self) -> Damage:
        """The damage of a round, with and without a test of LUCK."""
        return read_damage(self.damage)

    @cached_property
    def _maxima(self) -> tuple[int, int, int]:
        """The largest STAMINAs and LUCK that can occur."""
        _, hero, opponent, luck = self._starts
        return max(hero), max(opponent), max(luck)

    @cached_property
    def info(self) -> GameInfo:
        """Return players, actions, sources, and those extension parameters that are given."""
        hero, _, luck = self._maxima
        best = self._score(hero, luck)
        return GameInfo(
            name="ff-combat",
            players=1,
            actions=(("keep", "test luck"),),
            acyclic=True,
            reward_range=(0.0, float(best)),
            sources=SOURCES,
            parameters=tuple(
                (item.name, _plain(value))
                for item in fields(self)
                for value in [getattr(self, item.name)]
                if item.name not in _EXTENSIONS or value != item.default
            ),
            observation_labels=("skill difference", "hero", "opponent", "luck", "round"),
            unit=WINS if best == 1 else "points",
        )

    def initial(self) -> tuple[Outcome, ...]:
        """Return the distribution of starts, with the first round already fought."""
        differences, *others = (distribution.items() for distribution in self._starts)
        starts = [
            (p_s * p_o * p_l, stamina, opponent, luck)
            for (stamina, p_s), (opponent, p_o), (luck, p_l) in product(*others)
        ]
        return tuple(
            Outcome(p * p_round, Combat(d, stamina, opponent, luck, result))
            for d, p_d in differences
            for following in ([(name, p_d * p) for name, p in self.next_round(d).items()],)
            for p, stamina, opponent, luck in starts
            for result, p_round in following
        )

    def legal_actions(self, state: Combat) -> tuple[tuple[int, ...], ...]:
        """Return the legal actions; LUCK can be tested while any is left."""
        return ((KEEP, TEST),) if state.luck > 0 else ((KEEP,),)

    def transition(self, state: Combat, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Deal the damage of the round, then fight on until a round is not drawn."""
        won, outcomes = state.round == "won", []
        cases = self._cases(state, test=joint_action[0] == TEST)
        for (probability, points, luck), following in cases:
            hero = state.hero if won else max(state.hero - points, 0)
            opponent = max(state.opponent - points, 0) if won else state.opponent
            if hero == 0 or opponent == 0:
                following = {"over": probability}
            for name, chance in following.items():
                target = Combat(state.difference, hero, opponent, luck, name)
                outcomes.append(Outcome(chance, target, self.score_of(target)))
        return merged(outcomes)

    def _cases(self, state: Combat, *, test: bool) -> list[tuple[Case, dict[str, Fraction]]]:
        """Return the possible cases of a round, each with the chances of the round after it."""
        key = state.difference, state.round, test, state.luck
        if key not in self._known:
            won, following = state.round == "won", self.next_round(state.difference).items()
            cases = self.damages.cases(won=won, test=test, luck=state.luck, cost=self.luck_cost)
            self._known[key] = [
                (case, {name: case[0] * p for name, p in following}) for case in cases if case[0]
            ]
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[Any, ...], list[tuple[Case, dict[str, Fraction]]]]:
        """The cases that have been computed, as a walk through all states asks for few, often."""
        return {}

    @property
    def checks(self) -> Mapping[str, SuccessTest]:
        """The test of LUCK, for :func:`solvent.model.context.with_modifier`."""
        return {"luck": self._luck_held}

    def _luck_held(self, state: Combat, joint_action: JointAction, outcome: Outcome) -> bool | None:
        """Return whether a test of LUCK succeeded, judged by its damage; None without a test.

        If the loser of the round falls either way, both results are one outcome: a success.
        """
        if joint_action[0] != TEST:
            return None
        if state.round == "won":
            return bool(outcome.state.opponent == max(state.opponent - self.damages.won_lucky, 0))
        return bool(outcome.state.hero == max(state.hero - self.damages.lost_lucky, 0))

    def score_of(self, state: Combat) -> Fraction | int:
        """Return the score of a victory that counts, 0 for any other state."""
        left = state.hero > self.stamina_above and state.luck > self.luck_above
        counts = state.opponent == 0 and left
        return self._score(state.hero, state.luck) if counts else 0

    def _score(self, hero: int, luck: int) -> Fraction | int:
        """Return 1 plus the weights of the STAMINA and LUCK that are left."""
        stamina_weight, luck_weight = self._weights
        return 1 + stamina_weight * hero + luck_weight * luck

    def is_terminal(self, state: Combat) -> bool:
        """Return whether hero or opponent has fallen."""
        return state.round == "over"

    def observe(self, state: Combat, player: int) -> NDArray[np.float32]:
        """Return difference / 20; STAMINAs and LUCK over their maxima; 1 won, -1 lost, 0 over."""
        hero, opponent, luck = self._maxima
        tops = 20, hero, opponent, max(luck, 1), 1
        numbers = (*state[:4], _ROUNDS[state.round])
        return np.array([n / top for n, top in zip(numbers, tops, strict=True)], np.float32)

    def scene(self, state: Combat) -> Scene:
        """Draw three bars, the odds, and the latest round."""
        news = f"This round is {state.round}."
        if state.round == "over":
            news = "Your opponent falls." if state.opponent == 0 else "You fall."
        hero, opponent, luck = self._maxima
        return (
            Gauge("your STAMINA", state.hero, hero),
            Gauge("the opponent's STAMINA", state.opponent, opponent, kind="second"),
            Gauge("your LUCK", state.luck, max(luck, 1), kind="goal"),
            Prose("", (self._odds(state.difference), news)),
        )

    def explain(self, action: int, player: int) -> str:
        """Return a short description of an action."""
        return ("take the round as it is", "roll two dice: LUCK or less is lucky")[action]

    def tell(
        self,
        state: Combat | None,
        joint_action: JointAction,
        outcome: Outcome,
        dice: random.Random,
    ) -> str:
        """Describe the test of LUCK, the damage, and the attacks up to the next decided round."""
        after: Combat = outcome.state
        told = []
        if state is not None:
            test = self._test_story(state, after, dice) + " " if joint_action[0] == TEST else ""
            lost = state.hero - after.hero
            told.append(
                f"{test}The opponent loses {state.opponent - after.opponent} STAMINA."
                if state.round == "won"
                else f"{test}You lose {lost} STAMINA."
            )
        if after.round != "over" and self._rounds is None:
            told += _attacks_story(after, dice)
        return "\n".join(told)

    def _test_story(self, state: Combat, after: Combat, dice: random.Random) -> str:
        """Describe the test that led from one state to another."""
        won = state.round == "won"
        cases = self.damages.cases(won=won, test=True, luck=state.luck)
        lucky_points, unlucky_points = (points for _, points, _ in cases)
        before, left = (state.opponent, after.opponent) if won else (state.hero, after.hero)
        # Rolls are drawn until one explains the damage; if both results are fatal, any does.
        while True:
            first, second = dice.randint(1, 6), dice.randint(1, 6)
            lucky = first + second <= state.luck
            if max(before - (lucky_points if lucky else unlucky_points), 0) == left:
                verdict = "lucky" if lucky else "unlucky"
                return f"Test: {first}+{second} = {first + second}, LUCK {state.luck}: {verdict}."

    def _odds(self, difference: int) -> str:
        """Return a line about the chances of a round."""
        if self._rounds is None:
            return f"SKILL difference {difference:+d}"
        won, drawn, lost = self._rounds
        return f"rounds: {won} won, {drawn} drawn, {lost} lost"

    def tabulate(self) -> TabularGame:
        """Return the arrays of the game; states ascend, a round that was won before one lost."""
        table, rounds = compile_game(self, reference=True), list(_ROUNDS)
        states: list[Any] = list(table.states)
        keys = [(*state[:4], rounds.index(state.round)) for state in states]
        return part(table, np.array(sorted(range(table.n_states), key=keys.__getitem__)))


def ff_combat(
    opponent: str | None = None,
    *,
    skill: int | None = None,
    opponent_skill: int | None = None,
    skill_difference: Spread | None = None,
    stamina: Spread = 12,
    opponent_stamina: Spread | None = None,
    luck: Spread = 9,
    damage: str | Mapping[str, int] = "standard",
    stamina_above: int = 0,
    luck_above: int = -1,
    round_probabilities: Sequence[Any] | None = None,
    stamina_weight: Any = 0,
    luck_weight: Any = 0,
    luck_cost: int = 1,
) -> FightingFantasy:
    """Fighting Fantasy combat: when to test LUCK.

    Args:
        opponent: A known opponent by its name, whose statistics apply unless others are given; None
            for one of your own.
        skill: The hero's SKILL, within 0..20; 12 if left out.
        opponent_skill: The opponent's SKILL, within 0..20; the hero's if left out.
        skill_difference: Difference of the SKILLs, as a :data:`Spread`, instead of both.
        stamina: The hero's STAMINA at the start, within 1..99, as a :data:`Spread`.
        opponent_stamina: The opponent's STAMINA, as a :data:`Spread`; 12 if left out.
        luck: The hero's LUCK at the start, within 0..99, as a :data:`Spread`.
        damage: ``"standard"``, ``"three"`` (a lucky hit deals 3), or a mapping of fields of
            :class:`Damage` to STAMINA.
        stamina_above: A victory counts only with more STAMINA than this left.
        luck_above: A victory counts only with more LUCK than this left.
        round_probabilities: Instead of all SKILLs, the probabilities (p_w, p_d, p_l) that a round
            is won, drawn and lost, as for :class:`FightingFantasy`.
        stamina_weight: Added to the score for each point of STAMINA left at a victory that counts.
        luck_weight: Added to the score for each point of LUCK left at such a victory.
        luck_cost: LUCK that a test uses up, 1 or 0.

    Raises:
        ValueError: If a parameter is out of its range, or more than one of SKILLs (a named
            opponent has one), their difference and the probabilities of a round is given.
    """
    by_skill = (opponent, skill, opponent_skill) != (None, None, None)
    if by_skill + (skill_difference is not None) + (round_probabilities is not None) > 1:
        raise ValueError(
            "SKILLs, which a named opponent has too, skill_difference and round_probabilities "
            "exclude each other; give one of them"
        )
    named = Opponent(None, 12)
    if opponent is not None:
        named = OPPONENTS[check_choice(opponent, "opponent", OPPONENTS)]
    hero = check_integer(12 if skill is None else skill, "skill", 0, 20)
    other = next(one for one in (opponent_skill, named.skill, hero) if one is not None)
    difference = hero - check_integer(other, "opponent_skill", 0, 20)
    return FightingFantasy(
        skill_difference=difference if skill_difference is None else skill_difference,
        stamina=stamina,
        opponent_stamina=named.stamina if opponent_stamina is None else opponent_stamina,
        luck=luck,
        damage=damage,
        stamina_above=stamina_above,
        luck_above=luck_above,
        round_probabilities=round_probabilities,
        stamina_weight=stamina_weight,
        luck_weight=luck_weight,
        luck_cost=luck_cost,
    )


def _attacks_story(after: Combat, dice: random.Random) -> list[str]:
    """Return the attacks that led to the round of a state: draws, then the round itself.

    The number of draws is independent of the result, so the result alone is redrawn until it fits.
    """
    told = []
    decided = False
    while True:
        own, own_text = _attack(max(after.difference, 0), dice)
        other, other_text = _attack(max(-after.difference, 0), dice)
        line = f"Attack: you {own_text}, opponent {other_text}"
        if own == other and not decided:
            told.append(f"{line}, a draw.")
        elif own != other:
            decided = True
            if (own > other) == (after.round == "won"):
                return [*told, f"{line}."]


def _attack(more: int, dice: random.Random) -> tuple[int, str]:
    """Return two dice plus a side's SKILL advantage, as a number and as text."""
    numbers = [dice.randint(1, 6), dice.randint(1, 6), *([more] if more else [])]
    return sum(numbers), f"{'+'.join(map(str, numbers))} = {sum(numbers)}"


@cache
def round_probabilities(difference: int) -> Rounds:
    """Probabilities that a round is won, drawn and lost (equations 1-3, the draw mended).

    X is the difference of two sums of two dice; the round is won if X + difference > 0.
    """
    total = dice_sum(2).items()
    pmf = [(a - b, p_a * p_b) for (a, p_a), (b, p_b) in product(total, total)]
    won = sum((p for x, p in pmf if x + difference > 0), Fraction(0))
    drawn = sum((p for x, p in pmf if x + difference == 0), Fraction(0))
    return won, drawn, 1 - won - drawn


def check_rounds(value: Any) -> Rounds:
    """Return a user's probabilities of a round as rationals.

    Args:
        value: Three numbers, as :class:`FightingFantasy` takes them.

    Raises:
        ValueError: If they are not probabilities that sum to 1, or every round is drawn.
    """
    if isinstance(value, Sequence) and len(value) == 3:
        won, drawn, lost = (check_rational(p, "each of round_probabilities", 0, 1) for p in value)
        if won + drawn + lost == 1 > drawn:
            return won, drawn, lost
    raise ValueError(
        f"round_probabilities is {shown(value)}; allowed are three numbers [p_w, p_d, p_l] with "
        f'the sum 1 and p_d below 1 (a third is written "1/3")'
    )


@cache
def decided(rounds: Rounds) -> dict[str, Fraction]:
    """Return the distribution of a decided round, without impossible results."""
    won, drawn, lost = rounds
    results = {"won": won / (1 - drawn), "lost": lost / (1 - drawn)}
    return {name: probability for name, probability in results.items() if probability > 0}


def rules_of(info: GameInfo) -> FightingFantasy:
    """Return the rules of a combat, given only its `info`."""
    names = {item.name for item in fields(FightingFantasy)}
    return FightingFantasy(**{name: value for name, value in info.parameters if name in names})


@cache
def luck_succeeds(luck: int) -> Fraction:
    """q(l), the probability that two dice show at most `luck`."""
    return probability_at_most(luck, 2)


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value."""
    match value:
        case Damage():
            return asdict(value)
        case Mapping():
            return {str(k): v if isinstance(v, (int, float)) else str(v) for k, v in value.items()}
        case None | str() | float():
            return value
        case Sequence():
            return [_plain(v) for v in value]
    return int(value) if isinstance(value, Integral) else str(value)
