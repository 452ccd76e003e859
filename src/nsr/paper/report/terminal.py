"""Tables in the terminal."""

from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from nsr.paper.tables import Entry, Mean, Table


def for_terminal(table: Table) -> Group:
    """A table as rich prints it, under its title."""
    grid = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    grid.add_column(table.corner)
    for name in table.columns:
        grid.add_column(Text(name, justify="center"), justify="left", no_wrap=True)
    for row in table.rows:
        grid.add_row(row.label, *(_text(entry, table.has_published) for entry in row.entries))
    for row in table.foot:
        grid.add_row(row.label, *(_text(entry) for entry in row.entries), style="dim")
    # As a title of the grid it would wrap at the width of a narrow table.
    return Group(Text(table.title, style="bold"), grid)


def _text(entry: Entry, has_published: bool = False) -> Text:
    if entry is None:
        return Text("missing")
    text = Text(entry.text, style="bold" if entry.is_best else "")
    if has_published and isinstance(entry, Mean):
        text.append(f" {entry.detail or ' -  '}", style="dim")
    return text
