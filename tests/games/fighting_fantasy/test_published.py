"""The numbers of Johnston 2022 and of the game's page recomputed, the rules of thumb, the maps.

The page's tables are the lists: this file reads them, computes each quantity and compares. A
published figure must be the recomputed one, rounded or cut off (the paper does both); one in
brackets must not be.
"""

import base64
import json
import math
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import fighting_fantasy as paper
import gymnasium as gym
import numpy as np
import pytest
from doc_pages import DOCS, check_claims, check_figure, table_rows
from johnston import (
    victory_with_constant_luck,
    victory_without_luck,
)

import solvent  # noqa: F401 (registers the environments)
from solvent import compile_game, make_game
from solvent.baselines import baseline_names, make_baseline
from solvent.benchmark.records import read_bench
from solvent.exact import policy_value, score, solve, state_visitation
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.baselines import TREE, TREE_THREE
from solvent.games.fighting_fantasy.report import ABSENT
from solvent.games.fighting_fantasy.rules import (
    DAMAGE,
    TEST,
    Combat,
    check_rounds,
    decided,
    luck_succeeds,
    round_probabilities,
)
from solvent.report.page import render
from solvent.report.solved import solve_task

# The numbers of Johnston 2022 and of the game's page, every one recomputed


PAGE = "".join(
    (DOCS / folder / "fighting-fantasy.md").read_text("utf-8") for folder in ("games", "notes")
)


table = partial(table_rows, PAGE)


def number(text: str) -> tuple[float, float]:
    """A printed number and the unit of its last digit: ``"9.8e-6"`` gives 9.8e-6 and 1e-7."""
    scale = 0.01 if text.endswith("%") else 1.0
    mantissa, _, exponent = text.rstrip("%").partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = 10.0 ** int(exponent or 0)
    return float(mantissa) * power * scale, 10.0**-decimals * power * scale


def victory(difference: int, hero: int, opponent: int, luck: int) -> float:
    """The value before a round. The paper's rule for ties changes no figure printed here."""
    return solve(FightingFantasy(difference, hero, opponent, luck)).value


def against(name: str, luck: int) -> float:
    return solve(make_game("ff-combat", opponent=name, skill=12, stamina=24, luck=luck)).value


def folds(final: float = 0.0, initial: float = 0.0) -> tuple[float, str]:
    """The largest fold increase by LUCK with final and initial probability above, and where."""
    value = paper.box().value
    start = np.broadcast_to(value[..., :1], value.shape)
    counts = (value > final) & (start > max(initial, 0))
    fold = np.where(counts, value, 0) / np.where(start > 0, start, 1)
    row, hero, opponent, luck = np.unravel_index(fold.argmax(), fold.shape)
    where = (int(row) - 10, int(hero) + 1, int(opponent) + 1, int(luck))
    return float(fold.max()), str(where)


def differing(difference: int, luck: int | slice = slice(None)) -> np.ndarray:
    """[n, ...] where the paper's strategies for a difference are not those for -9."""
    at = [paper.box().codes[d + 10][:, :, luck] for d in (-9, difference)]
    return np.argwhere(at[0] != at[1])


def literal_hell_demon() -> float:
    """V(-2, 24, 12, 12) by equations 17-20 as printed: draws lose their probability."""
    p_w, _, p_l = (float(p) for p in round_probabilities(-2))

    @cache
    def value(hero: int, opponent: int, luck: int) -> float:
        if hero <= 0 or opponent <= 0:
            return float(hero > 0)
        won, lost = value(hero, opponent - 2, luck), value(hero - 2, opponent, luck)
        if luck > 0:
            q, left = float(luck_succeeds(luck)), luck - 1
            test = q * value(hero, opponent - 4, left) + (1 - q) * value(hero, opponent - 1, left)
            won = max(won, test)
            test = q * value(hero - 1, opponent, left) + (1 - q) * value(hero - 3, opponent, left)
            lost = max(lost, test)
        return p_w * won + p_l * lost

    return value(24, 12, 12)


def saved(damage: str) -> float:
    return float(1 - paper.paper_tree(damage).relative_error(*paper.box(damage).points()))


def correct(damage: str) -> float:
    return float(paper.paper_tree(damage).accuracy(*paper.box(damage).points()))


QUANTITIES: dict[str, Callable[[], float | str]] = {
    "V(-9, 2, 23, 12)": lambda: victory(-9, 2, 23, 12),
    "its order of magnitude over V(-9, 2, 23, 0)": lambda: math.floor(
        math.log10(victory(-9, 2, 23, 12) / victory(-9, 2, 23, 0))
    ),
    "V(-4, 22, 19, 0)": lambda: victory(-4, 22, 19, 0),
    "V(-4, 22, 19, 12)": lambda: victory(-4, 22, 19, 12),
    "largest fold increase, final V > 0.01": lambda: folds(final=0.01)[0],
    "V(-2, 22, 21, 0)": lambda: victory(-2, 22, 21, 0),
    "V(-2, 22, 21, 12)": lambda: victory(-2, 22, 21, 12),
    "largest fold increase, initial V > 0.01": lambda: folds(initial=0.01)[0],
    "Adult White Dragon, 24 STAMINA, 0 LUCK": lambda: against("adult-white-dragon", 0),
    "Adult White Dragon, 24 STAMINA, 12 LUCK": lambda: against("adult-white-dragon", 12),
    "Hell Demon, 24 STAMINA, 0 LUCK": lambda: against("hell-demon", 0),
    "Hell Demon, 24 STAMINA, 12 LUCK": lambda: against("hell-demon", 12),
    "Hell Demon, 12 LUCK, equations 17-20 literally": literal_hell_demon,
    "strategies that differ, Δ = -9 and -4, l = 12": lambda: len(differing(-4, 12)),
    "strategies that differ, Δ = -9 and -8, any l": lambda: len(differing(-8)),
    "strategies that differ, Δ = -9 and -7, any l": lambda: len(differing(-7)),
    "strategies that differ, Δ = -9 and -6, any l": lambda: len(differing(-6)),
    "tree: share of errors saved": lambda: saved("standard"),
    "tree: share of points classified correctly": lambda: correct("standard"),
    "tree, variant: share of errors saved": lambda: saved("three"),
    "tree, variant: share of points classified correctly": lambda: correct("three"),
    "where that is, final V > 0.01": lambda: folds(final=0.01)[1],
    "where that is, initial V > 0.01": lambda: folds(initial=0.01)[1],
}


# Quantities for which all combats of the paper are solved.
OF_ALL = "largest fold increase", "strategies that differ", "tree", "where that is"


def test_the_page_lists_every_quantity_once() -> None:
    assert sorted(row[0] for row in table("quantity")) == sorted(QUANTITIES)


@pytest.mark.parametrize(
    ("quantity", "published", "recomputed"),
    [
        pytest.param(*row, marks=pytest.mark.slow if row[0].startswith(OF_ALL) else ())
        for row in table("quantity")
    ],
    ids=lambda cell: cell[:48],
)
def test_published(quantity: str, published: str, recomputed: str) -> None:
    value = QUANTITIES[quantity]()
    if isinstance(value, str):
        assert value == recomputed == published
        return
    ours, our_unit = number(recomputed)
    assert value == pytest.approx(ours, rel=0, abs=0.5001 * our_unit)
    fails = published.startswith("(")
    theirs, their_unit = number(published.strip("()"))
    assert (abs(value - theirs) > their_unit) == fails


@pytest.mark.slow
def test_the_five_differences_are_where_the_page_says() -> None:
    [sentence] = re.findall(r"The five differences at l = 12 are at .*", PAGE)
    pairs = [(int(h), int(o)) for h, o in re.findall(r"\((\d+), (\d+)\)", sentence)]
    assert pairs == [(int(h) + 1, int(o) + 1) for h, o in differing(-4, 12)]


def band_and_strip(*, exact: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """[D, 24, L] points that test in defence at 2 STAMINA, and in offence against 3."""
    tests = paper.box(exact=exact).tests
    return tests[:, 1, :, :, 1].sum(axis=1), tests[:, :, 2, :, 0].sum(axis=1)


@pytest.mark.slow
def test_the_rule_for_ties_changes_the_number_of_strategies_the_page_says() -> None:
    [(count, points)] = re.findall(r"by exact comparison (\d+) of the (\d+)\s+points", PAGE)
    exact, ours = paper.box(exact=True), paper.box()
    changed = exact.codes != ours.codes
    assert (changed.sum(), changed.size) == (int(count), int(points))
    assert np.unique(np.nonzero(changed)[0]).min() - 10 == 1
    np.testing.assert_allclose(ours.value, exact.value, rtol=1e-9)
    band, strip = band_and_strip(exact=True)
    assert (band[1:, 2:] == 24).all()
    assert (strip[:20, 2:] == 24).all()
    assert not strip[20].any()


def largest_drops(difference: int) -> list[int]:
    """The LUCKs at which the most points are lost by having one less, from 2 on."""
    points_that_test = paper.box().tests[difference + 10].any(axis=-1).sum(axis=(0, 1))
    drops = np.diff(points_that_test)[1:]
    return (np.flatnonzero(drops == drops.max()) + 2).tolist()


@pytest.mark.slow
def test_luck_is_tested_where_the_page_says() -> None:
    # The transition between 6 and 5.
    drops = {difference: largest_drops(difference) for difference in range(-10, 11)}
    assert [d for d, lucks in drops.items() if lucks == [6]] == [-5, -4]
    several = {d: lucks for d, lucks in drops.items() if len(lucks) > 1}
    assert [*several] == [-9, -8]
    assert all(len(lucks) == 4 and 6 in lucks for lucks in several.values())
    assert [drops[d] for d in range(-3, 9)] == [[7]] * 7 + [[8]] * 5
    # The defensive band and the offensive strip.
    band, strip = band_and_strip()
    assert (band[1:, 2:] == 24).all()
    assert (strip[:13, 2:] == 24).all()
    assert strip[13:20, 6].tolist() == [24, 18, 14, 11, 8, 6, 5]
    # Without a chance to win a round there is nothing to gain. What is best after a round won is
    # defined, but no round is ever won.
    for nothing in (band[0], band[:, 1], strip[20], paper.box().value[0]):
        assert not nothing.any()
    assert set(np.unique(paper.box().codes[0])) == {0, 3}


@pytest.mark.slow
def test_the_page_judges_the_other_claims_of_the_paper() -> None:
    behind, even = round_probabilities(-2), round_probabilities(0)

    def without(hero: int, opponent: int) -> str:
        return f"{float(victory_without_luck(behind, hero, opponent)):.4f}"

    def tested(luck: int, hero: int, opponent: int | None = None) -> str:
        won = victory_with_constant_luck(even, luck_succeeds(luck), hero, opponent or hero)
        return f"{float(won):.4f}"

    def listed(numbers: list[str]) -> str:
        return ", ".join(numbers[:-1]) + f" and {numbers[-1]}"

    three_times = listed([without(3 * n, n) for n in (2, 4, 6, 8)])
    lucky, likely = (listed([tested(luck, n) for n in (4, 8, 12, 24)]) for luck in (12, 7))
    fold = victory(-9, 2, 23, 12) / victory(-9, 2, 23, 0)
    odd = max(
        abs(victory_without_luck(behind, 2 * n, m) - victory_without_luck(behind, 2 * n - 1, m))
        for n in range(1, 13)
        for m in range(1, 25)
    )
    check_claims(
        "notes/fighting-fantasy.md",
        {
            "at Δ = -2 with three times the opponent's STAMINA, victory is still likely": (
                f"{three_times} at 6 : 2, 12 : 4, 18 : 6 and 24 : 8; {without(3, 1)} at 3 : 1"
            ),
            'constant LUCK 12 makes victory "highly likely" at Δ = 0': (
                f"{lucky} at 4, 8, 12 and 24 STAMINA on both sides; {tested(12, 2)} at 2"
            ),
            "the only exception is an opponent with far more STAMINA": (
                f"{tested(12, 8, 24)} at 8 : 24; {tested(12, 6)} at 6 : 6"
            ),
            '"substantial shifts" even at l = 7': (
                f"{likely} instead of 0.5 at 4, 8, 12 and 24; {tested(7, 2)} at 2"
            ),
            "the probability 2.3e-19": f"{victory(-9, 2, 23, 12):.4g}",
            "increased by a factor of 10^18": f"{fold:.2e}".replace("e+", "e"),
            "the 21-fold increase": f"{folds(initial=0.01)[0]:.2f}",
            "without LUCK STAMINA 2n is as good as 2n - 1": f"the largest difference is {odd}",
            "below l = 6.5 a failure is likelier than a success": (
                f"a test succeeds with {float(luck_succeeds(6)):.4f} at l = 6 and "
                f"{float(luck_succeeds(7)):.4f} at l = 7"
            ),
        },
    )


# Weights of STAMINA and LUCK left, the value, the chance of victory, and what is left then.
KEPT = [
    ["0", "0", "0.737293", "0.737293", "4.5150", "4.4592"],
    ["0", "1/10", "1.255749", "0.709376", "3.4137", "5.4637"],
    ["1/10", "1/10", "1.640061", "0.736028", "4.4158", "4.6246"],
]


@pytest.mark.parametrize("row", KEPT, ids=str)
def test_what_is_kept(row: list[str]) -> None:
    game = compile_game(make_game("ff-combat", stamina_weight=row[0], luck_weight=row[1]))
    solution = solve(game)
    ends = state_visitation(game, solution.policies[0]) * [s.opponent == 0 for s in game.states]
    victory, hero, luck = ends @ np.array([(1, s.hero, s.luck) for s in game.states])
    assert row[2:] == [f"{solution.value:.6f}", f"{victory:.6f}", f"{hero:.4f}", f"{luck:.4f}"]


@pytest.mark.parametrize(
    ("environment", "states", "value", "width"),
    [
        pytest.param(*row, marks=[pytest.mark.slow] if "Random" in row[0] else [])
        for row in table("environment")
    ],
)
def test_optimum_on_the_page(environment: str, states: str, value: str, width: str) -> None:
    parameters = dict(gym.spec(environment).kwargs)
    game = compile_game(make_game(parameters.pop("game"), **parameters))
    solution = solve(game)
    assert game.n_states == int(states)
    assert solution.value == pytest.approx(float(value), rel=0, abs=5.001e-13)
    assert solution.upper - solution.lower < float(width)
    assert gym.spec(environment).reward_threshold == pytest.approx(solution.value, abs=1e-12)


@pytest.mark.parametrize(("name", "_", "value", "gap", "normalized"), table("baseline"))
def test_baseline_on_the_page(name: str, _: str, value: str, gap: str, normalized: str) -> None:
    table = compile_game(make_game("ff-combat"))
    result = score(table, make_baseline(name, table))
    assert f"{result.value:.6f}" == value
    assert f"{result.optimality_gap + 0.0:.6f}".removeprefix("-") == gap
    assert f"{result.normalized:.3f}" == normalized


def test_the_page_has_every_baseline_of_the_game() -> None:
    names = set(baseline_names(compile_game(make_game("ff-combat"))))
    # Learned anew each time, and first-legal is never.
    assert {row[0] for row in table("baseline")} == names - {"q-learning", "first-legal"}


def test_the_damage_on_the_page_is_the_damage_of_the_rules() -> None:
    won, lost = (tuple(map(int, row[1:])) for row in table("STAMINA lost"))
    damage = DAMAGE["standard"]
    assert won == (damage.won, damage.won_lucky, damage.won_unlucky)
    assert lost == (damage.lost, damage.lost_lucky, damage.lost_unlucky)


@pytest.mark.slow
def test_more_skill_stamina_or_luck_never_hurts_and_without_luck_sides_are_alike() -> None:
    value = paper.box().value  # [21, 24, 24, 13] by difference, STAMINAs from 1, and LUCK.
    # Play by the paper's rule gives up a relative 1e-10 where victory is all but certain.
    for axis, sign in enumerate((1, 1, -1, 1)):
        assert (sign * np.diff(value, axis=axis) >= -1e-9).all()
    # Without LUCK one side wins as often as the other loses.
    mirrored = value[::-1, ..., 0].swapaxes(1, 2)
    np.testing.assert_allclose(value[..., 0] + mirrored, 1, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", paper.FIGURES)
def test_the_picture_is_what_the_script_draws(name: str) -> None:
    check_figure(paper.picture(name), DOCS / "games" / f"{name}.svg", 20_000)
    assert f"](../games/{name}.svg)" in (DOCS / "notes/fighting-fantasy.md").read_text("utf-8")


@pytest.mark.parametrize(
    "rounds", [("1/3", "1/6", "1/2"), (0.7, 0, 0.3), (0, "1/2", "1/2"), ("1/4", "3/4", 0)]
)
def test_equations_6_and_13_hold_for_any_probabilities_of_a_round(rounds: tuple[Any, ...]) -> None:
    exact = check_rounds(rounds)
    for hero, opponent in np.ndindex(7, 7):
        value = victory_without_luck(exact, hero + 1, opponent + 1)
        # Without LUCK nothing is decided, so that the game itself is worth the same.
        game = FightingFantasy(0, hero + 1, opponent + 1, 0, round_probabilities=rounds)
        if (hero + opponent) % 5 == 0:
            assert solve(compile_game(game)).value == pytest.approx(float(value), abs=1e-14)
    game = FightingFantasy(0, [1, 7], [1, 7], 8, round_probabilities=rounds, luck_cost=0)
    table = compile_game(game)
    values = policy_value(table, make_baseline("offensive", table))
    for hero, opponent in np.ndindex(7, 7):
        expected = sum(
            float(p) * values[table.index[(0, hero + 1, opponent + 1, 8, outcome)]]
            for outcome, p in decided(exact).items()
        )
        formula = victory_with_constant_luck(exact, luck_succeeds(8), hero + 1, opponent + 1)
        assert float(formula) == pytest.approx(expected, abs=1e-13)


def test_equation_13_as_printed_is_no_probability() -> None:
    rounds = round_probabilities(0)
    for printed, value in ((False, 0.846031), (True, 10.643652)):
        found = victory_with_constant_luck(rounds, luck_succeeds(11), 12, 12, as_printed=printed)
        assert float(found) == pytest.approx(value, abs=5e-7)


# The rules of thumb for Fighting Fantasy combat


# After which rounds simple rules test LUCK whenever any is left.
SIMPLE: dict[str, set[str]] = {
    "never": set(),
    "always": {"won", "lost"},
    "offensive": {"won"},
    "defensive": {"lost"},
}


def test_simple_rules() -> None:
    game = compile_game(FightingFantasy())
    states: list[Any] = list(game.states)
    for name, rounds in SIMPLE.items():
        probabilities = make_baseline(name, game).probabilities
        wanted = [s.luck > 0 and s.round in rounds for s in states]
        assert (probabilities[:, TEST] == wanted).all(), name
        assert (probabilities.sum(axis=1) == ~game.terminal).all(), name


# Whether a rule tests LUCK in a state, and why.
TESTED = [
    ("coarse", Combat(0, 9, 9, 7, "won"), True, "a test is likely to succeed: offence"),
    ("coarse", Combat(0, 9, 9, 7, "lost"), False, "rounds are not easy to win: no defence"),
    ("coarse", Combat(0, 9, 2, 7, "won"), False, "an ordinary hit is enough"),
    ("coarse", Combat(3, 8, 9, 7, "lost"), True, "rounds are easy to win: defence"),
    ("coarse", Combat(3, 9, 9, 7, "lost"), False, "the hero can absorb many losses"),
    ("coarse", Combat(3, 9, 9, 7, "won"), False, "LUCK is stored where victory is likely"),
    ("coarse", Combat(0, 2, 9, 6, "lost"), True, "emergency: the loss would be the last"),
    ("coarse", Combat(0, 1, 9, 6, "lost"), False, "even a success would not help"),
    ("coarse", Combat(0, 3, 9, 6, "lost"), False, "no emergency"),
    ("coarse", Combat(-4, 9, 9, 6, "won"), True, "overwhelmed: offence"),
    ("coarse", Combat(-4, 2, 9, 6, "lost"), False, "overwhelmed: no defence"),
    ("coarse", Combat(-3, 9, 9, 6, "won"), False, "not overwhelmed"),
    ("coarse", Combat(0, 2, 9, 3, "lost"), False, "hardly any LUCK"),
    ("tree", Combat(0, 12, 12, 9, "won"), True, "its code says so"),
    ("tree", Combat(0, 12, 12, 9, "lost"), False, "its code says so"),
    ("tree", Combat(0, 12, 2, 9, "won"), False, "its code says so"),
    ("tree", Combat(0, 2, 12, 5, "lost"), True, "its code says so"),
    ("tree", Combat(0, 2, 12, 5, "won"), False, "its code says so"),
    ("tree", Combat(0, 2, 12, 3, "lost"), False, "its code says so"),
]


def test_rules_of_thumb_test_luck_where_they_say() -> None:
    table = compile_game(FightingFantasy([-4, 3], [1, 12], [1, 12], [0, 9]))
    rules = {name: make_baseline(name, table).probabilities[:, TEST] for name in ("coarse", "tree")}
    for name, state, tested, why in TESTED:
        assert rules[name][table.index[state]] == tested, (name, state, why)


def test_rules_about_skill_are_not_offered_where_there_is_none() -> None:
    table = compile_game(FightingFantasy(0, 4, 4, 2, round_probabilities=round_probabilities(1)))
    named = set(baseline_names(table))
    assert {"never", "always", "offensive", "defensive"} <= named
    assert not {"coarse", "tree"} & named


def as_data(tree: Any, node: int = 0) -> Any:
    """A grown tree as nested tuples (feature, bound, below, above), a leaf as its code."""
    if tree.feature[node] < 0:
        return int(tree.label[node])
    branches = (as_data(tree, int(below[node])) for below in (tree.left, tree.right))
    return tree.names[tree.feature[node]], float(tree.threshold[node]), *branches


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "kept"), [("standard", TREE), ("three", TREE_THREE)])
def test_the_trees_kept_are_those_that_the_papers_method_grows(damage: str, kept: Any) -> None:
    assert as_data(paper.paper_tree(damage)) == kept


# The maps of combat: colours are exact values, digits the strategies, frames the mistakes


@pytest.fixture(scope="module")
def data(results: Path) -> Any:
    [text] = re.findall(
        r'<div class="strategy-maps">.*?<script type="application/json">(.*?)</script>',
        render(results),
        re.DOTALL,
    )
    return json.loads(text)


def cells(data: Any, which: Any) -> tuple[Any, Any]:
    """Values (NaN where there is none) and codes, [difference, luck, hero, opponent]."""
    shares = np.frombuffer(base64.b64decode(which["values"]), "<u2").reshape(data["shape"])
    codes = np.array([int(c, 16) for c in which["codes"]]).reshape(data["shape"])
    return np.where(shares == ABSENT, np.nan, shares / (ABSENT - 1)), codes


def test_every_cell_is_the_value_of_a_combat_that_starts_there(data: Any) -> None:
    values, _ = cells(data, data["optimal"])
    assert data["differences"] == [-1, 0, 1]
    present = np.argwhere(~np.isnan(values))
    assert len(present) > 100
    for d, luck, hero, opponent in present[::7]:
        game = make_game(
            "ff-combat",
            skill_difference=data["differences"][d],
            luck=int(luck),
            stamina=int(hero) + 1,
            opponent_stamina=int(opponent) + 1,
        )
        assert values[d, luck, hero, opponent] == pytest.approx(
            solve(compile_game(game)).value, abs=1e-5
        )


def test_codes_are_the_choices_of_the_policies(data: Any, results: Path) -> None:
    solved = solve_task(read_bench(results).tasks[0], results)
    table = solved.table
    shown = data["optimal"], *data["learned"]
    for which, owner in zip(shown, (solved.solution, *solved.agents), strict=True):
        values, codes = cells(data, which)
        for d, luck, hero, opponent in np.argwhere(~np.isnan(values)):
            before = data["differences"][d], hero + 1, opponent + 1, luck
            won, lost = (table.index[Combat(*before, result)] for result in ("won", "lost"))
            tests = owner.policies[0].probabilities[[won, lost], TEST] == 1
            expected = {(True, True): 1, (False, True): 2, (True, False): 3}.get(tuple(tests), 0)
            assert codes[d, luck, hero, opponent] & 3 == expected
