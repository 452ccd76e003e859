r"""LaTeX: a formula for readers, with ``\begin{cases}`` and ``\text`` from the package amsmath.

Exact everywhere: numbers are written in full, as terminating decimals or as fractions.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import ClassVar

from nsr.program import text
from nsr.program.emit.names import printable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, COMPARE, Writer
from nsr.program.expressions import Count, Expression, Order, Product, Where, as_number
from nsr.program.program import Program

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "-": "{-}",
    "'": "{'}",
    "`": "{`}",
    **{letter: f"\\{letter}" for letter in "{}$&#_%"},
}
"""Escapes: commands, and characters that LaTeX would merge with their neighbours."""


@target("latex")
def latex_formula(program: Program) -> str:
    """Write the formula, without the dollar signs around it."""
    return _Latex({name: _name(name) for name in program.inputs}).write(program.expression)


def _name(name: str) -> str:
    r"""x5 as ``x_{5}``, a word upright, and anything else as text."""
    if indexed := re.fullmatch(r"([A-Za-z]+)([0-9]*)", name):
        word, index = indexed.groups()
        return (word if len(word) == 1 else rf"\mathrm{{{word}}}") + (f"_{{{index}}}" if index else "")
    return rf"\text{{{''.join(SPECIAL.get(letter, letter) for letter in printable(name))}}}"


class _Latex(Writer):
    truths = (r"\bot", r"\top")
    operators: ClassVar[Mapping[str, str]] = {">=": r"\geq", "<=": r"\leq", "!=": r"\neq"}
    both, either = r" \land ", r" \lor "
    inside_both = inside_either = COMPARE

    def number(self, value: Fraction) -> str:
        written = text.number(value)
        return rf"\frac{{{written.replace('/', '}{')}}}" if "/" in written else written

    def product(self, coefficient: Fraction, atom: Expression) -> str:
        powers = atom.powers() if isinstance(atom, Product) else [(atom, 1)]
        written = r" \cdot ".join(self.write(part, ATOM) + (f"^{{{n}}}" if n > 1 else "") for part, n in powers)
        return written if coefficient == 1 else f"{self.number(coefficient)} {written}"

    def count(self, node: Count, around: int) -> str:  # noqa: ARG002
        return self.call(r"\operatorname{count}", node.formulas)

    def order(self, node: Order) -> str:
        if (absolute := node.absolute) is not None:
            return rf"\left|{self.write(absolute)}\right|"
        if (clipped := node.clipped) is not None:
            return self.call(r"\operatorname{clip}", map(as_number, clipped))
        if node.is_minimum or node.is_maximum:
            return self.call(r"\min" if node.is_minimum else r"\max", node.parts)
        if 2 * node.rank == len(node.parts) + 1:
            return self.call(r"\operatorname{median}", node.parts)
        return self.call(rf"\operatorname{{smallest}}_{{{node.rank}}}", node.parts)

    def call(self, function: str, arguments: Iterable[Expression]) -> str:
        return rf"{function}\left({', '.join(map(self.write, arguments))}\right)"

    def choice(self, node: Where) -> str:
        condition, then, otherwise = map(self.write, node.children)
        cases = rf"{then} & \text{{if }} {condition} \\ {otherwise} & \text{{otherwise}}"
        return rf"\begin{{cases}} {cases} \end{{cases}}"

    def bound(self, written: str, binding: int, around: int) -> str:
        return rf"\left({written}\right)" if binding < around else written
