from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.learn.sums import Sum, Targets, find_sums, nearest_sum
from nsr.reading.columns import Columns

NAMES = ("a", "b", "c", "d")


def targets(function, rows: int = 300, scale: float = 1.0) -> Targets:
    x = np.random.default_rng(0).uniform(-10, 10, (rows, 4)).round(2) * scale
    return Targets(Columns(torch.from_numpy(x), NAMES), function(*x.T), np.ones(rows))


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (lambda a, b, c, d: np.abs(a - b), {"a - b", "b - a"}),
        (lambda a, b, c, d: np.maximum(a, b), {"a", "b"}),
        (lambda a, b, c, d: np.where(a > b, a + 4, d - c), {"a + 4", "d - c"}),
        (lambda a, b, c, d: np.where(a > 0, a + b + c, 7.5), {"a + b + c", "7.5"}),
        (lambda a, b, c, d: 3 * a - 2 * b + c + 0.25, {"3*a + c - 2*b + 0.25"}),
        (lambda a, b, c, d: np.clip(a, -5, 5), {"a", "-5", "5"}),
        (lambda a, b, c, d: a * b, set()),
        (lambda a, b, c, d: np.sin(a), set()),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_the_pieces_of_a_function_are_found(function, texts, scale):
    if scale != 1 and texts & {"7.5", "5"}:
        pytest.skip("constants do not scale")
    data = targets(function, scale=scale)
    found = find_sums(data, np.random.default_rng(0))
    assert {str(each.expression(NAMES).simplified()) for each in found} == texts
    if found:
        assert np.any([each.holds(data) for each in found], axis=0).all()


def test_the_constant_is_the_one_that_most_rows_leave():
    data = targets(lambda a, b, c, d: np.where(d > 8, 99.0, a + 4))
    assert nearest_sum(data, np.array([1, 0, 0, 0])) == Sum((1, 0, 0, 0), Fraction(4))


def test_weights_count_as_rows():
    data = Targets(
        Columns(torch.tensor([[1.0], [1.0], [3.0]]), ("a",)), np.array([2.0, 2.0, 4.0]), np.array([1.0, 1, 0])
    )
    assert data.distinct().weight.tolist() == [1.0]
