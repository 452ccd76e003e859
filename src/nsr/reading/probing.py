"""Rows to ask a register about if no data are given."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from nsr.nn import NSR
from nsr.reading.registers import Unit, units

ROWS = 2_000
FURTHEST = 2_000
"""How many steps from 0 a register with constants is asked about, at most."""

Operands = tuple[int, int | None]


def probing_rows(register: NSR) -> Tensor:
    """Integers in [-10, 9] over lambda; for a register with constants also as far as its bits change."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(-10, 10, (ROWS, register.inputs), generator=generator).double() / register.scale
    if not register.constants:
        return rows
    influential = [unit for unit in units(register) if unit.influence > 0]
    phases = _phases(register, influential)
    # Later operands first: a phase is added to the first operand relative to the second.
    by_second = sorted(phases, key=lambda operands: -register.inputs if operands[1] is None else -operands[1])
    for first, second in by_second:
        base = 0.0 if second is None else float(rows[0, second] % (1 / register.scale))
        rows[:, first] += phases[first, second] + base
    reach = _reach(register, influential)
    return torch.cat([rows, *(_sweep(rows, operands, phase, reach, register) for operands, phase in phases.items())])


def _phases(register: NSR, influential: list[Unit]) -> Mapping[Operands, float]:
    """For each pair of operands the fraction of a step at which its constants lie.

    A constant of 37.5 is asked about at 36.5, 37.5 and 38.5: lambda does not resolve numbers closer than a step.
    """
    thresholds: dict[Operands, list[float]] = {}
    for unit in influential:
        thresholds.setdefault((unit.first, unit.second), []).append(unit.threshold * register.scale % 1)
    return {
        operands: fractions[0] / register.scale if max(fractions) - min(fractions) < 0.01 else 0.0
        for operands, fractions in thresholds.items()
    }


def _reach(register: NSR, influential: list[Unit]) -> int:
    """How many steps from 0 a bit may still change."""
    furthest = max((abs(unit.threshold) for unit in influential), default=0.0) * register.scale
    selected = (register.v1.softmax(0) - register.v2.softmax(0)).abs().amax(0)
    return min(math.ceil(furthest + 12 / max(float(selected.min()), 0.01)), FURTHEST)


def _sweep(rows: Tensor, operands: Operands, phase: float, reach: int, register: NSR) -> Tensor:
    """Rows in which the difference of two operands takes every step up to the reach."""
    first, second = operands
    steps = torch.arange(-reach, reach + 1) / register.scale
    swept = rows[torch.arange(len(steps)) % len(rows)].clone()
    swept[:, first] = phase + steps + (0.0 if second is None else swept[:, second])
    return swept
