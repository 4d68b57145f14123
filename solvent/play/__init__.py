"""Play a game in the terminal, with the optimum at hand.

At every decision a person may ask what each action is worth. At the end every decision is priced:
in state s, with V* and Q* the exact values of the game that the opponent's policy leaves, action a
cost V*(s) - Q*(s, a). What the person got is then

    result  =  V*(start)  -  the cost of all decisions  +  chance,

so that bad luck and bad choices are told apart. The first state of the play is taken as the start.

Where both act at once the best choice is a mix, and none of the actions in it costs anything: each
is worth V* against the opponent's mix.
"""

from solvent.play.table import MOST_LISTED, NEGLIGIBLE, Decision, Record
from solvent.play.tabular import play

__all__ = ["MOST_LISTED", "NEGLIGIBLE", "Decision", "Record", "play"]
