"""Python: a function of numbers, or of numpy arrays.

Exact: the same bits as the program on floats and float64 arrays. Programs without fractions are also exact on Python
integers of any size, and on int64 arrays as long as no sum or product overflows. With fractions, Python divides and so
computes in floats; ``integers=True`` clears the comparisons of fractions, for inputs that are integers. Python keeps
integer constants as integers: if one of them is not a float, or if constants alone add up to more than 2^53, the
answers on floats may differ. So may a minimum, maximum or median of a NaN, such as inf - inf.

Texts are ``str``, truth values ``bool``, dates ``date``, times ``datetime`` without a zone, durations ``timedelta``.
A missing cell is None. Dates are subtracted from each other rather than moved, so that 9999-12-31 causes no overflow.
"""

import ast
from collections.abc import Mapping, Set
from fractions import Fraction
from functools import reduce

from nsr.errors import InputError
from nsr.program import text
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.exactness import numbers_in, short, warn_about_integer_constants, warn_inexact
from nsr.program.emit.names import function_name, identifiers, printable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, COMPARE, OR, SUM, Moments, Writer
from nsr.program.expressions import Count, Expression, Order, Truth, Variable, Where, as_number
from nsr.program.integers import denominator
from nsr.program.kinds import Kind
from nsr.program.lowering import as_choices, cleared, has_cells, presence, with_presence
from nsr.program.program import Program
from nsr.program.times import EPOCH, Moment, duration_unit, point
from nsr.program.values import INT64

FUNCTIONS = ("abs", "int", "max", "min", "sorted")
"""Built-in functions that emitted programs call."""
TIMES = ("date", "datetime", "time", "timedelta")
"""What emitted programs import for dates, times and durations."""
TYPES = {
    Kind.BOOLEAN: "bool",
    Kind.TEXT: "str",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "datetime",
    Kind.DURATION: "timedelta",
}


@target("python")
def python_source(
    program: Program, *, name: str = "rule", numpy: bool = False, integers: bool = False, missing: bool | None = None
) -> str:
    """Write a function whose arguments are ``program.inputs``.

    Args:
        program: The program to write.
        name: Name of the function.
        numpy: Write a function of arrays rather than of single numbers.
        integers: Write a function of integers only, with comparisons cleared of fractions.
        missing: Whether arguments may be None; by default if the program has conditions, texts, dates or the like.
    """
    expression = cleared(program.expression, integers=integers)
    _warn(expression, numpy, integers)
    cells = has_cells(expression)
    missing = cells if missing is None else missing
    if numpy and (cells or missing):
        raise InputError("arrays of numpy have numbers only: target 'pandas' has texts, dates and missing cells")
    taken = [function_name(name), *(["np"] if numpy else FUNCTIONS), *(("bool", *TIMES) if cells else ())]
    names = identifiers(program.inputs, taken=taken)
    number = "np.ndarray" if numpy else "int" if integers else "float"
    writer = (NumpyWriter if numpy else PythonWriter)(names)
    body = _guarded(expression, writer) if missing else writer.write(expression)
    arguments = ", ".join(
        f"{names[column]}: {TYPES.get(kind, number)}{' | None' if missing else ''}"
        for column, kind in _kinds(program).items()
    )
    answer = _answer_type(expression, number, integers) + _can_be_none(expression, missing)
    definition = f"def {name}({arguments}) -> {answer}:"
    used = names_in(f"{definition} return {body}", "python")
    lines = ["import numpy as np", "", ""] if numpy else _imports(used) if cells else []
    return "\n".join([*lines, definition, *docstring(program, names), f"    return {body}", ""])


def names_in(source: str, target_name: str) -> set[str]:
    """The names in a text, or an InputError if it is more than Python can compile.

    That is so for thousands of terms in a sum, and for hundreds of nested parentheses.
    """
    try:
        tree = ast.parse(source)
        compile(tree, "<rule>", "exec")
        return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    except (RecursionError, MemoryError, SyntaxError) as error:
        reason = f"Python cannot compile it ({getattr(error, 'msg', None) or error or type(error).__name__})"
        raise InputError(f"the program is too long or nested too deep for target {target_name!r}: {reason}") from None


def _kinds(program: Program) -> dict[str, Kind]:
    """The kinds of the columns, in the order of the arguments."""
    kinds = program.expression.kinds
    return {name: kinds[name] for name in program.inputs}


def _answer_type(expression: Expression, number: str, integers: bool) -> str:
    if number == "np.ndarray":
        return number
    divided = integers and not expression.is_boolean and denominator(expression) > 1
    return "bool" if expression.is_boolean else "float" if divided else number


def _can_be_none(expression: Expression, missing: bool) -> str:
    return " | None" if missing and not expression.is_boolean and presence(expression) != Truth(True) else ""


def _guarded(expression: Expression, writer: "PythonWriter") -> str:
    """The body of a function of cells that may be missing; a number that is missing is None."""
    if expression.is_boolean or (isinstance(expression, Variable) and expression.kind == Kind.NUMBER):
        return writer.write(with_presence(expression))
    if isinstance(expression, Where):
        then, otherwise = _guarded(expression.then, writer), _guarded(expression.otherwise, writer)
        bracketed = f"({then})" if " if " in then else then
        return f"{bracketed} if {writer.write(with_presence(expression.condition), OR)} else {otherwise}"
    body, needed = with_presence(expression), presence(expression)
    if needed == Truth(True):
        return writer.write(body)
    return f"{writer.write(body, OR)} if {writer.write(needed, OR)} else None"


def _imports(names: Set[str]) -> list[str]:
    used = [word for word in TIMES if word in names]
    return [f"from datetime import {', '.join(used)}", "", ""] if used else []


def docstring(program: Program, names: Mapping[str, str]) -> list[str]:
    """Write the docstring: the program, and the columns that were renamed."""
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


def literal(words: str) -> str:
    """Write a text in quotes, in ASCII where it is not printable."""
    return repr(words) if words.isprintable() else ascii(words)


class PythonWriter(Writer):
    """Single cells."""

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

    def condition(self, node: Condition, around: int) -> str:
        """Write a condition; the empty cell of a text or truth value gives False where it holds."""
        column = self.names[node.column.name]
        match node:
            case Flag(_, holds):
                return f"bool({column})" if holds else self.bound(f"not {column}", COMPARE, around)
            case Missing(_, holds):
                return self.bound(f"{column} is {'None' if holds else 'not None'}", COMPARE, around)
            case OneOf(_, holds, (one,)):
                return self.bound(f"{column} {'==' if holds else '!='} {literal(one)}", COMPARE, around)
            case OneOf(_, holds, texts):
                written = ", ".join(map(literal, texts))
                return self.bound(f"{column} {'in' if holds else 'not in'} ({written})", COMPARE, around)
        raise TypeError(f"cannot write {node!r}")

    def negation(self, part: Expression, around: int) -> str:
        """Write a negation."""
        return self.bound(f"not {self.write(part, COMPARE)}", COMPARE, around)

    def microseconds(self, node: Variable) -> str:
        """Write a date, a time or a duration as an integer."""
        start = {Kind.DATE: " - date(1970, 1, 1)", Kind.TIMESTAMP: " - datetime(1970, 1, 1)"}.get(node.kind, "")
        column = self.names[node.name]
        return (
            f"(({column}{start}) // timedelta(microseconds=1))" if start else f"({column} // timedelta(microseconds=1))"
        )

    def moments(self, node: Moments) -> str:
        """Write a comparison of dates, times or durations."""
        symbol = self.operators.get(node.operator, node.operator)
        left, right = (self.durations(side) for side in node.sides)
        if node.of_points:
            one, other = (self.point(side.point, node.has_times) for side in node.sides)
            if not left and not right:
                return f"{one} {symbol} {other}"
            left = f"{one} - {other}{' + ' if left else ''}{left}"
        return f"{left or 'timedelta(0)'} {symbol} {right or 'timedelta(0)'}"

    def point(self, value: Variable | int | None, has_times: bool) -> str:
        """Write a column of dates or times, or a constant; all of them as times if one of them is."""
        if isinstance(value, Variable):
            column = self.names[value.name]
            return f"datetime.combine({column}, time.min)" if has_times and value.kind == Kind.DATE else column
        found = point(value or 0) or EPOCH
        fields = [*found.timetuple()[:6], found.microsecond]
        while len(fields) > 3 and not fields[-1]:
            fields.pop()
        return f"{'datetime' if has_times else 'date'}({', '.join(map(str, fields))})"

    def durations(self, side: Moment) -> str:
        """Write a sum of durations."""
        return " + ".join(self.duration(weight, column) for weight, column in side.durations)

    def duration(self, weight: Fraction, column: Variable | None) -> str:
        """Write a duration: a constant, a multiple of a column of durations, or so many units as a column says."""
        if column is not None and column.kind == Kind.DURATION:
            return self.product(weight, Variable(column.name))
        unit, times = duration_unit(weight)
        amount = self.number(times) if column is None else self.product(times, column)
        return f"timedelta({unit}s={amount})"

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
