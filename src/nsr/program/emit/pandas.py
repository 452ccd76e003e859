"""pandas: a function of a DataFrame that returns a Series with the same index.

Exact as the numpy functions of target ``python`` are. Columns may be of numpy's types, nullable, Arrow's or of Python
objects; None, NaN, NaT and NA are missing. A formula gives True or False for each row, and a number gives NA where it
is missing. Times with a zone are converted to UTC. Dates may also be texts: such as 2024-12-31, or as the option
``date_formats`` says. Other texts are an error of pandas, which would otherwise guess the order of day and month.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.names import function_name, identifiers
from nsr.program.emit.python import NumpyWriter, docstring, literal, names_in
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, Moments
from nsr.program.expressions import Compare, Expression, Truth, Variable
from nsr.program.kinds import Kind
from nsr.program.lowering import cleared, has_cells, presence, with_presence
from nsr.program.program import Program
from nsr.program.times import Moment, duration_unit, point_text

READ = {
    Kind.BOOLEAN: "{}.fillna(False).astype(bool).to_numpy()",
    Kind.TEXT: "{}",
    Kind.DURATION: 'pd.to_timedelta({}).to_numpy("timedelta64[us]")',
}
"""How a column becomes an array; what stands in the place of missing cells does not matter. Texts stay a Series."""
ISO = "ISO8601"
"""The format of pandas for 2024-12-31, with or without a time of day."""
UNITS = {"day": "D", "hour": "h", "minute": "m", "second": "s", "microsecond": "us"}


@target("pandas")
def pandas_source(
    program: Program,
    *,
    name: str = "rule",
    integers: bool = False,
    missing: bool | None = None,
    date_formats: Mapping[str, str] | None = None,
) -> str:
    """Write a function of a DataFrame.

    Args:
        program: The program to write.
        name: Name of the function.
        integers: Clear comparisons of fractions, for columns of integers and of ``Decimal``.
        missing: Whether cells may be missing; by default if the program has conditions, texts, dates or the like.
        date_formats: For columns of dates that may be texts, their format in ``strptime``, if not as 2024-12-31.
    """
    expression = cleared(program.expression, integers=integers)
    missing = has_cells(expression) if missing is None else missing
    writer = PandasWriter.of(program.inputs, name, date_formats)
    body, needed = writer.write(with_presence(expression) if missing else expression), ""
    if missing and not expression.is_boolean and (shown := presence(expression)) != Truth(True):
        needed = f".convert_dtypes().where({writer.write(shown)})"
    lines, used = writer.lines(f"pd.Series({body}, index=df.index){needed}", expression.kinds, missing)
    imports = ["import numpy as np"] if "np" in used else []
    definition = f"def {name}(df: pd.DataFrame) -> pd.Series:"
    described = docstring(program, writer.names)
    return "\n".join([*imports, "import pandas as pd", "", "", definition, *described, *lines, ""])


@dataclass
class PandasWriter(NumpyWriter):
    """Columns of a DataFrame as arrays."""

    present: Mapping[str, str]
    """For each column, the name of the array that says which cells are present."""
    formats: Mapping[str, str]
    """How dates are written, by column."""

    @classmethod
    def of(cls, columns: Sequence[str], function: str, formats: Mapping[str, str] | None) -> "PandasWriter":
        """Choose the names in a function of some columns."""
        names = identifiers(columns, taken=[function_name(function), "df", "np", "pd"])
        present = identifiers((f"has_{written}" for written in names.values()), taken=[function, *names.values(), "df"])
        return cls(names, dict(zip(names, present.values(), strict=True)), formats or {})

    def lines(self, answer: str, kinds: Mapping[str, Kind], missing: bool) -> tuple[list[str], set[str]]:
        """The body of the function that returns an answer, and the names that the answer uses."""
        used = names_in(answer, "pandas")
        read = [line for column in self.names for line in self.reading(column, kinds[column], missing, used)]
        return [*read, f"    return {answer}"], used

    def reading(self, name: str, kind: Kind, missing: bool, used: Set[str]) -> list[str]:
        """The lines that read a column, as far as the answer uses its names."""
        cells = f"df[{literal(name)}]"
        number = f"{cells}{'.fillna(0)' if missing else ''}.to_numpy()"
        read = number if kind == Kind.NUMBER else READ[kind].format(cells) if kind in READ else self.dates(name, cells)
        lines = [f"    {self.names[name]} = {read}"] if self.names[name] in used else []
        if self.present[name] in used:
            lines.append(f"    {self.present[name]} = {cells}.notna().to_numpy()")
        return lines

    def dates(self, name: str, cells: str) -> str:
        """Write how a column of dates or times, or of texts that are, becomes an array."""
        form = self.formats.get(name, ISO)
        if form == "%Y%m%d":  # read_csv gives integers, or floats if cells are missing
            cells += '.convert_dtypes().astype("string").str.replace("-", "")'
        elif form.endswith(" %H:%M:%S"):  # also without seconds
            cells += r'.replace(r"( \d+:\d+)$", r"\1:00", regex=True)'
        return f'pd.to_datetime({cells}, format={literal(form)}).to_numpy("datetime64[us]")'

    def comparison(self, node: Compare) -> str:
        """Write a comparison; texts are compared as Python objects, whatever the types of their columns."""
        if not node.of_texts:
            return super().comparison(node)
        left, right = (f'{self.write(side)}.astype(object).fillna("")' for side in node.children)
        return f"({left} {self.operators.get(node.operator, node.operator)} {right}).to_numpy()"

    def condition(self, node: Condition, around: int) -> str:  # noqa: ARG002
        """Write a condition."""
        sign = "" if node.holds else "~"
        match node:
            case Flag(column, _):
                return f"{sign}{self.names[column.name]}"
            case Missing(column, holds):
                return f"{'~' if holds else ''}{self.present[column.name]}"
            case OneOf(column, _, texts):
                return f"{sign}{self.names[column.name]}.isin([{', '.join(map(literal, texts))}]).to_numpy()"
        raise TypeError(f"cannot write {node!r}")

    def negation(self, part: Expression, around: int) -> str:  # noqa: ARG002
        """Write a negation."""
        return f"~{self.write(part, ATOM)}"

    def microseconds(self, node: Variable) -> str:
        """Write dates, times or durations as integers."""
        return f'{self.names[node.name]}.astype("int64")'

    def moments(self, node: Moments) -> str | None:  # type: ignore[override]
        """Write a comparison of dates, times or durations, unless a column of numbers counts days: it may be floats."""
        if node.has_numbers:
            return None
        symbol = self.operators.get(node.operator, node.operator)
        return f"{self.moment(node.left)} {symbol} {self.moment(node.right)}"

    def moment(self, side: Moment) -> str:
        """Write a point in time plus durations."""
        parts = []
        if isinstance(side.point, Variable):
            parts.append(self.names[side.point.name])
        elif side.point is not None:
            parts.append(f'np.datetime64("{point_text(side.point)}")')
        for weight, column in side.durations:
            unit, times = duration_unit(weight)
            constant = f'np.timedelta64({times}, "{UNITS[unit]}")'
            parts.append(constant if column is None else self.product(weight, Variable(column.name)))
        return " + ".join(parts) or 'np.timedelta64(0, "us")'
