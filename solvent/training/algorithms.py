"""The learning algorithms by name, their entropy schedule, and loading of saved networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sb3_contrib import QRDQN, TRPO, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from solvent.model.files import open_file
from solvent.model.parameters import brief, check_choice
from solvent.training.distinct import DistinctMaskablePPO, DistinctPPO
from solvent.training.masked_dqn import MaskedDQN
from solvent.training.mirror_descent import MirrorDescent


@dataclass(frozen=True, slots=True)
class Learner:
    """A learning algorithm.

    Attributes:
        model: Class of the algorithm.
        hyperparameters: Name of its file in :mod:`solvent.training.hyperparameters`.
        masked: Whether it is told the legal actions.
        seats_apart: Whether it keeps both seats of a two-player game apart. They then have roles
            even if the players' actions are the same (:mod:`solvent.training.forms`),
            and it learns both seats in every episode.
    """

    model: type[BaseAlgorithm]
    hyperparameters: str
    masked: bool
    seats_apart: bool = False


ALGORITHMS: Mapping[str, Learner] = {
    "ppo": Learner(DistinctPPO, "ppo", masked=False),
    "a2c": Learner(A2C, "a2c", masked=False),
    "trpo": Learner(TRPO, "trpo", masked=False),
    "dqn": Learner(DQN, "dqn", masked=False),
    "qr_dqn": Learner(QRDQN, "qr_dqn", masked=False),
    "maskable_ppo": Learner(DistinctMaskablePPO, "ppo", masked=True),
    "masked_dqn": Learner(MaskedDQN, "dqn", masked=True),
}
"""The algorithms that train one learner, by name."""

SELF_PLAY_ALGORITHMS: Mapping[str, Learner] = {
    **ALGORITHMS,
    "mirror_descent": Learner(MirrorDescent, "mirror_descent", masked=True, seats_apart=True),
}
"""All algorithms; those that are not in ``ALGORITHMS`` need both seats of a two-player game."""


def find_algorithm(name: str, among: Mapping[str, Learner] = ALGORITHMS) -> Learner:
    """Return an algorithm by name.

    Args:
        name: Name of the algorithm.
        among: The allowed algorithms.

    Raises:
        ValueError: If there is none of that name, or its policies have no table.
    """
    if name == "recurrent_ppo":
        raise ValueError(
            f"algorithm is {name!r}: RecurrentPPO has a policy of all that it saw before, which is "
            f"no function of the state and so has no table and no exact score; allowed are "
            f"{', '.join(sorted(among))}"
        )
    return among[check_choice(name, "algorithm", among)]


class Watcher(BaseCallback):
    """A callback that never stops a training."""

    def _on_step(self) -> bool:
        return True


class EntropyCallback(Watcher):
    """Lets the entropy bonus fall linearly to 0, for learners that have one, in two-player games.

    The best action there depends on replies and later moves that are poor at first. A large bonus
    (`ent_coef`, of PPO, A2C and MaskablePPO) keeps all actions alive meanwhile; with a small one
    the policy commits itself before the values are right. At the end the bonus is 0, so that it
    rewards no randomness in the final policy.
    """

    def _init_callback(self) -> None:
        self._begin = getattr(self.model, "ent_coef", 0.0)

    def _on_rollout_start(self) -> None:
        if isinstance(self.model, (PPO, A2C, MaskablePPO)):
            self.model.ent_coef = self._begin * self.model._current_progress_remaining


def load_model(path: str | Path, algorithm: str, *, trust: bool = False) -> BaseAlgorithm:
    """Load a network that Stable-Baselines3 saved.

    Such a ``.zip`` holds pickled objects, and unpickling runs whatever code its author put
    there. Policies saved by this project (``policy.npz``) hold numbers only and need no trust.

    Args:
        path: File of the network.
        algorithm: A key of :data:`SELF_PLAY_ALGORITHMS`.
        trust: Allow the author of the file to run code here.

    Raises:
        ValueError: If `trust` is not given, or the file is not such a network.
    """
    model = find_algorithm(algorithm, SELF_PLAY_ALGORITHMS).model
    if not trust:
        raise ValueError(
            f"{path}: loading a network of Stable-Baselines3 runs code from its file; "
            f"say that you trust the author (trust=True), or load a policy.npz instead"
        )
    try:
        # Stable-Baselines3 adds the ending to a name without one.
        bare = not Path(path).suffix and not Path(path).exists()
        with open_file(f"{path}.zip" if bare else path) as file:
            found = model.load(file, device="cpu")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # What is unpickled may raise anything.
        what = f"{type(error).__name__}: {brief(str(error))}"
        raise ValueError(f"{path}: not a network of {algorithm} ({what})") from error
    return found
