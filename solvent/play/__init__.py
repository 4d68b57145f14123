"""Play a game in the terminal, with the optimum at hand.

At every decision a person may ask for the value of each action. At the end every decision gets a
cost. Let V* and Q* be the exact values against the opponent's policy. Taking action a in state s
cost V*(s) - Q*(s, a), and the person's return is

    return  =  V*(start)  -  the cost of all decisions  +  chance,

which separates bad luck from bad choices. Here the start is the first state of the episode.

In a state in which both players act at once, the best choice is a mixed strategy. None of its
actions costs anything, because each has the value V* against the opponent's mixed strategy.
"""

from solvent.play.line import NEGLIGIBLE
from solvent.play.session import MOST_LISTED, Decision, Record, Session, play

__all__ = ["MOST_LISTED", "NEGLIGIBLE", "Decision", "Record", "Session", "play"]
