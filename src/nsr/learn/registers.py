"""Restarts of a register over the columns of a table, trained as one ensemble.

Columns come in units of their own, and a register that selects among them as they are is saturated by the largest
before it has learned what to select. So what it selects among are differences of two columns (or of a column and 0),
each measured from a value and in a unit of its own: lambda from the data, pair by pair. Some restarts begin with what
a screen of the data found, others with pairs drawn at random and with weights as an NSR draws them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.data import Rows
from nsr.ensemble import Ensemble
from nsr.learn.screen import Labelled, Screen
from nsr.nn import NSR
from nsr.reading.columns import Probe
from nsr.reading.registers import units
from nsr.training import EXACT, fit

CHOICES = 8
"""Among how many differences a restart selects."""
UNITS = 6
"""How many comparisons its register makes."""
FAR = 5.0
"""Beyond so many units a difference counts as no larger: its bits do not change any more."""
SELECTED = 4.0
"""The logit with which a unit that begins with a comparison of the screen selects it."""
RECIPE = replace(EXACT, learning_rate=0.03, check_every=50, patience=2)
MOST_ROWS = 1_000
"""A restart is trained on so many rows at most; what it says is checked on all."""


@dataclass(frozen=True)
class Restart:
    """What a register selects among, and how it began: from the ``screen``, or at ``random``."""

    probes: tuple[Probe, ...]
    units: tuple[float, ...]
    """The unit of each difference: 1 / lambda."""
    began: str

    def measured(self, x: Tensor) -> Tensor:
        """(rows, choices): each difference from its value, in its unit."""
        away = [_away(x, probe) / unit for probe, unit in zip(self.probes, self.units, strict=True)]
        return torch.stack(away, -1).clamp(-FAR, FAR)


@dataclass(frozen=True, eq=False)
class Register:
    """A trained restart: an NSR for each class against the others, or a single one where there are two classes."""

    restart: Restart
    nets: tuple[NSR, ...]

    @torch.no_grad()
    def logits(self, x: Tensor) -> np.ndarray:
        """(rows, classes): how much speaks for each class."""
        measured = self.restart.measured(x)
        z = torch.stack([net.logit(measured) for net in self.nets], -1).double()
        return np.asarray((torch.cat([-z, z], -1) / 2 if len(self.nets) == 1 else z).numpy())

    @property
    def probes(self) -> list[Probe]:
        """What its units compare, those that matter most first, each with the value at which it has learned to."""
        found: dict[Probe, None] = {}
        for net in self.nets:
            for unit in units(net):
                for choice in unit.pair:
                    if choice < len(self.restart.probes):
                        found[self.restart.probes[choice]] = None
        return list(found)


def starts(screen: Screen, count: int, rng: np.random.Generator) -> list[Restart]:
    """So many restarts, half of them from the screen, each with another first comparison, and half at random."""
    codes = np.zeros(len(screen.rows), dtype=np.int64)
    ranked = [split.probe for split in screen.splits(codes)]
    chains = []
    for first in ranked[: -(-count // 2)]:
        chain = screen.chain(start=[first])
        rest = [probe for probe in ranked if probe.pair not in {each.pair for each in chain}]
        chains.append((chain + rest, "screen"))
    while len(chains) < count:
        drawn = rng.permutation(len(screen.pairs))[:CHOICES]
        chains.append(([_middle(screen.rows, screen.pairs[at]) for at in drawn], "random"))
    found = []
    for probes, began in chains:
        filled = [probes[at % len(probes)] for at in range(CHOICES)]
        found.append(Restart(tuple(filled), tuple(_unit(screen.rows, probe) for probe in filled), began))
    return found


def train(
    rows: Labelled,
    restarts: Sequence[Restart],
    epochs: int,
    rng: np.random.Generator,
    watch: Callable[[float], None] = lambda _: None,
) -> list[Register]:
    """All restarts as one ensemble."""
    rows = rows.some(_some(rows, rng))
    targets = [1] if rows.kinds == 2 else list(range(rows.kinds))
    nets, members = [], []
    for restart in restarts:
        x = restart.measured(rows.numbers.x)
        for kind in targets:
            generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
            nets.append(_net(restart, generator))
            members.append(_balanced(x, rows, kind))
    ensemble = Ensemble.of(nets)
    fit(ensemble, Rows.each(members), replace(RECIPE, epochs=epochs), compiled=False, watch=watch)
    ensemble = ensemble.to(torch.float64)  # trained in float32, they are asked in float64
    trained: list[Any] = [ensemble.member(at) for at in range(len(nets))]
    own = len(targets)
    return [Register(restart, tuple(trained[at * own : (at + 1) * own])) for at, restart in enumerate(restarts)]


def _net(restart: Restart, generator: torch.Generator) -> NSR:
    net = NSR(CHOICES, redundancy=UNITS, constants=True, generator=generator)
    if restart.began == "screen":
        with torch.no_grad():
            for unit in range(UNITS):
                net.v1[unit % CHOICES, unit] += SELECTED
                net.v2[CHOICES, unit] += SELECTED
    return net


def _balanced(x: Tensor, rows: Labelled, kind: int) -> Rows:
    """A class against the others, both sides of equal weight."""
    y = rows.classes == kind
    weight = rows.weight.astype(np.float64)
    for side in (y, ~y):
        if side.any():
            weight = np.where(side, weight / (2 * weight[side].sum()), weight)
    return Rows(x, torch.from_numpy(y).float(), torch.from_numpy(weight / weight.sum()))


def _some(rows: Labelled, rng: np.random.Generator) -> np.ndarray:
    """Rows to train on: all, or as many of each class as there is room for, the rare ones first."""
    if len(rows) <= MOST_ROWS:
        return np.arange(len(rows))
    groups = [rng.permutation(np.flatnonzero(rows.classes == kind)) for kind in range(rows.kinds)]
    chosen: list[np.ndarray] = []
    for left, group in zip(range(rows.kinds, 0, -1), sorted(groups, key=len), strict=True):
        room = MOST_ROWS - sum(map(len, chosen))
        chosen.append(group[: room // left])
    return np.sort(np.concatenate(chosen))


def _away(x: Tensor, probe: Probe) -> Tensor:
    """How far the difference of a probe is from its value."""
    difference = x[:, probe.first] if probe.second == x.shape[1] else x[:, probe.first] - x[:, probe.second]
    return difference.double() - float(probe.at)


def _middle(rows: Labelled, pair: tuple[int, int]) -> Probe:
    """A pair at 0, where that lies within its differences, else at their median."""
    difference = rows.numbers.difference(*pair)
    low, middle, high = np.quantile(difference, (0.05, 0.5, 0.95), method="nearest")
    return Probe(*pair, rows.numbers.value(pair, np.zeros_like(middle) if low <= 0 <= high else middle))


def _unit(rows: Labelled, probe: Probe) -> float:
    """The unit of a difference: the smallest there is where being equal may matter, else a part of its spread."""
    equal = rows.numbers.signs(probe) == 0
    apart = _away(rows.numbers.x, probe).abs().numpy()[~equal]
    if not len(apart) or not apart.min() > 0:
        return 1.0
    often = rows.weight[equal].sum() >= max(3.0, 0.01 * rows.total)
    return float(apart.min() if often else np.median(apart) / FAR)
