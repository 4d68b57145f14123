"""Compiled loops over environments; importing this package compiles nothing."""
