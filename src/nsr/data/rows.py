"""Rows of numbers and what is to be said of each: the only form of data that training knows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rows:
    """``x`` (rows, inputs), its targets ``y`` (rows) and the weight of each row, which sum to one.

    ``y`` may also be (members, rows): then each member of an ensemble has targets of its own. So may ``x`` be
    (members, rows, inputs), with ``y`` alike: then each has rows of its own, and ``weight`` may be (members, rows) too.
    """

    x: Tensor
    y: Tensor
    weight: Tensor

    @classmethod
    def of(cls, x: Tensor, y: Tensor) -> "Rows":
        """Rows of equal weight, refused when they cannot be learned from. Integers of any width become int64."""
        x = x if x.is_floating_point() else x.to(torch.int64)
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
        """Rows of its own for each member of an ensemble, as many for one as for another."""
        if len({tuple(rows.x.shape) for rows in members}) != 1:
            raise ValueError(f"members must have rows of one shape, got {[tuple(rows.x.shape) for rows in members]}")
        x, y, weight = (torch.stack([getattr(rows, name) for rows in members]) for name in ("x", "y", "weight"))
        return cls(x, y, weight[0] if (weight == weight[0, 0]).all() else weight)

    def distinct(self) -> "Rows":
        """Equal rows with equal targets as one with the sum of their weights."""
        keys, row_of = torch.unique(torch.cat([self.x, self.y.unsqueeze(-1)], dim=-1), dim=0, return_inverse=True)
        weight = torch.zeros(len(keys), dtype=self.weight.dtype).index_add(0, row_of, self.weight)
        return Rows(keys[:, :-1], keys[:, -1], weight)

    def filled(self, rows: int) -> "Rows":
        """So many rows: the last one is repeated without weight, so that members with fewer rows train alike."""
        more = rows - len(self)
        if more < 0:
            raise ValueError(f"{len(self)} rows cannot be filled up to {rows}")
        x, y = (torch.cat([part, part[-1:].repeat_interleave(more, 0)]) for part in (self.x, self.y))
        return Rows(x, y, torch.cat([self.weight, self.weight.new_zeros(more)]))

    def with_targets(self, y: Tensor) -> "Rows":
        """The same numbers with targets of its own for each member: ``y`` is (members, rows)."""
        if y.dim() != 2 or y.shape[-1] != len(self):
            raise ValueError(f"y must be (members, {len(self)}), got {tuple(y.shape)}")
        return replace(self, y=y)

    def __len__(self) -> int:
        return self.x.shape[-2]

    def times(self, delta: float) -> "Rows":
        """The same rows with every number multiplied, as float64."""
        return replace(self, x=self.x.double() * delta)

    def smallest_gap(self) -> float:
        """The smallest difference of two unequal numbers of one row: the paper's delta, from the data."""
        in_order = self.x.double().sort(-1).values
        gaps = in_order.diff(dim=-1)
        gaps = gaps[gaps > 0]
        if len(gaps) == 0:
            raise ValueError("every row holds one number only, so there is no gap to take the scale from")
        return gaps.min().item()

    def to(self, dtype: torch.dtype) -> "Rows":
        """The same rows with numbers of another dtype."""
        return replace(self, x=self.x.to(dtype), y=self.y.to(dtype), weight=self.weight.to(dtype))
