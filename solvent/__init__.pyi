from .exact import SolvedGame as SolvedGame
from .exact import best_response as best_response
from .exact import exploitability as exploitability
from .exact import load_policy as load_policy
from .exact import locate_gap as locate_gap
from .exact import nash_conv as nash_conv
from .exact import policy_value as policy_value
from .exact import save_policy as save_policy
from .exact import solve as solve
from .exact import solve_tree as solve_tree
from .exact import state_visitation as state_visitation
from .grading import grade as grade
from .model import Game as Game
from .model import Outcome as Outcome
from .model import TabularGame as TabularGame
from .model import TabularPolicy as TabularPolicy
from .model import against as against
from .model import check_game as check_game
from .model import compile_game as compile_game
from .model import discounted as discounted
from .model.registry import GAMES as GAMES
from .model.registry import GameSpec as GameSpec
from .model.registry import make_game as make_game
from .registration import register_envs as register_envs
from .scoring import policy_from as policy_from
from .scoring import score as score

__version__: str
