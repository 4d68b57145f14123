"""Combat of the Fighting Fantasy gamebooks: rules, formulas, rules of thumb and pictures."""
