"""How trained ensembles are measured, shared by the experiments."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nsr.ensemble import Ensemble
from nsr.tasks import Rows


def accuracy(ensemble: Ensemble, rows: Rows) -> Tensor:
    """Share of the same rows that each member answers rightly."""
    return _share(ensemble(rows.x), rows.y)


def accuracy_of_each(ensemble: Ensemble, tests: Sequence[Rows]) -> Tensor:
    """Share of its own rows that each member answers rightly."""
    return _share(ensemble.each(torch.stack([test.x for test in tests])), torch.stack([test.y for test in tests]))


def _share(answer: Tensor, y: Tensor) -> Tensor:
    return ((answer[..., 0] > 0.5) == (y > 0.5)).double().mean(-1)
