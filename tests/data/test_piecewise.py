import numpy as np
import pytest

from nsr.data import FUNCTIONS, function_around, function_of_all_pairs
from nsr.errors import InputError


def by_hand(function: str, row: list[int]) -> int:
    if function == "abs":
        return abs(row[0] - row[1])
    return row[4] + 4 if row[0] > row[1] else row[3] - row[2]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_row_for_every_pair_with_the_answer_of_the_paper(function):
    rows = function_of_all_pairs(function, np.random.default_rng(0))
    assert sorted((a, b) for a, b, *_ in rows.x.tolist()) == [(a, b) for a in range(-10, 10) for b in range(-10, 10)]
    assert rows.y.tolist() == [by_hand(function, row) for row in rows.x.tolist()]
    assert rows.x.shape == (400, FUNCTIONS[function].inputs)
    assert rows.x[:, 2:].abs().max() <= 100 if function == "f" else True


@pytest.mark.parametrize("power", [2, 13, 33])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_number_of_the_magnitude_meets_its_neighbours(function, power):
    rows = function_around(function, np.random.default_rng(1), power=power)
    n = rows.x[0, 0].item()
    assert 3**power <= n < 3 ** (power + 1)
    assert rows.x[:, :2].tolist() == [[n, n + i] for i in range(-5, 6)]
    assert rows.y.tolist() == [by_hand(function, row) for row in rows.x.tolist()]


def test_an_unknown_function_is_refused_with_the_near_miss():
    with pytest.raises(InputError, match=r"^unknown function 'ab': choose from abs, f; did you mean 'abs'\?$"):
        function_around("ab", np.random.default_rng(0), power=2)
