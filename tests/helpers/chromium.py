"""A real browser for tests of pages: Debian's Chromium, driven through Selenium."""

import shutil
from collections.abc import Callable
from typing import Any

# Seconds that a page may take on a machine that is busy with other things.
PATIENCE = 120.0

MISSING = (
    "NO BROWSER, SO NOTHING IS TESTED IN ONE. Install Chromium with its driver "
    "(Debian and Ubuntu: apt-get install chromium chromium-driver) and `pip install selenium`."
)


def start(*, profile: str, width: int = 1280, height: int = 900) -> Any:
    """A browser without a window.

    Args:
        profile: A folder for what it writes.
        width: Of its window.
        height: Likewise.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found = [*map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))]
    browser, driver = next(filter(None, found), None), shutil.which("chromedriver")
    assert browser, MISSING
    assert driver, MISSING
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--no-proxy-server",
        f"--user-data-dir={profile}",
        f"--window-size={width},{height}",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    opened.set_page_load_timeout(PATIENCE)
    opened.set_script_timeout(PATIENCE)
    return opened


def phone(driver: Any, *, width: int = 390, height: int = 844) -> None:
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True},
    )


def desktop(driver: Any) -> None:
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def colours(driver: Any, scheme: str) -> None:
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )


def wait_until(driver: Any, condition: Callable[[Any], Any]) -> Any:
    """Wait for what a condition gives; elements that are replaced meanwhile are asked again."""
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
    from selenium.webdriver.support.ui import WebDriverWait

    ignored = (NoSuchElementException, StaleElementReferenceException)
    return WebDriverWait(driver, PATIENCE, ignored_exceptions=ignored).until(condition)


def errors_of(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
