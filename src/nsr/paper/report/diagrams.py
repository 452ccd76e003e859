"""Figure 1 and the diagrams of Appendix B as SVG, and the two other architectures in the same form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

BOX, GAP, HEIGHT = 104, 22, 30
"""Width of a box, distance between columns, height of a box."""


@dataclass(frozen=True)
class Box:
    """A box: its text, its column and row, and whether it holds learned parameters."""

    text: str
    column: float
    row: float
    learned: bool = False

    @property
    def left(self) -> float:
        """Its left end."""
        return 4 + self.column * (BOX + GAP)

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return 4 + self.row * 1.5 * HEIGHT + HEIGHT / 2


@dataclass(frozen=True)
class Diagram:
    """Boxes and arrows between them, by their numbers."""

    name: str
    title: str
    boxes: Sequence[Box]
    arrows: Sequence[tuple[int, int]]

    @property
    def svg(self) -> str:
        """The picture, in the colours of the page."""
        width = max(box.left for box in self.boxes) + BOX + 4
        height = max(box.middle for box in self.boxes) + HEIGHT / 2 + 4
        parts = [*self._arrows(), *self._boxes()]
        return (
            f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
            f'aria-label="{escape(self.title)}" font-family="system-ui, sans-serif" font-size="12" '
            f'fill="none" stroke="currentColor">{"".join(parts)}</svg>'
        )

    def _boxes(self) -> Iterator[str]:
        for box in self.boxes:
            shade = ' fill="currentColor" fill-opacity="0.15"' if box.learned else ""
            yield (
                f'<rect x="{box.left:g}" y="{box.middle - HEIGHT / 2:g}" width="{BOX}" height="{HEIGHT}" rx="4"'
                f"{shade}/>"
                f'<text x="{box.left + BOX / 2:g}" y="{box.middle + 4:g}" text-anchor="middle" fill="currentColor" '
                f'stroke="none">{escape(box.text)}</text>'
            )

    def _arrows(self) -> Iterator[str]:
        for start, end in self.arrows:
            a, b = self.boxes[start], self.boxes[end]
            x1, y1, x2, y2 = a.left + BOX, a.middle, b.left, self._arrival(start, end)
            if x2 < x1:  # upwards or downwards within a column
                x1 = x2 = b.left + BOX / 2
                side = HEIGHT / 2 if b.middle > a.middle else -HEIGHT / 2
                y1, y2 = a.middle + side, b.middle - side
            yield f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>{_head(x1, y1, x2, y2)}'

    def _arrival(self, start: int, end: int) -> float:
        """The height at which an arrow from the left arrives: each has its place, from top to bottom."""
        column = self.boxes[end].column
        sources = [a for a, b in self.arrows if b == end and self.boxes[a].column < column]
        if start not in sources:
            return self.boxes[end].middle
        place = sorted(sources, key=lambda a: self.boxes[a].row).index(start) + 1
        return self.boxes[end].middle - HEIGHT / 2 + HEIGHT * place / (len(sources) + 1)


def _head(x1: float, y1: float, x2: float, y2: float) -> str:
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
    dx, dy = 6 * (x2 - x1) / length, 6 * (y2 - y1) / length
    points = f"{x2:g},{y2:g} {x2 - dx - dy / 2:g},{y2 - dy + dx / 2:g} {x2 - dx + dy / 2:g},{y2 - dy - dx / 2:g}"
    return f'<polygon points="{points}" fill="currentColor"/>'


DIAGRAMS = (
    Diagram(
        "register",
        "Figure 1: the register. Shaded: learned. One of its redundant units; their logits are added",
        (
            Box("x", 0, 1),
            Box("V1", 1, 0, learned=True),
            Box("V2", 1, 2, learned=True),
            Box("x . softmax", 1, 1),
            Box("o1 - o2", 2, 1),
            Box("sign bit", 3, 0.4),
            Box("zero bit", 3, 1.6),
            Box("w+, w0, b", 4, 0, learned=True),
            Box("sum", 4, 1),
            Box("y, 1 - y", 5, 1),
        ),
        ((0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 8), (6, 8), (7, 8), (8, 9)),
    ),
    Diagram(
        "piecewise",
        "Section 4.3: a gate chooses between two sums",
        (
            Box("x", 0, 1),
            Box("gate", 1, 0, learned=True),
            Box("A(x), NAU", 1, 1, learned=True),
            Box("B(x), NAU", 1, 2, learned=True),
            Box("yA + (1 - y)B", 2, 1),
        ),
        ((0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)),
    ),
    Diagram(
        "minimum",
        "Appendix B: the recurrent minimum. m is the least number so far",
        (
            Box("m_i", 0, 0),
            Box("x_i", 0, 1),
            Box("NSR", 1, 2, learned=True),
            Box("y m + (1 - y)x", 2, 0.5),
            Box("m_i+1", 3, 0.5),
        ),
        ((0, 2), (1, 2), (2, 3), (3, 4), (0, 3), (1, 3)),
    ),
    Diagram(
        "count",
        "Appendix B: recurrent counting. c counts how often the first number occurs again",
        (
            Box("x_0", 0, 0.6),
            Box("x_i", 0, 1.6),
            Box("NSR", 1, 1.1, learned=True),
            Box("c", 1, 0),
            Box("c + y", 2, 0.5),
            Box("c", 3, 0.5),
        ),
        ((0, 2), (1, 2), (2, 4), (3, 4), (4, 5)),
    ),
    Diagram(
        "paths",
        "Section 4.6: a round of shortest paths at one node, with the loop for the minimum inside",
        (
            Box("d of others", 0, 0),
            Box("weights", 0, 1),
            Box("d + weight", 1, 0.5),
            Box("own d", 1, 1.6),
            Box("minimum", 2, 0.9, learned=True),
            Box("new d", 3, 0.9),
        ),
        ((0, 2), (1, 2), (2, 4), (3, 4), (4, 5)),
    ),
)
