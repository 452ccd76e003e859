"""The soft model of a regressor: a register chooses between two sums of the columns, all of it trained together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from nsr.data import Rows
from nsr.ensemble import Ensemble
from nsr.learn.pieces import Piece, Targets
from nsr.learn.registers import CHOICES, MOST_ROWS, UNITS, Restart
from nsr.nn import NAU, NSR
from nsr.training import EXACT, fit

REACH = 3.0
"""The largest weight of a sum, in standard deviations of the target per standard deviation of a column."""
RECIPE = replace(EXACT, loss="mse", learning_rate=0.03, check_every=50, patience=0)


class Gated(nn.Module):
    """``y A(x) + (1 - y) B(x)`` as in Section 4.3; the gate sees sums of columns, the arms see columns."""

    def __init__(self, columns: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.columns = columns
        self.gate = NSR(CHOICES, redundancy=UNITS, constants=True, generator=generator)
        self.arms = NAU(columns, 2, bias=True, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """The number that the gate chooses."""
        chosen: Tensor = self.gate(x[..., :CHOICES]) * self.arms(x[..., CHOICES:])
        return chosen.sum(-1)

    def __repr__(self) -> str:
        return f"Gated({self.columns})"


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standardises columns and target."""

    middle: np.ndarray
    spread: np.ndarray
    target: tuple[float, float]

    @classmethod
    def of(cls, targets: Targets) -> "Scaling":
        """From weighted rows."""
        share = targets.weight / targets.weight.sum()
        middle = share @ targets.x
        spread = np.sqrt(share @ (targets.x - middle) ** 2)
        mean = float(share @ targets.y)
        deviation = float(np.sqrt(share @ (targets.y - mean) ** 2))
        return cls(middle, np.where(spread > 0, spread, 1.0), (mean, deviation or 1.0))

    def columns(self, x: Tensor) -> Tensor:
        """The columns as the arms see them."""
        return REACH * (x.double() - torch.from_numpy(self.middle)) / torch.from_numpy(self.spread)

    def initialise(self, arms: NAU, pieces: Sequence[Piece], names: Sequence[str]) -> None:
        """Initialise arms with pieces, as far as their bounds allow."""
        for at, piece in enumerate(pieces[:2]):
            raw = np.zeros(len(names))
            for name, weight in piece.weights:
                raw[names.index(name)] = float(weight)
            constant = (float(piece.constant) + raw @ self.middle - self.target[0]) / self.target[1]
            with torch.no_grad():
                arms.weight[at] = torch.from_numpy(raw * self.spread / (REACH * self.target[1])).float()
                assert arms.bias is not None
                arms.bias[at] = constant


@dataclass(frozen=True, eq=False)
class Member:
    """A trained restart of the soft model."""

    restart: Restart
    names: tuple[str, ...]
    """Names of the columns."""
    scaling: Scaling
    net: Gated

    @torch.no_grad()
    def predict(self, x: Tensor) -> np.ndarray:
        """The number for each row."""
        inputs = torch.cat([self.restart.inputs(x, self.names), self.scaling.columns(x)], -1)
        return np.asarray(self.net(inputs).double().numpy() * self.scaling.target[1] + self.scaling.target[0])


def train(
    targets: Targets,
    restarts: Sequence[Restart],
    pieces: Sequence[Piece],
    epochs: int,
    rng: np.random.Generator,
    on_progress: Callable[[float], None] = lambda _: None,
) -> list[Member]:
    """Train all restarts as one ensemble; those from the screen start with the pieces that were found."""
    targets = targets.subset(np.sort(rng.permutation(len(targets))[:MOST_ROWS]))
    scaling, x, names = Scaling.of(targets), targets.columns.x, targets.columns.names
    y = torch.from_numpy((targets.y - scaling.target[0]) / scaling.target[1]).float()
    weight = torch.from_numpy(targets.weight / targets.weight.sum())
    nets, members = [], []
    for restart in restarts:
        net = Gated(x.shape[1], generator=torch.Generator().manual_seed(int(rng.integers(2**31))))
        if restart.origin == "screen" and pieces:
            scaling.initialise(net.arms, [*pieces, pieces[-1]], names)
        nets.append(net)
        members.append(Rows(torch.cat([restart.inputs(x, names), scaling.columns(x)], -1), y, weight))
    ensemble = Ensemble.of(nets)
    fit(ensemble, Rows.each(members), replace(RECIPE, epochs=epochs), engine="eager", on_progress=on_progress)
    ensemble = ensemble.to(torch.float64)
    trained = [ensemble.member(at) for at in range(len(nets))]
    return [Member(restart, names, scaling, net) for restart, net in zip(restarts, trained, strict=True)]  # type: ignore[arg-type]
