r"""LaTeX: a formula for readers, with ``\begin{cases}`` and ``\text`` from the package amsmath.

Exact everywhere: numbers are written in full, as terminating decimals or as fractions. A sum of dates that is neither a
date nor a duration is one of microseconds.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import ClassVar

from nsr.program import text
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.names import printable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, COMPARE, Moments, Writer
from nsr.program.expressions import Count, Expression, Order, Product, Variable, Where, as_number
from nsr.program.kinds import Kind
from nsr.program.program import Program
from nsr.program.times import Moment, duration_unit, point_text

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
    return _words(name)


def _words(words: str) -> str:
    return rf"\text{{{''.join(SPECIAL.get(letter, letter) for letter in printable(words))}}}"


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

    def condition(self, node: Condition, around: int) -> str:
        column = self.names[node.column.name]
        match node:
            case Flag(_, holds):
                return column if holds else rf"\lnot {column}"
            case Missing(_, holds):
                return self.bound(rf"{column} \text{{ is {'missing' if holds else 'present'}}}", COMPARE, around)
            case OneOf(_, holds, (one,)):
                symbol = "=" if holds else r"\neq"
                return self.bound(f"{column} {symbol} {_words(text.quoted(one))}", COMPARE, around)
            case OneOf(_, holds, texts):
                symbol, among = r"\in" if holds else r"\notin", ", ".join(_words(text.quoted(each)) for each in texts)
                return self.bound(rf"{column} {symbol} \{{{among}\}}", COMPARE, around)
        raise TypeError(f"cannot write {node!r}")

    def microseconds(self, node: Variable) -> str:
        return self.names[node.name]

    def moments(self, node: Moments) -> str:
        symbol = self.operators.get(node.operator, node.operator)
        return f"{self.moment(node.left)} {symbol} {self.moment(node.right)}"

    def moment(self, side: Moment) -> str:
        parts = [] if side.point is None else [self.point(side.point)]
        parts += [self.duration(weight, column) for weight, column in side.durations]
        return " + ".join(parts) or "0"

    def point(self, value: Variable | int) -> str:
        return self.names[value.name] if isinstance(value, Variable) else _words(point_text(value) or "")

    def duration(self, weight: Fraction, column: Variable | None) -> str:
        if column is not None and column.kind == Kind.DURATION:
            return self.product(weight, column)
        unit, times = duration_unit(weight)
        amount = self.number(times) if column is None else self.product(times, column)
        return rf"{amount}\,\text{{{unit if amount == '1' else f'{unit}s'}}}"

    def bound(self, written: str, binding: int, around: int) -> str:
        return rf"\left({written}\right)" if binding < around else written
