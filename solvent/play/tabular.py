"""Games that fit in a table: both the optimum and what the opponent does are solved first."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from solvent.exact import Solution, solve
from solvent.model import Game, TabularPolicy, against, compile_game
from solvent.model.parameters import shown
from solvent.play.table import Record, Table, Worth


def play(
    game: Game,
    *,
    player: int = 0,
    opponent: TabularPolicy | None = None,
    seed: int | None = None,
    hints: bool = True,
    input: Callable[[str], str] = input,
    output: Callable[[str], object] = print,
) -> Record:
    """Let a person play one game.

    Args:
        game: The rules.
        player: The person's side, 0 or 1, in a game for two.
        opponent: Policy of the other side; the optimal one if left out.
        seed: Of the dice; other dice each time if left out.
        hints: Whether ``?`` is answered with the exact worth of every action.
        input: Asks a question and returns the answer; raises EOFError at the end of the input.
        output: Shows a text.

    Returns:
        The decisions with their costs. A play left by ``q``, the end of the input or Ctrl-C has
        no result.

    Raises:
        ValueError: If there is no such player, or the policy is not the opponent's in this game.
    """
    if player not in range(game.info.players):
        allowed = " and ".join(str(p) for p in range(game.info.players))
        raise ValueError(f"player is {shown(player)}; allowed in {game.info.name} are {allowed}")
    table = _TabularTable(
        game, player, opponent, random.Random(seed), hints=hints, ask=input, show=output
    )
    return table.play()


class _TabularTable(Table):
    """Knows the game that the opponent's policy leaves by its table."""

    def __init__(
        self,
        game: Game,
        player: int,
        opponent: TabularPolicy | None,
        dice: random.Random,
        *,
        hints: bool,
        ask: Callable[[str], str],
        show: Callable[[str], object],
    ) -> None:
        self.has_labels = hasattr(game, "labels")
        self.solved_state: Callable[[Any], Any] = getattr(game, "from_reader", lambda state: state)
        self.opponent: TabularPolicy | None = None
        self.model = compile_game(game)
        if game.info.players == 2:
            self.opponent = opponent or solve(self.model).policies[1 - player]
            if self.opponent.player == player:
                raise ValueError(
                    f"policy {self.opponent.name!r} is for player {player}, which is you"
                )
            self.model = against(self.model, self.opponent)
        elif opponent is not None:
            raise ValueError(f"{game.info.name} is a game for one; it has no opponent")
        self.solution: Solution = solve(self.model)
        shown: Game = game.for_reader() if hasattr(game, "for_reader") else game
        worth = Worth(self.model.win_or_lose, player)
        super().__init__(shown, player, worth, dice, hints=hints, ask=ask, show=show)

    def value(self, state: Any) -> float:
        return float(self.solution.values[self._index(state)])

    def action_values(self, state: Any) -> Mapping[int, float]:
        legal = self.game.legal_actions(state)[self.player]
        return {action: self._action_value(state, action) for action in legal}

    def opponents_mix(self, state: Any) -> Mapping[int, float]:
        assert self.opponent is not None
        legal = self.game.legal_actions(state)[1 - self.player]
        weights = self.opponent.probabilities[self._index(state)][list(legal)]
        return dict(zip(legal, weights.tolist(), strict=True))

    def deciding(self, state: Any) -> tuple[int, ...]:
        turn = getattr(self.game, "turn", None)
        return tuple(range(self.game.info.players)) if turn is None else (turn(state),)

    def labels(self, state: Any, legal: Sequence[int]) -> Mapping[int, str]:
        """In words, which are its own words in each state of some games."""
        if self.has_labels:
            labels: Mapping[int, str] = self.game.labels(state)  # type: ignore[attr-defined]
            return {action: labels[action].rstrip(".") for action in legal}
        return {action: self.game.info.actions[self.player][action] for action in legal}

    def menu(self, state: Any, names: Mapping[int, str]) -> str:
        # A game with words of its own has written them below the state.
        if self.has_labels:
            return ""
        return "   ".join(f"{action} {name}" for action, name in names.items())

    def tell_no_choice(self, name: str) -> None:
        if not self.has_labels:
            super().tell_no_choice(name)

    def _index(self, state: Any) -> int:
        return self.model.index[self.solved_state(state)]

    def _action_value(self, state: Any, action: int) -> float:
        joint = (action, 0) if self.player == 0 else (0, action)
        row = self.model.row(self._index(state), joint)
        return float(self.solution.action_values[row])
