"""The pages as a web application that only its own pages may drive, and its server.

The server listens on the loopback address, unless another is asked for.

The same browser opens other pages, too, which must not control this one. A request is refused if
its host name is not one of this machine: a foreign name may resolve to this machine (DNS
rebinding), but an address in digits cannot. A request from another page
(``Sec-Fetch-Site``, ``Origin``) is refused unless it is a link, that is, a GET that opens a window.
The answer to a link is a page that asks whether to continue, so nothing is solved, computed or
stored before the person has agreed. The other page can neither read nor control the window that it
opens (``Cross-Origin-Opener-Policy``). Pages allow only their own scripts
(``Content-Security-Policy``).

**The library** (:class:`Library`) has all games in one explorer. Each is solved when it is opened,
with progress.
"""

import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock, Thread
from typing import Any, Self
from urllib.parse import urlsplit

import gymnasium as gym
from flask import Flask, Response, abort, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Response as AnyResponse

from solvent.exact import solve
from solvent.explore.explorer import PAGES, Explorer, WebPage, live_grid_page, message_page, render
from solvent.explore.panels import drawn
from solvent.explore.subject import Jobs
from solvent.model import Game
from solvent.model.game import words
from solvent.model.gymnasium_table import DOCUMENTED
from solvent.model.parameters import brief, shown
from solvent.model.progress import OnProgress
from solvent.model.registry import find_spec, game_specs, make_game
from solvent.model.scene import Prose, Scene

# Parts of a scene that are shown in the gallery.
_MOST_PARTS = 3


@dataclass
class Library:
    """The games of an explorer.

    Args:
        explorers: The games that are open, by name.
        default: The game of an address without a name; empty if there is none.
        jobs: Games that are being solved, and other work.
    """

    explorers: dict[str, Explorer] = field(default_factory=dict)
    default: str = ""
    jobs: Jobs = field(default_factory=Jobs)

    @classmethod
    def of(cls, explorer: Explorer) -> Self:
        """Return the library in which one game is open."""
        return cls({explorer.name: explorer}, explorer.name)

    @cached_property
    def games(self) -> Mapping[str, Game]:
        """The games that can be opened, by name: those that need no parameter."""
        published = (
            name
            for name, spec in gym.registry.items()
            if spec.entry_point in DOCUMENTED and spec.kwargs.get("map_name") != "8x8"
        )
        found: dict[str, Game] = {}
        for name in (*published, *game_specs()):
            with suppress(Exception):  # A game may need a parameter; another package's may raise.
                found[name] = make_game(name)
        return found

    def explorer(self, name: str) -> Explorer | None:
        """Return the explorer of a game; None if it is not open.

        Args:
            name: The name of the game; the default one if empty.
        """
        return self.explorers.get(name or self.default)

    def opened(self, name: str) -> Explorer | WebPage:
        """Return the explorer of a game, or the page that waits for it.

        Args:
            name: The name of the game; the default one if empty.

        Raises:
            ValueError: If there is no such game, it cannot be solved, or too many computations are
                running.
        """
        found = self.explorer(name)
        if found is not None:
            return found
        if name not in self.games:
            raise ValueError(f"there is no game {shown(name)} in the gallery")
        job = self.jobs.of(name, lambda tell: self._ready(name, tell))
        if not job.done():
            values = {"job": job, "picture": drawn(self._scene(name))}
            return WebPage("opening.html.j2", f"Solving {name}", values)
        return self.explorers.setdefault(name, job.found())

    def _ready(self, name: str, tell: OnProgress) -> Explorer:
        """Solve a game, and prepare its first page."""
        explorer = Explorer(solve(name, progress=tell), key=name, jobs=self.jobs)
        explorer.board({})
        return explorer

    @cached_property
    def cards(self) -> list[dict[str, str]]:
        """The games with the ``picture`` of their start and the first ``line`` of their rules."""
        found = []
        for name in self.games:
            spec = game_specs().get(name)
            rules = " ".join(spec.rules.split()) if spec else find_spec(name).make.__doc__ or ""
            scene = self._scene(name)
            shown_parts = tuple(one for one in scene if not isinstance(one, Prose))[:_MOST_PARTS]
            line = rules.partition(". ")[0].rstrip(".") + "."
            found.append({"name": name, "picture": drawn(shown_parts), "line": line})
        return found

    def _scene(self, name: str) -> Scene:
        game: Any = self.games[name]
        start = max(game.initial(), key=lambda one: one.probability).state
        return words(game).scene(start)


LARGEST_UPLOAD = 2**20
"""Bytes of a file of games."""

LONGEST_ADDRESS = 40_000
"""Characters of what an address says."""

# The browser's header for a request by this page, or by the person in the address bar.
_FETCHED_BY_ITSELF = ("same-origin", "none")

LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
"""The browser's headers for a followed link, into a window and not into a frame."""

LOOPBACK = "127.0.0.1"

# Headers of every answer.
_GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

DEFECT = "This page has met an error of its own, which should not happen. Please report it: {}"


def make_app(library: Library, *, names: Collection[str] = ()) -> Flask:
    """Return the web application.

    Args:
        library: The games.
        names: Host names of this machine that are allowed, besides ``localhost`` and addresses in
            digits.
    """
    app = Flask("solvent.explore", static_folder=None, template_folder=None)
    # The form of a file is one part, so no limit but these can be met.
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = LARGEST_UPLOAD
    app.config["MAX_FORM_PARTS"] = 1
    own = {"localhost", *(name.lower() for name in names)}
    # Explorers keep their results without locks of their own.
    lock = Lock()

    def shown_page(page: WebPage, explorer: Explorer | None = None, game: str = "") -> AnyResponse:
        if page.address:
            return redirect(page.address, 303)
        nonce = secrets.token_urlsafe(16)
        text = render(explorer, page, game=game, nonce=nonce)
        answer = Response(text, page.status, mimetype="text/html")
        answer.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
            "img-src data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        return answer

    def page(word: str) -> AnyResponse:
        query = request.args.to_dict()
        name = query.get("game", "")
        with lock:
            found = library.opened(name)
            if isinstance(found, WebPage):
                return shown_page(found)
            return shown_page(getattr(found, word)(query), found, name)

    @app.post("/games")
    def games() -> AnyResponse:
        given, name = request.files.get("file"), request.args.get("game", "")
        if given is None or not given.filename:
            raise ValueError("no file was chosen")
        with lock, closing(given):
            found = library.explorer(name)
            if found is None:
                raise ValueError("this game is not open; open it in the gallery first")
            return shown_page(found.grade(given.read()), found, name)

    @app.get("/live-grid")
    def live_grid() -> AnyResponse:
        return shown_page(live_grid_page())

    @app.before_request
    def from_here() -> AnyResponse | None:
        _refuse_others(own)
        if _is_by_itself() or request.routing_exception is not None:
            return None
        address = f"?{request.query_string.decode(errors='replace')}"
        return shown_page(
            message_page(
                "A link on another page leads here. Go on only if you trust that page.",
                200,
                address,
            )
        )

    @app.after_request
    def guarded(answer: Response) -> Response:
        answer.headers.update(_GUARDS)
        return answer

    for word, *_ in PAGES:
        app.add_url_rule(f"/{word}", word, partial(page, word))

    @app.get("/")
    def start() -> AnyResponse:
        if library.default and "all" not in request.args:
            return page("board")
        with lock:
            cards = {"games": library.cards}
            return shown_page(WebPage("gallery.html.j2", "All games", cards))

    @app.errorhandler(Exception)
    def failed(error: Exception) -> AnyResponse:
        found = _error_page(error)
        if found.status == 500:
            app.logger.error("%s", error, exc_info=error)
        name = request.args.get("game", "")
        return shown_page(found, library.explorer(name), name)

    return app


def _refuse_others(own: Collection[str]) -> None:
    """Refuse a request that is sent by another page, or to a name that is not this machine's."""
    if not _is_here(request.host, own):
        abort(
            403,
            f"this page is not {shown(request.host)}; it is reached as localhost, or by its "
            f"address in digits",
        )
    origin = request.headers.get("Origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.host
    if foreign or not (_is_by_itself() or _is_link()):
        abort(403, "another page may lead to this one, but not use it")
    if (long := len(request.query_string)) > LONGEST_ADDRESS:
        abort(400, f"the address has {long:,} characters; allowed are up to {LONGEST_ADDRESS:,}")


def _error_page(error: Exception) -> WebPage:
    """Return the page about an error in the request or in this program."""
    if isinstance(error, HTTPException):
        status = error.code or 500
        listed = ", ".join(f"/{word}" for word, *_ in PAGES)
        messages = {
            404: f"the pages are {listed}; there is no {shown(request.path)}",
            405: "this address does not take such a request",
            413: f"allowed is one file of up to {LARGEST_UPLOAD // 2**20} MB, and no other field",
        }
        return message_page(messages.get(status, error.description or error.name), status)
    if isinstance(error, (ValueError, ArithmeticError, OSError)):
        return message_page(str(error) or type(error).__name__, 400)
    return message_page(DEFECT.format(f"{type(error).__name__}: {brief(str(error))}"), 500)


def _is_by_itself() -> bool:
    """Return whether no other page has made the request."""
    return request.headers.get("Sec-Fetch-Site", "none") in _FETCHED_BY_ITSELF


def _is_link() -> bool:
    """Return whether the request opens a page in a window, and can do no more."""
    said = {name: request.headers.get(name) for name in LINK}
    return request.method in ("GET", "HEAD") and said == LINK


def _is_here(host: str, names: Collection[str]) -> bool:
    """Return whether the host name of a request is one of this machine."""
    name, _, port = host.rpartition(":")
    name = name if port.isdecimal() else host
    return _is_digits(name.removeprefix("[").removesuffix("]")) or name.lower() in names


class _Quiet(WSGIRequestHandler):
    """A request handler that logs no requests."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


def make_page_server(
    games: Library | Explorer, *, host: str = LOOPBACK, port: int = 0
) -> tuple[BaseWSGIServer, str]:
    """Bind a server to its port, and return it with the address under which it will serve.

    Args:
        games: The games, or the pages of one.
        host: The address to listen on.
        port: The port to listen on; a free one if it is 0.

    Raises:
        ValueError: If the address cannot be listened on, as when another program has the port.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        hint = "; another --port, or none, takes another one" if port else ""
        raise ValueError(f"cannot listen on {shown(host)}, port {port}: {cause}{hint}") from error
    with listening:
        library = games if isinstance(games, Library) else Library.of(games)
        app = make_app(library, names=() if _is_digits(host) else (host,))
        server = make_server(
            host, port, app, threaded=True, request_handler=_Quiet, fd=listening.fileno()
        )
    number = server.socket.getsockname()[1]
    local = LOOPBACK if host in ("0.0.0.0", "::", "") else host
    return server, f"http://{f'[{local}]' if ':' in local else local}:{number}/"


def serve(
    games: Library | Explorer,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], object] = print,
) -> None:
    """Serve the pages until Ctrl-C.

    Args:
        games: The games, or the pages of one.
        host: The address to listen on.
        port: The port to listen on; a free one if it is 0.
        browser: Whether to open the page in a browser.
        tell: The function that is given the address, and remarks on it.

    Raises:
        ValueError: If the address cannot be listened on.
    """
    server, address = make_page_server(games, host=host, port=port)
    if not is_loopback(host):
        tell(
            f"Warning: {host} is not the loopback address. Everybody who can reach this machine "
            f"can use the page; nothing asks who they are."
        )
    name = games.name if isinstance(games, Explorer) else games.default or "All games"
    tell(f"{name} at {address} (Ctrl-C ends it)")
    if browser:
        # Some browsers return only when they are closed.
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    server.serve_forever()  # It closes itself, and says nothing of Ctrl-C.


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    return host == "localhost" or (_is_digits(host) and ipaddress.ip_address(host).is_loopback)


def _is_digits(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
