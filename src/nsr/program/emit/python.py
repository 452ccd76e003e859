"""Python: the source of a function of numbers, or of numpy arrays.

Exact: the bits of the program on floats and float64 arrays; on Python integers of any size, and on int64 arrays as
long as no sum leaves int64, where the program has no fractions. With fractions Python divides to floats;
``integers=True`` frees at least the comparisons of them, for inputs that are integers. Python keeps whole constants
whole: where no float is one of them, or where constants alone add up beyond 2^53, floats may be answered differently.
"""

from fractions import Fraction

from nsr.program import text
from nsr.program.emit.exactness import short, warn_inexact, warn_of_whole_constants, written
from nsr.program.emit.names import function_name, identifiers, printable
from nsr.program.emit.writer import ATOM, OR, Writer
from nsr.program.expressions import Expression, Where
from nsr.program.program import Program
from nsr.program.values import INT64
from nsr.program.whole import denominator, whole

LITERAL = 10**4000
"""Python reads no longer decimals, but any hexadecimal."""


def python_source(program: Program, *, name: str = "rule", numpy: bool = False, integers: bool = False) -> str:
    """The source of a function of ``program.inputs``.

    Args:
        program: What to write.
        name: The name of the function.
        numpy: Of arrays rather than of single numbers.
        integers: Of integers only: comparisons are multiplied out until they hold no fraction.
    """
    expression = whole(program.expression) if integers else program.expression
    _warn(expression, numpy, integers)
    taken = [function_name(name), *(["np"] if numpy else [])]
    names = identifiers(program.inputs, taken=taken)
    number = "np.ndarray" if numpy else "int" if integers else "float"
    divided = integers and not expression.is_truth and denominator(expression) > 1
    answer = number if numpy else "bool" if expression.is_truth else "float" if divided else number
    arguments = ", ".join(f"{own}: {number}" for own in names.values())
    body = (NumpyWriter if numpy else PythonWriter)(names).write(expression)
    lines = ["import numpy as np", "", ""] if numpy else []
    lines += [f"def {name}({arguments}) -> {answer}:", *_docstring(program, names), f"    return {body}", ""]
    return "\n".join(lines)


def _docstring(program: Program, names: dict[str, str]) -> list[str]:
    renamed = [f"    {own}: {_quoted(repr(name))}" for name, own in names.items() if own != name]
    rule = f'    """{_quoted(str(program))}'
    return [rule, "", *renamed, '    """'] if renamed else [f'{rule}"""']


def _quoted(words: str) -> str:
    return printable(words.replace("\\", "\\\\").replace('"', '\\"'))


def _warn(expression: Expression, numpy: bool, integers: bool) -> None:
    numbers = [value.numerator for value in written(expression)]
    beyond = next((value for value in numbers if abs(value) > INT64), None)
    if numpy and beyond is not None:
        warn_inexact(f"{short(beyond)} does not fit int64: numpy takes it as a float or an object")
    elif not integers:
        warn_of_whole_constants(expression, "Python")


class PythonWriter(Writer):
    """Single numbers."""

    def number(self, value: Fraction) -> str:
        """A constant."""
        if max(value.numerator, value.denominator) > LITERAL:
            return hex(value.numerator) + (f" / {hex(value.denominator)}" if value.denominator > 1 else "")
        return text.number(value).replace("/", " / ")

    def choice(self, node: Where) -> str:
        """One number or another."""
        return f"{self.write(node.then, OR)} if {self.write(node.condition, OR)} else {self.write(node.otherwise)}"


class NumpyWriter(PythonWriter):
    """Arrays."""

    both, either = " & ", " | "
    inside_both = inside_either = ATOM  # & and | bind more tightly than comparisons
    choice_binds = ATOM

    def choice(self, node: Where) -> str:
        """One number or another."""
        return f"np.where({', '.join(self.write(part) for part in node.children)})"
