"""Every fault that is known is found, with its line, its section and a cure."""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path

from gamebooks import HERO, changed, faults, line_of, mill, small
from hypothesis import given
from hypothesis import strategies as st

from solvent.games.gamebook.checker import look_at
from solvent.games.gamebook.expressions import evaluate, names, parse


def test_the_example_is_without_fault(tmp_path: Path) -> None:
    assert faults(mill(), tmp_path) == []


# What is replaced in the example; by what; where the fault is then found (a part of the text of
# its line, or None for the lines of what was put in); in which section; what is said.
ERRORS = [
    ("format: solvent-gamebook", "format: solvent-chart", None, None, "'solvent-chart'"),
    ("version: 1", "version: 2", None, None, "is 2; it should be 1"),
    ("title: The Mill\n", "\n", "format:", None, "title: is missing; add title"),
    ("author:", "autor:", None, None, "did you mean 'author'?"),
    ("max: 20}", "maximum: 20}", None, None, "variables.gold.max: is missing"),
    ("max: 20}", "max: many}", None, None, "should be a valid integer"),
    ("max: 20}", "min: 30, max: 20}", None, None, "variables.gold: has min 30 and max 20"),
    ("max: 20}", "max: 5}", None, None, "variables.gold.initial: is 6"),
    ("initial: 1d6 + 6", "initial: 1d6 + 9", None, None, "from 10 to 15"),
    ("initial: 1d6 + 6", "initial: 1d6 + luck", None, None, "'luck' is no constant"),
    ("  gold: {", "  min: {", None, None, "a word of expressions"),
    ("  gold: {", "  1gold: {", None, None, "should be a name"),
    ("  rested: You", "  axe: You", "axe: {slot", None, "items.axe: is already the name of a flag"),
    ("{slot: belt,", "{slot: bolt,", None, None, "did you mean 'belt'?"),
    ("kind: weapon}", "kind: wepon}", None, None, "'belt' does not hold it"),
    ("{slot: bag, initial: 1}", "{slot: bag, initial: 4}", None, None, "at most 3"),
    ("{slot: bag, max: 1,", "{slot: bag, max: 3, initial: 3,", None, None, "slot 'bag' with 4"),
    ("pick: 1", "pick: 3", None, None, "3 of 2 disciplines; pick 2 at most"),
    ("pick: 1", "pick: 0", None, None, "0 of 2 disciplines; pick one at least"),
    ("c: 4.2", "c: -1", None, None, "greater than or equal to 0"),
    ("c: 4.2", "c: 1/0", None, None, "a number such as"),
    ("stamina: endurance", "stamina: rope", None, None, "there is no variable 'rope'"),
    ("initial: 7,", "initial: 7, min: 1,", "fighting-fantasy: {", None, "it should be 0"),
    ("luck: luck}", "luck: luck, damage: {lots: 3}}", None, None, "standard or three"),
    ("luck: luck}", "luck: luck, damage: {won: 0}}", None, None, "damage.won is 0"),
    ("[..-3, -2..2, 3..]", "[..-3, -1..2, 3..]", None, None, "column -1..2 does not fit"),
    ("[..-3, -2..2, 3..]", "[-9..-3, -2..2, 3..]", None, None, "column -9..-3 does not fit"),
    ("[..-3, -2..2, 3..]", "[..-3, -2..2, 3..9]", None, None, "column 3..9 does not fit"),
    ("[..-3, -2..2, 3..]", "[..3]", None, None, "at least 2 items"),
    ("[..-3, -2..2, 3..]", "[..-3, 2..-2, 3..]", None, None, "ends are in order"),
    ("0: [0/K, 2/5, 3/3]", "0: [0/K, 2/5]", None, None, "row 0 has 2 cells"),
    ("0: [0/K, 2/5, 3/3]", "0: [0/X, 2/5, 3/3]", None, None, "'0/X' is no result"),
    ("        0: [0/K, 2/5, 3/3]\n", "", "rows:", None, "row 0 has 0 cells"),
    ("endurance <= 0, ending", "endurence <= 0, ending", None, None, "'endurence' is unknown"),
    ("score: 1/2", "score: half", None, None, "a number such as"),
    ("    shop:\n", "    text: Again.\n    shop:\n", None, None, "second time, first in line"),
    ("money: gold", "money: rope", None, 1, "there is no variable 'rope'"),
    ("buy: 2, sell: 1", "buy: 2, sell: 2", None, 1, "could be traded for ever"),
    ("{item: rope, buy: 4}", "{item: rope}", None, 1, "has no price"),
    ("buy: 5, quantity: 1", "sell: 5, quantity: 1", None, 1, "quantity without buy"),
    ("gain: {endurance: 1d6}", "gain: {endurance: 1d}", None, 2, "'1d' is no number"),
    ("gain: {endurance: 1d6}", "take: {meal: 1d6 - 2}", None, 2, "can be -1; write max(0, ...)"),
    ("gain: {endurance: 1d6}", "empty: sack", None, 2, "there is no slot 'sack'"),
    ("- set: rested\n", "- set: restd\n", None, 2, "did you mean 'rested'?"),
    ("when: gold >= toll", "when: 1d6 >= toll", None, 2, "has dice in it"),
    ("when: gold >= toll", "when: gold >= bag", None, 2, "write count(bag)"),
    ("when: gold >= toll", "when: room(weapon) >= toll", None, 2, "there is no slot 'weapon'"),
    ("when: gold >= toll", "when: luck*luck*gold*gold*9999 * 999999", None, 2, "can be too large"),
    ("- label: Sleep", "- lable: Sleep", None, 2, "label: is missing"),
    ("..2: {text", "..1: {text", "    roll:\n      dice: digit", 3, "no row for 2"),
    ("3..6: 4", "2..6: 4", None, 3, "the rows ..2 and 2..6 of the table overlap"),
    ("3..6: 4", "six: 4", None, 3, "should be a range"),
    ("7..: 5", "7..10: 5", "    roll:\n      dice: digit", 3, "no row for 11"),
    ("rules: fighting-fantasy\n", "rules: fisticuffs\n", None, 4, "'fighting-fantasy' or"),
    ("      rules: fighting-fantasy\n", "", "    fight:\n      enemies:", 4, "rules: is missing"),
    ("      - goto: 6\n", "", "branch:\n", 5, "no case of the branch applies with rope = 0"),
    ("    branch:\n", "    branch:\n      - {goto: 6}\n", "    branch:\n", 5, "never apply"),
    ("base: 60%", "base: 160%", None, 6, "less than or equal to 1"),
    ("size: -5%, times", "size: -10001%, times", None, 6, "greater than or equal to -100"),
    ("4..5: again", "4..5: {choices: [{label: a, again: true}]}", None, 7, "no repeat around it"),
    ("4..5: again", "4..5: {repeat: {goto: 8}}", None, 7, "a repeat stands in another"),
    ("dealt: 1 + (gold >= 10)", "dealt: gold - 1", None, 8, "can be -1"),
    ("dealt: 1 + (gold >= 10)", "dealt: 1 + gold * 99999", None, 8, "at most 1000000 is allowed"),
    ("dealt: 1 + (gold >= 10)", "added: {hero: gold - 9}", None, 8, "'gold - 9' can be -9"),
    ("dealt: 1 + (gold >= 10)", "added: {foe: 1}", None, 8, "there are enemy, hero"),
    ("dealt: 1 + (gold >= 10)", "invulnerable: {when: rope}", None, 8, "rounds: is missing"),
    ("      escape: {after: 1,", "      suffered: 0\n      escape: {after: 1,", None, 4,
     "suffered belongs to results-table combat"),
    ("      escape: {after: 1,", "      invulnerable: {rounds: 1}\n      escape: {after: 1,",
     None, 4, "invulnerable belongs to results-table combat"),
    ("rested: You slept in the hay.", "rested: {initial: maybe}", None, None, "valid boolean"),
    ("when: gold >= toll", "when: 9 // gold", None, 2, "a divisor can be 0; it"),
    ("score: 1/2", "score: 0." + 101 * "1", None, None, "at most 100 digits"),
    ("probability: 9/10", "probability: 8/10", "chances:", 9, "1/10 is missing"),
    ("endurance <= 0, ending", "endurance < gold, ending", "    fight:\n      rules: fighting-", 4,
     "add defeat"),
    ("  9:\n", "  09:\n", None, 9, "should be a valid integer"),
    ("    chances:\n", "    goto: 3\n    chances:\n", "  9:\n", 9, "goto and chances"),
]  # fmt: skip


def test_an_error_is_found_in_its_place(tmp_path: Path) -> None:
    for old, new, place, section, said in ERRORS:
        text = changed((old, new))
        errors = [p for p in faults(text, tmp_path) if p.severity == "error"]
        fitting = [p for p in errors if said in f"{p.message}; {p.cure}"]
        assert fitting, (new, said, [str(p) for p in errors])
        where = text[: text.index(new)].count("\n") + 1 if place is None else line_of(text, place)
        found = fitting[0]
        assert found.section == section, new
        assert found.line in range(where, where + new.count("\n") + 1), (new, str(found))
        assert found.file.endswith("book.yaml")
        assert found.cure


WARNINGS = [
    ("  gold: {", "  hope: {initial: 1, max: 2}\n  gold: {", "hope:", None, "the variable 'hope'"),
    ("    tracking:", "    riding:\n    tracking:", "riding:", None, "the discipline 'riding'"),
    ("  escape: {s", "  defeat: {score: 0}\n  escape: {s", "defeat: {s", None, "'defeat'"),
    ("  9:\n", "  10: 9\n  9:\n", "  10: 9", 10, "section 10 cannot be reached"),
    ("..2: {text", "..-1: 5\n        0..2: {text", "..-1: 5", 3, "the row ..-1 can never apply"),
    ("when: gold >= toll", "when: gold > 20", "- label: Pay", 2, "never offered"),
]  # fmt: skip


def test_a_warning_is_given_in_its_place(tmp_path: Path) -> None:
    for old, new, place, section, said in WARNINGS:
        text = changed((old, new))
        [found] = [p for p in faults(text, tmp_path) if said in p.message]
        assert found.severity == "warning"
        assert (found.line, found.section) == (line_of(text, place), section)


def of_sections(sections: str, tmp_path: Path, head: str = HERO) -> list[str]:
    """The faults of a small book that are in its sections, each with how bad it is."""
    found = faults(f"{head}sections:\n{sections}", tmp_path)
    return [f"{p.section} {p.severity}: {p.message}" for p in found if p.section is not None]


SECTIONS = [
    (
        "  1: {branch: [{when: gold > 3, ending: won}, {when: cursed, ending: lost}, "
        "{ending: won}]}",
        ["1 warning: branch.1: the conditions gold > 3 and cursed hold both with cursed = 1, "
         "gold = 4, and the first applies"],
    ),
    (
        "  1: {branch: [{when: gold > 5, ending: won}, {when: gold < 5, ending: lost}]}",
        ["1 error: branch: no case of the branch applies with gold = 5"],
    ),
    (
        "  1: {choices: [{label: a, when: rope, ending: won}, {label: b, when: cursed, "
        "ending: lost}]}",
        ["1 error: choices: there is nothing to choose with cursed = 0, rope = 0"],
    ),
    # Only what can be counts: no more in a slot than it holds, as many disciplines as are picked.
    ("  1: {branch: [{when: room(bag) > 0, ending: won}, {when: room(bag) == 0, ending: lost}]}",
     []),
    ("  1: {branch: [{when: hunting, ending: won}, {when: tracking, ending: lost}]}", []),
    ("  1: {branch: [{when: gold >= 2 * luck, ending: won}, {when: gold < 2 * luck, "
     "ending: lost}]}", []),
    ("  1: {branch: [{when: luck + 1 <= 13, ending: won}]}", []),
    (
        "  1: 2\n  2: {choices: [{label: a, goto: 3}, {label: b, goto: 5}]}\n"
        "  3: {roll: {dice: 1d2, results: {1: 4, 2: 5}}}\n  4: 2\n  5: {ending: won}",
        ["4 error: goto: the sections lead in a circle: 2 → 3 → 4 → 2"],
    ),
    (
        "  1: {choices: [{label: a, goto: 1}, {label: b, goto: 2}]}\n"
        "  2: {choices: [{label: a, goto: 3}, {label: b, ending: won}]}\n  3: 2",
        ["1 error: choices.0.goto: the sections lead in a circle: 1 → 1",
         "3 error: goto: the sections lead in a circle: 2 → 3 → 2"],
    ),
    # A repeat is no circle, but must lead out.
    (
        "  1: {repeat: {roll: {dice: 1d2, results: {1: again, 2: again}}}}",
        ["1 error: repeat: the repeat never ends"],
    ),
    (
        "  1: {roll: {dice: 2d6, results: {2..5: {ending: won}, 7..: {ending: lost}}}}",
        ["1 error: roll: the table has no row for 6"],
    ),
]  # fmt: skip


def test_what_is_wrong_between_the_parts_of_a_book(tmp_path: Path) -> None:
    for sections, expected in SECTIONS:
        assert of_sections(f"{sections}\n", tmp_path) == expected


def test_a_column_in_which_nobody_dies(tmp_path: Path) -> None:
    text = mill()
    first = ["0/K", "1/6", "1/5", "2/5", "2/4", "3/4", "3/3", "4/2", "4/1", "5/0"]
    for digit, cell in enumerate(first):
        text = text.replace(f"{digit}: [{cell},", f"{digit}: [0/1,")
    [problem] = faults(text, tmp_path)
    assert "in column ..-3 the enemy never loses anything" in problem.message


def test_whatever_a_file_says_faults_are_all_that_comes_of_it(tmp_path: Path) -> None:
    """Words and signs of the example are swapped, dropped and doubled at random."""
    words = re.findall(r"\w+|[^\w\s]|\n *| +", mill())
    others = sorted({*words, "null", "true", "-1", "9" * 11, "1d6", "again", '""', "[]", "{}", "|"})
    rng = random.Random(20)
    good = 0
    for _ in range(150):
        mutated = list(words)
        for _ in range(rng.choice([1, 1, 2, 3])):
            place = rng.randrange(len(mutated))
            mutated[place : place + rng.choice([0, 1])] = rng.choices(others, k=rng.choice([0, 1]))
        text = "".join(mutated)
        found = faults(text, tmp_path)
        good += not found
        assert all(1 <= p.line <= text.count("\n") + 1 for p in found)
        assert all(p.message and p.cure for p in found)
    assert 5 < good < 75


CONDITIONS = st.lists(
    st.sampled_from(
        ["gold > 3", "gold == 5", "not gold", "cursed", "rope and gold < 2", "meal + rope > 1",
         "gold - luck >= 0", "count(bag) == 3", "hunting", "tracking or not rested", "true"]
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip
SMALL = small("  1: {ending: won}\n")


@given(CONDITIONS)
def test_gaps_and_overlaps_are_those_of_all_states(texts: list[str]) -> None:
    meant = [text.replace("count(bag)", "(rope + meal)") for text in texts]
    conditions = [parse(text) for text in meant]
    used = sorted(set().union(*map(names, conditions)))
    fields = SMALL.fields
    holding = []
    for point in product(*(range(fields[n].low, fields[n].high + 1) for n in used)):
        state = dict(zip(used, point, strict=True))
        if state.get("rope", 0) + state.get("meal", 0) > 3:
            continue
        picked = state.get("hunting", 0) + state.get("tracking", 0)
        if picked > 1 or (picked == 0 and "hunting" in state and "tracking" in state):
            continue
        holding.append([bool(evaluate(c, state)) for c in conditions])
    verdict = look_at(SMALL, conditions)
    always = [all(row[i] for row in holding) for i in range(len(conditions))]
    assert (verdict.gap is not None) == any(not any(row) for row in holding)
    assert verdict.never == [
        i for i in range(len(conditions)) if not any(row[i] for row in holding)
    ]
    assert verdict.always == {i for i, is_so in enumerate(always) if is_so}
    assert {(i, j) for i, j, _ in verdict.overlaps} == {
        (i, j)
        for j in range(len(conditions))
        for i in range(j)
        if any(row[i] and row[j] for row in holding)
    }
