"""Football Strategy: both sides call at once, and a chart gives the result.

The offence calls one of the chart's plays or kicks, the defence one of its letters; neither knows
the other's call. The cell where they meet holds the result, or a distribution over results, and
the rules of football (:mod:`solvent.games.football.situation`) say what it does. The game has two
forms, neither of which has a clock or a score that matters:

========== ========================================================================================
``drive``  One possession. Player 0 is the offence, player 1 the defence. Play ends when the ball
           changes hands or somebody scores. Player 0's reward is the points scored plus the value
           of the new position, the *expected points*.
``points`` Both teams, to the next touchdown or field goal. Player 1 begins with a kickoff. The
           reward of the side that scores is the points minus the value of receiving the kickoff
           that follows. After a safety and its points, play continues with a free kick.
========== ========================================================================================

**Two charts.** Player 1 may have a chart of its own. A call is looked up in the chart of the side
that has the ball, so the defence's letters are those of the other side's chart. In a drive only
player 0 has the ball, so player 1's chart matters only through the expected points.

**Expected points** are the value of having the ball. After a drive the other team has it, so they
enter with the opposite sign. If they are the values of the form ``points``, at the kickoff value K
that equals the value of that game itself, then a drive has its value in the endless game.

**State.** A :class:`~solvent.games.football.situation.Position`. If a call leads to a penalty that
can be declined, a state follows in which only the offended team acts: it takes the penalty or the
play.

**Calls that do not depend on the defence.** A field goal has the same outcomes against every
defence, and so has declaring punt formation. Although the offence announces them, both are rows of
the matrix of calls. The value stays the same: adding a row with the constant entry c to a matrix
game of value v gives the value max(v, c), because a defence that is optimal without the row still
holds the offence to that.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.calls import (
    KICKOFFS,
    Actions,
    call_sheet,
    told_result,
    what_follows_call,
)
from solvent.games.football.chart import Chart, Result, load_chart, parse_result
from solvent.games.football.expected_points import (
    ExpectedPoints,
    ExpectedPointsError,
    shipped_expected_points,
)
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    OFFENCE,
    OVER,
    WAIT,
    Consequence,
    Position,
    Restart,
    Situation,
    chooser,
    consequences,
    kick,
    legal_actions,
    situation_text,
)
from solvent.games.football.table import Nodes
from solvent.model import GameInfo, JointAction, Outcome, TabularGame
from solvent.model.game import Rules, merged
from solvent.model.parameters import Spread, check_choice, check_flag, is_number, shown, spread
from solvent.model.scene import Gridiron, Prose, Scene

FORMS = ("drive", "points")

SOURCES = (
    "McCulloch 2015, A Game-Theoretic Intelligent Agent for the Board Game Football Strategy",
    "Football Strategy (board game), rules as publicly described; "
    "solvent.games.football.ruleset names the unknown ones",
)


class ChartFootball(Rules):
    """The common part of Football Strategy with and without a clock: the calls and the chart.

    A form says by :meth:`after_play` where the consequences of a play lead in it.

    Attributes:
        charts: The chart of each player, from which it plays when it has the ball.
    """

    form: str
    ruleset: Any
    charts: Any

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The codes of the results that let a team choose, from the charts that are in use."""
        charts = self.charts[:1] if self.form == "drive" else self.charts
        codes = (result.code for chart in charts for result in chart.results if result.options)
        return tuple(dict.fromkeys(codes))

    def described(self, **own: Any) -> GameInfo:
        """The game's info, from what the form says of itself."""
        charts = dict.fromkeys(f"chart {chart.name!r}: {chart.source}" for chart in self.charts)
        return GameInfo(
            name="football-strategy",
            players=2,
            actions=(self.actions_of(0).names, self.actions_of(1).names),
            sources=(*SOURCES, *charts),
            **own,
        )

    def actions_of(self, player: int) -> Actions:
        """The actions of a player."""
        raise NotImplementedError

    def after_play(self, state: Any, consequence: Consequence, result: Result | None) -> Outcome:
        """Return the outcome of one consequence of a play or kick.

        Args:
            state: Position before it.
            consequence: Consequence of the play.
            result: The chart's result, if there was one.
        """
        raise NotImplementedError

    @property
    def loaded_chart(self) -> Chart:
        """Player 0's chart."""
        return cast(Chart, self.charts[0])

    @cached_property
    def loaded_ruleset(self) -> Ruleset:
        """The ruleset itself."""
        return Ruleset.of(self.ruleset)

    def is_terminal(self, state: Any) -> bool:
        """Return True if play has ended."""
        return bool(state.phase == "over")

    def who_decides(self, state: Any) -> int:
        """The only player who decides, in any phase but ``"call"``."""
        offended = state.phase == "choice" and chooser(parse_result(state.choice)) != OFFENCE
        return int(1 - state.offence if offended else state.offence)

    def legal_actions(self, state: Any) -> tuple[tuple[int, ...], ...]:
        """Return both players' legal actions.

        Both players call at once. One player alone decides anything else, and nobody decides a free
        kick.
        """
        offence = state.offence
        legal: list[tuple[int, ...]] = [(WAIT,), (WAIT,)]
        if state.phase == "call":
            chart, first = self.charts[offence], self.actions_of(1 - offence).defence
            legal[offence] = legal_actions(self.loaded_ruleset, chart.plays, state.situation)
            legal[1 - offence] = tuple(range(first, first + chart.defences))
        else:
            decides = self.who_decides(state)
            two = self.actions_of(decides).first_of(state.phase)
            if two is not None:
                legal[decides] = (two, two + 1)
        return tuple(legal)

    def branches(
        self, state: Any, joint_action: JointAction
    ) -> Iterator[tuple[Outcome, Consequence | None, Result | None]]:
        """Yield every random outcome of a call, a choice or a kick, and what led to it.

        Args:
            state: Position in which nobody is asked for a time-out.
            joint_action: Legal actions of both players.

        Yields:
            The outcome; its consequence, None while a choice is pending; and the chart's result,
            None if none was read from the chart.
        """
        offence, rules, decides = state.offence, self.loaded_ruleset, self.who_decides(state)
        decided, actions = joint_action[decides], self.actions_of(decides)
        follows: Iterable[tuple[Fraction, Result | None, Sequence[Consequence]]]
        if state.phase == "call":
            defence = joint_action[1 - offence] - self.actions_of(1 - offence).defence
            chart = self.charts[offence]
            follows = what_follows_call(chart, rules, state.situation, decided, defence)
        elif state.phase == "choice":
            option = parse_result(state.choice).options[decided - actions.choice]
            follows = [(Fraction(1), option, consequences(rules, state.situation, option))]
        else:
            kind = KICKOFFS[decided - actions.kick] if state.phase == "kickoff" else "free_kick"
            follows = [(Fraction(1), None, kick(rules, kind))]
        for probability, result, found in follows:
            if result is not None and result.options:
                # A penalty or the play is taken.
                waiting = state._replace(phase="choice", choice=result.code)
                yield Outcome(probability, waiting), None, result
            for consequence in found:
                after = self.after_play(state, consequence, result)
                reached = probability * after.probability
                yield Outcome(reached, after.state, after.reward), consequence, result

    def transition(self, state: Any, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the outcomes of the calls, of a choice taken, or of a kick."""
        return merged([outcome for outcome, *_ in self.branches(state, joint_action)])

    def told(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> tuple[str, int]:
        """Describe the way to an outcome, such as ``gain of 7, first down``.

        Args:
            state: Position before it.
            joint_action: Legal actions of both players.
            outcome: An outcome of :meth:`transition`, which forgets what led to it.
            dice: Decide which of several ways led to it.

        Returns:
            The words, and the points to player 0; negative ones go to player 1.
        """
        found = self.branches(state, joint_action)
        ways = [way for way in found if way[0][1:] == (outcome.state, outcome.reward)]
        [(_, branch, result)] = dice.choices(ways, [float(way[0].probability) for way in ways])
        points = branch.points if branch else 0
        told = told_result(self, state, branch, result)
        return told, points if state.offence == 0 else -points

    def tell(
        self, state: Any, joint_action: JointAction, outcome: Outcome, dice: random.Random
    ) -> str:
        """Describe the chart's result and its consequence, or a time-out, in a sentence."""
        words, _ = ("", 0) if state is None else self.told(state, joint_action, outcome, dice)
        return f"{words[:1].upper()}{words[1:]}." if words else ""

    def explain(self, action: int, player: int) -> str:
        """Describe an action in a few words."""
        chart, other = self.charts[player], self.charts[1 - player]
        return self.actions_of(player).explain(chart, other, action)

    def place(self, state: Any) -> str:
        """Describe the ball's place and owner, such as ``player A has 3rd and 7 at its own 34``."""
        if state.phase == "over":
            return "play is over"
        if state.phase == "choice":
            return f"a choice of {state.choice}"
        return self._news(state)

    def scene(self, state: Any) -> Scene:
        """Draw the field, on which the side with the ball plays to the right, and the calls."""
        if state.phase == "over":
            return (Prose("", ("play is over",)),)
        ball = gain = None
        field = self.loaded_ruleset.field
        side, other = (self.player_name(p) for p in (state.offence, 1 - state.offence))
        if state.down:
            ball = field - state.to_goal
            gain = ball + state.to_go
        drawn = Gridiron(ball, gain, field, side, other, self._news(state))
        said = self.decisions(state)
        return (drawn, Prose("", said)) if said else (drawn,)

    def _news(self, state: Any) -> str:
        """Say which side has the ball and where it is, or which kick comes next."""
        side = self.player_name(state.offence)
        if not state.down:
            return f"{side}: {getattr(state, 'follows', '') or state.phase}"
        return f"{side} has {situation_text(self.loaded_ruleset, state.situation)}"

    def decisions(self, state: Any) -> tuple[str, ...]:
        """Say what each player may call, or which options of a penalty there are; a line each."""
        if state.phase == "choice":
            options = parse_result(state.choice).options
            taken = " or ".join(option.code for option in options)
            return (f"{self.player_name(self.who_decides(state))} takes {taken}",)
        if state.phase != "call":
            return ()
        chart, legal = self.charts[state.offence], self.legal_actions(state)
        return tuple(
            f"{self.player_name(player)} calls "
            + call_sheet(chart, self.actions_of(player), legal[player])
            for player in (state.offence, 1 - state.offence)
        )


@dataclass(frozen=True, eq=False)
class FootballStrategy(ChartFootball):
    """Football Strategy on a chart.

    Args:
        chart: The name of a shipped chart, the path of a chart's file, or a chart.
        form: ``"drive"`` or ``"points"``.
        ruleset: A ruleset, or a mapping with the parameters of :class:`Ruleset` that differ from
            its defaults.
        expected_points: The values with which a drive ends. The default is the values shipped with
            the chart.
        kickoff_value: K, the value of receiving a kickoff, for the form ``"points"``. The default
            is taken from the expected points.
        down: The down on which the drive begins.
        to_go: Yards to the line to gain, at most those to the goal. The default is the distance of
            a first down.
        to_goal: Yards to the goal. Each of `down`, `to_go` and `to_goal` may be a number, a pair
            ``[low, high]`` or a mapping of numbers to weights.
        punting: Whether the offence begins in punt formation; only on the last down.
        other_chart: Player 1's chart, in any form that `chart` takes. By default both players use
            `chart`.

    Raises:
        ValueError: If a parameter is not allowed, or there are no expected points.
        OSError: If a file cannot be read.
    """

    chart: str | Path | Chart = "standard"
    form: str = "drive"
    ruleset: Mapping[str, Any] | Ruleset | None = None
    expected_points: ExpectedPoints | None = None
    kickoff_value: float | None = None
    down: Spread = 1
    to_go: Spread | None = None
    to_goal: Spread = 80
    punting: bool = False
    other_chart: str | Path | Chart | None = None

    def __post_init__(self) -> None:
        """Read the files and check the parameters."""
        check_choice(self.form, "form", FORMS)
        if not (self.kickoff_value is None or is_number(self.kickoff_value)):
            raise ValueError(
                f"kickoff_value is {shown(self.kickoff_value)}; allowed are finite numbers"
            )
        check_flag(self.punting, "punting")
        (chart, other), ruleset = self.charts, self.loaded_ruleset
        if self.form != "points":
            if self.kickoff_value is not None:
                raise ValueError("kickoff_value is for form 'points' only")
            self.initial()
        elif (self.down, self.to_go, self.to_goal, self.punting) != (1, None, 80, False):
            raise ValueError(
                "form 'points' begins with a kickoff; down, to_go, to_goal and punting are for "
                "the other forms"
            )
        if self.kickoff_value is None or self.expected_points is not None:
            self.loaded_points.check_is_for(chart, ruleset, other)

    @cached_property
    def charts(self) -> tuple[Chart, Chart]:
        """The chart of each player, from which it plays when it has the ball."""
        own = load_chart(self.chart)
        return own, own if self.other_chart is None else load_chart(self.other_chart, "other_chart")

    @property
    def two_charts(self) -> bool:
        """True if the players' charts differ."""
        return len({chart.hash for chart in self.charts}) > 1

    @cached_property
    def loaded_points(self) -> ExpectedPoints:
        """The expected points themselves."""
        points: Any = self.expected_points
        if points is None and not self.two_charts:
            points = shipped_expected_points(self.loaded_chart, self.loaded_ruleset)
        if not isinstance(points, ExpectedPoints):
            raise ExpectedPointsError(
                f"expected_points is {shown(self.expected_points)}; allowed are ExpectedPoints, "
                f"and None for a shipped chart with the usual rules; make_game solves all others"
            )
        return points

    @cached_property
    def kickoff(self) -> float:
        """K, the value of receiving the kickoff after a score."""
        given = self.kickoff_value
        return self.loaded_points.kickoff if given is None else float(given)

    @cached_property
    def actions(self) -> tuple[Actions, Actions]:
        """The actions of both players.

        In the form ``"points"`` both have the same, unless each has a chart of its own.
        """
        own, other = self.charts
        both = self.form == "points"
        if not both:
            other = own
        return (
            Actions.of(own, offence=True, defence=both, kicks=both, other_chart=other),
            Actions.of(other, offence=both, defence=True, kicks=both, other_chart=own),
        )

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        own = ("my ball", "kickoff", "free kick") if self.form == "points" else ()
        labels = ("down", "to go", "to goal", "punt formation", "over", *own)
        return self.described(
            acyclic=False,
            reward_range=self._reward_range(),
            parameters=self._parameters(),
            observation_labels=(*labels, *(f"choice {code}" for code in self.choices)),
            unit="points",
        )

    def _parameters(self) -> tuple[tuple[str, Any], ...]:
        """Return the parameters as JSON values; a chart object appears by its name."""
        given = {"chart": self.chart, "form": self.form, "other_chart": self.other_chart}
        parameters: dict[str, Any] = {
            name: value.name if isinstance(value, Chart) else str(value)
            for name, value in given.items()
            if value is not None
        }
        if self.loaded_ruleset.parameters:
            parameters["ruleset"] = self.loaded_ruleset.parameters
        if self.form == "points":
            parameters["kickoff_value"] = self.kickoff
        else:
            parameters |= {"down": self.down, "to_go": self._to_go}
            parameters |= {"to_goal": self.to_goal, "punting": self.punting}
        return tuple(parameters.items())

    @property
    def _to_go(self) -> Spread:
        return self.loaded_ruleset.first_down if self.to_go is None else self.to_go

    def _reward_range(self) -> tuple[float, float]:
        """Return a range symmetric about 0, so that both rewards sum to 0 in every environment."""
        if self.form == "points":
            return (-inf, inf)  # Safeties may follow one another.
        rules, sides = self.loaded_ruleset, (self.loaded_points, self.loaded_points.other_side)
        kickoff = max(abs(side.kickoff) for side in sides)
        ends = [end for side in sides for end in side.first_down]
        most = max(
            *map(abs, ends),
            rules.touchdown + 1 + kickoff,
            rules.field_goal + kickoff,
            rules.safety + max(abs(side.free_kick) for side in sides),
        )
        return (-most, most)

    def initial(self) -> tuple[Outcome, ...]:
        """Return the start: a kickoff by player 1, or a situation of player 0."""
        if self.form == "points":
            return (Outcome(Fraction(1), Position("kickoff", offence=1)),)
        rules = self.loaded_ruleset
        downs = spread(self.down, "down", 1, rules.downs)
        if self.punting and min(downs) < rules.downs:
            raise ValueError(
                f"punting is true on down {min(downs)}; punt formation is for the last down"
            )
        to_goal = spread(self.to_goal, "to_goal", 1, rules.field - 1)
        to_go = spread(self._to_go, "to_go", 1, rules.field)
        starts = product(downs.items(), to_goal.items(), to_go.items())
        return merged(
            [
                Outcome(p * q * r, Position("call", 0, down, min(y, x), x, self.punting))
                for (down, p), (x, q), (y, r) in starts
            ]
        )

    def actions_of(self, player: int) -> Actions:
        """The actions of a player."""
        return self.actions[player]

    def after_play(
        self, state: Position, consequence: Consequence, result: Result | None = None
    ) -> Outcome:
        """Convert a consequence for the offence into an outcome of this form of the game."""
        side = state.offence if consequence.same_side else 1 - state.offence
        following, reward = OVER, Fraction(consequence.points)
        match consequence.next:
            case Situation() as situation if self.form == "points" or consequence.same_side:
                following = Position("call", side, *situation)
            case Restart.FREE_KICK if self.form == "points":
                following = Position("free kick", side)
            case _:
                reward += Fraction(self._value(consequence))
        return Outcome(
            consequence.probability, following, reward if state.offence == 0 else -reward
        )

    def _value(self, consequence: Consequence) -> float:
        """Return the offence's value after a consequence that ends play, without points scored.

        The value of kicking, or of having lost the ball, is minus the other side's value.
        """
        sign = 1.0 if consequence.same_side else -1.0
        if consequence.next == Restart.KICKOFF:
            return -sign * self.kickoff
        own, other = self.loaded_points, self.loaded_points.other_side
        if not consequence.same_side:
            own, other = other, own
        if not isinstance(consequence.next, Situation):
            return -sign * other.free_kick
        return sign * own.first_down[consequence.next.to_goal - 1]

    def observe(self, state: Position, player: int) -> NDArray[np.float32]:
        """Return the down and the distances, each divided by its maximum, and flags."""
        return np.asarray(self.observations([state], player)[0])

    def observations(self, states: Sequence[Position], player: int) -> NDArray[np.float32]:
        """Return a player's observations of some states, a row for each."""
        rules = self.loaded_ruleset
        phase, offence, *situation, choice = map(np.array, zip(*states, strict=True))
        largest = rules.downs, rules.field, rules.field, 1
        seen = [part / most for part, most in zip(situation, largest, strict=True)]
        seen.append(phase == "over")
        if self.form == "points":
            mine = (phase != "over") & (offence == player)
            seen += [mine, phase == "kickoff", phase == "free kick"]
        seen += [choice == code for code in self.choices]
        return np.stack(seen, axis=1).astype(np.float32)

    def tabulate(self) -> TabularGame:
        """The arrays of the game.

        Raises:
            TooManyStatesError: If the table would fill the memory.
            ValueError: If the chart's probabilities are too fine for exact arithmetic in 53 bits.
        """
        return Nodes(self).build()
