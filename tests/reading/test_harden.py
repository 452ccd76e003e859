"""A trained model can be read: as the rule it computes, or not at all."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

from nsr import EXACT, MLP, NAU, NSR, Ensemble, Recipe, fit
from nsr.data import COMPARISONS, Rows, all_pairs, function_of_all_pairs
from nsr.nn import Piecewise
from nsr.program import And, Compare, Constant, Expression, Linear, Or, Variable, Where
from nsr.reading import UnreadableError, harden
from tests.reading.samples import pairs, written

A, B, C, D = map(Variable, "abcd")


def variables(inputs: int) -> list[Variable]:
    return [Variable(f"x{position}") for position in range(1, inputs + 1)]


# Written registers


@pytest.mark.parametrize("symbol", COMPARISONS)
@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("inputs", [2, 3, 8])
def test_a_written_rule_reads_back_on_any_pair(inputs, constants, symbol):
    x = variables(inputs)
    for first, second in pairs(inputs)[:: 1 if inputs == 2 else 3 if inputs == 3 else 13]:
        register = written(inputs, (first, symbol, second, 0.0), constants=constants)
        assert harden(register) == Compare(symbol, x[first], x[second]), (first, second)


@pytest.mark.parametrize("symbol", COMPARISONS)
@pytest.mark.parametrize("constant", [5, -3, 37.5, 0])
def test_a_written_constant_reads_back(constant, symbol):
    for first in range(3):
        single = written(3, (first, symbol, 3, constant), constants=True)
        assert harden(single, names="abc") == Compare(symbol, Variable("abc"[first]), Constant(constant))
    gap = written(3, (0, symbol, 2, constant), constants=True)
    assert harden(gap, names="abc") == Compare(symbol, A, C + constant)


def test_the_simplest_constant_that_the_data_allow():
    rows = torch.arange(-20, 20).double().unsqueeze(-1)
    almost = written(1, (0, ">", 1, 4.9931), constants=True, scale=1000.0)
    assert str(harden(almost, names="x", data=rows)) == "x >= 5"
    between = written(1, (0, ">", 1, 4.5), constants=True, scale=1000.0)
    assert str(harden(between, names="x", data=rows)) in ("x > 4", "x >= 5")
    continuous = torch.linspace(-50, 50, 701, dtype=torch.float64).unsqueeze(-1)
    assert str(harden(written(1, (0, "<", 1, 12.97), constants=True, scale=1000.0), names="x", data=continuous)) in (
        "x < 13",
        "x <= 13",
    )


def test_two_comparisons_at_once():
    both = written(4, (0, ">", 1, 0.0), (2, "<=", 3, 0.0))
    with torch.no_grad():
        both.bias[0] -= 10  # z is +-10 +-10 - 10: above 0 only where both hold
    assert harden(both, names="abcd") == And(Compare(">", A, B), Compare("<=", C, D))
    with torch.no_grad():
        both.bias[0] += 20
    assert harden(both, names="abcd") == Or(Compare(">", A, B), Compare("<=", C, D))
    one = written(3, (0, "=", 1, 0.0), (2, "=", 3, 1.0), constants=True)
    with torch.no_grad():
        one.bias[0] += 1.5  # a zero bit is soft: its unit's logit is 10 at a tie, -1.6 one beside it and -10 far away
    assert str(harden(one, names="abc")) == "a == b or c == 1"


def test_what_was_dropped_and_what_was_never_seen():
    register = written(3, (0, ">", 1, 0.0), redundancy=6)
    evidence = harden(register, names="abc").evidence
    assert evidence.with_model == 1
    assert evidence.agreement is None
    assert "a with b" not in evidence.dropped
    untied = torch.tensor([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [5.0, 9.0, 1.0], [9.0, 5.0, 1.0]])
    program = harden(register, names="abc", data=untied)
    assert program == Compare(">", A, B)  # of the tie the weights say no
    assert program.evidence.not_covered == ("a == b",)
    assert harden(written(3, (0, ">=", 1, 0.0)), names="abc", data=untied) == Compare(">=", A, B)


def test_an_untrained_register_is_refused_or_read_as_what_it_does():
    read = refused = 0
    for seed in range(15):
        inputs, generator = 2 + seed % 2, torch.Generator().manual_seed(seed)
        rows = torch.randint(-10, 10, (300, inputs), generator=generator)
        register = NSR(inputs, redundancy=1 + seed % 3, constants=seed % 5 == 4, generator=generator)
        soft = register(rows)[:, 0] > 0.5
        try:
            program = harden(register, data=rows)
        except UnreadableError as refusal:
            refused += set(refusal.rows) == set((refusal.program(rows) != soft).nonzero().flatten().tolist())
        else:
            read += 1
            assert torch.equal(program(rows), soft)
    assert read + refused == 15


# Trained registers


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_every_seed_of_recipe_exact_reads_as_its_comparison_and_is_right_at_a_thousand_digits(symbol):
    rows = all_pairs(symbol)
    ensemble = Ensemble(lambda generator: NSR(2, generator=generator), range(10))
    fit(ensemble, rows, EXACT)
    n = 10**999 + 7
    for seed in ensemble.seeds:
        program = harden(ensemble.member(seed), names="ab", data=rows)
        assert program == Compare(symbol, A, B)
        assert (program.evidence.with_model, program.evidence.agreement, program.evidence.rows) == (1, 1, 400)
        for m in (n - 1, n, n + 1):
            assert program([n, m]) is COMPARISONS[symbol](n, m)
            assert program({"a": -n, "b": -m}) is COMPARISONS[symbol](-n, -m)


def trained(rule, inputs: int, *, constants: bool) -> list[str]:
    x = torch.randint(-10, 10, (1500, inputs), generator=torch.Generator().manual_seed(0))
    rows = Rows.of(x, rule(*x.T).double())
    ensemble = Ensemble(lambda generator: NSR(inputs, constants=constants, generator=generator), range(2))
    recipe = Recipe(name="formula", loss="bce", epochs=1_500, learning_rate=0.02, check_every=50, patience=5)
    fit(ensemble, rows, recipe, engine="eager")
    read = []
    for seed in ensemble.seeds:
        try:
            read.append(str(harden(ensemble.member(seed), names="abcd"[:inputs], data=rows)))
        except UnreadableError as refusal:
            read.append(refusal.reason)
    return read


def test_a_trained_formula_of_two_comparisons():
    assert "a > b and c <= d" in trained(lambda a, b, c, d: (a > b) & (c <= d), 4, constants=False)


@pytest.mark.parametrize(
    ("rule", "read"),
    [
        (lambda a, _: a > 3, {"a > 3", "a >= 4"}),
        (lambda a, b: a > b + 3, {"a > b + 3", "a >= b + 4"}),
        pytest.param(
            lambda a, b: (a == b) | (b == 1), {"b == 1 or a == b", "a == b or b == 1"}, marks=pytest.mark.outer
        ),
    ],
)
def test_trained_constants(rule, read):
    assert set(trained(rule, 2, constants=True)) <= read


@pytest.mark.parametrize("high", [10, 100])
def test_a_threshold_between_those_of_the_units_is_found_with_data_and_without(high):
    x = torch.arange(-high, high).unsqueeze(-1)
    at = 3 if high == 10 else 40
    rows = Rows.of(x, (x[:, 0] > at).double())
    ensemble = Ensemble(lambda generator: NSR(1, constants=True, generator=generator), range(4))
    fit(ensemble, rows, EXACT, engine="eager")
    for seed in range(4):
        right = bool(((ensemble.member(seed)(x)[:, 0] > 0.5) == (x[:, 0] > at)).all())
        program = harden(ensemble.member(seed), names="a", data=x)
        assert torch.equal(program(x), ensemble.member(seed)(x)[:, 0] > 0.5)
        if right:
            assert str(harden(ensemble.member(seed), names="a", data=rows)) in (f"a > {at}", f"a >= {at + 1}", "a > 40")
        try:
            alone = harden(ensemble.member(seed), names="a")
        except UnreadableError:
            continue
        assert torch.equal(alone(x), ensemble.member(seed)(x)[:, 0] > 0.5)  # never as something else


def test_contradicting_rows_are_refused_and_shown_and_wrong_labels_are_allowed_for():
    rows = all_pairs(">")
    register = written(2, (0, ">", 1, 0.0))
    flipped = rows.y.clone()
    flipped[[3, 50]] = 1 - flipped[[3, 50]]
    wrong = Rows.of(rows.x, flipped)
    with pytest.raises(UnreadableError) as refusal:
        harden(register, names="ab", data=wrong)
    assert refusal.value.rows == (3, 50)
    assert refusal.value.program == Compare(">", A, B)
    assert str(refusal.value).splitlines() == [
        "no exact reading: 2 of 400 rows contradict a > b, the nearest program",
        "  row 3: a = -10, b = -7; the answer in the data is True",
        "  row 50: a = -8, b = 0; the answer in the data is True",
    ]
    program = harden(register, names="ab", data=wrong, errors=0.01)
    assert program == Compare(">", A, B)
    assert program.evidence.agreement == 398 / 400


def test_what_explains_more_rows_is_read_rather_than_a_constant():
    assert harden(written(2, (0, "=", 1, 0.0)), names="ab", data=all_pairs("="), errors=0.1) == Compare("=", A, B)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("symbol", COMPARISONS)
def test_decimals_are_read_as_they_print(symbol, dtype):
    x = (torch.arange(-9, 10).double() / 10).to(dtype).unsqueeze(-1)
    y = COMPARISONS[symbol](torch.arange(-9, 10), 3).double()
    program = harden(written(1, (0, symbol, 1, 0.3), constants=True, scale=10.0), names="a", data=(x, y))
    assert [program([k / 10]) for k in range(-9, 10)] == [bool(value) for value in y]
    assert len(str(program)) <= len("a >= 0.3")


def test_sums_of_decimals_that_floats_round_are_refused_with_advice():
    x = torch.cartesian_prod(torch.arange(10, 31), torch.arange(10, 31)).double() / 10
    register = written(2, (0, "=", 1, 0.3), constants=True, scale=10.0)
    y = ((x[:, 0] * 10).round() == (x[:, 1] * 10).round() + 3).double()
    with pytest.raises(UnreadableError, match="try integers, every number times 10"):
        harden(register, names="ab", data=(x, y))
    whole = harden(written(2, (0, "=", 1, 3.0), constants=True), names="ab", data=((x * 10).round().long(), y))
    assert whole == Compare("=", A, B + 3)


def test_of_ties_that_no_row_shows_the_register_decides_in_formulas_too():
    both = written(4, (0, ">", 1, 0.0), (2, ">=", 3, 0.0), scale=1e6)
    with torch.no_grad():
        both.bias[0] -= 10
    rows = torch.randn(500, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 10
    program = harden(both, names="abcd", data=rows)
    assert program == And(Compare(">", A, B), Compare(">=", C, D))
    assert "a > b and c == d" in program.evidence.not_covered


def test_large_integers_are_shown_as_they_are():
    n = 10**15
    x = torch.tensor([[n, n + 1], [n + 1, n], [n, n]])
    with pytest.raises(UnreadableError, match=f"x1 = {n}, x2 = {n + 1}; the answer in the data is True"):
        harden(written(2, (0, ">", 1, 0.0)), data=(x, torch.tensor([1.0, 1.0, 0.0])))


# Piecewise functions


def gated(first: Expression, second: Expression, symbol: str = ">") -> Piecewise:
    """A written Piecewise over four inputs: the arms as sums of x1 to x4."""
    module = Piecewise(written(4, (0, symbol, 1, 0.0), scale=5.0))
    with torch.no_grad():
        module.arms.weight.zero_()
        for row, arm in enumerate((first, second)):
            for coefficient, atom in arm.terms if isinstance(arm, Linear) else ((1, arm),):
                module.arms.weight[row, int(atom.name[1]) - 1] = float(coefficient)
            module.arms.bias[row] = float(arm.constant) if isinstance(arm, Linear) else 0.0
    return module


def test_a_written_piecewise_function_reads_back_with_its_constants():
    x1, x2, x3, x4 = variables(4)
    module = gated(x3 + x4 + 4, x4 - x3)
    x = torch.randint(-9, 10, (500, 4), generator=torch.Generator().manual_seed(2))
    y = torch.where(x[:, 0] > x[:, 1], x[:, 2] + x[:, 3] + 4, x[:, 3] - x[:, 2]).double()
    with torch.no_grad():
        module.arms.weight.mul_(0.97).add_(0.02)
        module.arms.bias.add_(0.04)
    true = Where(Compare(">", x1, x2), x3 + x4 + 4, x4 - x3)
    program = harden(module, data=Rows.of(x, y))
    assert program == true
    assert program.evidence.agreement == 1
    assert torch.equal(program.module()(x).double(), y)
    with torch.no_grad():
        module.arms.weight.copy_(module.arms.weight.round())
        module.arms.bias.copy_(torch.tensor([4.02, -0.01]))
    assert harden(module) == true  # without answers the soft model is the judge


@pytest.mark.parametrize("constant", [7, 0, -3])
@pytest.mark.parametrize("far", [0, 2**45])
def test_constants_of_arms_are_not_lost_beside_large_numbers(far, constant):
    x1, x2, x3, x4 = variables(4)
    x = torch.randint(-1000, 1000, (300, 4), generator=torch.Generator().manual_seed(3)) + far
    y = (torch.where(x[:, 0] > x[:, 1], x[:, 2], x[:, 3]) + constant).double()
    true = Where(Compare(">", x1, x2), x3 + constant, x4 + constant)
    assert harden(gated(x3 * 1 + 1, x4 + 1), data=Rows.of(x, y)) == true


def test_arms_on_tiny_and_on_single_precision_numbers():
    x1, x2, x3, x4 = variables(4)
    true = Where(Compare(">", x1, x2), x3 + 0.5, x4 - x3)
    x = torch.randint(-90, 90, (300, 4), generator=torch.Generator().manual_seed(3)).float() / 10
    y = torch.where(x[:, 0] > x[:, 1], x[:, 2] + 0.5, x[:, 3] - x[:, 2])
    assert harden(gated(x3 + 0.4, x4 - x3), data=Rows.of(x, y)) == true
    small = torch.rand(100, 4, generator=torch.Generator().manual_seed(4), dtype=torch.float64) * 1e-10
    with pytest.raises(UnreadableError):
        harden(gated(x3 - x3 * 0.9, x3 - x3 * 0.9), data=Rows.of(small, small.amax(-1)))


def test_without_answers_weights_must_be_nearly_whole():
    x1, x2, x3, x4 = variables(4)
    assert harden(gated(x3 * 0.99 + 12.25, x4 * -1)) == Where(Compare(">", x1, x2), x3 + 12.25, -x4)
    with pytest.raises(UnreadableError):
        harden(gated(x3 * 0.7, x4 * -0.8))


def test_weights_beyond_their_bounds_count_as_the_bounds():
    x = variables(4)
    module = gated(x[2] * 1, x[3] * 1)
    with torch.no_grad():
        module.arms.weight.mul_(1.7)
    assert harden(module) == Where(Compare(">", x[0], x[1]), x[2], x[3])


def test_a_program_takes_the_place_of_the_gate_that_it_was_read_from():
    x3, x4 = variables(4)[2:]
    module = gated(x3 + 1, x4 - x3)
    program = harden(module.gate)
    hardened = Piecewise(program.module(), generator=torch.Generator().manual_seed(0))
    hardened.arms.load_state_dict(module.arms.state_dict())
    x = torch.randint(-9, 10, (50, 4)).float()
    expected = torch.where(x[:, 0] > x[:, 1], x[:, 2] + 1, x[:, 3] - x[:, 2])
    assert torch.equal(hardened(x), expected)
    assert torch.equal(program.module().logit(x).sigmoid(), (x[:, 0] > x[:, 1]).float())


def test_arms_that_are_one_need_no_gate():
    x = variables(4)
    assert harden(gated(x[2] + 1, x[2] + 1)) == x[2] + 1


# Refusals


def test_what_has_no_register_cannot_be_read():
    with pytest.raises(
        UnreadableError, match=r"^only a module with an NSR can be read, and MLP\(2, hidden=20\) has none$"
    ):
        harden(MLP(2))
    with pytest.raises(UnreadableError, match="has none$"):
        harden(Piecewise(MLP(2)))
    with pytest.raises(UnreadableError, match="has none$"):
        harden(NAU(2))


def test_weights_that_are_no_numbers_are_refused():
    broken = NSR(2)
    with torch.no_grad():
        broken.w_sign.fill_(torch.nan)
    with pytest.raises(UnreadableError, match="holds weights that are NaN or infinite$"):
        harden(broken)


def test_data_may_be_arrays_lists_and_pairs():
    register = written(2, (0, ">", 1, 0.0))
    x, y = [[1, 2], [2, 1], [3, 3]], [0, 1, 0]
    for data in (x, np.array(x), (x, y), (np.array(x), np.array(y)), (torch.tensor(x), torch.tensor(y))):
        assert harden(register, names="ab", data=data) == Compare(">", A, B)
    frame = pd.DataFrame(x, columns=["a", "b"])
    floats = torch.tensor(x, dtype=torch.bfloat16, requires_grad=True)
    for other in (frame, frame.astype("Int64"), np.array(x, dtype=object), np.array(x, dtype=np.uint64), floats):
        assert harden(register, names="ab", data=other) == Compare(">", A, B)
        assert harden(register, names="ab", data=(other, pd.Series([False, True, False], dtype="boolean"))) == (A > B)
    for wrong in ("abc", (x, y, y), (x, ["no", "yes", "no"])):
        with pytest.raises(ValueError, match="must"):
            harden(register, data=wrong)
    huge = torch.tensor([[1e308, -1e308], [-1e308, 1e308]], dtype=torch.float64)
    assert harden(register, names="ab", data=huge) == Compare(">", A, B)


def test_integers_within_two_to_the_62_are_read():
    register, far = written(2, (0, ">", 1, 0.0)), 2**62
    assert harden(register, names="ab", data=torch.tensor([[far, 0], [0, far], [5, 5]])) == Compare(">", A, B)
    for number in (far + 1, -far - 1):
        with pytest.raises(ValueError, match=r"^integers in the data must lie within 2\^62"):
            harden(register, data=torch.tensor([[number, 0], [5, 5]]))


@pytest.mark.parametrize(
    ("threshold", "scale", "read"),
    [
        (5 + 1 / 32, 1.0, "5"),
        (5 + 1 / 16, 1.0, "5.06"),
        (5 + 1 / 256, 10.0, "5"),
        (5 + 1 / 128, 10.0, "5.007"),
        (7.5, 0.1, "7"),
        (7.625, 0.1, "7.6"),
    ],
)
def test_without_data_a_constant_is_the_simplest_within_a_twentieth_of_a_step(threshold, scale, read):
    register = written(1, (0, ">=", 1, threshold), constants=True, scale=scale)
    assert harden(register, names="a") == Compare(">=", A, Constant(Fraction(read)))


@pytest.mark.usefixtures("unchecked")
def test_wrong_arguments_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"^the answers for a register must be 0 or 1, got 7$"):
        harden(written(2, (0, ">", 1, 0.0)), data=([[1, 2], [2, 1]], [0, 7]))
    with pytest.raises(ValueError, match="one answer for each"):
        harden(written(2, (0, ">", 1, 0.0)), data=all_pairs(">").with_targets(torch.zeros(3, 400)))
    register = written(2, (0, ">", 1, 0.0))
    with pytest.raises(ValueError, match=r"^2 inputs need 2 names, got 3$"):
        harden(register, names="abc")
    with pytest.raises(
        ValueError,
        match=r"^data must be \(rows, inputs\) with at least one row, and one answer for each, got \(0, 2\)$",
    ):
        harden(register, data=torch.zeros(0, 2))
    with pytest.raises(ValueError, match=r"got \(2, 2, 2\)$"):
        harden(register, data=torch.zeros(2, 2, 2))
    with pytest.raises(ValueError, match=r"^data must be \(rows, 2\), got \(3, 1\)$"):
        harden(register, data=torch.zeros(3, 1))
    with pytest.raises(ValueError, match=r"^data must be finite, got NaN or infinity$"):
        harden(register, data=torch.tensor([[1.0, float("inf")]]))
    with pytest.raises(ValueError, match=r"^errors must be at least 0 and less than 0.5, got 0.5$"):
        harden(register, errors=0.5)


def test_evidence_says_which_parts_came_from_weights_answers_and_labels():
    rows = function_of_all_pairs("f", np.random.default_rng(0))
    piecewise = Piecewise(NSR(5, generator=torch.Generator().manual_seed(0)), generator=torch.Generator())
    with torch.no_grad():  # x5 + 4 if x1 > x2 else x4 - x3, with a constant that labels alone make 4
        gate = piecewise.gate
        gate.v1.fill_(0), gate.v2.fill_(0), gate.bias.fill_(0), gate.w_zero.fill_(-1), gate.w_sign.fill_(2)
        gate.v1[0], gate.v2[1] = 40, 40
        piecewise.arms.weight.copy_(torch.tensor([[0.0, 0, 0, 0, 1], [0, 0, -1, 1, 0]]))
        piecewise.arms.bias.copy_(torch.tensor([3.5, 0.0]))
    program = harden(piecewise, data=rows)
    assert str(program) == "where(x1 > x2, x5 + 4, x4 - x3)"
    assert dict(program.evidence.sources) == {
        "compared numbers": "weights",
        "comparisons and their formula": "answers",
        "acceptance": "labels",
        "weights of the branches": "weights",
        "constants of the branches": "labels",
    }
    alone = harden(piecewise, data=rows.x)
    assert str(alone) == "where(x1 > x2, x5 + 3.5, x4 - x3)"  # what the model itself computes
    assert dict(alone.evidence.sources)["constants of the branches"] == "weights"
    assert dict(alone.evidence.sources)["acceptance"] == "answers"
