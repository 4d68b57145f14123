"""Football in the terminal: calls by their numbers and letters, and the chart to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from solvent.games.football.calls import chart_text
from solvent.games.football.rules import ChartFootball
from solvent.play import Session


class FootballCalls(Session):
    """A session in which both sides call from a chart."""

    @property
    def rules(self) -> ChartFootball:
        """The game."""
        assert isinstance(self.game, ChartFootball)
        return self.game

    def acting(self, state: Any) -> tuple[int, ...]:
        """The players who decide something: nobody has a free kick of another kind."""
        if state.phase == "call":
            return (0, 1)
        return () if state.phase == "free kick" else (self.rules.who_decides(state),)

    def numbers(self, state: Any, names: Mapping[int, str]) -> Mapping[int, int]:
        """Number plays by their own numbers, then the kicks; other choices from 1."""
        if state.phase == "call" and state.offence == self.player:
            return {action + 1: action for action in names}
        return dict(enumerate(names, 1))

    def role(self, state: Any) -> str:
        """Return the person's role at a question."""
        if state.phase != "call":
            return "you: "
        return "you (offence): " if state.offence == self.player else "you (defence): "

    def commands(self) -> Mapping[str, tuple[str, Callable[[Any], Sequence[str]]]]:
        """Offer the chart to look at."""

        def chart(state: Any) -> Sequence[str]:
            return chart_text(self.rules.charts[state.offence])

        return {"chart": ("what comes of every call", chart)}
