"""From a trained module to the exact program that it stands for, with the evidence, or the reason why there is none."""

import copy
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor, nn

from nsr.data import Rows
from nsr.errors import check_error_rate
from nsr.nn import NSR, NodeUpdate, Piecewise, Recurrent, ShortestPaths
from nsr.nn.checks import real_tensor
from nsr.program.folds import Fold
from nsr.program.paths import Paths
from nsr.program.program import Program, checked_names
from nsr.reading.columns import INT64_ROOM, Columns
from nsr.reading.evidence import UnreadableError
from nsr.reading.gates import Task, read_piecewise, read_register
from nsr.reading.loops import read_loop, read_paths
from nsr.reading.probing import probing_rows

SLACK = 0.05
"""Without data: how far a constant may be from the learned threshold, as a fraction of 1 / lambda."""


@overload
def harden(
    module: NSR | Piecewise, *, names: Sequence[str] | None = ..., data: Any = ..., errors: float = ...
) -> Program: ...


@overload
def harden(module: Recurrent, *, data: Any = ..., errors: float = ...) -> Fold: ...


@overload
def harden(module: ShortestPaths | NodeUpdate, *, data: Any = ..., errors: float = ...) -> Paths: ...


@overload
def harden(
    module: nn.Module, *, names: Sequence[str] | None = ..., data: Any = ..., errors: float = ...
) -> Program | Fold | Paths: ...


def harden(
    module: nn.Module, *, names: Sequence[str] | None = None, data: Any = None, errors: float = 0.0
) -> Program | Fold | Paths:
    """Read a trained module: the exact program it stands for, or ``UnreadableError`` with the reason and rows.

    The weights say what is compared, the module's answers on the data say how. The program is returned if it gives
    the answers in the data or, if the data have none, the module's answers.

    >>> import torch
    >>> from nsr import EXACT, NSR, fit, harden
    >>> x = torch.cartesian_prod(torch.arange(-10, 10), torch.arange(-10, 10))
    >>> y = x[:, 0] > x[:, 1]
    >>> register = NSR(2, generator=torch.Generator().manual_seed(0))
    >>> _ = fit(register, (x, y), EXACT)
    >>> print(harden(register, names=["a", "b"], data=(x, y)))
    a > b

    Args:
        module: An ``NSR``, a ``Piecewise`` whose gate is one, a recurrent module around one (gives a ``Fold``), or
            ``ShortestPaths`` (gives ``Paths``; its rows are those of ``NodeUpdate``).
        names: Names of the inputs; x1, x2 and so on by default.
        data: ``(x, y)``, ``Rows``, or ``x`` alone. By default integers divided by lambda, as far as answers can change.
        errors: The share of the rows that may contradict the program, for data with some wrong labels.
    """
    module = module.paths if isinstance(module, NodeUpdate) else module
    gated = module.fold if isinstance(module, ShortestPaths) else module
    register = gated.gate if isinstance(gated, Piecewise | Recurrent) else module
    if not isinstance(module, NSR | Piecewise | Recurrent | ShortestPaths) or not isinstance(register, NSR):
        raise UnreadableError(f"only a module with an NSR can be read, and {module!r} has none")
    if not all(parameter.isfinite().all() for parameter in module.parameters()):
        raise UnreadableError(f"{module!r} holds weights that are NaN or infinite")
    check_error_rate(errors)
    x, y = _rows_and_answers(data)
    module = copy.deepcopy(module).double()
    with torch.no_grad():
        if isinstance(module, Recurrent | ShortestPaths):
            if names is not None:
                raise ValueError("names are for columns, and a loop has none")
            return (
                read_loop(module, x, y, errors) if isinstance(module, Recurrent) else read_paths(module, x, y, errors)
            )
        names = checked_names(names, module.inputs)
        if x is not None and x.shape[-1] != module.inputs:
            raise ValueError(f"data must be (rows, {module.inputs}), got {tuple(x.shape)}")
        slack = SLACK / register.scale if x is None else None
        task = Task(Columns(probing_rows(register) if x is None else x, names), y, errors, slack)
        return read_register(module, task) if isinstance(module, NSR) else read_piecewise(module, task)


def _rows_and_answers(data: Any) -> tuple[Tensor | None, np.ndarray | None]:
    """Rows and answers of what a user passes as data."""
    if data is None:
        return None, None
    if isinstance(data, Rows | tuple):
        rows = Rows.from_data(data)
        x, y = rows.x, rows.y
    else:
        x, y = real_tensor("data", data), None
    if x.dim() != 2 or 0 in x.shape or (y is not None and y.dim() != 1):
        raise ValueError(
            f"data must be (rows, inputs) with at least one row, and one answer for each, got {tuple(x.shape)}"
        )
    if not x.isfinite().all():
        raise ValueError("data must be finite, got NaN or infinity")
    if not x.is_floating_point() and x.numel() and x.to(torch.int64).abs().max() > INT64_ROOM:
        raise ValueError("integers in the data must lie within 2^62, where a register subtracts them exactly")
    x = x.detach().double() if x.dtype in (torch.float16, torch.bfloat16) else x.detach()
    return x, None if y is None else y.detach().double().numpy()
