"""A football field in lines of text."""

from __future__ import annotations

from solvent.games.football.field import pitch


def test_a_pitch_shows_the_ball_and_the_line_to_gain() -> None:
    edge = "▒▒▒·····|····|····|¦···|····▒▒▒"
    assert pitch(49, 21, 32) == (
        edge,
        "▒▒▒·····|····●····|¦···|····▒▒▒",
        edge,
        "       10   20   19    9",
    )


def test_what_lies_off_the_field_stands_at_its_edge() -> None:
    assert pitch(20, -3, -5)[:2] == ("▒▒▒¦····|····▒▒▒", "▒▒▒●····|····▒▒▒")
    assert pitch(20, 25, 20)[:2] == ("▒▒▒·····|····▒▒▒", "▒▒▒·····|···●▒▒▒")
    assert pitch(20, None, None)[1] == "▒▒▒·····|····▒▒▒"
    assert pitch(20, 0, 19)[:2] == ("▒▒▒·····|···¦▒▒▒", "▒▒▒●····|···¦▒▒▒")


def test_a_short_field_has_no_numbers() -> None:
    assert len(pitch(10, 5, 8)) == 3
    assert pitch(11, 5, 8)[3] == "        1"
    assert len(pitch(11, 5, 8)[0]) == 6 + 6
