import numpy as np
import pytest

from nsr.data import Rows
from nsr.errors import InputError, at_least, between, check_error_rate, needs_extra, one_of
from nsr.learn import NSRClassifier
from nsr.program import Program, Variable


def test_known_names_pass():
    assert one_of("profile", "quick", ["smoke", "quick"]) == "quick"


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("quik", "unknown profile 'quik': choose from smoke, quick, paper; did you mean 'quick'?"),
        ("PAPER", "unknown profile 'PAPER': choose from smoke, quick, paper; did you mean 'paper'?"),
        ("zzz", "unknown profile 'zzz': choose from smoke, quick, paper"),
    ],
)
def test_unknown_ones_come_with_the_near_miss(typed, text):
    with pytest.raises(InputError) as error:
        one_of("profile", typed, ["smoke", "quick", "paper"])
    assert str(error.value) == text


def test_too_small():
    assert at_least(1, "seeds", 1) == 1
    with pytest.raises(InputError, match="^seeds must be at least 1, got 0$"):
        at_least(1, "seeds", 0)


def test_long_numbers_are_not_quoted_in_full():
    for use, text in (
        (lambda: between("seed", 10**400, 0, 9), "seed must be from 0 to 9, got about 10^400"),
        (lambda: between("seed", -(10**5000), 0, 9), "seed must be from 0 to 9, got about -10^5000"),
        (lambda: at_least(1, "workers", -(10**5000)), "workers must be at least 1, got about -10^5000"),
        (lambda: between("seed", 2**64, 0, 9), f"seed must be from 0 to 9, got {2**64}"),
    ):
        with pytest.raises(InputError) as caught:
            use()
        assert str(caught.value) == text


def test_a_module_that_an_extra_brings():
    with needs_extra("learn"):
        import json  # noqa: F401
    with pytest.raises(InputError) as error, needs_extra("learn"):
        import nowhere_to_be_found  # noqa: F401
    assert str(error.value) == (
        "this needs nowhere_to_be_found: install it with pip install 'neural-status-registers[learn]'"
    )


def test_an_error_rate_is_below_a_half():
    for errors in (0, 0.0, 0.25, np.float32(0.4)):
        check_error_rate(errors)
    for errors in (-0.1, 0.5, 1, float("nan"), "0.1"):
        with pytest.raises(InputError) as error:
            check_error_rate(errors)
        assert str(error.value) == f"errors must be at least 0 and less than 0.5, got {errors!r}"


MASKED = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 99.0]]), 50)


@pytest.mark.parametrize(
    "use",
    [
        lambda: Rows.of(MASKED, [0, 1]),
        lambda: Program(Variable("a") > 3)({"a": MASKED[:, 1]}),
        lambda: Program(Variable("a") > Variable("b"))(MASKED),
        lambda: Program(Variable("a") > Variable("b"))([np.ma.masked, 1.0]),
        lambda: Program(Variable("a") > Variable("b"))({"a": np.ma.masked, "b": 1.0}),
        lambda: Program(Variable("a") > Variable("b"))({"a": [1, np.ma.masked], "b": [1, 2]}),
        lambda: NSRClassifier().fit(MASKED, [0, 1]),
        lambda: NSRClassifier().fit([[1.0], [2.0]], MASKED[:, 1]),
    ],
)
def test_masked_cells_are_refused_rather_than_used(use):
    with pytest.raises(InputError, match="has masked cells: leave these rows out, or fill them$"):
        use()


def test_masked_arrays_without_masked_cells_are_arrays():
    assert Program(Variable("a") > 2)({"a": np.ma.array([1.0, 3.0])}).tolist() == [False, True]
