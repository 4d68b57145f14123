"""One browser for all tests of pages in it."""

from collections.abc import Iterator
from typing import Any

import chromium
import pytest


@pytest.fixture(scope="package")
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
    chromium.errors_of(browser)
    yield browser
    assert chromium.errors_of(browser) == []
