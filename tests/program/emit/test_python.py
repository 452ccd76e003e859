"""Python: the emitted source is run."""

import ast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nsr.errors import InputError
from nsr.program import Compare, Constant, Kind, Order, Program, Variable, Where
from nsr.program.emit import InexactWarning, emit
from nsr.program.emit.exactness import integer_range
from nsr.program.evaluation import evaluate
from nsr.program.integers import denominator, with_integer_coefficients
from tests.program.emit.samples import agrees, exact, float_rows, integer_rows, programs, same
from tests.program.strategies import FLOATS, NAMES
from tests.program.strategies import programs as drawn

x1, x2, x3, x4, x5 = (Variable(f"x{position}") for position in range(1, 6))
PAPER = Program(Where(Compare(">", x1, x2), x5 + 4, x4 - x3))


def run(source, name="rule"):
    """The function that a source defines, with nothing within its reach but what it needs."""
    builtins = {each.__name__: each for each in (float, int, bool, abs, min, max, sorted, __import__)}
    namespace = {"__builtins__": builtins}
    exec(compile(source, "emitted", "exec"), namespace)
    return namespace[name]


def test_the_output_looks_handwritten():
    assert emit(PAPER, "python") == (
        "def rule(x1: float, x2: float, x3: float, x4: float, x5: float) -> float:\n"
        '    """where(x1 > x2, x5 + 4, x4 - x3)"""\n'
        "    return x5 + 4 if x1 > x2 else x4 - x3\n"
    )
    assert "    return np.where(x1 > x2, x5 + 4, x4 - x3)\n" in emit(PAPER, "python", numpy=True)


@pytest.mark.parametrize(
    ("text", "scalar", "arrays"),
    [
        ("x1*x1*x2/2 > 3", "x1 * x1 * x2 > 6", "x1 * x1 * x2 > 6"),
        ("max(x1, x2, 3)", "max(x1, x2, 3)", "np.maximum(np.maximum(x1, x2), 3)"),
        ("abs(x1 - x2)", "abs(x1 - x2)", "np.abs(x1 - x2)"),
        ("clip(x1, 0, 9)", "min(max(x1, 0), 9)", "np.clip(x1, 0, 9)"),
        ("median(x1, x2, x3)", "sorted((x1, x2, x3))[1]", "np.sort(np.broadcast_arrays(x1, x2, x3), axis=0)[1]"),
        (
            "exactly 1 of (x1 > 1, x2 > 1)",
            "(x1 > 1) + (x2 > 1) == 1",
            "np.where(x1 > 1, 1, 0) + np.where(x2 > 1, 1, 0) == 1",
        ),
    ],
)
def test_functions_of_python_and_numpy_are_used(text, scalar, arrays):
    program = Program.parse(text)
    assert f"    return {scalar}\n" in emit(program, "python")
    assert f"    return {arrays}\n" in emit(program, "python", numpy=True)


def test_columns_named_like_functions_are_renamed():
    program = Program(Order(2, Variable("max"), Variable("abs")))
    assert run(emit(program, "python"))(3, 4) == 4


@pytest.mark.usefixtures("unchecked")
def test_numbers_and_arrays_give_the_same_bits_as_the_tree():
    rows = float_rows()
    for program in programs():
        columns = [rows[name] for name in program.inputs]
        scalar, arrays = run(emit(program, "python")), run(emit(program, "python", numpy=True))
        by_row = zip(*(column.tolist() for column in columns), strict=True)
        assert agrees([scalar(*row) for row in by_row], program), program
        with np.errstate(all="ignore"):
            assert agrees(arrays(*columns), program), program


def answers_on_integers(program, **options):
    """The emitted function's values on rows of large integers."""
    function = run(emit(program, "python", **options))
    return [function(*(row[name] for name in program.inputs)) for row in integer_rows()]


@pytest.mark.outer
@pytest.mark.usefixtures("unchecked")
def test_integers_of_any_size_are_exact_without_fractions():
    found = [
        program
        for program in programs(500, fractions=False)
        if with_integer_coefficients(program.expression) == program.expression
    ]
    assert len(found) > 300
    small = integer_rows(largest=2**40)
    for program in found:
        assert answers_on_integers(program) == exact(program, integer_rows()), program
        if (integer_range(program.expression) or 0) >= 2**40:
            columns = [np.array([row[name] for row in small]) for name in program.inputs]
            assert run(emit(program, "python", numpy=True))(*columns).tolist() == exact(program, small), program


@pytest.mark.usefixtures("unchecked")
def test_integers_of_any_size_are_exact_with_fractions_in_comparisons():
    found = [program for program in programs() if program.expression.is_boolean or denominator(program.expression) == 1]
    assert len(found) > len(programs()) / 2
    for program in found:
        assert answers_on_integers(program, integers=True) == exact(program, integer_rows()), program


@given(drawn(), st.lists(FLOATS, min_size=len(NAMES), max_size=len(NAMES)))
def test_any_program_agrees_with_the_tree(program, numbers):
    row = dict(zip(NAMES, numbers, strict=True))
    for node in program.expression.walk():
        parts = node.parts if isinstance(node, Order) else ()
        assume(not any(np.isnan(evaluate(part, row, rows=0.0)) for part in parts))
    assert same(run(emit(program, "python"))(*(row[name] for name in program.inputs)), program(np.array(numbers)))


def test_integers_need_no_option_without_fractions():
    assert run(emit(PAPER, "python"))(10**1000 + 1, 10**1000, 1, 1, 10**1000) == 10**1000 + 4


def test_fractions_in_comparisons_of_integers_are_cleared():
    program = Program(Compare(">", x1, x2 + Constant(1) * 0.5))
    assert "return 2 * x1 > 2 * x2 + 1\n" in emit(program, "python", integers=True)
    assert "return x1 > x2 + 0.5\n" in emit(program, "python")


NASTY = ('"', "'", "#", "\\", "\0", "\ud800", "\u202e", "class", "np", "rule", "1", "ﬁ", "fi", "_", "x_1", "{0}", "%s")
NASTY += ("True", "__debug__", '"""', "a\nimport os", " ")


@pytest.mark.parametrize("numpy", [False, True])
def test_names_never_become_code(numpy):
    total = Variable(NASTY[0])
    for name in NASTY[1:]:
        total = total + Variable(name)
    program = Program(total, NASTY)
    source = emit(program, "python", numpy=numpy)
    tree = ast.parse(source.encode())
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    assert len(tree.body) == 1 + numpy
    assert len(function.body) == 2
    assert run(source)(*range(len(NASTY))) == sum(range(len(NASTY)))
    documented = ast.get_docstring(function)
    assert all(
        repr(name) in documented for name in NASTY if f"{name}: float" not in source and f"{name}: np.nd" not in source
    )


def test_the_function_can_have_any_valid_name():
    assert run(emit(PAPER, "python", name="x1"), "x1")(1, 0, 0, 0, 5) == 9
    for name in ("class", "a b", "", "f():\n import os\ndef g"):
        with pytest.raises(ValueError, match="^name must be a valid name for a function, got "):
            emit(PAPER, "python", name=name)


def test_a_program_without_inputs_is_a_function_without_arguments():
    assert run(emit(Program(Constant(4)), "python"))() == 4


def test_numbers_too_long_for_a_decimal_literal_are_exact_too():
    with pytest.warns(InexactWarning):
        source = emit(Program(Compare(">", x1, Constant(10**5000 + 1))), "python")
    assert run(source)(10**5000 + 2) is True
    assert run(source)(10**5000 + 1) is False


@pytest.mark.parametrize(
    ("expression", "options", "message"),
    [
        (x1 + (2**53 + 1), {}, "^9007199254740993 is not a float: on floats Python uses it exactly, "),
        (Where(Compare(">", x1, x2), Constant(2**53), x1) + 1, {}, r"^constants add up to more than 2\^53: "),
        (x1 + 2**64, {"numpy": True}, "^18446744073709551616 does not fit int64: "),
        (x1 + 10**400, {}, r"^10000000\.\.\.0000 \(401 characters\) is not a float"),
    ],
)
def test_integers_that_floats_would_round_give_a_warning(expression, options, message):
    with pytest.warns(InexactWarning, match=message) as caught:
        emit(Program(expression), "python", **options)
    assert len(caught) == 1


KINDS = {
    "c": Kind.TEXT,
    "f": Kind.BOOLEAN,
    **dict.fromkeys("de", Kind.DATE),
    "t": Kind.TIMESTAMP,
    **dict.fromkeys("uv", Kind.DURATION),
}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("f", "bool(f)"),
        ("not f", "f is not None and not f"),
        ("c = 'x'", "c == 'x'"),
        ("c != 'x'", "c is not None and c != 'x'"),
        ("c in ('x', 'y')", "c in ('x', 'y')"),
        ("c not in ('x', 'y')", "c is not None and c not in ('x', 'y')"),
        ("a is missing or a > 3", "a is None or a is not None and a > 3"),
        ("d > 2024-01-31", "d is not None and d > date(2024, 1, 31)"),
        ("d > 1970-01-01", "d is not None and d > date(1970, 1, 1)"),
        ("t > 2024-01-31", "t is not None and t > datetime(2024, 1, 31)"),
        ("t > 2024-01-31T12:30", "t is not None and t > datetime(2024, 1, 31, 12, 30)"),
        ("t > 2024-01-31T00:00:00.000005", "t is not None and t > datetime(2024, 1, 31, 0, 0, 0, 5)"),
        ("d < t", "d is not None and t is not None and datetime.combine(d, time.min) < t"),
        ("d > e", "d is not None and e is not None and d > e"),
        ("d > e + 30 days", "d is not None and e is not None and d - e > timedelta(days=30)"),
        (
            "d + u > e + v",
            "d is not None and u is not None and e is not None and v is not None and d - e + u > v",
        ),
        ("d > e + 2*n days", "d is not None and e is not None and n is not None and d - e > timedelta(days=2 * n)"),
        ("u > 0 days", "u is not None and u > timedelta(0)"),
        ("u > 5 hours", "u is not None and u > timedelta(hours=5)"),
        ("2*u > v", "u is not None and v is not None and 2 * u > v"),
        ("where(c = 'x', a, 0)", "a if c == 'x' else 0"),
        ("where(c = 'x', 2*a, b)", "(2 * a if a is not None else None) if c == 'x' else b"),
        ("where(c = 'x', 1, 2*a)", "1 if c == 'x' else 2 * a if a is not None else None"),
    ],
)
def test_cells_as_they_are_written(text, written):
    source = Program.parse(text, kinds=KINDS).emit("python")
    assert source.endswith(f"    return {written}\n")


@pytest.mark.parametrize(
    ("text", "definition"),
    [
        ("a > b", "def rule(a: float | None, b: float | None) -> bool:"),
        ("a + b", "def rule(a: float | None, b: float | None) -> float | None:"),
        ("count(a > b)", "def rule(a: float | None, b: float | None) -> float:"),
    ],
)
def test_what_may_be_none(text, definition):
    assert Program.parse(text).emit("python", missing=True).startswith(f"{definition}\n")
    assert "None" not in Program.parse(text).emit("python")


def test_the_type_of_the_answer_for_integers():
    def answer(text):
        return Program.parse(text).emit("python", integers=True).split(":\n")[0].rpartition(" ")[2]

    assert [answer(text) for text in ("a + b", "a/2", "a/2 > b")] == ["int", "float", "bool"]
    with pytest.raises(InputError, match="^arrays of numpy have numbers only"):
        Program.parse("a > b").emit("python", numpy=True, missing=True)
    with pytest.raises(InputError, match="^arrays of numpy have numbers only"):
        Program.parse("a is missing").emit("python", numpy=True, missing=False)
