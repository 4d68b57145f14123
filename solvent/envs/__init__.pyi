from .env import Env as Env
from .vector_env import VectorEnv as VectorEnv
from .wrappers import MaskObservation as MaskObservation
