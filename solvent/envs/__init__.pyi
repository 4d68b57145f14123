from .env import Env as Env
from .env import SeatEnv as SeatEnv
from .env import TabularEnv as TabularEnv
from .mask_observation import MaskObservation as MaskObservation
from .text_observation import TextObservation as TextObservation
from .vector_env import SeatVectorEnv as SeatVectorEnv
from .vector_env import TabularVectorEnv as TabularVectorEnv
from .vector_env import VectorEnv as VectorEnv
