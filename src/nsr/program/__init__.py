"""What a trained model says, as an exact program that can be read, run and exported."""

from nsr.program.expressions import And as And
from nsr.program.expressions import Compare as Compare
from nsr.program.expressions import Constant as Constant
from nsr.program.expressions import Expression as Expression
from nsr.program.expressions import Linear as Linear
from nsr.program.expressions import Not as Not
from nsr.program.expressions import Or as Or
from nsr.program.expressions import Truth as Truth
from nsr.program.expressions import Variable as Variable
from nsr.program.expressions import Where as Where
from nsr.program.folds import FIRST as FIRST
from nsr.program.folds import ITEM as ITEM
from nsr.program.folds import MINIMA as MINIMA
from nsr.program.folds import Fold as Fold
from nsr.program.paths import NegativeCycleError as NegativeCycleError
from nsr.program.paths import Paths as Paths
from nsr.program.program import Evidence as Evidence
from nsr.program.program import Program as Program
