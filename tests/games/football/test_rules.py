"""The rules of football, sentence by sentence, and the numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import football_checks
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reduced_football import CHART, CHARTS, RULES

from solvent.games.football.packed import FREE_KICK, KICKOFF, pack_rules
from solvent.games.football.results import parse_result
from solvent.games.football.ruleset import KickEnd, Ruleset, parse_kick
from solvent.games.football.situation import (
    Restart,
    Situation,
    consequences,
    field_goal,
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


def test_the_full_field_has_19800_situations_and_4950_in_punt_formation() -> None:
    packed = pack_rules(CHART, Ruleset())
    assert packed.n_situations == 24_750
    assert packed.situation[:, 3].sum() == 4_950
    for situation in (Situation(1, 10, 80), Situation(3, 17, 99), Situation(4, 1, 1, True)):
        assert packed.situation_at(packed.index(situation)) == situation


def test_a_ruleset_goes_through_json() -> None:
    for ruleset in (Ruleset(), Ruleset.read(RULES), Ruleset(field_goals=(), barred=())):
        again = Ruleset.read(ruleset.parameters)
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
    ({"early_field_goals": 1}, "early_field_goals is 1; allowed are true and false"),
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
            Ruleset.read(parameters)


def test_the_arrays_of_all_situations_say_what_a_single_one_says() -> None:
    ruleset = Ruleset.read(RULES)
    markers = {Restart.KICKOFF: KICKOFF, Restart.FREE_KICK: FREE_KICK}
    for chart in CHARTS:
        packed = pack_rules(chart, ruleset)
        columns = packed.probability, packed.points, packed.next, packed.same_side, packed.seconds
        for s in range(packed.n_situations):
            situation = packed.situation_at(s)
            assert packed.index(situation) == s
            for r, result in enumerate(chart.results):
                k = s * packed.n_results + r
                branches = slice(packed.branch_start[k], packed.branch_start[k + 1])
                found = zip(*(column[branches].tolist() for column in columns), strict=True)
                follow = () if result.options else consequences(ruleset, situation, result)
                assert [*found] == [
                    (
                        float(c.probability),
                        c.points,
                        markers[c.next] if isinstance(c.next, Restart) else packed.index(c.next),
                        c.same_side,
                        c.seconds,
                    )
                    for c in follow
                ]


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
