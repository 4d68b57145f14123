"""Pig, the jeopardy dice game: its rules."""
