"""Every number and figure on the pages of the textbooks' problems is the solver's."""

import re
import runpy
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any

import numpy as np
import pytest
from doc_pages import DOCS, check_figure, check_sentences, table_rows
from soccer_trials import Trials, odds

from solvent import (
    Outcome,
    TabularGame,
    TabularPolicy,
    best_response,
    compile_game,
    make_game,
    policy_value,
    solve,
)
from solvent.exact import Solution
from solvent.games.blackjack import OVER, STICK, Blackjack, Hand, dealers_natural
from solvent.games.racetrack import FINISHED, Car, Racetrack

FOLDER = DOCS / "textbook"
PAGES = {
    name: (FOLDER / f"{name}.md").read_text("utf-8")
    for name in ("puterman", "games-for-two", "sutton-barto")
}


def rows(page: str, heading: str) -> list[tuple[str, ...]]:
    return table_rows(PAGES[page], heading)


def number(text: str) -> float:
    """The number with which a cell begins."""
    return float(Fraction(re.match(r"-?[\d./]+", text)[0]))


@cache
def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "scripts" / f"{name}.py"))


@cache
def solved(name: str, **parameters: Any) -> tuple[TabularGame, Solution]:
    table = compile_game(make_game(name, **parameters))
    return table, solve(table)


def value_of(
    name: str, state: tuple[Any, ...] | None = None, **parameters: Any
) -> tuple[float, Solution]:
    """The optimal value of a state, or of the start, and the solution."""
    table, solution = solved(name, **parameters)
    at_state = solution.value if state is None else solution.values[table.index[state]]
    return float(at_state), solution


def against_random(cards: int) -> tuple[float, Solution]:
    table, _ = solved("goofspiel", cards=cards)
    answer = best_response(table, TabularPolicy.uniform(table, player=1))
    return answer.value, answer


def random_policy() -> tuple[float, Solution]:
    table, solution = solved("gridworld")
    return float(policy_value(table, TabularPolicy.uniform(table))[table.index[0, 1]]), solution


class Halves(Racetrack):
    """The racetrack with another rule for a point halfway between two cells."""

    def __init__(self, rounded: Callable[[Fraction], int]) -> None:
        super().__init__()
        object.__setattr__(self, "rounded", rounded)

    def _drive(self, car: Car) -> list[tuple[Car, Fraction]]:
        parts = max(car.up, car.right)
        for part in range(1, parts + 1):
            row = car.row - self.rounded(Fraction(car.up * part, parts))  # type: ignore[attr-defined]
            column = car.column + self.rounded(Fraction(car.right * part, parts))  # type: ignore[attr-defined]
            outside = row < 0 or column >= len(self.rows[0])
            cell = "#" if outside else self.rows[row][column]
            if cell == "F":
                return [(FINISHED, Fraction(1))]
            if cell == "#":
                return [(start.state, start.probability) for start in self.initial()]
        return [(car._replace(row=row, column=column) if parts else car, Fraction(1))]


class DealersNatural(Blackjack):
    """Blackjack in which a natural of the dealer's beats a 21 of three cards."""

    def transition(self, state: Hand, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        found = super().transition(state, joint_action)
        if joint_action != (STICK,) or state.natural or state.total != 21:
            return found
        natural = dealers_natural(state.dealer)
        results = {one.reward: one.probability for one in found} | {-1: natural}
        results[0] -= natural
        return tuple(Outcome(p, OVER, reward) for reward, p in results.items() if p)


def variation(game: Any) -> tuple[float, Solution]:
    solution = solve(compile_game(game))
    return solution.value, solution


# By the row of the tables.
OURS: dict[str, Callable[[], tuple[float, Solution]]] = {
    **{
        f"inventory, stock {k}, 3 periods left": lambda k=k: value_of("inventory", stock=k)
        for k in range(4)
    },
    "equipment replacement, 12 periods": lambda: value_of("equipment-replacement"),
    "tic-tac-toe": lambda: value_of("tic-tac-toe"),
    "Nim 3, 4, 5": lambda: value_of("nim"),
    "Nim 3, 5, 6": lambda: value_of("nim", heaps=(3, 5, 6)),
    "misère Nim 1, 1, 1": lambda: value_of("nim", heaps=(1, 1, 1), misere=True),
    "rock-paper-scissors, weights 1, 2, 3": lambda: value_of("rock-paper-scissors", wins=(1, 2, 3)),
    "Blotto, 4 regiments against 3 on 2 posts, with spoils": lambda: value_of(
        "blotto", soldiers=(4, 3), fields=2, spoils=True
    ),
    "Blotto, 5 soldiers each on 3 fields": lambda: value_of("blotto"),
    "Goofspiel, 5 cards, random order": lambda: value_of("goofspiel", cards=5),
    "Goofspiel, 5 cards, against bids at random": lambda: against_random(5),
    "Goofspiel, 4 cards, against bids at random": lambda: against_random(4),
    "Littman's soccer": lambda: value_of("soccer"),
    "gridworld, random policy, cell A": random_policy,
    "gridworld, optimum, cell A": lambda: value_of("gridworld", (0, 1)),
    "Jack's car rental, no cars": lambda: value_of("car-rental", (0, 0)),
    "gambler's problem, 50 of 100": lambda: value_of("gambler", (50,)),
    "Blackjack from the deal": lambda: value_of("blackjack"),
    "Blackjack, a natural is any 21": lambda: value_of("blackjack", natural=False),
    "Blackjack, a dealer's natural beats a 21 of three cards": lambda: variation(DealersNatural()),
    "racetrack, left track": lambda: value_of("racetrack"),
    "racetrack, right track": lambda: value_of("racetrack", track="book-right"),
    "racetrack, left track, halves down and to the left": lambda: variation(
        Halves(lambda place: ceil(place - Fraction(1, 2)))
    ),
    "racetrack, left track, halves to the even one": lambda: variation(Halves(round)),
    "random walk, state C of five": lambda: value_of("random-walk", (3,)),
    "random walk, last of 19 states": lambda: value_of("random-walk", (19,), states=19, left=-1),
    "windy gridworld": lambda: value_of("windy-gridworld"),
    "windy gridworld, king's moves": lambda: value_of("windy-gridworld", moves="king"),
    "windy gridworld, king's moves, stochastic wind": lambda: value_of(
        "windy-gridworld", moves="king", stochastic=True
    ),
    "cliff walking": lambda: value_of("CliffWalking-v1"),
    "Dyna maze, 14 moves at 0.95": lambda: value_of("dyna-maze"),
}
ROWS = [row for page in PAGES for row in rows(page, "problem")]
# What is printed as something else than a number, and how near to it the value is.
PRINTED = {"0.95¹³": (0.95**13, 1e-9), "about 420": (420.0, 5.0)}


def test_every_problem_is_looked_at() -> None:
    assert [row[0] for row in ROWS] == [*OURS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_values_of_the_pages_are_what_is_computed(row: tuple[str, ...]) -> None:
    problem, _, published, ours, width = row
    value, solution = OURS[problem]()
    assert f"{round(value, 4) + 0.0:.4f}" == ours
    assert 0 <= solution.upper - solution.lower < float(width)
    if published in PRINTED or re.match(r"[-\d]", published):
        digits = 0.05 + 1e-9 if re.fullmatch(r"\d+\.\d", published) else 1e-9
        stated, close = PRINTED.get(published) or (number(published), digits)
        assert value == pytest.approx(stated, rel=0, abs=close)


@pytest.mark.parametrize("name", ["puterman", "games_for_two"])
def test_the_figures_are_what_the_script_draws(name: str) -> None:
    page = PAGES[name.replace("_", "-")]
    figures = script(name)["figures"]()
    assert set(re.findall(r"\]\(([\w-]+\.svg)\)", page)) == set(figures)
    for name, text in figures.items():
        check_figure(text, FOLDER / name)


def test_the_trials_of_soccer() -> None:
    trials = Trials()
    table, live = trials.table, ~trials.table.terminal
    first, second = rows("games-for-two", "games against a random player")
    # The published numbers of the optimal policy are within the range over all of them.
    assert [*first[3:]] == trials.printed(trials.optimal)
    for cell, bounds in zip(first[1:3], first[3:], strict=True):
        low, high = (number(bound.replace(",", "")) for bound in bounds.split(" to "))
        assert low < number(cell.replace(",", "")) < high
    # The corners are optimal: none loses more than the value to a best response.
    corner = np.zeros((table.n_states, 5))
    corner[live], corner[~live, 0] = [one[-1] for one in trials.optimal], 1
    policy = TabularPolicy.of(table, corner / corner.sum(axis=1, keepdims=True))
    assert best_response(table, policy).value == pytest.approx(0, abs=1e-8)
    # All best responses win as often, and as soon.
    assert [*second[3:]] == trials.printed(trials.responses)
    published = [number(cell.replace(",", "")) for cell in second[1:3]]
    # Within four standard deviations of so many games, and its length of 2%.
    won, decided = odds(table, trials.response, trials.random)
    spread = 100 * np.sqrt(won * (1 - won) / published[1])
    assert abs(100 * won - published[0]) < 4 * spread
    assert decided == pytest.approx(published[1], rel=0.02)
    [challenged] = rows("games-for-two", "games against the best response")
    assert challenged[2] == trials.challenged()


# The page on Sutton and Barto's problems: its numbers and figures are the solver's

PAGE, SCRIPT = PAGES["sutton-barto"], script("sutton_barto")
# Figures of what learners have learned in some runs, and of five sweeps of policies.
LONG = {"car-rental", "cliff-walking", "dyna-learning", "n-step", "off-policy", "random-walk"}


def test_the_values_and_optimal_moves_of_the_gridworld_are_the_printed_ones() -> None:
    """Figures 3.2 and 3.5, row by row; r, u and l are east, north and west, all are all four."""
    table, solution = solved("gridworld")
    order = [table.index[row, column] for row in range(5) for column in range(5)]
    random = [
        *(3.3, 8.8, 4.4, 5.3, 1.5),
        *(1.5, 3.0, 2.3, 1.9, 0.5),
        *(0.1, 0.7, 0.7, 0.4, -0.4),
        *(-1.0, -0.4, -0.4, -0.6, -1.2),
        *(-1.9, -1.3, -1.2, -1.4, -2.0),
    ]
    optimal = [
        *(22.0, 24.4, 22.0, 19.4, 17.5),
        *(19.8, 22.0, 19.8, 17.8, 16.0),
        *(17.8, 19.8, 17.8, 16.0, 14.4),
        *(16.0, 17.8, 16.0, 14.4, 13.0),
        *(14.4, 16.0, 14.4, 13.0, 11.7),
    ]
    moves = ["r all l all l", "ru u lu l l", *["ru u lu lu lu"] * 3]
    signs = {"r": {2}, "u": {0}, "l": {3}, "ru": {0, 2}, "lu": {0, 3}, "all": {0, 1, 2, 3}}
    assert policy_value(table, TabularPolicy.uniform(table))[order].round(1).tolist() == random
    assert solution.values[order].round(1).tolist() == optimal
    found = [set(SCRIPT["best_actions"](table, solution.values, state)) for state in order]
    assert found == [signs[cell] for cell in " ".join(moves).split()]


def test_bold_play_has_the_stated_values() -> None:
    table, solution = solved("gambler")
    assert [solution.values[table.index[(dollars,)]] for dollars in (25, 50, 75)] == pytest.approx(
        [0.16, 0.4, 0.64], abs=1e-12
    )
    # Figure 4.3: the smallest stakes have their peaks at 12, 25, 37 or 38, 50, and so on.
    stakes = SCRIPT["smallest_stakes"](table, solution.values)
    assert [stakes[dollars - 1] for dollars in (1, 12, 13, 25, 26, 50, 51, 75, 99)] == [
        1, 12, 12, 25, 1, 50, 1, 25, 1,
    ]  # fmt: skip


def test_blackjack_is_played_as_in_figure_5_2() -> None:
    """From which sum on to stick, by the dealer's card, an ace first."""
    table, solution = solved("blackjack")
    printed = {
        True: [19, *[18] * 7, 19, 19],
        False: [17, 13, 13, 12, 12, 12, 17, 17, 17, 17],
    }
    for usable, sums in printed.items():
        for dealer, least in enumerate(sums, 1):
            for total in range(12, 22):
                state = table.index[total, dealer, usable, False]
                sticks = solution.policies[0].probabilities[state].argmax() == 0
                assert sticks == (total >= least), (usable, dealer, total)


@pytest.mark.slow
def test_policy_iteration_of_the_car_rental_ends_as_in_figure_4_2() -> None:
    found = SCRIPT["car_policies"]()
    assert len(found) == 5
    first, last = found[0][0], found[-1]
    assert not first.any()
    _, solution = solved("car-rental")
    assert last[1] == pytest.approx(solution.values[:441].reshape(21, 21), abs=1e-6)
    assert (last[0].min(), last[0].max()) == (-4, 5)
    stated = re.search(r"no cars is ([\d.]+), of having all 40, ([\d.]+)\.", PAGE)
    assert stated.groups() == (f"{last[1][0, 0]:.2f}", f"{last[1][20, 20]:.2f}")


@pytest.mark.slow
def test_the_errors_of_the_walk_have_the_shape_of_the_book() -> None:
    curves = SCRIPT["walk_curves"]().means
    td = np.array([curves[f"TD {alpha:g}"] for alpha in SCRIPT["TD_ALPHAS"]])
    mc = np.array([curves[f"MC {alpha:g}"] for alpha in SCRIPT["MC_ALPHAS"]])
    # After each number of episodes the best TD is below every MC, and at last every TD is.
    assert (td.min(axis=0) < mc.min(axis=0)).all()
    assert td[:, -1].max() < mc[:, -1].min()
    for curve in (td, mc):
        assert (np.diff(curve[:, 4]) < 0).all()  # Large steps are fast,
    assert (np.diff(td[:, -1]) > 0).all()  # but end higher.
    assert mc[1:, -1].tolist() == sorted(mc[1:, -1])
    stated = re.search(r"α = 0\.05 ends at ([\d.]+), MC with 0\.02 at ([\d.]+)\.", PAGE)
    assert stated.groups() == (f"{td[0, -1]:.3f}", f"{mc[1, -1]:.3f}")
    assert mc[:, -1].argmin() == 1


@pytest.mark.slow
def test_an_intermediate_n_is_best() -> None:
    """Figure 7.2: n = 4 with a step size of about 0.4, and the larger n, the smaller the step."""
    errors = SCRIPT["n_step_errors"]()
    best = {n: SCRIPT["STEP_SIZES"][int(line.argmin())] for n, line in errors.items()}
    assert best == {1: 0.8, 2: 0.6, 4: 0.4, 8: 0.2, 16: 0.1, 32: 0.1}
    least = {n: line.min() for n, line in errors.items()}
    assert min(least, key=least.__getitem__) == 4
    check_sentences("textbook/sutton-barto.md", [
        f"the mean error is {least[4]:.2f} with n = 4, {least[1]:.2f} with n = 1 and "
        f"{least[32]:.2f} with n = 32."
    ])  # fmt: skip


def test_the_hand_of_figure_5_3_has_the_value_that_was_simulated() -> None:
    """Example 5.4: -0.27726 is a mean over 100 million episodes, with a standard error of 1e-4."""
    table, state, policy = SCRIPT["one_hand"]()
    value = policy_value(table, policy)[state]
    assert value == pytest.approx(-0.27726, abs=2e-4)
    assert table.at_start(policy_value(table, policy)) == value
    assert re.search(r"The exact value is −([\d.]+);", PAGE).group(1) == f"{-value:.5f}"


@pytest.mark.slow
def test_weighted_importance_sampling_has_less_error_at_first() -> None:
    errors = SCRIPT["off_policy_errors"]()
    ordinary, weighted = errors["ordinary"], errors["weighted"]
    assert (weighted[:5] < ordinary[:5] / 3).all()
    for line in (ordinary, weighted):
        assert line[-1] < 0.011 < line[99]
    stated = re.search(r"sampling: ([\d.]+) and ([\d.]+) after five\s+episodes", PAGE)
    assert stated.groups() == (f"{ordinary[4]:.1f}", f"{weighted[4]:.1f}")


@pytest.mark.slow
def test_q_learning_finds_the_better_way_and_earns_less_on_it() -> None:
    found = {name: numbers[0, -1] for name, numbers in SCRIPT["cliff_curves"]().numbers.items()}
    stated = re.search(r"Q-learning ends\s+at (−[\d.]+) and Sarsa at (−[\d.]+);", PAGE)
    for name, shown in zip(
        ("Q-learning, ε-greedy", "Sarsa, ε-greedy"), stated.groups(), strict=True
    ):
        assert f"{found[name]:.1f}".replace("-", "−") == shown
    assert found["Q-learning, greedy"] == pytest.approx(-13)
    assert found["Sarsa, greedy"] == pytest.approx(-17)


@pytest.mark.slow
def test_planning_needs_fewer_episodes() -> None:
    curves = SCRIPT["dyna_curves"]()
    nearly = [curves.at[numbers.mean(axis=0) > 0.4][0] for numbers in curves.numbers.values()]
    assert nearly == [24, 5, 2]
    check_sentences("textbook/sutton-barto.md", {
        "a value above 0.4 after 24 episodes without planning, 5 with five planning steps and 2 "
        "with fifty (mean of ten runs": SCRIPT["RUNS"] == 10
    })  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LONG else [])
        for name in SCRIPT["PICTURES"]
    ],
)
def test_the_figures_are_those_of_the_script(name: str) -> None:
    check_figure(SCRIPT["PICTURES"][name](), FOLDER / f"{name}.svg")
    assert f"]({name}.svg)" in PAGE


def test_the_map_of_orders_shows_an_s_s_policy() -> None:
    shop = script("puterman")["SHOP"]
    assert f"room for {shop.capacity} and a demand of up to {len(shop.demand) - 1}" in " ".join(
        PAGES["puterman"].split()
    )
    orders = script("puterman")["decisions"](shop)
    levels = {}
    for left in range(1, shop.horizon + 1):
        row = {stock: order for (periods, stock), order in orders.items() if periods == left}
        ordering = [stock for stock in sorted(row) if row[stock]]
        assert ordering == list(range(len(ordering))), "from some stock on nothing is ordered"
        [levels[left]] = {stock + row[stock] for stock in ordering}
    assert levels[1] < levels[2] < levels[12]


def test_the_limits_of_the_machine_are_those_of_the_page() -> None:
    replaced = script("puterman")["decisions"](script("puterman")["MACHINE"])
    limit = {
        left: min(
            wear for (periods, wear), action in replaced.items() if action and periods == left
        )
        for left in range(1, 12)
    }
    assert limit == {1: 5} | dict.fromkeys(range(2, 12), 3)
    assert "3 steps of wear, and 5 in the last period" in PAGES["puterman"]


def test_the_bids_of_the_page() -> None:
    for_three = script("games_for_two")["first_bids"](5)[3]
    assert int(np.argmax(for_three)) + 1 == 4
    assert for_three[2] == pytest.approx(0, abs=1e-9)
