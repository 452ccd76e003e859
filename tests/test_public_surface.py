"""Few doors, all of them tried."""

import inspect
import re

import pytest

import nsr
import nsr.learn
import nsr.nn


def test_the_public_names_and_no_more():
    classes = ["Ensemble", "History", "Piecewise", "Program", "Recipe", "Rows", "UnreadableError"]
    assert nsr.__all__ == ["EXACT", "MLP", "NAU", "NSR", "PAPER", *classes, "fit", "harden"]
    assert set(dir(nsr)) == {*nsr.__all__, "__version__"}
    assert all(getattr(nsr, name) is not None for name in nsr.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="^module 'nsr' has no attribute 'NRS'$"):
        _ = nsr.NRS


@pytest.mark.parametrize("name", [name for name in nsr.__all__ if name not in ("EXACT", "PAPER")])
def test_every_door_is_documented(name):
    assert len(inspect.getdoc(getattr(nsr, name))) > 20


def test_the_register_has_the_promised_signature():
    assert list(inspect.signature(nsr.NSR).parameters) == [
        "inputs",
        "redundancy",
        "scale",
        "constants",
        "generator",
        "device",
        "dtype",
    ]
    kinds = [parameter.kind for parameter in inspect.signature(nsr.NSR).parameters.values()]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[1:])


def test_layers_have_names_that_say_what_they_are():
    assert not {"Reader", "Inbox"} & set(dir(nsr.nn))
    assert {"NSR", "NAU", "MLP", "Piecewise", "DigitReader", "NodeUpdate", "ShortestPaths"} <= set(dir(nsr.nn))


@pytest.mark.parametrize("name", ["NSRClassifier", "NSRRegressor"])
def test_help_names_nothing_that_cannot_be_imported(name):
    text = inspect.getdoc(getattr(nsr.learn, name))
    for other in re.findall(r"``([A-Z]\w+)``", text):
        assert hasattr(nsr.learn, other), other


def test_estimators_keep_the_diagram_of_scikit_learn():
    html = nsr.learn.NSRClassifier(restarts=2)._repr_html_()
    assert "sk-container" in html
    assert "NSRClassifier" in html
