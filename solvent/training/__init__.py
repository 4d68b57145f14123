"""Learning and scoring: networks trained on a game, and exact numbers about them."""

from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.training.algorithms import ALGORITHMS, SELF_PLAY_ALGORITHMS
from solvent.training.callback import (
    ExactEvalCallback,
    ReturnSoFar,
    SelfPlayEvalCallback,
    SelfPlayEvaluation,
)
from solvent.training.environments import NativeVecEnv
from solvent.training.extract import Extraction, extract
from solvent.training.learner_values import ExactAdvantages, ExactTargets, GradientReading
from solvent.training.learners import MaskedDQN
from solvent.training.microscope import GapParts, Microscope, Microscopy, Reading, microscope
from solvent.training.mirror_descent import MirrorDescent
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
    "MaskedDQN",
    "Microscope",
    "Microscopy",
    "MirrorDescent",
    "NativeVecEnv",
    "Reading",
    "ReturnSoFar",
    "SelfPlayEvalCallback",
    "SelfPlayEvaluation",
    "TrainingResult",
    "extract",
    "microscope",
    "read_curve",
    "train",
]
