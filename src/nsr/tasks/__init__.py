"""What is to be learned: data only, drawn from an explicit generator."""

from nsr.tasks.comparisons import COMPARISONS as COMPARISONS
from nsr.tasks.comparisons import all_pairs as all_pairs
from nsr.tasks.comparisons import comparison_of as comparison_of
from nsr.tasks.comparisons import pairs_around as pairs_around
from nsr.tasks.digits import Digits as Digits
from nsr.tasks.digits import mnist as mnist
from nsr.tasks.digits import small_digits as small_digits
from nsr.tasks.graphs import Graph as Graph
from nsr.tasks.graphs import inboxes as inboxes
from nsr.tasks.graphs import random_graph as random_graph
from nsr.tasks.graphs import union as union
from nsr.tasks.lists import LOOPS as LOOPS
from nsr.tasks.lists import lists_around as lists_around
from nsr.tasks.lists import random_lists as random_lists
from nsr.tasks.piecewise import FUNCTIONS as FUNCTIONS
from nsr.tasks.piecewise import function_around as function_around
from nsr.tasks.piecewise import function_of_all_pairs as function_of_all_pairs
from nsr.tasks.rows import Rows as Rows
from nsr.tasks.tables import LINES as LINES
from nsr.tasks.tables import RULELESS as RULELESS
from nsr.tasks.tables import RuleTable as RuleTable
from nsr.tasks.tables import rule_table as rule_table
