"""How trained ensembles are measured, shared by the experiments."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nsr.ensemble import Ensemble
from nsr.program import Compare, Program, UnreadableError, Variable, Where, harden
from nsr.tasks import Rows

X1, X2, X3, X4, X5 = (Variable(f"x{position}") for position in range(1, 6))
PIECEWISE = {
    "abs": Program(Where(Compare(">", X1, X2), X1 - X2, X2 - X1)),
    "f": Program(Where(Compare(">", X1, X2), X5 + 4, X4 - X3)),
}
"""The functions of Section 4.3 as programs."""


def accuracy(ensemble: Ensemble, rows: Rows) -> Tensor:
    """Share of the same rows that each member answers rightly."""
    return _share(ensemble(rows.x), rows.y)


def accuracy_of_each(ensemble: Ensemble, tests: Sequence[Rows]) -> Tensor:
    """Share of its own rows that each member answers rightly."""
    return _share(ensemble.each(torch.stack([test.x for test in tests])), torch.stack([test.y for test in tests]))


def _share(answer: Tensor, y: Tensor) -> Tensor:
    return ((answer[..., 0] > 0.5) == (y > 0.5)).double().mean(-1)


def nearness_of_each(
    ensemble: Ensemble, tests: Sequence[Rows], tolerance: float, programs: Sequence[Program | None]
) -> Tensor:
    """Share of its own rows on which each member, or its program where it has one, is within the tolerance."""
    answer = ensemble.each(torch.stack([test.x for test in tests]))
    for member, (program, test) in enumerate(zip(programs, tests, strict=True)):
        if program is not None:
            answer[member] = program(test.x).to(answer.dtype)
    return ((answer - torch.stack([test.y for test in tests])).abs() <= tolerance).double().mean(-1)


def read_each(ensemble: Ensemble, data: Sequence[Rows]) -> list[Program | None]:
    """The program that each member stands for on its own rows; None where it cannot be read."""
    return [_read(ensemble, seed, rows) for seed, rows in zip(ensemble.seeds, data, strict=True)]


def _read(ensemble: Ensemble, seed: int, rows: Rows) -> Program | None:
    try:
        read = harden(ensemble.member(seed), data=rows)
    except UnreadableError:
        return None
    return read if isinstance(read, Program) else None
