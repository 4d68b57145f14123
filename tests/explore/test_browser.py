"""The explorer in a real browser: whole games played through the page, by mouse, keys and phone.

Nothing here hangs on time: after each click a condition on the next page is waited for, which says
how many choices have been made. The numbers of every page are compared with the solver's, which are
computed here from the game alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import chromium
import gymnasium as gym
import pytest
from chromium import errors_of, wait_until
from two_players import random_policy

from solvent import make_game
from solvent.exact import SolvedGame, SolvedTable, save_policy, score, solve, with_table
from solvent.explore import Explorer
from solvent.explore.episode import Episode, played
from solvent.explore.learning import MOST_SWEEPS, Course
from solvent.explore.pages import PAGES
from solvent.explore.server import make_page_server
from solvent.model.gymnasium_table import GymnasiumTable

pytestmark = [
    pytest.mark.browser,
    # Selenium's own affair.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PHONE = 390
"""Width of a phone in its own pixels."""


@cache
def solved(name: str) -> SolvedGame:
    if name == "lake":
        return solve(GymnasiumTable.from_env(gym.make("FrozenLake-v1")))
    if name != "greed":
        return solve(make_game(name))
    # As the explorer has it: the kernel's values differ from the table's by rounding.
    tabled = with_table(solve(make_game("greed", limit=20, sides=4)))
    assert tabled is not None
    return tabled


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    # Where there is none this fails: these tests run only where they are asked for.
    driver = chromium.start(profile=str(tmp_path_factory.mktemp("profile")))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """The browser with a desktop's window, from which no page has complained in the end."""
    chromium.desktop(browser)
    chromium.colours(browser, "light")
    errors_of(browser)
    yield browser
    assert errors_of(browser) == []


@contextmanager
def served(name: str) -> Iterator[str]:
    """The address of a server that lives as long as the context."""
    server, address = make_page_server(Explorer(solved(name)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield address.rstrip("/")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def css(driver: Any, selector: str) -> Any:
    return driver.find_element("css selector", selector)


def all_of(driver: Any, selector: str) -> list[Any]:
    found: list[Any] = driver.find_elements("css selector", selector)
    return found


def exact(driver: Any, selector: str) -> float:
    """The exact number that an element shows."""
    return float(css(driver, f"{selector} data, data{selector}").get_attribute("value"))


def focused(driver: Any) -> Any:
    """The value of the button that has the focus."""
    return driver.switch_to.active_element.get_attribute("value")


def moves_made(driver: Any) -> int:
    """How many choices the episode of the page has, which is ready; -1 while it is not."""
    # In one question, since the page may go while it is asked.
    caption = driver.execute_script(
        "const caption = document.querySelector('main > .caption');"
        "return document.readyState === 'complete' && caption ? caption.textContent : null;"
    )
    if caption is None:
        return -1
    found = re.search(r"choices ([\d,]+)", caption)
    return len(found[1].split(",")) if found else 0


def wait_for_moves(driver: Any, count: int) -> None:
    wait_until(driver, lambda d: moves_made(d) == count)


def asked(driver: Any) -> dict[str, str]:
    return {name: text[0] for name, text in parse_qs(urlsplit(driver.current_url).query).items()}


def compare(driver: Any, episode: Episode) -> None:
    """The numbers of the page with those of the solver."""
    assert exact(driver, "#odds") == episode.odds
    buttons = {
        int(button.get_attribute("value")): button for button in all_of(driver, ".choices button")
    }
    assert buttons.keys() == episode.choices.keys()
    if not episode.over:
        prices = episode.session.prices(episode.state, episode.choices)
        for action, button in buttons.items():
            shown = float(css(button, "data").get_attribute("value"))
            assert shown == prices[action][0]


def play_through(driver: Any, address: str, name: str, seed: int, pick: Any) -> Episode:
    """Play a whole episode by clicking, and compare every page with the solver."""
    driver.get(f"{address}/play?player=0&seed={seed}&hints=1")
    wait_for_moves(driver, 0)
    episode = played(solved(name), 0, seed, ())
    compare(driver, episode)
    while not episode.over:
        action = pick(episode)
        css(driver, f'.choices button[value="{action}"]').click()
        episode.play(action)
        wait_for_moves(driver, len(episode.moves))
        compare(driver, episode)
    mistakes = [float(one.get_attribute("value")) for one in all_of(driver, ".mistakes data")]
    assert mistakes == [one.decision.cost for one in episode.mistakes()]
    assert css(driver, "#summary").text == episode.summary()
    assert episode.record.result == episode.odds
    return episode


def second_best(episode: Episode) -> int:
    """A choice that costs something, but not much."""
    prices = episode.session.prices(episode.state, episode.choices)
    ranked = sorted(prices, key=lambda action: -prices[action][0])
    return ranked[min(1 + len(episode.moves) % 2, len(ranked) - 1)]


def test_a_whole_game_of_greed(page: Any) -> None:
    with served("greed") as address:
        episode = play_through(page, address, "greed", 11, second_best)
        assert len(episode.mistakes()) >= 1
        # What a mistake cost can be looked into.
        css(page, ".mistakes a").click()
        wait_until(page, lambda d: css(d, "#why"))
        mistake = episode.mistakes()[0].decision
        assert exact(page, "#value") == episode.session.value(mistake.state)
        names = {row.get_attribute("data-action"): row for row in all_of(page, ".actions tbody tr")}
        values = episode.session.solved.action_values(mistake.state, 0)
        assert {int(number) for number in names} == values.keys()
        for number, row in names.items():
            shown = float(css(row, "td data").get_attribute("value"))
            assert shown == values[int(number)]


def test_a_whole_drive_of_football(page: Any) -> None:
    with served("football-strategy") as address:
        episode = play_through(page, address, "football-strategy", 4, second_best)
        assert len(episode.moves) >= 3
        page.get(f"{address}/state")
        wait_until(page, lambda d: css(d, "svg.pitch"))
        assert exact(page, "#value") == solved("football-strategy").value
        state = solved("football-strategy").game.initial()[0].state
        for player, sheet in enumerate(all_of(page, "table.actions")):
            values = solved("football-strategy").action_values(state, player)
            shown = [
                float(css(row, "td data").get_attribute("value"))
                for row in all_of(sheet, "tbody tr")
            ]
            assert shown == [value if player == 0 else -value for value in values.values()]


def test_a_game_by_keys_alone(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    with served("greed") as address:
        page.get(f"{address}/state")
        wait_until(page, lambda d: css(d, "#why"))
        css(page, "body").send_keys("p")
        wait_until(page, lambda d: css(d, ".choices button"))
        seed = int(css(page, "input[name=seed]").get_attribute("value"))
        episode = played(solved("greed"), 0, seed, ())
        # The first choice has the focus, and Tab leads to the next ones.
        choices = list(episode.choices)
        for action in choices[:3]:
            wait_until(page, lambda d, a=action: focused(d) == str(a))
            page.switch_to.active_element.send_keys(Keys.TAB)
        wait_until(page, lambda d: focused(d) == str(choices[3]))
        outlined = page.switch_to.active_element.value_of_css_property("outline-style")
        assert outlined == "solid"
        page.switch_to.active_element.send_keys(Keys.ENTER)
        episode.play(choices[3])
        wait_for_moves(page, 1)
        while not episode.over:
            # Digits choose, in the order of the buttons.
            action = list(episode.choices)[1]
            css(page, "body").send_keys("2")
            episode.play(action)
            wait_for_moves(page, len(episode.moves))
        assert exact(page, "#odds") == episode.record.result
        css(page, "body").send_keys("?")
        wait_until(page, lambda d: css(d, ".keys[open] dl").is_displayed())


def test_a_state_is_set_by_its_fields(page: Any) -> None:
    from selenium.webdriver.support.ui import Select

    with served("greed") as address:
        page.get(f"{address}/state")
        wait_until(page, lambda d: css(d, "#why"))
        for field, text in (("f1", "9"), ("f2", "16")):
            Select(css(page, f"[name={field}]")).select_by_visible_text(text)
        css(page, ".fields button").click()
        wait_until(page, lambda d: "f1=9" in d.current_url and css(d, "#value"))
        state = solved("greed").game.initial()[0].state._replace(scores=(9, 16))
        assert exact(page, "#value") == solved("greed").value_of(state)
        # What no state has gets a message.
        for field in ("f1", "f2"):
            Select(css(page, f"[name={field}]")).select_by_visible_text("21")
        css(page, ".fields button").click()
        message = wait_until(page, lambda d: css(d, "p.message").text)
        assert "no state that can be reached" in message
        # The browser notes the status 400, which is meant.
        errors_of(page)


def test_strange_text_in_a_field_gets_a_message(browser: Any) -> None:
    with served("football-strategy") as address:
        browser.get(f"{address}/state")
        wait_until(browser, lambda d: css(d, ".fields button"))
        css(browser, "[name=f2]").clear()
        css(browser, "[name=f2]").send_keys("<b>nine</b>")
        css(browser, ".fields button").click()
        message = wait_until(browser, lambda d: css(d, "p.message").text)
        assert message == "down is '<b>nine</b>'; allowed are whole numbers"
        # The browser notes the status 400, which is meant.
        errors_of(browser)


def test_the_map_shows_the_value_of_the_cell_with_the_focus(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    with served("lake") as address:
        page.get(f"{address}/maps")
        told = wait_until(page, lambda d: css(d, ".state-map .pointed").text)
        assert "column 0" in told
        css(page, ".state-map svg.values").send_keys(Keys.ARROW_RIGHT)
        told = wait_until(
            page,
            lambda d: (
                "column 1" in css(d, ".state-map .pointed").text
                and css(d, ".state-map .pointed").text
            ),
        )
        game = solved("lake").game
        state = next(s for s in _states("lake") if game.coordinates(s) == {"row": 0, "column": 1})
        shown = float(re.search(r"value ([\d.]+);", told)[1])
        assert shown == pytest.approx(solved("lake").value_of(state), abs=1e-6)


@pytest.mark.parametrize("name", ["gridworld", "windy-gridworld", "dyna-maze"])
def test_no_arrow_of_a_map_points_off_the_board(page: Any, name: str) -> None:
    from selenium.webdriver.support.ui import Select

    with served(name) as address:
        page.get(f"{address}/maps")
        wait_until(page, lambda d: css(d, ".state-map .pointed").text)
        columns = css(page, ".state-map .across")
        assert Select(columns).first_selected_option.text == "column"
        drawn = """
            const at = (one) => [one.x + one.width / 2, one.y + one.height / 2];
            const svg = document.querySelector(".state-map svg.values");
            const board = svg.querySelector("rect").getBoundingClientRect();
            return [board.x, board.y, board.right, board.bottom,
                [...svg.querySelectorAll("text")].map((text) =>
                    [text.textContent, ...at(text.getBoundingClientRect())])];
        """
        left, top, right, bottom, texts = page.execute_script(drawn)
        wide = (right - left) / len({x for text, x, _ in texts if text in "←→↑↓"})
        steps = {"←": (-1, 0), "→": (1, 0), "↑": (0, -1), "↓": (0, 1)}
        arrows = [(*steps[text], x, y) for text, x, y in texts if text in steps]
        assert len(arrows) >= 11
        off = [
            (across, down, x, y)
            for across, down, x, y in arrows
            if not (left < x + across * wide < right and top < y + down * wide < bottom)
        ]
        # In the gridworld every move from the cells A and B jumps.
        assert len(off) == (2 if name == "gridworld" else 0)
        # With the fields exchanged a direction is not one of the picture.
        page.execute_script(
            "arguments[0].value = 0;"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}));",
            columns,
        )
        wait_until(page, lambda d: not {a[0] for a in d.execute_script(drawn)[4]} & set(steps))


def _states(name: str) -> list[Any]:
    game = solved(name)
    assert isinstance(game, SolvedTable)
    return list(game.table.states)


def test_a_policy_is_loaded_and_compared(page: Any, tmp_path: Path) -> None:
    game = solved("greed")
    assert isinstance(game, SolvedTable)
    policy = random_policy(game.table, 0, 3)
    save_policy(tmp_path / "mine.npz", policy)
    with served("greed") as address:
        page.get(f"{address}/policy")
        wait_until(page, lambda d: css(d, "input[type=file]")).send_keys(str(tmp_path / "mine.npz"))
        css(page, "main form button").click()
        wait_until(page, lambda d: css(d, "#gap"))
        assert exact(page, "#gap") == score(game.table, policy).optimality_gap
        # The map compares it, too.
        wait_until(page, lambda d: policy.name in css(d, ".state-map .agent").text)


def test_value_iteration_runs_to_its_end(page: Any) -> None:
    game = solved("greed")
    assert isinstance(game, SolvedTable)
    course = Course(game, "value-iteration", 0)
    course.frame(MOST_SWEEPS)
    with served("greed") as address:
        page.get(f"{address}/learn")
        wait_until(page, lambda d: css(d, "#next"))
        assert exact(page, "#distance") == course.frames[0].distance
        css(page, "body").send_keys("n")
        wait_until(page, lambda d: exact(d, "#distance") == course.frames[1].distance)
        css(page, "#run").click()
        wait_until(page, lambda d: "It has converged." in css(d, "#frame").text)
        assert exact(page, "#distance") == course.frames[-1].distance


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["greed", "football-strategy", "gamebook"])
def test_nothing_is_wider_than_a_phone(page: Any, name: str, scheme: str) -> None:
    chromium.phone(page, width=PHONE)
    chromium.colours(page, scheme)
    with served(name) as address:
        for kind, *_ in PAGES:
            page.get(f"{address}/{kind}")
            wait_until(page, lambda d: css(d, "footer"))
            wide = page.execute_script(
                "return [document.documentElement.scrollWidth, window.innerWidth]"
            )
            assert wide == [PHONE, PHONE], kind
            paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
            light = sum(map(int, re.findall(r"\d+", paper)[:3])) > 3 * 128
            assert light == (scheme == "light")
    # What needs a table is refused with status 400 where there is none, and the browser notes it.
    assert all("400 (BAD REQUEST)" in text for text in errors_of(page))


def test_a_page_of_links_may_lead_here_and_do_no_more(browser: Any, tmp_path: Path) -> None:
    with served("greed") as address:
        links = tmp_path / "lecture.html"
        links.write_text(
            f'<a id="link" href="{address}/state">Greed</a>'
            f'<form method="post" action="{address}/policy"><button>Send</button></form>'
            f'<iframe src="{address}/state"></iframe>'
        )
        browser.get(links.as_uri())
        browser.switch_to.frame(css(browser, "iframe"))
        assert not all_of(browser, "main")
        browser.switch_to.default_content()
        css(browser, "#link").click()
        assert wait_until(browser, lambda d: exact(d, "#value")) == solved("greed").value
        browser.get(links.as_uri())
        css(browser, "button").click()
        message = wait_until(browser, lambda d: css(d, "p.message").text)
        assert message == "another page may lead to this one, but not use it"
        errors_of(browser)
