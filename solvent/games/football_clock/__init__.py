"""Football Strategy with a clock, with or without time-outs."""
