"""Football Strategy solved without a table of outcomes, in seconds and with proved bounds.

A chart and a ruleset come as :class:`~solvent.games.football.packed.PackedRules`. There are some
25,000 situations, each a matrix game of about 20 x 10 whose entries depend on all others.

The parts, each a file: the rules as matrices, responses to fixed strategies and the bounds of all
errors (`backup`), the equilibrium (`points`), and its faces to the rest of the toolkit (`solved`).
"""
