"""LaTeX: the output is parsed back into the same program."""

from fractions import Fraction

import pytest

from nsr.program import Compare, Program, Truth, Variable, Where
from nsr.program.emit import emit
from tests.program.emit.latex_reader import read
from tests.program.emit.samples import programs

x1, x2, x3, x4, x5 = (Variable(f"x{position}") for position in range(1, 6))


def test_the_output_looks_handwritten():
    assert emit(Program(Where(Compare(">", x1, x2), x5 + 4, x4 - x3)), "latex") == (
        r"\begin{cases} x_{5} + 4 & \text{if } x_{1} > x_{2} \\ x_{4} - x_{3} & \text{otherwise} \end{cases}"
    )
    assert emit(Program(Compare(">=", x1 * 3, Variable("limit") + 37.5)), "latex") == (
        r"\mathrm{limit} \leq 3 x_{1} - 37.5"
    )
    assert emit(Program(Truth(True)), "latex") == r"\top"
    assert emit(Program(x1 * Fraction(1, 3)), "latex") == r"\frac{1}{3} x_{1}"


@pytest.mark.usefixtures("unchecked")
def test_every_program_can_be_read_back():
    for program in programs():
        assert Program(read(emit(program, "latex")), program.names) == program


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (r"\input{/etc/passwd}", r"\text{\textbackslash{}input\{/etc/passwd\}}"),
        ("100 % of $", r"\text{100 \% of \$}"),
        ("a_b^c~d&e#f", r"\text{a\_b\textasciicircum{}c\textasciitilde{}d\&e\#f}"),
        ("a--b", r"\text{a{-}{-}b}"),
        ("line\nend", r"\text{line\textbackslash{}x0aend}"),
        ("a", "a"),
        ("größe", r"\text{größe}"),
    ],
)
def test_names_never_become_code(name, written):
    assert emit(Program(Variable(name)), "latex") == written


KINDS = {"c": "text", "f": "boolean", "d": "date", "e": "date", "t": "timestamp", "u": "duration", "v": "duration"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("abs(a - b)", r"\left|a - b\right|"),
        ("clip(a, 0, 9)", r"\operatorname{clip}\left(a, 0, 9\right)"),
        ("min(a, b)", r"\min\left(a, b\right)"),
        ("max(a, b)", r"\max\left(a, b\right)"),
        ("median(a, b, x)", r"\operatorname{median}\left(a, b, x\right)"),
        ("smallest(2, a, b, x, y)", r"\operatorname{smallest}_{2}\left(a, b, x, y\right)"),
        ("count(a > b)", r"\operatorname{count}\left(a > b\right)"),
        ("a*a*b", r"a^{2} \cdot b"),
        ("3*(a + b)*x", r"3 x \cdot \left(a + b\right)"),
        ("f", "f"),
        ("not f", r"\lnot f"),
        ("a is missing", r"a \text{ is missing}"),
        ("a is present", r"a \text{ is present}"),
        ("c = 'x'", r"c = \text{{'}x{'}}"),
        ("c != 'x'", r"c \neq \text{{'}x{'}}"),
        ("c in ('x', 'y')", r"c \in \{\text{{'}x{'}}, \text{{'}y{'}}\}"),
        ("c not in ('x', 'y')", r"c \notin \{\text{{'}x{'}}, \text{{'}y{'}}\}"),
        ("d > 2024-01-31", r"d > \text{2024{-}01{-}31}"),
        ("d > 1970-01-01", r"d > \text{1970{-}01{-}01}"),
        ("d > e + 1 day", r"d > e + 1\,\text{day}"),
        ("d > e + 30 days", r"d > e + 30\,\text{days}"),
        ("d > e + 2*n hours", r"d > e + 2 n\,\text{hours}"),
        ("2*u > v", "2 u > v"),
        ("u > 0 days", "u > 0"),
        ("2*d > t", "2 d > t"),
        ("a > 1 and (c = 'x' or b > 1)", r"a > 1 \land \left(c = \text{{'}x{'}} \lor b > 1\right)"),
    ],
)
def test_functions_and_cells_as_they_are_written(text, written):
    assert Program.parse(text, kinds=KINDS).emit("latex") == written
