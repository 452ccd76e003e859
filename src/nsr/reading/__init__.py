"""From weights and rows to an exact program: what ``harden`` and the estimators of ``nsr.learn`` share."""

from nsr.reading.evidence import ReadingEvidence as ReadingEvidence
from nsr.reading.evidence import UnreadableError as UnreadableError
from nsr.reading.harden import harden as harden
