"""The description of the package is the README, with links that work on a package index.

An index has no files beside the description. With the address of the project's files in
``pyproject.toml``, relative links lead there; without one they become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)]+)\)")
"""A relative link, or with an exclamation mark a picture."""


def description(readme: str, files: str) -> str:
    """The README as a package index shows it.

    Args:
        readme: Its Markdown.
        files: The address below which the project's files are, with a slash at its end; empty if
            there is none.
    """
    if files:
        return LINK.sub(rf"\1[\2]({files}\3)", readme)
    return LINK.sub(lambda link: "" if link[1] else link[2], readme)


class DescriptionHook(MetadataHookInterface):
    """Sets the project's ``readme``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set it.

        Args:
            metadata: The table ``project``.
        """
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = description(readme, self.config["files"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
