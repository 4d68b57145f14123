"""One game of football with a clock, written down with every branch that could have been."""

from __future__ import annotations

from timed_football import tiny

from solvent.games.football_clock.rules import TimedPosition

# From the opening kickoff to the whistle: a field goal, a time-out that leaves time to kick off, a
# penalty that is taken and gives an untimed down, a touchdown in it, the kickoff of the second half
# by who received the first, an onside kick that works, a time-out after a penalty, a touchdown as
# the clock stops, and no time-out when the time runs out. A lead counts up to three points.
WALK = [
    (("", "kickoff"), 0),
    (("", "no time-out"), 0),
    (("no time-out", ""), 0),
    (("1", "B"), 0),
    (("no time-out", ""), 0),
    (("", "no time-out"), 0),
    (("1", "A"), 0),
    (("time-out", ""), 0),
    (("field goal", "A"), 0),
    (("", "time-out"), 0),
    (("kickoff", ""), 0),
    (("B", "2"), 0),
    (("", "take the penalty"), 0),
    (("B", "3"), 0),
    (("onside", ""), 0),
    (("no time-out", ""), 0),
    (("", "no time-out"), 0),
    (("1", "C"), 0),
    (("", "take the penalty"), 0),
    (("time-out", ""), 0),
    (("4", "A"), 0),
    (("kickoff", ""), 0),
    (("", "no time-out"), 0),
    (("A", "1"), 0),
    (("", "no time-out"), 0),
]


def written(state: TimedPosition) -> str:
    """A position without the fields that have their defaults."""
    usual = TimedPosition._field_defaults
    shown = {n: v for n, v in state._asdict().items() if n not in usual or v != usual[n]}
    return ", ".join(f"{name} {value!r}" for name, value in shown.items())


def transcript() -> str:
    """The walk, with every branch that could have been."""
    game = tiny("full", half=60, stops=[30], timeouts=1, largest_margin=3)
    state = game.initial()[0].state
    lines: list[str] = []
    for names, branch in WALK:
        lines += [written(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
        legal = game.legal_actions(state)
        joint = []
        for player, name in enumerate(names):
            joint.append(game.actions.names.index(name) if name else 0)
            assert joint[-1] in legal[player], (written(state), player, name)
            lines += [f"player {player}: {name}"] if name else []
        branches = game.transition(state, tuple(joint))
        for i, o in enumerate(branches):
            mark = ">" if i == branch else " "
            lines.append(f"  {mark} {o.probability!s:>7}  {written(o.state)}; reward {o.reward}")
        lines.append("")
        state = branches[branch].state
    lines += [written(state), *(f"    | {line}" for line in game.draw(state).splitlines())]
    return "\n".join(lines) + "\n"
