from . import chain as chain
from . import induction as induction
from . import markov_game as markov_game
from . import matrix_game as matrix_game
from . import sweeps as sweeps
