"""Names of columns in other languages."""

import pytest

from nsr.program.emit.names import identifiers, is_python_name, printable, unwritable


@pytest.mark.parametrize(
    ("names", "taken", "expected"),
    [
        (["a", "größe"], [], ["a", "größe"]),
        (["unit price"], [], ["unit_price"]),
        (["unit price", "unit_price"], [], ["unit_price_1", "unit_price"]),
        (["a b", "a-b", "a+b"], [], ["a_b", "a_b_1", "a_b_2"]),
        (["x", "y"], ["x", "x_1"], ["x_2", "y"]),
        (["2nd", "€", " ", "_ü"], [], ["x_2nd", "x", "x_1", "_ü"]),
        (["class"], [], ["class_1"]),
        (["a" * 39 + " b", "b" * 40 + " c"], [], ["a" * 39 + "_", "b" * 40]),
    ],
)
def test_identifiers_resemble_the_names(names, taken, expected):
    assert identifiers(names, taken=taken) == dict(zip(names, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "valid"),
    [("a", True), ("größe", True), ("ﬁle", False), ("if", False), ("__debug__", False), ("2nd", False), ("a b", False)],
)
def test_names_that_python_keeps(name, valid):
    assert is_python_name(name) is valid


@pytest.mark.parametrize(
    ("text", "written", "in_ascii"),
    [
        ("a b", "a b", "a b"),
        ("a\tb", r"a\x09b", r"a\x09b"),
        ("ÿ", "ÿ", r"\xff"),
        ("Ā", "Ā", r"\u0100"),
        ("\u2028", r"\u2028", r"\u2028"),
        ("\uffff", r"\uffff", r"\uffff"),
        ("\U00010000", "\U00010000", r"\U00010000"),
        ("\U000e0001", r"\U000e0001", r"\U000e0001"),
    ],
)
def test_unprintable_characters_become_escapes(text, written, in_ascii):
    assert printable(text) == written
    assert printable(text, ascii_only=True) == in_ascii


def test_half_of_a_surrogate_pair_cannot_be_written():
    assert unwritable(["a", "\ud7ff\ue000"]) is None
    assert unwritable(["a", "b\ud800", "\udfff"]) == "b\ud800"
    assert unwritable(["\udfff"]) == "\udfff"
