"""The layers: the register of Section 3, the modules of Section 4 that contain one, and rules beyond both."""

from nsr.nn.arithmetic import NAU as NAU
from nsr.nn.baselines import MLP as MLP
from nsr.nn.digits import DigitClassifier as DigitClassifier
from nsr.nn.digits import DigitComparison as DigitComparison
from nsr.nn.digits import DigitReader as DigitReader
from nsr.nn.logic import Logic as Logic
from nsr.nn.logic import RuleNet as RuleNet
from nsr.nn.message_passing import NodeUpdate as NodeUpdate
from nsr.nn.message_passing import ShortestPaths as ShortestPaths
from nsr.nn.piecewise import Piecewise as Piecewise
from nsr.nn.recurrent import Recurrent as Recurrent
from nsr.nn.recurrent import RecurrentCount as RecurrentCount
from nsr.nn.recurrent import RecurrentMinimum as RecurrentMinimum
from nsr.nn.register import NSR as NSR
from nsr.nn.weighing import WeighingNSR as WeighingNSR
