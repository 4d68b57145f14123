"""A file becomes the book that it describes, in the few terms that the machine knows."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from gamebooks import HERO, MILL, changed, mill, refused, small

from solvent.games.fighting_fantasy.rules import DAMAGE, Damage
from solvent.games.gamebook.book import (
    Again,
    Assign,
    Block,
    Bonus,
    Cases,
    CheckInContext,
    Choices,
    Circumstance,
    Effect,
    End,
    Enemy,
    FightingFantasyFight,
    Goto,
    Loss,
    Repeat,
    ResultsTableFight,
    Roll,
    Shop,
    When,
)
from solvent.games.gamebook.expressions import FALSE, TRUE, evaluate, parse, text_of
from solvent.games.gamebook.loader import load_book, parse_book
from solvent.games.gamebook.problems import BookError
from solvent.games.gamebook.schema import read_rational
from solvent.games.gamebook.source import parse_source

BOOK = load_book(MILL)


def effects(text: str) -> tuple[Effect, ...]:
    """The effects of a `do` list, without their lines."""
    return small(f"  1: {{do: [{text}], ending: won}}\n").block(1).effects


def shown(effect: Effect) -> str:
    match effect:
        case Assign(field, value):
            return f"{field} := {text_of(value)}"
        case When(condition, then, otherwise):
            inside = "; ".join(map(shown, then))
            other = "; ".join(map(shown, otherwise))
            return f"if {text_of(condition)} [{inside}] else [{other}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{gain: {gold: 2d6}}", "gold := gold + 2d6"),
        (
            "{lose: {endurance: gold + 1, gold: 1}}",
            "endurance := endurance - (gold + 1); gold := gold - 1",
        ),
        ("{set: {endurance: 1d6 + 2, cursed: true}}", "endurance := 1d6 + 2; cursed := 1"),
        ("{set: cursed}", "cursed := 1"),
        ("{set: [cursed, rested]}", "cursed := 1; rested := 1"),
        ("{clear: [cursed, rested]}", "cursed := 0; rested := 0"),
        ("{take: rope}", "rope := rope + min(1, 3 - (rope + meal))"),
        ("{take: {meal: 1d3}}", "meal := meal + min(1d3, 3 - (rope + meal))"),
        ("{take: axe}", "axe := axe + min(1, 1 - axe)"),
        ("{drop: [rope, meal]}", "rope := rope - 1; meal := meal - 1"),
        ("{drop: {meal: 2}}", "meal := meal - 2"),
        ("{empty: bag}", "rope := 0; meal := 0"),
        (
            "{eat: {item: meal, hunger: {endurance: 3}}}",
            "if meal [meal := meal - 1] else [endurance := endurance - 3]",
        ),
        (
            "{eat: {item: meal, unless: hunting, hunger: {endurance: 3}}}",
            "if hunting [] else [if meal [meal := meal - 1] else [endurance := endurance - 3]]",
        ),
        (
            "{if: gold >= 5, then: [{lose: {gold: 5}}], else: [{set: cursed}]}",
            "if gold >= 5 [gold := gold - 5] else [cursed := 1]",
        ),
        ("{gain: {gold: count(bag) + count(weapon)}}", "gold := gold + (rope + meal + axe)"),
        ("{gain: {gold: room(bag)}}", "gold := gold + (3 - (rope + meal))"),
    ],
)  # fmt: skip
def test_what_an_effect_comes_down_to(text: str, expected: str) -> None:
    assert "; ".join(map(shown, effects(text))) == expected


def test_fields_of_the_example() -> None:
    found = {f.name: (f.kind, f.low, f.high, text_of(f.initial), f.slot) for f in BOOK.fields}
    assert found == {
        "skill": ("variable", 0, 12, "9", ""),
        "endurance": ("variable", 0, 14, "1d6 + 6", ""),
        "luck": ("variable", 0, 12, "7", ""),
        "gold": ("variable", 0, 20, "6", ""),
        "rested": ("flag", 0, 1, "0", ""),
        "axe": ("item", 0, 1, "0", "belt"),
        "meal": ("item", 0, 3, "1", "bag"),
        "rope": ("item", 0, 1, "0", "bag"),
        "hunting": ("discipline", 0, 1, "0", ""),
        "tracking": ("discipline", 0, 1, "0", ""),
        "swimming": ("discipline", 0, 1, "1", ""),
    }
    assert (BOOK.picks.count, BOOK.picks.names) == (1, ("hunting", "tracking"))
    assert BOOK.endings["escape"].score == Fraction(1, 2)
    assert (BOOK.c, BOOK.denominator, BOOK.start) == (Fraction(21, 5), 10**9, 1)
    assert BOOK.digest == hashlib.sha256(MILL.read_bytes()).hexdigest()


def test_sections_lead_where_the_example_says() -> None:
    assert {number: BOOK.targets(number) for number in BOOK.sections} == {
        1: (2,), 2: (3, 5), 3: (4, 5), 4: (9, 5), 5: (7, 6), 6: (7,), 7: (8,), 8: (9,), 9: (),
    }  # fmt: skip


def test_blocks_are_numbered_and_know_their_lines() -> None:
    lines = mill().splitlines()
    for section in BOOK.sections.values():
        assert lines[section.line - 1] == f"  {section.number}:"
        for index, block in enumerate(section.blocks):
            assert (block.section, block.index) == (section.number, index)
    climb = BOOK.block(6).exit
    assert isinstance(climb, CheckInContext)
    assert lines[climb.failure.line - 1].strip() == "failure:"


def test_a_shop_trades_while_there_is_money_room_and_goods() -> None:
    shop = BOOK.block(1).exit
    assert isinstance(shop, Shop)
    assert [(t.text, t.quantity, "; ".join(map(shown, t.effects))) for t in shop.trades] == [
        ("buy meal for 2 gold", None, "gold := gold - 2; meal := meal + 1"),
        ("sell meal for 1 gold", None, "gold := gold + 1; meal := meal - 1"),
        ("buy rope for 4 gold", None, "gold := gold - 4; rope := rope + 1"),
        ("buy axe for 5 gold", 1, "gold := gold - 5; axe := axe + 1"),
    ]
    buy_rope, buy_meal, sell_meal = shop.trades[2], shop.trades[0], shop.trades[1]

    def open_(trade: object, **state: int) -> int:
        full = {"gold": 20, "rope": 0, "meal": 0, "axe": 0, **state}
        return int(evaluate(trade.condition, full))  # type: ignore[attr-defined]

    assert open_(buy_rope)
    assert open_(buy_rope, gold=4)
    assert not open_(buy_rope, gold=3)
    assert not open_(buy_rope, rope=1)
    assert open_(buy_meal, meal=2)
    assert not open_(buy_meal, meal=2, rope=1)
    assert open_(sell_meal, meal=1, gold=0)
    assert not open_(sell_meal, meal=0)
    assert shop.leave.exit == Goto(2)


def test_a_fight_takes_from_the_book_what_it_does_not_say() -> None:
    fight = BOOK.block(4).exit
    assert isinstance(fight, FightingFantasyFight)
    assert fight.enemies == (Enemy("Old rat", 6, 4), Enemy("Young rat", 7, 2))
    assert (text_of(fight.skill), fight.stamina, fight.luck) == ("skill", "endurance", "luck")
    assert fight.damage == DAMAGE["standard"]
    assert [evaluate(b.size, {"axe": axe}) for b in fight.bonuses for axe in (0, 1)] == [0, 1]
    assert fight.escape is not None
    assert (fight.escape.after, fight.escape.parting) == (1, False)
    # The rule of whenever that looks at endurance only.
    assert fight.defeat.exit == End("death")


def test_a_table_of_results_is_turned_into_columns() -> None:
    fight = BOOK.block(8).exit
    assert isinstance(fight, ResultsTableFight)
    assert [(c.low, c.high) for c in fight.columns] == [(None, -3), (-2, 2), (3, None)]
    assert fight.columns[0].losses[0] == Loss(enemy=0, hero=None)
    assert fight.columns[2].losses[9] == Loss(enemy=None, hero=0)
    assert fight.columns[1].losses[7] == Loss(enemy=5, hero=1)
    rested, bare = fight.bonuses
    assert (rested.first, rested.last, bare.first, bare.last) == (1, 2, 1, None)
    assert evaluate(bare.size, {"axe": 0}) == -2
    assert text_of(fight.dealt) == "1 + (gold >= 10)"
    assert fight.suffered == TRUE
    assert (fight.dealt_besides, fight.suffered_besides, fight.invulnerable) == (FALSE, FALSE, None)


def test_what_a_fight_adds_and_where_it_spares_the_hero() -> None:
    text = changed(
        (
            "      dealt: 1 + (gold >= 10)\n",
            "      added: {enemy: rested, hero: 2 * (not rested)}\n"
            "      invulnerable: {rounds: 2..3, when: axe > 0}\n",
        )
    )
    fight = parse_book(text.encode()).block(8).exit
    assert isinstance(fight, ResultsTableFight)
    assert text_of(fight.dealt_besides) == "rested"
    assert text_of(fight.suffered_besides) == "2 * (not rested)"
    assert fight.invulnerable is not None
    assert [fight.invulnerable.counts_in(round_) for round_ in (1, 2, 3, 4)] == [0, 1, 1, 0]
    assert [evaluate(fight.invulnerable.size, {"axe": axe}) for axe in (0, 2)] == [0, 1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("123456789012345/987654321098765", Fraction(123456789012345, 987654321098765)),
        ("0." + 99 * "0" + "1", Fraction(1, 10**100)),
        (f"{10**99}/{10**99 + 1}", Fraction(10**99, 10**99 + 1)),
        ("12.345678901234567890%", Fraction(1234567890123456789, 10**19)),
        ("-.5", Fraction(-1, 2)),
    ],
)
def test_a_rational_of_many_digits_is_read_exactly(text: str, value: Fraction) -> None:
    assert read_rational(text) == value
    book = parse_book(changed(("score: 1/2", f"score: {text}")).encode())
    assert book.endings["escape"].score == value


@pytest.mark.parametrize(
    ("rounds", "first", "last"), [("2", 2, 2), ("2..4", 2, 4), ("..3", 1, 3), ("2..", 2, None)]
)
def test_rounds_of_a_bonus(rounds: str, first: int, last: int | None) -> None:
    text = changed(("rounds: ..2", f"rounds: {rounds}"))
    fight = parse_book(text.encode()).block(8).exit
    assert isinstance(fight, ResultsTableFight)
    bonus = fight.bonuses[0]
    assert bonus == Bonus("rested", bonus.size, first, last)


@pytest.mark.parametrize(
    ("given", "damage"),
    [("three", Damage(won_lucky=3)), ("{lost: 3, won_unlucky: 0}", Damage(lost=3, won_unlucky=0))],
)
def test_damage_may_be_changed(given: str, damage: Damage) -> None:
    book = parse_book(changed(("luck: luck}", f"luck: luck, damage: {given}}}")).encode())
    fight = book.block(4).exit
    assert isinstance(fight, FightingFantasyFight)
    assert fight.damage == damage


def test_a_check_counts_its_circumstances() -> None:
    check = BOOK.block(6).exit
    assert isinstance(check, CheckInContext)
    assert check.base == Fraction(3, 5)
    night, burden = check.circumstances
    assert night == Circumstance("night", Fraction(-15, 100), parse("(not rested) != 0"))
    assert [evaluate(night.times, {"rested": rested}) for rested in (0, 1)] == [1, 0]
    assert evaluate(burden.times, {"meal": 2, "rope": 1}) == 3


def test_numbers_and_again_are_short_for_blocks() -> None:
    repeat = BOOK.block(7).exit
    assert isinstance(repeat, Repeat)
    roll = repeat.block.exit
    assert isinstance(roll, Roll)
    assert [(row.low, row.high) for row in roll.rows] == [(1, 3), (4, 5), (6, 6)]
    branch = roll.rows[0].block.exit
    assert isinstance(branch, Cases)
    assert [type(case.block.exit) for case in branch.cases] == [Goto, Again]
    assert isinstance(roll.rows[1].block.exit, Again)


def test_labels_conditions_and_texts() -> None:
    choices = BOOK.block(2).exit
    assert isinstance(choices, Choices)
    assert [option.text for option in choices.options][1] == "Go on in the dark."
    assert [text_of(option.condition) for option in choices.options] == ["1", "1", "gold >= 3"]
    assert BOOK.block(5).exit.cases[0].block.text == "The rope holds."  # type: ignore[union-attr]


def test_texts_may_look_like_numbers() -> None:
    block = small("  1: {title: 1984, text: 12, choices: [{label: 7, ending: won}]}\n").block(1)
    assert isinstance(block, Block)
    assert block.text == "12"
    assert isinstance(block.exit, Choices)
    assert block.exit.options[0].text == "7"


def test_the_same_book_as_json() -> None:
    text = json.dumps(parse_source(mill().encode(), "mill.yaml").data)
    book = parse_book(text.encode(), "mill.json")
    assert book.sections == BOOK.sections
    assert book.fields == BOOK.fields


def test_a_book_with_errors_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        changed(
            ("goto: 6", "goto: 66"), ("goto: 3\n      - label: Go", "goto: 33\n      - label: Go")
        )
    )
    with pytest.raises(BookError, match=r"bad.yaml:\d+, section 2: .* 33.*\(and 1 more\)") as error:
        load_book(path)
    errors = [p for p in error.value.problems if p.severity == "error"]
    assert [p.section for p in errors] == [2, 5]


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_book(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    "value", ["[]", "3", "x", "{}", "{sections: 3}", "{sections: {}}", "{endings: []}"]
)
def test_what_is_no_book_at_all(value: str) -> None:
    assert refused(value).cure


@pytest.mark.parametrize("attempt", ["__import__('os')", "open(gold)", "gold.__class__"])
def test_a_book_cannot_run_code(attempt: str) -> None:
    section = f'  1: {{do: [{{gain: {{gold: "{attempt}"}}}}], ending: won}}\n'
    problem = refused(f"{HERO}sections:\n{section}")
    assert problem.message.startswith(repr(attempt))
    assert problem.section == 1


def test_the_games_do_not_load_what_reads_files() -> None:
    code = (
        "import sys, solvent.games, solvent.games.gamebook.book, solvent.games.gamebook.twee;"
        "print([m for m in ('yaml', 'pydantic') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
