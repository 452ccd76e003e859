"""What is to be learned: data only, drawn from an explicit generator."""

from nsr.tasks.comparisons import COMPARISONS as COMPARISONS
from nsr.tasks.comparisons import all_pairs as all_pairs
from nsr.tasks.comparisons import comparison_of as comparison_of
from nsr.tasks.comparisons import pairs_around as pairs_around
from nsr.tasks.rows import Rows as Rows
