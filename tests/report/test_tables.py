import io

from rich.console import Console

from nsr.experiments import EXPERIMENTS
from nsr.report.summaries import summarise
from nsr.report.tables import beside, comparison_tables
from nsr.sweep.plan import Record

EXPERIMENT = EXPERIMENTS["comparisons"]


def printed() -> str:
    metrics = {"train": 1.0} | {f"10^{power}": 0.9996 for power in range(2, 16)} | {"epochs": 50_000.0}
    records = [
        Record("comparisons", 1, cell, recipe, "paper", 0, metrics, 1.0)
        for cell in EXPERIMENT.cells
        for recipe in ("paper", "exact")
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in comparison_tables(EXPERIMENT, summarise(EXPERIMENT, records)):
        console.print(table)
    return console.file.getvalue()


def test_four_tables_within_80_columns_nothing_cut_or_wrapped():
    lines = printed().splitlines()
    assert sum(line.startswith("Table 1:") for line in lines) == 4
    assert len([line for line in lines if line.strip()]) == 4 * (2 + 15 + 2)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    row = next(line for line in lines if line.startswith("10^4"))
    assert (
        row.split()
        == ["10^4", "0.999", "0.71", "0.999", "0.70", "0.999", "0.71", "0.999", "0.68"] + ["0.999", "0.50"] * 2
    )


def test_only_what_is_perfect_reads_as_one():
    assert beside(1.0, None).plain.startswith("1.000")
    assert beside(0.99999, 1.0).plain == "0.999 1.00"
