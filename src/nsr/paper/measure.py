"""What the experiments share: the gates they compare, and how trained ensembles are tested."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from nsr.data import Rows
from nsr.ensemble import Ensemble
from nsr.nn import MLP, NSR
from nsr.paper.spec import ExperimentRecipe
from nsr.program import Compare, Fold, Paths, Program, Variable, Where
from nsr.reading import UnreadableError, harden

GATES: Mapping[str, Callable[[int, torch.Generator], NSR | MLP]] = {
    "mlp": lambda inputs, generator: MLP(inputs, generator=generator),
    "nsr": lambda inputs, generator: NSR(inputs, generator=generator),
}
"""The gates: the paper's baseline and its register, by the name of the model."""

X1, X2, X3, X4, X5 = (Variable(f"x{position}") for position in range(1, 6))
PIECEWISE = {
    "abs": Program(Where(Compare(">", X1, X2), X1 - X2, X2 - X1)),
    "f": Program(Where(Compare(">", X1, X2), X5 + 4, X4 - X3)),
}
"""The functions of Section 4.3 as programs."""

WITHOUT_LABELS = "read without labels"
"""Metric: whether a member reads right from its own answers alone."""

Read = Program | Fold | Paths | None
"""The program that was read from a member; None if it cannot be read."""


def accuracy(ensemble: Ensemble, rows: Rows) -> Tensor:
    """Accuracy of each member on the same rows."""
    return _share(ensemble(rows.x), rows.y)


def accuracy_of_each(ensemble: Ensemble, tests: Sequence[Rows]) -> Tensor:
    """Accuracy of each member, each on different rows."""
    return _share(ensemble.each(torch.stack([test.x for test in tests])), torch.stack([test.y for test in tests]))


def _share(answer: Tensor, y: Tensor) -> Tensor:
    return ((answer[..., 0] > 0.5) == (y > 0.5)).double().mean(-1)


def nearness_of_each(ensemble: Ensemble, tests: Sequence[Rows], tolerance: float, programs: Sequence[Read]) -> Tensor:
    """Share of rows within the tolerance, for each member or its program if there is one, each on different rows."""
    error = answers_of_each(ensemble, tests, programs) - torch.stack([test.y for test in tests])
    return (error.abs() <= tolerance).double().mean(-1)


def answers_of_each(ensemble: Ensemble, tests: Sequence[Rows], programs: Sequence[Read]) -> Tensor:
    """(members, rows): output of each member, or of its program if there is one, each on different rows."""
    x = torch.stack([test.x for test in tests])
    answer = ensemble.each(x)
    for program in {program for program in programs if program is not None}:
        members = torch.tensor([other == program for other in programs])
        output = torch.as_tensor(program(x[members].flatten(0, 1)))
        answer[members] = output.to(answer.dtype).reshape(-1, x.shape[1])
    return answer


def read_each(ensemble: Ensemble, data: Sequence[Rows], *, labels: bool = True) -> list[Read]:
    """The program read from each member, each on different rows; without labels from the member's answers to them."""
    return [_read(ensemble, seed, rows if labels else rows.x) for seed, rows in zip(ensemble.seeds, data, strict=True)]


def tests_program(model: str, recipe: ExperimentRecipe) -> bool:
    """Whether programs are tested instead of models, so that the models are to be measured beside them."""
    return recipe.test_program and model == "nsr"


def _read(ensemble: Ensemble, seed: int, rows: Rows | Tensor) -> Read:
    try:
        return harden(ensemble.member(seed), data=rows)
    except UnreadableError:
        return None
