"""polars: an expression over ``pl.col``, as Python source.

Exact: the same bits as the program on columns of Float64, and exact on integers as long as nothing overflows and there
are no fractions; ``integers=True`` clears comparisons of fractions. Null is missing. NaN is not: ``fill_nan(None)``
first. Dates must be of type ``Date`` or ``Datetime``: texts are an error. A formula gives true or false, and a number
that is missing is null.
"""

from fractions import Fraction

from nsr.data import COMPARISONS
from nsr.errors import InputError
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.python import NumpyWriter, literal, names_in
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, SUM, Moments
from nsr.program.expressions import Compare, Constant, Count, Order, Truth, Variable, Where
from nsr.program.kinds import Kind
from nsr.program.lowering import cleared, has_cells, order_cases
from nsr.program.program import Program
from nsr.program.times import EPOCH, Moment, duration_unit, point


@target("polars")
def polars_expression(program: Program, *, integers: bool = False, missing: bool | None = None) -> str:
    """Write an expression for ``select``, ``filter`` or ``with_columns``.

    Args:
        program: The program to write.
        integers: Clear comparisons of fractions, for columns of integers and decimals.
        missing: Whether cells may be null; by default if the program has conditions, texts, dates or the like.
    """
    expression = cleared(program.expression, integers=integers)
    missing = has_cells(expression) if missing is None else missing
    writer = PolarsWriter({name: _column(name) for name in program.inputs})
    writer.missing = missing
    if isinstance(expression, Constant):
        return f"pl.lit({writer.write(expression)})"
    if not missing or not expression.is_boolean or isinstance(expression, Truth | Missing):
        written = writer.write(expression)
    else:
        written = f"{writer.write(expression, ATOM)}.fill_null(False)"
    names_in(written, "polars")  # or it is too long or too deep
    return written


def _column(name: str) -> str:
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        raise InputError(f"{name!r} cannot be a name in polars, which reads it as a pattern for names")
    return f"pl.col({literal(name)})"


class PolarsWriter(NumpyWriter):
    """Expressions; a comparison with null is null, which ``&`` and ``|`` treat as SQL does."""

    missing = False
    truths = ("pl.lit(False)", "pl.lit(True)")

    def choice(self, node: Where) -> str:
        """Write a choice; where the condition is null, it is the second number."""
        condition, then, otherwise = map(self.write, node.children)
        return f"pl.when({condition}).then({then}).otherwise({otherwise})"

    def count(self, node: Count, around: int) -> str:
        """Write how many formulas hold; null does not."""
        filled = ".fill_null(False)" if self.missing else ""
        parts = [f"{self.write(formula, ATOM)}{filled}.cast(pl.Int64)" for formula in node.formulas]
        return parts[0] if len(parts) == 1 else self.bound(" + ".join(parts), SUM, around)

    def order(self, node: Order) -> str:
        """Write choices without a last one, because ``pl.max_horizontal`` leaves null out."""
        if (absolute := node.absolute) is not None:
            return f"{self.write(absolute, ATOM)}.abs()"
        cases = order_cases(node)
        middle = any(isinstance(inner, Count) for formula, _ in cases for inner in formula.walk())
        chosen = ""
        if middle and self.missing:  # its counts would treat null as less
            nulls = [f"{self.write(part, ATOM)}.is_null()" for part in node.parts if not isinstance(part, Constant)]
            chosen = f".when({' | '.join(nulls)}).then(None)"
        chosen += "".join(f".when({self.write(formula)}).then({self.write(part)})" for formula, part in cases)
        return f"pl{chosen}"

    def comparison(self, node: Compare) -> str:
        """Write a comparison; that of two limits, as in a median, is known."""
        match node:
            case Compare(operator, Constant(one), Constant(other)):
                return self.truths[bool(COMPARISONS[operator](one, other))]
        return super().comparison(node)

    def condition(self, node: Condition, around: int) -> str:
        """Write a condition."""
        column, negation = self.names[node.column.name], "" if node.holds else ".not_()"
        match node:
            case Flag():
                return f"{column}{negation}"
            case Missing(_, holds):
                return f"{column}.is_{'' if holds else 'not_'}null()"
            case OneOf(_, holds, (one,)):
                return self.bound(f"{column} {'==' if holds else '!='} {literal(one)}", SUM, around)
            case OneOf(_, _, texts):
                return f"{column}.is_in([{', '.join(map(literal, texts))}]){negation}"
        raise TypeError(f"cannot write {node!r}")

    def microseconds(self, node: Variable) -> str:
        """Write dates, times or durations as integers."""
        function = "total_microseconds()" if node.kind == Kind.DURATION else 'epoch("us")'
        return f"{self.names[node.name]}.dt.{function}"

    def moments(self, node: Moments) -> str | None:  # type: ignore[override]
        """Write a comparison of dates, times or durations, unless a column of numbers counts days: it may be floats."""
        if node.has_numbers:
            return None
        symbol = self.operators.get(node.operator, node.operator)
        left, right = (self.moment(side, node.of_points and not node.of_days) for side in node.sides)
        if node.of_days and not any(side.durations for side in node.sides):
            right += " + pl.duration(days=0)"  # an error for columns of texts, which would be compared as such
        return f"{left} {symbol} {right}"

    def moment(self, side: Moment, has_times: bool) -> str:
        """Write a point in time plus durations; dates as times if there are times of day."""
        parts = [] if side.point is None else [self.point(side.point, has_times)]
        parts += [self.duration(weight, column) for weight, column in side.durations]
        return " + ".join(parts) or "pl.duration(microseconds=0)"

    def point(self, value: Variable | int | None, has_times: bool) -> str:
        """Write a column of dates or times, or a constant."""
        if isinstance(value, Variable) and value.kind == Kind.TIMESTAMP:
            return self.in_microseconds(value)
        if isinstance(value, Variable):
            return self.names[value.name] + ('.cast(pl.Datetime("us"))' if has_times else "")
        found = point(value or 0) or EPOCH
        fields = [*found.timetuple()[:6], found.microsecond]
        shown = fields if has_times else fields[:3]
        return f"pl.{'datetime' if has_times else 'date'}({', '.join(map(str, shown))})"

    def in_microseconds(self, column: Variable) -> str:
        """Write a column of times or durations; beside one of milliseconds, polars would round the other."""
        return f'{self.names[column.name]}.dt.cast_time_unit("us")'

    def duration(self, weight: Fraction, column: Variable | None) -> str:
        """Write a constant, or a multiple of a column of durations."""
        if column is not None:
            return self.in_microseconds(column) if weight == 1 else f"{weight} * {self.in_microseconds(column)}"
        unit, times = duration_unit(weight)
        return f"pl.duration({unit}s={times})"
