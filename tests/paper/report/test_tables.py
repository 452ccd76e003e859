import io

from rich.console import Console

from nsr.data import COMPARISONS
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.recurrent import LENGTHS, POWERS, square
from nsr.paper.experiments.shortest_paths import AXES, error
from nsr.paper.records import Record
from nsr.paper.report.tables import beside, tables
from nsr.paper.summaries import summarise

EXPERIMENT = EXPERIMENTS["comparisons"]


def printed() -> str:
    metrics = {"train": 1.0} | {f"10^{power}": 0.9996 for power in range(2, 16)}
    metrics |= {"read": 1.0, "1000 digits": 1.0, "epochs": 50_000.0}
    records = [
        Record("comparisons", 1, cell, EXPERIMENT.recipes[recipe], "paper", 0, metrics, 1.0, 2**20, "{}")
        for cell in EXPERIMENT.cells
        for recipe in ("paper", "exact")
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(EXPERIMENT, summarise(EXPERIMENT, records)):
        console.print(table)
    return console.file.getvalue()


def test_four_tables_within_80_columns_nothing_cut_or_wrapped():
    lines = printed().splitlines()
    assert sum(line.startswith("Table 1:") for line in lines) == 4
    assert len([line for line in lines if line.strip()]) == 4 * (2 + 15 + 4)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    row = next(line for line in lines if line.startswith("10^4"))
    assert (
        row.split()
        == ["10^4", "0.999", "0.71", "0.999", "0.70", "0.999", "0.71", "0.999", "0.68"] + ["0.999", "0.50"] * 2
    )


def test_maps_of_floats_show_what_is_missing_as_missing():
    floats = EXPERIMENTS["floats"]
    metrics = {"epochs": 9.0} | {f"{kind}{c}": 1.0 for c in COMPARISONS for kind in ("train ", "")}
    cells = [*floats.cells[:8], *floats.beyond[:2]]
    records = [Record("floats", 1, cell, floats.recipes["exact"], "paper", 0, metrics, 1.0, 1, "{}") for cell in cells]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(floats, summarise(floats, records)):
        console.print(table)
    text = console.file.getvalue()
    assert text.count("missing") == 2 * 6  # eight of fourteen squares, in the maps of > and =
    assert "lambda from the data" in text


def test_table_2_and_the_redundancy_curves():
    piecewise, redundancy = EXPERIMENTS["piecewise"], EXPERIMENTS["redundancy"]
    metrics = {"train": 1.0, "read": 1.0, "epochs": 9.0} | {f"3^{power}": 1.0 for power in range(2, 34)}
    records = [
        Record("piecewise", 1, cell, piecewise.recipes["exact"], "paper", 0, metrics, 1.0, 1, "{}")
        for cell in piecewise.cells
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(piecewise, summarise(piecewise, records)):
        console.print(table)
    curves = [
        Record(
            "redundancy",
            1,
            cell,
            redundancy.recipes["paper"],
            "paper",
            0,
            {"=": 0.5, "!=": 1.0, "f": 0.7},
            1.0,
            1,
            "{}",
        )
        for cell in redundancy.cells
    ]
    for table in tables(redundancy, summarise(redundancy, curves)):
        console.print(table)
    lines = console.file.getvalue().splitlines()
    assert next(line for line in lines if line.startswith("3^13")).split()[1:] == [
        *("1.000", "0.00", "1.000", "0.09", "1.000", "0.99", "1.000", "0.36")
    ]
    assert any(line.split() == ["read", *["1", "of", "1"] * 4] for line in lines)
    assert any(line.split() == ["15", "0.500", "1.000", "0.700"] for line in lines)


def test_recurrent_maps_as_a_table_for_each_recipe():
    recurrent = EXPERIMENTS["recurrent"]
    metrics = {square(length, power): power / 13 for length in LENGTHS for power in POWERS}
    metrics |= {square(length, power, absolute=True): length / 50 for length in LENGTHS for power in POWERS}
    metrics |= {"train": 1.0, "read": 1.0, "100,000 elements": 1.0, "100 digits": 0.0, "epochs": 50_000.0}
    records = [
        Record("recurrent", 1, cell, recurrent.recipes[recipe], "paper", 0, metrics, 1.0, 1, "{}")
        for recipe in recurrent.recipes
        for cell in recurrent.cells
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(recurrent, summarise(recurrent, records)):
        console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert sum(line.startswith("Recurrent maps: recipe ") for line in lines) == 2
    assert len([line for line in lines if line]) == 2 * (2 + 12 + 5)
    assert not any("…" in line for line in lines)
    assert lines[1].split() == ["length", "MLP", "minimum", "MLP", "count", "NSR", "minimum", "NSR", "count"]
    assert next(line for line in lines if line.startswith("50 ")).split() == ["50", *["0.538"] * 4]  # 7 / 13, cut
    assert next(line for line in lines if line.startswith("within 0.1")).split()[2:] == ["0.550"] * 4
    assert next(line for line in lines if line.startswith("perfect")).split() == ["perfect", *["0", "of", "1"] * 4]
    assert next(line for line in lines if line.startswith("100,000")).split()[2:] == ["1", "of", "1"] * 4
    assert next(line for line in lines if line.startswith("100 digits")).split()[2:] == ["0", "of", "1"] * 4


def test_errors_of_shortest_paths_as_a_table_for_each_recipe():
    paths = EXPERIMENTS["shortest_paths"]
    metrics = {error(axis, power): 0.0 if axis == "weights" else 1234.5 for axis in AXES for power in range(2, 14)}
    metrics |= {"exact": 1.0, "read": 0.0, "epochs": 50_000.0}
    records = [
        Record("shortest_paths", 1, cell, paths.recipes[recipe], "paper", 0, metrics, 1.0, 1, "{}")
        for recipe in paths.recipes
        for cell in paths.cells_of(recipe, paths.profiles["paper"])
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(paths, summarise(paths, records)):
        console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert not any("…" in line for line in lines)
    assert lines[1].split() == ["about", "MLP", "NSR"]
    assert any(line.split() == ["3^5", "nodes", *["1.23e+03"] * 3] for line in lines)
    assert any(line.split() == ["3^13", "weights", "0", "0", "0"] for line in lines)
    assert next(line for line in lines if line.startswith("perfect")).split() == ["perfect", *["1", "of", "1"] * 2]


def test_digits_as_a_table_for_each_recipe_and_one_of_pairs_that_were_not_shown():
    digits = EXPERIMENTS["digits"]
    metrics = {"trained on": 1347.0, "accuracy": 0.9, "equal": 0.5, "unequal": 1.0, "digits": 0.25}
    metrics |= {"shown": 0.75, "not shown": 0.125}
    records = [
        Record("digits", 1, cell, digits.recipes[recipe], "quick", 0, metrics, 1.0, 1, "{}")
        for recipe in digits.recipes
        for cell in digits.cells_of(recipe, digits.profiles["quick"])
    ]
    console = Console(file=io.StringIO(), width=80)
    for table in tables(digits, summarise(digits, records[1:])):
        console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines[0] == "Digit comparisons: recipe paper, 1,347 images of 8x8, 1 seeds, NSR 1 s a seed"
    assert lines[1].split() == ["pairs", "classifier", "mlp", "nsr"]
    assert lines[2].split() == [">", "missing", "0.900", "0.900"]
    assert lines[3].split() == ["digits", "missing", "0.250", "0.250"]
    assert lines[11].split() == ["balanced", *["0.750"] * 3]
    assert lines[12] == "Digit comparisons: shown some pairs only, recipe exact, 1 seeds"
    assert lines[-2].split() == ["not", "shown", *["0.125"] * 4]
    assert max(map(len, lines)) <= 80


def test_only_what_is_perfect_reads_as_one():
    assert beside(1.0, None).plain.startswith("1.000")
    assert beside(0.99999, 1.0).plain == "0.999 1.00"
