"""The explorer in a real browser: whole games on the board, by mouse, keys and phone.

Nothing here hangs on time: after each click a condition on the next page is waited for. That the
numbers of pages are the solver's is tested without a browser.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import chromium
import pytest
from chromium import errors_of, wait_until
from explored import served, solved

from solvent.explore import Explorer
from solvent.explore.decision import choice_in
from solvent.explore.panels import PANELS
from solvent.play.line import Line

pytestmark = [
    pytest.mark.browser,
    # Selenium's own affair.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

# Width of a phone in its own pixels.
PHONE = 400

GREED = "greed to 20"

CLICK = """
    arguments[0].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
"""


def css(driver: Any, selector: str) -> Any:
    return driver.find_element("css selector", selector)


def all_of(driver: Any, selector: str) -> list[Any]:
    found: list[Any] = driver.find_elements("css selector", selector)
    return found


def exact(driver: Any, selector: str) -> float:
    return float(css(driver, f"{selector} data, data{selector}").get_attribute("value"))


def asked(driver: Any) -> dict[str, str]:
    return {name: text[0] for name, text in parse_qs(urlsplit(driver.current_url).query).items()}


def line_of(driver: Any, name: str) -> Line:
    found = asked(driver)
    line = Explorer(solved(name)).line(found.get("s", ""), found.get("line", ""))
    return line.upto(int(found.get("at", len(line.plies))))


def click(driver: Any, selector: str) -> None:
    """Click, and wait until the address has changed and the page is that of the new one."""
    old = driver.current_url
    main = css(driver, "main")
    driver.execute_script(CLICK, css(driver, selector))
    wait_until(driver, lambda d: d.current_url != old and css(d, "main").id != main.id)
    wait_until(driver, lambda d: d.execute_script("return document.readyState") == "complete")


@pytest.mark.parametrize(("name", "me"), [(GREED, 0), ("tic-tac-toe", 1), ("lake", None)])
def test_a_whole_game_by_clicks_on_the_board(page: Any, name: str, me: int | None) -> None:
    with served(name) as address:
        page.get(f"{address}/board?new=1" + ("" if me is None else f"&me={me}"))
        wait_until(page, lambda d: css(d, "#value"))
        line = line_of(page, name)
        while not line.over and len(line.plies) < 120:
            click(page, ".picture a.act")
            line = line_of(page, name)
        assert line.over or name == "lake"
        if not line.over:
            return
        account = line.account(me or 0)
        assert not account.decisions or exact(page, "#accuracy") == account.accuracy
        # A click on the curve goes back.
        click(page, ".curve a")
        assert asked(page)["at"] == "0"
        assert exact(page, "#value") == solved(name).value


def test_a_drill_by_keys_alone(page: Any) -> None:
    with served(GREED) as address:
        page.get(f"{address}/board")
        wait_until(page, lambda d: css(d, "#value"))
        css(page, "body").send_keys("d")
        wait_until(page, lambda d: "quiz=drill" in d.current_url and css(d, ".quiz"))
        first, *others = choice_in(solved(GREED), line_of(page, GREED).state).actions
        assert max(one.cost for one in (first, *others)) > 0
        css(page, "body").send_keys("1")
        verdict = wait_until(page, lambda d: css(d, ".verdict").text)
        assert verdict.startswith("Stand loses" if first.cost else "Right")
        css(page, "body").send_keys("?")
        wait_until(page, lambda d: css(d, ".keys[open] dl").is_displayed())
        page.get(f"{address}/learn?frame=2")
        css(page, "body").send_keys("p")
        wait_until(page, lambda d: asked(d)["frame"] == "1" and css(d, "#frame"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [GREED, "goofspiel", "football-strategy", "gamebook"])
def test_nothing_is_wider_than_a_phone(page: Any, name: str, scheme: str) -> None:
    chromium.phone(page, width=PHONE)
    chromium.colours(page, scheme)
    heavy = ("disagree", "lock", "maps") if name == "football-strategy" else ()
    with served(name) as address:
        for panel in ("", *(one for one in PANELS if one not in heavy)):
            page.get(f"{address}/board?panel={panel}")
            wait_until(page, lambda d: css(d, "footer") and not all_of(d, "[data-poll]"))
            wide = page.execute_script(
                "return [document.documentElement.scrollWidth, window.innerWidth]"
            )
            assert wide == [PHONE, PHONE], panel
            paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
            light = sum(map(int, re.findall(r"\d+", paper)[:3])) > 3 * 128
            assert light == (scheme == "light")
    # What needs a table is refused with status 400 where there is none, and the browser notes it.
    assert all("400 (BAD REQUEST)" in text for text in errors_of(page))


def test_a_page_of_links_may_lead_here_and_do_no_more(browser: Any, tmp_path: Path) -> None:
    with served(GREED) as address:
        links = tmp_path / "lecture.html"
        links.write_text(
            f'<a id="link" href="{address}/board">Greed</a>'
            f'<form method="post" action="{address}/games"><button>Send</button></form>'
            f'<iframe src="{address}/board"></iframe>'
        )
        browser.get(links.as_uri())
        browser.switch_to.frame(css(browser, "iframe"))
        assert not all_of(browser, "main")
        browser.switch_to.default_content()
        css(browser, "#link").click()
        assert "leads here" in wait_until(browser, lambda d: css(d, "p.message").text)
        css(browser, "main a.button").click()
        assert wait_until(browser, lambda d: exact(d, "#value")) == solved(GREED).value
        browser.get(links.as_uri())
        css(browser, "button").click()
        message = wait_until(browser, lambda d: css(d, "p.message").text)
        assert message == "another page may lead to this one, but not use it"
        errors_of(browser)
