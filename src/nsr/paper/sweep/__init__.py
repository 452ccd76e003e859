"""Run what is missing on any ``concurrent.futures.Executor``."""
