"""Networks that propose which sums of columns a rule compares: many restarts, trained together.

Each is a ``RuleNet``: units that weigh all columns freely, sign bits, and logic over the bits. Restarts compete: after
a few epochs the better ones go on (successive halving), since which of them finds a rule such as xor is luck. All
restarts are trained at once with batched matrix products.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nsr.nn import RuleNet
from nsr.reading.rows import LabelledRows

UNITS, HIDDEN = 8, 8
"""Comparisons of a network, and hidden units of its logic."""
ROUNDS = ((1.0, 80), (0.25, 150), (0.0625, 300))
"""The share of the restarts that take part in each round of training, and its epochs."""
LEARNING_RATE = 0.05
SCALES = (1.0, 10.0)
"""The sharpness of the bits at the start and at the end."""
COOLING = 0.7
"""After this share of the epochs the learning rate falls, to a twentieth at the end."""
FRESH = 1.0
"""How much the loss on fresh rows counts beside that on the rows to learn from."""
MOSTLY = 0.7
"""Logarithms are taken of columns in which more than this share of the numbers are positive, and none negative."""
MOST_TIMES = 2.0
"""Where there are few rows, so many times as many restarts begin: they cost no more."""
MOST_ROWS = 1_000
"""Networks are trained on this many rows at most; what they lead to is read from all of them."""

Parameters = list[Tensor]
"""Weights (members, inputs, units), offsets, hidden weights, hidden biases, output weights, output biases."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The numbers a network sees: columns, or their logarithms, measured from their mean in standard deviations."""

    names: tuple[str, ...]
    """The columns."""
    positions: tuple[int, ...]
    """Where they are in the table."""
    logarithms: bool
    floor: np.ndarray
    """Where there are logarithms: smaller numbers, such as 0, are taken for this one."""
    middle: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, rows: LabelledRows, *, logarithms: bool = False) -> "Inputs":
        """All columns that vary; of logarithms, those without negative numbers and mostly above 0."""
        x = rows.columns.x.double().numpy()
        usable = ((x >= 0).all(0) & ((x > 0).mean(0) > MOSTLY)) if logarithms else np.ones(x.shape[1], dtype=bool)
        usable &= x.max(0) > x.min(0)
        usable &= np.array([name not in rows.columns.products for name in rows.columns.names])
        positions = tuple(int(at) for at in np.flatnonzero(usable))
        x = x[:, usable]
        floor = np.where(x > 0, x, np.inf).min(0, initial=np.inf) / 2
        x = np.log(np.maximum(x, floor)) if logarithms else x
        spread = x.std(0)
        names = tuple(rows.columns.names[at] for at in positions)
        return cls(names, positions, logarithms, floor, x.mean(0), np.where(spread > 0, spread, 1.0))

    def only(self, names: Sequence[str]) -> "Inputs":
        """Some of the inputs."""
        at = [position for position, name in enumerate(self.names) if name in names]
        return Inputs(
            tuple(self.names[each] for each in at),
            tuple(self.positions[each] for each in at),
            self.logarithms,
            self.floor[at],
            self.middle[at],
            self.spread[at],
        )

    def select(self, x: Tensor) -> np.ndarray:
        """(rows, inputs): columns or their logarithms, in their own units."""
        selected = x.double().numpy()[:, list(self.positions)]
        return np.asarray(np.log(np.maximum(selected, self.floor)) if self.logarithms else selected)

    def __call__(self, x: Tensor) -> np.ndarray:
        """(rows, inputs): rows of the table as a network sees them."""
        return np.asarray((self.select(x) - self.middle) / self.spread)


@dataclass(frozen=True, eq=False)
class Unit:
    """What a unit of a trained network compares: a weighted sum of its inputs with a constant."""

    names: tuple[str, ...]
    weights: np.ndarray
    """In units of the columns."""
    spread: np.ndarray
    """The standard deviation of each input."""
    constant: float
    influence: float
    """The share of the rows whose class changes if its bit does."""


@dataclass(frozen=True, eq=False)
class Network:
    """A trained restart."""

    inputs: Inputs
    net: RuleNet

    @torch.no_grad()
    def logits(self, x: Tensor) -> np.ndarray:
        """(rows, classes): the logit of each class."""
        z = self.net.logit(torch.from_numpy(self.inputs(x)))
        z = torch.stack([-z, z], -1) / 2 if self.net.logic.classes == 2 else z
        return np.asarray(z.double().numpy())

    @torch.no_grad()
    def bits(self, x: Tensor) -> Tensor:
        """(rows, units): the exact sign of each unit, -1 or 1."""
        return torch.where(self.net.register.differences(torch.from_numpy(self.inputs(x))) > 0, 1.0, -1.0).double()

    @torch.no_grad()
    def classes(self, bits: Tensor) -> Tensor:
        """The class that the logic gives to rows of bits."""
        z: Tensor = self.net.logic(bits)
        return (z > 0).long() if self.net.logic.classes == 2 else z.argmax(-1)

    def units(self, x: Tensor) -> dict[int, Unit]:
        """Its units by position, the most influential first."""
        bits = self.bits(x)
        usual = self.classes(bits)
        weight = self.net.register.weight.detach().double().numpy() / self.inputs.spread
        offset = self.net.register.offset.detach().double().numpy() + weight @ self.inputs.middle
        found = {}
        for at in range(bits.shape[1]):
            flipped = bits.clone()
            flipped[:, at] *= -1
            changed = float((self.classes(flipped) != usual).double().mean())
            found[at] = Unit(self.inputs.names, weight[at], self.inputs.spread, float(offset[at]), changed)
        return dict(sorted(found.items(), key=lambda each: -each[1].influence))


def train_networks(
    rows: LabelledRows,
    inputs: Inputs,
    restarts: int,
    rng: np.random.Generator,
    *,
    choose: LabelledRows | None = None,
    sparsity: float = 4e-3,
    deadline: float = float("inf"),
    on_progress: Callable[[float], None] = lambda _: None,
) -> list[Network]:
    """The restarts that are left after the last round, the one with the lowest loss first.

    Args:
        rows: Rows to learn from.
        inputs: What the networks see of them.
        restarts: How many begin.
        rng: Everything random is drawn from it.
        choose: Rows that help to say which restarts are better: where labels are wrong, a low loss may be luck.
        sparsity: The L1 penalty on the weights of units; the more labels are wrong, the stronger it must be.
        deadline: Training ends at this time of ``time.monotonic``.
        on_progress: Called with the share of the epochs that are done.
    """
    rows = rows.subset(rows_to_train_on(rows, rng))
    restarts = round(restarts * min(MOST_TIMES, max(1.0, MOST_ROWS / len(rows))))
    data, n_classes = _tensors(rows, inputs), rows.n_classes
    fresh = _tensors(choose, inputs) if choose is not None and len(choose) else None
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    parameters = _start(restarts, len(inputs.names), 1 if n_classes == 2 else n_classes, generator)
    moments = [[torch.zeros_like(value) for value in parameters] for _ in range(2)]
    total, done, scale = sum(epochs for _, epochs in ROUNDS), 0, SCALES[0]
    for share, epochs in ROUNDS:
        kept = _best(parameters, data, fresh, scale, sparsity)[: max(1, round(share * restarts))]
        parameters, *moments = [[value[kept] for value in values] for values in (parameters, *moments)]
        for _ in range(epochs):
            if time.monotonic() > deadline:
                break
            scale = SCALES[0] * (SCALES[1] / SCALES[0]) ** (done / total)
            rate = LEARNING_RATE * min(1.0, max(0.05, (1 - done / total) / (1 - COOLING)))
            done += 1
            parameters = _adam(parameters, moments, done, rate, _gradients(parameters, data, scale, sparsity))
        on_progress(done / total)
    order = _best(parameters, data, fresh, scale, sparsity)
    return [_network([value[member] for value in parameters], inputs, n_classes, scale) for member in order.tolist()]


Data = tuple[Tensor, Tensor, Tensor]
"""Inputs, classes, and weights that sum to 1."""


def _tensors(rows: LabelledRows, inputs: Inputs) -> Data:
    x = torch.from_numpy(inputs(rows.columns.x)).float()
    return x, torch.from_numpy(rows.classes), torch.from_numpy(rows.weight / rows.total).float()


def _start(members: int, inputs: int, outputs: int, generator: torch.Generator) -> Parameters:
    def normal(*shape: int, spread: float) -> Tensor:
        return spread * torch.randn(members, *shape, generator=generator)

    return [
        normal(inputs, UNITS, spread=inputs**-0.5),
        normal(1, UNITS, spread=0.5),
        normal(UNITS, HIDDEN, spread=UNITS**-0.5),
        torch.zeros(members, 1, HIDDEN),
        normal(HIDDEN, outputs, spread=HIDDEN**-0.5),
        torch.zeros(members, 1, outputs),
    ]


def _logits(parameters: Parameters, x: Tensor, scale: float) -> Tensor:
    """(members, rows, outputs): what ``RuleNet.logit`` gives, for all members at once."""
    weight, offset, hidden_weight, hidden_bias, output_weight, output_bias = parameters
    bits = torch.tanh(scale * (torch.matmul(x, weight) - offset))
    return torch.matmul(torch.tanh(torch.matmul(bits, hidden_weight) + hidden_bias), output_weight) + output_bias


def _losses(parameters: Parameters, data: Data, scale: float, sparsity: float) -> Tensor:
    """(members,): the cross-entropy, and the penalty on the weights of units."""
    x, y, weight = data
    z = _logits(parameters, x, scale)
    members, rows, outputs = z.shape
    if outputs == 1:
        each = functional.binary_cross_entropy_with_logits(
            z[..., 0], y.to(z.dtype).expand(members, rows), reduction="none"
        )
    else:
        each = functional.cross_entropy(z.reshape(-1, outputs), y.repeat(members), reduction="none")
    return each.reshape(members, rows) @ weight + sparsity * parameters[0].abs().sum((1, 2))


def _gradients(parameters: Parameters, data: Data, scale: float, sparsity: float) -> list[Tensor]:
    leaves = [value.detach().requires_grad_() for value in parameters]
    return list(torch.autograd.grad(_losses(leaves, data, scale, sparsity).sum(), leaves))


@torch.no_grad()
def _best(parameters: Parameters, data: Data, fresh: Data | None, scale: float, sparsity: float) -> Tensor:
    """The members in the order of their losses on the rows to learn from and, where there are any, on fresh ones."""
    losses = _losses(parameters, data, scale, sparsity)
    if fresh is not None:
        losses = losses + FRESH * _losses(parameters, fresh, scale, 0.0)
    return losses.nan_to_num(nan=torch.inf).argsort()


@torch.no_grad()
def _adam(
    parameters: Parameters, moments: list[list[Tensor]], epoch: int, rate: float, gradients: list[Tensor]
) -> Parameters:
    """One step of Adam with torch's defaults; moments are updated in place."""
    first, second = moments
    torch._foreach_lerp_(first, gradients, 0.1)
    torch._foreach_mul_(second, 0.999)
    torch._foreach_addcmul_(second, gradients, gradients, 0.001)
    roots = torch._foreach_sqrt(second)
    torch._foreach_div_(roots, (1 - 0.999**epoch) ** 0.5)
    torch._foreach_add_(roots, 1e-8)
    return list(
        torch._foreach_addcdiv([value.detach() for value in parameters], first, roots, -rate / (1 - 0.9**epoch))
    )


def _network(parameters: Parameters, inputs: Inputs, n_classes: int, scale: float) -> Network:
    net = RuleNet(len(inputs.names), UNITS, HIDDEN, n_classes, scale=scale, dtype=torch.float64)
    weight, offset, hidden_weight, hidden_bias, output_weight, output_bias = (value.double() for value in parameters)
    state = {
        "register.weight": weight.T,
        "register.offset": offset[0],
        "logic.hidden_weight": hidden_weight.T,
        "logic.hidden_bias": hidden_bias[0],
        "logic.output_weight": output_weight.T,
        "logic.output_bias": output_bias[0],
    }
    net.load_state_dict(state, strict=False)
    return Network(inputs, net)


def columns_that_matter(networks: Sequence[Network], rows: LabelledRows) -> list[str]:
    """Columns by how much the units of good networks weigh them, the most important first."""
    importance: dict[str, float] = {}
    usual = float((rows.classes == rows.majority).mean())
    for network in networks:
        right = float((network.classes(network.bits(rows.columns.x)).numpy() == rows.classes).mean())
        for unit in network.units(rows.columns.x).values():
            size = np.abs(unit.weights * unit.spread)
            share = (size / max(size.max(), 1e-300)) ** 2 * unit.influence * max(right - usual, 0.01)
            for name, value in zip(unit.names, share, strict=True):
                importance[name] = importance.get(name, 0.0) + float(value)
    return sorted(importance, key=lambda name: -importance[name])


def rows_to_train_on(rows: LabelledRows, rng: np.random.Generator) -> np.ndarray:
    """Rows to train on: all, or as many of each class as there is room for, rare classes first."""
    if len(rows) <= MOST_ROWS:
        return np.arange(len(rows))
    groups = [rng.permutation(np.flatnonzero(rows.classes == label)) for label in range(rows.n_classes)]
    chosen: list[np.ndarray] = []
    for left, group in zip(range(rows.n_classes, 0, -1), sorted(groups, key=len), strict=True):
        room = MOST_ROWS - sum(map(len, chosen))
        chosen.append(group[: room // left])
    return np.sort(np.concatenate(chosen))


def probabilities(network: Network, x: Tensor) -> np.ndarray:
    """(rows, classes): a network's probability for each class."""
    z = network.logits(x)
    odds = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))
