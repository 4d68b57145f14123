"""The rules of football, sentence by sentence, and the numbers in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reduced_football import CHART, CHARTS, RULES

from solvent.games.football.chart import parse_result
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    DEFENCE,
    OFFENCE,
    Restart,
    Situation,
    chooser,
    consequences,
    declare_punt,
    field_goal,
    first_down_at,
    kick,
    legal_actions,
    ordinal,
    situation_at,
    situation_text,
)

KICK, FREE = Restart.KICKOFF, Restart.FREE_KICK
OURS, THEIRS = True, False
WITH_POINT, WITHOUT_POINT = Fraction(34, 36), Fraction(2, 36)

Row: TypeAlias = tuple[Any, ...]

CERTAIN: tuple[Row, ...] = (
    ("a gain moves the ball and the next down follows", (1, 10, 80), "4", 0, (2, 6, 76), OURS, 30),
    ("a loss, too", (2, 6, 76), "-3", 0, (3, 9, 79), OURS, 30),
    ("no gain", (2, 6, 76), "0", 0, (3, 6, 76), OURS, 30),
    ("a gain to the line to gain is a first down", (4, 6, 76), "6", 0, (1, 10, 70), OURS, 30),
    ("a yard short it is none", (3, 6, 76), "5", 0, (4, 1, 71), OURS, 30),
    ("inside the ten a first down is goal to go", (3, 2, 11), "3", 0, (1, 8, 8), OURS, 30),
    ("at the ten, too", (3, 2, 12), "2", 0, (1, 10, 10), OURS, 30),
    ("short on the last down it is lost", (4, 6, 76), "5", 0, (1, 10, 29), THEIRS, 30),
    ("incomplete on the last down", (4, 6, 76), "inc", 0, (1, 10, 24), THEIRS, 15),
    ("near the own goal it is goal to go", (4, 6, 96), "-1", 0, (1, 3, 3), THEIRS, 30),
    ("a yard short of the goal line", (2, 6, 8), "7", 0, (1, 1, 1), OURS, 30),
    ("down on its own goal line is a safety", (2, 6, 96), "-4", -2, FREE, OURS, 30),
    ("and behind it", (2, 6, 96), "-9", -2, FREE, OURS, 30),
    ("but not before it", (2, 6, 96), "-3", 0, (3, 9, 99), OURS, 30),
    ("an incomplete pass costs a down", (2, 6, 76), "inc", 0, (3, 6, 76), OURS, 15),
    ("twenty yards are no long play", (1, 10, 60), "20", 0, (1, 10, 40), OURS, 30),
    ("a long play takes longer", (1, 10, 60), "21", 0, (1, 10, 39), OURS, 45),
    ("out of bounds saves time", (1, 10, 60), "20o", 0, (1, 10, 40), OURS, 15),
    ("also of a long play", (1, 10, 60), "21o", 0, (1, 10, 39), OURS, 30),
    ("and of a loss", (1, 10, 60), "-7o", 0, (2, 17, 67), OURS, 15),
    ("a fumble is lost at the line", (1, 10, 80), "fum", 0, (1, 10, 20), THEIRS, 15),
    ("or where it lies", (1, 10, 80), "fum6", 0, (1, 10, 26), THEIRS, 15),
    ("behind the line", (1, 10, 95), "fum-2", 0, (1, 3, 3), THEIRS, 15),
    ("into the other end zone it is a touchback", (1, 5, 5), "fum5", 0, (1, 10, 80), THEIRS, 15),
    ("a yard before it is none", (1, 5, 5), "fum4", 0, (1, 10, 99), THEIRS, 15),
    ("an interception", (1, 10, 60), "int15", 0, (1, 10, 55), THEIRS, 30),
    ("is returned towards the offence's goal", (1, 10, 60), "int15r10", 0, (1, 10, 45), THEIRS, 30),
    ("in the end zone it is a touchback", (1, 10, 15), "int15r60", 0, (1, 10, 80), THEIRS, 30),
    ("a yard before it is returned", (1, 10, 16), "int15r60", 0, (1, 10, 39), THEIRS, 30),
    ("returned to the one", (1, 10, 90), "int5r14", 0, (1, 1, 1), THEIRS, 30),
    ("a penalty on the offence repeats the down", (3, 6, 60), "off5", 0, (3, 11, 65), OURS, 15),
    ("one on the defence, too", (3, 6, 60), "def5", 0, (3, 1, 55), OURS, 15),
    ("also the last", (4, 6, 60), "def5", 0, (4, 1, 55), OURS, 15),
    ("to the line to gain it is a first down", (3, 5, 60), "def5", 0, (1, 10, 55), OURS, 15),
    ("or by itself", (3, 9, 60), "def5f", 0, (1, 10, 55), OURS, 15),
    ("half the distance to the own goal line", (1, 10, 92), "off15", 0, (1, 14, 96), OURS, 15),
    ("and to the other", (1, 9, 9), "def15", 0, (1, 5, 5), OURS, 15),
    ("in whole yards", (1, 1, 1), "def5", 0, (1, 1, 1), OURS, 15),
    ("a punt", (4, 9, 70), "punt40", 0, (1, 10, 70), THEIRS, 15),
    ("is returned where it comes down", (4, 9, 70), "punt40r8", 0, (1, 10, 62), THEIRS, 15),
    ("up to the one", (4, 9, 70), "punt40r69", 0, (1, 1, 1), THEIRS, 15),
    ("a punt to the goal line is a touchback", (4, 9, 40), "punt40r8", 0, (1, 10, 80), THEIRS, 15),
    ("a yard before it is none", (4, 9, 41), "punt40", 0, (1, 10, 99), THEIRS, 15),
    (
        "a dropped punt is the kickers' ball",
        (4, 9, 70),
        "punt40fum",
        0,
        (1, 10, 30),
        OURS,
        15,
    ),
    ("goal to go", (4, 9, 45), "punt40fum", 0, (1, 5, 5), OURS, 15),
    ("unless it is a touchback", (4, 9, 40), "punt40fum", 0, (1, 10, 80), THEIRS, 15),
    ("a blocked punt lies behind the line", (4, 9, 70), "block", 0, (1, 10, 20), THEIRS, 15),
    ("up to the one", (4, 9, 89), "block", 0, (1, 1, 1), THEIRS, 15),
    ("or is a safety", (4, 9, 90), "block", -2, FREE, OURS, 15),
    ("a fake punt loses yards of its gain", (4, 3, 60, True), "8", 0, (1, 10, 57), OURS, 30),
    ("to the line to gain", (4, 3, 60, True), "7", 0, (1, 10, 42), THEIRS, 30),
    ("a loss grows", (4, 3, 60, True), "-2", 0, (1, 10, 33), THEIRS, 30),
    ("up to a safety", (4, 3, 96, True), "-1", -2, FREE, OURS, 30),
    ("a long fake", (4, 3, 60, True), "26", 0, (1, 10, 39), OURS, 45),
    ("what is no gain is as ever", (4, 3, 60, True), "fum2", 0, (1, 10, 42), THEIRS, 15),
    ("after a penalty a punt is declared anew", (4, 3, 60, True), "off5", 0, (4, 8, 65), OURS, 15),
)
"""A rule, the situation (down, to go, to goal, punting), the result, and what follows for certain:
points, the situation or kick, whose it is, and the seconds."""

OTHERWISE: tuple[Row, ...] = (
    (
        "the second of two downs",
        {"downs": 2},
        (2, 6, 76),
        "5",
        0,
        (1, 10, 29),
        THEIRS,
        30,
    ),
    ("the extra point may be sure", {"extra_point": 1}, (2, 6, 7), "7", 7, KICK, OURS, 30),
    ("or impossible", {"extra_point": 0}, (2, 6, 7), "7", 6, KICK, OURS, 30),
    (
        "a yard short of it",
        {"half_the_distance": False},
        (1, 10, 92),
        "off15",
        0,
        (1, 17, 99),
        OURS,
        15,
    ),
    ("and of the other", {"half_the_distance": False}, (1, 9, 9), "def15", 0, (1, 1, 1), OURS, 15),
    (
        "by as much",
        {"fake_punt_penalty": 3},
        (4, 3, 60, True),
        "-1",
        0,
        (1, 10, 36),
        THEIRS,
        30,
    ),
    (
        "costs nothing",
        {"fake_punt_penalty": 0},
        (4, 3, 60, True),
        "8",
        0,
        (1, 10, 52),
        OURS,
        30,
    ),
)
"""The same with other numbers in the rules, which stand before the situation."""

SCORES = (
    ("a touchdown", (2, 6, 7), "30", 1, OURS, 30),
    ("exactly to the goal line", (2, 6, 7), "7o", 1, OURS, 15),
    ("the yards that count for time end there", (1, 10, 20), "30", 1, OURS, 30),
    ("a fumble behind its own goal line", (1, 10, 97), "fum-3", -1, THEIRS, 15),
    ("an interception returned to the goal line", (1, 10, 90), "int5r15", -1, THEIRS, 30),
    ("a punt returned to the goal line", (4, 9, 70), "punt40r70", -1, THEIRS, 15),
)


def test_what_a_result_leads_to() -> None:
    usual = ((rule, {}, *row) for rule, *row in CERTAIN)
    for rule, numbers, at, code, points, following, side, seconds in (*usual, *OTHERWISE):
        after = following if isinstance(following, Restart) else Situation(*following)
        found = consequences(Ruleset(**numbers), Situation(*at), parse_result(code))
        assert found == ((1, points, after, side, seconds),), rule
    for rule, at, code, sign, side, seconds in SCORES:
        assert consequences(Ruleset(), Situation(*at), parse_result(code)) == (
            (WITH_POINT, 7 * sign, KICK, side, seconds),
            (WITHOUT_POINT, 6 * sign, KICK, side, seconds),
        ), rule


def test_a_long_gain_is_thirty_to_fifty_or_fifty_and_ten_times_a_die() -> None:
    follow = consequences(Ruleset(), Situation(1, 10, 99), parse_result("long"))
    found = {c.next.to_goal: c.probability for c in follow if isinstance(c.next, Situation)}
    sixth, thirty_sixth = Fraction(1, 6), Fraction(1, 36)
    assert found == {
        **{99 - yards: sixth for yards in (30, 35, 40, 45, 50)},
        **{99 - yards: thirty_sixth for yards in (60, 70, 80, 90)},
    }
    # 100 and 110 are touchdowns, and they are one branch with each outcome of the extra point.
    scores = [c.probability for c in follow if c.points]
    assert scores == [WITH_POINT / 18, WITHOUT_POINT / 18]


def test_a_field_goal_is_likelier_from_nearer_and_missed_at_the_spot_or_the_twenty() -> None:
    for to_goal, ways, theirs in (
        (5, 32, 80), (12, 32, 80), (13, 28, 80), (14, 28, 79), (22, 28, 71), (23, 18, 70),
        (32, 18, 61), (33, 12, 60), (38, 12, 55), (39, 2, 54), (45, 2, 48),
    ):  # fmt: skip
        chance = Fraction(ways, 36)
        assert field_goal(Ruleset(), Situation(4, 5, to_goal)) == (
            (chance, 3, KICK, OURS, 15),
            (1 - chance, 0, Situation(1, 10, theirs), THEIRS, 15),
        ), to_goal


def test_kicks_end_where_their_dice_say() -> None:
    dice = [a + b for a in range(1, 7) for b in range(1, 7)]
    expected: dict[tuple[Any, bool], Fraction] = {
        (first_down_at(Ruleset(), 20), OURS): Fraction(1, 36)
    }
    lines = {3: [(10, Fraction(1))], 11: Ruleset().long_gain}
    lines |= {total: [(5 * total - 10, Fraction(1))] for total in range(4, 11)}
    lines[12] = tuple((yards + 5, chance) for yards, chance in Ruleset().long_gain)
    for total, ends in lines.items():
        for line, chance in ends:
            if line < 100:
                key = first_down_at(Ruleset(), 100 - line), THEIRS
                ways = Fraction(dice.count(total), 36) * chance
                expected[key] = expected.get(key, Fraction(0)) + ways
    follow = kick(Ruleset(), "kickoff")
    assert {(c.next, c.same_side): c.probability for c in follow if not c.points} == expected
    # Run back all the way it is a touchdown: 100 or 110 yards.
    run_back = Fraction(3, 36) * Fraction(2, 36)
    assert [c for c in follow if c.points] == [
        (run_back * WITH_POINT, -7, KICK, THEIRS, 15),
        (run_back * WITHOUT_POINT, -6, KICK, THEIRS, 15),
    ]
    assert kick(Ruleset(), "onside") == (
        (Fraction(2, 6), 0, Situation(1, 10, 60), OURS, 15),
        (Fraction(3, 6), 0, Situation(1, 10, 35), THEIRS, 15),
        (Fraction(1, 6), 0, Situation(1, 10, 30), THEIRS, 15),
    )


PLAYS = list(range(20))
QUICK, GOAL, PUNT = 20, 21, 22

OFFERED: tuple[tuple[str, tuple[Any, ...], dict[str, Any], list[int]], ...] = (
    ("the quick kick on any down", (1, 10, 80), {}, [*PLAYS, QUICK]),
    ("a field goal from 45 yards", (3, 10, 45), {}, [*PLAYS, QUICK, GOAL]),
    ("but not from 46", (3, 10, 46), {}, [*PLAYS, QUICK]),
    ("nor early", (3, 10, 45), {"early_field_goals": False}, [*PLAYS, QUICK]),
    ("punt formation on the last down", (4, 10, 45), {}, [*PLAYS, QUICK, GOAL, PUNT]),
    ("late field goals", (4, 10, 45), {"early_field_goals": False}, [*PLAYS, QUICK, GOAL, PUNT]),
    ("too far for a field goal", (4, 10, 80), {}, [*PLAYS, QUICK, PUNT]),
    ("fakes in punt formation", (4, 10, 45, True), {}, [*PLAYS, PUNT]),
    ("the last of two downs", (2, 10, 80), {"downs": 2}, [*PLAYS, QUICK, PUNT]),
    ("plays 17 to 20 are barred inside the twenty", (1, 1, 20), {}, [*PLAYS[:16], QUICK, GOAL]),
    ("but not at 21", (1, 1, 21), {}, [*PLAYS, QUICK, GOAL]),
    ("still allowed at 11", (1, 1, 11), {}, [*PLAYS[:16], QUICK, GOAL]),
    ("plays 13 to 20 are barred inside the ten", (1, 1, 10), {}, [*PLAYS[:12], QUICK, GOAL]),
)


def test_what_the_offence_may_call() -> None:
    for rule, at, numbers, legal in OFFERED:
        assert list(legal_actions(Ruleset(**numbers), 20, Situation(*at))) == legal, rule
    declared = declare_punt(Situation(4, 10, 80))
    assert declared == (1, 0, Situation(4, 10, 80, True), OURS, 0)
    offended = [chooser(parse_result(code)) for code in ("off10/7", "def5/12")]
    assert offended == [DEFENCE, OFFENCE]


CODES = st.one_of(
    st.integers(-99, 99).map(str),
    st.integers(-99, 99).map("{}o".format),
    st.integers(-99, 99).map("fum{}".format),
    st.builds("int{}r{}".format, st.integers(-99, 99), st.integers(0, 99)),
    st.integers(1, 99).map("off{}".format),
    st.builds("def{}{}".format, st.integers(1, 99), st.sampled_from(["", "f"])),
    st.builds("punt{}{}".format, st.integers(1, 99), st.sampled_from(["", "r7", "r99", "fum"])),
    st.sampled_from(["inc", "long", "block"]),
)


@settings(max_examples=examples(300), deadline=None)
@given(data=st.data(), code=CODES, punting=st.booleans())
def test_whatever_happens_a_situation_on_the_field_or_a_kick_follows(
    data: st.DataObject, code: str, punting: bool
) -> None:
    to_goal = data.draw(st.integers(1, 99))
    to_go = data.draw(st.integers(1, to_goal))
    down = 4 if punting else data.draw(st.integers(1, 4))
    follow = consequences(Ruleset(), Situation(down, to_go, to_goal, punting), parse_result(code))
    assert sum(c.probability for c in follow) == 1
    assert len({c[1:] for c in follow}) == len(follow)
    for consequence in follow:
        assert consequence.probability > 0
        assert consequence.seconds in (15, 30, 45)
        if isinstance(consequence.next, Situation):
            assert consequence.points == 0
            assert 1 <= consequence.next.to_go <= consequence.next.to_goal <= 99
            assert 1 <= consequence.next.down <= 4
            assert not consequence.next.punting
            if not consequence.same_side:
                assert consequence.next.down == 1
        else:
            # Who scored kicks off; who gave up the safety has the free kick.
            assert consequence.next is (
                Restart.FREE_KICK if consequence.points == -2 else Restart.KICKOFF
            )
            assert consequence.same_side == (consequence.points in (6, 7, -2))


def test_the_full_field_has_19800_situations_and_4950_in_punt_formation() -> None:
    packed = pack_rules(CHART, Ruleset())
    assert packed.n_situations == 24_750
    assert packed.situation[:, 3].sum() == 4_950
    for situation in (Situation(1, 10, 80), Situation(3, 17, 99), Situation(4, 1, 1, True)):
        assert situation_at(packed.ruleset, packed.index(situation)) == situation


def test_a_ruleset_goes_through_json() -> None:
    for ruleset in (Ruleset(), Ruleset.of(RULES), Ruleset(field_goals=(), barred=())):
        again = Ruleset.of(ruleset.parameters)
        assert again == ruleset
        assert again.hash == ruleset.hash
        assert eval(repr(ruleset), {"Ruleset": Ruleset, "Fraction": Fraction}) == ruleset
    assert Ruleset().parameters == {}
    assert Ruleset(downs=3).hash != Ruleset().hash


NO_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"dows": 3}, "Did you mean 'downs'"),
    ({"field": 1}, "field is 1; allowed are whole numbers from 2 to 200"),
    ({"first_down": 101}, "first_down is 101; allowed are whole numbers from 1 to 100"),
    ({"touchback": 100}, "touchback is 100; allowed are whole numbers from 1 to 99"),
    ({"extra_point": 1.5}, "extra_point is 1.5; allowed are numbers from 0 to 1"),
    ({"early_field_goals": 1}, "early_field_goals is 1; allowed are True and False"),
    ({"field_goals": {"95": "1/2"}}, "a line of field_goals is 95; .* from 1 to 92"),
    ({"field_goals": {"12": 2}}, r"field_goals\[12\] is 2; allowed are numbers from 0 to 1"),
    ({"field_goals": {"near": "1/2"}}, "a line of field_goals is 'near'"),
    ({"field_goals": 3}, "field_goals is 3; allowed is a mapping"),
    ({"barred": [[10, 20, 13]]}, "last play of barred is 13; .* from 20 to 99"),
    ({"barred": [[10, 13]]}, r"barred is \[\[10, 13\]\]; allowed is a list of"),
    ({"long_gain": {}}, "long_gain is {}; it needs an entry"),
    ({"long_gain": {"0": 1}}, "long_gain is 0; allowed are whole numbers from 1 to 200"),
    ({"kickoff": {"kicker": 1}}, "kickoff has the entry 'kicker'; allowed are such as '25'"),
    ({"kickoff": {"0": 1}}, "yards of '0' in kickoff is 0"),
    ({"onside": {"long+300": 1}}, r"yards of 'long\+300' in onside is 300"),
    ({"onside": (("20", 1), ("20", 2))}, "onside is .* none twice"),
    ({"free_kick": {"20": -1}}, r"free_kick\['20'\] is -1; allowed are numbers from 0"),
    ({"free_kick": {"20": 0}}, "free_kick has weight 0"),
    ({"field": 40}, "a line of field_goals is 38; .* from 1 to 32"),
    ({"out_of_bounds_seconds": 31}, "out_of_bounds_seconds is 31; .* from 0 to 30"),
)


def test_the_message_names_what_was_given_and_what_is_allowed() -> None:
    for parameters, message in NO_PARAMETERS:
        with pytest.raises(ValueError, match=message):
            Ruleset.of(parameters)


def test_the_arrays_of_all_situations_say_what_a_single_one_says() -> None:
    ruleset = Ruleset.of(RULES)
    for chart in CHARTS:
        packed = pack_rules(chart, ruleset)
        columns = (
            packed.arrays.branch_probability,
            *(packed.branches[name] for name in ("points", "row", "same_side", "seconds")),
        )
        end = packed.n_situations
        for s in range(packed.n_situations):
            situation = situation_at(packed.ruleset, s)
            assert packed.index(situation) == s
            for r, result in enumerate(chart.results):
                k = s * packed.arrays.results + r
                branches = slice(packed.arrays.branch_start[k], packed.arrays.branch_start[k + 1])
                found = zip(*(column[branches].tolist() for column in columns), strict=True)
                follow = () if result.options else consequences(ruleset, situation, result)
                assert [*found] == [
                    (
                        float(c.probability),
                        c.points,
                        end + (c.next is Restart.FREE_KICK)
                        if isinstance(c.next, Restart)
                        else packed.index(c.next),
                        c.same_side,
                        c.seconds,
                    )
                    for c in follow
                ]


def test_a_situation_is_said_as_it_is_said() -> None:
    said = {
        Situation(1, 10, 80): "1st and 10 at its own 20",
        Situation(2, 7, 50): "2nd and 7 at the other's 50",
        Situation(2, 7, 51): "2nd and 7 at its own 49",
        Situation(3, 4, 4): "3rd and goal at the other's 4",
        Situation(4, 1, 34, True): "4th and 1 at the other's 34, punt formation",
    }
    assert {at: situation_text(Ruleset(), at) for at in said} == said
    assert ordinal(5) == "5th"
