"""Gamebooks: books of numbered sections, with chance, fights, checks and an inventory."""
