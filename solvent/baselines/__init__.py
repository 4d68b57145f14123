"""Baselines: policies known without training a network, by name."""

from solvent.baselines.named import (
    GENERIC,
    Baseline,
    all_baselines,
    baseline_names,
    baseline_policies,
    baselines_of,
    make_baseline,
)

__all__ = [
    "GENERIC",
    "Baseline",
    "all_baselines",
    "baseline_names",
    "baseline_policies",
    "baselines_of",
    "make_baseline",
]
