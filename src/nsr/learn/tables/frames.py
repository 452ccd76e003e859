"""Tables that are already in memory: pandas, polars and Arrow."""

from typing import Any

from nsr.errors import InputError, needs_extra
from nsr.learn.tables.engine import Engine
from nsr.learn.tables.source import Source, check_names
from nsr.learn.tables.text import sql_name


def data_frame(engine: Engine, table: Any) -> Source:
    """A copy of a pandas, polars or Arrow table, or of any object with the Arrow stream interface."""
    rows = _arrow(table)
    names = check_names(engine.name, rows.column_names)
    renamed = rows.rename_columns([f"c{place}" for place in range(len(names))])
    engine.connection.register("nsr_given", renamed)
    engine.execute("CREATE TABLE nsr_table AS SELECT * FROM nsr_given")
    engine.connection.unregister("nsr_given")
    described = engine.rows("DESCRIBE nsr_table")
    selected = ", ".join(sql_name(row[0]) for row in described)
    return Source(relation=f"(SELECT {selected} FROM nsr_table)", names=names, types=tuple(row[1] for row in described))


def _arrow(table: Any) -> Any:
    with needs_extra("learn"):
        import pandas as pd
        import pyarrow as arrow
    if isinstance(table, pd.DataFrame):
        columns = [_pandas_column(arrow, table.iloc[:, place]) for place in range(table.shape[1])]
        return arrow.table(columns, names=[str(name) for name in table.columns])
    if hasattr(table, "to_arrow"):  # polars
        return table.to_arrow()
    if hasattr(table, "__arrow_c_stream__"):
        return arrow.table(table)
    given = f"{type(table).__module__}.{type(table).__name__}"
    raise InputError(f"a table must be a path, or a pandas, polars or Arrow table, got {given}")


def _pandas_column(arrow: Any, column: Any) -> Any:
    """A column of pandas in Arrow; cells of different types as texts."""
    try:
        return arrow.array(column, from_pandas=True)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError, OverflowError):
        return arrow.array([None if cell is None or cell != cell else str(cell) for cell in column], arrow.string())
