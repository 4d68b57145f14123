"""The pages as a web application that only its own pages may drive.

Whoever sits at this computer opens other pages, too, and those must not reach this one. A request
is refused if the name it was sent to is not this machine's: a foreign name may be made to lead
here (DNS rebinding), an address in digits may not. It is refused as well if the browser says that
another page has made it (``Sec-Fetch-Site``, ``Origin``). Pages allow no scripts but their own
(``Content-Security-Policy``).
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable, Collection
from threading import Lock
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Response as AnyResponse

from solvent.explore.explorer import Explorer, Page, Query
from solvent.explore.export import map_page, replay_page
from solvent.explore.pages import message_page, render
from solvent.model.parameters import brief, shown

LARGEST_UPLOAD = 64 * 2**20
"""Bytes of a policy's file."""

LONGEST_ADDRESS = 40_000
"""Characters of what an address says."""

FETCHED_BY_ITSELF = ("same-origin", "none")
"""What a browser says of a request by this page, or by the person in the address bar."""

DEFECT = "This page has met an error of its own, which should not happen. Please report it: {}"


def make_app(explorer: Explorer, *, names: Collection[str] = ()) -> Flask:
    """The application.

    Args:
        explorer: The pages.
        names: Under which this machine may be reached, besides ``localhost`` and addresses in
            digits.
    """
    app = Flask("solvent.explore", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_UPLOAD
    own = {"localhost", *(name.lower() for name in names)}
    # What has been computed is kept without locks of its own.
    lock = Lock()

    def shown_page(page: Page) -> Response:
        nonce = secrets.token_urlsafe(16)
        answer = Response(render(explorer, page, nonce=nonce), page.status, mimetype="text/html")
        answer.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
            "img-src data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        return answer

    def page_of(make: Callable[[Query], Page]) -> Response:
        with lock:
            try:
                return shown_page(make(request.args.to_dict()))
            except (ValueError, ArithmeticError, OSError) as error:
                return shown_page(message_page(str(error) or type(error).__name__, 400))

    def saved(name: str, make: Callable[[Explorer, Query], str]) -> Response:
        with lock:
            try:
                text = make(explorer, request.args.to_dict())
            except (ValueError, ArithmeticError, OSError) as error:
                return shown_page(message_page(str(error) or type(error).__name__, 400))
        answer = Response(text, mimetype="text/html")
        answer.headers["Content-Disposition"] = f"attachment; filename={name}"
        return answer

    @app.before_request
    def refuse_others() -> Response | None:
        if not _is_here(request.host, own):
            return shown_page(
                message_page(
                    f"this page is not {shown(request.host)}; it is reached as localhost, or by "
                    f"its address in digits",
                    403,
                )
            )
        origin = request.headers.get("Origin")
        sent_by = request.headers.get("Sec-Fetch-Site", "none")
        if sent_by not in FETCHED_BY_ITSELF or (
            origin is not None and urlsplit(origin).netloc != request.host
        ):
            return shown_page(message_page("another page may not use this one", 403))
        if len(request.query_string) > LONGEST_ADDRESS:
            return shown_page(message_page("the address is too long", 400))
        return None

    @app.after_request
    def guarded(answer: Response) -> Response:
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "same-origin"
        answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @app.get("/")
    @app.get("/state")
    def state() -> Response:
        return page_of(explorer.state)

    @app.get("/play")
    def play() -> AnyResponse:
        # Each choice is an address of its own, which can be shown again and gone back to.
        return page_of(explorer.play)

    @app.get("/maps")
    def maps() -> Response:
        return page_of(explorer.maps)

    @app.get("/policy")
    def policy() -> Response:
        return page_of(explorer.policy)

    @app.post("/policy")
    def load_policy() -> AnyResponse:
        file = request.files.get("file")
        if file is None or not file.filename:
            return shown_page(message_page("no file was chosen", 400))
        with lock:
            try:
                explorer.load(file.read(), file.filename)
            except (ValueError, ArithmeticError, OSError) as error:
                return shown_page(message_page(str(error), 400))
        return redirect("/policy", 303)

    @app.get("/learn")
    def learn() -> Response:
        return page_of(explorer.learn)

    @app.get("/map.html")
    def map_file() -> Response:
        return saved("map.html", map_page)

    @app.get("/replay.html")
    def replay_file() -> Response:
        return saved("replay.html", replay_page)

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Response:
        status = error.code or 500
        message = {
            404: f"the pages are {', '.join(_pages())}; there is no {shown(request.path)}",
            405: "this page cannot be asked that way",
        }.get(status, error.description or error.name)
        if isinstance(error, RequestEntityTooLarge):
            message = f"the file is larger than {LARGEST_UPLOAD // 2**20} MB"
        return shown_page(message_page(message, status))

    @app.errorhandler(Exception)
    def defect(error: Exception) -> Response:
        told = f"{type(error).__name__}: {brief(str(error))}"
        app.logger.error("%s", told, exc_info=error)
        return shown_page(message_page(DEFECT.format(told), 500))

    return app


def _pages() -> list[str]:
    return ["/state", "/play", "/maps", "/policy", "/learn"]


def _is_here(host: str, names: Collection[str]) -> bool:
    """Whether the name that a request was sent to is one of this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        ipaddress.ip_address(name)
    except ValueError:
        return bool(host) and name_of(host).lower() in names
    return True


def name_of(host: str) -> str:
    """A host without its port."""
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
