"""The paper's tasks as data, drawn from explicit generators."""

from nsr.data.comparisons import COMPARISONS as COMPARISONS
from nsr.data.comparisons import all_pairs as all_pairs
from nsr.data.comparisons import comparison_of as comparison_of
from nsr.data.comparisons import pairs_around as pairs_around
from nsr.data.digits import Digits as Digits
from nsr.data.digits import mnist as mnist
from nsr.data.digits import small_digits as small_digits
from nsr.data.graphs import Graph as Graph
from nsr.data.graphs import node_update_rows as node_update_rows
from nsr.data.graphs import random_graph as random_graph
from nsr.data.graphs import union as union
from nsr.data.lists import LOOPS as LOOPS
from nsr.data.lists import lists_around as lists_around
from nsr.data.lists import random_lists as random_lists
from nsr.data.piecewise import FUNCTIONS as FUNCTIONS
from nsr.data.piecewise import function_around as function_around
from nsr.data.piecewise import function_of_all_pairs as function_of_all_pairs
from nsr.data.rows import Rows as Rows
