"""The measures for two players against OpenSpiel, on games read from OpenSpiel itself.

OpenSpiel's NashConv walks through histories, this project's through states; on games without
hidden information both are defined and have to agree.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from solvent.exact import exploitability, nash_conv, policy_value, score, solve
from solvent.games import Pig
from solvent.model import GameInfo, Outcome, TabularPolicy, compile_game

pyspiel = pytest.importorskip("pyspiel")


class OpenSpielGame:
    """A game of OpenSpiel without hidden information; a state is its text there."""

    def __init__(self, name: str) -> None:
        self.source = pyspiel.load_game(name)
        self.known: dict[str, Any] = {}
        width = self.source.num_distinct_actions()
        self.info = GameInfo(
            name=name,
            players=2,
            actions=(tuple(map(str, range(width))),) * 2,
            acyclic=False,
            reward_range=(self.source.min_utility(), self.source.max_utility()),
            sources=("OpenSpiel",),
            observation_labels=("none",),
        )

    def expand(self, state: Any, chance: Fraction = Fraction(1)) -> dict[str, Fraction]:
        """The states after all chance that comes first, with their probabilities."""
        if not state.is_chance_node():
            self.known.setdefault(str(state), state)
            return {str(state): chance}
        found: dict[str, Fraction] = {}
        for action, probability in state.chance_outcomes():
            share = chance * Fraction(probability).limit_denominator(10_000)
            for key, weight in self.expand(state.child(action), share).items():
                found[key] = found.get(key, Fraction(0)) + weight
        return found

    def outcomes(self, state: Any) -> tuple[Outcome, ...]:
        return tuple(
            Outcome(p, key, int(self.known[key].returns()[0]) if self.is_terminal(key) else 0)
            for key, p in self.expand(state).items()
        )

    def initial(self) -> tuple[Outcome, ...]:
        return self.outcomes(self.source.new_initial_state())

    def legal_actions(self, state: str) -> tuple[tuple[int, ...], ...]:
        here = self.known[state]
        if here.is_simultaneous_node():
            return tuple(here.legal_actions(0)), tuple(here.legal_actions(1))
        mine = tuple(here.legal_actions())
        return (mine, (0,)) if here.current_player() == 0 else ((0,), mine)

    def transition(self, state: str, joint_action: tuple[int, ...]) -> tuple[Outcome, ...]:
        after = self.known[state].clone()
        if after.is_simultaneous_node():
            after.apply_actions(list(joint_action))
        else:
            after.apply_action(joint_action[after.current_player()])
        return self.outcomes(after)

    def is_terminal(self, state: str) -> bool:
        return bool(self.known[state].is_terminal())

    def observe(self, state: str, player: int) -> Any:
        return np.zeros(1, np.float32)

    def draw(self, state: str) -> str:
        return state


def uniform(table: Any) -> tuple[TabularPolicy, TabularPolicy]:
    return TabularPolicy.uniform(table, player=0), TabularPolicy.uniform(table, player=1)


@pytest.mark.parametrize("name", ["nim(pile_sizes=1;2;3)", "nim(pile_sizes=2;3,is_misere=false)"])
def test_nash_conv_of_uniform_play_is_openspiels(name: str) -> None:
    from open_spiel.python.algorithms.exploitability import nash_conv as theirs
    from open_spiel.python.policy import UniformRandomPolicy

    table = compile_game(OpenSpielGame(name))
    first, second = uniform(table)
    expected = theirs(pyspiel.load_game(name), UniformRandomPolicy(pyspiel.load_game(name)))
    assert nash_conv(table, first, second) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.1


def test_values_of_tic_tac_toe() -> None:
    """Perfect play is a draw; player 0 wins uniform play with 0.585 and loses with 0.288."""
    table = compile_game(OpenSpielGame("tic_tac_toe"))
    assert table.n_states == 5478
    assert solve(table).value == 0
    assert table.at_start(policy_value(table, *uniform(table))) == pytest.approx(
        0.5849 - 0.2881, abs=1e-4
    )


def test_pig_is_openspiels_pig() -> None:
    """State by state the same game: OpenSpiel's Pig, less its limit on the number of turns."""
    target = 8
    name = f"pig(players=2,winscore={target},horizon=10000)"
    theirs = compile_game(OpenSpielGame(name))
    # OpenSpiel lets a player hold at 0, which is never better than rolling.
    ours = compile_game(Pig(target=target, signed=True))
    assert solve(theirs).value == pytest.approx(solve(ours).value, abs=1e-9)


def test_goofspiel_of_four_cards() -> None:
    """Both bid at once: value 0 by symmetry; uniform bids have a NashConv of 1.5."""
    name = "goofspiel(num_cards=4,imp_info=false,points_order=descending,players=2)"
    table = compile_game(OpenSpielGame(name))
    solution = solve(table)
    first, second = uniform(table)
    assert solution.value == pytest.approx(0, abs=1e-9)
    assert nash_conv(table, first, second) == pytest.approx(1.5, abs=1e-9)
    assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-8)
    assert exploitability(table, first, solution) == pytest.approx(0.75, abs=1e-9)
    assert score(table, second, solution).exploitability == pytest.approx(0.75, abs=1e-9)
