import numpy as np
import pytest

from nsr.data import LOOPS, lists_around, random_lists
from nsr.errors import InputError


def by_hand(loop: str, items: list[int]) -> int:
    return min(items) if loop == "minimum" else items[1:].count(items[0])


@pytest.mark.parametrize("loop", LOOPS)
def test_lists_of_the_range_with_the_answer_of_python(loop):
    rows = random_lists(loop, np.random.default_rng(0))
    assert rows.x.shape == (500, 5)
    assert (rows.x.min(), rows.x.max()) == (-10, 9)
    assert rows.y.tolist() == [by_hand(loop, items) for items in rows.x.tolist()]


@pytest.mark.parametrize(("length", "power"), [(5, 1), (50, 13)])
@pytest.mark.parametrize("loop", LOOPS)
def test_lists_around_numbers_of_the_magnitude(loop, length, power):
    rows = lists_around(loop, np.random.default_rng(1), length=length, power=power)
    assert rows.x.shape == (50, length)
    assert (rows.x.amax(-1) - rows.x.amin(-1)).max() <= 10
    assert rows.x.min() >= 3**power - 5
    assert rows.x.max() <= 3 ** (power + 1) + 4
    assert rows.y.tolist() == [by_hand(loop, items) for items in rows.x.tolist()]


def test_an_unknown_loop_is_refused():
    with pytest.raises(
        InputError, match=r"^unknown loop 'maximum': choose from minimum, count; did you mean 'minimum'\?$"
    ):
        random_lists("maximum", np.random.default_rng(0))
