"""SQL for DuckDB in the dialects of other databases, by ``sqlglot``."""

from typing import Any

from nsr.errors import needs_extra

DIALECTS = ("duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark", "tsql", "redshift")
MICROSECONDS = {
    "postgres": "CAST(EXTRACT(EPOCH FROM x) * 1000000 AS BIGINT)",
    "mysql": "TIMESTAMPDIFF(MICROSECOND, CAST('1970-01-01' AS DATETIME), x)",
    "bigquery": "UNIX_MICROS(TIMESTAMP(x))",
    "snowflake": "DATEDIFF(MICROSECOND, CAST('1970-01-01' AS TIMESTAMPNTZ), x)",
    "spark": "TIMESTAMPDIFF(MICROSECOND, CAST('1970-01-01' AS TIMESTAMP_NTZ), CAST(x AS TIMESTAMP_NTZ))",
    "tsql": "DATEDIFF_BIG(MICROSECOND, CAST('1970-01-01' AS DATETIME2), x)",
    "redshift": "DATEDIFF(MICROSECOND, CAST('1970-01-01' AS TIMESTAMP), x)",
}
"""The microseconds from the start of 1970 to a date or time x."""


def translated(sql: str, dialect: str) -> str:
    """SQL that was written for DuckDB, or for SQLite if that is the dialect, in the dialect.

    Names and texts are quoted as the database does.
    """
    if dialect in ("duckdb", "sqlite"):
        return sql
    with needs_extra("sql"):
        import sqlglot
        from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for division in tree.find_all(exp.Div):  # of floats, and never by 0
        division.set("typed", True)
        division.set("safe", False)
    return str(_Changes(sqlglot, exp, dialect).applied(tree).sql(dialect=dialect))


class _Changes:
    """What databases call by another name than sqlglot knows."""

    def __init__(self, sqlglot: Any, exp: Any, dialect: str) -> None:
        self.sqlglot, self.exp, self.dialect = sqlglot, exp, dialect

    def applied(self, tree: Any) -> Any:
        return tree.transform(self.change)

    def change(self, node: Any) -> Any:
        exp = self.exp
        if isinstance(node, exp.Anonymous) and node.name.upper() == "EPOCH_US":
            return self.microseconds(node.expressions[0].transform(self.change))
        if self.dialect == "mysql" and isinstance(node, exp.Cast) and node.is_type("timestamp", "timestampntz"):
            return exp.cast(node.this, exp.DataType.build("DATETIME(6)", dialect="mysql"))  # or it rounds to seconds
        if self.dialect == "tsql":
            return self.for_sql_server(node)
        return node

    def microseconds(self, column: Any) -> Any:
        form = self.sqlglot.parse_one(MICROSECONDS[self.dialect], read=self.dialect)
        return form.transform(
            lambda node: column if isinstance(node, self.exp.Column) and node.name.lower() == "x" else node
        )

    def for_sql_server(self, node: Any) -> Any:
        exp = self.exp
        if isinstance(node, exp.Add) and isinstance(node.expression, exp.Interval):
            interval = node.expression
            size = exp.Literal.number(interval.this.name)
            return exp.Anonymous(
                this="DATEADD", expressions=[exp.var(interval.unit.name), size, self.change(node.this)]
            )
        if isinstance(node, exp.Literal) and node.is_string and not node.name.isascii():
            return exp.National(this=node.name)
        return node
