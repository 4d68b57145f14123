"""Learning and scoring: networks trained on a game, and exact numbers about them."""

from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.training.algorithms import ALGORITHMS, SELF_PLAY_ALGORITHMS, load_model
from solvent.training.callback import (
    ExactEvalCallback,
    ReturnSoFar,
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
)
from solvent.training.environments import NativeVecEnv
from solvent.training.extract import Extraction, LookupNetwork, extract
from solvent.training.gap_parts import GapParts
from solvent.training.learner_values import ExactAdvantages, ExactTargets
from solvent.training.masked_dqn import MaskedDQN
from solvent.training.microscope import Microscope, Microscopy, Reading, microscope
from solvent.training.mirror_descent import MirrorDescent
from solvent.training.policy_gradient import GradientReading
from solvent.training.seen import Normalization
from solvent.training.train import TrainingResult, train

__all__ = [
    "ALGORITHMS",
    "SELF_PLAY_ALGORITHMS",
    "Evaluation",
    "ExactAdvantages",
    "ExactEvalCallback",
    "ExactTargets",
    "Extraction",
    "GapParts",
    "GradientReading",
    "LookupNetwork",
    "MaskedDQN",
    "Microscope",
    "Microscopy",
    "MirrorDescent",
    "NativeVecEnv",
    "Normalization",
    "Reading",
    "ReturnSoFar",
    "SelfPlayEvalCallback",
    "SelfPlayEvaluation",
    "TrainingResult",
    "extract",
    "load_model",
    "microscope",
    "read_curve",
    "train",
]
