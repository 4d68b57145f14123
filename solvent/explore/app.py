"""The pages as a web application that only its own pages may drive.

Whoever sits at this computer opens other pages, too, and those must not drive this one. A request
is refused if the name it was sent to is not this machine's: a foreign name may be made to lead
here (DNS rebinding), an address in digits may not. Of what the browser says that another page has
made (``Sec-Fetch-Site``, ``Origin``) only a link is followed: a GET that opens a page in a window
of its own. It can change nothing, the other page can neither read nor hold what it opens
(``Cross-Origin-Opener-Policy``), and it costs the time of one page. Pages allow no scripts but
their own (``Content-Security-Policy``).
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable, Collection
from contextlib import closing
from functools import partial
from threading import Lock
from urllib.parse import urlsplit

from flask import Flask, Response, abort, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from solvent.explore.explorer import Explorer, Page, Query
from solvent.explore.export import map_page, replay_page
from solvent.explore.pages import PAGES, message_page, render
from solvent.model.parameters import brief, shown

LARGEST_UPLOAD = 64 * 2**20
"""Bytes of a policy's file."""

LONGEST_ADDRESS = 40_000
"""Characters of what an address says."""

FETCHED_BY_ITSELF = ("same-origin", "none")
"""What a browser says of a request by this page, or by the person in the address bar."""

LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
"""What it says of a link that has been followed, into a window and not into a frame."""

DEFECT = "This page has met an error of its own, which should not happen. Please report it: {}"


def make_app(explorer: Explorer, *, names: Collection[str] = ()) -> Flask:
    """The application.

    Args:
        explorer: The pages.
        names: Under which this machine may be reached, besides ``localhost`` and addresses in
            digits.
    """
    app = Flask("solvent.explore", static_folder=None, template_folder=None)
    # The form of a policy is one file, so no limit but these can be met.
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = LARGEST_UPLOAD
    app.config["MAX_FORM_PARTS"] = 1
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

    def page(make: Callable[[Query], Page]) -> Response:
        with lock:
            return shown_page(make(request.args.to_dict()))

    def file(name: str, make: Callable[[Explorer, Query], str]) -> Response:
        with lock:
            answer = Response(make(explorer, request.args.to_dict()), mimetype="text/html")
        answer.headers["Content-Disposition"] = f"attachment; filename={name}"
        return answer

    @app.before_request
    def refuse_others() -> None:
        if not _is_here(request.host, own):
            abort(
                403,
                f"this page is not {shown(request.host)}; it is reached as localhost, or by its "
                f"address in digits",
            )
        origin = request.headers.get("Origin")
        sent_by = request.headers.get("Sec-Fetch-Site", "none")
        foreign = origin is not None and urlsplit(origin).netloc != request.host
        if foreign or (sent_by not in FETCHED_BY_ITSELF and not _is_link()):
            abort(403, "another page may lead to this one, but not use it")
        if (long := len(request.query_string)) > LONGEST_ADDRESS:
            abort(
                400, f"the address has {long:,} characters; allowed are up to {LONGEST_ADDRESS:,}"
            )

    @app.after_request
    def guarded(answer: Response) -> Response:
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "same-origin"
        answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        answer.headers["Cache-Control"] = "no-store"
        return answer

    for word, *_ in PAGES:
        app.add_url_rule(f"/{word}", word, partial(page, getattr(explorer, word)))
    app.add_url_rule("/", "start", partial(page, explorer.state))
    for name, make in (("map.html", map_page), ("replay.html", replay_page)):
        app.add_url_rule(f"/{name}", name, partial(file, name, make))

    @app.post("/policy")
    def load_policy() -> AnyResponse:
        given = request.files.get("file")
        if given is None or not given.filename:
            raise ValueError("no file was chosen")
        with lock, closing(given):
            explorer.load(given.read(), given.filename)
        return redirect("/policy", 303)

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Response:
        status = error.code or 500
        message = error.description or error.name
        if status == 404:
            listed = ", ".join(f"/{word}" for word, *_ in PAGES)
            message = f"the pages are {listed}; there is no {shown(request.path)}"
        if status == 405:
            message = "this page cannot be asked that way"
        if status == 413:
            message = "the form has more than one field; allowed is the file alone"
            if (size := request.content_length or 0) > LARGEST_UPLOAD:
                message = (
                    f"the file has {size:,} bytes; allowed are up to {LARGEST_UPLOAD:,} "
                    f"({LARGEST_UPLOAD // 2**20} MB)"
                )
        return shown_page(message_page(message, status))

    @app.errorhandler(ValueError)
    @app.errorhandler(ArithmeticError)
    @app.errorhandler(OSError)
    def impossible(error: Exception) -> Response:
        return shown_page(message_page(str(error) or type(error).__name__, 400))

    @app.errorhandler(Exception)
    def defect(error: Exception) -> Response:
        told = f"{type(error).__name__}: {brief(str(error))}"
        app.logger.error("%s", told, exc_info=error)
        return shown_page(message_page(DEFECT.format(told), 500))

    return app


def _is_link() -> bool:
    """Whether the request opens a page in a window, and can do no more."""
    said = {name: request.headers.get(name) for name in LINK}
    return request.method in ("GET", "HEAD") and said == LINK


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
