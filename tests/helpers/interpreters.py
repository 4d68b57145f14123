"""Code that runs in a Python of its own."""

import subprocess
import sys
from typing import Any


def fresh(code: str, **options: Any) -> str:
    """What another Python prints that runs a code; options are those of `subprocess.run`."""
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=600, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
