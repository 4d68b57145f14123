"""Benchmarks: algorithms compared by exact numbers on tasks whose optimum is known.

The records of a bench (:mod:`solvent.benchmark.records`), the figures of baselines
(:mod:`solvent.benchmark.policies`) and the statistics over seeds
(:mod:`solvent.benchmark.statistics`). No torch is needed here.
"""
