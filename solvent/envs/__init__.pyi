from .env import Env as Env
from .env import SeatEnv as SeatEnv
from .env import TabularEnv as TabularEnv
from .vector_env import SeatVectorEnv as SeatVectorEnv
from .vector_env import TabularVectorEnv as TabularVectorEnv
from .vector_env import VectorEnv as VectorEnv
from .wrappers import MaskObservation as MaskObservation
from .wrappers import TextObservation as TextObservation
