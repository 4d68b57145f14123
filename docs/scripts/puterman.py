"""The figures of the page on Puterman's problems, into ``docs/textbook/``.

    python docs/scripts/puterman.py

writes ``puterman-inventory.svg`` and ``puterman-replacement.svg``.
"""

from pathlib import Path
from typing import Any

from solvent import compile_game, solve
from solvent.games import EquipmentReplacement, Inventory
from solvent.games.equipment_replacement import REPLACE

FOLDER = Path(__file__).parents[1] / "textbook"

SHOP = Inventory(horizon=12, capacity=14, demand=(1, 2, 3, 3, 2, 1), price=12, fixed_cost=8)
MACHINE = EquipmentReplacement()

CELL, LEFT, TOP = 20, 64, 34
SHADES = ("#f3f6f7", "#08519c")


def decisions(game: Any) -> dict[tuple[int, int], int]:
    """The optimal action by the periods left and the stock or the wear."""
    table = compile_game(game)
    chances = solve(table).policies[0].probabilities
    return {
        tuple(state): int(chances[i].argmax())
        for i, state in enumerate(table.states)
        if not table.terminal[i]
    }


def shade(share: float) -> str:
    """A colour between the two."""
    light, dark = ([int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in SHADES)
    mixed = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{c:02x}" for c in mixed)


def chart(title: str, across: str, actions: dict[tuple[int, int], int], texts: Any) -> str:
    """Cells by the periods left, upward, and the second number of a state, to the right."""
    periods = sorted({left for left, _ in actions}, reverse=True)
    levels = sorted({level for _, level in actions})
    most = max(actions.values())
    width, height = LEFT + CELL * len(levels) + 16, TOP + CELL * len(periods) + 48
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-size="11" font-family="system-ui, sans-serif">'
        f"<title>{title}</title>"
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{width / 2:.0f}" y="18" text-anchor="middle" font-weight="600">{title}</text>'
    ]
    for (left, level), action in sorted(actions.items()):
        x, y = LEFT + CELL * levels.index(level), TOP + CELL * periods.index(left)
        share = action / most
        ink = "#fff" if share > 0.5 else "#222"
        parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{shade(share)}"/>'
            f'<text x="{x + CELL / 2 - 0.5:.1f}" y="{y + 14}" text-anchor="middle" fill="{ink}">'
            f"{texts(action)}</text>"
        )
    bottom = TOP + CELL * len(periods)
    for k, level in enumerate(levels):
        parts.append(
            f'<text x="{LEFT + CELL * k + CELL / 2 - 0.5:.1f}" y="{bottom + 14}" '
            f'text-anchor="middle">{level}</text>'
        )
    for k, left in enumerate(periods):
        parts.append(
            f'<text x="{LEFT - 6}" y="{TOP + CELL * k + 14}" text-anchor="end">{left}</text>'
        )
    middle = LEFT + CELL * len(levels) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{bottom + 34}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(20 {(TOP + bottom) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">periods left</text></svg>\n'
    )
    return "".join(parts)


def figures() -> dict[str, str]:
    """The text of each figure by the name of its file."""
    return {
        "puterman-inventory.svg": chart(
            "Optimal orders", "stock", decisions(SHOP), lambda order: order or ""
        ),
        "puterman-replacement.svg": chart(
            "When to replace",
            "wear",
            decisions(MACHINE),
            lambda action: "R" if action == REPLACE else "",
        ),
    }


if __name__ == "__main__":
    for name, text in figures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
