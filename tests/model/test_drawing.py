"""Pieces of text with which games draw their states."""

from __future__ import annotations

from solvent.model.drawing import gauge, pitch


def test_a_gauge_is_filled_as_far_as_its_value_goes() -> None:
    assert gauge(3, 12, 4) == "█░░░  3/12"
    assert gauge(12, 12, 4) == "████ 12/12"
    assert gauge(14, 12, 4) == "████ 14/12"
    assert gauge(6, 12) == "█" * 12 + "░" * 12 + "  6/12"


def test_what_is_above_0_shows_and_0_does_not() -> None:
    assert gauge(1, 100, 4).startswith("█░░░")
    assert gauge(0, 100, 4) == "░░░░  0/100"
    assert gauge(0, 0, 3) == "░░░  0/0"
    assert gauge(1, 1, 3) == "███  1/1"


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
