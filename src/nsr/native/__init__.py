"""Training steps written in C, built on first use; wherever that fails, torch trains the same models."""
