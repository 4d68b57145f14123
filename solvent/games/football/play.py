"""Football in the terminal: calls by their numbers and letters, and the chart to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from solvent.games.football.calls import chart_text
from solvent.games.football.chart import Chart
from solvent.games.football.rules import FootballStrategy
from solvent.play import Session


class FootballCalls(Session):
    """A session in which both sides call from a chart."""

    def chart(self, state: Any) -> Chart:
        """Return the chart from which the side that has the ball plays."""
        assert isinstance(self.game, FootballStrategy)
        return self.game.charts[state.offence]

    def acting(self, state: Any) -> tuple[int, ...]:
        """The players who decide something: nobody has a free kick of another kind."""
        if state.phase == "call":
            return (0, 1)
        return () if state.phase == "free kick" else (self.decides(state),)

    def decides(self, state: Any) -> int:
        """The only player who decides, in any phase but ``"call"``."""
        assert isinstance(self.game, FootballStrategy)
        return self.game.who_chooses(state) if state.phase == "choice" else int(state.offence)

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
        return {"chart": ("what comes of every call", lambda state: chart_text(self.chart(state)))}
