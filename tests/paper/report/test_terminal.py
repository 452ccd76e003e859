import io

from rich.console import Console

from nsr.data import COMPARISONS
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.recurrent import LENGTHS, POWERS, square
from nsr.paper.experiments.shortest_paths import AXES, error
from nsr.paper.records import Record
from nsr.paper.report.terminal import for_terminal
from nsr.paper.summaries import summarise


def records_of(name: str, metrics, recipes=("paper", "exact"), profile="paper", cells=None) -> list[Record]:
    """One seed of each cell, all with the same metrics."""
    experiment = EXPERIMENTS[name]
    return [
        Record(name, 1, cell, experiment.recipes[recipe], profile, 0, metrics, 1.0, 2**20, "{}")
        for recipe in recipes
        for cell in cells or experiment.cells_of(recipe, experiment.profiles[profile])
    ]


def printed(name: str, records: list[Record]) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    for table in EXPERIMENTS[name].tables(summarise(EXPERIMENTS[name], records)):
        console.print(for_terminal(table))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def starting(lines: list[str], start: str) -> list[str]:
    """The words of the first line that starts like this."""
    return next(line for line in lines if line.startswith(start)).split()


def test_four_tables_within_80_columns_nothing_cut_or_wrapped():
    metrics = {"train": 1.0} | {f"10^{power}": 0.9996 for power in range(2, 16)}
    metrics |= {"read": 1.0, "read without labels": 0.0, "1000 digits": 1.0, "epochs": 50_000.0}
    lines = printed("comparisons", records_of("comparisons", metrics))
    assert sum(line.startswith("Table 1:") for line in lines) == 4
    assert len([line for line in lines if line]) == 4 * (2 + 15 + 5)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert (
        starting(lines, "10^4")
        == ["10^4", "0.999", "0.71", "0.999", "0.70", "0.999", "0.71", "0.999", "0.68"] + ["0.999", "0.50"] * 2
    )


def test_one_comparison_alone_is_a_table_with_the_others_missing():
    metrics = {"train": 1.0} | {f"10^{power}": 1.0 for power in range(2, 16)}
    metrics |= {"read": 1.0, "read without labels": 0.0, "1000 digits": 1.0, "epochs": 50.0}
    cells = [cell for cell in EXPERIMENTS["comparisons"].cells if (cell.model, cell.comparison) == ("nsr", ">=")]
    lines = printed("comparisons", records_of("comparisons", metrics, ["exact"], cells=cells))
    assert lines[0] == "Table 1: NSR, recipe exact, 1 seed, ours and the paper's"
    assert starting(lines, "10^2") == ["10^2", "missing", "missing", "1.000", "1.00", *["missing"] * 3]
    assert max(map(len, lines)) <= 80


def test_maps_of_floats_show_what_is_missing_as_missing():
    floats = EXPERIMENTS["floats"]
    metrics = {"epochs": 9.0} | {f"{kind}{c}": 1.0 for c in COMPARISONS for kind in ("train ", "")}
    text = "\n".join(
        printed("floats", records_of("floats", metrics, ["exact"], cells=[*floats.cells[:8], *floats.beyond[:2]]))
    )
    assert text.count("missing") == 2 * 6  # eight of fourteen squares, in the maps of > and =
    assert "lambda from the data" in text


def test_table_2_and_the_redundancy_curves():
    metrics = {"train": 1.0, "read": 1.0, "read without labels": 1.0, "epochs": 9.0} | {
        f"3^{power}": 1.0 for power in range(2, 34)
    }
    lines = printed("piecewise", records_of("piecewise", metrics, ["exact"]))
    assert starting(lines, "3^13")[1:] == ["1.000", "0.00", "1.000", "0.09", "1.000", "0.99", "1.000", "0.36"]
    assert any(line.split() == ["read", *["1", "of", "1"] * 4] for line in lines)
    lines = printed("redundancy", records_of("redundancy", {"=": 0.5, "!=": 1.0, "f": 0.7}, ["paper"]))
    assert any(line.split() == ["15", "0.500", "1.000", "0.700"] for line in lines)


def test_recurrent_maps_as_a_table_for_each_recipe():
    metrics = {square(length, power): power / 13 for length in LENGTHS for power in POWERS}
    metrics |= {square(length, power, absolute=True): length / 50 for length in LENGTHS for power in POWERS}
    metrics |= {
        "train": 1.0,
        "read": 1.0,
        "read without labels": 1.0,
        "train within 0.1": 1.0,
        "100,000 elements": 1.0,
        "100 digits": 0.0,
        "epochs": 50_000.0,
    }
    lines = printed("recurrent", records_of("recurrent", metrics))
    assert sum(line.startswith("Recurrent maps: recipe ") for line in lines) == 2
    assert len([line for line in lines if line]) == 2 * (2 + 13 + 6)
    assert not any("…" in line for line in lines)
    assert lines[1].split() == ["length", "MLP", "minimum", "MLP", "count", "NSR", "minimum", "NSR", "count"]
    assert starting(lines, "50 ") == ["50", *["0.538"] * 4]  # 7 / 13
    assert starting(lines, "within 0.1")[2:] == ["0.550"] * 4
    assert starting(lines, "perfect") == ["perfect", *["0", "of", "1"] * 4]
    assert starting(lines, "10^5 long")[2:] == ["1", "of", "1"] * 4
    assert starting(lines, "100 digits")[2:] == ["0", "of", "1"] * 4


def test_errors_of_shortest_paths_as_a_table_for_each_recipe():
    metrics = {
        error(axis, power): 0.0 if axis == "weights" else 1234.5 for axis, powers in AXES.items() for power in powers
    }
    metrics |= {"exact": 1.0, "read": 0.0, "read without labels": 0.0, "train": 0.5, "epochs": 50_000.0}
    lines = printed("shortest_paths", records_of("shortest_paths", metrics))
    assert not any("…" in line for line in lines)
    assert lines[1].split() == ["size", "about", "MLP", "NSR"]
    assert any(line.split() == ["3^5", "nodes", *["1.23e+03"] * 3] for line in lines)
    assert any(line.split() == ["3^13", "weights", "0", "0", "0"] for line in lines)
    assert starting(lines, "perfect") == ["perfect", *["1", "of", "1"] * 2]


def test_digits_as_a_table_for_each_recipe_and_one_of_pairs_that_were_not_shown():
    metrics = {"trained on": 1347.0, "accuracy": 0.9, "equal": 0.5, "unequal": 1.0, "digits": 0.25}
    metrics |= {"shown": 0.75, "not shown": 0.125}
    lines = printed("digits", records_of("digits", metrics, profile="quick")[1:])
    assert lines[0] == "Digit comparisons: recipe paper, 1,347 images of 8x8, 1 seed, NSR 1 s per seed"
    assert lines[1].split() == ["pairs", "classifier", "mlp", "nsr"]
    assert lines[2].split() == [">", "missing", "0.900", "0.900"]
    assert lines[3].split() == ["digits", "missing", "0.250", "0.250"]
    assert lines[11].split() == ["balanced", *["0.750"] * 3]
    assert lines[12] == "Digit comparisons: trained on a subset of the pairs, recipe exact, 1 seed"
    assert lines[-2].split() == ["not", "shown", *["0.125"] * 4]
    assert max(map(len, lines)) <= 80


def test_the_soft_model_stands_beside_its_program():
    metrics = dict.fromkeys(("train", "read", "read without labels", *(f"3^{power}" for power in range(2, 34))), 1.0)
    soft = {f"soft {name}": 0.25 for name in metrics if name == "train" or "^" in name}
    cells = [cell for cell in EXPERIMENTS["piecewise"].cells if cell.model == "nsr"]
    records = records_of("piecewise", metrics | soft | {"epochs": 9.0}, ["exact"], cells=cells)
    lines = printed("piecewise", records)
    names = ["MLP", "abs", "MLP", "f", "NSR", "abs", "soft", "abs", "NSR", "f", "soft", "f"]
    assert lines[1].split() == names
    beside = ["1.000", "0.99", "0.250", "0.99", "1.000", "0.36", "0.250", "0.36"]
    assert starting(lines, "3^13")[1:] == ["missing", "missing", *beside]
    assert starting(lines, "perfect")[3:] == ["1", "of", "1", "0", "of", "1"] * 2
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    metrics = {"=": 1.0, "!=": 1.0, "f": 1.0, "soft f": 0.5}
    lines = printed("redundancy", records_of("redundancy", metrics, ["exact"]))
    assert lines[1].split() == ["units", "=", "!=", "f", "f,", "soft"]
    assert starting(lines, "15")[1:] == ["1.000", "1.000", "1.000", "0.500"]


def test_tables_with_soft_columns_fit_80_columns():
    squares = [square(n, k, absolute=absolute) for n in LENGTHS for k in POWERS for absolute in (False, True)]
    tested = {"recurrent": ["train", "train within 0.1", *squares]}
    tested["shortest_paths"] = ["exact", *(error(axis, power) for axis, powers in AXES.items() for power in powers)]
    flags = ("train", "read", "read without labels", "100,000 elements", "100 digits")
    for name, measured in tested.items():
        known = {metric.name for metric in EXPERIMENTS[name].metrics}
        metrics = {flag: 1.0 for flag in flags if flag in known} | {"epochs": 4_000.0}
        metrics |= dict.fromkeys([*measured, *(f"soft {one}" for one in measured)], 1.234e-5)
        experiment = EXPERIMENTS[name]
        cells = [cell for cell in experiment.cells + experiment.beyond if cell.model == "nsr"]
        lines = printed(name, records_of(name, metrics, ["exact"], cells=cells))
        assert max(map(len, lines)) <= 80
        assert not any("…" in line for line in lines), name
