"""Full-batch epochs in C for the modules of the paper: one member after the other, many epochs in a call."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nsr.adam import AdamState
from nsr.data import Rows
from nsr.ensemble import Ensemble, State
from nsr.native.library import library
from nsr.nn import MLP, NAU, NSR, NodeUpdate, Piecewise, RecurrentCount, RecurrentMinimum

WIDTH = 16
"""Rows that are computed at once; rows of weight 0 fill the last such group."""
LONGEST, WIDEST = 256, 4096
"""The largest number of numbers in a row, and of units in a gate: larger modules are left to torch."""
LOSSES = {"mae": 0, "mse": 1, "bce": 2}


class Head(NamedTuple):
    """What a gate is part of: its number in the C code, the gate, and a NAU if there is one."""

    number: int
    gate: NSR | MLP
    sums: NAU | None = None


class Problem(ctypes.Structure):
    """The struct of the same name in epochs.c."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("gate", "inputs", "units", "head", "loss", "columns", "rows", "message")),
        ("scale", ctypes.c_float),
    )


class MemberRows(NamedTuple):
    """The rows of a member as the C code wants them: x (columns, rows), y and weight (rows,), float32."""

    x: Tensor
    y: Tensor
    weight: Tensor


@dataclass(frozen=True, eq=False)
class NativeTraining:
    """The parameters and moments of all members in flat float32 tensors, which ``advance`` trains in place."""

    problem: Problem
    shapes: dict[str, torch.Size]
    state: tuple[Tensor, Tensor, Tensor]
    """Parameters, first and second moments: (members, numbers), filled with zeros to whole vectors and one more."""
    rows: Sequence[MemberRows]

    engine = "native"

    @classmethod
    def of(cls, ensemble: Ensemble, loss: str, rows: Rows) -> "NativeTraining | None":
        """Prepare training; None if the module is not one of those written in C, or if it cannot be built here.

        ``rows`` are in the dtype of the weights.
        """
        head = _head(ensemble.template)
        columns = rows.x.shape[-1]
        if head is None or rows.x.dtype != torch.float32 or columns > LONGEST or library() is None:
            return None
        units = head.gate.hidden if isinstance(head.gate, MLP) else head.gate.redundancy
        if units > WIDEST:
            return None
        folds = isinstance(ensemble.template, NodeUpdate)
        problem = Problem(
            gate=int(isinstance(head.gate, MLP)),
            inputs=head.gate.inputs,
            units=units,
            head=head.number,
            loss=LOSSES[loss],
            columns=columns,
            message=int(folds and head.sums is not None),
            scale=getattr(head.gate, "scale", 0.0),
        )
        names = [name for name, _ in ensemble.template.named_parameters()]
        shapes = {name: ensemble.parameters[name].shape[1:] for name in names}
        flat = _flat([ensemble.parameters[name] for name in names], len(ensemble))
        state = flat, torch.zeros_like(flat), torch.zeros_like(flat)
        return cls(problem, shapes, state, _member_rows(rows, len(ensemble), by_length=folds))

    def advance(self, corrections: Tensor, active: Tensor | None = None) -> Tensor:
        """Train for one epoch per row of ``adam_corrections``; returns the losses before the last step.

        Members that are not ``active`` stay as they are, with a loss of 0.
        """
        epochs = len(corrections)
        factors = torch.zeros(epochs, 3)
        factors[:, : corrections.shape[-1]] = corrections
        losses = torch.zeros(len(self.rows))
        for member, rows in enumerate(self.rows):
            if active is None or active[member]:
                self.problem.rows = len(rows.y)
                numbers = (*(part[member] for part in self.state), *rows, factors)
                losses[member] = _train(self.problem, numbers, epochs)
        if (losses == -1).any():
            raise MemoryError("there is no memory left to train in")
        return losses

    def state_by_name(self) -> AdamState:
        """Parameters and moments by name, as views of the flat tensors."""
        parameters, first, second = (self._named(part) for part in self.state)
        return parameters, first, second

    def parameters(self) -> State:
        """The parameters by name, as views of the flat tensor."""
        return self._named(self.state[0])

    def _named(self, flat: Tensor) -> State:
        ends = accumulate(shape.numel() for shape in self.shapes.values())
        return {
            name: flat[:, end - shape.numel() : end].view(len(flat), *shape)
            for (name, shape), end in zip(self.shapes.items(), ends, strict=True)
        }


def _train(problem: Problem, numbers: Sequence[Tensor], epochs: int) -> float:
    """Call the C function. It is given addresses, so the tensors must be contiguous float32."""
    built = library()
    assert built is not None
    assert all(tensor.is_contiguous() and tensor.dtype == torch.float32 for tensor in numbers)
    built.train.restype = ctypes.c_float
    addresses = [ctypes.c_void_p(tensor.data_ptr()) for tensor in numbers]
    loss: float = built.train(ctypes.byref(problem), *addresses, ctypes.c_int32(epochs))
    return loss


def _head(module: nn.Module) -> Head | None:
    """How a module is called in the C code; None for any other module, and for one with hooks or frozen parts."""
    if not _is_plain(module):
        return None
    match module:
        case NSR() | MLP():
            return Head(0, module)
        case Piecewise(gate=NSR() | MLP() as gate, arms=arms):
            return Head(1, gate, arms)
        case RecurrentMinimum(gate=gate):
            return Head(2, gate)
        case RecurrentCount(gate=gate):
            return Head(3, gate)
        case NodeUpdate(paths=paths) if paths.message is None or paths.message.bias is not None:
            return Head(4, paths.fold.gate, paths.message)
    return None


def _is_plain(module: nn.Module) -> bool:
    """Whether every part is of this library, without hooks, constants or frozen parameters."""
    return all(
        type(part).__module__.startswith("nsr.nn.")
        and not (part._forward_hooks or part._forward_pre_hooks or part._backward_hooks)
        and not getattr(part, "constants", False)
        for part in module.modules()
    ) and all(parameter.requires_grad and parameter.dtype == torch.float32 for parameter in module.parameters())


def _flat(parameters: Sequence[Tensor], members: int) -> Tensor:
    """(members, numbers): the stacked tensors side by side, filled with zeros to whole vectors and one more."""
    numbers = torch.cat([value.reshape(members, -1) for value in parameters], dim=1)
    return nn.functional.pad(numbers, (0, -numbers.shape[1] % WIDTH + WIDTH)).contiguous()


def _member_rows(rows: Rows, members: int, *, by_length: bool) -> list[MemberRows]:
    """The rows of each member; those that are equal for all members are stored once."""
    if rows.y.dim() == 1:
        return [_filled(rows, by_length)] * members
    shared = rows.x.dim() == 2 and not by_length
    first = _filled(Rows(rows.x, rows.y[0], rows.weight), by_length) if shared else None
    result = []
    for member in range(members):
        x = rows.x[member] if rows.x.dim() == 3 else rows.x
        weight = rows.weight[member] if rows.weight.dim() == 2 else rows.weight
        one = _filled(Rows(x, rows.y[member], weight), by_length)
        result.append(one if first is None else MemberRows(first.x, one.y, one.weight))
    return result


def _filled(rows: Rows, by_length: bool) -> MemberRows:
    """The rows of one member by columns, without those of weight 0; a fold's rows from the longest to the shortest.

    Sixteen rows take as many steps as the longest of them.
    """
    kept = rows.weight.nonzero().squeeze(-1)
    if by_length:
        kept = kept[rows.x[kept, 0].argsort(descending=True, stable=True)]
    if len(kept) == 0:
        kept = torch.zeros(1, dtype=torch.int64)
    missing = -len(kept) % WIDTH
    x, y = (torch.cat([part[kept], part[kept[-1:]].repeat_interleave(missing, 0)]) for part in (rows.x, rows.y))
    return MemberRows(x.T.contiguous(), y, nn.functional.pad(rows.weight[kept], (0, missing)))
