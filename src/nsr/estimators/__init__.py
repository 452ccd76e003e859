"""scikit-learn estimators whose models can be read: the exact rule in a table of numbers."""

from nsr.refusals import extra

extra("learn", "sklearn")

from nsr.estimators.classifier import NSRClassifier  # noqa: E402
from nsr.estimators.regressor import NSRRegressor  # noqa: E402
from nsr.estimators.search import Evidence  # noqa: E402

__all__ = ["Evidence", "NSRClassifier", "NSRRegressor"]
