"""The notebooks run, show pictures, state what they compute, and leave their exercises unsolved."""

import ast
import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from doc_pages import check_sentences

import solvent
from solvent import TabularGame, TabularPolicy, against, solve
from solvent.grading import Exercise, Grade, find_exercise
from solvent.grading.grades import BESIDE, NUMBER
from solvent.model.registry import declared_names
from solvent.tabular import policy_evaluation, policy_iteration, shapley_iteration, value_iteration

# Sentences of the notebooks, compared with what their cells have computed


Names = Mapping[str, Any]
Sentences = list[str]


def optimum(names: Names) -> Sentences:
    solution = names["solution"]
    assert solution.lower <= solution.value <= solution.upper
    assert names["game"].info.acyclic  # No state is met twice.
    return []


def planning(names: Names) -> Sentences:
    errors = np.array([np.abs(V - names["optimum"]).max() for V in names["sweeps"]])
    assert (errors[1:] < 0.99 * errors[:-1]).all()
    assert len([*policy_iteration(names["lake"], discount=names["discount"])]) == 3
    return [
        "multiplies the largest error by at most 0.99. Here it falls faster",
        "Policy iteration takes few steps",
    ]


def temporal_differences(names: Names) -> Sentences:
    measured = names["measured"]
    errors = {name: mean[measured.at >= 10] for name, mean in measured.means.items()}
    assert all(
        (errors[first] < errors[second]).all()
        for first in errors
        for second in errors
        if "TD" in first and "Monte Carlo" in second
    )
    return ["From the tenth walk on, TD with any of these step sizes is ahead"]


def q_learning(names: Names) -> Sentences:
    errors, greedy = names["errors"], names["medians"]["greedy"]
    assert all(numbers.shape[0] == 10 for numbers in errors.numbers.values())
    levels = {name: np.mean(line[errors.at > 3000]) for name, line in errors.medians.items()}
    assert (levels["0.5"], levels["0.3"]) == pytest.approx((0.24, 0.12), abs=0.015)
    last = {name: line[-1] for name, line in errors.medians.items()}
    # The way round the cliff with a row to spare: two steps up, along, and two down.
    safe = np.ones(48, int)
    safe[[36, 24, 12]] = 0
    safe[[23, 35, 11]] = 2
    points = solvent.grade("cliff-policy", safe).points
    return [
        f"{-greedy['SARSA'][-1]:.0f} steps instead of {-greedy['Q-learning'][-1]:.0f}",
        "with 0.5 the error stalls at about 0.24, with 0.3 at about 0.12",
        f"with 0.1 the error is {last['0.1']:.2f} after {errors.at[-1]:,} episodes",
        f"hardly moves, and the error is {last['1/n']:.2f}",
        f"settles: the error is {last['1/n^0.6']:.2f}, the lowest",
        f"The safe way round gets {points:.0f} points",
    ]


def function_approximation(names: Names) -> Sentences:
    scores = [names["scores"][f"does not see {field}"] for field in ("luck", "round")]
    return [f"more than {score.optimality_gap:.3f}" for score in scores]


def gap_attribution(names: Names) -> Sentences:
    where, states = names["where"], names["game"].states
    n, [first] = int(where.loss.argmax()), where.ranked(1)
    assert (states[n].down, states[n].to_go) == (4, 1)
    assert (states[first].to_goal, states[first].down, states[first].to_go) == (71, 4, 1)
    bars = np.bincount([s.to_goal for s in states], weights=where.contribution)
    punts = solvent.grade("drive-policy", np.full(names["game"].n_states, names["PUNT"]))
    assert punts.points == 0
    return [
        f"up to {where.loss[n]:.2f} points, on fourth down with a yard to go",
        f"only once in {1 / where.visits[n]:,.0f} times",
        f"stands at {bars.argmax()} yards",
        f"there one drive in {1 / where.visits[first]:.0f} comes to fourth down",
        f"the punt costs {where.loss[first]:.2f} points",
        f"always punts has a gap of {punts.gap:.2f} and gets none",
    ]


def two_players(names: Names) -> Sentences:
    few, table = [*names["few"], "optimum"], np.array(names["table"])
    twelve, best = few.index(12), few.index("optimum")
    assert table[twelve, 0] > table[best, 0]
    assert table[twelve, best] < table[best, best]
    held = {
        n: solvent.grade("pig-policy", names["hold_at"](n, 0).probabilities).points
        for n in names["numbers"]
    }
    assert held == dict.fromkeys(held, 0) | {10: 3}
    optimal, ten = (
        solvent.grade("pig-response", policy.probabilities)
        for policy in (names["solution"].policies[0], names["hold_at"](10, 0))
    )
    assert (optimal.points, ten.points) == (0, 5)
    return [
        *(f"{x:.3f}" for x in (*table[[twelve, best], 0], *table[[twelve, best], best])),
        "Of all numbers at which to hold, only 10 gets points, and just 3",
        f"{optimal.gap:.3f}",
        f"{ten.gap:.3f}",
    ]


def simultaneous_moves(names: Names) -> Sentences:
    equilibrium, yards = names["equilibrium"], names["yards"]
    assert np.allclose(equilibrium.row_strategy @ yards, equilibrium.value)
    offence, defence = names["football"].info.actions
    assert [name.isdecimal() for name in offence].count(True) == 20
    assert [len(name) == 1 for name in defence].count(True) == 10
    states = find_exercise("optimal-defence").subject.table.n_states
    return [
        "one of twenty plays or a kick, the defence one of ten",
        f"all {states:,} states",
    ]


def football_with_a_clock(names: Names) -> Sentences:
    solved, start = names["solved"], names["start"]
    ahead = [
        solved.value_of(start._replace(ticks=ticks, margin=3, to_goal=50))
        for ticks in range(1, start.ticks + 1)
    ]
    assert min(ahead) > 1 - 1e-9
    agent = find_exercise("beat-the-agent").subject
    calls = agent.table.info.actions[0]
    rule = [calls.index("2" if state.down == 1 else "9") for state in agent.table.states]
    assert solvent.grade("beat-the-agent", np.array(rule)).points > 0
    value = find_exercise("optimal-defence").subject.solution.value
    return [
        "Who leads by three has won",
        f"which gets {agent.solution.value:.2f} points from the first possession",
        "a rule of a few lines gets some points",
        f"optimal play of both sides gives {value:.2f}",
    ]


def own_game(names: Names) -> Sentences:
    # The curve tells which faces to keep.
    for left, face in product(names["left"], names["faces"]):
        values = names["solved"].action_values(names["Die"](face, left), 0)
        assert (face > names["roll"][left - 1, 0]) == (values[0] > values[1])
    return []


def microscope(names: Names) -> Sentences:
    ppo, dqn = (names["seen"][name] for name in ("ppo", "dqn"))
    for result in (ppo, dqn):
        assert result.readings[-1].greedy_value == 0
        assert result.parts.approximation == 0
    assert dqn.parts.exploration == dqn.parts.gap
    assert ppo.parts.exploration == 0
    cosines = names["cosines"]
    assert min(cosines(ppo, "exact_advantages")[1]) > 0.8
    for name in ((), ("exact_states",), ("unclipped",), ("no_entropy",)):
        assert max(cosines(ppo, *name)[1]) < 0.5
    assert cosines(names["better"])[1][-1] > 0.85
    first, last = dqn.readings[1], dqn.readings[-1]
    assert last.bellman_residual < 0.3 * first.bellman_residual
    assert last.value_error > 0.75 * first.value_error
    return [
        f"the gap is all of {names['solution'].value:.3f}",
        f"ends at a gap of {ppo.parts.exact_gap:.2f}",
        f"claims about {last.bias:.2f}",
    ]


# By the notebook: what checks claims, and gives the sentences that state numbers.
CLAIMS: Mapping[str, Callable[[Names], Sentences]] = {
    "01-what-is-an-optimum": optimum,
    "02-value-and-policy-iteration": planning,
    "03-monte-carlo-and-td": temporal_differences,
    "04-q-learning": q_learning,
    "05-function-approximation": function_approximation,
    "06-where-is-the-gap-lost": gap_attribution,
    "07-two-players": two_players,
    "08-simultaneous-moves": simultaneous_moves,
    "09-football-with-a-clock": football_with_a_clock,
    "10-write-your-own-game": own_game,
    "11-the-microscope": microscope,
}


# Right answers to the exercises, by the textbooks' algorithms, as a student may find them


# The change of the largest value with which sweeps end.
LEAST = 1e-13


def action_values(table: TabularGame) -> Any:
    """[S, A] the optimal action values; in a game for two, of player 0 against an optimal one."""
    if (table.action_count[1] > 1).any():
        table = against(table, solve(table).policies[1])
    *_, last = value_iteration(table, theta=LEAST)
    return last.Q


def policy(table: TabularGame) -> Any:
    """[S] the best action, the first of those that are equally good."""
    return action_values(table).round(9).argmax(axis=1)


def uniform_values(table: TabularGame) -> Any:
    *_, last = policy_evaluation(table, TabularPolicy.uniform(table), theta=LEAST)
    return last.V


def maximin(table: TabularGame) -> Any:
    *_, last = shapley_iteration(table)
    return last.pi[0]


def toy_text(env_id: str, discount: float = 1.0, choose: Callable[..., Any] = np.max) -> Any:
    """[S, A] the action values in an environment of Gymnasium's, from its `P`.

    Args:
        env_id: The environment.
        discount: Of the next state.
        choose: The value of a state by those of its actions: `np.mean` of uniform play.
    """
    P = gym.make(env_id).unwrapped.P
    Q, before = np.zeros((len(P), len(P[0]))), np.inf
    while np.abs(Q - before).max() > LEAST:
        V, before = choose(Q, axis=1), Q.copy()
        for s, actions in P.items():
            for a, branches in actions.items():
                Q[s, a] = sum(p * (r + discount * V[t] * (not over)) for p, t, r, over in branches)
    return Q


def walk(table: TabularGame, low: float) -> Any:
    """[S] the values of a random walk: a straight line."""
    last = max(state.number for state in table.states)
    return [low + (1 - low) * state.number / last for state in table.states]


def uneven(table: TabularGame) -> Any:
    """[S, A] each throw as often as the victory over the throw that beats it counts."""
    chances = np.full(table.mask[0].shape, 1 / 3)
    chances[np.flatnonzero(table.initial)] = np.array([3, 1, 2]) / 6
    return chances


SOLUTIONS: dict[str, Callable[[TabularGame], Any]] = {
    "beat-the-agent": policy,
    "blotto-policy": maximin,
    "cliff-action-values": lambda table: toy_text("CliffWalking-v1"),
    "cliff-policy": lambda table: toy_text("CliffWalking-v1").argmax(axis=1),
    "drive-policy": policy,
    "drive-uniform-values": uniform_values,
    "fight-action-values": lambda table: np.maximum(action_values(table), 0),
    "fight-policy": policy,
    "fight-values": uniform_values,
    "lake-policy": lambda table: toy_text("FrozenLake-v1").round(9).argmax(axis=1),
    "lake-uniform-values": lambda table: toy_text("FrozenLake-v1", choose=np.mean).mean(axis=1),
    "lake-values": lambda table: toy_text("FrozenLake-v1", 0.99).max(axis=1),
    "long-walk-values": lambda table: walk(table, -1),
    "maze-policy": policy,
    "maze-uniform-values": uniform_values,
    "network-policy": policy,
    "optimal-defence": policy,
    "own-pig-policy": policy,
    "own-pig-values": lambda table: action_values(table).max(axis=1),
    "pig-policy": policy,
    "pig-response": policy,
    "uneven-prizes": uneven,
    "walk-values": lambda table: walk(table, 0),
}


# The notebooks


ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
QUICK = ("01-what-is-an-optimum", "02-value-and-policy-iteration", "10-write-your-own-game")
# Exercises with tables of 161,426 states.
LARGE = ("beat-the-agent", "optimal-defence")

EXECUTED = [
    pytest.param(file, id=file.stem, marks=() if file.stem in QUICK else pytest.mark.slow)
    for file in NOTEBOOKS
]


def cells(file: Path, kind: str) -> list[str]:
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def exercises_of(file: Path) -> list[str]:
    """The names of the exercises of a notebook, in the order of their grades."""
    named = r"(?:grade|find_exercise)\(\"([\w-]+)\""
    return [name for code in cells(file, "code") for name in re.findall(named, code)]


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many pictures each `plt.show` had to show; they are drawn and thrown away."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    shown: list[int] = []

    def show() -> None:
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
        shown.append(len(plt.get_fignums()))
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    yield shown
    plt.close("all")


@pytest.mark.parametrize("file", EXECUTED)
def test_a_notebook_runs_and_says_what_it_computes_but_no_solution(
    file: Path, pictures: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    grades: list[Grade] = []
    grade = solvent.grade

    def graded(exercise: Any, answer: Any) -> Grade:
        grades.append(grade(exercise, answer))
        return grades[-1]

    monkeypatch.setattr(solvent, "grade", graded, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, code in enumerate(cells(file, "code")):
        exec(compile(code, f"{file.name}, code cell {number}", "exec"), names)
    assert {*map(bool, pictures)} == {True}
    assert [one.exercise for one in grades] == exercises_of(file)
    assert all(one.points < one.out_of for one in grades)
    assert all(one.exercise in one.text for one in grades)
    monkeypatch.setattr(solvent, "grade", grade)
    text = " ".join(" ".join(cells(file, "markdown")).split())
    assert [sentence for sentence in CLAIMS[file.stem](names) if sentence not in text] == []


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in NOTEBOOKS])
def test_a_notebook_is_stored_without_what_it_printed(file: Path) -> None:
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert 2 <= len(exercises_of(file)) <= 3


def test_the_exercises_are_those_that_are_declared_and_each_has_a_notebook() -> None:
    folder = ROOT / "solvent" / "games" / "exercises"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = declared["project"]["entry-points"]["solvent.exercises"]
    asked = [name for file in NOTEBOOKS for name in exercises_of(file)]
    assert len(set(asked)) == len(asked)
    assert {file.stem for file in folder.glob("*.toml")} == set(group) == set(asked)
    assert set(group) <= set(declared_names("solvent.exercises"))
    assert set(SOLUTIONS) == set(group)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in LARGE else ()) for n in sorted(SOLUTIONS)],
)
def test_a_right_answer_gets_all_points_and_one_that_looks_at_no_state_none(name: str) -> None:
    exercise = find_exercise(name)
    got = solvent.grade(exercise, SOLUTIONS[name](exercise.subject.table))
    assert got.points == got.out_of, got.text
    for answer in without_thought(exercise):
        assert solvent.grade(exercise, answer).points == 0


def without_thought(exercise: Exercise) -> Iterator[Any]:
    """Answers that look at no state: one action, the uniform policy, one value for all states."""
    subject = exercise.subject
    rows, actions = subject.rows, subject.mask.shape[1]
    if subject.expected is None:
        first = np.zeros(rows, int)
        first[subject.row] = subject.mask.argmax(axis=1)
        yield from (first, TabularPolicy.uniform(subject.table, player=subject.player))
        yield from (np.full(rows, action) for action in range(actions))
        return
    values, asked = exercise.asks == "values", ~subject.table.terminal
    right = subject.expected[asked if values else subject.mask & asked[:, None]]
    # The last has the smallest largest error of all constants.
    for constant in (0.0, 1.0, right.mean(), (right.min() + right.max()) / 2):
        yield np.full((rows,) if values else (rows, actions), constant)


# The lecturer's page: its course is that in examples/, and its recipes grade


TEXT = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")


def block(title: str) -> str:
    [found] = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', TEXT, re.M | re.S)
    return str(found)


def test_the_course_has_every_notebook_in_its_order() -> None:
    rows = re.findall(r"^\| (\d+) \| `([\w-]+)` \|", TEXT, re.MULTILINE)
    names = sorted(file.stem for file in (ROOT / "examples").glob("*.ipynb"))
    assert [name for _, name in rows] == names
    assert [int(week) for week, _ in rows] == list(range(1, len(names) + 1))


def test_an_exercise_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "my-lake.toml"
    file.write_text(block("my-lake.toml"))
    exercise = find_exercise(file)
    # Nobody slips: the goal is six steps away, and its reward counts 0.9 to the power of five.
    assert exercise.subject.solution.value == pytest.approx(0.9**5)
    assert solvent.grade(file, np.zeros(16)).points == 0


def test_the_cells_of_nbgrader_and_with_an_assert_grade() -> None:
    best = toy_text("FrozenLake-v1").round(9).argmax(axis=1)
    near = best.copy()
    near[2] = (near[2] + 1) % 4
    answers = {"best": best, "near": near, "bad": np.zeros(16, int)}
    *before, last = ast.parse(block("nbgrader")).body
    points = {}
    for name, actions in answers.items():
        names: dict[str, Any] = {"actions": actions}
        exec(compile(ast.Module(before, []), "nbgrader", "exec"), names)
        # nbgrader reads the number from the text that the notebook shows.
        shown = eval(compile(ast.Expression(last.value), "nbgrader", "eval"), names)
        points[name] = float(repr(shown))
    assert points["bad"] == 0 < points["near"] < 10 == points["best"]
    exec(block("assert"), {"actions": answers["best"]})
    with pytest.raises(AssertionError, match="lake-policy: 0 of 10 points"):
        exec(block("assert"), {"actions": answers["bad"]})


def test_the_page_states_the_limits_and_the_scale_that_hold() -> None:
    scale = [(1e-6, 10), (0.05, 6), (0.2, 3)]
    check_sentences("teaching.md", {
        "of more than 64 kB plus 32 bytes for each number of the answer":
            (NUMBER, BESIDE) == (32, 64 * 1024),
        "[[1e-6, 10], [0.05, 6], [0.2, 3]]": [*find_exercise("lake-policy").points] == scale,
    })  # fmt: skip
