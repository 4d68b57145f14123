"""The figures of ``docs/textbook/sutton-barto.md``, each from the problem that it is about.

    python docs/scripts/sutton_barto.py [NAME ...]

writes ``docs/textbook/NAME.svg``, all or those that are named. What is said of a learner is
exact: for the random walk the expectation over all episodes (:class:`Updates`), else the value of
what it has learned in some seeded runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import solvent
from solvent.envs import TabularEnv
from solvent.games import GymnasiumTable
from solvent.games.blackjack.rules import STICK
from solvent.games.car_rental.rules import MOST_MOVED
from solvent.games.dyna_maze.rules import MAZE
from solvent.games.dyna_maze.rules import MOVES as STEPS
from solvent.games.racetrack.rules import ACTIONS, BOOK
from solvent.games.windy_gridworld.rules import COLUMNS, PICTURE, WIND
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.report import panel
from solvent.report.colours import ALGORITHMS, CIVIDIS, VIRIDIS, shade
from solvent.report.panel import Axis, Panel, keys, side_by_side
from solvent.tabular import Curves, curves, dyna_q, q_learning, sarsa

FOLDER = Path(__file__).parents[1] / "textbook"
CELL = 30
RUNS = 10
"""Of each learner. What a run has learned is measured exactly."""
STYLE = "text{fill:#26323a;text-anchor:middle}.cell{stroke:#b6bfc6}.way{fill:none;stroke:#d55e00;stroke-width:2.5}"  # noqa: E501
ARROWS = {(-1, 0): "↑", (1, 0): "↓", (0, 1): "→", (0, -1): "←"}
WALL, PLAIN, SPECIAL = "#8a949c", "#ffffff", "#dde9f2"


def table_of(name: str, **parameters: Any) -> TabularGame:
    """The table of a game, with the discount of the book."""
    return solvent.compile_game(solvent.make_game(name, **parameters))


class Board(NamedTuple):
    """A board of cells with its heading.

    Attributes:
        title: Above it.
        texts: What is written into each cell, row by row.
        colours: Of each cell.
        over: What is drawn over the cells.
        cell: The width of a cell.
    """

    title: str
    texts: Sequence[Sequence[str]]
    colours: Sequence[Sequence[str]]
    over: str = ""
    cell: int = CELL

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, with the heading."""
        return self.cell * len(self.texts[0]) + 12, self.cell * len(self.texts) + 34

    def drawn(self) -> str:
        """The heading and the cells."""
        parts = [f'<text x="{self.size[0] / 2:g}" y="15">{escape(self.title)}</text>']
        parts.append(f'<g transform="translate(6 24)" font-size="{min(12, 0.4 * self.cell):g}">')
        size, cells = self.cell, {}
        for row, colours in enumerate(self.colours):
            for column, colour in enumerate(colours):
                square = f"M{size * column} {size * row}h{size}v{size}h-{size}z"
                cells[colour] = cells.get(colour, "") + square
        parts += [f'<path class="cell" fill="{c}" d="{d}"/>' for c, d in cells.items()]
        parts += [
            f'<text x="{size * (column + 0.5):g}" y="{size * (row + 0.64):g}">{escape(text)}</text>'
            for row, texts in enumerate(self.texts)
            for column, text in enumerate(texts)
            if text
        ]
        return "".join(parts) + f"{self.over}</g>"


def boards(title: str, parts: Sequence[Board], columns: int = 3) -> str:
    """Boards in rows, as an SVG that needs nothing else."""
    wide = max(board.size[0] for board in parts)
    high = max(board.size[1] for board in parts)
    rows = -(-len(parts) // columns)
    width, height = wide * min(columns, len(parts)), high * rows
    groups = "".join(
        f'<g transform="translate({n % columns * wide} {n // columns * high})">{b.drawn()}</g>'
        for n, b in enumerate(parts)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-size="13" font-family="system-ui, sans-serif">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{groups}</svg>'
    )


def line(cells: Sequence[tuple[float, float]], cell: int = CELL) -> str:
    """A way through the middles of cells, of rows and columns."""
    points = " ".join(f"{(c + 0.5) * cell:g},{(r + 0.5) * cell:g}" for r, c in cells)
    return f'<polyline class="way" points="{points}"/>'


def best_actions(table: TabularGame, values: Floats, row: int) -> list[int]:
    """The actions of a state that are optimal up to rounding."""
    rows = slice(table.row_start[row], table.row_start[row + 1])
    worth = table.expectation(values)[rows]
    found: Ints = table.row_action[0][rows][worth >= worth.max() - 1e-9]
    return [int(action) for action in found]


def gridworld() -> str:
    """The values of the random policy, and the optimum."""
    table = table_of("gridworld")
    random = solvent.policy_value(table, TabularPolicy.uniform(table))
    solution = solvent.solve(table)

    def board(title: str, text: Callable[[int], str]) -> Board:
        states = [table.index[(row, column)] for row in range(5) for column in range(5)]
        texts = np.array([text(s) for s in states]).reshape(5, 5).tolist()
        colours = [
            [SPECIAL if (r, c) in ((0, 1), (0, 3)) else PLAIN for c in range(5)] for r in range(5)
        ]
        return Board(title, texts, colours, cell=40)

    signs = ("↑", "↓", "→", "←")
    return boards(
        "The gridworld of Examples 3.5 and 3.8: values of the random policy, and the optimum",
        [
            board("random policy", lambda s: f"{random[s] + 0:.1f}".replace("-", "−")),
            board("optimal values", lambda s: f"{solution.values[s]:.1f}"),
            board(
                "optimal moves",
                lambda s: "".join(signs[a] for a in best_actions(table, solution.values, s)),
            ),
        ],
    )


class Updates(NamedTuple):
    """What an episode of the random walk does to an estimate, in expectation over all episodes.

    An estimate is a vector of a value for each state, and a 1 behind them. Both learners change it
    linearly: TD(0) by each step's V(s) += alpha (r + V(s') - V(s)), constant-alpha MC by V(s) +=
    alpha (G - V(s)) for each visit, of which G is known once the end is. So its first and second
    moments after an episode are linear in those before, and the expected squared error is exact.

    Attributes:
        first: [n+1, n+1] what becomes of the mean of the vector.
        second: [(n+1)^2, (n+1)^2] what becomes of the mean of its outer product with itself.
    """

    first: Floats
    second: Floats


def episode(steps: Mapping[tuple[int, int], tuple[float, Floats]], n: int) -> Updates:
    """The updates of an episode from the middle of n states.

    Args:
        steps: For a state and the next, 0..n-1 or -1 and n for the ends: the probability, and the
            matrix by which the step multiplies the vector.
        n: The number of states.
    """
    found = []
    for power in (1, 2):
        size = (n + 1) ** power
        inside, ending = np.zeros((n, size, n, size)), np.zeros((size, n, size))
        for (state, after), (p, change) in steps.items():
            matrix = p * (change if power == 1 else np.kron(change, change))
            if 0 <= after < n:
                inside[after, :, state, :] += matrix
            else:
                ending[:, state, :] += matrix
        walk = np.linalg.inv(np.eye(n * size) - inside.reshape(n * size, n * size))
        middle = walk.reshape(n, size, n, size)[:, :, n // 2, :]
        found.append(np.einsum("asb,sbc->ac", ending, middle))
    return Updates(*found)


def td_updates(alpha: float, n: int = 5) -> Updates:
    """Those of TD(0)."""
    steps = {}
    for state in range(n):
        for after in (state - 1, state + 1):
            change = np.eye(n + 1)
            change[state, state] -= alpha
            if 0 <= after < n:
                change[state, after] += alpha
            elif after == n:
                change[state, n] += alpha
            steps[state, after] = (0.5, change)
    return episode(steps, n)


def mc_updates(alpha: float, n: int = 5) -> Updates:
    """Those of constant-alpha MC: the mean over both ends, each with the walks that lead there."""
    both = []
    for end in (-1, n):
        # Given the end, steps to where it is likelier are more frequent (Doob).
        reach = {s: (s + 1) / (n + 1) if end == n else (n - s) / (n + 1) for s in range(-1, n + 1)}
        steps = {}
        for state in range(n):
            change = np.eye(n + 1)
            change[state, state] -= alpha
            change[state, n] += alpha * (end == n)
            for after in (state - 1, state + 1):
                if reach[after]:
                    steps[state, after] = (0.5 * reach[after] / reach[state], change)
        both.append(episode(steps, n))
    # From the middle both ends are as likely.
    return Updates(*(sum(parts) / 2 for parts in zip(*both, strict=True)))


def walk_learning(updates: Updates, episodes: int = 100, n: int = 5) -> tuple[Floats, Floats]:
    """Mean estimates [episodes+1, n] and root of the expected mean squared error [episodes+1]."""
    true = np.arange(1, n + 1) / (n + 1)
    estimate = np.append(np.full(n, 0.5), 1.0)
    mean, square = estimate, np.outer(estimate, estimate)
    means, errors = [], []
    for _ in range(episodes + 1):
        means.append(mean[:n])
        squares = np.diag(square)[:n] - 2 * true * mean[:n] + true**2
        errors.append(np.sqrt(squares.mean()))
        mean = updates.first @ mean
        square = (updates.second @ square.reshape(-1)).reshape(n + 1, n + 1)
    return np.array(means), np.array(errors)


TD_ALPHAS, MC_ALPHAS = (0.05, 0.1, 0.15), (0.01, 0.02, 0.03, 0.04)


def walk_errors() -> dict[str, Floats]:
    """The root of the expected mean squared error after 0 to 100 episodes, by learner."""
    found = {f"TD {alpha:g}": walk_learning(td_updates(alpha))[1] for alpha in TD_ALPHAS}
    return found | {f"MC {alpha:g}": walk_learning(mc_updates(alpha))[1] for alpha in MC_ALPHAS}


def random_walk() -> str:
    """The values that TD(0) learns, and the errors of TD(0) and constant-alpha MC."""
    means, _ = walk_learning(td_updates(0.1))
    learned = Panel("TD(0)", "estimated value", Axis(0, 1), Axis(0, 1), "state, from A to E")
    places = np.arange(1, 6) / 6
    learned.line(places, places, "#9aa4ac", "true values", dashed=False)
    shown = (0, 1, 10, 100)
    for colour, after in zip(ALGORITHMS, shown, strict=False):
        learned.line(places, means[after], colour, f"{after} episodes", dashed=False)
        learned.dots(places, means[after], colour)
    errors = Panel("errors", "RMS error", Axis(0, 100), Axis(0, 0.25), "episodes")
    curves = walk_errors()
    for name, error in curves.items():
        blue = name.startswith("TD")
        errors.line(
            np.arange(101), error, ALGORITHMS[0 if blue else 1], name, dashed=False
        )  # fmt: skip
        room = panel.WIDTH - panel.LEFT - panel.RIGHT
    left = keys(
        [*(f"{n} episodes" for n in shown), "true"],
        [*ALGORITHMS[:4], "#9aa4ac"],
        panel.LEFT,
        panel.HEIGHT + 6,
        room,
    )
    right = keys(
        [f"TD(0), α = {', '.join(map(str, TD_ALPHAS))}", f"MC, α = {', '.join(map(str, MC_ALPHAS))}"],  # noqa: E501
        ALGORITHMS[:2], panel.LEFT, panel.HEIGHT + 6, room,
    )  # fmt: skip
    return side_by_side(
        "The random walk of Example 6.2: values that TD(0) learns, and errors of TD(0) and MC",
        [learned.inside() + left, errors.inside() + right],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


def sweeps(table: TabularGame) -> Iterator[Floats]:
    """The values after each sweep of value iteration, from 0."""
    values, live = np.zeros(table.n_states), ~table.terminal
    while True:
        yield values
        worth = table.expectation(values)
        values = np.zeros(table.n_states)
        values[live] = np.maximum.reduceat(worth, table.row_start[:-1][live])


def smallest_stakes(table: TabularGame, values: Floats) -> list[int]:
    """The smallest optimal stake of each capital from 1 up."""
    return [
        best_actions(table, values, table.index[(dollars,)])[0] + 1 for dollars in range(1, 100)
    ]


def gambler() -> str:
    """Values sweep by sweep, and the smallest optimal stakes."""
    table = table_of("gambler")
    best = solvent.solve(table).values
    capitals = np.arange(1, 100)
    order = [table.index[(dollars,)] for dollars in capitals.tolist()]
    values = Panel("values", "value", Axis(0, 100), Axis(0, 1), "capital")
    shown = {1: "sweep 1", 2: "sweep 2", 3: "sweep 3", 32: "sweep 32"}
    for n, swept in zip(range(33), sweeps(table), strict=False):
        if n in shown:
            colour = ALGORITHMS[list(shown).index(n)]
            values.line(capitals, swept[order], colour, shown[n], dashed=False)
    values.line(capitals, best[order], "#26323a", "optimum", dashed=False)
    stakes = Panel("stakes", "smallest optimal stake", Axis(0, 100), Axis(0, 50), "capital")
    bold = smallest_stakes(table, best)
    xs = np.repeat(np.arange(0.5, 100.5), 2)[1:-1]
    stakes.line(xs, np.repeat(bold, 2), ALGORITHMS[0], "stake", dashed=False)
    room = panel.WIDTH - panel.LEFT - panel.RIGHT
    legend = keys(
        [*shown.values(), "optimum"],
        [*ALGORITHMS[:4], "#26323a"],
        panel.LEFT,
        panel.HEIGHT + 6,
        room,
    )
    return side_by_side(
        "The gambler's problem, Example 4.3: values after sweeps, and the smallest optimal stakes",
        [values.inside() + legend, stakes.inside()],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


def policy_iteration(table: TabularGame, actions: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Policies and their values, from a policy to one that is its own improvement.

    Args:
        table: The table, for one player.
        actions: [S] the first policy; the number of an action.
    """
    while True:
        policy = TabularPolicy.deterministic(table, actions)
        values = solvent.policy_value(table, policy)
        yield actions, values
        worth = np.full(table.mask[0].shape, -np.inf)
        worth[table.row_state, table.row_action[0]] = table.expectation(values)
        kept = worth[np.arange(len(actions)), actions]
        better = np.where(worth.max(axis=1) > kept + 1e-9, worth.argmax(axis=1), actions)
        better = np.where(table.terminal, actions, better)
        if (better == actions).all():
            return
        actions = better


def car_policies() -> list[tuple[Ints, Floats]]:
    """The policies of policy iteration, and their values, both [21, 21], first location first."""
    table = table_of("car-rental")
    first = np.full(table.n_states, MOST_MOVED)
    return [
        (actions[:441].reshape(21, 21) - MOST_MOVED, values[:441].reshape(21, 21))
        for actions, values in policy_iteration(table, first)
    ]


def car_rental() -> str:
    """The policies of policy iteration, and the optimal values."""
    found = car_policies()

    def board(title: str, numbers: Any, colour: Callable[[float], str], text: Any) -> Board:
        # The first location goes up, as in the book.
        rows = [[numbers[first, second] for second in range(21)] for first in range(20, -1, -1)]
        return Board(
            title,
            [[text(number) for number in row] for row in rows],
            [[colour(number) for number in row] for row in rows],
            cell=14,
        )

    parts = [
        board(
            f"π{'₀₁₂₃₄₅₆'[n]}",
            actions,
            lambda moved: shade(CIVIDIS, 0.35 + (moved + 5) / 10 * 0.65),
            lambda moved: f"{moved}".replace("-", "−") if moved else "",
        )
        for n, (actions, _) in enumerate(found)
    ]
    best = found[-1][1]
    low, high = best.min(), best.max()
    title = f"optimal values, {low:.0f} to {high:.0f}"
    parts.append(
        board(title, best, lambda v: shade(VIRIDIS, (v - low) / (high - low)), lambda v: "")
    )
    return boards(
        "Jack's car rental, Example 4.2: cars moved from the first location to the second, by the "
        "cars at the first (up) and at the second (to the right)",
        parts,
    )


def blackjack() -> str:
    """The optimal policy and its values, with and without a usable ace."""
    table = table_of("blackjack")
    solution = solvent.solve(table)
    parts = []
    for usable in (True, False):
        hands = [
            [table.index[(total, dealer, usable, False)] for dealer in range(1, 11)]
            for total in range(21, 11 - usable, -1)
            if total > 11
        ]
        stick = [
            [solution.policies[0].probabilities[s].argmax() == STICK for s in row] for row in hands
        ]
        ace = "a usable ace" if usable else "no usable ace"
        parts.append(
            Board(
                f"policy, {ace}",
                [["S" if sticks else "H" for sticks in row] for row in stick],
                [["#9fc6e3" if sticks else "#f6d7a8" for sticks in row] for row in stick],
                cell=24,
            )
        )
        values = [[float(solution.values[s]) for s in row] for row in hands]
        parts.append(
            Board(
                f"values, {ace}",
                [[f"{v:.1f}".replace("-", "−") for v in row] for row in values],
                [[shade(CIVIDIS, 0.4 + 0.6 * (v + 1) / 2) for v in row] for row in values],
                cell=24,
            )
        )
    return boards(
        "Blackjack, Example 5.3: stick (S) or hit (H) and its value, by the player's sum, 21 at "
        "the top to 12, and the dealer's card, an ace at the left to 10",
        parts,
        columns=4,
    )


def trajectory(table: TabularGame, start: Any) -> list[Any]:
    """The states of optimal play, by the likeliest outcome of each step."""
    solution = solvent.solve(table)
    state, found = table.index[start], [start]
    while not table.terminal[state]:
        action = best_actions(table, solution.values, state)[0]
        row = table.row(state, (action, 0))
        branch = slice(table.outcome_start[row], table.outcome_start[row + 1])
        state = int(table.next_state[branch][table.probability[branch].argmax()])
        found.append(table.states[state])
    return found


def windy_gridworld() -> str:
    """An optimal way with four moves, and one with the king's."""
    parts = []
    for moves, title in (("four", "four moves"), ("king", "king's moves")):
        way = trajectory(table_of("windy-gridworld", moves=moves), (3, 0))
        colours = [
            ["#ffffff" if not wind else "#eef4f8" if wind == 1 else "#dbe8f1" for wind in WIND]
        ] * len(PICTURE)
        texts = [[c if c in "SG" else "" for c in row] for row in PICTURE]
        parts.append(
            Board(
                f"{title}: {len(way) - 1} steps; wind below",
                [*texts, [str(wind) for wind in WIND]],
                [*colours, [PLAIN] * COLUMNS],
                line(way),
            )
        )
    return boards("The windy gridworld, Example 6.5 and Exercise 6.9: optimal ways", parts)


def racetrack() -> str:
    """The track of the book, and where the optimal policy drives without noise."""
    table = table_of("racetrack")
    solution = solvent.solve(table)
    colour = {"#": "#e4e8eb", ".": PLAIN, "S": "#f6d7a8", "F": "#b5dec9"}
    ways = []
    for column in range(3, 9):
        row, across, up, right = 31, column, 0, 0
        cells = [(row, across)]
        while across < 16:
            state = table.index[row, across, up, right]
            faster = ACTIONS[best_actions(table, solution.values, state)[0]]
            up, right = up + faster[0], right + faster[1]
            row, across = row - up, across + right
            if across < 16 and BOOK[row][across] == "#":
                break  # It begins anew on purpose; see the page.
            cells.append((row, across))
        else:
            ways.append(line(cells, 14))
    return boards(
        "The racetrack of Exercise 5.12: where the optimal policy drives without noise",
        [
            Board(
                "", [[""] * 17] * 32, [[colour[c] for c in row] for row in BOOK], "".join(ways), 14
            )
        ],
    )


@cache
def cliff_curves() -> Curves:
    """Example 6.6: the exact values of both policies that Sarsa and Q-learning have."""
    rules = GymnasiumTable.from_env(gym.make("CliffWalking-v1"))
    table = solvent.compile_game(rules)
    env = TabularEnv(rules, observation="index")
    # Epsilon is that of the book; it does not print the step size.
    learners = {
        name: partial(learner, env, alpha=0.5, epsilon=0.1)
        for name, learner in (("Sarsa", sarsa), ("Q-learning", q_learning))
    }

    def of(policy: str) -> Curves:
        begin = {name: lambda rng, own=own: own(rng=rng) for name, own in learners.items()}
        return curves(table, begin, "value", until=500, runs=RUNS, points=50, policy=policy)

    acting, greedy = of("behaviour"), of("greedy")
    found = {f"{name}, ε-greedy": numbers for name, numbers in acting.numbers.items()}
    found |= {f"{name}, greedy": numbers for name, numbers in greedy.numbers.items()}
    # A policy that never ends is minus infinity, and so is a mean with it.
    medians = {name: np.median(numbers, axis=0, keepdims=True) for name, numbers in found.items()}
    return Curves("value", acting.at, medians, acting.optimum)


def cliff_walking() -> str:
    """Their medians over runs; what is below the chart is at its edge."""
    return cliff_curves().svg("Cliff walking, Example 6.6: Sarsa and Q-learning", lowest=-120)


@cache
def dyna_curves() -> Curves:
    """Figure 8.2: the exact value of Dyna-Q's policy, by the number of planning steps."""
    env = TabularEnv(solvent.make_game("dyna-maze", discount=1), observation="index")
    # The settings of the book: alpha 0.1, epsilon 0.1, discount 0.95, 50 episodes.
    begin = {
        f"{n} planning steps": lambda rng, n=n: dyna_q(
            env, n=n, alpha=0.1, epsilon=0.1, discount=0.95, rng=rng
        )
        for n in (0, 5, 50)
    }
    table = table_of("dyna-maze")
    return curves(table, begin, "value", until=50, runs=RUNS, points=50, policy="behaviour")


def dyna_learning() -> str:
    """Their means over runs."""
    return dyna_curves().svg("Dyna maze, Figure 8.2: Dyna-Q")


def dyna_maze() -> str:
    """The optimal moves of each cell."""
    table = table_of("dyna-maze")
    values = solvent.solve(table).values
    texts, colours = [], []
    for r, cells in enumerate(MAZE):
        texts.append([])
        colours.append([])
        for c, cell in enumerate(cells):
            if cell in "#G":
                texts[-1].append("G" if cell == "G" else "")
            else:
                moves = best_actions(table, values, table.index[(r, c)])
                texts[-1].append("".join(ARROWS[STEPS[move]] for move in moves))
            colours[-1].append(WALL if cell == "#" else SPECIAL if cell in "SG" else PLAIN)
    way = trajectory(table, (2, 0))
    return boards(
        "The Dyna maze, Example 8.1: optimal moves, and a way of 14",
        [Board("", texts, colours, line(way, 34), 34)],
    )


PICTURES: Mapping[str, Callable[[], str]] = {
    "gridworld": gridworld,
    "gambler": gambler,
    "car-rental": car_rental,
    "blackjack": blackjack,
    "random-walk": random_walk,
    "windy-gridworld": windy_gridworld,
    "racetrack": racetrack,
    "cliff-walking": cliff_walking,
    "dyna-maze": dyna_maze,
    "dyna-learning": dyna_learning,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        panel.write_pictures(FOLDER, {f"{name}.svg": PICTURES[name]()})
