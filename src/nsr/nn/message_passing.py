"""Shortest paths by message passing, where a register learns how a node folds its messages (Section 4.6)."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from nsr.nn.arithmetic import NAU
from nsr.nn.recurrent import RecurrentMinimum
from nsr.nn.shapes import Float, Int, Real


class ShortestPaths(nn.Module):
    """Rounds of Bellman-Ford: a node's new distance is a fold of its old one and its messages.

    Edges are lists, so a round costs as much as there are edges; all nodes fold at once, each its messages in the
    order of its edges, in as many steps as the most edges lead to one node. Several graphs are one with several
    sources. ``nsr.data.Graph.of`` makes edges and weights of sparse matrices and networkx graphs.

    Args:
        fold: What a node does with the list of its distance and its messages.
        message: What goes along an edge, learned from the distance of its first node and its weight: a ``NAU(2)``.
            By default their sum, as in the paper.
    """

    def __init__(self, fold: RecurrentMinimum, message: NAU | None = None) -> None:
        super().__init__()
        if message is not None and (message.inputs, message.outputs) != (2, 1):
            raise ValueError(f"message must make one number of two, got {message!r}")
        self.fold = fold
        self.message = message

    def forward(
        self,
        edges: Int[Tensor, "2 edges"],
        weights: Real[Tensor, " edges"],
        start: Float[Tensor, " nodes"],
        *,
        rounds: int | Int[Tensor, " nodes"] | None = None,
    ) -> Float[Tensor, " nodes"]:
        """Distances after ``rounds``, by default as many as there are nodes, or until nothing changes.

        Args:
            edges: From the first node to the second, each column an edge.
            weights: One for each edge.
            start: 0 at the source and at every other node more than any path can cost.
            rounds: How many at most, for all nodes or for each, as where graphs of different sizes are one.
        """
        _check_edges(edges, weights, start)
        order = Ranks(edges.long(), len(start))
        weights = weights.to(torch.promote_types(weights.dtype, next(self.parameters()).dtype))
        distances = start.to(torch.promote_types(start.dtype, weights.dtype))
        most = torch.as_tensor(len(start) if rounds is None else rounds, device=start.device)
        if most.is_floating_point() or most.shape not in ((), start.shape):
            raise ValueError(f"rounds must be a whole number, or one for each of {len(start)} nodes, got {rounds}")
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
        """What goes along edges from nodes at these distances."""
        if self.message is None:
            return distances + weights
        both = torch.stack([distances, weights.to(distances.dtype)], dim=-1)
        message: Tensor = self.message(both)
        return message[..., 0]

    def __repr__(self) -> str:
        message = "" if self.message is None else f", message={self.message!r}"
        return f"ShortestPaths({self.fold!r}{message})"


class NodeUpdate(nn.Module):
    """One node in one round, as a row: what ``fit`` trains with teacher forcing.

    A row is how many messages there are, the node's own distance, and for each message the distance that it comes
    from and the weight of its edge. What follows after them is ignored.
    """

    def __init__(self, paths: ShortestPaths) -> None:
        super().__init__()
        self.paths = paths

    def forward(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch"]:
        """The node's new distance."""
        if x.dim() == 0 or x.shape[-1] < 2 or x.shape[-1] % 2:
            raise ValueError(f"a row must be a count, a distance and pairs, got shape {tuple(x.shape)}")
        x = x.to(torch.promote_types(x.dtype, next(self.parameters()).dtype))
        arrived = self.paths.messages(x[..., 2::2], x[..., 3::2])
        new: Tensor = self.paths.fold(torch.cat([x[..., 1:2], arrived], dim=-1), x[..., 0].long() + 1)
        return new

    def __repr__(self) -> str:
        return f"NodeUpdate({self.paths!r})"


class Ranks:
    """Edges in the order in which they are folded: the first edge of every node, then the second of every node.

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
    """Edges lead from node to node and weigh something, or are refused in a sentence."""
    if start.dim() != 1:
        raise ValueError(f"start must hold a distance for each node, got shape {tuple(start.shape)}")
    if edges.is_floating_point() or edges.dim() != 2 or len(edges) != 2:
        raise ValueError(f"edges must be whole numbers (2, edges), got {edges.dtype} of shape {tuple(edges.shape)}")
    if weights.shape != edges.shape[1:]:
        raise ValueError(f"there must be a weight for each of {edges.shape[1]} edges, got {tuple(weights.shape)}")
    if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < len(start):
        outside = edges[(edges < 0) | (edges >= len(start))][0]
        raise ValueError(f"a node must be from 0 to {len(start) - 1}, got {int(outside)}")
    if not weights.isfinite().all():
        raise ValueError(f"weights must be finite, got {weights[~weights.isfinite()][0].item()}")
    if not start.isfinite().all():
        raise ValueError("start must be finite: give nodes that are not reached yet more than any path can cost")
