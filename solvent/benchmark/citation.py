"""How to cite the package and a suite of its benchmark, as BibTeX.

The facts are those of ``CITATION.cff``, which an installed package does not have.
"""

from __future__ import annotations

from solvent.benchmark.records import SuiteRecord

TITLE = "Solvent: reinforcement-learning environments with known solutions"
AUTHORS = "The Solvent authors"


def bibtex(suite: SuiteRecord | None = None) -> str:
    """An entry for a bibliography, with the version of this package.

    Args:
        suite: The suite whose results are reported; its name and its hash are noted, by which
            others can tell whether they have the same tasks.
    """
    from solvent import __version__

    note = f"Version {__version__}"
    if suite is not None:
        note += f", suite {suite.name} {suite.hash[:16]}"
    return "\n".join(
        (
            "@software{solvent,",
            f"  title = {{{{{TITLE}}}}},",
            f"  author = {{{{{AUTHORS}}}}},",
            f"  version = {{{__version__}}},",
            f"  note = {{{note}}}",
            "}",
        )
    )
