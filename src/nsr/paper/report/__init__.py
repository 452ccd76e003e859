"""Records, summaries, tables."""
