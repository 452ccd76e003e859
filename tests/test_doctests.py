"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import nsr
from nsr.learn import NSRClassifier, NSRRegressor

PACKAGES = ("adam", "data", "ensemble", "learn", "nn", "program", "reading", "training")


def modules() -> list[str]:
    """The modules of these packages whose source has an example."""
    found = [
        module.name for module in pkgutil.walk_packages(nsr.__path__, "nsr.") if module.name.split(".")[1] in PACKAGES
    ]
    sources = {name: importlib.util.find_spec(name).loader.get_source(name) for name in found}
    return [name for name, source in sources.items() if ">>> " in source]


@pytest.mark.parametrize("name", modules())
def test_the_examples_of(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted({*nsr.__all__} - {"EXACT", "PAPER", "History", "UnreadableError"}))
def test_what_users_call_has_an_example(name):
    examples = doctest.DocTestFinder().find(getattr(nsr, name), name)
    assert any(test.examples for test in examples)


@pytest.mark.parametrize("estimator", [NSRClassifier, NSRRegressor])
def test_what_table_users_call_has_an_example(estimator):
    assert any(test.examples for test in doctest.DocTestFinder().find(estimator, estimator.__name__))
