"""A single drive of football for one player: rules and rules of thumb."""
