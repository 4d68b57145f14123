"""The figures of the page on games for two, into ``docs/textbook/``.

    python docs/scripts/games_for_two.py

writes ``rock-paper-scissors.svg``, ``goofspiel-bids.svg`` and ``soccer.svg``.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from solvent import compile_game, solve
from solvent.baselines.stage_games import RegretMatching
from solvent.games import Goofspiel, RockPaperScissors, Soccer
from solvent.games.rock_paper_scissors import THROWS
from solvent.games.soccer import ACTIONS, GOAL_ROWS, HEIGHT, PLAYING, STEPS, WIDTH, Pitch

FOLDER = Path(__file__).parents[1] / "textbook"

WINS = (1, 2, 3)
SWEEPS = 300
CARDS = 5

DUEL = Pitch((1, 2), (1, 1), 0, PLAYING)
"""Player 0 has the ball and the other before it."""

BLUE, ORANGE, PURPLE, GREY = "#08519c", "#d55e00", "#9c6bb5", "#9aa5ac"


def head(title: str, width: int, height: int) -> str:
    """The beginning of a picture."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-size="12" font-family="system-ui, sans-serif">'
        f'<title>{title}</title><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{width / 2:.0f}" y="18" text-anchor="middle" font-weight="600">{title}</text>'
    )


def strategies(sweeps: int) -> tuple[list[list[float]], list[list[float]]]:
    """What regret matching plays in each sweep, and the averages, of player 0."""
    played: list[list[float]] = []
    averages: list[list[float]] = []
    learner = RegretMatching(compile_game(RockPaperScissors(WINS)), plus=False)

    for t in range(1, sweeps + 1):
        learner.learn(1)
        average = learner.policy(0).probabilities[0].tolist()
        before = averages[-1] if averages else [0.0] * 3
        # What was played in sweep t is what the average of t has besides that of t - 1.
        played.append([t * a - (t - 1) * b for a, b in zip(average, before, strict=True)])
        averages.append(average)
    return played, averages


def simplex() -> str:
    """The paths of regret matching in the triangle of mixed strategies."""
    side, left, top = 340, 40, 44
    height = side * sqrt(3) / 2
    corners = {"paper": (left, top + height), "scissors": (left + side, top + height)}
    corners["rock"] = (left + side / 2, top)

    def place(strategy: Sequence[float]) -> tuple[float, float]:
        points = [corners[name] for name in THROWS]
        return tuple(sum(w * p[k] for w, p in zip(strategy, points, strict=True)) for k in (0, 1))  # type: ignore[return-value]

    def path(strategies: Sequence[Sequence[float]], colour: str, width: float) -> str:
        points = " ".join("{:.1f},{:.1f}".format(*place(s)) for s in strategies)
        return (
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" '
            f'stroke-linejoin="round"/>'
        )

    played, averages = strategies(SWEEPS)
    optimal = [WINS[2] / sum(WINS), WINS[0] / sum(WINS), WINS[1] / sum(WINS)]
    x, y = place(optimal)
    outline = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners.values())
    labels = "".join(
        f'<text x="{a:.1f}" y="{b + (-8 if name == "rock" else 18):.1f}" text-anchor="middle">'
        f"{name}</text>"
        for name, (a, b) in corners.items()
    )
    legend = top + height + 44
    return (
        head("Regret matching in weighted rock-paper-scissors", left * 2 + side, int(legend + 16))
        + f'<polygon points="{outline}" fill="none" stroke="{GREY}"/>{labels}'
        + path(played, PURPLE, 1.0)
        + path(averages, BLUE, 1.8)
        + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{ORANGE}"/>'
        + f'<text x="{left}" y="{legend:.0f}" fill="{PURPLE}">what is played</text>'
        f'<text x="{left + 130}" y="{legend:.0f}" fill="{BLUE}">its average</text>'
        f'<text x="{left + 240}" y="{legend:.0f}" fill="{ORANGE}">equilibrium</text></svg>\n'
    )


def first_bids(cards: int) -> dict[int, list[float]]:
    """The optimal chances of the first bids, by the prize that is turned up."""
    game = Goofspiel(cards)
    table = compile_game(game)
    chances = solve(table).policies[0].probabilities
    return {
        outcome.state.prize: chances[table.index[outcome.state]].tolist()
        for outcome in game.initial()
    }


def bids() -> str:
    """The optimal first bids of Goofspiel, a panel for each prize."""
    bar, gap, top, tall = 18, 34, 54, 130
    bids = first_bids(CARDS)
    panel = bar * CARDS + gap
    width, height = 40 + panel * len(bids), top + tall + 52
    parts = [head(f"Chances of optimal first bids in Goofspiel with {CARDS} cards", width, height)]
    for k, (prize, chances) in enumerate(bids.items()):
        x = 40 + panel * k
        parts.append(
            f'<text x="{x + bar * CARDS / 2:.0f}" y="{top - 12}" text-anchor="middle">'
            f"prize {prize}</text>"
            f'<line x1="{x}" x2="{x + bar * CARDS}" y1="{top + tall}" y2="{top + tall}" '
            f'stroke="{GREY}"/>'
        )
        for card, chance in enumerate(chances):
            tip = tall * chance
            parts.append(
                f'<rect x="{x + bar * card + 2}" y="{top + tall - tip:.1f}" width="{bar - 4}" '
                f'height="{tip:.1f}" fill="{BLUE}"/>'
                f'<text x="{x + bar * card + bar / 2:.0f}" y="{top + tall + 15}" '
                f'text-anchor="middle">{card + 1}</text>'
            )
    parts.append(
        f'<text x="{width / 2:.0f}" y="{top + tall + 38}" text-anchor="middle">card bid</text>'
    )
    parts += [
        f'<text x="32" y="{top + tall - tall * share + 4:.1f}" text-anchor="end">{share:g}</text>'
        for share in (0, 0.5, 1)
    ]
    return "".join(parts) + "</svg>\n"


def soccer() -> str:
    """Two positions: the start, and one in which both have to be unpredictable."""
    game = Soccer()
    table = compile_game(game)
    solution = solve(table)
    start = game.initial()[0].state
    cell, left, top = 44, 34, 44
    across = cell * WIDTH + 68
    parts = [head("Littman's soccer", 2 * across + left, top + cell * HEIGHT + 44)]
    for k, (name, state) in enumerate((("the start", start), ("a duel", DUEL))):
        x0 = left + across * k
        value = solution.values[table.index[state]]
        parts.append(
            f'<text x="{x0 + cell * WIDTH / 2:.0f}" y="{top + cell * HEIGHT + 26}" '
            f'text-anchor="middle">{name}, A with the ball: value {value:.3f} to A</text>'
        )
        for row in GOAL_ROWS:
            for x, colour in ((x0 - 8, BLUE), (x0 + cell * WIDTH, ORANGE)):
                parts.append(
                    f'<rect x="{x}" y="{top + cell * row}" width="8" height="{cell}" '
                    f'fill="{colour}" opacity="0.35"/>'
                )
        parts += [
            f'<rect x="{x0 + cell * column}" y="{top + cell * row}" width="{cell}" '
            f'height="{cell}" fill="none" stroke="#dde2e6"/>'
            for row in range(HEIGHT)
            for column in range(WIDTH)
        ]
        i = table.index[state]
        squares = (state.first, state.second)
        for player, (square, colour) in enumerate(zip(squares, (BLUE, ORANGE), strict=True)):
            x, y = x0 + cell * (square[1] + 0.5), top + cell * (square[0] + 0.5)
            for action, (down, right) in enumerate(STEPS):
                chance = solution.policies[player].probabilities[i, action]
                sign = (1, -1)[player]
                if chance > 5e-3 and ACTIONS[action] == "stand":
                    parts.append(
                        f'<text x="{x:.1f}" y="{y - 16:.1f}" text-anchor="middle" font-size="10">'
                        f"stands {chance:.2f}</text>"
                    )
                elif chance > 5e-3:
                    tip = cell * 0.62
                    x2, y2 = x + sign * right * tip, y + sign * down * tip
                    parts.append(
                        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                        f'stroke="{colour}" stroke-width="{1 + 5 * chance:.1f}" '
                        f'stroke-linecap="round" opacity="0.7"/>'
                        f'<text x="{x2 + (-4 if x2 < x else 4):.1f}" '
                        f'y="{y2 + (4 if down == 0 else 8 if y2 > y else -2):.1f}" '
                        f'text-anchor="{"end" if x2 < x else "start"}" font-size="10">'
                        f"{chance:.2f}</text>"
                    )
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="{colour}"/>'
                f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="#fff">'
                f"{'AB'[player]}</text>"
            )
            if state.ball == player:
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="15" fill="none" stroke="#222"/>'
                )
    return "".join(parts) + "</svg>\n"


def figures() -> dict[str, str]:
    """The text of each figure by the name of its file."""
    return {
        "rock-paper-scissors.svg": simplex(),
        "goofspiel-bids.svg": bids(),
        "soccer.svg": soccer(),
    }


if __name__ == "__main__":
    for name, text in figures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
