import math
from itertools import permutations, product

import numpy as np
import pytest

from nsr.learn.profile.chance import agreement_surprise, mismatch, order_chance, overlap_surprise, rarity


@pytest.mark.parametrize(("count", "events", "chance"), [(5, 0, 0.3), (20, 1, 0.4), (8, 2, 0.5), (30, 3, 0.2)])
def test_the_chance_of_few_events_is_never_underestimated(count, events, chance):
    exact = sum(math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(events + 1))
    assert exact <= math.exp(-rarity(count, events, chance))
    assert events or math.exp(-rarity(count, 0, chance)) == pytest.approx(exact)  # without events it is exact


def test_what_is_expected_is_no_surprise():
    assert rarity(10, 5, 0.5) == rarity(10, 9, 0.5) == rarity(0, 0, 0.5) == 0


def test_the_chance_of_an_order_is_that_of_two_draws():
    low, high = np.array([1.0, 2, 2, 5]), np.array([2.0, 3, 9, 1])
    pairs = list(product(low, high))
    assert order_chance(low, high) == sum(a <= b for a, b in pairs) / len(pairs)
    assert order_chance(low, high, strict=True) == sum(a < b for a, b in pairs) / len(pairs)


def test_the_surprise_of_an_order_bounds_that_of_all_shuffles():
    generator = np.random.default_rng(3)
    low = generator.integers(0, 6, 6).astype(float)
    high = low + generator.integers(0, 3, 6)
    shuffles = [bool((low <= np.array(each)).all()) for each in permutations(high)]
    assert np.mean(shuffles) <= math.exp(-rarity(6, 0, 1 - order_chance(low, high)))


def test_sets_that_overlap_by_chance_are_no_surprise():
    half = np.arange(100) % 2 == 0
    assert overlap_surprise(half, np.arange(100) < 50) == 0
    assert overlap_surprise(half, half) >= 50 * math.log(2) - 1e-9
    assert mismatch(half, half) == 0
    assert mismatch(half, ~half) == 1


def test_groups_of_one_row_are_no_surprise():
    ones = np.ones(5, dtype=np.int64)
    assert agreement_surprise(ones, ones, np.array([0.5, 0.5])) == 0
    assert agreement_surprise(np.array([3]), np.array([3]), np.array([0.5, 0.5])) == pytest.approx(math.log(4))
