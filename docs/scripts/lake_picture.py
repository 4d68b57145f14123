"""Draw the picture of the README: the lake, an agent, the square where it loses, and the exact gap.

python docs/scripts/lake_picture.py        # writes docs/images/lake.svg
"""

from pathlib import Path

import numpy as np

import solvent
from solvent.baselines.q_learning import q_learning

FILE = Path(__file__).parents[1] / "images" / "lake.svg"
STEPS, SEED = 100_000, 0
"""The training of the agent, as in the README."""

MAP = "SFFFFHFHFFFHHFFG"
CELL, LEFT, TOP = 74, 14, 14
ARROWS = {"left": "M20 0H-16m9-8-9 8 9 8", "right": "M-20 0H16m-9-8 9 8-9 8"}
ARROWS |= {"up": "M0 20V-16m-8 9 8-9 8 9", "down": "M0-20V16m-8-9 8 9 8-9"}
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1f2933}.big{font-size:27px;font-weight:600}"
    ".dim{fill:#52606d}.ice{fill:#e8f1f5}.hole{fill:#7b8794}.goal{fill:#bfe3d0}.lost{fill:#f6b8b0}"
    "rect{stroke:#fff;stroke-width:3}.agent{stroke:#1f2933}.best{stroke:#00664b}"
    "path{fill:none;stroke-width:3.4;stroke-linecap:round;stroke-linejoin:round}"
    ".bar{stroke:none;fill:#dde2e6}.got{fill:#0072b2}.gap{fill:#d55e00}"
)


def picture() -> str:
    """The picture as SVG, 688 pixels wide."""
    lake = solvent.compile_game("FrozenLake-v1")
    agent = q_learning(lake, steps=STEPS, seed=SEED)
    score, where = solvent.score(lake, agent), solvent.locate_gap(lake, agent)
    names = lake.info.actions[0]
    best = solvent.solve("FrozenLake-v1").q
    parts = []
    for index, state in enumerate(lake.states):
        number = state.number  # type: ignore[attr-defined]
        row, column = divmod(number, 4)
        x, y = LEFT + CELL * column, TOP + CELL * row
        lost = where.contribution[index]
        kind = {"H": "hole", "G": "goal"}.get(MAP[number], "lost" if lost > 1e-9 else "ice")
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{CELL}" height="{CELL}"/>')
        if MAP[number] in "HG":
            word, ink = ("hole", "#fff") if MAP[number] == "H" else ("goal", "#1f2933")
            parts.append(f'<text x="{x + 22}" y="{y + 42}" style="fill:{ink}">{word}</text>')
            continue
        chosen = int(agent.probabilities[index].argmax())
        middle = f"translate({x + CELL / 2:g} {y + CELL / 2:g})"
        parts.append(f'<path class="agent" transform="{middle}" d="{ARROWS[names[chosen]]}"/>')
        if lost > 1e-9:
            right = names[int(np.nanargmax(best[index]))]
            aside = f"translate({x + CELL - 16} {y + 17}) scale(.5)"
            parts.append(f'<path class="best" transform="{aside}" d="{ARROWS[right]}"/>')
            square = number
    wide, x, y = 320.0, 344, 222
    got = wide * score.value
    told = [
        ("big", 48, f"gap {score.optimality_gap:.4f}"),
        ("dim", 74, "exactly, without an episode"),
        ("", 116, f"optimum {score.optimum:.4f}, proved"),
        ("", 140, f"agent {score.value:.4f}, after {STEPS:,} steps of Q-learning"),
        ("", 182, f"All of the gap is lost on square {square}."),
    ]
    parts += [f'<text class="{c}" x="{x}" y="{at}">{text}</text>' for c, at, text in told]
    parts.append(
        f'<rect class="bar" x="{x}" y="{y}" width="{wide:g}" height="26"/>'
        f'<rect class="bar got" x="{x}" y="{y}" width="{got:.1f}" height="26"/>'
        f'<rect class="bar gap" x="{x + got:.1f}" y="{y}" '
        f'width="{wide * score.optimality_gap:.1f}" height="26"/>'
        f'<text class="dim" x="{x}" y="{y + 46}">chance of reaching the goal, from 0 to 1</text>'
        f'<text class="dim" x="{x}" y="{y + 78}">black: the agent</text>'
        f'<text x="{x + 190}" y="{y + 78}" style="fill:#00664b">green: the best move</text>'
    )
    size = TOP * 2 + CELL * 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 688 {size}" width="688" '
        f'height="{size}"><title>FrozenLake, an agent, and its exact gap</title>'
        f'<style>{STYLE}</style><rect x="0" y="0" width="688" height="{size}" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
