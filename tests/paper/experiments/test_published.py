"""The published numbers, typed from the paper a second time and in another form: as its tables print them."""

from nsr.paper.experiments.comparisons import TABLE_1, ComparisonCell
from nsr.paper.experiments.piecewise import TABLE_2, PiecewiseCell

# Task, then: Train, 10^2, 10^3, ..., 10^13. Table "Learning comparisons on data from [-10;9]".
COMPARISONS_AS_PRINTED = """
mlp >   1.0  1.0  0.96 0.71 0.49 0.48 0.48 0.48 0.48 0.48 0.48 0.48 0.48
mlp <   1.0  1.0  0.93 0.7  0.49 0.48 0.48 0.48 0.48 0.48 0.48 0.48 0.48
mlp >=  1.0  1.0  0.94 0.71 0.49 0.48 0.48 0.48 0.48 0.48 0.48 0.48 0.48
mlp <=  1.0  1.0  0.94 0.68 0.49 0.48 0.48 0.48 0.48 0.48 0.48 0.48 0.48
mlp =   0.95 0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5
mlp !=  0.95 0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5
nsr >   1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0
nsr <   1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0
nsr >=  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0
nsr <=  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0
nsr =   0.99 0.93 0.93 0.93 0.93 0.93 0.93 0.93 0.93 0.93 0.93 0.93 0.93
nsr !=  0.99 0.92 0.92 0.92 0.92 0.92 0.92 0.92 0.92 0.92 0.92 0.92 0.92
"""
# Train, 3^2, 3^3, ..., 3^13. Table "Learning piecewise defined functions".
FUNCTIONS_AS_PRINTED = """
mlp abs 1.0  1.0  0.98 0.57 0.01 0.01 0.0  0.0  0.0  0.0  0.0  0.0  0.0
mlp f   1.0  1.0  1.0  0.99 0.95 0.85 0.7  0.55 0.47 0.4  0.31 0.2  0.09
nsr abs 1.0  0.99 0.99 0.99 0.99 0.99 0.99 0.99 0.99 0.99 0.99 0.99 0.99
nsr f   0.99 1.0  1.0  1.0  0.99 0.96 0.87 0.69 0.52 0.42 0.38 0.36 0.36
"""


def table(printed: str, cell: type, base: int) -> dict:
    rows = {}
    for model, task, *values in map(str.split, printed.strip().splitlines()):
        names = ["train", *(f"{base}^{power}" for power in range(2, 14))]
        rows[cell(model, task)] = dict(zip(names, map(float, values), strict=True))
    return rows


def test_table_1_is_the_one_the_paper_prints():
    assert {cell: dict(row) for cell, row in TABLE_1.items()} == table(COMPARISONS_AS_PRINTED, ComparisonCell, 10)


def test_table_2_is_the_one_the_paper_prints():
    assert {cell: dict(row) for cell, row in TABLE_2.items()} == table(FUNCTIONS_AS_PRINTED, PiecewiseCell, 3)
