import numpy as np
import pytest
import torch

from nsr.data import COMPARISONS, all_pairs, comparison_of, pairs_around

WORDS = {">": "__gt__", "<": "__lt__", ">=": "__ge__", "<=": "__le__", "=": "__eq__", "!=": "__ne__"}


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_all_pairs_of_the_range_with_the_answer_of_python(comparison):
    rows = all_pairs(comparison)
    assert sorted(map(tuple, rows.x.tolist())) == [(a, b) for a in range(-10, 10) for b in range(-10, 10)]
    assert rows.y.tolist() == [float(getattr(a, WORDS[comparison])(b)) for a, b in rows.x.tolist()]
    assert rows.weight.sum().item() == pytest.approx(1)


@pytest.mark.parametrize("power", [2, 13, 15])
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_pairs_around_a_number_of_the_magnitude(comparison, power):
    for seed in range(20):
        rows = pairs_around(comparison, np.random.default_rng(seed), power=power)
        n = rows.x[0, 0].item()
        assert 10**power <= n < 10 ** (power + 1)
        assert rows.x[:11].tolist() == [[n, n + i] for i in range(-5, 6)]
        if comparison in ("=", "!="):
            assert len(rows) == 21
            assert int((rows.x[:, 0] == rows.x[:, 1]).sum()) == 11
        else:
            assert len(rows) == 11
        assert rows.y.tolist() == [float(getattr(a, WORDS[comparison])(b)) for a, b in rows.x.tolist()]


def test_the_generator_decides_and_base_three_is_the_papers_other_series():
    one, two = (pairs_around(">", np.random.default_rng(4), power=9, base=3) for _ in range(2))
    assert torch.equal(one.x, two.x)
    assert 3**9 <= one.x[0, 0].item() < 3**10


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_a_comparison_is_known_by_its_three_answers(comparison):
    answers = [COMPARISONS[comparison](i, 0) for i in (-1, 0, 1)]
    assert comparison_of(*answers) == comparison


def test_constants_are_no_comparison():
    assert comparison_of(True, True, True) is None
    assert comparison_of(False, False, False) is None


@pytest.mark.parametrize(("typed", "meant"), [("==", "="), ("=<", "<="), ("=>", ">="), ("<>", None)])
def test_an_unknown_comparison_is_refused_with_the_near_miss(typed, meant):
    with pytest.raises(ValueError, match="unknown comparison") as error:
        all_pairs(typed)
    assert str(error.value).startswith(f"unknown comparison '{typed}': choose from >, <, >=, <=, =, !=")
    if meant:
        assert str(error.value).endswith(f"; did you mean '{meant}'?")
