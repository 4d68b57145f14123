"""Assertions about the rules of football, one for each sentence.

The tests of the rules make them, and so do the mutation tests, which plant an error in the rules
and assert that the same assertions fail.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from solvent.games.football import situation as rules
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Consequence, Next, Restart, Situation

KICKOFF, FREE_KICK = Restart.KICKOFF, Restart.FREE_KICK
OURS, THEIRS = True, False
WITH_POINT, WITHOUT_POINT = Fraction(34, 36), Fraction(2, 36)


def after(at: tuple[Any, ...], code: str, **numbers: Any) -> list[Consequence]:
    """What follows from a result in a situation (down, to go, to goal[, punting])."""
    return list(rules.consequences(Ruleset(**numbers), Situation(*at), parse_result(code)))


def only(at: tuple[Any, ...], code: str, **numbers: Any) -> tuple[int, Next, bool, int]:
    """The same where it is certain: points, what follows, whose it is, and the seconds."""
    [consequence] = after(at, code, **numbers)
    assert consequence.probability == 1
    return consequence[1:]


def check_a_gain_moves_the_ball_and_the_next_down_follows() -> None:
    assert only((1, 10, 80), "4") == (0, Situation(2, 6, 76), OURS, 30)
    assert only((2, 6, 76), "-3") == (0, Situation(3, 9, 79), OURS, 30)
    assert only((2, 6, 76), "0") == (0, Situation(3, 6, 76), OURS, 30)


def check_a_gain_to_the_line_to_gain_is_a_first_down() -> None:
    assert only((4, 6, 76), "6") == (0, Situation(1, 10, 70), OURS, 30)
    assert only((3, 6, 76), "5") == (0, Situation(4, 1, 71), OURS, 30)


def check_inside_the_ten_a_first_down_is_goal_to_go() -> None:
    assert only((3, 2, 11), "3") == (0, Situation(1, 8, 8), OURS, 30)
    assert only((3, 2, 12), "2") == (0, Situation(1, 10, 10), OURS, 30)


def check_short_on_the_last_down_the_ball_is_lost_where_it_is() -> None:
    assert only((4, 6, 76), "5") == (0, Situation(1, 10, 29), THEIRS, 30)
    assert only((4, 6, 76), "inc") == (0, Situation(1, 10, 24), THEIRS, 15)
    assert only((4, 6, 96), "-1") == (0, Situation(1, 3, 3), THEIRS, 30)
    assert only((2, 6, 76), "5", downs=2)[2] is THEIRS


def check_a_touchdown_is_six_points_and_mostly_the_extra_point() -> None:
    for code, seconds in (("30", 30), ("7", 30), ("7o", 15)):
        assert after((2, 6, 7), code) == [
            Consequence(WITH_POINT, 7, KICKOFF, OURS, seconds),
            Consequence(WITHOUT_POINT, 6, KICKOFF, OURS, seconds),
        ]
    assert only((2, 6, 8), "7") == (0, Situation(1, 1, 1), OURS, 30)
    assert only((2, 6, 7), "7", extra_point=Fraction(1)) == (7, KICKOFF, OURS, 30)
    assert only((2, 6, 7), "7", extra_point=Fraction(0)) == (6, KICKOFF, OURS, 30)


def check_down_behind_its_own_goal_line_is_a_safety_and_a_free_kick() -> None:
    assert only((2, 6, 96), "-4") == (-2, FREE_KICK, OURS, 30)
    assert only((2, 6, 96), "-9") == (-2, FREE_KICK, OURS, 30)
    assert only((2, 6, 96), "-3") == (0, Situation(3, 9, 99), OURS, 30)


def check_an_incomplete_pass_costs_a_down() -> None:
    assert only((2, 6, 76), "inc") == (0, Situation(3, 6, 76), OURS, 15)


def check_time_a_long_play_takes_longer_and_out_of_bounds_less() -> None:
    for code, seconds in (
        ("20", 30), ("21", 45), ("-7", 30), ("20o", 15), ("21o", 30), ("-7o", 15), ("inc", 15),
        ("off5", 15), ("def5", 15), ("fum", 15), ("int9", 30), ("punt40", 15), ("block", 15),
    ):  # fmt: skip
        assert [c.seconds for c in after((1, 10, 60), code)] == [seconds], code
    # The yards that count are those up to the goal line.
    assert {c.seconds for c in after((1, 10, 20), "30")} == {30}


def check_a_fumble_is_lost_where_it_lies() -> None:
    assert only((1, 10, 80), "fum") == (0, Situation(1, 10, 20), THEIRS, 15)
    assert only((1, 10, 80), "fum6") == (0, Situation(1, 10, 26), THEIRS, 15)
    assert only((1, 10, 80), "fum-2") == (0, Situation(1, 10, 18), THEIRS, 15)
    assert only((1, 10, 95), "fum-2") == (0, Situation(1, 3, 3), THEIRS, 15)


def check_a_fumble_behind_its_own_goal_line_is_a_touchdown_for_the_defence() -> None:
    assert after((1, 10, 97), "fum-3") == [
        Consequence(WITH_POINT, -7, KICKOFF, THEIRS, 15),
        Consequence(WITHOUT_POINT, -6, KICKOFF, THEIRS, 15),
    ]


def check_a_fumble_into_the_other_end_zone_is_a_touchback() -> None:
    assert only((1, 5, 5), "fum5") == (0, Situation(1, 10, 80), THEIRS, 15)
    assert only((1, 5, 5), "fum4") == (0, Situation(1, 10, 99), THEIRS, 15)


def check_an_interception_is_returned_towards_the_offences_goal() -> None:
    assert only((1, 10, 60), "int15") == (0, Situation(1, 10, 55), THEIRS, 30)
    assert only((1, 10, 60), "int15r10") == (0, Situation(1, 10, 45), THEIRS, 30)


def check_an_interception_in_the_end_zone_is_a_touchback() -> None:
    assert only((1, 10, 15), "int15r60") == (0, Situation(1, 10, 80), THEIRS, 30)
    assert only((1, 10, 16), "int15r60") == (0, Situation(1, 10, 39), THEIRS, 30)


def check_an_interception_returned_to_the_goal_line_is_a_touchdown() -> None:
    assert {c[1:] for c in after((1, 10, 90), "int5r15")} == {
        (-7, KICKOFF, THEIRS, 30),
        (-6, KICKOFF, THEIRS, 30),
    }
    assert only((1, 10, 90), "int5r14") == (0, Situation(1, 1, 1), THEIRS, 30)


def check_a_penalty_moves_the_ball_and_the_down_is_repeated() -> None:
    assert only((3, 6, 60), "off5") == (0, Situation(3, 11, 65), OURS, 15)
    assert only((3, 6, 60), "def5") == (0, Situation(3, 1, 55), OURS, 15)
    assert only((4, 6, 60), "def5") == (0, Situation(4, 1, 55), OURS, 15)


def check_a_penalty_on_the_defence_to_the_line_to_gain_is_a_first_down() -> None:
    assert only((3, 5, 60), "def5") == (0, Situation(1, 10, 55), OURS, 15)
    assert only((3, 9, 60), "def5f") == (0, Situation(1, 10, 55), OURS, 15)


def check_a_penalty_is_at_most_half_the_distance_to_the_goal_line() -> None:
    assert only((1, 10, 92), "off15") == (0, Situation(1, 14, 96), OURS, 15)
    assert only((1, 9, 9), "def15") == (0, Situation(1, 5, 5), OURS, 15)
    assert only((1, 1, 1), "def5") == (0, Situation(1, 1, 1), OURS, 15)
    assert only((1, 10, 92), "off15", half_the_distance=False)[1] == Situation(1, 17, 99)
    assert only((1, 9, 9), "def15", half_the_distance=False)[1] == Situation(1, 1, 1)


def check_the_offended_team_has_the_choice() -> None:
    assert rules.chooser(parse_result("off10/7")) == rules.DEFENCE
    assert rules.chooser(parse_result("def5/12")) == rules.OFFENCE


def check_a_long_gain_is_fifty_and_ten_times_a_die_or_thirty_to_fifty() -> None:
    found = {c.next.to_goal: c.probability for c in after((1, 10, 99), "long") if c.points == 0}
    sixth, thirty_sixth = Fraction(1, 6), Fraction(1, 36)
    assert found == {
        **{99 - yards: sixth for yards in (30, 35, 40, 45, 50)},
        **{99 - yards: thirty_sixth for yards in (60, 70, 80, 90)},
    }
    # 100 and 110 are touchdowns, and they are one branch with each outcome of the extra point.
    scores = [c for c in after((1, 10, 99), "long") if c.points]
    assert [c.probability for c in scores] == [WITH_POINT / 18, WITHOUT_POINT / 18]


def check_a_punt_is_returned_where_it_comes_down() -> None:
    assert only((4, 9, 70), "punt40") == (0, Situation(1, 10, 70), THEIRS, 15)
    assert only((4, 9, 70), "punt40r8") == (0, Situation(1, 10, 62), THEIRS, 15)
    assert only((4, 9, 70), "punt40r69")[1:3] == (Situation(1, 1, 1), THEIRS)
    assert {c[1:] for c in after((4, 9, 70), "punt40r70")} == {
        (-7, KICKOFF, THEIRS, 15),
        (-6, KICKOFF, THEIRS, 15),
    }


def check_a_punt_to_the_goal_line_is_a_touchback() -> None:
    assert only((4, 9, 40), "punt40r8") == (0, Situation(1, 10, 80), THEIRS, 15)
    assert only((4, 9, 41), "punt40") == (0, Situation(1, 10, 99), THEIRS, 15)


def check_a_dropped_punt_is_the_kickers_first_down() -> None:
    assert only((4, 9, 70), "punt40fum") == (0, Situation(1, 10, 30), OURS, 15)
    assert only((4, 9, 45), "punt40fum") == (0, Situation(1, 5, 5), OURS, 15)
    assert only((4, 9, 40), "punt40fum")[2] is THEIRS


def check_a_blocked_punt_lies_behind_the_line_or_is_a_safety() -> None:
    assert only((4, 9, 70), "block") == (0, Situation(1, 10, 20), THEIRS, 15)
    assert only((4, 9, 89), "block") == (0, Situation(1, 1, 1), THEIRS, 15)
    assert only((4, 9, 90), "block") == (-2, FREE_KICK, OURS, 15)


def check_a_loss_from_punt_formation_grows_by_the_penalty() -> None:
    for yards, penalty in ((-2, 5), (-1, 3), (0, 7)):
        lost = only((4, 3, 60, True), str(yards), fake_punt_penalty=penalty)[1]
        assert lost == Situation(1, 10, 100 - (60 - yards + penalty))
    assert only((4, 3, 96, True), "-1")[:2] == (-2, FREE_KICK)


def check_a_fake_punt_loses_yards_of_its_gain() -> None:
    assert only((4, 3, 60, True), "8") == (0, Situation(1, 10, 57), OURS, 30)
    assert only((4, 3, 60, True), "7") == (0, Situation(1, 10, 42), THEIRS, 30)
    assert only((4, 3, 60, True), "-2") == (0, Situation(1, 10, 33), THEIRS, 30)
    assert only((4, 3, 60, True), "8", fake_punt_penalty=0)[1] == Situation(1, 10, 52)
    assert only((4, 3, 60, True), "26")[3] == 45
    # What is no gain is as ever, and after a penalty punt formation has to be declared anew.
    assert only((4, 3, 60, True), "fum2") == (0, Situation(1, 10, 42), THEIRS, 15)
    assert only((4, 3, 60, True), "off5") == (0, Situation(4, 8, 65), OURS, 15)


def check_a_field_goal_is_likelier_from_nearer() -> None:
    def tried(to_goal: int) -> tuple[Consequence, ...]:
        return rules.field_goal(Ruleset(), Situation(4, 5, to_goal))

    for lines, ways in (
        ((5, 12), 32), ((13, 22), 28), ((23, 32), 18), ((33, 38), 12), ((39, 45), 2),
    ):  # fmt: skip
        for to_goal in lines:
            made, missed = tried(to_goal)
            assert made == (Fraction(ways, 36), 3, KICKOFF, OURS, 15)
            assert missed.probability == 1 - made.probability


def check_a_missed_field_goal_is_the_others_ball_where_it_was_kicked_or_at_the_twenty() -> None:
    for to_goal, theirs in ((5, 80), (13, 80), (14, 79), (40, 53)):
        _, missed = rules.field_goal(Ruleset(), Situation(4, 5, to_goal))
        assert missed[1:] == (0, Situation(1, 10, theirs), THEIRS, 15)


def check_a_kickoff_is_two_dice() -> None:
    dice = [a + b for a in range(1, 7) for b in range(1, 7)]
    expected: dict[tuple[Next, bool], Fraction] = {}

    def add(ways: Fraction, line: int, kept: bool = False) -> None:
        to_goal = line if kept else 100 - line
        key = (Situation(1, min(10, to_goal), to_goal), kept)
        expected[key] = expected.get(key, Fraction(0)) + ways / 36

    add(Fraction(dice.count(2)), 20, kept=True)
    add(Fraction(dice.count(3)), 10)
    for total, line in zip(range(4, 11), range(10, 41, 5), strict=True):
        add(Fraction(dice.count(total)), line)
    for total, more in ((11, 0), (12, 5)):
        for yards, chance in Ruleset().long_gain:
            if yards + more < 100:
                add(dice.count(total) * chance, yards + more)
    # Run back all the way it is a touchdown: 100 or 110 yards.
    touchdown = Fraction(dice.count(11) + dice.count(12), 36) * Fraction(2, 36)
    follow = rules.kick(Ruleset(), "kickoff")
    assert {(c.next, c.same_side): c.probability for c in follow if not c.points} == expected
    assert [c for c in follow if c.points] == [
        Consequence(touchdown * WITH_POINT, -7, KICKOFF, THEIRS, 15),
        Consequence(touchdown * WITHOUT_POINT, -6, KICKOFF, THEIRS, 15),
    ]


def check_an_onside_kick_is_one_die() -> None:
    assert rules.kick(Ruleset(), "onside") == (
        (Fraction(2, 6), 0, Situation(1, 10, 60), OURS, 15),
        (Fraction(3, 6), 0, Situation(1, 10, 35), THEIRS, 15),
        (Fraction(1, 6), 0, Situation(1, 10, 30), THEIRS, 15),
    )


def check_plays_13_to_20_are_barred_inside_the_ten_and_17_to_20_inside_the_twenty() -> None:
    def plays(to_goal: int) -> list[int]:
        actions = rules.legal_actions(Ruleset(), 20, Situation(1, 1, to_goal))
        return [action + 1 for action in actions if action < 20]

    assert plays(21) == list(range(1, 21))
    assert plays(20) == plays(11) == list(range(1, 17))
    assert plays(10) == plays(1) == list(range(1, 13))


def check_kicks_are_on_offer_where_the_rules_have_them() -> None:
    def kicks(at: tuple[Any, ...], **numbers: Any) -> list[str]:
        actions = rules.legal_actions(Ruleset(**numbers), 20, Situation(*at))
        names = {20: "quick kick", 21: "field goal", 22: "punt"}
        return [names[action] for action in actions if action >= 20]

    assert kicks((1, 10, 80)) == ["quick kick"]
    assert kicks((3, 10, 45)) == ["quick kick", "field goal"]
    assert kicks((3, 10, 45), early_field_goals=False) == ["quick kick"]
    assert kicks((3, 10, 46)) == ["quick kick"]
    assert kicks((4, 10, 45)) == ["quick kick", "field goal", "punt"]
    assert kicks((4, 10, 45), early_field_goals=False) == ["quick kick", "field goal", "punt"]
    assert kicks((4, 10, 80)) == ["quick kick", "punt"]
    assert kicks((4, 10, 45, True)) == ["punt"]
    assert kicks((2, 10, 80), downs=2) == ["quick kick", "punt"]


def check_declaring_punt_formation_takes_no_time_and_no_down() -> None:
    declared = rules.declare_punt(Situation(4, 10, 80))
    assert declared == (1, 0, Situation(4, 10, 80, True), OURS, 0)


RULE_CHECKS = tuple(value for name, value in list(globals().items()) if name.startswith("check_"))
