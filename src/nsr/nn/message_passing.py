"""Shortest paths by message passing: a register learns how a node combines its messages (Section 4.6)."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from nsr.nn.arithmetic import NAU
from nsr.nn.checks import real_tensor
from nsr.nn.recurrent import RecurrentMinimum
from nsr.nn.shapes import ArrayLike, Float, Int, Real


class ShortestPaths(nn.Module):
    """Rounds of Bellman-Ford: the new distance of a node is a fold over its old distance and its messages.

    The cost of a round is proportional to the number of edges. All nodes fold at once, each in the order of its edges,
    in as many steps as the largest in-degree. A batch of graphs is one graph with several sources.
    ``nsr.data.Graph.of`` takes edges and weights from sparse matrices and networkx graphs.

    Args:
        fold: Applied to the list of a node's distance and its messages.
        message: Computes the message along an edge from the distance of its first node and its weight: a ``NAU(2)``.
            By default their sum, as in the paper.
    """

    def __init__(self, fold: RecurrentMinimum, message: NAU | None = None) -> None:
        super().__init__()
        if message is not None and (message.inputs, message.outputs) != (2, 1):
            raise ValueError(f"message must map two numbers to one, got {message!r}")
        self.fold = fold
        self.message = message

    def forward(
        self,
        edges: Int[Tensor, "2 edges"] | ArrayLike,
        weights: Real[Tensor, " edges"] | ArrayLike,
        start: Real[Tensor, " nodes"] | ArrayLike,
        *,
        rounds: int | Int[Tensor, " nodes"] | None = None,
    ) -> Float[Tensor, " nodes"]:
        """Distances after ``rounds``, or when nothing changes any more.

        Args:
            edges: One column per edge: the node it comes from and the node it leads to.
            weights: One per edge.
            start: 0 at the source, and at every other node more than any path can cost.
            rounds: The largest number of rounds, for all nodes or per node, as in a batch of graphs of different sizes.
                By default the number of nodes.
        """
        edges, weights = real_tensor("edges", edges), real_tensor("weights", weights)
        start = real_tensor("start", start)
        _check_edges(edges, weights, start)
        order = Ranks(edges.long(), len(start))
        weights = weights.to(torch.promote_types(weights.dtype, next(self.parameters()).dtype))
        distances = start.to(torch.promote_types(start.dtype, weights.dtype))
        most = torch.as_tensor(len(start) if rounds is None else rounds, device=start.device)
        if most.is_floating_point() or most.shape not in ((), start.shape):
            raise ValueError(f"rounds must be an integer, or one for each of {len(start)} nodes, got {rounds}")
        for number in range(int(most.max())):
            new = torch.where(number < most, self.round(order, weights, distances), distances)
            if torch.equal(new, distances):
                break
            distances = new
        return distances

    def round(self, order: "Ranks", weights: Tensor, distances: Tensor) -> Tensor:
        """One round of all nodes at once."""
        messages = self.messages(distances[order.sources], weights[order.positions])
        state = distances
        for at in order.slices:
            targets = order.targets[at]
            both = torch.stack([state[targets], messages[at]], dim=-1)
            state = state.index_copy(0, targets, (self.fold.gate(both) * both).sum(-1))
        return state

    def messages(self, distances: Float[Tensor, "*batch"], weights: Real[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """The messages along edges from nodes at these distances."""
        if self.message is None:
            return distances + weights
        both = torch.stack([distances, weights.to(distances.dtype)], dim=-1)
        message: Tensor = self.message(both)
        return message[..., 0]

    def __repr__(self) -> str:
        message = "" if self.message is None else f", message={self.message!r}"
        return f"ShortestPaths({self.fold!r}{message})"


class NodeUpdate(nn.Module):
    """The update of one node in one round, with rows as inputs, so that ``fit`` can train it with teacher forcing.

    A row holds the number of messages, the distance of the node, and for each message the distance it comes from and
    the weight of its edge. Numbers after them are ignored.
    """

    def __init__(self, paths: ShortestPaths) -> None:
        super().__init__()
        self.paths = paths

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch"]:
        """The node's new distance."""
        x = real_tensor("x", x)
        if x.dim() == 0 or x.shape[-1] < 2 or x.shape[-1] % 2:
            raise ValueError(f"a row must hold a count, a distance and pairs, got shape {tuple(x.shape)}")
        x = x.to(torch.promote_types(x.dtype, next(self.parameters()).dtype))
        arrived = self.paths.messages(x[..., 2::2], x[..., 3::2])
        new: Tensor = self.paths.fold(torch.cat([x[..., 1:2], arrived], dim=-1), x[..., 0].long() + 1)
        return new

    def __repr__(self) -> str:
        return f"NodeUpdate({self.paths!r})"


class Ranks:
    """Edges in the order in which they are folded: the first edge into every node, then the second, and so on.

    Within a rank no two edges lead to the same node, so a rank is folded at once.
    """

    def __init__(self, edges: Tensor, nodes: int) -> None:
        sources, targets = edges
        by_target = torch.argsort(targets, stable=True)
        degrees = torch.bincount(targets, minlength=nodes)
        starts = degrees.cumsum(0) - degrees
        rank = torch.arange(len(targets), device=edges.device) - starts[targets[by_target]]
        by_rank = torch.argsort(rank, stable=True)
        self.positions = by_target[by_rank]
        self.sources, self.targets = sources[self.positions], targets[self.positions]
        sizes = torch.bincount(rank).tolist()
        ends = torch.tensor([0, *sizes]).cumsum(0).tolist()
        self.slices = [slice(begin, end) for begin, end in pairwise(ends)]


def _check_edges(edges: Tensor, weights: Tensor, start: Tensor) -> None:
    """Require edges between existing nodes, with finite weights and distances."""
    if start.dim() != 1:
        raise ValueError(f"start must hold a distance for each node, got shape {tuple(start.shape)}")
    if edges.is_floating_point() or edges.dim() != 2 or len(edges) != 2:
        raise ValueError(f"edges must be integers of shape (2, edges), got {edges.dtype} of shape {tuple(edges.shape)}")
    if weights.shape != edges.shape[1:]:
        raise ValueError(f"there must be a weight for each of {edges.shape[1]} edges, got {tuple(weights.shape)}")
    if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < len(start):
        outside = edges[(edges < 0) | (edges >= len(start))][0]
        raise ValueError(f"a node must be from 0 to {len(start) - 1}, got {int(outside)}")
    if not weights.isfinite().all():
        raise ValueError(f"weights must be finite, got {weights[~weights.isfinite()][0].item()}")
    if not start.isfinite().all():
        raise ValueError("start must be finite: use more than any path can cost for unreached nodes")
