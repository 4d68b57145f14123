"""The statistics with which a learner's observations were normalized, as plain numbers.

``VecNormalize`` of Stable-Baselines3 gives its learner clip((x - mean) / sqrt(var + epsilon)) in
the place of an observation x, with the mean and the variance of all observations so far. Its own
file is a pickle. This one holds numbers only, so that reading it runs no code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize, unwrap_vec_normalize

from solvent.exact import StoreError
from solvent.exact.archive import ArraySchema, Schema, read_archive, write_archive
from solvent.model.arrays import Floats

STATISTICS = Schema(
    "normalization",
    {"epsilon": float, "clip": float},
    {"mean": ArraySchema("float64", 1), "var": ArraySchema("float64", 1)},
)
"""Of a file with statistics."""


@dataclass(frozen=True, eq=False)
class Normalization:
    """What normalizes observations of D entries.

    Attributes:
        mean: [D] float64.
        var: [D] float64, at least 0.
        epsilon: Added to the variance, so that nothing is divided by 0.
        clip: Largest absolute entry of what comes out.

    Raises:
        ValueError: If these are not finite numbers of such a form.
    """

    mean: Floats
    var: Floats
    epsilon: float = 1e-8
    clip: float = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, array in (("mean", self.mean), ("var", self.var)):
            if (
                array.ndim != 1
                or array.dtype.kind != "f"
                or array.shape != self.mean.shape
                or not np.isfinite(array).all()
            ):
                raise ValueError(f"{name} is no list of {len(self.mean)} finite numbers")
        for name, number in (("epsilon", self.epsilon), ("clip", self.clip)):
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0:
                raise ValueError(f"{name} is {number!r}; allowed are positive numbers")
        if (self.var < 0).any():
            raise ValueError(f"var has {self.var.min()}; a variance is at least 0")

    @classmethod
    def of(cls, venv: VecEnv) -> Normalization:
        """The statistics of a training's environments as they are now.

        Args:
            venv: Environments of which the outermost ``VecNormalize`` normalizes observations.

        Raises:
            ValueError: If there is none, or it normalizes other observations than vectors.
        """
        found = venv if isinstance(venv, VecNormalize) else unwrap_vec_normalize(venv)
        if found is None or not found.norm_obs:
            raise ValueError(f"{type(venv).__name__} has no VecNormalize with norm_obs=True")
        statistics: Any = found.obs_rms
        if not isinstance(statistics, RunningMeanStd):
            raise ValueError("VecNormalize normalizes a dictionary; allowed are vectors")
        mean, var = (np.array(array, np.float64) for array in (statistics.mean, statistics.var))
        return cls(mean, var, float(found.epsilon), float(found.clip_obs))

    def __call__(self, seen: NDArray[Any]) -> NDArray[np.float32]:
        """What a learner is given in the place of observations [..., D]; bit for bit as there."""
        scaled = (seen - self.mean) / np.sqrt(self.var + self.epsilon)
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)

    def save(self, path: str | Path) -> None:
        """Save the statistics.

        Args:
            path: Where to; by custom ending in ``.npz``.

        Raises:
            StoreError: If the file cannot be written.
        """
        header = {"kind": STATISTICS.kind, "epsilon": self.epsilon, "clip": self.clip}
        write_archive(path, header, {"mean": self.mean, "var": self.var})

    @classmethod
    def load(cls, path: str | Path) -> Normalization:
        """Load what :meth:`save` wrote.

        Raises:
            StoreError: If the file is missing, damaged or of another kind.
        """
        header, arrays = read_archive(path, STATISTICS)
        try:
            return cls(arrays["mean"], arrays["var"], header["epsilon"], header["clip"])
        except ValueError as error:
            raise StoreError(f"{path}: not a normalization, or damaged ({error})") from error
