"""Combat of the Fighting Fantasy gamebooks: rules, rules of thumb and pictures."""
