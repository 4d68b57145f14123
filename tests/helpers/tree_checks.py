"""Decision trees for tests, and the comparison of other solutions of a game with its table's."""

from fractions import Fraction
from typing import Any

import pytest

from solvent.exact import GameTree, SolvedGame, SolvedTable, TreeSolution, solve, solve_tree
from solvent.model import Game, compile_game


def solve_as_tree(game: Game, **options: Any) -> TreeSolution:
    tree = GameTree(game)
    return solve_tree(tree.choices, tree.score, tree.start, player=tree.player, **options)


def assert_tree_equals_table(game: Game) -> None:
    """The tree's Fractions equal the certified floats of the array solver in every state."""
    tree, table = solve_as_tree(game), compile_game(game)
    solution = solve(table)
    assert float(tree.value) == pytest.approx(solution.value, abs=1e-12)
    seen = set()
    for at in tree.nodes:
        if at.state is not None:
            value = solution.values[table.index[at.state]]
            assert float(tree.value_of(at) - at.collected) == pytest.approx(value, abs=1e-12)
            seen.add(at.state)
    assert seen == set(table.states)


def assert_solved_as_table(
    solved: SolvedGame, game: Game, within: float = 1e-12, *, unique: bool = True
) -> None:
    """Values, action values and policies are those of the array solver in every state.

    Args:
        solved: The solution that is compared.
        game: The rules.
        within: How far values may be apart.
        unique: Whether a state has one equilibrium only; the values of actions depend on which.
    """
    table = compile_game(game)
    right = SolvedTable(game, table, solve(table))
    assert solved.lower <= right.upper
    assert right.lower <= solved.upper
    for state in table.states:
        value = right.value_of(state)
        assert solved.value_of(state) == pytest.approx(value, abs=within), state
        for player in () if game.is_terminal(state) else range(game.info.players):
            values, policy = solved.action_values(state, player), solved.policy(state, player)
            assert tuple(values) == tuple(policy) == tuple(game.legal_actions(state)[player])
            if unique:
                others = right.action_values(state, player)
                assert values == pytest.approx(others, abs=within), state
            best = max(values.values()) if player == 0 else min(values.values())
            own = sum(share * values[action] for action, share in policy.items())
            assert (best, own) == pytest.approx((value, value), abs=within), state


def dice_choices(state: tuple[int, int]) -> list[Any]:
    """Keep the last throw of a die, or throw again, so many times at most."""
    left, last = state
    throw = [((left - 1, face), Fraction(1, 6)) for face in range(1, 7)]
    return [("keep", [((0, last), 1)]), ("throw again", throw)]


def dice_score(state: tuple[int, int]) -> int | None:
    left, last = state
    return last if left == 0 else None


def failing_choices(state: tuple[int, int]) -> list[Any]:
    if state[0] == 1:
        raise RuntimeError("no dice at hand")
    return dice_choices(state)
