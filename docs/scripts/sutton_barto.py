"""The figures of ``docs/textbook/sutton-barto.md``, each from the problem that it is about.

    python docs/scripts/sutton_barto.py [NAME ...]

writes ``docs/textbook/NAME.svg``, all or those that are named. What is said of a learner is
exact: the error of what it has learned in some seeded runs, or the value of its policy.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from rows_of_two import side_by_side

import solvent
from solvent.envs import Env
from solvent.games.blackjack import HIT, STICK
from solvent.games.car_rental.rules import MOST_MOVED
from solvent.games.dyna_maze import MAZE
from solvent.games.dyna_maze import MOVES as STEPS
from solvent.games.racetrack import ACTIONS, BOOK
from solvent.games.windy_gridworld import COLUMNS, PICTURE, WIND
from solvent.model import GymnasiumTable, TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.report import panel
from solvent.report.panel import (
    ALGORITHMS,
    CIVIDIS,
    SHAPES,
    VIRIDIS,
    Axis,
    Panel,
    keys,
    shade,
)
from solvent.tabular import (
    Curves,
    curves,
    dyna_q,
    importance_sampling,
    lookahead,
    monte_carlo_prediction,
    n_step_td,
    policy_iteration,
    q_learning,
    sarsa,
    td,
    value_iteration,
)

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
    Q = lookahead(table, values)[row]
    return list(map(int, np.flatnonzero(Q >= Q.max() - 1e-9)))


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


TD_ALPHAS, MC_ALPHAS = (0.05, 0.1, 0.15), (0.01, 0.02, 0.03, 0.04)


@cache
def walk_curves(runs: int = 100) -> Curves:
    """The errors of TD(0) and constant-alpha MC in 100 episodes, from 1/2 everywhere."""
    table = table_of("random-walk")
    env, walk = Env(table, observation="index"), TabularPolicy.uniform(table)
    begin = {
        f"TD {alpha:g}": lambda rng, alpha=alpha: td(env, walk, alpha=alpha, initial=0.5, rng=rng)
        for alpha in TD_ALPHAS
    } | {
        f"MC {alpha:g}": lambda rng, alpha=alpha: monte_carlo_prediction(
            env, walk, first_visit=False, alpha=alpha, initial=0.5, rng=rng
        )
        for alpha in MC_ALPHAS
    }
    return curves(table, begin, "rms", until=100, runs=runs, values=walk)


def random_walk() -> str:
    """The values that TD(0) learns in a run, and the errors of TD(0) and constant-alpha MC."""
    table = table_of("random-walk")
    order = [table.index[(place,)] for place in range(1, 6)]
    env, walk = Env(table, observation="index"), TabularPolicy.uniform(table)
    run = td(env, walk, alpha=0.1, initial=0.5, rng=np.random.default_rng(0))
    means = [np.full(5, 0.5), *(e.V[order] for e in islice(run, 100))]
    learned = Panel(
        "TD(0)", "estimated value", Axis(0, 1), Axis(0, 1), "states A to E, each at its true value"
    )
    places = np.arange(1, 6) / 6
    learned.line(places, places, "#9aa4ac", "true values", dashed=False)
    shown = (0, 1, 10, 100)
    for colour, after in zip(ALGORITHMS, shown, strict=False):
        learned.line(places, means[after], colour, f"{after} episodes", dashed=False)
        learned.dots(places, means[after], colour)
    errors = Panel("errors", "RMS error", Axis(0, 100), Axis(0, 0.25), "episodes")
    measured = walk_curves()
    for name, error in measured.means.items():
        colour = ALGORITHMS[0 if name.startswith("TD") else 1]
        errors.line(measured.at, error, colour, name, dashed=False)
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


STEPS_AHEAD = (1, 2, 4, 8, 16, 32)
STEP_SIZES = tuple(k / 10 for k in range(1, 11))


@cache
def n_step_error(n: int, alpha: float) -> float:
    """Figure 7.2: the mean RMS error of n-step TD in 10 episodes, for a step size."""
    table = table_of("random-walk", states=19, left=-1)
    env, walk = Env(table, observation="index"), TabularPolicy.uniform(table)
    begin = {"": lambda rng: n_step_td(env, walk, n=n, alpha=alpha, rng=rng)}
    drawn = curves(table, begin, "rms", until=10, runs=30, values=walk)
    return float(drawn.numbers[""].mean())


def n_step_errors() -> dict[int, Floats]:
    """By n, the errors for all step sizes."""
    return {n: np.array([n_step_error(n, alpha) for alpha in STEP_SIZES]) for n in STEPS_AHEAD}


def n_step() -> str:
    """By the step size, a line for each n; what is above the chart is at its edge."""
    chart = Panel(
        "The random walk of 19 states, Figure 7.2: n-step TD",
        "mean RMS error in 10 episodes", Axis(0, 1), Axis(0.2, 0.6), "step size",
    )  # fmt: skip
    for k, (n, errors) in enumerate(n_step_errors().items()):
        colour, shape = ALGORITHMS[k], SHAPES[k]
        chart.line(STEP_SIZES, errors.tolist(), colour, f"n = {n}", dashed=False, shape=shape)
        chart.key(f"n = {n}", colour, shape)
    return chart.alone()


def one_hand() -> tuple[TabularGame, int, TabularPolicy]:
    """Example 5.4: Blackjack from 13 with a usable ace against a deuce; and to stick from 20 on."""
    table = table_of("blackjack")
    state = table.index[13, 2, True, False]
    sticks = [STICK if hand.total >= 20 or hand.natural else HIT for hand in table.states]
    begin = replace(table, initial=np.eye(table.n_states)[state])
    return begin, state, TabularPolicy.deterministic(begin, sticks)


@cache
def off_policy_errors() -> dict[str, Floats]:
    """Figure 5.3: the mean squared error of the value of that hand, after 1 to 1,000 episodes."""
    table, state, policy = one_hand()
    env, b = Env(table, observation="index"), TabularPolicy.uniform(table)
    begin = {
        name: lambda rng, mean=mean: importance_sampling(env, policy, b, weighted=mean, rng=rng)
        for name, mean in (("ordinary", False), ("weighted", True))
    }
    drawn = curves(
        table, begin, "rms", until=1000, runs=100, points=1000, values=policy, states=[state]
    )
    return {name: (errors**2).mean(axis=0) for name, errors in drawn.numbers.items()}


def off_policy() -> str:
    """By the number of episodes."""
    chart = Panel(
        "Blackjack, Figure 5.3: ordinary and weighted importance sampling",
        "mean squared error", Axis(1, 1000, logarithmic=True), Axis(0, 6.5), "episodes",
    )  # fmt: skip
    for k, (name, errors) in enumerate(off_policy_errors().items()):
        chart.line(
            range(1, 1001), errors.tolist(), ALGORITHMS[k], name, dashed=False, shape=SHAPES[k]
        )
        chart.key(f"{name} importance sampling", ALGORITHMS[k], SHAPES[k])
    return chart.alone()


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
    for n, swept in enumerate(value_iteration(table), 1):
        if n in shown:
            colour = ALGORITHMS[list(shown).index(n)]
            values.line(capitals, swept.V[order], colour, shown[n], dashed=False)
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


@cache
def car_policies() -> list[tuple[Ints, Floats]]:
    """The policies of policy iteration, and their values, both [21, 21], first location first."""
    table = table_of("car-rental")
    still = TabularPolicy.deterministic(table, np.full(table.n_states, MOST_MOVED))
    found = []
    for estimate in policy_iteration(table, start=still, theta=1e-7):
        moved = np.asarray(estimate.pi).argmax(axis=1) - MOST_MOVED
        found.append((moved[:441].reshape(21, 21), estimate.V[:441].reshape(21, 21)))
    return found


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
                [[f"{v:z.1f}".replace("-", "−") for v in row] for row in values],
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
    env = Env(rules, observation="index")
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
    env = Env(solvent.make_game("dyna-maze", discount=1), observation="index")
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
    "off-policy": off_policy,
    "n-step": n_step,
    "windy-gridworld": windy_gridworld,
    "racetrack": racetrack,
    "cliff-walking": cliff_walking,
    "dyna-maze": dyna_maze,
    "dyna-learning": dyna_learning,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        panel.write_pictures(FOLDER, {f"{name}.svg": PICTURES[name]()})
