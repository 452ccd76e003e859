"""The rule in a table: scikit-learn estimators whose models can be read, and the commands that use them."""

from nsr.errors import needs_extra

with needs_extra("learn"):
    from nsr.learn.classifier import NSRClassifier
    from nsr.learn.evidence import RuleEvidence
    from nsr.learn.regressor import NSRRegressor

__all__ = ["NSRClassifier", "NSRRegressor", "RuleEvidence"]
