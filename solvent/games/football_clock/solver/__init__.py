"""Football with a clock and a score, solved backward in time."""
