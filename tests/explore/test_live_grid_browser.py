"""The live gridworld in a real browser, beside the package: same grids, same random numbers.

The page gets random grids, and its exported Python files are run and solved here. Its learners and
those of `solvent.tabular` draw from the same list of uniform numbers, so that their tables must be
equal after every episode.
"""

import random
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from chromium import errors_of, wait_until
from explored import served
from gymnasium import spaces

from solvent import TabularPolicy, compile_game, discounted, make_game, solve, tabular
from solvent.exact import ImproperGameError
from solvent.explore import Library
from solvent.explore.explorer import live_grid_page, render

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]

GRIDS = 60
EPISODES = 12


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "live_grid.html"
    file.write_text(render(None, live_grid_page()), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(page: Any, address: str) -> Any:
    page.get("about:blank")
    page.get(address)
    errors_of(page)
    return page


def random_grid(seed: int, gammas: tuple[float, ...] = (1, 1, 0.9, 0.95)) -> dict[str, Any]:
    dice = random.Random(seed)
    rows, columns = dice.randint(1, 5), dice.randint(2, 6)
    board = [dice.choices(".#GHC", (10, 2, 1, 1, 1), k=columns) for _ in range(rows)]
    board[0][0] = "S" if dice.random() < 0.8 else "."
    cells = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    return {
        "map": ["".join(row) for row in board],
        "rewards": {cell: dice.choice([1, -1, -5, 2.5]) for cell in cells if dice.random() < 0.2},
        "step": dice.choice([0, -1, -0.04]),
        "wind": [dice.choice([0, 0, 0, 1, 2]) for _ in range(columns)],
        "slip": dice.choice([0, 12, 40, 60]),
        "gamma": dice.choice(gammas),
    }


def ending_grids(page: Any, number: int) -> Iterator[tuple[int, dict[str, Any], ModuleType]]:
    """Discounted grids that the page shows, in which the uniform policy always comes to an end."""
    ends = (
        "const each = page.problem.over.map(() => [1, 1, 1, 1].map((x) => x / 4));"
        "return evaluate({...page.problem, gamma: 1}, each).values.every(Number.isFinite)"
        "  && page.problem.states.length > 4"
    )
    drawn = ((seed, random_grid(seed, (0.9, 0.95))) for seed in range(1000))
    shown = ((seed, grid, use(page, grid)) for seed, grid in drawn)
    return islice((one for one in shown if page.execute_script(ends)), number)


def run_file(text: str) -> ModuleType:
    module = ModuleType("drawn_by_test")
    sys.modules[module.__name__] = module  # Named tuples with annotations look there.
    exec(compile(text, "my_grid.py", "exec"), module.__dict__)
    return module


def use(page: Any, grid: dict[str, Any]) -> ModuleType:
    """Show a grid on the page, and return the module that the page writes of it."""
    page.execute_script("use(arguments[0])", grid)
    return run_file(page.execute_script("return document.querySelector('#source').value"))


def test_exported_grids_have_the_values_that_the_page_shows(page: Any) -> None:
    refused = 0
    for seed in range(GRIDS):
        grid = random_grid(seed)
        module = use(page, grid)
        shown = page.execute_script("return page.best && [...page.best.values, page.best.start]")
        rules = module.DrawnGrid()
        game = rules if grid["gamma"] == 1 else discounted(rules, module.DISCOUNT)
        try:
            solution = solve(game)
        except ImproperGameError:
            assert shown is None, f"grid {seed}"
            refused += 1
            continue
        assert solution.value == pytest.approx(shown[-1], abs=1e-9), f"grid {seed}"
        columns, policy = len(grid["map"][0]), solution.solution.policies[0].probabilities
        for n, state in enumerate(solution.table.states):
            if not isinstance(state, module.Cell) or rules.is_terminal(state):
                continue
            cell = state.row * columns + state.column
            assert solution.solution.values[n] == pytest.approx(shown[cell], abs=1e-9)
            Q = page.execute_script(
                "return lookahead(page.problem, arguments[0], page.best.values)", cell
            )
            best = np.flatnonzero(np.array(Q) > max(Q) - 1e-7)
            assert set(np.flatnonzero(policy[n])) <= set(best), f"grid {seed}, {state}"
    assert GRIDS / 10 < refused < GRIDS / 2


def test_a_grid_comes_back_from_python_and_from_the_address(page: Any) -> None:
    for seed in range(20):
        grid = random_grid(seed)
        use(page, grid)
        page.execute_script("change(PRESETS['Cliff']); document.querySelector('#source').value = "
                            "arguments[0]; document.querySelector('#read').click()",
                            page.execute_script("return pythonOf(arguments[0], "
                            "document.querySelector('#rules').textContent)", grid))  # fmt: skip
        assert page.execute_script("return page.grid") == grid
        address = page.current_url
        page.get("about:blank")
        page.get(address)
        assert page.execute_script("return page.grid") == grid


def uniform_numbers(seed: int, count: int) -> list[float]:
    dice = random.Random(seed)
    return [dice.random() for _ in range(count)]


class Stream:
    """Uniform numbers from a list, which a learner and its environment share."""

    def __init__(self, numbers: list[float]) -> None:
        self.left = iter(numbers)

    def random(self) -> float:
        return next(self.left)

    def integers(self, high: int, size: int | None = None) -> Any:
        """Ranks of remembered steps; without a size the environment's seed, which it needs not."""
        return 0 if size is None else np.array([int(self.random() * high) for _ in range(size)])


class SharedLuck(gym.Env[int, int]):
    """The grid of a module, in which every outcome takes the next number of a stream."""

    def __init__(self, module: ModuleType, stream: Stream) -> None:
        self.module, self.rules, self.stream = module, module.DrawnGrid(), stream
        self.observation_space = spaces.Discrete(len(module.CELLS))
        self.action_space = spaces.Discrete(4)

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        return self._take(self.rules.initial())[0], {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        cell, reward = self._take(self.rules.transition(self.state, (action,)))
        return cell, reward, self.rules.is_terminal(self.state), False, {}

    def _take(self, outcomes: Any) -> tuple[int, float]:
        sums = np.cumsum([float(one.probability) for one in outcomes])
        number = self.stream.random() * sums[-1]
        outcome = outcomes[int(sums.searchsorted(number, side="right"))]
        self.state = outcome.state
        return self.module.CELLS.index(outcome.state), float(outcome.reward)


# The learners of the page, with settings for the package's of the same name.
LEARNERS: dict[str, dict[str, Any]] = {
    "td": {"alpha": 0.2},
    "td_lambda": {"alpha": 0.2, "lambda_": 0.8},
    "sarsa": {"alpha": 0.3, "epsilon": 0.2},
    "sarsa_lambda": {"alpha": 0.1, "epsilon": 0.2, "lambda_": 0.7},
    "n_step_sarsa": {"alpha": 0.3, "epsilon": 0.2, "n": 3},
    "expected_sarsa": {"alpha": 0.3, "epsilon": 0.2},
    "q_learning": {"alpha": 0.3, "epsilon": 0.2},
    "dyna_q": {"alpha": 0.3, "epsilon": 0.2, "n": 4},
}

TABLES = """
const [name, settings, numbers, episodes] = arguments;
let taken = 0;
const run = new Run(page.problem, name, settings, page.best, () => numbers[taken++]);
const tables = [];
while (tables.length < episodes) {
  const {units} = run;
  run.update();
  const {V, Q} = run.table;
  if (run.units > units) tables.push(run.method.shows === "V" ? [...V] : Q.map((q) => [...q]));
}
return tables;
"""


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_with_the_same_luck_make_the_same_tables(page: Any, name: str) -> None:
    options = LEARNERS[name]
    settings = {"alpha": 0.1, "epsilon": 0.1, "lambda": 0.9, "n": 5}
    settings |= {word.rstrip("_"): number for word, number in options.items()}
    for seed, grid, module in ending_grids(page, 6):
        numbers = uniform_numbers(seed, 40_000)
        shown = page.execute_script(TABLES, name, settings, numbers, EPISODES)
        stream = Stream(numbers)
        env, learn = SharedLuck(module, stream), getattr(tabular, name)
        policy = [np.full((len(module.CELLS), 4), 0.25)] if name.startswith("td") else []
        estimates = learn(env, *policy, discount=grid["gamma"], rng=stream, **options)
        for episode, estimate in enumerate(islice(estimates, EPISODES)):
            own = estimate.V if estimate.Q is None else estimate.Q
            np.testing.assert_allclose(
                shown[episode], own, atol=1e-12, err_msg=f"grid {seed}, episode {episode}"
            )


SWEEPS = """
const run = new Run(page.problem, arguments[0], {}, page.best, Math.random);
const tables = [];
while (!run.ended) {
  const {units} = run;
  run.update();
  if (run.units > units) tables.push([...run.table.V]);
}
return [tables, run.measure().gap, run.measure().rms];
"""


def test_planning_makes_the_same_sweeps(page: Any) -> None:
    for seed, grid, module in ending_grids(page, 12):
        game, discounted = compile_game(module.DrawnGrid()), {"discount": grid["gamma"]}
        cells = [module.CELLS.index(state) for state in game.states]
        sweeps = list(tabular.value_iteration(game, **discounted))
        # The first evaluation is that of the uniform policy, and the last one finds the optimum.
        first = tabular.policy_evaluation(game, TabularPolicy.uniform(game), **discounted)
        *_, last = tabular.policy_iteration(game, **discounted)
        for name, begins, end in (
            ("value_iteration", sweeps, sweeps[-1]),
            ("policy_iteration", first, last),
        ):
            swept, gap, rms = page.execute_script(SWEEPS, name)
            for values, own in zip(swept, begins, strict=begins is sweeps):
                np.testing.assert_allclose(
                    np.array(values)[cells], own.V, atol=1e-12, err_msg=f"grid {seed}"
                )
            np.testing.assert_allclose(np.array(swept[-1])[cells], end.V, atol=1e-9)
            assert (gap, rms) == pytest.approx((0, 0), abs=1e-7)


def test_the_gap_and_the_error_of_a_learner_are_those_of_exact_curves(page: Any) -> None:
    """Also where the greedy policy never ends: the gap is infinite on both sides."""
    met = set()
    windy = page.execute_script("return PRESETS['Windy gridworld']") | {"gamma": 1}
    module = use(page, windy)
    game = compile_game(module.DrawnGrid())
    measured = {quantity: tabular.measure(game, quantity) for quantity in ("gap", "rms")}
    cells = [module.CELLS.index(state) for state in game.states]
    for seed in range(4):
        numbers = uniform_numbers(seed, 60_000)
        stream = Stream(numbers)
        shown = page.execute_script(
            "const [numbers] = arguments; let taken = 0;"
            "const run = new Run(page.problem, 'q_learning', {alpha: 0.5, epsilon: 0.1}, page.best,"
            "  () => numbers[taken++]); const points = [];"
            "while (points.length < 60) { const {units} = run; run.update();"
            "  if (run.units > units) { const {gap, rms} = run.measure();"
            "    points.push([gap === Infinity ? 'inf' : gap, rms]); } }"
            "return points;",
            numbers,
        )
        learning = tabular.q_learning(
            SharedLuck(module, stream), alpha=0.5, epsilon=0.1, rng=stream
        )
        for estimate, (gap, rms) in zip(islice(learning, 60), shown, strict=True):
            own = tabular.Estimate(Q=estimate.Q[cells])
            assert float(gap) == pytest.approx(measured["gap"](own), abs=1e-9)
            assert rms == pytest.approx(measured["rms"](own), abs=1e-9)
            met.add(float(gap) == np.inf)
    assert met == {False, True}


# The grids to begin with, and the games that they are.
PRESETS = {
    "Frozen lake": "FrozenLake-v1",
    "Cliff": "CliffWalking-v1",
    "Windy gridworld": "windy-gridworld",
    "Dyna maze": "dyna-maze",
    "Empty": None,
}


def test_presets_have_the_values_of_their_sources(page: Any) -> None:
    from selenium.webdriver.support.ui import Select

    select = Select(page.find_element("css selector", "#world [name=preset]"))
    assert [option.text for option in select.options[1:]] == list(PRESETS)
    for preset, name in PRESETS.items():
        select.select_by_visible_text(preset)
        start = page.execute_script("return page.best.start")
        value = 0.9**6 if name is None else solve(make_game(name)).value
        assert start == pytest.approx(value, abs=1e-9), preset


def cell_at(page: Any, panel: int, row: float, column: float) -> tuple[Any, int, int]:
    """A grid of the page, and where in it a cell is, from its middle."""
    svg = page.find_element("css selector", f"#panel{panel} svg")
    x, y = page.execute_script(
        "const svg = arguments[0], box = svg.getBoundingClientRect();"
        "const {width, height} = svg.viewBox.baseVal;"
        "const scale = Math.min(box.width / width, box.height / height);"
        "return [(60 * (arguments[2] + 0.5) + 2 - width / 2) * scale,"
        "  (60 * (arguments[1] + 0.5) + 2 - height / 2) * scale];",
        svg, row, column,
    )  # fmt: skip
    return svg, round(x), round(y)


def test_walls_rewards_and_wind_are_drawn_with_the_mouse(page: Any) -> None:
    from selenium.webdriver import ActionChains

    def draw(tool: str, panel: int, row: int, column: int) -> Any:
        """Choose a tool, and press the button on a cell."""
        choose = f"document.querySelector(`[name=tool][value='{tool}']`).click()"
        page.execute_script(choose)
        at = cell_at(page, panel, row, column)
        return ActionChains(page).move_to_element_with_offset(*at).click_and_hold()

    wide = cell_at(page, 0, 0, 3)[1] - cell_at(page, 0, 0, 1)[1]
    draw("#", 0, 0, 1).move_by_offset(wide // 2, 0).move_by_offset(
        wide - wide // 2, 0
    ).release().perform()
    draw("wind", 1, 2, 2).release().click().perform()
    page.execute_script("document.querySelector('#reward').value = '-2.5'")
    draw("reward", 1, 2, 1).release().perform()
    grid = page.execute_script("return page.grid")
    assert grid["map"] == ["S###", ".H.H", "...H", "H..G"]
    assert grid["wind"] == [0, 0, 2, 0]
    assert grid["rewards"] == {"3,3": 1, "2,1": -2.5}
    assert "map=S%23%23%23" in page.current_url


def test_the_keyboard_draws_steps_and_runs(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    svg = page.find_element("css selector", "#panel1 svg")
    page.execute_script("arguments[0].focus()", svg)
    svg.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, "#", Keys.ARROW_RIGHT, "g", "+", "w")
    grid = page.execute_script("return page.grid")
    assert grid["map"] == ["S...", ".H.H", "#G.H", "H..G"]
    assert grid["rewards"] == {"2,1": 2, "3,3": 1}
    assert grid["wind"] == [0, 1, 0, 0]
    assert "Row 3, column 2: goal." in page.find_element("css selector", "#readout").text
    updates = "return page.runs.map((run) => run.updates)"
    body = page.find_element("css selector", "body")
    body.send_keys("n", "n", "n")
    assert page.execute_script(updates) == [3, 3]
    assert len(page.find_elements("css selector", "#panel0 polygon.write")) == 1
    body.send_keys("e")
    assert page.execute_script("return page.runs.map((run) => run.units)") == [1, 1]
    body.send_keys("r")
    wait_until(page, lambda d: min(d.execute_script(updates)) > 20)
    body.send_keys("r")
    assert page.execute_script("return page.running") is False
    body.send_keys("0")
    assert page.execute_script(updates) == [0, 0]


def test_what_an_address_or_a_file_must_not_say_is_told(page: Any, address: str) -> None:
    for what in (
        "#map=S%3Cimg/....&step=1",
        "#map=S./.",
        "#map=S.&gamma=2",
        "#map=S.&wind=9,0",
        "#map=S.&rewards=7,7,1",
    ):
        page.get("about:blank")
        page.get(address + what)
        assert page.find_element("css selector", "#message").is_displayed(), what
        assert page.execute_script("return page.grid.map[0]") == "S..."
    assert page.find_elements("css selector", "img") == []


def test_the_explorer_serves_the_page_under_its_policy(page: Any) -> None:
    with served(Library({}, "")) as address:
        page.get(f"{address}/?all=1")
        page.find_element("css selector", "a[href='/live-grid']").click()
        wait_until(page, lambda d: d.find_elements("css selector", "#panel1 polygon"))
        page.find_element("css selector", "body").send_keys("n")
        assert page.execute_script("return page.runs.map((run) => run.updates)") == [1, 1]
        page.execute_script("change({step: -1})")
        assert "step=-1" in page.current_url


PAGE = Path(__file__).parents[2] / "docs" / "gridworld.md"
ROW = r"^\| ([^|]+) \| ([^|]+) \| ([\d,]+) \w+ \| ([^|]+) \| ([^|]+) \|$"

BEGIN = """
const [world, name, settings] = arguments;
page.names[0] = Object.keys(METHODS).find((key) => METHODS[key].name === name);
page.settings[0] = {...defaults(), ...settings};
change(PRESETS[world]);
"""

TIMES_IMPROVED = """
const [run] = page.runs;
let [times, before] = [0, false];
while (!run.ended) {
  run.update();
  const improved = Boolean(run.backup.improved);
  times += improved && !before;
  before = improved;
}
return times;
"""


def test_the_class_hour_sees_its_numbers(page: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(ROW, text, re.MULTILINE)
    assert len(rows) == 12
    shown = []
    for world, algorithm, count, *_ in rows:
        name, *settings = algorithm.split(", ")
        pairs = (one.replace("α", "alpha").replace("ε", "epsilon").split(" = ") for one in settings)
        page.execute_script(BEGIN, world, name, {word: float(number) for word, number in pairs})
        page.execute_script(
            "for (let n = 0; n < arguments[0]; n++) advance(1e5, true); show()",
            int(count.replace(",", "")),
        )
        numbers = page.find_elements("css selector", "#panel0 .numbers b")
        shown.append((world, algorithm, count, *(number.text for number in numbers)))
        steps = page.execute_script("return page.runs[0].world.steps.toLocaleString('en')")
        if count == "10" and "50" not in algorithm:
            assert f"{name.split(',')[0]} {steps}" in " ".join(text.split())
    assert shown == rows

    page.execute_script(BEGIN, "Frozen lake", "Value iteration", {})
    page.execute_script("for (let n = 0; n < 38; n++) advance(1e5, true)")
    assert f"still {page.execute_script('return page.runs[0].value(0)'):.4f} and" in text
    assert page.execute_script("return page.best.start") == pytest.approx(14 / 17, abs=1e-12)
    page.execute_script(BEGIN, "Frozen lake", "Policy iteration", {})
    assert page.execute_script(TIMES_IMPROVED) == 2
