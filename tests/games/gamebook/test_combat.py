"""Fights in a book against the same fights played in other ways."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tree_checks import solve_as_tree

from solvent.exact import solve_exactly
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.rules import Combat
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook
from solvent.model import TooManyStatesError

# Fights by results table, played in the plainest way: every sequence of digits one by one


@dataclass(frozen=True)
class Plain:
    """A fight as a reader would play it.

    Attributes:
        hero: The hero's endurance.
        skills: The hero's skill in each round, the last one for ever after.
        enemies: Skill and endurance of each.
        table: Highest difference of each column (None: no limit), and for each digit what the
            enemy and the hero lose, "K" for killed.
        dealt: What the enemy's losses are multiplied by.
        suffered: What the hero's losses are multiplied by.
        besides: What the enemy and the hero lose besides in each round.
        safe: Rounds, from 1, in which the hero loses nothing.
        escapes: Whether the hero leaves before a round, by the rounds fought, its endurance, the
            enemy's number and the enemy's endurance; None if there is no way out.
        parting: Whether leaving costs a last blow.
    """

    hero: int
    skills: tuple[int, ...]
    enemies: tuple[tuple[int, int], ...]
    table: tuple[tuple[int | None, tuple[tuple[int | str, int | str], ...]], ...]
    dealt: int = 1
    suffered: int = 1
    besides: tuple[int, int] = (0, 0)
    safe: Container[int] = ()
    escapes: Callable[[int, int, int, int], bool] | None = None
    parting: bool = False

    def outcomes(self) -> dict[tuple[str, int], Fraction]:
        """How the fight ends and with how much endurance, over all sequences of digits."""
        found: dict[tuple[str, int], Fraction] = {}
        for end, digits in self._play(self.hero, 0, 0, self.enemies[0][1], 0):
            found[end] = found.get(end, Fraction(0)) + Fraction(1, 10**digits)
        return found

    def _play(
        self, hero: int, rounds: int, number: int, left: int, digits: int
    ) -> Iterator[tuple[tuple[str, int], int]]:
        """Every end, each with how many digits were drawn."""
        leaving = self.escapes is not None and self.escapes(rounds, hero, number, left)
        if leaving and not self.parting:
            yield ("escaped", hero), digits
            return
        skill = self.skills[min(rounds, len(self.skills) - 1)]
        difference = skill - self.enemies[number][0]
        [row, *_] = [row for high, row in self.table if high is None or difference <= high]
        for enemy_loss, hero_loss in row:
            lost = hero if hero_loss == "K" else int(hero_loss) * self.suffered + self.besides[1]
            now = hero if rounds + 1 in self.safe else hero - lost
            if now <= 0:
                yield ("defeat", 0), digits + 1
            elif leaving:
                yield ("escaped", now), digits + 1
            else:
                more = self.besides[0]
                hit = left if enemy_loss == "K" else int(enemy_loss) * self.dealt + more
                if left > hit:
                    yield from self._play(now, rounds + 1, number, left - hit, digits + 1)
                elif number + 1 < len(self.enemies):
                    fresh = self.enemies[number + 1][1]
                    yield from self._play(now, rounds + 1, number + 1, fresh, digits + 1)
                else:
                    yield ("victory", now), digits + 1


# Fights in a book against the same fights played in other ways


TABLE = """\
      columns: [..-1, 0..2, 3..]
      rows:
        0: [1/K, 2/4, 3/2]
        1: [1/5, 3/4, 4/2]
        2: [2/4, 3/3, 4/2]
        3: [2/4, 3/3, 5/1]
        4: [3/3, 3/2, 5/1]
        5: [3/3, 4/2, 6/1]
        6: [3/2, 4/2, 6/0]
        7: [4/2, 5/1, 6/0]
        8: [4/1, 5/1, K/0]
        9: [5/0, 6/0, K/0]
"""

DIGITS = [line.split("[")[1].rstrip("]").split(", ") for line in TABLE.splitlines()[2:]]
COLUMNS: tuple[Any, ...] = tuple(
    (high, tuple(tuple(digit[column].split("/")) for digit in DIGITS))
    for column, high in enumerate((-1, 2, None))
)


def results_table_book(fight: str, hero: int = 6, skill: int = 10, table: str = TABLE) -> Gamebook:
    head = f"""\
format: solvent-gamebook
version: 1
title: Fight
variables:
  skill: {{initial: {skill}, max: 20}}
  endurance: {{initial: {hero}, max: 12}}
combat:
  results-table:
    skill: skill
    endurance: endurance
    table:
{table}
endings: {{won: {{score: 1}}, fled: {{score: 1/3}}, lost: {{score: 0}}}}
sections:
  1:
    fight:
{fight}
  2: {{choices: [{{label: a, when: endurance > 3, ending: won}}, {{label: b, ending: won}}]}}
  3: {{choices: [{{label: a, when: endurance > 3, ending: fled}}, {{label: b, ending: fled}}]}}
"""
    return Gamebook(parse_book(head.encode()))


def fought(
    game: Gamebook, leave: Callable[[int, int, int, int], bool] | None = None
) -> dict[tuple[str, int], Fraction]:
    """How the fight of section 1 ends, with the endurance left, if the hero leaves by a rule."""
    names, place = {2: "victory", 3: "escaped"}, game.book.position["endurance"]
    found: dict[tuple[str, int], Fraction] = {}
    todo = {outcome.state: outcome.probability for outcome in game.initial()}
    while todo:
        page, p = todo.popitem()
        if page.section in names or game.is_terminal(page):
            end = (names.get(page.section, "defeat"), page.values[place] or 0)
            found[end] = found.get(end, Fraction(0)) + p
            continue
        action = 0
        if page.step == "escape":
            assert leave is not None, "no escape is offered in a fight without one"
            number, left, rounds, *_ = page.local
            action = int(leave(rounds, page.values[place], number, left))
        for outcome in game.transition(page, (action,)):
            todo[outcome.state] = todo.get(outcome.state, Fraction(0)) + p * outcome.probability
    return found


ONE_WOLF = """\
      enemies: [{name: Wolf, skill: 9, endurance: 9}]
      victory: 2
      defeat: {ending: lost}"""

TWO_WOLVES = """\
      enemies: [{name: Wolf, skill: 9, endurance: 5}, {name: Cub, skill: 6, endurance: 4}]
      victory: 2
      defeat: {ending: lost}"""


WOLF = (9, 9)
WOLVES = ((9, 5), (6, 4))
BONUSES = """
      bonuses:
        - {name: potion, size: 3, rounds: 2..3}
        - {name: surprise, size: 2, rounds: 1}
        - {name: tired, size: -4, rounds: 4..}
        - {name: none, size: 9, when: skill < 10}"""
DOUBLED = "\n      dealt: 2\n      suffered: max(0, skill - 8)"
BESIDES = "\n      added: {hero: 'max(0, skill - 8)', enemy: skill > 9}"
SAFE = "\n      invulnerable: {rounds: 2..3, when: skill == 10}"

# What a fight says besides, the hero's endurance and skill, and the same for the plain fight.
# What a fight says besides, the hero's endurance and skill, and the same for the plain fight.
FIGHTS: list[tuple[str, int, int, dict[str, Any]]] = [
    (ONE_WOLF, 6, 10, {"enemies": (WOLF,)}),
    # Escape is not offered where its condition fails.
    (ONE_WOLF + "\n      escape: {after: 0, when: skill > 15, goto: 3}", 6, 10,
     {"enemies": (WOLF,)}),
    (TWO_WOLVES, 6, 10, {}),
    # Bonuses count in their rounds, and rounds through the whole fight.
    (TWO_WOLVES + BONUSES, 6, 10, {"skills": (12, 13, 13, 6)}),
    (TWO_WOLVES + DOUBLED, 9, 10, {"dealt": 2, "suffered": 2}),
    # Killed is killed, whatever losses are multiplied by.
    (ONE_WOLF + "\n      suffered: 0", 6, 5, {"enemies": (WOLF,), "suffered": 0}),
    # Added after the multiplication: the other way round gives other odds.
    (TWO_WOLVES + DOUBLED + "\n      added: {hero: 2}", 9, 10,
     {"dealt": 2, "suffered": 2, "besides": (0, 2)}),
    (TWO_WOLVES + DOUBLED + BESIDES, 9, 10, {"dealt": 2, "suffered": 2, "besides": (1, 2)}),
    (TWO_WOLVES + SAFE + BESIDES, 5, 10, {"besides": (1, 2), "safe": range(2, 4)}),
    (TWO_WOLVES + SAFE.replace("2..3", "..2"), 5, 10, {"safe": range(1, 3)}),
    (TWO_WOLVES + SAFE.replace("2..3", "3.."), 5, 10, {"safe": range(3, 99)}),
    (TWO_WOLVES + SAFE.replace("==", "<"), 5, 10, {}),
]  # fmt: skip


def test_a_fight_is_every_sequence_of_digits() -> None:
    for text, hero, skill, others in FIGHTS:
        kwargs: dict[str, Any] = {"skills": (skill,), "enemies": WOLVES, **others}
        plain = Plain(hero=hero, table=COLUMNS, **kwargs)
        assert fought(results_table_book(text, hero, skill)) == plain.outcomes(), text


Rule = Callable[[int, int, int, int], bool]

RULES: dict[str, Rule] = {
    "at once": lambda rounds, hero, number, left: True,
    "when weak": lambda rounds, hero, number, left: hero <= 4,
    "from the second": lambda rounds, hero, number, left: number == 1 and left > 2,
    "never": lambda rounds, hero, number, left: False,
}


def test_escape_is_offered_before_rounds_once_so_many_are_fought() -> None:
    for rule, after, parting in product(RULES.values(), (0, 1, 2), (False, True)):
        # In a state rounds are counted only as far as that matters, so rules do not look at them.
        way = f"\n      escape: {{after: {after}, parting: {str(parting).lower()}, goto: 3}}"

        def escapes(rounds: int, *others: int, rule: Rule = rule, after: int = after) -> bool:
            return rounds >= after and rule(rounds, *others)

        plain = Plain(6, (10,), WOLVES, COLUMNS, escapes=escapes, parting=parting)
        assert fought(results_table_book(TWO_WOLVES + way), rule) == plain.outcomes()


def test_rounds_that_change_nothing_are_drawn_again() -> None:
    rows = ["0/0"] * 6 + ["K/0"] + ["0/K"] * 3
    lines = "".join(f"        {digit}: [{cell}, {cell}]\n" for digit, cell in enumerate(rows))
    game = results_table_book(ONE_WOLF, table=f"      columns: [..0, 1..]\n      rows:\n{lines}")
    assert fought(game) == {("victory", 6): Fraction(1, 4), ("defeat", 0): Fraction(3, 4)}


def fantasy_book(
    fight: str, *, luck: int | None = 5, stamina: int = 6, damage: str = "", after: str = ""
) -> Gamebook:
    of_luck = ", luck: luck" if luck is not None else ""
    text = f"""\
format: solvent-gamebook
version: 1
title: Fight
variables:
  skill: {{initial: 8, max: 12}}
  stamina: {{initial: {stamina}, max: 12}}
  luck: {{initial: {luck or 0}, max: 12}}
combat:
  fighting-fantasy: {{skill: skill, stamina: stamina{of_luck}{damage}}}
endings: {{won: {{score: 1}}, fled: {{score: 1/3}}, lost: {{score: 0}}}}
sections:
  1:
    fight:
{fight}
      victory: {after or "{ending: won}"}
      defeat: {{ending: lost}}
"""
    return Gamebook(parse_book(text.encode()))


@pytest.mark.parametrize(
    ("damage", "alone", "skill", "bonus"),
    [
        ("", "standard", 8, 0),
        (", damage: three", "three", 10, 1),
        (", damage: {lost: 3}", {"lost": 3}, 5, 2),
    ],
)
def test_a_fantasy_fight_in_a_book_is_the_fight_alone_state_by_state(
    damage: str, alone: Any, skill: int, bonus: int
) -> None:
    fight = f"""\
      enemies: [{{name: Rat, skill: {skill}, stamina: 7}}]
      bonuses: [{{name: sword, size: {bonus}}}]"""
    model = fantasy_book(fight, damage=damage).tabulate_exactly()
    solution, difference = solve_exactly(model), 8 + bonus - skill
    tree = solve_as_tree(
        FightingFantasy(difference, stamina=6, opponent_stamina=7, luck=5, damage=alone)
    )
    found = {
        Combat(difference, page.values[1], page.local[1], page.values[2], page.step): value
        for page, value in zip(model.table.states, solution.values, strict=True)
        if page.step in ("won", "lost")
    }
    states = {at.state: at for at in tree.nodes if at.state and at.state.round != "over"}
    assert found == {state: tree.value_of(at) for state, at in states.items()}
    assert solution.value == tree.value


def test_stamina_and_luck_are_carried_to_the_next_enemy_and_out_of_the_fight() -> None:
    two = "      enemies: [{name: A, skill: 8, stamina: 3}, {name: B, skill: 9, stamina: 4}]"
    # What is left after the first fight is worth what the second one is from there.
    second = solve_as_tree(FightingFantasy(-1, stamina=[1, 6], opponent_stamina=4, luck=[0, 5]))
    nodes = {at.state: at for at in second.nodes}
    model = fantasy_book(two).tabulate_exactly()
    carried = [
        (Combat(-1, page.values[1], page.local[1], page.values[2], page.step), value)
        for page, value in zip(model.table.states, solve_exactly(model).values, strict=True)
        if page.step in ("won", "lost") and page.local[0] == 1
    ]
    assert len(carried) > 20
    assert all(value == second.value_of(nodes[state]) for state, value in carried)


def test_without_luck_a_fight_is_one_distribution() -> None:
    game = fantasy_book("      enemies: [{name: Rat, skill: 9, stamina: 7}]", luck=None)
    model = game.tabulate_exactly()
    alone = solve_as_tree(FightingFantasy(-1, stamina=6, opponent_stamina=7, luck=0))
    assert solve_exactly(model).value == alone.value
    assert {page.step for page in model.table.states} == {"", "over"}


@pytest.mark.parametrize(("luck", "after"), [(None, 0), (None, 2), (4, 0), (4, 2)])
def test_escape_from_a_fantasy_fight(luck: int | None, after: int) -> None:
    fight = f"""\
      enemies: [{{name: Rat, skill: 9, stamina: 5}}]
      escape: {{after: {after}, ending: fled}}"""
    game = fantasy_book(fight, luck=luck, stamina=5)
    rules = FightingFantasy(-1, stamina=5, opponent_stamina=5, luck=4)
    ODDS = {o.state.round: o.probability for o in rules.initial()}

    def before_round(hero: int, rat: int, left: int, rounds: int) -> Fraction:
        if hero == 0 or rat == 0:
            return Fraction(rat == 0)
        ways = (p * after_round(name, hero, rat, left, rounds) for name, p in ODDS.items())
        on = sum(ways, Fraction(0))
        return max(on, Fraction(1, 3)) if rounds >= after else on

    def after_round(name: str, hero: int, rat: int, left: int, rounds: int) -> Fraction:
        best = Fraction(-1)
        for action in (0, 1) if left and luck is not None else (0,):
            damage: dict[tuple[int, int, int], Fraction] = {}
            for outcome in rules.transition(Combat(-1, hero, rat, left, name), (action,)):
                to = outcome.state
                # The next round is not part of the damage: its odds are taken out again.
                odds = Fraction(1) if to.round == "over" else ODDS[to.round]
                damage[to.hero, to.opponent, to.luck] = outcome.probability / odds
            best = max(best, sum(p * before_round(*to, rounds + 1) for to, p in damage.items()))
        return best

    start = before_round(5, 5, 4 if luck is not None else 0, 0)
    assert solve_exactly(game.tabulate_exactly()).value == start


def test_factors_additions_and_rounds_count_in_a_fantasy_fight_too() -> None:
    rat = "      enemies: [{name: Rat, skill: 9, stamina: 7}]"
    for keys, damage in [
        ("dealt: 2", "{won: 4, won_lucky: 8, won_unlucky: 2}"),
        ("added: {hero: 1}", "{lost: 3, lost_lucky: 2, lost_unlucky: 4}"),
    ]:
        for luck in (None, 4):
            # A blow to the hero in rounds that the hero wins is the only difference.
            book = fantasy_book(f"{rat}\n      {keys}", luck=luck, stamina=12)
            plain = fantasy_book(rat, luck=luck, stamina=12, damage=f", damage: {damage}")
            ours, theirs = (solve_exactly(game.tabulate_exactly()).value for game in (book, plain))
            assert ours == theirs if "dealt" in keys else ours < theirs


def test_a_hero_without_stamina_has_lost() -> None:
    game = fantasy_book("      enemies: [{name: Rat, skill: 9, stamina: 5}]", stamina=1)
    [outcome] = game.transition(Page(1, 0, "", (8, 0, 5)), (0,))
    assert outcome.state.ending == "lost"


def test_a_fight_that_would_take_very_long_is_refused() -> None:
    walls = ", ".join(["{name: Wall, skill: 9, endurance: 1000}"] * 6)
    text = f"      enemies: [{walls}]\n      victory: 2\n      defeat: {{ending: lost}}"
    with pytest.raises(TooManyStatesError, match="allowed are 5000"):
        results_table_book(text).tabulate()
