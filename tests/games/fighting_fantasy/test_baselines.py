"""The rules of thumb for Fighting Fantasy combat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from combat_paper import paper

from solvent.baselines import baseline_names, make_baseline
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.baselines import TREE, TREE_THREE
from solvent.games.fighting_fantasy.rules import TEST, Combat, round_probabilities
from solvent.model import TabularGame, compile_game


@pytest.fixture(scope="module")
def game() -> TabularGame:
    return compile_game(FightingFantasy())


def luck_is_tested(name: str, game: TabularGame, state: Combat) -> bool:
    return bool(make_baseline(name, game).probabilities[game.index[state], TEST])


@pytest.mark.parametrize(
    ("name", "after_won", "after_lost"),
    [
        ("never", False, False),
        ("always", True, True),
        ("offensive", True, False),
        ("defensive", False, True),
    ],
)
def test_simple_rules(game: TabularGame, name: str, after_won: bool, after_lost: bool) -> None:
    probabilities = make_baseline(name, game).probabilities
    states: list[Any] = list(game.states)
    wanted = np.array(
        [
            s.luck > 0 and {"won": after_won, "lost": after_lost, "over": False}[s.round]
            for s in states
        ]
    )
    assert (probabilities[:, TEST] == wanted).all()
    assert (probabilities.sum(axis=1) == ~game.terminal).all()


@pytest.mark.parametrize(
    ("state", "tested", "why"),
    [
        (Combat(0, 9, 9, 7, "won"), True, "a test is likely to succeed: offence"),
        (Combat(0, 9, 9, 7, "lost"), False, "rounds are not easy to win: no defence"),
        (Combat(0, 9, 2, 7, "won"), False, "an ordinary hit is enough"),
        (Combat(3, 8, 9, 7, "lost"), True, "rounds are easy to win: defence"),
        (Combat(3, 9, 9, 7, "lost"), False, "the hero can absorb many losses"),
        (Combat(3, 9, 9, 7, "won"), False, "LUCK is stored where victory is likely"),
        (Combat(0, 2, 9, 6, "lost"), True, "emergency: the loss would be the last"),
        (Combat(0, 1, 9, 6, "lost"), False, "even a success would not help"),
        (Combat(0, 3, 9, 6, "lost"), False, "no emergency"),
        (Combat(-4, 9, 9, 6, "won"), True, "overwhelmed: offence"),
        (Combat(-4, 2, 9, 6, "lost"), False, "overwhelmed: no defence"),
        (Combat(-3, 9, 9, 6, "won"), False, "not overwhelmed"),
        (Combat(0, 2, 9, 3, "lost"), False, "hardly any LUCK"),
    ],
)
def test_coarse_rule(state: Combat, tested: bool, why: str) -> None:
    table = compile_game(FightingFantasy([-4, 3], [1, 9], [1, 9], [0, 7]))
    assert luck_is_tested("coarse", table, state) == tested, why


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


@pytest.mark.parametrize(
    ("damage", "kept"),
    [("standard", TREE), pytest.param("three", TREE_THREE, marks=pytest.mark.slow)],
)
def test_the_trees_kept_are_those_that_the_papers_method_grows(damage: str, kept: Any) -> None:
    assert as_data(paper.paper_tree(damage)) == kept


def test_the_tree_answers_with_the_codes_of_the_figure() -> None:
    # The caption of Fig. 4 explains 0, 2 and 3; no leaf says 1.
    def leaves(branch: Any) -> list[int]:
        if isinstance(branch, int):
            return [branch]
        return leaves(branch[2]) + leaves(branch[3])

    assert set(leaves(TREE)) == {0, 2, 3}
    assert len(leaves(TREE)) == 15


def test_the_tree_tests_where_its_code_says(game: TabularGame) -> None:
    for state, tested in (
        (Combat(0, 12, 12, 9, "won"), True),
        (Combat(0, 12, 12, 9, "lost"), False),
        (Combat(0, 12, 2, 9, "won"), False),
        (Combat(0, 2, 12, 5, "lost"), True),
        (Combat(0, 2, 12, 5, "won"), False),
        (Combat(0, 2, 12, 3, "lost"), False),
    ):
        assert luck_is_tested("tree", game, state) == tested
