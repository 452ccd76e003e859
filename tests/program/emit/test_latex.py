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
