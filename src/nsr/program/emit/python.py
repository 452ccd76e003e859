"""Python: a function of numbers, or of numpy arrays.

Exact: the same bits as the program on floats and float64 arrays. Programs without fractions are also exact on Python
integers of any size, and on int64 arrays as long as no sum or product overflows. With fractions, Python divides and so
computes in floats; ``integers=True`` clears the comparisons of fractions, for inputs that are integers. Python keeps
integer constants as integers: if one of them is not a float, or if constants alone add up to more than 2^53, the
answers on floats may differ. So may a minimum, maximum or median of a NaN, such as inf - inf.
"""

from fractions import Fraction
from functools import reduce

from nsr.program import text
from nsr.program.emit.exactness import numbers_in, short, warn_about_integer_constants, warn_inexact
from nsr.program.emit.names import function_name, identifiers, printable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, OR, SUM, Writer
from nsr.program.expressions import Count, Expression, Order, Where, as_number
from nsr.program.integers import denominator, with_integer_coefficients
from nsr.program.lowering import as_choices
from nsr.program.program import Program
from nsr.program.values import INT64

FUNCTIONS = ("abs", "int", "max", "min", "sorted")
"""Built-in functions that emitted programs call."""


@target("python")
def python_source(program: Program, *, name: str = "rule", numpy: bool = False, integers: bool = False) -> str:
    """Write a function whose arguments are ``program.inputs``.

    Args:
        program: The program to write.
        name: Name of the function.
        numpy: Write a function of arrays rather than of single numbers.
        integers: Write a function of integers only, with comparisons cleared of fractions.
    """
    expression = with_integer_coefficients(program.expression) if integers else program.expression
    _warn(expression, numpy, integers)
    taken = [function_name(name), *(["np"] if numpy else FUNCTIONS)]
    names = identifiers(program.inputs, taken=taken)
    number = "np.ndarray" if numpy else "int" if integers else "float"
    divided = integers and not expression.is_boolean and denominator(expression) > 1
    answer = number if numpy else "bool" if expression.is_boolean else "float" if divided else number
    arguments = ", ".join(f"{argument}: {number}" for argument in names.values())
    body = (NumpyWriter if numpy else PythonWriter)(names).write(expression)
    lines = ["import numpy as np", "", ""] if numpy else []
    lines += [f"def {name}({arguments}) -> {answer}:", *_docstring(program, names), f"    return {body}", ""]
    return "\n".join(lines)


def _docstring(program: Program, names: dict[str, str]) -> list[str]:
    renamed = [f"    {argument}: {_quoted(repr(name))}" for name, argument in names.items() if argument != name]
    rule = f'    """{_quoted(str(program))}'
    return [rule, "", *renamed, '    """'] if renamed else [f'{rule}"""']


def _quoted(words: str) -> str:
    return printable(words.replace("\\", "\\\\").replace('"', '\\"'))


def _warn(expression: Expression, numpy: bool, integers: bool) -> None:
    numbers = [value.numerator for value in numbers_in(expression)]
    beyond = next((value for value in numbers if abs(value) > INT64), None)
    if numpy and beyond is not None:
        warn_inexact(f"{short(beyond)} does not fit int64: numpy makes it a float or an object")
    elif not integers:
        warn_about_integer_constants(expression, "Python")


class PythonWriter(Writer):
    """Single numbers."""

    def number(self, value: Fraction) -> str:
        """Write a constant."""
        if max(value.numerator, value.denominator) > text.LARGEST_DECIMAL:
            return hex(value.numerator) + (f" / {hex(value.denominator)}" if value.denominator > 1 else "")
        return text.number(value).replace("/", " / ")

    def choice(self, node: Where) -> str:
        """Write a choice."""
        return f"{self.write(node.then, OR)} if {self.write(node.condition, OR)} else {self.write(node.otherwise)}"

    def count(self, node: Count, around: int) -> str:
        """Write how many formulas hold: Python adds True as 1."""
        if len(node.formulas) == 1:
            return f"int({self.write(node.formulas[0])})"
        return self.bound(" + ".join(self.write(formula, ATOM) for formula in node.formulas), SUM, around)

    def order(self, node: Order) -> str:
        """Write an order statistic with Python's functions."""
        if (absolute := node.absolute) is not None:
            return f"abs({self.write(absolute)})"
        if (clipped := node.clipped) is not None:
            number, low, high = (self.write(as_number(part)) for part in clipped)
            return f"min(max({number}, {low}), {high})"
        parts = ", ".join(map(self.write, node.parts))
        if node.is_minimum or node.is_maximum:
            return f"{'min' if node.is_minimum else 'max'}({parts})"
        return f"sorted(({parts}))[{node.rank - 1}]"


class NumpyWriter(PythonWriter):
    """Arrays."""

    both, either = " & ", " | "
    inside_both = inside_either = ATOM  # & and | bind more tightly than comparisons
    choice_binds = ATOM

    def choice(self, node: Where) -> str:
        """Write a choice."""
        return f"np.where({', '.join(self.write(part) for part in node.children)})"

    def count(self, node: Count, around: int) -> str:
        """Write how many formulas hold: numpy's sum of two booleans is a boolean."""
        return self.write(as_choices(node), around)

    def order(self, node: Order) -> str:
        """Write an order statistic with numpy's functions."""
        if (absolute := node.absolute) is not None:
            return f"np.abs({self.write(absolute)})"
        if (clipped := node.clipped) is not None:
            return f"np.clip({', '.join(self.write(as_number(part)) for part in clipped)})"
        parts = [self.write(part) for part in node.parts]
        if node.is_minimum or node.is_maximum:
            function = "np.minimum" if node.is_minimum else "np.maximum"
            return reduce(lambda written, part: f"{function}({written}, {part})", parts)
        return f"np.sort(np.broadcast_arrays({', '.join(parts)}), axis=0)[{node.rank - 1}]"
