"""Combat of the Fighting Fantasy gamebooks: rules, solvers, rules of thumb and pictures."""
