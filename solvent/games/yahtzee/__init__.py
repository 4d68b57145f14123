"""Yahtzee for one player, the dice game of thirteen boxes."""
