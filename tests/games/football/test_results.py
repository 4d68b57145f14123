"""Results of football plays and the codes they are written in."""

from __future__ import annotations

from typing import Any

import football_charts
import pytest
from hypothesis import given

from solvent.games.football.results import Result, parse_result

CODES = {
    "5": Result("gain", 5),
    "-3": Result("gain", -3),
    "0": Result("gain"),
    "12o": Result("gain", 12, out_of_bounds=True),
    "inc": Result("incomplete"),
    "fum": Result("fumble"),
    "fum-2": Result("fumble", -2),
    "fum6": Result("fumble", 6),
    "int15": Result("interception", 15),
    "int-4": Result("interception", -4),
    "int15r10": Result("interception", 15, return_yards=10),
    "off15": Result("offence-penalty", 15),
    "def5": Result("defence-penalty", 5),
    "def15f": Result("defence-penalty", 15, first_down=True),
    "off10/7": Result("choice", options=(Result("offence-penalty", 10), Result("gain", 7))),
    "def15f/int9r2": Result(
        "choice",
        options=(
            Result("defence-penalty", 15, first_down=True),
            Result("interception", 9, return_yards=2),
        ),
    ),
    "long": Result("long-gain"),
    "punt40": Result("punt", 40),
    "punt40r8": Result("punt", 40, return_yards=8),
    "punt40fum": Result("fumbled-punt", 40),
    "block": Result("blocked-punt"),
}


def test_a_code_says_what_the_table_of_the_module_says() -> None:
    assert {code: parse_result(code) for code in CODES} == CODES
    assert [result.code for result in CODES.values()] == [*CODES]


def test_other_spellings_are_read_and_not_written() -> None:
    canonical = {
        "+5": "5", " 007 ": "7", "-0": "0", "12O": "12o", "FUM+0": "fum", "Int15R0": "int15",
        "Off10 / +7O": "off10/7o",
    }  # fmt: skip
    assert {written: parse_result(written).code for written in canonical} == canonical


@given(football_charts.kicking)
def test_code_and_repr_lead_back_to_the_result(result: Result) -> None:
    assert parse_result(result.code) == result
    assert parse_result(result.code.upper()) == result
    assert eval(repr(result)) == result


NO_CODES = (
    "", "x", "5oo", "inco", "int", "intr5", "off", "def", "long5", "punt", "r3", "incfum",
    "punt40r", "punt40r5fum", "5/off5", "inc/5", "off5/def5", "off5/off5/3", "off5/", "/5",
    "٣", "1e3", "5.5", "--5", "off5/" * 2000, "9" * 5000,
)  # fmt: skip

ABSURD = {
    " 5x ": "'5x' is not a result; results look like 5, -3, 12o, ",
    "100": "yards of gain is 100; allowed are whole numbers from -99 to 99",
    "fum150": "yards of fumble is 150",
    "int15r100": "return of interception is 100; allowed are whole numbers from 0 to 99",
    "off0": "yards of offence-penalty is 0; allowed are whole numbers from 1 to 99",
    "off-5": "yards of offence-penalty is -5",
    "def5/120": "yards of gain is 120",
    "off5f": "first_down is for defence-penalty, not for 'offence-penalty'",
    "5r3": "return_yards is for interception and punt, not for 'gain'",
}

GAIN, PENALTY = Result("gain", 3), Result("offence-penalty", 5)
CHOICE = Result("choice", options=(PENALTY, GAIN))

NO_RESULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"kind": "gian"}, r"kind of result is 'gian'; .* Did you mean 'gain'\?$"),
    ({"kind": "gain", "yards": True}, "yards of gain is True"),
    ({"kind": "incomplete", "yards": 1}, "yards of incomplete is 1"),
    ({"kind": "gain", "options": (PENALTY, GAIN)}, "options is for choice, not for 'gain'$"),
    *(
        ({"kind": "choice", "options": options}, "a choice is a penalty and a play, in this order")
        for options in ((), (PENALTY,), (PENALTY, PENALTY), (PENALTY, CHOICE), (GAIN, PENALTY))
    ),
)


def test_what_is_no_result_is_refused_in_a_short_message() -> None:
    for code in NO_CODES:
        with pytest.raises(
            ValueError, match=r"not a result|a penalty and a play|is for"
        ) as refusal:
            parse_result(code)
        assert len(str(refusal.value)) < 300
    for code, message in ABSURD.items():
        with pytest.raises(ValueError, match=f"^{message}"):
            parse_result(code)
    for fields, message in NO_RESULTS:
        with pytest.raises(ValueError, match=f"^{message}"):
            Result(**fields)
