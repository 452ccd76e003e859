"""Rows of numbers and their targets: the data that ``fit`` trains on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from nsr.nn.checks import real_tensor


@dataclass(frozen=True, eq=False)
class Rows:
    """``x`` (rows, inputs), targets ``y`` (rows,), and the weight of each row; the weights sum to one.

    ``y`` may be (members, rows), with different targets for each member of an ensemble. Then ``x`` may be (members,
    rows, inputs), with different rows for each member, and ``weight`` may be (members, rows).
    """

    x: Tensor
    y: Tensor
    weight: Tensor

    @classmethod
    def from_data(cls, data: Any) -> "Rows":
        """``Rows`` unchanged, or rows of equal weight from a pair ``(x, y)``; anything else is a ValueError.

        ``x`` and ``y`` may be tensors, arrays, lists, or data frames.

        >>> len(Rows.from_data(([[1, 2], [4, 3]], [0, 1])))
        2
        """
        if isinstance(data, Rows):
            return data
        if not (isinstance(data, tuple) and len(data) == 2):
            raise ValueError(f"data must be Rows or a pair (x, y), got {_described(data)}")
        return cls.of(*data)

    @classmethod
    def of(cls, x: Any, y: Any) -> "Rows":
        """Rows of equal weight, which must be finite. Integers of any width become int64."""
        x, y = real_tensor("x", x), real_tensor("y", y)
        x = x if x.is_floating_point() else x.to(torch.int64)
        y = y.double() if y.dtype == torch.bool else y
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

    @classmethod
    def each(cls, members: Sequence["Rows"]) -> "Rows":
        """Different rows for each member of an ensemble, all of the same shape."""
        if len({tuple(rows.x.shape) for rows in members}) != 1:
            raise ValueError(f"members must have rows of one shape, got {[tuple(rows.x.shape) for rows in members]}")
        x, y, weight = (torch.stack([getattr(rows, name) for rows in members]) for name in ("x", "y", "weight"))
        return cls(x, y, weight[0] if (weight == weight[0, 0]).all() else weight)

    def distinct(self) -> "Rows":
        """Merge equal rows with equal targets; their weights are added."""
        keys, row_of = torch.unique(torch.cat([self.x, self.y.unsqueeze(-1)], dim=-1), dim=0, return_inverse=True)
        weight = torch.zeros(len(keys), dtype=self.weight.dtype).index_add(0, row_of, self.weight)
        return Rows(keys[:, :-1], keys[:, -1], weight)

    def filled(self, rows: int) -> "Rows":
        """Pad to a number of rows by repeating the last one with weight 0, so that members can be stacked."""
        more = rows - len(self)
        if more < 0:
            raise ValueError(f"rows must be at least {len(self)}, the number of rows it has, got {rows}")
        x, y = (torch.cat([part, part[-1:].repeat_interleave(more, 0)]) for part in (self.x, self.y))
        return Rows(x, y, torch.cat([self.weight, self.weight.new_zeros(more)]))

    def with_targets(self, y: Tensor) -> "Rows":
        """The same rows with different targets for each member: ``y`` is (members, rows)."""
        if y.dim() != 2 or y.shape[-1] != len(self):
            raise ValueError(f"y must be (members, {len(self)}), got {tuple(y.shape)}")
        return replace(self, y=y)

    def __len__(self) -> int:
        return self.x.shape[-2]

    def times(self, delta: float) -> "Rows":
        """The same rows with every number in ``x`` multiplied by ``delta``, as float64."""
        return replace(self, x=self.x.double() * delta)

    def smallest_gap(self) -> float:
        """The smallest difference between unequal numbers of one row: the paper's delta, measured on the data."""
        in_order = self.x.double().sort(-1).values
        gaps = in_order.diff(dim=-1)
        gaps = gaps[gaps > 0]
        if len(gaps) == 0:
            raise ValueError("the numbers within each row are all equal, so there is no gap to set the scale by")
        return gaps.min().item()

    def to(self, dtype: torch.dtype) -> "Rows":
        """The same rows with ``x``, ``y`` and weights in another dtype."""
        return replace(self, x=self.x.to(dtype), y=self.y.to(dtype), weight=self.weight.to(dtype))


def _described(data: object) -> str:
    """What was passed, in a few words."""
    shape = getattr(data, "shape", None)
    kind = f"a {type(data).__name__}"
    if shape is not None:
        return f"{kind} of shape {tuple(shape)}"
    return f"{kind} of {len(data)}" if isinstance(data, tuple | list) else kind
