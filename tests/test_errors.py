import pytest

from nsr.errors import InputError, at_least, needs_extra, one_of


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
    with pytest.raises(InputError) as refusal:
        one_of("profile", typed, ["smoke", "quick", "paper"])
    assert str(refusal.value) == text


def test_too_small():
    assert at_least(1, "seeds", 1) == 1
    with pytest.raises(InputError, match="^seeds must be at least 1, got 0$"):
        at_least(1, "seeds", 0)


def test_a_module_that_an_extra_brings():
    with needs_extra("learn"):
        import json  # noqa: F401
    with pytest.raises(InputError) as refusal, needs_extra("learn"):
        import nowhere_to_be_found  # noqa: F401
    assert str(refusal.value) == (
        "this needs nowhere_to_be_found: pip install 'neural-status-registers[learn]' brings it"
    )
