"""Shortest paths by message passing, where a register learns how a node folds its messages (Section 4.6)."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from nsr.nn.recurrent import RecurrentMinimum
from nsr.nn.shapes import Float, Int, Real


class ShortestPaths(nn.Module):
    """Rounds of Bellman-Ford: a node's new distance is a fold of its old one and its messages, distance plus weight.

    Edges are lists, so a round costs as much as there are edges; all nodes fold at once, each its messages in the
    order of its edges. Several graphs are one with several sources.

    Args:
        fold: What a node does with the list of its distance and its messages.
    """

    def __init__(self, fold: RecurrentMinimum) -> None:
        super().__init__()
        self.fold = fold

    def forward(
        self,
        edges: Int[Tensor, "2 edges"],
        weights: Real[Tensor, " edges"],
        start: Float[Tensor, " nodes"],
        *,
        rounds: int | None = None,
    ) -> Float[Tensor, " nodes"]:
        """Distances after ``rounds``, by default as many as there are nodes, or until nothing changes.

        Args:
            edges: From the first node to the second, each column an edge.
            weights: One for each edge.
            start: 0 at the source and at every other node more than any path can cost.
            rounds: How many at most.
        """
        order = Ranks(edges, len(start))
        distances = start
        for _ in range(len(start) if rounds is None else rounds):
            new = self.round(order, weights, distances)
            if torch.equal(new, distances):
                break
            distances = new
        return distances

    def round(self, order: "Ranks", weights: Tensor, distances: Tensor) -> Tensor:
        """One round of all nodes at once."""
        messages = distances[order.sources] + weights[order.positions]
        state = distances
        for at in order.slices:
            targets = order.targets[at]
            both = torch.stack([state[targets], messages[at]], dim=-1)
            state = state.index_copy(0, targets, (self.fold.gate(both) * both).sum(-1))
        return state

    def __repr__(self) -> str:
        return f"ShortestPaths({self.fold!r})"


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
