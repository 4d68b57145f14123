"""Football Strategy and its relatives: charts, rules and the game."""
