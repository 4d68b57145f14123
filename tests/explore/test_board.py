"""The board: lines of play, luck and skill, ties, break-even points, fixed strategies, drills.

All numbers are compared with the solver's, or with what follows from the definition.
"""

import io
import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from threading import Event
from typing import Any, cast

import numpy as np
import pytest
from explored import GAMES, client, explorer, line_at, numbers, random_line, solved, waited
from refusals import assert_refused
from rich.console import Console

from solvent.baselines import make_baseline
from solvent.cli.printing import show_score, show_solution
from solvent.exact import SolvedTable, best_response, locate_gap, save_policy, score, solve
from solvent.explore import Explorer, Library, make_app, subject
from solvent.explore.decision import (
    choice_in,
    drill_position,
    exploit,
    knobs_of,
    locked_policy,
    sweep,
    why_tied,
)
from solvent.explore.panels import PANELS, read_games
from solvent.explore.subject import MOST_RUNNING, Jobs
from solvent.games import Nim
from solvent.model import TabularPolicy, cache, make_game, registry
from solvent.model.game import words
from solvent.model.registry import GameSpec, game_specs
from solvent.play.line import Account, Line, costliest
from solvent.report.page import render as report

LINES = ("lake", "greed", "tic-tac-toe", "goofspiel", "ff-combat", "gamebook", "soccer")


@pytest.mark.parametrize("name", LINES)
def test_luck_and_skill_add_up_to_the_result(name: str) -> None:
    lines = [random_line(name, seed) for seed in range(3)]
    for line in lines:
        for one in map(line.account, range(line.game.info.players)):
            assert one.result == pytest.approx(one.start - one.cost + one.gift + one.luck)
            assert 0 <= one.accuracy <= 1
        assert all(ply.costs[p] <= ply.stakes[p] + 1e-9 for ply in line.plies for p in (0, 1))
    own = [line.account(0) for line in lines]
    assert sum(own, Account()).cost == pytest.approx(sum(one.cost for one in own))


@pytest.mark.parametrize("name", ["lake", "greed", "ff-combat", "goofspiel"])
def test_luck_has_mean_zero_whatever_one_side_does_if_the_other_is_optimal(name: str) -> None:
    means, mixed = [], False
    lines = [random_line(name, seed, 1 if name == "goofspiel" else 3) for seed in range(4)]
    for before in (line for line in lines if not line.over):
        state, legal = before.state, before.game.legal_actions(before.state)
        for free, actions in enumerate(legal):
            optimal: dict[Any, float] = {None: 1.0}
            if len(legal) == 2:
                optimal = dict(solved(name).policy(before.solved_state(state), 1 - free))
            mixed |= max(optimal.values()) < 1
            for action in actions:
                means.append(0.0)
                for reply, chance in optimal.items():
                    joint = ((action, reply) if free == 0 else (reply, action))[: len(legal)]
                    for n, one in enumerate(before.game.transition(state, joint)):
                        luck = before.moved(joint, n, None).plies[-1].luck
                        means[-1] += chance * float(one.probability) * luck
    assert means == pytest.approx([0] * len(means), abs=1e-6)
    assert mixed == (name == "goofspiel")


def test_optimal_play_has_an_accuracy_of_one_and_the_worst_play_of_zero() -> None:
    game = solved("ff-combat")
    for pick, accuracy in ((max, 1.0), (min, 0.0)):
        line, dice = Line(game, game.game.initial()[0].state), random.Random(1)
        while not line.over:
            values = game.action_values(line.state, 0)
            line = line.moved((pick(values, key=lambda a: values[a]),), None, dice)
        assert line.account(0).accuracy == accuracy


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_its_address(name: str) -> None:
    own = explorer(name)
    for line in (random_line(name, seed) for seed in range(3)):
        key = own.states.key(line.solved_state(line.start)) or ""
        again = Explorer(own.solved).line(key, line.text)
        found, told = ([(ply.after, ply.story) for ply in one.plies] for one in (again, line))
        assert found == told


def test_a_line_that_leaves_something_open_is_refused() -> None:
    rows = (
        ("0", "needs the number of its outcome after a colon, from 0 to 1"),
        ("9:0", r"move 1 is '9:0'; allowed are 0 \(left\)"),
        ("0:7", "from 0 to 1"),
    )
    assert_refused(rows, lambda text: explorer("lake").line("", text))


def test_a_tie_says_why() -> None:
    board = solved("tic-tac-toe")
    start = board.game.initial()[0].state
    # By symmetry: crosses in the centre, and noughts choose one of four corners.
    reply = start._replace(squares=(0, 0, 0, 0, 1, 0, 0, 0, 0))
    throws = solve(make_game("rock-paper-scissors"))
    for game, state, told in (
        (board, start, "has the value 0, so nothing is gained"),
        (board, reply, "which of the 4 best you choose. Every possible result has the value 0,"),
        (throws, throws.game.initial()[0].state, "What matters is the mix"),
    ):
        assert told in why_tied(game, choice_in(game, state))


def test_the_break_even_point_is_where_both_actions_are_equally_good() -> None:
    game = cast(SolvedTable, solved("gridworld"))
    present, cell = (
        knobs_of(game)["discount"],
        cast(Any, game.table.states[0])._replace(row=1, column=3),
    )
    discount = sweep(present, cell, 0, lambda _: None)
    here = discount.points[present.value]
    for one in discount.breaks:
        assert abs(one.inside - one.outside) < 1e-4
        values = solve(present.make(one.inside)).action_values(cell, 0)
        before = max(here, key=lambda action: here[action])
        assert values[before] == max(values.values())
        assert values[before] == pytest.approx(values[one.action], abs=1e-2)
    assert discount.breaks


def test_whole_numbers_break_between_neighbours() -> None:
    game = solve(make_game("greed", limit=12, sides=3))
    state = game.game.initial()[0].state._replace(scores=(5, 5))
    found = sweep(knobs_of(game)["limit"], state, 0, lambda _: None)
    best: dict[int, int] = {}
    for limit in range(8, 17):
        values = solve(make_game("greed", limit=limit, sides=3)).action_values(state, 0)
        best[limit] = max(values, key=lambda action: values[action])
    above = next(n for n in range(13, 17) if best[n] != best[12])
    below = next(n for n in range(11, 7, -1) if best[n] != best[12])
    assert [(one.inside, one.outside, one.action) for one in found.breaks] == [
        (below + 1, below, best[below]),
        (above - 1, above, best[above]),
    ]


def test_a_fixed_strategy_is_exploited_as_a_best_response_does() -> None:
    game = cast(SolvedTable, solved("tic-tac-toe"))
    uniform = TabularPolicy.uniform(game.table, player=1)
    start = game.game.initial()[0].state
    found = exploit(game, uniform, start, lambda _: None)
    assert found.value == pytest.approx(best_response(game.table, uniform).value)
    assert found.value > found.before
    assert max(found.actions.values()) == pytest.approx(found.value)
    # In one state only: it gains nothing elsewhere.
    reply = start._replace(squares=(1, 0, 0, 0, 0, 0, 0, 0, 0))
    fixed = locked_policy(game, 1, None, reply, 1)
    assert fixed.probabilities[game.table.index[reply]].tolist() == np.eye(9)[1].tolist()
    assert exploit(game, fixed, start, lambda _: None).value == 1  # Crosses then win.
    best = exploit(game, locked_policy(game, 1, None, reply, None), start, lambda _: None)
    assert best.value == pytest.approx(game.value)
    assert best.changes == ()


def test_a_policy_from_another_file_of_the_same_name_is_exploited_anew(tmp_path: Path) -> None:
    own, game = Explorer(solved("tic-tac-toe")), cast(SolvedTable, solved("tic-tac-toe"))
    file = tmp_path / "policy.npz"
    for policy in (TabularPolicy.uniform(game.table, player=1), game.solution.policies[1]):
        save_policy(file, policy)
        own.load(file)
        page = waited(own, "/board?panel=lock&lock=1&to=the loaded policy")
        [gain] = re.findall(r'id="gain" value="([^"]*)"', page)
        assert float(gain) == pytest.approx(best_response(game.table, policy).value, abs=1e-9)


def test_only_so_many_jobs_run_and_the_next_is_refused_until_one_ends() -> None:
    go_on, jobs = Event(), Jobs()
    running = [jobs.of(n, lambda tell: go_on.wait(60)) for n in range(MOST_RUNNING)]
    assert_refused([("one more", lambda tell: None, "computations are running")], jobs.of)
    assert jobs.of(0, lambda tell: None) is running[0]
    go_on.set()
    assert all(job.done(60) for job in running)
    assert jobs.of("one more", lambda tell: 7).done(60)
    assert jobs.of("one more", lambda tell: 8).found() == 7


@pytest.mark.parametrize("name", ["greed", "lake", "ff-combat", "goofspiel"])
def test_a_drill_asks_where_the_choice_matters(name: str) -> None:
    for seed in range(3):
        state = drill_position(solved(name), random.Random(seed))
        costs = [one.cost for one in choice_in(solved(name), state).actions]
        assert min(costs) == 0 < max(costs)


def test_a_drill_is_asked_answered_and_goes_on() -> None:
    for word in ("s=", "page=1", "self=1", "line=0"):
        moved = client("lake").get(f"/board?quiz=drill&{word}")
        # A state is drawn whatever else an address says.
        assert moved.status_code == 303
        assert re.fullmatch(r"/board\?s=\d+&quiz=drill", moved.headers["Location"])
    asked = client("ff-combat")
    page = asked.get("/board?quiz=drill", follow_redirects=True)
    assert 'id="value"' not in page.text
    links = re.findall(r'href="(/board[^"]*answer=\d+[^"]*)"', page.text)
    verdicts = [asked.get(unescape(one)).text for one in dict.fromkeys(links)]
    assert sum("Right: " in one for one in verdicts) == 1
    assert sum(" loses " in one for one in verdicts) == 1
    assert all('href="/board?quiz=drill"' in one for one in verdicts)


def test_mistakes_are_asked_again() -> None:
    line = random_line("ff-combat", 0)
    worst = costliest(line, 0, 3)
    assert [line.plies[n].costs[0] for n in worst] == sorted(
        (ply.costs[0] for ply in line.plies if ply.costs[0]), reverse=True
    )[:3]
    key = explorer("ff-combat").states.key(line.start)
    page = client("ff-combat").get("/board", query_string={"s": key, "line": line.text}).text
    [first] = re.findall(r'href="(/board[^"]*quiz=mistakes[^"]*)"', page)
    asked = client("ff-combat").get(unescape(first)).text
    assert "Your mistake, once more" in asked
    assert 'id="value"' not in asked


def test_games_are_graded_from_a_file() -> None:
    own = explorer("tic-tac-toe")
    text = "# two games\ntop left, top, left, centre, bottom left\n"
    [(_, first), (_, second)] = read_games(own, f"{text}\ncentre,0\n")
    account = first.account(0)
    assert (first.over, account.result, len(second.plies)) == (True, 1, 2)
    for given, status, told in (
        ("top left, top left", 400, "line 1: move 2"),
        (text, 200, f'value="{account.accuracy}"'),
    ):
        sent = {"file": (io.BytesIO(given.encode()), "mine.txt")}
        answer = client("tic-tac-toe").post("/games", data=sent, follow_redirects=True)
        assert answer.status_code == status
        assert told in unescape(answer.text)


def test_finished_games_are_kept_and_graded() -> None:
    asked, line = client(Explorer(solved("lake"))), random_line("lake", 2, 200)
    asked.get("/board", query_string={"line": line.text})
    page = asked.get("/board?panel=account").text
    assert f'<data value="{line.account(0).accuracy}">' in page


def test_the_other_side_moves_by_itself_and_a_new_game_begins_with_it() -> None:
    own = Explorer(solved("greed"), dice=random.Random(2))
    asked = client(own)
    line = line_at(own, asked.get("/board?new=1&me=1").headers["Location"])
    while not line.over:
        assert line.choosing() == (1,)
        query = {"line": line.text, "me": 1, "do": line.game.legal_actions(line.state)[1][-1]}
        line = line_at(own, asked.get("/board", query_string=query).headers["Location"])
    assert line.account(0).cost == pytest.approx(0, abs=1e-9)
    # The end is worth what it is to the person, who is player B.
    ended = asked.get("/board", query_string={"line": line.text, "me": 1}).text
    assert numbers(ended, r'id="value">(.*?)</p>') == [1 - line.totals[-1]]
    # Where both choose, the bids that can be clicked are the person's own.
    bids = client("goofspiel").get("/board?line=2.1:0&me=1&hide=1").text
    assert [int(n) for n in re.findall(r"[?&;]do=(\d+)", bids)] == [0, 2]


# Reprs, indices, tuples, names of code, hyphens for minus signs, and one thing in the plural.
FORBIDDEN = re.compile(
    r"\b[A-Za-z]+\([a-z_]+=|\w\[\d+\]|\b([Pp]layer|seat|scores|ball) [01]\b|"
    r"\b(False|True|None|nan)\b|Fraction|array\(|\(\)|"
    r"\(\d{1,2}(, \d+)+,?\)|\b[a-z]+_[a-z]+\b|(?<![\w)\]])-\d|"
    r"(?<![\d.,])1 (points|chances|steps|states|moves|rolls|yards|decisions)\b"
)


LARGE = "football-strategy", "football-drive", "car-rental"


def texts_of_other_faces(own: Explorer) -> Iterator[str]:
    """What the terminal and a report say of a game: solution, losing states, and map."""
    console = Console(file=io.StringIO(), width=200)
    show_solution(console, own.solved)
    if isinstance(own.solved, SolvedTable):
        table, solution = own.solved.table, own.solved.solution
        policy = make_baseline("uniform", table)
        result = score(table, policy, solution)
        where = locate_gap(table, policy, solution) if np.isfinite(result.value) else None
        show_score(console, table, policy, solution, result, where, 9, own.solved.game)
        for field in own.state_map.fields:
            yield "\n".join((field.name, *field.texts))
        yield "\n".join(own.state_map.texts)
        yield re.sub(r"(?s)<style.*?</style>|<script.*?</script>|<[^>]*>", " ", report(own.solved))
    yield cast(io.StringIO, console.file).getvalue()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name in (*game_specs(), "lake", "Taxi-v4", "CliffWalking-v1")
    ],
)
def test_no_page_shows_what_only_a_program_reads(name: str) -> None:
    asked, own = client(name), explorer(name)
    line = random_line(name, 0, 8)
    key = own.states.key(line.solved_state(line.start))
    for at in range(0, len(line.plies) + 1, 3):
        for panel in ("", "results", "edit", "account"):
            query = {"s": key, "line": line.text, "at": at, "panel": panel}
            answer = asked.get("/board", query_string=query)
            assert answer.status_code == 200
            body = re.sub(r"(?s)<(style|script).*?</\1>", "", answer.text)
            text = unescape(re.sub(r"<[^>]*>", " ", body))
            text += " ".join(map(unescape, re.findall(r'(?:aria-label|title)="([^"]*)"', body)))
            assert not FORBIDDEN.search(text), (panel, FORBIDDEN.search(text))
    if not name.startswith("football-strategy"):
        for text in texts_of_other_faces(own):
            assert not FORBIDDEN.search(unescape(text)), FORBIDDEN.search(unescape(text))


def test_every_game_has_a_picture_of_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    # The gallery leaves out a game that needs a parameter.
    spec = GameSpec(name="needy", make=lambda heaps: Nim(heaps))
    monkeypatch.setitem(registry._registry().specs, "needy", spec)
    assert_refused([("needy", "needy needs a value of its parameter heaps")], make_game)
    library = Library()
    assert {"FrozenLake-v1", "CliffWalking-v1", "tic-tac-toe", "gamebook"} <= set(library.games)
    for card in library.cards:
        assert "<svg" in card["picture"] or "prose" in card["picture"], card["name"]
        assert len(card["line"]) > 10, card["name"]
    own = make_app(library).test_client()
    assert own.get("/").text.count('class="thumb"') == len(library.games)
    # An error leads back to the gallery.
    assert '<a class="button" href="/" data-focus>' in own.get("/board").text


def test_actions_of_a_scene_are_legal_and_named() -> None:
    for name in (*GAMES, "tic-tac-toe", "Taxi-v4", "CliffWalking-v1", "nim", "soccer", "blackjack"):
        for seed in range(2):
            line = random_line(name, seed, 6)
            for ply in line.plies:
                legal = line.game.legal_actions(ply.state)
                for part in words(line.game).scene(ply.state):
                    cells = getattr(part, "cells", getattr(part, "options", ()))
                    cells = cells or [c for row in getattr(part, "rows", ()) for c in row]
                    for cell in cells:
                        assert cell.action is None or any(cell.action in own for own in legal), name


def test_all_panels_open() -> None:
    for name in ("greed", "lake", "goofspiel"):
        for panel in PANELS:
            answer = client(name).get("/board", query_string={"panel": panel})
            assert answer.status_code == 200, panel
            shown = f'class="panel-{panel}"' in answer.text
            assert shown == (panel != "lock" or solved(name).game.info.players == 2)
    # A strategy is offered only if the game has it.
    assert "q-learning" not in client("greed").get("/board?panel=lock").text


def test_maps_are_there_at_once_when_the_explorer_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(cache, "LONG", 0.0)
    first = waited(Explorer(solved("greed")), "/board?panel=maps").partition("</main>")[0]
    assert "Values and policy" in first
    monkeypatch.setattr(subject, "state_map_section", None)  # Nothing is computed anew.
    again = waited(Explorer(solved("greed")), "/board?panel=maps").partition("</main>")[0]
    assert again == first
