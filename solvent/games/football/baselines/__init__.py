"""Players of Football Strategy that need no learning."""
