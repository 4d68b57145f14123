"""Football Strategy with a clock, a score and time-outs.

The calls and what they lead to are those of the game without a clock
(:mod:`solvent.games.football.rules`). Plays take time here
(:mod:`solvent.games.football_clock.clock`) and the game has an end:

=============== ===================================================================================
``two-minutes`` From the last stop of the clock to the end. Player 0 has the ball.
``half``        One half, for points: player 0 is paid its points less those of player 1.
``second-half`` Player 1 kicks off to player 0, and whoever is ahead at the end has won.
``full``        A whole game. Player 1 kicks off to player 0, and receives the second half.
=============== ===================================================================================

But for the form ``half`` player 0 is paid 1 for a win and 1/2 for a tie. So much is a tie worth
also if an overtime follows it in which both sides have the same chances.

**Time-outs.** When a result takes time from the clock, its dice seen, the side that was on offence
or kicked is asked whether it calls a time-out, then the other side: each if it has one left, if the
clock would stand otherwise with it, and if nobody has called. That is a state of its own in which
only one has a choice. A penalty or the play is taken before. Time-outs do not last into the second
half; each side has all of them again.

**The end of a half.** When no time is left the half is over, points that the last play brought
counted and no kickoff after them. But it does not end on a penalty of the defence: what follows is
then played without a clock, one play, and that ends it.

The states are far too many for a table. Whoever wants the solution turns to the solver for this
game, which goes through the time backward; a short half on a short field can be tabulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.calls import (
    KICKOFFS,
    Actions,
    merged_outcomes,
    what_follows_call,
)
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import as_chart
from solvent.games.football.position import WAIT
from solvent.games.football.results import Result, parse_result
from solvent.games.football.rules import SOURCES
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    OFFENCE,
    Consequence,
    Restart,
    Situation,
    chooser,
    consequences,
    first_down_at,
    kick,
    legal_actions,
)
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.view import Entry, drawing, entries_of, observation, place_text
from solvent.model import (
    WINS_OR_TIES,
    GameInfo,
    JointAction,
    Outcome,
    TabularGame,
    TooManyStatesError,
    Words,
    compile_game,
)
from solvent.model.parameters import check_choice, check_integer, shown

TIMED_FORMS = ("two-minutes", "half", "second-half", "full")

LARGEST_MARGIN_OF_TWO_MINUTES = 28
"""The largest lead that counts in the last two minutes, unless the clock's numbers set it."""

LARGEST_TABLE = 200_000
"""`tabulate` refuses to walk through more positions than this."""


@dataclass(frozen=True)
class Flow:
    """The passage from one position to the next.

    Args:
        clock: The numbers of the clock.
        for_points: Whether points are what counts, not winning.
    """

    clock: ClockRules
    for_points: bool

    def after_play(
        self, state: TimedPosition, consequence: Consequence, result: Result | None = None
    ) -> Outcome:
        """Return the outcome of one branch of a play or kick: the next position and the points.

        Args:
            state: Position before it.
            consequence: Consequence of the play.
            result: The chart's result, if there was one.
        """
        clock = self.clock
        points = consequence.points if state.offence == 0 else -consequence.points
        after = self._following(state, consequence, points)
        reward = points if self.for_points else 0
        if consequence.seconds == 0:
            # Punt formation has been declared; no play has been played.
            outcome = Outcome(Fraction(1), after._replace(ticks=state.ticks))
        elif state.ticks == 0:
            outcome = self._half_over(after)
        else:
            penalty = result is not None and result.kind == "defence-penalty"
            left, saved, untimed = clock.left(state.ticks, consequence.seconds, penalty=penalty)
            askable = [
                player for player in (state.offence, 1 - state.offence) if state.timeouts[player]
            ]
            if askable and saved != left:
                waiting = after._replace(
                    phase="time-out",
                    ticks=left,
                    follows=after.phase,
                    asked=askable[0],
                    other_too=len(askable) == 2,
                    saved=saved,
                    untimed=untimed,
                )
                outcome = Outcome(Fraction(1), waiting)
            else:
                outcome = self._goes_on(after, left, untimed=untimed)
        return Outcome(consequence.probability, outcome.state, outcome.reward + reward)

    def _following(
        self, state: TimedPosition, consequence: Consequence, points: int
    ) -> TimedPosition:
        """Return the position after a play, time apart."""
        most = self.clock.largest_margin
        following = TimedPosition(
            "kickoff",
            state.half,
            margin=0 if self.for_points else max(-most, min(most, state.margin + points)),
            timeouts=state.timeouts,
            receiver=state.receiver,
            offence=state.offence if consequence.same_side else 1 - state.offence,
        )
        match consequence.next:
            case Situation() as situation:
                return following._replace(phase="call", **situation._asdict())
            case Restart.FREE_KICK:
                return following._replace(phase="free kick")
        return following

    def timeout_called(self, state: TimedPosition) -> Outcome:
        """The player who was asked has one time-out fewer, and the clock stands."""
        left = [count - (player == state.asked) for player, count in enumerate(state.timeouts)]
        return self._goes_on(
            state.settled._replace(timeouts=(left[0], left[1])), state.saved, untimed=False
        )

    def declined(self, state: TimedPosition) -> Outcome:
        """The other player is asked, or the clock has run."""
        if state.other_too:
            return Outcome(Fraction(1), state._replace(asked=1 - state.asked, other_too=False))
        return self._goes_on(state.settled, state.ticks, untimed=state.untimed)

    def _goes_on(self, following: TimedPosition, left: int, *, untimed: bool) -> Outcome:
        """The half goes on with a play or a kick, or it is over."""
        if left:
            return Outcome(Fraction(1), following._replace(ticks=left))
        if untimed:
            return Outcome(Fraction(1), following._replace(timeouts=(0, 0)))
        return self._half_over(following)

    def _half_over(self, last: TimedPosition) -> Outcome:
        """The second half begins, or the game is over."""
        if last.half == 1:
            clock = self.clock
            kickoff = TimedPosition(
                "kickoff",
                ticks=clock.half_ticks,
                margin=last.margin,
                timeouts=(clock.timeouts,) * 2,
                offence=1 - last.receiver,
            )
            return Outcome(Fraction(1), kickoff)
        over = TimedPosition("over", margin=last.margin)
        if self.for_points:
            return Outcome(Fraction(1), over)
        return Outcome(Fraction(1), over, Fraction(1 + (last.margin > 0) - (last.margin < 0), 2))


@dataclass(frozen=True, eq=False)
class TimedFootball(Words):
    """Football Strategy with a clock, on a chart.

    Args:
        chart: The name of a shipped chart, the path of a chart's file, or a chart.
        form: ``"two-minutes"``, ``"half"``, ``"second-half"`` or ``"full"``.
        ruleset: A mapping of parameters of :class:`Ruleset` where they are not its defaults, or a
            ruleset.
        clock: The same of :class:`ClockRules`. In the last two minutes a lead counts up to 28
            points unless it is said here, else up to 42.
        timeouts: How many each side has in a half, or whether it has any; that of the clock if
            left out.
        margin: Player 0's lead at the start of the last two minutes or the second half.
        down: On which the last two minutes begin.
        to_go: Yards to the line to gain then, or to the goal where it is nearer; without it, those
            of a first down.
        to_goal: Yards to the goal then.

    Raises:
        ValueError: If a parameter is not allowed, or belongs to another form.
        OSError: If a file cannot be read.
    """

    chart: str | Path | Chart = "standard"
    form: str = "half"
    ruleset: Mapping[str, Any] | Ruleset | None = None
    clock: Mapping[str, Any] | ClockRules | None = None
    timeouts: int | bool | None = None
    margin: int = 0
    down: int = 1
    to_go: int | None = None
    to_goal: int = 80

    def __post_init__(self) -> None:
        """Read the files and check the parameters."""
        check_choice(self.form, "form", TIMED_FORMS)
        rules, clock = self.loaded_ruleset, self.loaded_clock
        self.loaded_chart  # noqa: B018 - a file that cannot be read is said now
        clock.check_fits(rules)
        if self.form in ("half", "full") and self.margin != 0:
            raise ValueError(
                f"margin is {shown(self.margin)}; form {self.form!r} begins at 0, and only "
                f"'two-minutes' and 'second-half' take another"
            )
        check_integer(self.margin, "margin", -clock.largest_margin, clock.largest_margin)
        if self.form == "two-minutes":
            if not clock.stops:
                raise ValueError("form 'two-minutes' begins at the last of stops; there are none")
            check_integer(self.down, "down", 1, rules.downs)
            check_integer(self.to_goal, "to_goal", 1, rules.field - 1)
            if self.to_go is not None:
                check_integer(self.to_go, "to_go", 1, rules.field)
        elif (self.down, self.to_go, self.to_goal) != (1, None, 80):
            raise ValueError(
                f"form {self.form!r} begins with a kickoff; down, to_go and to_goal are for "
                f"'two-minutes'"
            )

    @cached_property
    def loaded_chart(self) -> Chart:
        """The chart itself."""
        return as_chart(self.chart)

    @cached_property
    def loaded_ruleset(self) -> Ruleset:
        """The ruleset itself."""
        return Ruleset.of(self.ruleset)

    @cached_property
    def loaded_clock(self) -> ClockRules:
        """The numbers of the clock themselves."""
        defaults: dict[str, Any] = {}
        if self.form == "two-minutes":
            defaults["largest_margin"] = LARGEST_MARGIN_OF_TWO_MINUTES
        if self.timeouts is None:
            return ClockRules.of(self.clock, **defaults)
        wanted: int = self.timeouts
        if isinstance(self.timeouts, bool):
            wanted = ClockRules.timeouts if self.timeouts else 0
        clock = ClockRules.of(self.clock, timeouts=wanted, **defaults)
        if clock.timeouts != wanted:
            raise ValueError(f"timeouts is {wanted}, but clock has {clock.timeouts}; give one")
        return clock

    @property
    def for_points(self) -> bool:
        """True if points count, not winning."""
        return self.form == "half"

    @property
    def start_ticks(self) -> int:
        """Left in the half at the start."""
        clock = self.loaded_clock
        return clock.last_ticks if self.form == "two-minutes" else clock.half_ticks

    @cached_property
    def flow(self) -> Flow:
        """The transitions after a play."""
        return Flow(self.loaded_clock, self.for_points)

    @cached_property
    def actions(self) -> Actions:
        """The actions of either player."""
        return Actions.of(self.loaded_chart, offence=True, defence=True, kicks=True, timeouts=True)

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The codes of all results of the chart that are choices."""
        return tuple(result.code for result in self.loaded_chart.results if result.options)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of an observation."""
        return entries_of(self)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        return GameInfo(
            name="football-strategy",
            players=2,
            actions=(self.actions.names, self.actions.names),
            acyclic=True,
            reward_range=self._reward_range(),
            sources=(*SOURCES, f"chart {self.loaded_chart.name!r}: {self.loaded_chart.source}"),
            parameters=self._parameters(),
            observation_labels=tuple(entry.label for entry in self.entries),
            unit="points" if self.for_points else WINS_OR_TIES,
        )

    def _parameters(self) -> tuple[tuple[str, Any], ...]:
        """The parameters as JSON has them; a chart that has no file by its name."""
        chart = self.loaded_chart.name if isinstance(self.chart, Chart) else str(self.chart)
        parameters: dict[str, Any] = {"chart": chart, "form": self.form}
        if self.loaded_ruleset.parameters:
            parameters["ruleset"] = self.loaded_ruleset.parameters
        if self.loaded_clock.parameters:
            parameters["clock"] = self.loaded_clock.parameters
        if self.form in ("two-minutes", "second-half"):
            parameters["margin"] = self.margin
        if self.form == "two-minutes":
            parameters["down"] = self.down
            parameters["to_go"] = (
                self.loaded_ruleset.first_down if self.to_go is None else self.to_go
            )
            parameters["to_goal"] = self.to_goal
        return tuple(parameters.items())

    def _reward_range(self) -> tuple[float, float]:
        """A win and a loss, or the points of a half in which every play brings the most."""
        if not self.for_points:
            return (0, 1)
        rules, clock = self.loaded_ruleset, self.loaded_clock
        # A play takes a tick or, with a time-out after it, none; one more is untimed.
        plays = clock.half_ticks + 2 * clock.timeouts + 1
        most = plays * max(rules.touchdown + 1, rules.field_goal, rules.safety)
        return (-most, most)

    def initial(self) -> tuple[Outcome, ...]:
        """A kickoff by player 1, or player 0's ball in the last two minutes."""
        start = TimedPosition(
            "kickoff",
            half=1 if self.form == "full" else 2,
            ticks=self.start_ticks,
            margin=self.margin,
            timeouts=(self.loaded_clock.timeouts,) * 2,
            receiver=1 if self.form == "full" else -1,
            offence=1,
        )
        if self.form == "two-minutes":
            situation = first_down_at(self.loaded_ruleset, self.to_goal)
            to_go = situation.to_go if self.to_go is None else min(self.to_go, self.to_goal)
            start = start._replace(
                phase="call", offence=0, down=self.down, to_go=to_go, to_goal=self.to_goal
            )
        return (Outcome(Fraction(1), start),)

    def legal_actions(self, state: TimedPosition) -> tuple[tuple[int, ...], ...]:
        """Return both players' legal actions; one of them has a choice only, or both at once."""
        legal: list[tuple[int, ...]] = [(WAIT,), (WAIT,)]
        if state.phase == "call":
            first = self.actions.defence
            legal[state.offence] = legal_actions(
                self.loaded_ruleset, self.loaded_chart.plays, state.situation
            )
            legal[1 - state.offence] = tuple(range(first, first + self.loaded_chart.defences))
        elif state.phase != "free kick":
            first = {
                "choice": self.actions.choice,
                "kickoff": self.actions.kick,
                "time-out": self.actions.timeout,
            }[state.phase]
            legal[self.who_decides(state)] = (first, first + 1)
        return tuple(legal)

    def who_decides(self, state: TimedPosition) -> int:
        """The player who takes a penalty or the play, is asked for a time-out, or kicks."""
        if state.phase == "time-out":
            return state.asked
        if state.phase == "choice" and chooser(parse_result(state.choice)) != OFFENCE:
            return 1 - state.offence
        return state.offence

    def transition(self, state: TimedPosition, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The calls meet, a choice is taken, the ball is kicked, or a time-out called or not."""
        decided = joint_action[self.who_decides(state)]
        match state.phase:
            case "time-out":
                called = decided == self.actions.timeout
                return (self.flow.timeout_called(state) if called else self.flow.declined(state),)
            case "call":
                defence = joint_action[1 - state.offence] - self.actions.defence
                return merged_outcomes(self._called(state, decided, defence))
            case "choice":
                option = parse_result(state.choice).options[decided - self.actions.choice]
                return merged_outcomes(self._resulted(state, option))
            case "kickoff":
                follow = kick(self.loaded_ruleset, KICKOFFS[decided - self.actions.kick])
            case _:
                follow = kick(self.loaded_ruleset, "free_kick")
        return merged_outcomes(self.flow.after_play(state, branch) for branch in follow)

    def _called(self, state: TimedPosition, action: int, defence: int) -> Iterator[Outcome]:
        """Yield the outcomes of the offence's action against a defence."""
        for probability, result, follow in what_follows_call(
            self.loaded_chart, self.loaded_ruleset, state.situation, action, defence
        ):
            if result is not None and result.options:
                yield Outcome(probability, state._replace(phase="choice", choice=result.code))
            for consequence in follow:
                branch = self.flow.after_play(state, consequence, result)
                yield Outcome(probability * branch.probability, branch.state, branch.reward)

    def _resulted(self, state: TimedPosition, result: Result) -> Iterator[Outcome]:
        """Yield the outcomes of a result that is no choice."""
        for consequence in consequences(self.loaded_ruleset, state.situation, result):
            yield self.flow.after_play(state, consequence, result)

    def is_terminal(self, state: TimedPosition) -> bool:
        """Return True if the last half is over."""
        return state.phase == "over"

    def observe(self, state: TimedPosition, player: int) -> NDArray[np.float32]:
        """Return a player's observation, see :mod:`solvent.games.football_clock.view`."""
        return observation(self, state, player)

    def draw(self, state: TimedPosition) -> str:
        """Time and score, then the field from the offence's goal line on the left, and the call."""
        return drawing(self, state)

    def explain(self, action: int, player: int) -> str:
        """Describe an action in a few words."""
        return self.actions.explain(self.loaded_chart, self.loaded_chart, action)

    def place(self, state: TimedPosition) -> str:
        """Time, score and situation in one line."""
        return place_text(self, state)

    def tabulate(self) -> TabularGame:
        """The arrays of a game that is small enough.

        Raises:
            TooManyStatesError: If it is not; no time is spent on finding out.
        """
        positions = self.positions
        if positions > LARGEST_TABLE:
            raise TooManyStatesError(
                f"football-strategy in the form {self.form!r} has {positions:,} positions in which "
                f"both sides call; a table takes {LARGEST_TABLE:,} at most, but "
                f"`solvent solve football-strategy --form {self.form}` solves it without one"
            )
        return compile_game(self, reference=True)

    @property
    def positions(self) -> int:
        """The number of positions in which both sides call, seen by the side that has the ball.

        Punt formation and the untimed down are left out, those that cannot be reached are not.
        """
        rules, clock = self.loaded_ruleset, self.loaded_clock
        situations = rules.downs * rules.field * (rules.field - 1) // 2
        margins = 1 if self.for_points else 2 * clock.largest_margin + 1
        if self.form == "full":
            margins *= 3  # In the first half it also matters who receives the second.
        return situations * margins * self.start_ticks * (clock.timeouts + 1) ** 2
