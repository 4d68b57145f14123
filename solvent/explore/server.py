"""The server: on the loopback address, unless another is asked for."""

from __future__ import annotations

import ipaddress
import socket
import webbrowser
from collections.abc import Callable
from threading import Thread

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from solvent.explore.app import make_app
from solvent.explore.explorer import Explorer
from solvent.model.parameters import shown

LOOPBACK = "127.0.0.1"


class _Quiet(WSGIRequestHandler):
    """Says nothing of each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


def make_page_server(
    explorer: Explorer, *, host: str = LOOPBACK, port: int = 0
) -> tuple[BaseWSGIServer, str]:
    """A server that is bound to its port, and the address under which it will serve.

    Args:
        explorer: The pages.
        host: The address that is listened on.
        port: Likewise; a free one if it is 0.

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
        app = make_app(explorer, names=() if _is_digits(host) else (host,))
        server = make_server(
            host, port, app, threaded=True, request_handler=_Quiet, fd=listening.fileno()
        )
    number = server.socket.getsockname()[1]
    local = LOOPBACK if host in ("0.0.0.0", "::", "") else host
    return server, f"http://{f'[{local}]' if ':' in local else local}:{number}/"


def serve(
    explorer: Explorer,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], object] = print,
) -> None:
    """Serve the pages until Ctrl-C.

    Args:
        explorer: The pages.
        host: The address that is listened on.
        port: Likewise; a free one if it is 0.
        browser: Whether the page is opened in a browser.
        tell: Is told the address, and what is to be known of it.

    Raises:
        ValueError: If the address cannot be listened on.
    """
    server, address = make_page_server(explorer, host=host, port=port)
    if not is_loopback(host):
        tell(
            f"Warning: {host} is not the loopback address. Everybody who can reach this machine "
            f"can use the page; nothing asks who they are."
        )
    tell(f"{explorer.name} at {address} (Ctrl-C ends it)")
    if browser:
        # Some browsers return only when they are closed.
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if _is_digits(host):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _is_digits(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
