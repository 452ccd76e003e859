"""C: all programs are compiled once and called through pointers."""

import ctypes
import shutil
import subprocess
import warnings

import numpy as np
import pytest

from nsr.program import Compare, Constant, Program, Truth, Variable, Where
from nsr.program.emit import InexactWarning, emit
from nsr.program.emit.c import HEADER
from nsr.program.emit.exactness import integer_range
from nsr.program.integers import denominator, with_integer_coefficients
from tests.program.emit.samples import agrees, answers, exact, float_rows, integer_rows, programs, same
from tests.program.strategies import NAMES

COMPILER = shutil.which("gcc") or shutil.which("cc")
STRICT = ("-O0", "-std=c99", "-pedantic", "-trigraphs", "-Wall", "-Wextra", "-Werror")
a, b = Variable("a"), Variable("b")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler: neither gcc nor cc")


def compiled(folder, source, *options):
    path = folder / "program.c"
    path.write_text(source, encoding="ascii")
    library = folder / "program.so"
    subprocess.run([COMPILER, *options, "-shared", "-fPIC", str(path), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def caller(kind, functions):
    """C that calls one of many functions over the rows of a table with a column for each of NAMES."""
    lines = []
    for index, (name, inputs) in enumerate(functions):
        arguments = ", ".join(f"row[{NAMES.index(column)}]" for column in inputs)
        lines.append(f"static {kind} call_{kind}_{index}(const {kind} *row) {{ return {name}({arguments}); }}")
    table = ", ".join(f"call_{kind}_{index}" for index in range(len(functions)))
    return "\n".join(lines) + (
        f"\nstatic {kind} (*const all_{kind}[])(const {kind} *) = {{ {table} }};\n"
        f"void run_{kind}(size_t which, size_t rows, const {kind} *table, {kind} *out);\n"
        f"void run_{kind}(size_t which, size_t rows, const {kind} *table, {kind} *out)\n"
        f"{{ for (size_t row = 0; row < rows; row++) out[row] = all_{kind}[which](table + row * {len(NAMES)}); }}\n"
    )


def called(function, which, table):
    """The answers of one of them."""
    out = np.empty(len(table), dtype=table.dtype)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (table, out))
    function(ctypes.c_size_t(which), ctypes.c_size_t(len(table)), *pointers)
    return out


def range_of(program):
    """The range that the emitted text states, or None where there is no function of int64_t."""
    if not program.expression.is_boolean and denominator(program.expression) > 1:
        return None
    return integer_range(with_integer_coefficients(program.expression))


def rows_within(largest):
    """Rows of integers as large as stated, and smaller."""
    near = [{name: (-1) ** index * (largest - index % 2) for index, name in enumerate(NAMES)}]
    near += [{name: -value for name, value in near[0].items()}, dict.fromkeys(NAMES, largest)]
    others = integer_rows(largest=min(largest, 2**40))  # some of them are larger than a very small range
    return near + [row for row in others if max(map(abs, row.values())) <= largest]


@needs_compiler
@pytest.mark.usefixtures("unchecked")
def test_both_functions_agree_with_the_tree(tmp_path):
    found = programs() + programs(100, rounded=True)
    ranges = [range_of(program) for program in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        sources = [emit(program, "c", name=f"rule_{index}") for index, program in enumerate(found)]
    whole_ones = [index for index, largest in enumerate(ranges) if largest is not None]
    assert len(whole_ones) > len(programs()) / 2
    sources.append(caller("double", [(f"rule_{index}", program.inputs) for index, program in enumerate(found)]))
    sources.append(caller("int64_t", [(f"rule_{index}_int64", found[index].inputs) for index in whole_ones]))
    library = compiled(tmp_path, HEADER + "\n".join(sources).replace(HEADER, ""), *STRICT)
    table = np.ascontiguousarray(np.array([float_rows()[name] for name in NAMES]).T)
    for index, program in enumerate(found):
        assert agrees(called(library.run_double, index, table).astype(answers(program).dtype), program), program
    for which, index in enumerate(whole_ones):
        program, rows = found[index], rows_within(ranges[index])
        integers = called(library.run_int64_t, which, np.array([[row[name] for name in NAMES] for row in rows]))
        assert integers.tolist() == exact(program, rows), program


@pytest.mark.outer
@needs_compiler
@pytest.mark.usefixtures("unchecked")
def test_loops_have_the_same_bits_when_optimised_for_this_machine(tmp_path):
    found = programs()[:60]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        sources = [emit(program, "c", name=f"rule_{index}", loop=True) for index, program in enumerate(found)]
    library = compiled(tmp_path, "\n".join(sources), "-O3", "-march=native")
    for index, program in enumerate(found):
        columns = [float_rows()[name] for name in program.inputs]
        for name, kind in ((f"rule_{index}_rows", np.float64), (f"rule_{index}_int64_rows", np.int64)):
            if kind is np.int64:
                if (range_of(program) or 0) < 24:
                    continue
                columns = [np.arange(-12, 12) * (len(column) % 5 - 2) for column in program.inputs]
            expected = np.asarray(program(dict(zip(program.inputs, columns, strict=True))))
            out = np.empty(24, dtype=bool if program.expression.is_boolean else kind)
            columns = [np.ascontiguousarray(column, dtype=kind) for column in columns]
            getattr(library, name)(ctypes.c_size_t(24), *(ctypes.c_void_p(x.ctypes.data) for x in (*columns, out)))
            assert same(out, expected) if kind is np.int64 else agrees(out, program), program


NASTY = ("int", "int64_t", "INT64_C", "INT64_MAX", "uint8_t", "bool", "true", "NULL", "linux", "main", "row", "rows")
NASTY += ("answers", "rule", "rule_rows", "_x", "a_rows", "1")
NASTY += ("*/ int x; /*", "??/", "\\", "\n", "größe", "a", '"', "\0", "\ud800", "x_max", "double", "#include")


@needs_compiler
def test_names_never_become_code(tmp_path):
    total = Variable(NASTY[0])
    for name in NASTY[1:]:
        total = total + Variable(name)
    program = Program(total, NASTY)
    library = compiled(tmp_path, emit(program, "c", loop=True), *STRICT)
    library.rule_int64.restype = ctypes.c_int64
    assert library.rule_int64(*(ctypes.c_int64(2**index) for index in range(len(NASTY)))) == 2 ** len(NASTY) - 1


@needs_compiler
def test_the_source_does_not_compile_without_ieee_arithmetic(tmp_path):
    (tmp_path / "program.c").write_text(emit(Program(a + b), "c"))
    command = [COMPILER, "-ffast-math", "-c", "program.c"]
    failed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert failed.returncode != 0
    assert "doubles must be IEEE doubles" in failed.stderr


def test_the_output_looks_handwritten():
    text = emit(Program(Where(Compare(">", a, b * 0.5), a + 4, b - 1)), "c", name="f")
    assert "double f(double a, double b)\n{\n    return 2.0 * a > b ? a + 4.0 : b - 1.0;\n}\n" in text
    assert "/* Exact for inputs from -4611686018427387903 to 4611686018427387903. */\nint64_t f_int64(" in text
    assert "bool rule(void)" in emit(Program(Truth(True)), "c")


def test_there_is_no_function_of_integers_if_answers_can_be_fractions():
    text = emit(Program(a * 0.5), "c")
    assert "/* There is no rule_int64: answers can be fractions. */" in text
    assert "int64_t" not in text.split("#endif")[-1].replace("rule_int64", "")


def test_numbers_that_do_not_fit_give_a_warning():
    with pytest.warns(InexactWarning, match="^9007199254740993 is not a double: the function of double "):
        emit(Program(a + (2**53 + 1)), "c")
    with pytest.warns(InexactWarning, match="^the program has a number that does not fit int64: "):
        assert "There is no rule_int64: a number" in emit(Program(a + 2**70), "c")
    with pytest.raises(ValueError, match=r"^target 'c' computes in float64, which cannot represent 10000000"):
        emit(Program(Compare(">", a, Constant(10**400))), "c")


@pytest.mark.outer
@needs_compiler
def test_columns_with_names_of_macros_are_compiled(tmp_path):
    """All macros that the headers of the emitted source define here."""
    listed = subprocess.run(
        [COMPILER, "-dM", "-E", "-"], input=HEADER, capture_output=True, text=True, check=True
    ).stdout
    macros = {line.split()[1].split("(")[0] for line in listed.splitlines()}
    assert "DBL_DIG" in macros
    program = Program(sum((Variable(name) for name in sorted(macros)[1:]), Variable(min(macros))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        compiled(tmp_path, emit(program, "c"), *STRICT)


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("a > b", ["a > b", "a > b"]),
        ("a != 3", ["a != 3.0", "a != INT64_C(3)"]),
        ("a > 0.1", ["a > 0.1", "10 * a > INT64_C(1)"]),
        ("a > 1/3", ["a > 0.3333333333333333", "3 * a > INT64_C(1)"]),
        ("a - 2*b + 3", ["a - 2.0 * b + 3.0", "a - 2 * b + 3"]),
        ("where(a > b, a, -1)", ["a > b ? a : -1.0", "a > b ? a : -INT64_C(1)"]),
        ("2*a/3", ["2.0 * a / 3.0"]),
        ("True", ["true", "true"]),
    ],
)
def test_the_bodies_as_they_are_written(text, bodies):
    source = Program.parse(text).emit("c")
    assert [line.strip() for line in source.splitlines() if "return " in line] == [f"return {body};" for body in bodies]
