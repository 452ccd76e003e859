"""pandera: the source of a ``DataFrameSchema`` that checks a rule on all rows. Exact as the target ``pandas`` is."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from nsr.program.emit.checks import CheckOptions, check_options, rule_text, size_of_rounding
from nsr.program.emit.pandas import PandasWriter, pandas_source
from nsr.program.emit.python import literal
from nsr.program.emit.rounding import RELATIVE
from nsr.program.emit.targets import target
from nsr.program.expressions import Expression
from nsr.program.lowering import cleared, with_presence
from nsr.program.program import Program

EQUAL = """

def {name}_holds(df: pd.DataFrame) -> pd.Series:
    given, expected = df[{column}], {expected}
    known = given.notna() & expected.notna()
    equal = given.astype(object).where(known, None) == expected.astype(object).where(known, None)
    return (known & equal) | (given.isna() & expected.isna())
"""

CLOSE = """

def {name}_size(df: pd.DataFrame) -> pd.Series:
    \"\"\"How large the terms are: floats are off in proportion to that.\"\"\"
{lines}


def {name}_holds(df: pd.DataFrame) -> pd.Series:
    given, expected = df[{column}], {name}(df)
    known = given.notna() & expected.notna()
    number = pd.to_numeric(given.where(known, 0), errors="coerce").astype("float64")
    off = (number - expected.where(known, 0).astype("float64")).abs()
    close = off <= {relative} * {name}_size(df).astype("float64")
    return (known & close) | (given.isna() & expected.isna())
"""

SCHEMA = """

schema = pa.DataFrameSchema(
    checks=pa.Check({check}, name={name}, error={error}, ignore_na=False),
)
"""


@target("pandera")
def pandera_schema(
    program: Program,
    *,
    name: str = "rule",
    date_formats: Mapping[str, str] | None = None,
    **options: Unpack[CheckOptions],
) -> str:
    """Write a module with ``schema``, which can be extended by columns, and the function that it calls.

    Args:
        program: The rule.
        name: Name of the function and of the check.
        date_formats: As for the target ``pandas``.
        options: See ``CheckOptions``; ``integers`` is also for columns of ``Decimal``.
    """
    column, classes = options.get("column"), options.get("classes")
    check_options(program, column, classes)
    source = pandas_source(
        program, name=name, integers=options.get("integers", False), missing=True, date_formats=date_formats
    )
    source = source.rstrip("\n") + "\n"
    source = source.replace("import pandas as pd\n", "import pandas as pd\nimport pandera.pandas as pa\n", 1)
    check = name if column is None else f"{name}_holds"
    if column is not None and (size := _size(program, options)) is not None:
        writer = PandasWriter.of(size.variables, f"{name}_size", date_formats)
        written = f"pd.Series({writer.write(with_presence(size))}, index=df.index)"
        lines, used = writer.lines(written, size.kinds, missing=True)
        imports = "" if "np" not in used or source.startswith("import numpy") else "import numpy as np\n"
        close = CLOSE.format(name=name, column=literal(column), lines="\n".join(lines), relative=RELATIVE)
        source = f"{imports}{source}{close}"
    elif column is not None:
        expected = f"{name}(df)" if classes is None else f"{name}(df).map({_classes(program, classes)})"
        source += EQUAL.format(name=name, column=literal(column), expected=expected)
    return source + SCHEMA.format(check=check, name=literal(name), error=literal(rule_text(program, column)))


def _size(program: Program, options: CheckOptions) -> Expression | None:
    return size_of_rounding(cleared(program.expression, integers=options.get("integers", False)), **options)


def _classes(program: Program, classes: Sequence[Any]) -> str:
    numbers = (False, True) if program.expression.is_boolean else range(len(classes))
    plain = [each.item() if hasattr(each, "item") else each for each in classes]
    return f"{{{', '.join(f'{number}: {each!r}' for number, each in zip(numbers, plain, strict=True))}}}"
