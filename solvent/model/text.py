"""Values, numbers, states, actions and strategies in words.

A state is described by the game's own words for its place, by its coordinates on a board, by its
named fields, or as one text, whichever the game has first.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solvent.model.game import WINS, WINS_OR_TIES, Game, GameInfo, words
from solvent.model.parameters import as_value
from solvent.model.tabular import TabularGame, TabularPolicy

ROUNDING = 1e-12
"""Numbers below this are rounding errors, and are written and drawn as 0."""

UNBOUNDED = "unbounded"
"""The gap of a policy that never ends an episode, at a cost for ever."""

NEVER_ENDS = "play need not end"
"""The reason for an unbounded gap."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def exact(value: float, decimals: int = 6) -> str:
    """Format a value with six decimals, or another number of them; an unknown value is a dash."""
    return "–" if math.isnan(value) else _signed(f"{value:z.{decimals}f}")


def brief(value: float) -> str:
    """Format a value beside its bounds, with four decimals; an unknown value is a dash."""
    return exact(value, 4)


def precise(value: float, rounding: float = ROUNDING) -> str:
    """A value or a gap with nine significant digits; an unknown one is a dash.

    Args:
        value: The number.
        rounding: Numbers below this are written as 0.
    """
    if not value < math.inf:
        return UNBOUNDED if value == math.inf else "–"
    return "0" if abs(value) < rounding else _signed(f"{value:z.9g}")


def interval(lower: float, upper: float) -> str:
    """The proved bounds of a value with all their digits."""
    return _signed(f"[{lower:z.15g}, {upper:z.15g}]")


def small(value: float) -> str:
    """A gap with three significant digits; one below :data:`ROUNDING` is 0."""
    if not math.isfinite(value):
        return UNBOUNDED if value == math.inf else "–"
    if abs(value) < ROUNDING:
        return "0"
    digits, exponent = f"{value:.2e}".split("e")  # after rounding: of 0.9999 it is 0
    power = int(exponent)
    if power >= -4:
        return f"{value:.{max(2 - power, 0)}f}"
    return f"{digits}×{_power_of_ten(power)}"


def whole(value: float) -> str:
    """A whole number with narrow spaces between its thousands."""
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def tick(value: float) -> str:
    """A number beside an axis, such as 250k, 1.5M, 0.01 or 10⁻⁵."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < math.inf:
            return _signed(f"{value / size:g}{letter}")
    if 0 < abs(value) < 2e-3:
        digits, power = f"{value:.2e}".split("e")
        times = f"{float(digits):g}"
        return _signed(f"{times}×{_power_of_ten(int(power))}".removeprefix("1×"))
    return _signed(f"{value:.6g}")


def game_text(info: GameInfo) -> str:
    """A game with its parameters, such as ``pig: target 20, sides 6, signed no``."""
    flags = {"True": "yes", "False": "no"}
    parameters = ", ".join(
        f"{name.replace('_', ' ')} {flags.get(str(value)) or as_value(value)}"
        for name, value in info.parameters
        if value is not None
    )
    return f"{info.name}: {parameters}" if parameters else info.name


def field_names(game: TabularGame) -> tuple[str, ...]:
    """The fields of the game's states, or ``("state",)`` if they are not named tuples."""
    return tuple(getattr(game.states[0], "_fields", ("state",)))


def field_values(game: TabularGame, state: Any) -> tuple[Any, ...]:
    """The values of a state's fields, in the order of :func:`field_names`."""
    return tuple(state) if hasattr(game.states[0], "_fields") else (state,)


def state_text(game: Game | TabularGame, state: Any) -> str:
    """A state in one line, such as ``hero 12, opponent 8``.

    Args:
        game: The rules, which may have words for the state, or the table.
        state: The state.
    """
    place = words(game).place(state)
    if place:
        return place
    fields = words(game).coordinates(state) or getattr(state, "_asdict", dict)()
    return ", ".join(f"{name} {value}" for name, value in fields.items() if value != "") or str(
        state
    )


def action_names(game: Game, state: Any, player: int) -> Mapping[int, str]:
    """Return a player's legal actions in words; some games have their own words in each state.

    Args:
        game: The rules.
        state: A state in which the episode has not ended.
        player: 0 or 1.
    """
    names = words(game).labels(state) or game.info.actions[player]
    return {action: names[action].rstrip(".") for action in game.legal_actions(state)[player]}


def choice_text(
    game: TabularGame,
    policy: TabularPolicy,
    state: int,
    most: int | None = None,
    rules: Game | None = None,
) -> str:
    """Describe the actions that a policy may choose in a state: ``keep``, ``roll 75%, keep 25%``.

    Args:
        game: The table.
        policy: The policy.
        state: Index of the state.
        most: Largest number of actions to name. If there are more, the most probable ones are
            followed by dots. Default: all.
        rules: The rules, which may have words for the actions of the state.
    """
    names = words(rules).labels(game.states[state]) or game.info.actions[policy.player]
    return strategy_text(names, dict(enumerate(policy.probabilities[state].tolist())), most)


def strategy_text(
    names: Sequence[str] | Mapping[int, str],
    chances: Mapping[int, float],
    most: int | None = None,
) -> str:
    """Describe action probabilities as :func:`choice_text` does.

    Args:
        names: The names of the actions, by their numbers.
        chances: The probability of each action.
        most: The largest number of actions to name; all if left out.
    """
    chosen = {action: chance for action, chance in chances.items() if chance >= 5e-4}
    if len(chosen) == 1:
        return str(names[next(iter(chosen))])
    texts = [
        f"{names[action]} {100 * chance:.{0 if chance >= 0.01 else 1}f}%"
        for action, chance in sorted(chosen.items(), key=lambda one: -one[1])
    ]
    return ", ".join(texts[:most] + (["…"] if most is not None and len(texts) > most else []))


def _signed(text: str) -> str:
    return text.replace("-", "−").replace("inf", "∞")


def _power_of_ten(power: int) -> str:
    return f"10{str(power).translate(_RAISED)}"


@dataclass(frozen=True, slots=True)
class ValueScale:
    """The format of a game's values for one of its players.

    Args:
        info: Description of the game; its unit is what values are counted in.
        player: Player whose values they are.
    """

    info: GameInfo
    player: int = 0

    @property
    def is_chance(self) -> bool:
        """Return whether values are chances of winning."""
        return self.info.unit in (WINS, WINS_OR_TIES)

    @property
    def meaning(self) -> str:
        """The meaning of a value in a few words; empty if the game does not say."""
        chances = {WINS: "chance of winning", WINS_OR_TIES: "chance of winning, a tie counts half"}
        return chances.get(self.info.unit, self.info.unit)

    def of(self, value: float) -> float:
        """Convert a value to player 0 into the value to this player; the game is zero-sum."""
        if self.player == 0:
            return value
        return 1 - value if self.is_chance else -value

    def text(self, value: float) -> str:
        """A value to the player."""
        return f"{100 * value:z.2f}%" if self.is_chance else f"{value:z.4f}"

    def signed(self, change: float) -> str:
        """A change of the value, with its sign."""
        return f"{100 * change:+z.2f}%" if self.is_chance else f"{change:+z.4f}"

    def difference(self, cost: float) -> str:
        """A loss, with its unit."""
        if self.is_chance:
            return f"{100 * cost:z.2f}% of a win"
        return f"{cost:z.4f} {self.info.unit or 'points'}"
