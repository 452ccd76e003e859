"""Draw which parts of ``nsr`` import which, as an SVG: ``make graph`` writes docs/imports.svg.

Every arrow points down. An import that also follows from others (a -> b -> c) is left out.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

import grimp
import networkx as nx

PRODUCTS = ("paper", "learn")
COLOURS = {"cli": "#6b7280", "paper": "#2f6fb5", "learn": "#0b7a4b"}
CORE = "#8a5a00"
WIDTH, ROW, BOX, GAP = 1040, 62, 30, 14
"""Of the picture, of a row of boxes, of a box, and between boxes, in pixels."""


def part(module: str) -> str:
    """The part that a module belongs to: ``paper.sweep``, ``learn.search``, or a top-level name such as ``nn``."""
    names = module.split(".")[1:]
    if not names:
        return ""
    if names[0] in PRODUCTS and len(names) > 1:
        return ".".join(names[:2])
    return names[0]


def imports() -> nx.DiGraph:
    """An edge for each part that imports another, without those that follow from others."""
    modules = grimp.build_graph("nsr")
    graph = nx.DiGraph()
    for module in modules.modules:
        for imported in modules.find_modules_directly_imported_by(module):
            pair = part(module), part(imported)
            if all(pair) and pair[0] != pair[1] and not set(pair) & {"__main__", *PRODUCTS}:
                graph.add_edge(*pair)
    return nx.transitive_reduction(graph)


def area(name: str) -> str:
    """Where a part is drawn: a product on its side, the command above both, everything else below."""
    first = name.split(".")[0]
    return first if first in COLOURS else "core"


def ranked(graph: nx.DiGraph) -> list[list[str]]:
    """Parts in rows from the top, each above everything it imports, ordered to keep arrows short."""
    depth: dict[str, int] = {}
    for name in reversed(list(nx.topological_sort(graph))):
        depth[name] = 1 + max((depth[other] for other in graph.successors(name)), default=-1)
    found = [sorted(name for name in graph if depth[name] == row) for row in range(max(depth.values(), default=-1) + 1)]
    place: dict[str, float] = {}
    for names in found:
        below = {name: [place[other] for other in graph.successors(name)] for name in names}
        names.sort(key=lambda name: sum(below[name]) / len(below[name]) if below[name] else 0.5)
        place |= {name: (at + 0.5) / len(names) for at, name in enumerate(names)}
    return found[::-1]


def label(name: str) -> str:
    """What a box says: inside a product the product's name is left out."""
    return name.split(".")[-1]


def boxes(graph: nx.DiGraph) -> dict[str, tuple[float, float, float]]:
    """The left and upper edge of each part's box, and its width."""
    rows = {where: ranked(graph.subgraph([n for n in graph if area(n) == where])) for where in (*COLOURS, "core")}
    products = max(len(rows[product]) for product in PRODUCTS)
    top = {"cli": 0, "core": 1 + products} | {product: 1 + products - len(rows[product]) for product in PRODUCTS}
    middle = {"cli": 0.5, "core": 0.5, "paper": 0.24, "learn": 0.75}
    placed: dict[str, tuple[float, float, float]] = {}
    for where, names_by_row in rows.items():
        for row, names in enumerate(names_by_row):
            widths = [16 + 7.4 * len(label(name)) for name in names]
            left = middle[where] * WIDTH - (sum(widths) + GAP * (len(names) - 1)) / 2
            for name, width in zip(names, widths, strict=True):
                placed[name] = left, 16 + (top[where] + row) * ROW, width
                left += width + GAP
    return placed


def svg(graph: nx.DiGraph) -> str:
    """The picture."""
    placed = boxes(graph)
    height = max(y for _, y, _ in placed.values()) + ROW - 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" '
        'font-size="13">',
        "<title>Imports between the parts of nsr: every arrow points down</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#9aa3ab"/></marker>',
    ]
    for upper, lower in sorted(graph.edges):
        (x1, y1, w1), (x2, y2, w2) = placed[upper], placed[lower]
        start, end = (x1 + w1 / 2, y1 + BOX), (x2 + w2 / 2, y2)
        bend = (end[1] - start[1]) / 2
        lines.append(
            f'<path d="M{start[0]:.0f} {start[1]:.0f} C{start[0]:.0f} {start[1] + bend:.0f} {end[0]:.0f} '
            f'{end[1] - bend:.0f} {end[0]:.0f} {end[1] - 2:.0f}" fill="none" stroke="#9aa3ab" marker-end="url(#tip)"/>'
        )
    for name, (x, y, width) in placed.items():
        colour = COLOURS.get(name.split(".")[0], CORE)
        lines.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="5" fill="#ffffff" stroke="{colour}" '
            f'stroke-width="1.5"/><text x="{x + width / 2:.0f}" y="{y + 20}" text-anchor="middle" '
            f'fill="{colour}">{escape(label(name))}</text>'
        )
    for product, x in zip(PRODUCTS, (24, WIDTH - 24), strict=True):
        anchor = "start" if product == PRODUCTS[0] else "end"
        lines.append(
            f'<text x="{x}" y="40" font-size="20" font-weight="600" text-anchor="{anchor}" '
            f'fill="{COLOURS[product]}">nsr.{product}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(svg(imports()))
