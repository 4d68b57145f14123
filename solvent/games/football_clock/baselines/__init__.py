"""Who plays football with a clock without having learned it."""
