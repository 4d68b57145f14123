"""Who plays Football Strategy without having learned it."""
