"""Puterman's inventory: its rules."""
