"""A football with a clock that is small enough for the generic solvers: a few ticks, a short field.

    game = tiny("second-half", timeouts=1)
    values = solve(compile_game(game)).values

A game of 2 ticks without time-outs has some hundred states, one of 3 ticks with a time-out each
several thousand; :data:`TINY_FORMS` are shapes of all forms that are tabulated in a second or two.
"""

from collections.abc import Callable, Iterable
from typing import Any

from reduced_football import chart_of

from solvent.exact.layered.solve import Workers, solve_layers
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.games.football.chart import Chart
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football_clock.layers import Layer, Players
from solvent.games.football_clock.players import PairEvaluation, PairLayers
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model.arrays import Floats

# Football on 8 yards with two downs; its plays take 15, 30 and 45 seconds as they always do.
RULES: dict[str, Any] = {
    "field": 8,
    "downs": 2,
    "first_down": 3,
    "field_goals": {"2": "3/4", "4": "1/4"},
    "field_goal_spot": 1,
    "touchback": 2,
    "fake_punt_penalty": 1,
    "blocked_punt_loss": 2,
    "barred": [[2, 4, 4]],
    "long_gain": {"4": 2, "8": 1},
    "kickoff": {"3": 5, "kicker 2": 1, "long": 2},
    "onside": {"kicker 5": 1, "6": 2},
    "free_kick": {"4": 3, "long+1": 1},
    "long_play": 3,
}

# Results of all kinds but one each: in and out of bounds, choices of either side, penalties of
# both, a fumble and an interception with a return, a long gain, dice in a cell.
CHART = chart_of(
    "tiny",
    [
        ["1", "3o", "off2/2"],
        ["fum", "def2/4o", "inc * 2 | 4 * 1 | int3r1 * 1"],
        ["2o", "long", "def1f"],
        ["6", "-4", "fum-4"],
    ],
    ["punt4", "punt3r1", "block * 1 | punt5fum * 2"],
    ["punt6", "punt4r3", "punt5fum"],
)

# The fewest calls in which both sides still have a choice.
SMALL = chart_of(
    "small", [["4o", "off1/1"], ["def1", "int2r1"]], ["punt4", "block"], ["punt6", "punt4r3"]
)

# Three ticks, with a stop one tick before the end; a lead counts up to a touchdown and 2.
CLOCK: dict[str, Any] = {"half": 45, "stops": [15], "timeouts": 0, "largest_margin": 8}


def tiny(
    form: str = "second-half",
    chart: Chart = CHART,
    rules: dict[str, Any] = RULES,
    *,
    margin: int | None = None,
    **clock: Any,
) -> TimedFootball:
    """Tiny football in one of the forms with a clock.

    Args:
        form: ``"two-minutes"``, ``"half"``, ``"second-half"`` or ``"full"``.
        chart: :data:`CHART` has all kinds of results, :data:`SMALL` is quicker.
        rules: Parameters of the ruleset.
        margin: Player 0's lead at the start, in the forms that have that parameter.
        clock: Parameters of :class:`ClockRules` where they are not those of :data:`CLOCK`.
    """
    numbers = {**CLOCK, **clock}
    numbers["stops"] = tuple(numbers["stops"])
    start = {"to_goal": 5} if form == "two-minutes" else {}
    if margin is not None:
        start["margin"] = margin
    return TimedFootball(chart, form, Ruleset.of(rules), ClockRules(**numbers), **start)


# Forms and their parameters, for tests that run over all of them: ``tiny(form, **parameters)``.
TINY_FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("two-minutes", {"stops": [30], "timeouts": 1}),
    ("half", {"timeouts": 1}),
    ("half", {"half": 60, "stops": [30], "untimed_down": False}),
    ("second-half", {}),
    ("second-half", {"half": 30, "timeouts": 1, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL}),
    ("full", {"half": 30, "chart": SMALL, "timeouts": 1}),
)


def evaluate_pairs(
    game: TimedFootball,
    start: TimedPosition,
    pairs: Iterable[Players],
    on_layer: Callable[[Layer, Floats], None] = lambda layer, values: None,
) -> list[PairEvaluation]:
    """The values of X against Y from a position, for some pairs of them."""
    named = {str(k): pair for k, pair in enumerate(pairs)}
    layers = PairLayers(game, start=start, pairs=named)
    store = LayerStore(layers, "start")

    def tell(layer: Layer, record: LayerRecord) -> None:
        if store.needs(layer):
            on_layer(layer, store.read(layer))

    solve_layers(layers, store, workers=Workers(2), on_layer=tell)
    return [*layers.results(store).values()]
