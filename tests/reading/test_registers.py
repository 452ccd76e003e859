"""What the units of a register compare, and the formulas that its answers make of it."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from nsr import NSR
from nsr.reading import UnreadableError, harden
from nsr.reading.columns import Columns
from nsr.reading.registers import Observed, Unit, readings, units
from tests.reading.samples import unit_weights, written


@torch.no_grad()
def test_a_unit_compares_the_extremes_of_its_weights_with_its_offset():
    register = written(3, (0, ">", 1, 2.5), (2, "<", 1, 4.0), (1, ">", 3, -1.0), constants=True)
    for r, (w_sign, w_zero) in enumerate([(-3.0, 2.0), (1.0, -1.5), (0.0, 9.0)]):
        register.w_sign[r], register.w_zero[r] = w_sign, w_zero
    assert units(register) == [
        Unit(1, None, pytest.approx(-1.0), 9.0),  # with the number 0
        Unit(0, 1, pytest.approx(2.5), 5.0),
        Unit(1, 2, pytest.approx(-4.0), 2.5),  # the lower operand first
    ]


@torch.no_grad()
def test_operands_that_are_selected_by_half_reach_half_as_far():
    register = NSR(2, redundancy=1, constants=True)
    register.v1[:, 0] = torch.tensor([3.0, 1.0, 1e-9]).log()
    register.v2[:, 0] = torch.tensor([1.0, 3.0, 1e-9]).log()
    register.offset[0] = 2.0
    [unit] = units(register)
    assert (unit.first, unit.second, unit.threshold) == (0, 1, pytest.approx(4.0))


@torch.no_grad()
@pytest.mark.parametrize(("tilt", "kept"), [(0.0, 0), (1e-4, 0), (1e-3, 1)])
def test_a_unit_that_hardly_prefers_an_operand_compares_nothing(tilt, kept):
    register = NSR(2, redundancy=1)
    register.v1[:, 0] = torch.tensor([tilt, 0.0])
    register.v2[:, 0] = 0  # half of the tilt is what the softmax makes of it, and half of that reaches either way
    found = units(register)
    assert len(found) == kept
    assert all(unit.threshold == 0 for unit in found)


@torch.no_grad()
@pytest.mark.parametrize(("pairs", "read"), [(12, True), (13, False)])
def test_of_more_than_twelve_pairs_the_least_influential_is_not_read(pairs, read):
    """Two opposite units of a pair cancel out; the last pair decides."""
    every = list(combinations(range(6), 2))[:pairs]
    opposite = [(a, symbol, b, 0.0) for a, b in every[:-1] for symbol in (">", "<=")]
    register = written(6, *opposite, (*every[-1][:1], ">", every[-1][1], 0.0))
    rows = torch.randint(-9, 10, (60, 6), generator=torch.Generator().manual_seed(0))
    if read:
        assert str(harden(register, data=rows)) == f"x{every[-1][0] + 1} > x{every[-1][1] + 1}"
    else:
        with pytest.raises(UnreadableError):
            harden(register, data=rows)


@torch.no_grad()
@pytest.mark.parametrize(
    ("threshold", "change", "read"),
    [
        (7.005, 7, "x >= 7"),  # within a hundredth of the gap from 6 to 7: the threshold decides
        (7.02, 7, "x > 6"),  # too far: of 6 and 7 the even one
        (6.995, 8, "x > 7"),
        (6.98, 8, "x >= 8"),
    ],
)
def test_a_threshold_just_beside_the_gap_still_decides_between_its_ends(threshold, change, read):
    register = written(1, (0, ">", 1, threshold), constants=True, scale=10.0, redundancy=1)
    below, above = (math.tanh(10 * (at - threshold)) for at in (change - 1, change))
    register.w_sign[0], register.w_zero[0], register.bias[0] = 10.0, 0.0, -10 * (below + above) / 2
    rows = torch.arange(-20, 20).double().unsqueeze(-1)
    assert str(harden(register, names="x", data=rows)) == read


@torch.no_grad()
def test_a_unit_that_compares_nothing_hides_no_other():
    register = written(2, (0, ">", 1, 0.0), (0, ">", 1, 0.0), redundancy=2)
    register.v1[:, 0] = register.v2[:, 0] = 0
    assert len(units(register)) == 1


@torch.no_grad()
@pytest.mark.parametrize(("threshold", "change", "read"), [(7.01, 7, "x >= 7"), (6.99, 8, "x > 7")])
def test_a_hundredth_of_the_gap_is_still_beside_it(threshold, change, read):
    register = written(1, (0, ">", 1, threshold), constants=True, scale=10.0, redundancy=1, dtype=torch.float64)
    register.v1[0, 0] = register.v2[1, 0] = 1000.0  # nothing at all is left to the other operand
    below, above = (math.tanh(10 * (at - threshold)) for at in (change - 1, change))
    register.w_sign[0], register.w_zero[0], register.bias[0] = 10.0, 0.0, -10 * (below + above) / 2
    rows = torch.arange(-20, 20).double().unsqueeze(-1)
    assert str(harden(register, names="x", data=rows)) == read


@torch.no_grad()
@pytest.mark.parametrize(("sizes", "read"), [((6.0, 6.0, 10.0), "a > b"), ((4.0, 4.0, 10.0), "a > c")])
def test_of_pairs_that_do_equally_well_the_one_of_most_influence_is_read(sizes, read):
    register = written(3, (0, ">", 1, 0.0), (0, ">", 1, 0.0), (0, ">", 2, 0.0))
    for r, size in enumerate(sizes):
        register.w_sign[r], register.w_zero[r], register.bias[r] = unit_weights(">", size=size)
    x = torch.cartesian_prod(torch.arange(-3, 4), torch.arange(-3, 4))
    assert str(harden(register, names="abc", data=x[:, [0, 1, 1]])) == read  # b and c are equal


def observed(x: torch.Tensor, answers, ask) -> Observed:
    columns = Columns(x, "ab")
    return Observed(columns, np.asarray(answers), np.ones(len(x), dtype=bool), ask)


@torch.no_grad()
@pytest.mark.parametrize("constant", [0.0, 3.0])
@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize(("count", "stride"), [(8, 1), (21, 1), (45, 2)])
def test_a_register_is_asked_five_steps_to_either_side_of_an_atom_and_on_it(count, stride, scale, constant):
    b = torch.arange(count)
    x = torch.stack([b + torch.where(b % 2 == 0, 1, -1) + int(constant), b], dim=1)
    asked = []

    def ask(rows: torch.Tensor) -> np.ndarray:
        asked.append(rows)
        return (rows[:, 0] > rows[:, 1] + constant).numpy()

    register = written(2, (0, ">", 1, constant), scale=scale, constants=constant != 0, redundancy=1)
    _, [reading, *_], *_ = readings(register, observed(x, (b % 2 == 0).numpy(), ask))
    assert reading.not_covered == ("a == b + 3" if constant else "a == b",)
    distance = (asked[1][:, 0] - asked[1][:, 1] - constant).reshape(3, -1)
    some = b[::stride][:20]
    assert torch.equal(distance, torch.tensor([[-5 / scale], [0.0], [5 / scale]]).double().expand(3, len(some)))
    assert torch.equal(asked[1][:, 1].reshape(3, -1), some.double().expand(3, len(some)))


@torch.no_grad()
@pytest.mark.parametrize(("ties", "read"), [(10, "a > b"), (11, "a >= b")])
def test_of_a_case_that_no_row_shows_most_of_the_answers_decide(ties, read):
    b = torch.arange(20)
    x = torch.stack([b + torch.where(b % 2 == 0, 1, -1), b], dim=1)

    def ask(rows: torch.Tensor) -> np.ndarray:
        return torch.where(rows[:, 0] == rows[:, 1], rows[:, 1] < ties, rows[:, 0] > rows[:, 1]).numpy()

    *_, [reading] = readings(written(2, (0, ">", 1, 0.0)), observed(x, (b % 2 == 0).numpy(), ask))
    assert str(reading.formula) == read
    assert reading.sums == {(("a", 1), ("b", -1))}


@torch.no_grad()
def test_a_formula_is_read_with_simple_constants_and_with_those_of_the_rows():
    x = torch.tensor([[at, 0] for at in (*range(-20, 0, 3), 18, 23, 31)])
    ask = lambda rows: (rows[:, 0] > 20).numpy()  # noqa: E731
    register = written(2, (0, ">", 2, 20.0), constants=True, redundancy=1)
    none, [simple, plain], *_ = readings(register, observed(x, ask(x), ask))
    assert [str(reading.formula) for reading in none] == ["False"]
    assert str(simple.formula) in ("a > 20", "a >= 20")
    assert str(plain.formula) in ("a > 18", "a >= 23")
    every = list(readings(written(2, (0, ">", 1, 0.0)), observed(x, ask(x), ask)))
    assert [len(variants) for variants in every] == [1, 1]  # without constants there is one of each


@torch.no_grad()
def test_cases_on_the_other_side_are_asked_about_too():
    x = torch.tensor([[at + 1 + at % 3, at] for at in range(12)])
    asked = observed(x, np.ones(12, dtype=bool), lambda rows: (rows[:, 0] > rows[:, 1]).numpy())
    _, [reading] = readings(written(2, (0, ">", 1, 0.0)), asked)
    assert reading.not_covered == ("a < b", "a == b")
