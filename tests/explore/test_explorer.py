"""The pages without a browser: numbers are the solver's, strange input gets a message."""

import html
import io
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from bad_files import CONTENTS
from explored import client, explorer, line_at, numbers, random_line, solved
from refusals import assert_refused
from timed_football import tiny
from two_players import random_policy

from solvent.cli.parameters import open_solution
from solvent.exact import (
    SolvedTable,
    StoreError,
    locate_gap,
    policy_value,
    save_policy,
    score,
    solve,
)
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import solve_layers
from solvent.explore import Explorer, Library, decision, drawn_grid, learning, make_app
from solvent.explore.decision import choice_in, expected, matrix, results
from solvent.explore.explorer import live_grid_page, render
from solvent.explore.learning import EPISODES, MOST_SWEEPS, Course, methods_for, settings_of
from solvent.explore.server import LARGEST_UPLOAD, LONGEST_ADDRESS, is_loopback, make_page_server
from solvent.explore.states import States
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.solution import TimedSolution
from solvent.model import TabularPolicy, ValueScale, check_game, make_game
from solvent.play.line import Line
from solvent.tabular import ALGORITHMS

# The pages without a browser: their numbers are the solver's, and strange input gets a message


@pytest.mark.parametrize(
    "name",
    [
        # "one shot" has two who act at once, too.
        *("greed", "greed without a table", "lake", "one shot", "gamebook"),
        pytest.param("football-strategy", marks=pytest.mark.slow),
    ],
)
def test_the_board_shows_the_solvers_numbers_which_are_means_over_results(name: str) -> None:
    """In states that random episodes begin with, come through and end in."""
    game, states = solved(name), States(solved(name))
    lines = [random_line(name, seed) for seed in range(3)]
    met = [(line, one) for line in lines for one in (line.start, line.state)]
    met += [(line, ply.state) for line in lines for ply in line.plies[1:3]]
    for state in [line.solved_state(state) for line, state in met]:
        # It is found by its address and by its fields.
        key, first = states.key(state), states.starts[0]
        assert states.at(key) == state
        written = {field: text for field, text, _ in states.fields(state)}
        if {field for field, *_ in states.fields(first)} == written.keys():
            assert states.with_fields(first, written) == state
        choice = choice_in(game, state)
        page = client(name).get("/board", query_string={"s": key}).text
        assert numbers(page, r'id="value">(.*?)</p>') == [choice.value]
        cells = re.findall(r'<a class="why"[^>]*><data value="([^"]+)"', page)
        assert list(map(float, cells)) == [
            one.value
            for own in (choice.actions, choice.replies)
            for one in sorted(own, key=lambda one: (one.cost, -one.chance, one.number))
        ]
        if choice.over:
            continue
        scale = ValueScale(game.game.info, choice.player)
        assert {one.number: one.value for one in choice.actions} == {
            action: scale.of(value)
            for action, value in game.action_values(state, choice.player).items()
        }
        if choice.replies:
            payoffs = np.array(matrix(game, choice))
            own, other = (
                np.array([one.chance for one in side]) for side in (choice.actions, choice.replies)
            )
            for found, values in (
                (payoffs @ other, choice.actions),
                (-own @ payoffs, choice.replies),
            ):
                np.testing.assert_allclose(found, [one.value for one in values], atol=1e-6)
            continue
        for one in choice.actions:
            found = results(game, state, Line(game, state).drawn({choice.player: one.number}, None))
            assert sum(result.probability for result in found) == pytest.approx(1, abs=1e-12)
            assert scale.of(expected(found)) == pytest.approx(one.value, abs=1e-9)


def test_fields_that_no_state_has_and_too_long_addresses_are_refused() -> None:
    for query, told in (
        # Player 0 stands at 0; so player 1 would be on turn.
        ("f3=last&f2=7", "no state that can be reached has"),
        (f"line={'1,' * LONGEST_ADDRESS}", "address"),
    ):
        answer = client("greed").get(f"/board?{query}")
        assert answer.status_code == 400
        assert told in answer.text


STRANGE = (
    "", " ", "-1", "−3", "99999999999999999999", "1e9", "nan", "inf", "None", "null", "true",
    "x" * 3000, "<script>alert(1)</script>", "{{7*7}}", "../../etc/passwd", "%00", "\x00", "½",
    "٣", "1,2,3", ",,", "[" * 2000, '["call",0,1,10,80,false,""]', '["call",5,9,-1,800,true,"zz"]',
    "0", "1", "'\"\\",
)  # fmt: skip

ASKED = {
    "/board": (
        *("s", "line", "at", "me", "do", "f0", "f1", "f2", "f3", "f4", "f6", "quiz", "queue"),
        *("answer", "panel", "new", "game"),
    ),
    "/board?panel=results": ("why", "reply"),
    "/board?panel=disagree": ("of",),
    "/board?panel=lock": ("lock", "to", "act"),
    "/learn": ("method", "frame", "seed", "alpha", "n", "o0", "o2"),
    "/nothing": ("x",),
}


@pytest.mark.parametrize(
    "name",
    [
        "greed",
        "greed without a table",
        "one shot",
        pytest.param("football-strategy", marks=pytest.mark.slow),
    ],
)
def test_strange_input_gets_a_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Explorer, "map_sections", lambda self, tell: ())
    monkeypatch.setattr(decision, "STEPS", 1)
    asked = client(name)
    refused = 0
    for page, names in ASKED.items():
        # On a game that has all the pages every text is tried on each third name; on others some.
        step = 3 if name == "greed" else 6
        if "disagree" in page and name == "football-strategy":
            continue  # Every value that is allowed would solve the game again.
        for n, (word, text) in enumerate(itertools.product(names, STRANGE)):
            if n % len(STRANGE) % step != n // len(STRANGE) % step:
                continue
            path, _, fixed = page.partition("?")
            given = dict([fixed.split("=")]) if fixed else {}
            answer = asked.get(path, query_string={word: text, **given}, follow_redirects=True)
            assert answer.status_code in (200, 400, 404), (page, word, text, answer.text[-3000:])
            assert "Traceback" not in answer.text
            assert "<script>alert" not in answer.text
            if answer.status_code != 200:
                refused += 1
                [message] = re.findall(
                    r'class="message" role="alert">(.*?)</p>', answer.text, re.DOTALL
                )
                assert 10 < len(html.unescape(message)) < 1000
    assert refused > 20


@pytest.mark.parametrize("player", [0, 1])
def test_a_policy_is_scored_exactly(tmp_path: Path, player: int) -> None:
    game = cast(SolvedTable, solved("greed"))
    policy = random_policy(game.table, player, 4)
    save_policy(tmp_path / "mine.npz", policy)
    own = Explorer(game)
    own.load(tmp_path / "mine.npz")
    page = client(own).get("/board?panel=agent").text
    exact, where = score(game.table, policy), locate_gap(game.table, policy)
    assert numbers(page, r"(<data id=.gap.*?</data>)") == [exact.optimality_gap]
    [differs] = numbers(page, r"(<data id=.differs.*?)</data>")
    assert differs == (where.loss > 1e-9).sum() > 0
    # As on the board, player B's values are B's own chances of winning.
    assert numbers(page, r"(its value.*?)</p>")[:2] == [
        one + player for one in (exact.value, exact.optimum)
    ]
    worst = [where.contribution[n] / where.contribution.sum() for n in where.ranked(8)]
    assert numbers(page, r'<table class="losing">(.*?)</table>') == pytest.approx(worst)
    assert "mine.npz" in page


def test_bad_files_are_refused_by_name(tmp_path: Path) -> None:
    own, file = Explorer(solved("greed")), tmp_path / "given.npz"
    save_policy(tmp_path / "other.npz", TabularPolicy.uniform(solved("lake").table))
    for data in (*CONTENTS.values(), (tmp_path / "other.npz").read_bytes()):
        file.write_bytes(data)
        with pytest.raises(StoreError, match=r"given\.npz"):
            own.load(file)
    assert own.loaded is None
    assert [client(own).post(path).status_code for path in ("/games", "/board")] == [400, 405]


def test_a_form_beyond_the_limits_is_refused() -> None:
    form = "multipart/form-data; boundary=x"
    # The second is larger than what Werkzeug by itself allows a field of a form.
    body = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + b"y" * 600_000
    length = {"CONTENT_LENGTH": str(LARGEST_UPLOAD + 1)}
    limit = "allowed is one file of up to 1 MB, and no other field"
    for given, status, told in (
        ({"content_type": form, "environ_overrides": length}, 413, limit),
        ({"content_type": form, "data": body + b"\r\n--x--\r\n"}, 400, "no file was chosen"),
        ({"data": {"file": (io.BytesIO(b""), "a"), "more": "1"}}, 413, limit),
    ):
        answer = client("greed").post("/games", **given)
        assert answer.status_code == status
        assert told in answer.text


# What a browser says of a link on another page that has been clicked.
LINKED = {
    "Host": "localhost",
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:8000"}, 200),
        ({"Host": "localhost:8000"}, 200),
        ({"Host": "[::1]:8000"}, 200),
        ({"Host": "192.168.1.7"}, 200),
        ({"Host": "lab:8000"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:8000"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost", "Origin": "http://localhost"}, 200),
        ({"Host": "localhost", "Origin": "http://evil.example"}, 403),
        ({"Host": "localhost:80", "Origin": "http://localhost:81"}, 403),
        ({"Host": "localhost", "Origin": "null"}, 403),
        ({"Host": "localhost", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Host": "localhost", "Sec-Fetch-Site": "none"}, 200),
        ({"Host": "localhost", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "localhost", "Sec-Fetch-Site": "cross-site"}, 403),
        ({**LINKED, "Sec-Fetch-Dest": "iframe"}, 403),
        ({**LINKED, "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({**LINKED, "Host": "evil.example"}, 403),
        ({**LINKED, "Origin": "null"}, 403),
    ],
)
def test_no_other_page_may_drive_this_one(headers: dict[str, str], status: int) -> None:
    app = make_app(Library.of(explorer("greed")), names=["lab"])
    assert app.test_client().get("/", headers=headers).status_code == status
    posted = app.test_client().post("/games", headers=headers)
    assert posted.status_code == (403 if status == 403 else 400)


def test_a_link_of_another_page_opens_nothing_before_somebody_here_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def touched(*arguments: Any) -> None:
        raise AssertionError("a link of another page has been answered")

    app = make_app(Library.of(explorer("greed")))
    asked = app.test_client()
    for method in ("opened", "explorer", "cards"):
        monkeypatch.setattr(Library, method, touched)
    for rule in app.url_map.iter_rules():
        if "GET" in (rule.methods or ()):
            answer = asked.get(rule.rule, headers=LINKED, query_string="game=pig&s=%220%22")
            assert answer.status_code == 200
            assert 'href="?game=pig&amp;s=%220%22"' in answer.text
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    monkeypatch.undo()
    assert asked.post("/games", headers=LINKED).status_code == 403
    assert asked.get("/nothing", headers=LINKED).status_code == 404


def test_pages_run_no_scripts_but_their_own() -> None:
    for page in ("/", "/?all=1", "/board?panel=maps", "/learn"):
        answer = client("greed").get(page)
        policy = answer.headers["Content-Security-Policy"]
        [nonce] = re.findall(r"script-src 'nonce-([^']+)'", policy)
        scripts = re.findall(r"<script([^>]*)>", answer.text)
        assert scripts
        assert {s.strip() for s in scripts} <= {f'nonce="{nonce}"', 'type="application/json"'}
        assert "default-src 'none'" in policy
        assert not re.search(r'(src|href)="(https?:)?//', answer.text)
        assert nonce not in client("greed").get(page).headers["Content-Security-Policy"]


def test_an_error_of_our_own_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Explorer, query: Any) -> None:
        raise KeyError("made up")

    monkeypatch.setattr(Explorer, "board", broken)
    answer = client("greed").get("/")
    assert (answer.status_code, "Traceback" in answer.text) == (500, False)
    assert "KeyError" in answer.text


def test_a_folder_of_a_solved_game_is_explored_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small half with a clock, solved layer by layer in a folder that keeps rounded values."""
    folder = tmp_path / "solved"
    timed = FootballLayers(tiny("second-half", half=60, stops=[30], timeouts=1))
    with LayerFolder.create(folder, timed, "compact") as store:
        solve_layers(timed, store)
        store.finish()
    read: set[Any] = set()
    unpack = LayerFolder._unpack
    monkeypatch.setattr(LayerFolder, "_unpack", lambda s, one: read.add(one) or unpack(s, one))
    game = cast(TimedSolution, open_solution(folder))
    own = Explorer(game, dice=random.Random(4))
    asked = client(own)
    assert asked.get("/").status_code == 200
    layers = len(game.layered.layers)
    assert len(read) < layers / 3
    # Some moves on: both sides' strategies and values.
    address = asked.get("/board?new=1").headers["Location"]
    for _ in range(6):
        line, text = line_at(own, address), asked.get(address).text
        choice = choice_in(game, line.state)
        shown = re.findall(r'<a class="why"[^>]*><data value="([^"]+)"', text)
        assert sorted(map(float, shown)) == sorted(
            one.value for one in (*choice.actions, *choice.replies)
        )
        if not line.over:
            [take, *_] = re.findall(r'class="take" href="([^"]*)"', text)
            address = asked.get(html.unescape(take)).headers["Location"]
    assert len(line.plies) >= 4
    assert line.totals[0] == game.value
    assert len(read) < layers


# The server: who can reach it, what it says of a port that is taken, and how it ends


# What a shell has started in the background ignores SIGINT, and so do its children.
INTERRUPTED = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("solvent", run_name="__main__", alter_sys=True)
"""


def test_nothing_but_the_loopback_address_is_listened_on_and_refusals_name_it() -> None:
    own = explorer("greed")
    server, address = make_page_server(own)
    with closing(server.socket):
        name, port = server.socket.getsockname()
        assert (name, address) == ("127.0.0.1", f"http://127.0.0.1:{port}/")
        with pytest.raises(ValueError, match=f"port {port}: .*another --port"):
            make_page_server(own, port=port)
    # An address for documentation, which no machine has, and what is none. No name server is asked.
    rows = ((host, "cannot listen on") for host in ("203.0.113.7", "x" * 300))
    assert_refused(rows, lambda host: make_page_server(own, host=host))
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.0.5", "lab.example")))


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for one process")
def test_the_command_serves_until_it_is_interrupted() -> None:
    words = ["explore", "greed", "--limit=8", "--sides=2"]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *words, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    line = process.stdout.readline()
    [address] = re.findall(r"greed at (http://127\.0\.0\.1:\d+/)", line)
    without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with without_proxy.open(address, timeout=120) as answer:
        assert b"Hide values" in answer.read()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest, errors) == (0, "", "")


# The page that shows the algorithms of solvent.tabular at work, beside the exact values


def shown(name: str, address: str) -> str:
    answer = client(name).get(f"/learn?{address}")
    assert answer.status_code == 200, answer.text
    return cast(str, answer.text)


def test_every_algorithm_that_fits_is_offered_and_no_other() -> None:
    of_two = {one.name for one in ALGORITHMS.values() if one.takes == "table for two"}
    bandits = {"simple_bandit", "ucb", "gradient_bandit"}
    for name, missing in (
        ("lake", of_two | bandits),
        ("greed", bandits),
        ("rock-paper-scissors", set()),
    ):
        offered = re.findall(r'<option value="([a-z]\w+)"', shown(name, ""))
        assert set(offered) == ALGORITHMS.keys() - missing


@pytest.mark.parametrize("name", ["lake", "greed", "rock-paper-scissors"])
def test_every_algorithm_runs_and_its_page_has_its_numbers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MOST_STEPS", 1_000)
    game = solved(name)
    for method, algorithm in methods_for(game.table).items():
        course = Course(game, method, 1)
        frame = course.frame(3)
        learning.course_of.cache_clear()
        page = shown(name, f"method={method}&seed=1&frame=3")
        title = re.sub(r"\s", " ", re.findall(r"<h1>(.*?)</h1>", page, re.DOTALL)[0])
        assert html.unescape(title) == algorithm.title
        assert float(re.findall(r'id="distance" value="([^"]*)"', page)[0]) == frame.distance
        for setting in settings_of(method):
            assert f'type="range" name="{setting}"' in page, method
        assert np.isfinite(frame.values[~game.table.terminal]).all(), method
        # Planning comes nearer with every sweep, and an exact policy has no gap.
        if algorithm.unit == "sweeps" and method != "policy_evaluation":
            assert frame.distance <= course.frames[0].distance + 1e-12, method


def test_settings_are_used_and_kept_in_the_links() -> None:
    page = shown("lake", "method=n_step_td&of=n_step_td&alpha=0.25&n=7&seed=3&frame=4")
    assert re.search(r'name="alpha"[^>]*value="0.25"', page)
    [following] = re.findall(r'id="next"[^>]*href="([^"]*)"', page)
    assert {"alpha=0.25", "n=7", "seed=3", "frame=5"} <= set(re.split("[?&;]|amp;", following))
    course = Course(solved("lake"), "n_step_td", 3, (("alpha", 0.25), ("n", 7)))
    assert f'id="distance" value="{course.frame(4).distance}"' in page
    # The settings of another algorithm, chosen before, are not asked of this one.
    assert re.search(
        r'name="alpha"[^>]*value="0.1"', shown("lake", "method=td_lambda&of=sarsa&alpha=0")
    )
    # A field with two values reads as yes and no.
    assert ">yes</option>" in shown("blackjack", "frame=1")
    for wrong in ("alpha=2", "alpha=x", "n=0", "n=1e3"):
        assert client("lake").get(f"/learn?method=n_step_td&{wrong}").status_code == 400


def test_prediction_is_measured_from_the_policy_that_it_evaluates() -> None:
    table, course = solved("lake").table, Course(solved("lake"), "td", 0)
    uniform = policy_value(table, TabularPolicy.uniform(table))
    for frame in (course.frame(3), course.frame(9)):
        errors = (frame.values - uniform)[~table.terminal]
        assert frame.distance == pytest.approx(np.sqrt((errors**2).mean()))
    assert course.frame(9).distance < course.frame(1).distance


@pytest.mark.parametrize("method", ["q_learning", "sarsa"])
@pytest.mark.parametrize("name", ["lake", "greed"])
def test_what_learns_is_valued_exactly_and_gets_nearer(
    name: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MOST_STEPS", 10_000)
    game = solved(name)
    course = Course(game, method, 1)
    last = course.frame(MOST_SWEEPS)
    gaps = [frame.distance for frame in course.frames]
    assert gaps == pytest.approx([game.value - frame.start for frame in course.frames], abs=1e-9)
    assert min(gaps) >= 0
    assert last.distance < 0.75 * gaps[0]
    assert [frame.count for frame in course.frames[:-1]] == list(EPISODES[: len(gaps) - 1])
    # How far it has come does not depend on who has looked.
    again = Course(game, method, 1)
    assert again.frame(2).distance == gaps[1]
    assert again.frame(MOST_SWEEPS).values.tolist() == last.values.tolist()
    assert again.ended.startswith("Nothing is shown after ")
    # Two players are left with one; nothing is lost by that.
    assert ("plays optimally" in course.note) == (name == "greed")


# The live gridworld without a browser: the file, the rules that it exports, and its sizes


def test_the_page_is_one_small_file() -> None:
    text = render(None, live_grid_page())
    assert len(text.encode()) < 100_000
    # No address but that of the icon, which is empty.
    assert set(re.findall(r"""(?:src|href)=["']?([^"'\s>]+)""", text)) <= {"data:,"}
    assert not re.search(r"https?://|@import|\bimport\(|fetch\(", text)
    assert 'nonce="abc"' in render(None, live_grid_page(), nonce="abc")


def test_the_rules_that_it_exports_are_a_game_and_work_in_the_command(tmp_path: Path) -> None:
    """The grid in the template is FrozenLake's."""
    check_game(drawn_grid.DrawnGrid())
    assert solve(drawn_grid.DrawnGrid()).value == pytest.approx(14 / 17, abs=1e-12)
    file = tmp_path / "my_grid.py"
    file.write_text(Path(drawn_grid.__file__).read_text().replace("DISCOUNT = 1", "DISCOUNT = 0.9"))
    game = make_game(str(file))
    assert float(game.info.discount) == 0.9
    assert solve(game).value == pytest.approx(0.0688909, abs=1e-6)
