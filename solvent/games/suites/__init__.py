"""The suites of this package: a file of tasks each (:mod:`solvent.benchmark.suites`)."""
