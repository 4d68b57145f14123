"""Results of football plays and the codes they are written in."""

from __future__ import annotations

from typing import Any

import football_charts
import pytest
from hypothesis import given

from solvent.games.football.results import EXAMPLES, KINDS, Result, parse_result

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


def test_every_kind_has_a_code() -> None:
    assert {result.kind for result in CODES.values()} == set(KINDS)
    assert {parse_result(code).kind for code in EXAMPLES.split(", ")} <= set(KINDS)


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
    "", "x", "5oo", "inco", "int", "intr5", "off", "off-5", "off5f", "def", "long5", "punt",
    "punt40r", "punt40r5fum", "5/off5", "inc/5", "off5/def5", "off5/off5/3", "off5/", "/5",
    "٣", "1e3", "5.5", "--5", "off5/" * 2000, "9" * 5000,
)  # fmt: skip

ABSURD = {
    " 5x ": "'5x' is not a result; results look like 5, -3, 12o, ",
    "100": "yards of gain is 100; allowed are whole numbers from -99 to 99",
    "-100o": "yards of gain is -100",
    "fum150": "yards of fumble is 150",
    "int15r100": "return of interception is 100; allowed are whole numbers from 0 to 99",
    "off0": "yards of offence-penalty is 0; allowed are whole numbers from 1 to 99",
    "def5/120": "yards of gain is 120",
    "punt0": "yards of punt is 0",
    "punt40r400": "return of punt is 400",
}

GAIN, PENALTY = Result("gain", 3), Result("offence-penalty", 5)
CHOICE = Result("choice", options=(PENALTY, GAIN))

NO_RESULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"kind": "gian"}, r"kind of result is 'gian'; .* Did you mean 'gain'\?$"),
    ({"kind": "gain", "yards": 2.5}, "yards of gain is 2.5"),
    ({"kind": "gain", "yards": True}, "yards of gain is True"),
    ({"kind": "incomplete", "yards": 1}, "yards of incomplete is 1"),
    ({"kind": "gain", "return_yards": 1}, "return of gain is 1"),
    ({"kind": "punt", "yards": 3, "out_of_bounds": True}, "only a gain .*, not .* kind 'punt'$"),
    ({"kind": "gain", "first_down": True}, "only a defence-penalty .* first down, not 'gain'$"),
    ({"kind": "gain", "options": (PENALTY, GAIN)}, "only a choice has .*, not .* kind 'gain'$"),
    *(
        ({"kind": "choice", "options": options}, "a choice is a penalty and a play, in this order")
        for options in (
            (), (PENALTY,), (GAIN, GAIN), (PENALTY, PENALTY), (PENALTY, CHOICE),
            (PENALTY, GAIN, GAIN), (GAIN, PENALTY),
        )
    ),
)  # fmt: skip


def test_what_is_no_result_is_refused_in_a_short_message() -> None:
    for code in NO_CODES:
        with pytest.raises(ValueError, match=r"not a result|a penalty and a play") as refusal:
            parse_result(code)
        assert len(str(refusal.value)) < 200
    for code, message in ABSURD.items():
        with pytest.raises(ValueError, match=f"^{message}"):
            parse_result(code)
    for fields, message in NO_RESULTS:
        with pytest.raises(ValueError, match=f"^{message}"):
            Result(**fields)


YARDS = (
    ("gain", -99, 99),
    ("incomplete", 0, 0),
    ("fumble", -99, 99),
    ("interception", -99, 99),
    ("offence-penalty", 1, 99),
    ("defence-penalty", 1, 99),
    ("long-gain", 0, 0),
    ("punt", 1, 99),
    ("fumbled-punt", 1, 99),
    ("blocked-punt", 0, 0),
)


def test_the_yards_of_a_kind_lie_on_the_field() -> None:
    for kind, low, high in YARDS:
        returned = 99 if kind in ("interception", "punt") else 0
        for yards in (low, high):
            assert Result(kind, yards, return_yards=returned).return_yards == returned
        message = f"{kind} is {{}}; allowed are whole numbers from {low} to {high}$"
        for yards in (low - 1, high + 1):
            with pytest.raises(ValueError, match="^yards of " + message.format(yards)):
                Result(kind, yards)
        for back in (-1, returned + 1):
            message = (
                f"^return of {kind} is {back}; allowed are whole numbers from 0 to {returned}$"
            )
            with pytest.raises(ValueError, match=message):
                Result(kind, high, return_yards=back)
