"""Football in the terminal, in the explorer and on the page of a report."""

import base64
import re
import runpy
from collections.abc import Iterator
from functools import cache
from itertools import chain, product
from xml.etree import ElementTree

import numpy as np
import pytest
from doc_pages import DOCS, check_figure
from reduced_football import BACKWARDS, CHART, MIXED, RULES, reduced

from solvent.exact import SolvedTable, score, solve
from solvent.games.football import table as table_module
from solvent.games.football.chart import Chart, cell_text, load_chart
from solvent.games.football.fourth_down import (
    GO,
    KICK,
    PUNT,
    QUICK_KICK,
    WAY_COLOURS,
    everywhere,
    maps,
)
from solvent.games.football.packed import pack_rules
from solvent.games.football.report import (
    FootballPages,
    points_by_down,
    scored_baselines,
    sheets_data,
    untabled_football,
)
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Position, Situation
from solvent.games.football.solver.points import call_sheet, solve_points
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.model import TabularPolicy, TooManyStatesError, compile_game
from solvent.report.page import render

GAME = FootballStrategy(chart="standard")
state_sections = FootballPages().state_sections


@cache
def drive() -> SolvedFootball:
    return solved_of(GAME)


@pytest.mark.slow
@pytest.mark.parametrize(("to_go", "to_goal"), [(1, 40), (3, 45), (3, 3)])
def test_the_break_even_chance_makes_going_for_it_as_good_as_a_kick(
    to_go: int, to_goal: int
) -> None:
    state, plays = Position("call", 0, 4, to_go, to_goal), load_chart("standard").plays
    mixed, replies = drive().policy(state, 0), drive().policy(state, 1)
    assert sum(chance for action, chance in mixed.items() if action >= plays) == 0
    # From the rules, outcome by outcome.
    sums = {True: np.zeros(2), False: np.zeros(2)}
    for (play, own), (reply, other) in product(mixed.items(), replies.items()):
        for chance, made, value in prospects(state, (play, reply)) if own * other else ():
            sums[made] += own * other * chance * np.array((1, value))
    (chance, good), (missed, bad) = sums[True], sums[False]
    html = {one.title: one.html for one in state_sections(drive(), state, True)}["The 4th down"]
    shown, needed = (
        float(re.findall(rf'id="{name}" value="([^"]+)"', html)[0]) for name in ("made", "needed")
    )
    assert shown == pytest.approx(chance, abs=1e-6)
    kick = max(v for action, v in drive().action_values(state, 0).items() if action >= plays)
    assert needed * good / chance + (1 - needed) * bad / missed == pytest.approx(kick, abs=1e-6)
    assert needed < chance


def prospects(state: Position, joint: tuple[int, ...]) -> Iterator[tuple[float, bool, float]]:
    """Chance, first down or score, and value of all that may come of calls, choices being best."""
    game = drive().game
    for outcome in game.transition(state, joint):
        after: Position = outcome.state
        chance, value = float(outcome.probability), float(outcome.reward) + drive().value_of(after)
        if after.phase == "choice":
            best = drive().policy(after, who := game.who_decides(after))
            taken = [own[0] for own in game.legal_actions(after)]
            taken[who] = max(best, key=lambda one: best[one])
            for more, *rest in prospects(after, tuple(taken)):
                yield (chance * more, *rest)
        else:
            first = (after.phase, after.offence, after.down) == ("call", 0, 1)
            yield chance, first or outcome.reward > 3, value


def test_a_table_tells_the_values_of_the_ways_and_no_break_even_chance() -> None:
    game = reduced(chart=MIXED)
    table = compile_game(game)
    state = next(s for s in table.states if (s.phase, s.down, s.punting) == ("call", 2, False))
    shown = []
    for solved, sections in ((SolvedTable(game, table, solve(table)), 2), (solved_of(game), 3)):
        page = {section.title: section.html for section in state_sections(solved, state, True)}
        assert len(page) == sections
        shown += [[*map(float, re.findall(r'<data value="([^"]+)"', page["The 2nd down"]))]]
    assert shown[0] == pytest.approx(shown[1], abs=1e-6)


def test_a_table_has_no_more_pairs_of_calls_of_both_teams_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = int(compile_game(reduced("points")).row_start[-1])
    monkeypatch.setattr(table_module, "LARGEST_TABLE", pairs * 3 // 4)
    compile_game(reduced("drive"))
    with pytest.raises(TooManyStatesError, match="pairs of calls, more than a table may have"):
        compile_game(reduced("points"))


def test_who_plays_is_not_told_what_is_optimal() -> None:
    for down, optimal in ((1, False), (4, False), (4, True)):
        sections = state_sections(drive(), Position("call", 0, down, 5, 50), optimal)
        assert any("<data" in one.html for one in sections) == optimal, down


def test_the_explorer_shows_every_cell_of_the_chart() -> None:
    [shown] = state_sections(drive(), Position("call", 0, 2, 7, 60), True)
    cells = re.findall(r'<td class="n" title="([^"]+)">', shown.html)
    chart = chain.from_iterable(GAME.charts[0].columns.values())
    assert cells == [cell_text(cell).replace("-", "−") for cell in chart]


def test_what_is_no_situation_has_no_value() -> None:
    with pytest.raises(ValueError, match="is no situation"):
        drive().value_of(Position("call", 0, 1, 90, 80))


PAGE = (DOCS / "games" / "football-strategy.md").read_text("utf-8")


def solved_of(game: FootballStrategy) -> SolvedFootball:
    solved = solve_football(game)
    assert solved is not None
    return solved


def test_the_standard_map_has_all_ways_and_its_colours_say_which() -> None:
    found = everywhere(drive().rules, drive().following())
    assert set(np.unique(found.way)) == {-1, GO, QUICK_KICK, PUNT, KICK}
    best, *others = maps(found, "4th")
    assert len(others) == 3
    drawn = np.full(found.way.shape, -1)
    for path in ElementTree.fromstring(f"<g>{best.svg()}</g>").iter("path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d") or ""):
            run = drawn[int(x) : int(x) + int(length), int(y)]
            assert (run == -1).all()
            run[:] = WAY_COLOURS.index(path.get("stroke") or "")
    assert (drawn == found.way).all()


def test_what_the_page_says_of_fourth_down_holds_everywhere() -> None:
    found, said = everywhere(drive().rules, drive().following()), " ".join(PAGE.split())
    assert "On the standard chart, never kick with five yards or less to go" in said
    assert set(np.unique(found.way[:, :5])) == {-1, GO}
    assert {QUICK_KICK, PUNT, KICK} & set(np.unique(found.way[:, 5]))
    # Row 49 is midfield.
    own, anywhere = np.nanmax(found.fake[:49]), np.nanmax(found.fake)
    chances = f"at most {100 * own:.1f}% in your own half and {100 * anywhere:.1f}% anywhere"
    assert f"fakes from punt formation with a probability of {chances}" in said


def test_the_page_holds_the_sheet_of_every_situation() -> None:
    standard = drive()
    data, rules = sheets_data(standard), standard.rules
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").astype(float)
    rows = numbers.reshape(len(data["downs"]), len(data["distances"]), data["field"] - 1, -1)
    sizes = np.cumsum([1, *[len(data["offence"])] * 2, len(data["defence"])])
    for down, to_go, x, punting in ((1, 10, 80, False), (3, 2, 9, False), (4, 7, 60, True)):
        row = rows[down - 1 + punting, data["distances"].index(to_go), x - 1]
        [value], loss, chance, other_loss, other_chance = np.split(row, sizes)
        s = rules.index(Situation(down, to_go, x, punting))
        offence, defence = (np.nan_to_num(calls[s], nan=np.inf) for calls in standard.calls)
        legal = rules.legal[s]
        assert (loss[~legal] == -1).all()
        for found, unit, wanted in (
            (value, "point", standard.values[s]),
            (loss[legal], "point", standard.values[s] - offence[legal]),
            (chance, "chance", standard.strategies.offence[s]),
            (other_loss, "point", defence - standard.values[s]),
            (other_chance, "chance", standard.strategies.defence[s]),
        ):
            assert found * data[unit] == pytest.approx(wanted, abs=data[unit]), (down, unit)


def test_the_standard_sheet_is_the_documented_one() -> None:
    sheet = call_sheet(drive().rules, drive(), Situation(1, 10, 80))
    rows = re.findall(r"^\| (\d+) \| ([\d.]+)% \| ([A-J]) \| ([\d.]+)% \|$", PAGE, re.M)
    called = [
        [(call.name, f"{100 * call.chance:.2f}") for call in side if call.chance > 0]
        for side in (sheet.offence, sheet.defence)
    ]
    assert [[row[:2] for row in rows], [row[2:] for row in rows]] == called
    assert f"its value to you is {sheet.value:.4f} points" in " ".join(PAGE.split())


def test_the_documented_points_and_pictures_are_those_of_the_solver() -> None:
    for name, values in points_by_down(drive()).items():
        [row] = re.findall(rf"^\| {name} \| (.*) \|$", PAGE, re.M)
        numbers = [float(cell.replace("−", "-")) for cell in row.split(" | ")]
        assert numbers == [round(float(values[-x]), 2) for x in (99, 80, 50, 20, 10, 1)], name
    script = runpy.run_path(str(DOCS / "scripts" / "football.py"))
    for name, drawn in script["pictures"](drive()).items():
        check_figure(drawn, DOCS / "games" / name)


@pytest.mark.parametrize("chart", [BACKWARDS, MIXED], ids=lambda chart: chart.name)
def test_baselines_lose_what_the_general_scoring_says(chart: Chart) -> None:
    game = reduced(chart=chart, to_goal=[2, 7])
    table = compile_game(game)
    solution = solve(table)
    baselines = {b.name: b for b in scored_baselines(solved_of(game))}
    policies = [TabularPolicy.uniform(table, player=player) for player in (0, 1)]
    scores = [score(table, policy, solution) for policy in policies]
    uniform, optimal = baselines["uniform"], baselines["optimal"]
    assert uniform.exploitability == pytest.approx([s.optimality_gap for s in scores])
    assert uniform.value == pytest.approx(np.mean([s.value for s in scores]))
    assert uniform.worst_start_gap == pytest.approx(max(s.worst_start_gap for s in scores))
    assert (uniform.normalized, optimal.normalized, optimal.gap) == (0, 1, 0)
    assert all(b.gap > 0 for b in baselines.values() if b.name != "optimal")


def test_what_the_kernels_do_not_solve_is_left_to_the_table() -> None:
    ruleset = Ruleset.of(RULES)
    points = solve_points(pack_rules(MIXED, ruleset)).expected_points(pack_rules(MIXED, ruleset))
    other = FootballStrategy(MIXED, "points", ruleset, points, kickoff_value=points.kickoff + 0.1)
    assert untabled_football(other) is None
    assert untabled_football(reduced(chart=CHART)) is None
    text = render(reduced(chart=CHART))
    assert "<h3>Baselines</h3>" in text
    assert "<h3>Call sheets</h3>" not in text
