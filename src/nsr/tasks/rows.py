"""Rows of numbers and what is to be said of each: the only form of data that training knows."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rows:
    """``x`` (rows, inputs), its targets ``y`` (rows) and the weight of each row, which sum to one."""

    x: Tensor
    y: Tensor
    weight: Tensor

    @classmethod
    def of(cls, x: Tensor, y: Tensor) -> "Rows":
        """Rows of equal weight, refused when they cannot be learned from."""
        if x.dim() != 2 or y.shape != x.shape[:1]:
            raise ValueError(f"x must be (rows, inputs) and y (rows,), got {tuple(x.shape)} and {tuple(y.shape)}")
        if len(x) == 0:
            raise ValueError("x must have at least one row, got none")
        bad = ~(x.isfinite().all(-1) & y.isfinite())
        if bad.any():
            raise ValueError(
                f"x and y must be finite: {int(bad.sum())} of {len(x)} rows hold NaN or infinity, "
                f"the first is row {int(bad.nonzero()[0])}"
            )
        return cls(x, y, torch.full((len(x),), 1 / len(x), dtype=torch.float64))

    def __len__(self) -> int:
        return len(self.x)

    def to(self, dtype: torch.dtype) -> "Rows":
        """The same rows with numbers of another dtype."""
        return replace(self, x=self.x.to(dtype), y=self.y.to(dtype), weight=self.weight.to(dtype))
