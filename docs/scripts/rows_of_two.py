"""The layout of the documentation's figures: charts in rows of two."""

from collections.abc import Sequence

from solvent.report.panel import alone


def side_by_side(title: str, parts: Sequence[str], width: int, height: int) -> str:
    """Parts in rows of two, as an SVG that needs nothing else."""
    rows = -(-len(parts) // 2)
    groups = "".join(
        f'<g transform="translate({n % 2 * width} {n // 2 * height})">{part}</g>'
        for n, part in enumerate(parts)
    )
    return alone(groups, 2 * width, rows * height, title=title)
