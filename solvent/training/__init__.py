"""Learning and scoring: networks trained on a game, and exact numbers about them."""

from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.training.algorithms import ALGORITHMS, SELF_PLAY_ALGORITHMS, load_model
from solvent.training.callback import (
    ExactEvalCallback,
    ReturnSoFar,
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
)
from solvent.training.extract import Extraction, extract, extract_boltzmann, extract_policy
from solvent.training.lookup import LookupNetwork
from solvent.training.masked_dqn import MaskedDQN
from solvent.training.mirror_descent import MirrorDescent
from solvent.training.seen import Normalization
from solvent.training.train import TrainingResult, train
from solvent.training.vec_env import NativeVecEnv

__all__ = [
    "ALGORITHMS",
    "SELF_PLAY_ALGORITHMS",
    "Evaluation",
    "ExactEvalCallback",
    "Extraction",
    "LookupNetwork",
    "MaskedDQN",
    "MirrorDescent",
    "NativeVecEnv",
    "Normalization",
    "ReturnSoFar",
    "SelfPlayEvalCallback",
    "SelfPlayEvaluation",
    "TrainingResult",
    "extract",
    "extract_boltzmann",
    "extract_policy",
    "load_model",
    "read_curve",
    "train",
]
