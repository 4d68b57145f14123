"""Worker processes and their parent; this module imports nothing slow."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait


def live_with_parent() -> None:
    """Leave Ctrl-C to the parent of this process, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
