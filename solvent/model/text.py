"""Values, numbers, states, actions and strategies in words.

A state is described by the game's own words for its place, by its coordinates on a board, by its
named fields, or as one text, whichever the game has first.
"""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
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

# Fields that name one of two players.
_SIDES = ("player", "turn", "ball", "offence", "winner", "receiver")

# An empty field, as of a hand without cards.
_EMPTY = "–"

# The number of states that are compared to see which fields tell them apart.
_COMPARED = 1000

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def signed(text: str) -> str:
    """The text of a number with the signs that are printed."""
    return text.replace("-", "−").replace("inf", "∞")


def exact(value: float, decimals: int = 6) -> str:
    """Format a value with six decimals, or another number of them; an unknown value is a dash."""
    return "–" if math.isnan(value) else signed(f"{value:z.{decimals}f}")


def four_decimals(value: float) -> str:
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
    return "0" if abs(value) < rounding else signed(f"{value:z.9g}")


def interval(lower: float, upper: float) -> str:
    """The proved bounds of a value with all their digits."""
    return signed(f"[{lower:z.15g}, {upper:z.15g}]")


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
            return signed(f"{value / size:g}{letter}")
    if 0 < abs(value) < 2e-3:
        digits, power = f"{value:.2e}".split("e")
        times = f"{float(digits):g}"
        return signed(f"{times}×{_power_of_ten(int(power))}".removeprefix("1×"))
    return signed(f"{value:.6g}")


def game_text(info: GameInfo) -> str:
    """A game with its parameters, such as ``pig: target 20, sides 6, signed no``."""
    flags = {"True": "yes", "False": "no"}
    parameters = ", ".join(
        f"{name.replace('_', ' ')} {flags.get(str(value)) or _parameter(value)}"
        for name, value in info.parameters
        if value is not None
    )
    return f"{info.name}: {parameters}" if parameters else info.name


def _parameter(value: Any) -> str:
    """A value as on a command line, but a list of numbers without brackets."""
    if isinstance(value, list) and len(value) > 2:
        return " ".join(map(_parameter, value))
    return signed(str(value)) if isinstance(value, int | float) else as_value(value)


def leaves(
    state: Any, entries: Mapping[str, Sequence[str]], name: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a state with their names; nested fields are taken apart.

    Args:
        state: A state of a game.
        entries: The names of entries, as :meth:`~solvent.model.game.Words.entry_names` gives them.
        name: The prefix of all names.
    """
    parts: Iterator[tuple[str, Any]]
    if isinstance(state, tuple) and state:
        own = getattr(state, "_fields", [str(number) for number in range(1, len(state) + 1)])
        if len(entries.get(name, ())) == len(state):
            own, name = entries[name], ""
        parts = ((str(part), value) for part, value in zip(own, state, strict=True))
    elif is_dataclass(state) and not isinstance(state, type):
        parts = ((part.name, getattr(state, part.name)) for part in fields(state))
    else:
        yield name or "state", state
        return
    for part, value in parts:
        yield from leaves(value, entries, f"{name} {part}".strip().replace("_", " "))


def state_fields(game: Game | TabularGame, state: Any) -> dict[str, Any]:
    """The fields of a state by their names. A tuple whose entries have no names is one field.

    Args:
        game: The rules, which may have names for the fields, or the table.
        state: The state.
    """
    own = words(game)
    found: dict[str, Any] = dict(own.coordinates(state))
    for name, value in () if found else leaves(state, own.entry_names()):
        base, _, entry = name.rpartition(" ")
        if entry.isdecimal():
            base = base or "state"
            found[base] = (*found.get(base, ()), value)
        else:
            found[name] = value
    return found


def field_text(game: Game | TabularGame, name: str, value: Any) -> str:
    """The value of a field of a state in words; a dash if it is empty.

    Args:
        game: The rules, which may have words for the value, or the table.
        name: The name of the field.
        value: The value.
    """
    own = words(game)
    flags = {True: "yes", False: "no"} if isinstance(value, bool) else {}
    known = own.value_names().get(name, flags)
    if value in known:
        return known[value]
    if name in _SIDES and game.info.players == 2 and value in (0, 1):
        return own.player_name(value)
    if isinstance(value, int | float):
        return signed(str(value))
    if isinstance(value, tuple):
        value = " ".join(field_text(game, name, one) for one in value)
    return written(value or _EMPTY)


def written(value: Any) -> str:
    """A value as text; the members of a set in an order of their own."""
    return f"{{{', '.join(sorted(map(str, value)))}}}" if isinstance(value, Set) else str(value)


def state_facts(game: Game | TabularGame, state: Any) -> dict[str, str]:
    """The fields of a state by their names, both in words.

    Args:
        game: The rules, which may have words for them, or the table.
        state: The state.
    """
    found = state_fields(game, state)
    return {name: field_text(game, name, value) for name, value in found.items()}


def state_columns(game: Game, shown: Sequence[Any], states: Sequence[Any]) -> dict[str, list[str]]:
    """The columns that tell states apart: their places, or else the fields that are not all alike.

    Args:
        game: The rules, which may have words for the states.
        shown: The states of the rows.
        states: All states of the game, or those that are known.
    """
    own = words(game)
    columns = {"place": [own.place(state) for state in shown]} if own.place(shown[0]) else {}
    if columns and len({*columns["place"]}) == len(shown):
        return columns
    # What is alike in many states is alike in all, or nobody misses it.
    known = () if columns else states[:: len(states) // _COMPARED + 1]
    going_on = (state for state in known if not game.is_terminal(state))
    told = [state_facts(game, state) for state in (*shown, *going_on)]
    named = {name for names in own.entry_names().values() for name in names}
    every = {
        name: [one.get(name, _EMPTY) for one in told]
        for name in dict.fromkeys(name for one in told[: len(shown)] for name in one)
        if not columns or name in named or not named
    }
    varying = {name: cells for name, cells in every.items() if len({*cells}) > 1}
    columns |= {name: cells[: len(shown)] for name, cells in (varying or every).items()}
    return columns


def state_text(game: Game | TabularGame, state: Any) -> str:
    """A state in one line, such as ``hero 12, opponent 8``.

    Args:
        game: The rules, which may have words for the state, or the table.
        state: The state.
    """
    return words(game).place(state) or facts_text(state_facts(game, state))


def start_text(game: Game, state: Any) -> str:
    """An initial state in one line that tells it from the other initial states.

    Args:
        game: The rules.
        state: The state.
    """
    others = [one.state for one in game.initial() if one.state != state][:_COMPARED]
    columns = state_columns(game, [state, *others], ())
    return facts_text({name: cells[0] for name, cells in columns.items()})


def facts_text(facts: Mapping[str, str]) -> str:
    """Fields of a state in one line, without those that are empty.

    Args:
        facts: The values in words, by the names of the fields.
    """
    # The name of a player says which field it is, as "player A" does.
    return ", ".join(
        text if name in ("state", "place") or text.startswith(name) else f"{name} {text}"
        for name, text in facts.items()
        if text != _EMPTY
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
        return f"{exact(100 * value, 2)}%" if self.is_chance else four_decimals(value)

    def signed(self, change: float) -> str:
        """A change of the value, with its sign."""
        return signed(f"{100 * change:+z.2f}%" if self.is_chance else f"{change:+z.4f}")

    def difference(self, cost: float) -> str:
        """A loss, with its unit."""
        if self.is_chance:
            return f"{self.text(cost)} of a win"
        return f"{self.text(cost)} {self.info.unit or 'points'}"
