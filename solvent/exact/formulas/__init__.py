"""Closed formulas that sources publish, against which the solvers are checked."""
