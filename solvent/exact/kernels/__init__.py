"""Compiled loops of the solvers; importing this package compiles nothing."""
