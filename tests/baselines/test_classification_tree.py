"""Classification trees: grown, pruned by errors, and read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from classification_tree import LEAF, fit_tree


def staircase() -> tuple[Any, Any]:
    """Points of a 30 x 30 grid; the class is 0, 1 or 2 by bands of x, with a corner of 3s."""
    x, y = np.indices((30, 30)).reshape(2, -1)
    classes = np.digitize(x, (10, 20))
    classes[(x >= 27) & (y >= 27)] = 3
    return np.stack((x, y), axis=1), classes


def test_a_split_stays_iff_it_saves_its_price() -> None:
    features, classes = staircase()
    # The corner of 9 points takes two splits; always answering 0 or 1 misclassifies 600.
    below = fit_tree(features, classes, ("x", "y"), cp=4.4 / 600)
    above = fit_tree(features, classes, ("x", "y"), cp=4.6 / 600)
    assert below.n_leaves == 5
    assert above.n_leaves == 3
    assert above.accuracy(features, classes) == pytest.approx(1 - 9 / 900)


def test_the_text_of_a_tree_says_what_it_predicts() -> None:
    features, classes = staircase()
    tree = fit_tree(features, classes, ("x", "y"), cp=0.1)
    assert str(tree).splitlines() == [
        "x < 9.5",
        "  -> 0",
        "x > 9.5",
        "  x < 19.5",
        "    -> 1",
        "  x > 19.5",
        "    -> 2",
    ]
    points = np.array([[0, 5], [9, 0], [10, 29], [19, 1], [20, 1], [400, -3]])
    assert tree.predict(points).tolist() == [0, 0, 1, 1, 2, 2]
    assert (tree.feature == LEAF).any()


def test_more_costly_trees_are_never_larger() -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(0, 12, (2000, 3))
    classes = (features[:, 0] * features[:, 1] > 30).astype(int) + rng.integers(0, 2, 2000)
    sizes = [
        fit_tree(features, classes, ("a", "b", "c"), cp=cp).n_leaves
        for cp in (0.0, 0.002, 0.005, 0.01, 0.05, 0.3)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 3
