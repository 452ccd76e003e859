"""The kind of each column, found from all of its cells: a guess from the first rows, tested on all of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nsr.learn.tables import forms
from nsr.learn.tables.columns import (
    Column,
    ambiguous_date_note,
    boolean_column,
    number_aggregates,
    number_column,
    text_column,
    time_column,
    typed_aggregates,
    typed_cell,
    typed_column,
)
from nsr.learn.tables.engine import Engine, Progress, between
from nsr.learn.tables.forms import FORMS, Form
from nsr.learn.tables.source import MISSING_MARKERS, ROW, Source
from nsr.learn.tables.text import plural, sql_list, sql_text
from nsr.program.kinds import Kind

HEAD = 1_000
"""Rows from which the form of a column is guessed."""
MANY = 20
"""So many integers that are all dates, such as 20241231, are dates."""
AT_ONCE = 150
"""Columns in one query: the time that DuckDB plans grows faster than their number."""
CELLS = "nsr_cells"
"""The view of all rows with columns c0, c1 ..., where a missing cell is NULL."""

Aggregates = Mapping[str, str]
Found = Mapping[str, Any]


def find_columns(
    engine: Engine, source: Source, on_progress: Progress, dates: Mapping[str, str] | None = None
) -> tuple[int, list[Column]]:
    """How many rows a source has, and its columns. Creates the view ``CELLS``.

    Args:
        engine: The database.
        source: The rows.
        on_progress: Called with the fraction of the work that is done.
        dates: How the dates of columns are written where their cells do not decide it: keys of ``forms.DATE_FORMS``.
    """
    types = _create_cells(engine, source)
    head_rows = engine.keep("nsr_head", f"SELECT * FROM {CELLS} LIMIT {HEAD}")
    rows = "nsr_head" if head_rows < HEAD else CELLS  # a small table is its own head
    guess = _Guess(engine, source, types, rows, dates or {})
    guessed = guess.forms("nsr_head", guess.texts)
    found = guess.measure(range(len(types)), guessed, between(on_progress, 0.0, 0.6))
    wrong = [place for place in guess.texts if not _fits(guessed[place], found[place])]
    if wrong:
        again = guess.forms(rows, wrong, between(on_progress, 0.6, 0.8))
        guessed |= again
        found |= guess.measure(wrong, again, between(on_progress, 0.8, 1.0))
    columns = [guess.column(place, guessed.get(place), found[place]) for place in range(len(types))]
    columns = _with_notes_on_markers(engine, source, columns)
    engine.connection.unregister("nsr_head")
    return found[0]["rows"], columns


def _with_notes_on_markers(engine: Engine, source: Source, columns: Sequence[Column]) -> list[Column]:
    """The columns with a note where cells among texts, such as NA, are taken for missing: NA may be a region."""
    markers = sql_list([marker for marker in MISSING_MARKERS if marker])
    cells = {
        place: typed_cell(f"c{place}", source.types[place])[0]
        for place, column in enumerate(columns)
        if column.kind is Kind.TEXT and column.missing and not column.problem
    }
    if not cells:
        return list(columns)
    is_marker = {place: f"{cell} IN (SELECT unnest({markers}))" for place, cell in cells.items()}
    wanted = ", ".join(f"count_if({each}), mode({cells[place]}) FILTER ({each})" for place, each in is_marker.items())
    ((*values,),) = engine.rows(f"SELECT {wanted} FROM {source.with_markers or source.relation}")
    noted = list(columns)
    for place, count, marker in zip(cells, values[::2], values[1::2], strict=True):
        if count:
            note = f"{plural(count, 'cell')} such as {marker!r} {'is' if count == 1 else 'are'} taken for missing"
            before = columns[place].note
            noted[place] = replace(columns[place], note=f"{before}; {note}" if before else note)
    return noted


def _create_cells(engine: Engine, source: Source) -> list[str]:
    """Create the view of the cells; returns the SQL type of each column."""
    markers = ", ".join(map(sql_text, MISSING_MARKERS))
    types, cells = [], []
    for place, given in enumerate(source.types):
        cell, sql_type = typed_cell(f"c{place}", given)
        if sql_type == "VARCHAR" and source.with_markers is None:
            cell = f"CASE WHEN {cell} NOT IN ({markers}) THEN {cell} END"
        types.append(sql_type)
        cells.append(f"{cell} AS c{place}")
    numbered = f"{source.row_number} AS {ROW}"
    engine.execute(f"CREATE OR REPLACE VIEW {CELLS} AS SELECT {', '.join(cells)} FROM {source.relation}")
    engine.execute(
        f"CREATE OR REPLACE VIEW {CELLS}_numbered AS SELECT {numbered}, {', '.join(cells)} FROM {source.relation}"
    )
    return types


class _Guess:
    """Guesses the forms of columns of texts, and measures what their types depend on."""

    def __init__(
        self, engine: Engine, source: Source, types: Sequence[str], rows: str, dates: Mapping[str, str]
    ) -> None:
        self.engine, self.source, self.types, self.rows, self.dates = engine, source, types, rows, dates
        self.texts = [place for place, sql_type in enumerate(types) if sql_type == "VARCHAR"]

    def forms(self, rows: str, places: Sequence[int], on_progress: Progress | None = None) -> dict[int, Form | None]:
        """The form of each column of texts, from the given rows; None for texts without one."""
        counts = {
            place: {form.name: f"count_if({form.matches(f'c{place}')})" for form in FORMS}
            | {"present": f"count(c{place})"}
            for place in places
        }
        found = self._aggregate(rows, counts, on_progress)
        return {place: self._form(place, found[place]) for place in places}

    def _form(self, place: int, counts: Found) -> Form | None:
        form = choose_form(counts, decimal_comma=self.source.decimal_comma)
        written = self.dates.get(self.source.names[place])
        return form if written is None else known_date_form(form, counts, written)

    def measure(
        self, places: Iterable[int], guessed: Mapping[int, Form | None], on_progress: Progress
    ) -> dict[int, Found]:
        """For all rows, how many cells have the guessed form, and what the type of the column depends on."""
        wanted: dict[int, Aggregates] = {}
        for place in places:
            cell = f"c{place}"
            shared = {"present": f"count({cell})", "distinct": f"approx_count_distinct({cell})", "rows": "count(*)"}
            is_text = self.types[place] == "VARCHAR"
            more = _text_aggregates(cell, guessed[place]) if is_text else typed_aggregates(cell, self.types[place])
            wanted[place] = shared | more
        return self._aggregate(self.rows, wanted, on_progress)

    def column(self, place: int, form: Form | None, found: Found) -> Column:
        """The column, from what was measured."""
        name, cell = self.source.names[place], f"c{place}"
        shared = {"missing": found["rows"] - found["present"], "distinct": found["distinct"]}
        if not found["present"]:
            return text_column(name, f"CAST({cell} AS VARCHAR)", shared, "empty")
        if self.types[place] != "VARCHAR":
            return typed_column(name, cell, self.types[place], found, shared)
        mixed = found.get("least_symbol") != found.get("largest_symbol")
        if form is None or mixed:  # amounts in two currencies are no numbers
            return text_column(name, cell, shared)
        if form is forms.AMBIGUOUS_DATE:
            return text_column(name, cell, shared, note=ambiguous_date_note(found))
        if form.kind is Kind.BOOLEAN:
            return boolean_column(name, cell, found, shared)
        if form.kind is Kind.NUMBER:
            return number_column(name, cell, form, found, shared)
        return time_column(name, cell, form, found, shared)

    def _aggregate(
        self, rows: str, wanted: Mapping[int, Aggregates], on_progress: Progress | None = None
    ) -> dict[int, Found]:
        """The values of aggregates for each column, in as few queries as DuckDB plans well."""
        parts = list(_parts(list(wanted), AT_ONCE))
        found: dict[int, Found] = {}
        for number, part in enumerate(parts):
            step = None
            if on_progress is not None:
                step = between(on_progress, number / len(parts), (number + 1) / len(parts))
            selected = [sql for place in part for sql in wanted[place].values()]
            ((*values,),) = self.engine.rows(f"SELECT {', '.join(selected)} FROM {rows}", step)
            left = iter(values)
            found |= {place: {key: next(left) for key in wanted[place]} for place in part}
        return found


def choose_form(counts: Found, *, decimal_comma: bool) -> Form | None:
    """The form of a column, from how many of its cells have each form; None for texts without one.

    A column in which more than half of the cells are numbers, or dates, is one of numbers, or dates: the other
    cells are mistakes in it.
    """
    present = counts["present"]
    if not present:
        return None
    amounts = (forms.COMMA, forms.POINT) if decimal_comma else (forms.POINT, forms.COMMA)
    plain = (forms.BOOLEAN, forms.INTEGER, forms.DECIMAL, forms.FLOAT, forms.DATE, forms.TIMESTAMP)
    if (written := _written_date(counts)) is not None:
        return written
    for form in (*plain, *amounts):
        if counts[form.name] == present:
            return form
    if 2 * counts[forms.TIMESTAMP.name] > present:
        return forms.DATE if counts[forms.DATE.name] == counts[forms.TIMESTAMP.name] else forms.TIMESTAMP
    numbers = counts[forms.FLOAT.name] + counts[forms.INFINITE.name]
    if 2 * (present - numbers - counts[forms.BOOLEAN.name]) > present:
        return None
    if not numbers:
        return forms.BOOLEAN
    if counts[forms.INFINITE.name]:
        return forms.FLOAT
    return next(form for form in plain[1:4] if counts[form.name] == counts[forms.FLOAT.name])


def _written_date(counts: Found) -> Form | None:
    """The way in which all dates of a column are written, if it is the only one that fits; integers need many rows."""
    if counts[forms.AMBIGUOUS_DATE.name] == counts["present"]:
        return forms.AMBIGUOUS_DATE
    fitting = [form for form in forms.WRITTEN_DATES if counts[form.name] == counts["present"]]
    if len(fitting) != 1 or (fitting[0].name == "yearmonthday" and counts["present"] < MANY):
        return None
    return fitting[0]


def known_date_form(form: Form | None, counts: Found, written: str) -> Form | None:
    """The form of a column whose dates are known to be written in some way, where its cells do not decide it.

    A column such as 03/04/2024 has dates in the known order then, one such as 20240403 has dates and not integers, and
    texts that are mostly dates are dates with mistakes among them. Cells that decide it, such as 2024-12-31, still do.

    Args:
        form: What the cells look like.
        counts: How many of them have each form.
        written: A key of ``forms.DATE_FORMS``.
    """
    if form not in (None, forms.AMBIGUOUS_DATE, forms.INTEGER):
        return form
    day = written.removesuffix(" with time")
    known = max((forms.DATE_FORMS[name] for name in (day, f"{day} with time")), key=lambda each: counts[each.name])
    return known if 2 * counts[known.name] > counts["present"] else form


def _text_aggregates(cell: str, form: Form | None) -> dict[str, str]:
    if form is None:
        usual = (forms.FLOAT, forms.BOOLEAN, forms.TIMESTAMP)
        return {
            "formed": f"count_if({' OR '.join(form.matches(cell) for form in usual)})",
            "amounts": f"count_if(regexp_matches({cell}, '[0-9]'))",
        }
    needed = {"fits": f"count_if({form.matches(cell)})"}
    if form.kind is Kind.NUMBER:
        needed |= number_aggregates(form, cell)
    if form is forms.AMBIGUOUS_DATE:
        extracted = (f"regexp_extract({cell}, {sql_text(part)}, 1)" for part in (r"(\d+)/", r"/(\d+)/"))
        day, month = (f"TRY_CAST({part} AS INTEGER)" for part in extracted)
        needed["example"] = f"coalesce(max({cell}) FILTER ({day} <> {month}), max({cell}))"
    if form is forms.TIMESTAMP:
        needed["zoned"] = f"count_if({forms.has_zone(cell)})"
    return needed


def _fits(form: Form | None, found: Found) -> bool:
    """Whether all rows confirm a form that was guessed from the first ones."""
    if form is None:
        return not found["present"] or 2 * found["formed"] < found["present"] > found["amounts"]
    return bool(found["fits"] == found["present"])


def _parts(places: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))
