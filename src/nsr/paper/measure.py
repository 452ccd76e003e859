"""What the experiments share: the models that compete, and how trained ensembles are measured."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from nsr.data import Rows
from nsr.ensemble import Ensemble
from nsr.nn import MLP, NSR
from nsr.program import Compare, Fold, Paths, Program, Variable, Where
from nsr.reading import UnreadableError, harden

GATES: Mapping[str, Callable[[int, torch.Generator], NSR | MLP]] = {
    "mlp": lambda inputs, generator: MLP(inputs, generator=generator),
    "nsr": lambda inputs, generator: NSR(inputs, generator=generator),
}
"""What decides: the paper's baseline, and its register."""

X1, X2, X3, X4, X5 = (Variable(f"x{position}") for position in range(1, 6))
PIECEWISE = {
    "abs": Program(Where(Compare(">", X1, X2), X1 - X2, X2 - X1)),
    "f": Program(Where(Compare(">", X1, X2), X5 + 4, X4 - X3)),
}
"""The functions of Section 4.3 as programs."""

Read = Program | Fold | Paths | None
"""What a member was read as; None where it cannot be read."""


def accuracy(ensemble: Ensemble, rows: Rows) -> Tensor:
    """Share of the same rows that each member answers rightly."""
    return _share(ensemble(rows.x), rows.y)


def accuracy_of_each(ensemble: Ensemble, tests: Sequence[Rows]) -> Tensor:
    """Share of its own rows that each member answers rightly."""
    return _share(ensemble.each(torch.stack([test.x for test in tests])), torch.stack([test.y for test in tests]))


def _share(answer: Tensor, y: Tensor) -> Tensor:
    return ((answer[..., 0] > 0.5) == (y > 0.5)).double().mean(-1)


def nearness_of_each(ensemble: Ensemble, tests: Sequence[Rows], tolerance: float, programs: Sequence[Read]) -> Tensor:
    """Share of its own rows on which each member, or its program where it has one, is within the tolerance."""
    wrong_by = answers_of_each(ensemble, tests, programs) - torch.stack([test.y for test in tests])
    return (wrong_by.abs() <= tolerance).double().mean(-1)


def answers_of_each(ensemble: Ensemble, tests: Sequence[Rows], programs: Sequence[Read]) -> Tensor:
    """(members, rows): what each member, or its program where it has one, says of its own rows."""
    x = torch.stack([test.x for test in tests])
    answer = ensemble.each(x)
    for program in {program for program in programs if program is not None}:
        own = torch.tensor([other == program for other in programs])
        answer[own] = torch.as_tensor(program(x[own].flatten(0, 1))).to(answer.dtype).reshape(-1, x.shape[1])
    return answer


def read_each(ensemble: Ensemble, data: Sequence[Rows]) -> list[Read]:
    """The program that each member stands for on its own rows."""
    return [_read(ensemble, seed, rows) for seed, rows in zip(ensemble.seeds, data, strict=True)]


def _read(ensemble: Ensemble, seed: int, rows: Rows) -> Read:
    try:
        return harden(ensemble.member(seed), data=rows)
    except UnreadableError:
        return None
