"""Section 4: one file for each subsection."""

from typing import Any

from nsr.paper.experiments import comparisons, digits, floats, piecewise, recurrent, redundancy, shortest_paths
from nsr.paper.spec import Experiment

EXPERIMENTS: dict[str, Experiment[Any]] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (comparisons, floats, piecewise, redundancy, recurrent, shortest_paths, digits)
}
