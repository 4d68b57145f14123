r"""A Markdown extension: LaTeX as MathML, which browsers set by themselves.

``$V^\pi(s)$`` is a formula in a line, and a block between lines of ``$$`` is one of its own; GitHub
reads both alike. No script is loaded when the page is read.
"""

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.inlinepatterns import InlineProcessor

_INLINE = r"(?<![\\$\w])\$(?=[^\s$])((?:[^$\\]|\\.)+?)(?<=\S)\$(?![$\w])"
_BLOCK = re.compile(r"\A\$\$(.+)\$\$\s*\Z", re.DOTALL)


def _mathml(formula: str, display: str) -> str:
    """A formula as MathML.

    Raises:
        ValueError: If it has a command that is not known.
    """
    html = convert(formula, display=display)
    if "\\" in html:
        raise ValueError(f"the formula {formula!r} has a command that is not known")
    return html


class _Inline(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]  # noqa: N802
        return self.md.htmlStash.store(_mathml(m[1], "inline")), m.start(0), m.end(0)


class _Block(BlockProcessor):
    def test(self, parent: Any, block: str) -> bool:
        return _BLOCK.match(block) is not None

    def run(self, parent: Any, blocks: list[str]) -> None:
        formula = _BLOCK.match(blocks.pop(0))
        assert formula is not None
        mathml = _mathml(formula[1].strip(), "block")
        html = f'<div class="formula">{mathml}</div>'
        blocks.insert(0, self.parser.md.htmlStash.store(html))
        self.parser.parseBlocks(parent, [blocks.pop(0)])


class Formulas(Extension):
    """Sets what stands between dollars."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        # Before backslash escapes and emphasis, after code.
        md.inlinePatterns.register(_Inline(_INLINE, md), "formula", 185)
        md.parser.blockprocessors.register(_Block(md.parser), "formula", 95)


def makeExtension(**options: Any) -> Formulas:  # noqa: N802
    """Called by Markdown, by this name."""
    return Formulas(**options)
