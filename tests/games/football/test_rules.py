"""The rules of football, sentence by sentence, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import football_checks
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reduced_football import CHART, CHARTS, RULES

from solvent.games.football import ruleset as ruleset_module
from solvent.games.football.packed import FREE_KICK, KICKOFF, KICKS, PackedRules, pack_rules
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import KickEnd, Ruleset, parse_kick
from solvent.games.football.situation import (
    Consequence,
    Restart,
    Situation,
    consequences,
    declare_punt,
    field_goal,
    kick,
    legal_actions,
    ordinal,
    situation_text,
)


@pytest.mark.parametrize(
    "check", football_checks.RULE_CHECKS, ids=lambda check: check.__name__.removeprefix("check_")
)
def test_rule(check: Callable[[], None]) -> None:
    check()


def test_a_choice_waits_for_somebody_to_take_an_option() -> None:
    with pytest.raises(ValueError, match="'def5/12' is a choice"):
        consequences(Ruleset(), Situation(1, 10, 80), parse_result("def5/12"))


def test_no_field_goal_is_tried_from_afar() -> None:
    with pytest.raises(ValueError, match="from 46 yards"):
        field_goal(Ruleset(), Situation(4, 10, 46))


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


def packed_branches(packed: PackedRules, s: int, r: int) -> list[tuple[float, ...]]:
    k = s * packed.n_results + r
    branch = slice(packed.branch_start[k], packed.branch_start[k + 1])
    columns = (packed.probability, packed.points, packed.next, packed.same_side, packed.seconds)
    return list(zip(*(column[branch].tolist() for column in columns), strict=True))


def numbered(packed: PackedRules, follow: tuple[Consequence, ...]) -> list[tuple[float, ...]]:
    markers = {Restart.KICKOFF: KICKOFF, Restart.FREE_KICK: FREE_KICK}
    return [
        (
            float(c.probability),
            c.points,
            markers[c.next] if isinstance(c.next, Restart) else packed.index(c.next),
            c.same_side,
            c.seconds,
        )
        for c in follow
    ]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
@pytest.mark.parametrize(
    "changes", [{}, {"half_the_distance": False, "early_field_goals": False, "extra_point": 1}]
)
def test_the_arrays_say_what_the_rules_say(chart: Any, changes: dict[str, Any]) -> None:
    ruleset = Ruleset.read({**RULES, **changes})
    packed = pack_rules(chart, ruleset)
    assert packed.n_situations == (ruleset.downs + 1) * 36
    for s in range(packed.n_situations):
        situation = packed.situation_at(s)
        assert packed.index(situation) == s
        for r, result in enumerate(chart.results):
            follow = () if result.options else consequences(ruleset, situation, result)
            assert packed_branches(packed, s, r) == numbered(packed, follow)
            options = [chart.results[o] for o in packed.option[r].tolist() if o >= 0]
            assert tuple(options) == result.options
        tried = ruleset.field_goal_chance(situation.to_goal) > 0
        follow = field_goal(ruleset, situation) if tried else ()
        assert packed_branches(packed, s, len(chart.results)) == numbered(packed, follow)
        legal = legal_actions(ruleset, chart.plays, situation)
        assert tuple(packed.legal[s].nonzero()[0].tolist()) == legal
        declared = packed_branches(packed, s, len(chart.results) + 1)
        if situation.punting or situation.down < ruleset.downs:
            assert declared == []
        else:
            [branch] = declared
            target = packed.index(declare_punt(situation).next)  # type: ignore[arg-type]
            assert branch == (1.0, 0, target, True, 0)


def test_the_arrays_have_the_chart_and_the_kicks() -> None:
    ruleset = Ruleset.read(RULES)
    packed = pack_rules(CHART, ruleset)
    goal, declare = len(CHART.results), len(CHART.results) + 1
    calls = [
        *CHART.cells,
        CHART.quick_kick,
        [((Fraction(1), goal),)] * 3,
        [((Fraction(1), declare),)] * 3,
        CHART.punt,
    ]
    names = [*CHART.results, goal, declare]
    for k, cell in enumerate(cell for call in calls for cell in call):
        entries = slice(packed.cell_start[k], packed.cell_start[k + 1])
        assert [
            (p, names[r])
            for p, r in zip(
                packed.cell_probability[entries].tolist(),
                packed.cell_result[entries].tolist(),
                strict=True,
            )
        ] == [(float(p), result) for p, result in cell]
        weights = packed.cell_weight[entries].tolist()
        assert [Fraction(w, int(packed.cell_total[k])) for w in weights] == [p for p, _ in cell]
    assert [(packed.chooser[r], r) for r in range(goal) if packed.chooser[r] >= 0] == [
        (0 if result.code.startswith("def") else 1, r)
        for r, result in enumerate(CHART.results)
        if result.options
    ]
    for k, name in enumerate(KICKS):
        branch = slice(packed.kick_start[k], packed.kick_start[k + 1])
        columns = (
            packed.kick_probability,
            packed.kick_points,
            packed.kick_next,
            packed.kick_same_side,
            packed.kick_seconds,
        )
        found = list(zip(*(column[branch].tolist() for column in columns), strict=True))
        assert found == numbered(packed, kick(ruleset, name))


def test_the_full_field_has_19800_situations_and_4950_in_punt_formation() -> None:
    packed = pack_rules(CHART, Ruleset())
    assert packed.n_situations == 24_750
    assert packed.situation[:, 3].sum() == 4_950
    for situation in (Situation(1, 10, 80), Situation(3, 17, 99), Situation(4, 1, 1, True)):
        assert packed.situation_at(packed.index(situation)) == situation


def test_a_long_gain_is_one_die_and_on_a_1_a_second_one() -> None:
    table = {30: 6, 35: 6, 40: 6, 45: 6, 50: 6, 60: 1, 70: 1, 80: 1, 90: 1, 100: 1, 110: 1}
    expected = tuple((yards, Fraction(ways, 36)) for yards, ways in table.items())
    assert ruleset_module._long_gains() == Ruleset().long_gain == expected


def test_a_kick_ends_where_two_dice_say_and_equal_ends_are_one() -> None:
    ends = ("kicker 20", "10", "10", "15", "20", "25", "30", "35", "40", "long", "long+5")
    ways = {"kicker 20": 1, "10": 5, "15": 4, "20": 5, "25": 6, "30": 5, "35": 4, "40": 3}
    expected = tuple((e, Fraction(n, 36)) for e, n in {**ways, "long": 2, "long+5": 1}.items())
    assert ruleset_module._two_dice(*ends) == Ruleset().kickoff == expected


def test_a_ruleset_goes_through_json() -> None:
    for ruleset in (Ruleset(), Ruleset.read(RULES), Ruleset(field_goals=(), barred=())):
        again = Ruleset.read(ruleset.parameters)
        assert again == ruleset
        assert again.hash == ruleset.hash
        assert eval(repr(ruleset)) == ruleset
    assert Ruleset().parameters == {}
    assert Ruleset(downs=3).hash != Ruleset().hash


NO_PARAMETERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"dows": 3}, "Did you mean 'downs'"),
    ({"field": 1}, "field is 1; allowed are whole numbers from 2 to 200"),
    ({"downs": 0}, "downs is 0"),
    ({"first_down": 101}, "first_down is 101; allowed are whole numbers from 1 to 100"),
    ({"touchback": 100}, "touchback is 100; allowed are whole numbers from 1 to 99"),
    ({"extra_point": 1.5}, "extra_point is 1.5; allowed are numbers from 0 to 1"),
    ({"extra_point": "nan"}, "extra_point is 'nan'"),
    ({"early_field_goals": 1}, "early_field_goals is 1; allowed are true and false"),
    ({"field_goals": {"95": "1/2"}}, "a line of field_goals is 95; .* from 1 to 92"),
    ({"field_goals": {"12": 2}}, r"field_goals\[12\] is 2; allowed are numbers from 0 to 1"),
    ({"field_goals": {"near": "1/2"}}, "field_goals has the entry 'near'"),
    ({"field_goals": "far"}, "field_goals is 'far'; allowed is a mapping"),
    ({"barred": [[10, 20, 13]]}, "last play of barred is 13; .* from 20 to 99"),
    ({"barred": [[10, 13]]}, r"barred has the entry \(10, 13\)"),
    ({"long_gain": {}}, "long_gain is empty"),
    ({"long_gain": {"0": 1}}, "long_gain is 0; allowed are whole numbers from 1 to 200"),
    ({"long_gain": {"30": 0}}, r"long_gain\['30'\] has weight 0"),
    ({"kickoff": {"kicker": 1}}, "kickoff has the entry 'kicker'; allowed are such as '25'"),
    ({"kickoff": {"0": 1}}, "kickoff: yards from the goal line is 0"),
    ({"onside": {"long+300": 1}}, "onside: yards added to a long gain is 300"),
    ({"free_kick": {"20": -1}}, r"free_kick\['20'\] is -1; allowed are numbers from 0"),
    ({"free_kick": {"20": 0}}, r"free_kick\['20'\] has weight 0"),
    ({"field": 40}, "a line of field_goals is 38; .* from 33 to 32"),
    ({"out_of_bounds_seconds": 31}, "out_of_bounds_seconds is 31; .* from 0 to 30"),
)

READ_WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"dows": 1}, "parameter of the ruleset is 'dows'; allowed are barred, "),
    (
        {"field_goals": {"near": 1}},
        "field_goals has the entry 'near'; allowed are whole numbers of yards",
    ),
    ({"field_goals": 3}, "field_goals is 3; allowed is a mapping of yards to chances"),
    ({"barred": "abc"}, "barred is 'abc'; allowed is a list of [yards, first, last play]"),
    ({"barred": 3}, "barred is 3; allowed is a list of"),
    ({"barred": [3]}, "barred has the entry 3; allowed is"),
    ({"kickoff": {}}, "kickoff is {}; allowed is a mapping of where it ends to weights"),
    ({"kickoff": 3}, "kickoff is 3; allowed is a mapping of where it ends to weights"),
    (
        {"kickoff": {"20": 1_000_001}},
        "kickoff['20'] is 1000001; allowed are numbers from 0 to 1000000",
    ),
    ({"kickoff": {"20": 0}}, "kickoff['20'] has weight 0; allowed are positive numbers"),
)  # fmt: skip

GIVEN_WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"field": 201}, "field is 201; allowed are whole numbers from 2 to 200"),
    ({"half_the_distance": 0}, "half_the_distance is 0; allowed are true and false"),
    ({"extra_point": 1}, "extra_point is 1; allowed are fractions from 0 to 1"),
    (
        {"extra_point": Fraction(3, 2)},
        "extra_point is Fraction(3, 2); allowed are fractions from 0 to 1",
    ),
    (
        {"field_goals": ((9, Fraction(1)), (9, Fraction(1)))},
        "a line of field_goals is 9; allowed are whole numbers from 10 to 92",
    ),
    (
        {"field_goals": ((0, Fraction(1)),)},
        "a line of field_goals is 0; allowed are whole numbers from 1 to 92",
    ),
    (
        {"field_goals": ((9, Fraction(-1)),)},
        "field_goals[9] is Fraction(-1, 1); allowed are fractions from 0 to 1",
    ),
    (
        {"barred": ((10, 13),)},
        "barred has the entry (10, 13); allowed is (yards, first, last play)",
    ),
    ({"barred": ([10, 13, 20],)}, "barred has the entry [10, 13, 20]; allowed is"),
    ({"barred": ((0, 1, 1),)}, "yards of barred is 0; allowed are whole numbers from 1 to 200"),
    ({"barred": ((201, 1, 1),)}, "yards of barred is 201"),
    (
        {"barred": ((1, 0, 1),)},
        "first play of barred is 0; allowed are whole numbers from 1 to 99",
    ),
    ({"barred": ((1, 100, 1),)}, "first play of barred is 100; allowed are"),
    (
        {"barred": ((1, 7, 6),)},
        "last play of barred is 6; allowed are whole numbers from 7 to 99",
    ),
    ({"barred": ((1, 7, 100),)}, "last play of barred is 100; allowed are"),
    (
        {"long_gain": ((0, Fraction(1)),)},
        "long_gain is 0; allowed are whole numbers from 1 to 200",
    ),
    ({"long_gain": ((201, Fraction(1)),)}, "long_gain is 201; allowed are"),
    ({"long_gain": 3}, "long_gain is 3; it takes pairs (entry, probability)"),
    ({"long_gain": ((1, Fraction(1), 1),)}, "long_gain is ((1, Fraction(1, 1), 1),); it takes"),
    (
        {"onside": (("20", Fraction(0)),)},
        "onside: '20' has probability Fraction(0, 1); allowed are positive fractions",
    ),
    (
        {"onside": (("20", Fraction(1, 2)), ("20", Fraction(1, 2)))},
        "onside has an entry twice: ['20', '20']",
    ),
    (
        {"free_kick": (("20", Fraction(3, 2)),)},
        "the probabilities of free_kick sum to 3/2, not to 1",
    ),
    (
        {"kickoff": (("100", Fraction(1)),)},
        "kickoff: yards from the goal line is 100; allowed are whole numbers from 1 to 99",
    ),
    (
        {"free_kick": (("long+101", Fraction(1)),)},
        "free_kick: yards added to a long gain is 101; allowed are whole numbers from 0 to 100",
    ),
    (
        {"kickoff": ((20, Fraction(1)),)},
        "kickoff has the entry 20; allowed are such as '25', 'kicker 60', 'long' and 'long+5'",
    ),
)  # fmt: skip


def test_the_message_names_what_was_given_and_what_is_allowed() -> None:
    for parameters, message in NO_PARAMETERS:
        with pytest.raises(ValueError, match=message):
            Ruleset.read(parameters)
    for parameters, message in READ_WRONG:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            Ruleset.read(parameters)
    for arguments, message in GIVEN_WRONG:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            Ruleset(**arguments)


BOUNDS: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
    ("field", 71, 200, {}),
    ("downs", 1, 9, {}),
    ("first_down", 1, 100, {}),
    ("touchdown", 1, 100, {}),
    ("field_goal", 0, 100, {}),
    ("safety", 0, 100, {}),
    ("field_goal_spot", 0, 98, {"field_goals": ()}),
    ("touchback", 1, 99, {}),
    ("fake_punt_penalty", 0, 100, {}),
    ("blocked_punt_loss", 0, 100, {}),
    ("long_play", 0, 100, {}),
    ("play_seconds", 0, 900, {"out_of_bounds_seconds": 0}),
    ("long_play_seconds", 0, 900, {"out_of_bounds_seconds": 0}),
    ("out_of_bounds_seconds", 0, 30, {}),
    ("dead_ball_seconds", 0, 900, {}),
    ("interception_seconds", 0, 900, {}),
)


def test_the_bounds_of_a_number_are_allowed_and_nothing_beyond() -> None:
    for name, low, high, others in BOUNDS:
        for value in (low, high):
            assert getattr(Ruleset(**{name: value}, **others), name) == value
        refused = "|".join((f"{name} is {{0}}; allowed are whole numbers from", "onside: yards"))
        for value in (low - 1, high + 1):
            with pytest.raises(ValueError, match=f"^({refused.format(value)})"):
                Ruleset(**{name: value}, **others)


def test_a_ruleset_is_read_from_what_json_has() -> None:
    found = Ruleset.read(
        {
            "extra_point": "1/2",
            "field_goals": {20: 0.25, "5": "3/4"},
            "barred": [[10, 1, 2], (20, 3, 4)],
            "long_gain": [30, 31],
            "onside": {"20": 1, "kicker 60": "1/2", "long": 1_000_000},
        }
    )
    assert found.extra_point == Fraction(1, 2)
    assert found.field_goals == ((5, Fraction(3, 4)), (20, Fraction(1, 4)))
    assert found.barred == ((10, 1, 2), (20, 3, 4))
    assert found.long_gain == ((30, Fraction(1, 2)), (31, Fraction(1, 2)))
    total = Fraction(2_000_003, 2)
    assert found.onside == (
        ("20", 1 / total),
        ("kicker 60", 1 / total / 2),
        ("long", 10**6 / total),
    )
    assert Ruleset.of(found) is found
    assert Ruleset.of(None) == Ruleset()
    assert Ruleset.of({"downs": 3}) == Ruleset(downs=3)
    with pytest.raises(ValueError, match=r"^ruleset is 3; allowed is a mapping of parameters$"):
        Ruleset.of(3)


def test_a_field_goal_has_the_chance_of_the_first_line_that_is_far_enough() -> None:
    rules = Ruleset()
    chances = {12: 32, 13: 28, 22: 28, 23: 18, 38: 12, 45: 2, 46: 0}
    assert {line: 36 * rules.field_goal_chance(line) for line in chances} == chances


def test_plays_are_barred_near_the_goal() -> None:
    rules = Ruleset()
    lines = (9, 10, 11, 20, 21)
    assert [rules.is_barred(13, line) for line in lines] == [True, True, False, False, False]
    assert [rules.is_barred(17, line) for line in lines] == [True, True, True, True, False]
    assert [play for play in range(1, 22) if rules.is_barred(play, 5)] == list(range(13, 21))


def test_ends_of_kicks_are_read() -> None:
    assert parse_kick("25") == KickEnd(kept=False, run_back=False, line=25)
    assert parse_kick("kicker 60") == KickEnd(kept=True, run_back=False, line=60)
    assert parse_kick("long") == KickEnd(kept=False, run_back=True, line=0)
    assert parse_kick("long+5") == KickEnd(kept=False, run_back=True, line=5)
    with pytest.raises(ValueError, match=r"^kick has the entry 'x'"):
        parse_kick("x")


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


def test_legal_actions_by_down_and_distance() -> None:
    rules, late = Ruleset(barred=((10, 2, 3),)), Ruleset(barred=(), early_field_goals=False)
    assert legal_actions(rules, 4, Situation(1, 10, 60)) == (0, 1, 2, 3, 4)
    assert legal_actions(rules, 4, Situation(1, 10, 30)) == (0, 1, 2, 3, 4, 5)
    assert legal_actions(rules, 4, Situation(4, 10, 30)) == (0, 1, 2, 3, 4, 5, 6)
    assert legal_actions(rules, 4, Situation(4, 10, 60)) == (0, 1, 2, 3, 4, 6)
    assert legal_actions(rules, 4, Situation(1, 10, 10)) == (0, 3, 4, 5)
    assert legal_actions(rules, 4, Situation(4, 10, 30, True)) == (0, 1, 2, 3, 6)
    assert legal_actions(late, 4, Situation(3, 10, 30)) == (0, 1, 2, 3, 4)
    assert legal_actions(late, 4, Situation(4, 10, 30)) == (0, 1, 2, 3, 4, 5, 6)
