"""Greed, the dice game of The Dragon: rules, solvers, rules of thumb and pictures."""
