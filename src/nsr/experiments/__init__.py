"""Section 4: one file for each subsection."""

from nsr.experiments import comparisons, floats
from nsr.experiments.spec import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (comparisons.EXPERIMENT, floats.EXPERIMENT)
}
