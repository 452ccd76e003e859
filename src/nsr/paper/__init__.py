"""The paper, reproduced: its experiments, the sweeps that run them, and the report."""
