"""Football Strategy with a clock, a score and time-outs.

The calls and what they lead to are those of the game without a clock
(:mod:`solvent.games.football.rules`). Plays take time here
(:class:`~solvent.games.football.ruleset.ClockRules`) and the game has an end:

=============== ===================================================================================
``two-minutes`` From the last stop of the clock to the end. Player 0 has the ball.
``half``        One half, for points: player 0 is paid its points less those of player 1.
``second-half`` Player 1 kicks off to player 0, and whoever is ahead at the end has won.
``full``        A whole game. Player 1 kicks off to player 0, and receives the second half.
=============== ===================================================================================

In every form but ``half`` the return of player 0 is 1 for a win and 1/2 for a tie. A tie has this
value also if an overtime follows it in which both sides have the same chances.

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

**Observations** are numbers divided by the largest that they can be, and flags. Time and lead are
there twice, the second time as shares of the time after the clock's last stop and of a touchdown
with its extra point, where a little more or less matters most. In the order of the observation:

=========================== =======================================================================
``over``                    whether play has ended
``down``                    over the ruleset's downs; 0 where there is no situation
``to go``, ``to goal``      over the length of the field
``punt formation``          whether it is declared
``my ball``                 whether the player has the ball, or kicks; while a time-out may be
                            called, whether it will
``kickoff``, ``free kick``  whether that comes, now or after the matter of time-outs
``second half``             whether it is
``time left``               over all of a half; while a time-out may be called, without it
``time left at the end``    over what is left at the last stop, at most 1
``my time-outs``            over those of a half
``its time-outs``           the same of the other side
``I receive the second half`` in the first half, else 0
``lead``                    over the largest margin; not in the form ``half``
``lead within a score``     over a touchdown with its extra point, from -1 to 1; likewise
``I am asked``              whether the player may call a time-out
``it is asked``             whether the other may
``both are asked``          whether the one who is not asked now will be
``time saved``              what is left after a time-out, over all of a half
``untimed down``            whether one follows if no time-out is called
``choice ...``              for each choice of the chart, whether it waits
=========================== =======================================================================
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.calls import Actions
from solvent.games.football.chart import Chart, Result, load_chart
from solvent.games.football.rules import FORMS, ChartFootball
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football.situation import Consequence, Restart, Situation, first_down_at
from solvent.model import (
    WINS_OR_TIES,
    GameInfo,
    JointAction,
    Outcome,
    TabularGame,
    TooManyStatesError,
    compile_game,
)
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.scene import Prose, Scene

TIMED_FORMS = ("two-minutes", "half", "second-half", "full")

# The largest lead that counts in the last two minutes, unless the clock's numbers set it.
_LARGEST_MARGIN_OF_TWO_MINUTES = 28

LARGEST_TABLE = 200_000
"""`tabulate` refuses to walk through more positions than this."""


class TimedPosition(NamedTuple):
    """A state of the game.

    Attributes:
        phase: ``"call"``, ``"choice"`` (a penalty or the play), ``"time-out"`` (whether to call
            one), ``"kickoff"``, ``"free kick"`` or ``"over"``.
        half: 1 or 2; 2 in every form but ``"full"``.
        ticks: Left in the half. With 0 the untimed down is played. When a time-out may be called,
            what will be left without it.
        margin: Player 0's points less player 1's, as far as they count; 0 where points are what
            counts, not winning.
        timeouts: Time-outs left to player 0 and to player 1; none on the untimed down.
        receiver: The player who receives the kickoff of the second half, in the first; else -1.
        offence: The player who has the ball or is about to kick it; when a time-out may be called,
            who will.
        down: Down of the situation, 0 where there is none; likewise the next two.
        to_go: Yards to the line to gain.
        to_goal: Yards to the goal line that the offence attacks.
        punting: Whether punt formation is declared.
        choice: The code of the result that waits for a choice.
        follows: The phase that comes when the matter of time-outs is settled; so with the rest,
            which are of the phase ``"time-out"`` only.
        asked: The player who may call a time-out, else -1.
        other_too: Whether the other player is asked if this one declines.
        saved: Ticks left in the half if a time-out is called.
        untimed: Whether an untimed down follows if none is called.
    """

    phase: str
    half: int = 2
    ticks: int = 0
    margin: int = 0
    timeouts: tuple[int, int] = (0, 0)
    receiver: int = -1
    offence: int = 0
    down: int = 0
    to_go: int = 0
    to_goal: int = 0
    punting: bool = False
    choice: str = ""
    follows: str = ""
    asked: int = -1
    other_too: bool = False
    saved: int = 0
    untimed: bool = False

    @property
    def situation(self) -> Situation:
        """The situation of the offence."""
        return Situation(self.down, self.to_go, self.to_goal, self.punting)

    @property
    def settled(self) -> Self:
        """The same without the matter of time-outs: the phase that follows, with no time left."""
        usual = type(self)._field_defaults
        settled = ("follows", "asked", "other_too", "saved", "untimed")
        return self._replace(phase=self.follows, ticks=0, **{name: usual[name] for name in settled})


class Feature(NamedTuple):
    """One entry of an observation.

    Attributes:
        label: Name of the entry.
        value: A whole number or a flag.
        most: The largest that it can be, by which it is divided.
        least: The smallest; leads may be negative.
    """

    label: str
    value: int
    most: int = 1
    least: int = 0


@dataclass(frozen=True, eq=False)
class TimedFootball(ChartFootball):
    """Football Strategy with a clock, on a chart.

    Args:
        chart: The name of a shipped chart, the path of a chart's file, or a chart.
        form: ``"two-minutes"``, ``"half"``, ``"second-half"`` or ``"full"``.
        ruleset: A mapping of parameters of :class:`Ruleset` where they are not its defaults, or a
            ruleset.
        clock: Fields of :class:`ClockRules` that differ from the defaults. Unless they set it, a
            lead counts up to 28 points in the last two minutes and up to 42 otherwise.
        timeouts: Number of each side's time-outs in a half, or whether it has any; the clock's if
            left out.
        margin: Player 0's lead at the start of the last two minutes or the second half.
        down: Down on which the last two minutes begin.
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
        self.charts  # noqa: B018 - a file that cannot be read is said now
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
    def charts(self) -> tuple[Chart, Chart]:
        """The chart, from which both players play."""
        return (load_chart(self.chart),) * 2

    @cached_property
    def loaded_clock(self) -> ClockRules:
        """The numbers of the clock themselves."""
        defaults: dict[str, Any] = {}
        if self.form == "two-minutes":
            defaults["largest_margin"] = _LARGEST_MARGIN_OF_TWO_MINUTES
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
    def actions(self) -> Actions:
        """The actions of either player."""
        return Actions.of(self.loaded_chart, offence=True, defence=True, kicks=True, timeouts=True)

    def entries(self, state: TimedPosition, player: int) -> list[Feature]:
        """The entries of a player's observation of a position, as the module describes them."""
        rules, clock = self.loaded_ruleset, self.loaded_clock
        score, margin = rules.touchdown + 1, clock.largest_margin
        lead = state.margin if player == 0 else -state.margin
        live, comes = state.phase != "over", state.follows or state.phase
        leads = [
            Feature("lead", lead, margin, -margin),
            Feature("lead within a score", max(-score, min(score, lead)), score, -score),
        ]
        return [
            Feature("over", not live),
            Feature("down", state.down, rules.downs),
            Feature("to go", state.to_go, rules.field),
            Feature("to goal", state.to_goal, rules.field),
            Feature("punt formation", state.punting),
            Feature("my ball", live and state.offence == player),
            Feature("kickoff", comes == "kickoff"),
            Feature("free kick", comes == "free kick"),
            Feature("second half", state.half == 2),
            Feature("time left", state.ticks, clock.half_ticks),
            Feature("time left at the end", min(state.ticks, clock.last_ticks), clock.last_ticks),
            Feature("my time-outs", state.timeouts[player], clock.timeouts),
            Feature("its time-outs", state.timeouts[1 - player], clock.timeouts),
            Feature("I receive the second half", state.receiver == player),
            *([] if self.for_points else leads),
            Feature("I am asked", state.asked == player),
            Feature("it is asked", state.asked == 1 - player),
            Feature("both are asked", state.other_too),
            Feature("time saved", state.saved, clock.half_ticks),
            Feature("untimed down", state.untimed),
            *(Feature(f"choice {code}", state.choice == code) for code in self.choices),
        ]

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and sources."""
        entries = self.entries(TimedPosition("over"), 0)
        return self.described(
            acyclic=True,
            reward_range=self._reward_range(),
            parameters=self._parameters(),
            observation_labels=tuple(entry.label for entry in entries),
            unit="points" if self.for_points else WINS_OR_TIES,
        )

    def _parameters(self) -> tuple[tuple[str, Any], ...]:
        """The parameters as JSON has them; a chart that has no file by its name."""
        parameters: dict[str, Any] = {
            "chart": self.loaded_chart.name if isinstance(self.chart, Chart) else str(self.chart),
            "form": self.form,
            "ruleset": self.loaded_ruleset.parameters,
            "clock": self.loaded_clock.parameters,
        }
        parameters = {name: value for name, value in parameters.items() if value}
        if self.form in ("two-minutes", "second-half"):
            parameters["margin"] = self.margin
        if self.form == "two-minutes":
            usual = self.loaded_ruleset.first_down
            to_go = usual if self.to_go is None else self.to_go
            parameters |= {"down": self.down, "to_go": to_go, "to_goal": self.to_goal}
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

    def actions_of(self, player: int) -> Actions:
        """The actions of a player, which are those of either."""
        return self.actions

    def who_decides(self, state: TimedPosition) -> int:
        """The player who takes a penalty or the play, is asked for a time-out, or kicks."""
        return state.asked if state.phase == "time-out" else super().who_decides(state)

    def transition(self, state: TimedPosition, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The calls meet, a choice is taken, the ball is kicked, or a time-out called or not."""
        if state.phase != "time-out":
            return super().transition(state, joint_action)
        if joint_action[state.asked] == self.actions.timeout:
            # The player who was asked has one fewer, and the clock stands.
            left = [count - (player == state.asked) for player, count in enumerate(state.timeouts)]
            after = state.settled._replace(timeouts=(left[0], left[1]))
            return (self._goes_on(after, state.saved, untimed=False),)
        if state.other_too:
            other = state._replace(asked=1 - state.asked, other_too=False)
            return (Outcome(Fraction(1), other),)
        return (self._goes_on(state.settled, state.ticks, untimed=state.untimed),)

    def told(
        self,
        state: TimedPosition,
        joint_action: JointAction,
        outcome: Outcome,
        dice: random.Random,
    ) -> tuple[str, int]:
        """Describe the way to an outcome; a time-out that is not called is not worth a word."""
        if state.phase != "time-out":
            return super().told(state, joint_action, outcome, dice)
        called = joint_action[state.asked] == self.actions.timeout
        return f"{self.player_name(state.asked)} calls a time-out" if called else "", 0

    def after_play(
        self, state: TimedPosition, consequence: Consequence, result: Result | None = None
    ) -> Outcome:
        """Return the outcome of one branch of a play or kick: the next position and the points.

        Args:
            state: Position before it.
            consequence: Consequence of the play.
            result: The chart's result, if there was one.
        """
        clock = self.loaded_clock
        points = consequence.points if state.offence == 0 else -consequence.points
        after = self._following(state, consequence, points)
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
        reward = outcome.reward + (points if self.for_points else 0)
        return Outcome(consequence.probability, outcome.state, reward)

    def _following(
        self, state: TimedPosition, consequence: Consequence, points: int
    ) -> TimedPosition:
        """Return the position after a play, time apart."""
        most = self.loaded_clock.largest_margin
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
            clock = self.loaded_clock
            kickoff = TimedPosition(
                "kickoff",
                ticks=clock.half_ticks,
                margin=last.margin,
                timeouts=(clock.timeouts,) * 2,
                offence=1 - last.receiver,
            )
            return Outcome(Fraction(1), kickoff)
        won = Fraction(1 + (last.margin > 0) - (last.margin < 0), 2)
        over = TimedPosition("over", margin=last.margin)
        return Outcome(Fraction(1), over, 0 if self.for_points else won)

    # How a position is seen and said

    def observe(self, state: TimedPosition, player: int) -> NDArray[np.float32]:
        """Return a player's observation of a position, as the module describes it."""
        seen = [entry.value / max(1, entry.most) for entry in self.entries(state, player)]
        return np.array(seen, np.float32)

    def scene(self, state: TimedPosition) -> Scene:
        """Draw the score and the clock, and the field as the game without a clock does."""
        if state.phase != "over":
            return Prose("", (self._scoreboard(state),)), *super().scene(state)
        won = self._score_text(state.margin).replace("leads", "has won")
        return (Prose("", ("play is over" if self.for_points else f"play is over; {won}",)),)

    def examples(self) -> list[TimedPosition]:
        """Return positions with the largest drawings: calls in both formations, and a time-out."""
        rules, clock, [begins] = self.loaded_ruleset, self.loaded_clock, self.initial()
        middle = first_down_at(rules, rules.field // 2)._replace(down=rules.downs)
        call = begins.state._replace(phase="call", margin=-clock.largest_margin, **middle._asdict())
        waits = call._replace(phase="time-out", follows="call", asked=0, saved=call.ticks)
        return [call, call._replace(punting=True), waits]

    def decisions(self, state: TimedPosition) -> tuple[str, ...]:
        """Say also what a time-out would save."""
        if state.phase != "time-out":
            return super().decisions(state)
        text = self.loaded_clock.text
        without = "an untimed down" if state.untimed else text(state.ticks)
        asked, saved = self.player_name(state.asked), text(state.saved)
        return (f"{asked} may call a time-out: {saved} left with it, {without} without",)

    def entry_names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of both sides' time-outs."""
        return {"timeouts": tuple(f"time-outs of {self.player_name(side)}" for side in (0, 1))}

    def place(self, state: TimedPosition) -> str:
        """Such as ``0:45 left, tied, player A has 3rd and 7 at the other's 34``."""
        where = "a time-out or not" if state.phase == "time-out" else super().place(state)
        return f"{self._scoreboard(state)}, {where}"

    def _scoreboard(self, state: TimedPosition) -> str:
        """Such as ``second half, 1:45 left, player A leads by 3, time-outs 2 and 0``."""
        parts = [f"{'first' if state.half == 1 else 'second'} half"] if self.form == "full" else []
        if state.phase != "time-out":
            left = f"{self.loaded_clock.text(state.ticks)} left"
            parts.append(left if state.ticks else "an untimed down")
        if not self.for_points:
            parts.append(self._score_text(state.margin))
        if self.loaded_clock.timeouts and (state.ticks or state.phase == "time-out"):
            parts.append("time-outs {} and {}".format(*state.timeouts))
        return ", ".join(parts)

    def _score_text(self, margin: int) -> str:
        """Describe the leader and the lead."""
        return f"{self.player_name(int(margin < 0))} leads by {abs(margin)}" if margin else "tied"

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


ALL_FORMS = (*FORMS, *TIMED_FORMS)
"""The forms without a clock, and those with one."""
